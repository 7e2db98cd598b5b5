// Browsers start no workers from the disk. Where a page is opened as a file, the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.append(frame);
      const inner = frame.contentWindow;
      this.inner = inner;
      inner.document.open();
      inner.document.write("<!doctype html><title>search</title><body></body>");
      inner.document.close();
      // what the worker posts becomes a message of this object
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...urls) => Promise.all(urls.map((each) => load(each)));
      const load = (each) =>
        new Promise((resolve, reject) => {
          const script = inner.document.createElement("script");
          script.src = each;
          script.onload = resolve;
          script.onerror = reject;
          inner.document.body.append(script);
        });
      this.ready = load(url);
    }
    postMessage(data) {
      const { inner } = this;
      this.ready.then(() => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
