// What the interactive parts of the tour share: elements, sliders, charts, contours, and the list of widgets.
// A widget is a function that fills <div class="suffice-widget" data-widget="its name">. It is registered by
// (window.sufficeWidgets ??= []).push([name, mount]), before or after this file is loaded.

(() => {
  "use strict";

  const STYLE = `
.suffice-widget { --first: #4a86e0; --second: #d0701f; --third: #1f9a6e; border: 1px solid currentColor; border-color: color-mix(in srgb, currentColor 30%, transparent); border-radius: 6px; padding: 0.8em; margin: 1em 0; color: inherit; }
.suffice-widget:empty { display: none; }
.suffice-widget .controls { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(15em, 100%), 1fr)); gap: 0.2em 1.2em; }
.suffice-widget .control { display: grid; grid-template-columns: 8.5em 1fr 3.2em; gap: 0.5em; align-items: center; min-width: 0; }
.suffice-widget .control input { width: 100%; min-width: 0; accent-color: var(--first); }
.suffice-widget .control .value { text-align: right; font-variant-numeric: tabular-nums; }
.suffice-widget fieldset { border: 0; padding: 0; margin: 0; min-width: 0; }
.suffice-widget legend { font-weight: bold; padding: 0; }
.suffice-widget .charts { display: flex; flex-wrap: wrap; gap: 0.8em; margin-top: 0.6em; }
.suffice-widget .charts > svg { flex: 1 1 18em; max-width: 30em; min-width: 0; height: auto; overflow: visible; }
.suffice-widget .charts > div { flex: 1 1 13em; min-width: 0; }
.suffice-widget svg text { fill: currentColor; font-size: 11px; font-family: inherit; }
.suffice-widget svg .axis { stroke: currentColor; stroke-opacity: 0.6; fill: none; }
.suffice-widget svg .grid { stroke: currentColor; stroke-opacity: 0.12; }
.suffice-widget svg .line { fill: none; stroke-width: 2; }
.suffice-widget svg .thin { fill: none; stroke-width: 1.2; stroke-opacity: 0.9; }
.suffice-widget svg .dashed { stroke-dasharray: 6 4; }
.suffice-widget svg .dotted { stroke-dasharray: 2 3; }
.suffice-widget svg .plain { stroke: currentColor; }
.suffice-widget svg .first { stroke: var(--first); }
.suffice-widget svg .second { stroke: var(--second); }
.suffice-widget svg .third { stroke: var(--third); }
.suffice-widget svg .dot.first { fill: var(--first); }
.suffice-widget svg .dot.second { fill: var(--second); }
.suffice-widget svg .dot.plain { fill: currentColor; }
.suffice-widget svg .handle { cursor: grab; touch-action: none; stroke-width: 2; fill-opacity: 0.35; }
.suffice-widget svg .handle:focus { outline: none; stroke: currentColor; stroke-width: 3; }
.suffice-widget table { width: auto; display: table; font-size: 0.9em; margin: 0.5em 0 0; border-collapse: collapse; font-variant-numeric: tabular-nums; }
.suffice-widget th, .suffice-widget td { padding: 0.15em 0.7em 0.15em 0; text-align: right; min-width: 0; border: 0; }
.suffice-widget th:first-child { text-align: left; }
.suffice-widget .scroll { overflow-x: auto; }
.suffice-widget button { font: inherit; color: inherit; background: transparent; border: 1px solid currentColor; border-radius: 4px; padding: 0.25em 0.8em; margin: 0.4em 0.4em 0 0; cursor: pointer; }
.suffice-widget button:disabled { opacity: 0.55; cursor: default; }
.suffice-widget .key { display: inline-block; margin-right: 1.2em; white-space: nowrap; }
.suffice-widget .key svg { width: 2em; height: 0.8em; vertical-align: middle; margin-right: 0.3em; }
`;

  const fill = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== null && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null));
    return element;
  };
  const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  let made = 0;

  /** Return a labelled range input; ``change`` is called with each new value. */
  function slider(name, { min, max, step, value, digits = 0 }, change) {
    const id = `suffice-control-${(made += 1)}`;
    const shown = html("span", { class: "value", "aria-hidden": "true" }, value.toFixed(digits)); // the input says it
    const input = html("input", { id, type: "range", min, max, step, value });
    input.addEventListener("input", () => {
      shown.textContent = Number(input.value).toFixed(digits);
      change(Number(input.value));
    });
    const set = (next) => {
      input.value = next;
      shown.textContent = Number(input.value).toFixed(digits);
    };
    return { element: html("div", { class: "control" }, html("label", { for: id }, name), input, shown), set };
  }

  /** Return about ``count`` round numbers from low to high. */
  function ticks(low, high, count = 5) {
    const raw = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + 1e-9; at += step) found.push(Number(at.toFixed(10)));
    return found;
  }

  /** A chart with axes; ``draw`` replaces what it shows. */
  class Chart {
    constructor(label, xTitle, yTitle, height = 240) {
      Object.assign(this, { label, xTitle, yTitle, width: 360, height, left: 40, right: 8, top: 8, bottom: 36 });
      this.svg = svg("svg", { viewBox: `0 0 ${this.width} ${height}`, role: "group", "aria-label": label });
    }

    range(xLow, xHigh, yLow, yHigh) {
      this.limits = [xLow, xHigh, yLow, yHigh];
    }

    x(value) {
      const [low, high] = this.limits;
      return this.left + ((value - low) / (high - low)) * (this.width - this.left - this.right);
    }

    y(value) {
      const [, , low, high] = this.limits;
      return this.height - this.bottom - ((value - low) / (high - low)) * (this.height - this.top - this.bottom);
    }

    /** Return the place in data units of a point in pixels of the screen. */
    place(clientX, clientY) {
      const point = new DOMPoint(clientX, clientY).matrixTransform(this.svg.getScreenCTM().inverse());
      const [xLow, xHigh, yLow, yHigh] = this.limits;
      const across = (point.x - this.left) / (this.width - this.left - this.right);
      const up = (this.height - this.bottom - point.y) / (this.height - this.top - this.bottom);
      return [xLow + across * (xHigh - xLow), yLow + up * (yHigh - yLow)];
    }

    line(points, kind) {
      const shown = points.filter(([, y]) => Number.isFinite(y));
      const at = shown.map(([x, y]) => `${this.x(x).toFixed(2)},${this.y(y).toFixed(2)}`);
      return svg("polyline", { points: at.join(" "), class: kind });
    }

    /** Return the lines of a contour as one path. */
    lines(contours, kind) {
      const point = ([x, y]) => `${this.x(x).toFixed(2)} ${this.y(y).toFixed(2)}`;
      return svg("path", { d: contours.map((points) => `M${points.map(point).join("L")}`).join(""), class: kind });
    }

    dot(x, y, kind, r = 4) {
      return svg("circle", { cx: this.x(x), cy: this.y(y), r, class: `dot ${kind}` });
    }

    draw(...parts) {
      const [xLow, xHigh, yLow, yHigh] = this.limits;
      const [left, right, top, bottom] = [this.left, this.width - this.right, this.top, this.height - this.bottom];
      const id = `suffice-clip-${(this.clip ??= made += 1)}`;
      const axes = [svg("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` })];
      for (const at of ticks(xLow, xHigh)) {
        axes.push(svg("line", { class: "grid", x1: this.x(at), x2: this.x(at), y1: top, y2: bottom }));
        axes.push(svg("text", { x: this.x(at), y: bottom + 13, "text-anchor": "middle" }, String(at)));
      }
      for (const at of ticks(yLow, yHigh)) {
        axes.push(svg("line", { class: "grid", x1: left, x2: right, y1: this.y(at), y2: this.y(at) }));
        axes.push(svg("text", { x: left - 4, y: this.y(at) + 4, "text-anchor": "end" }, String(at)));
      }
      axes.push(svg("text", { x: (left + right) / 2, y: bottom + 29, "text-anchor": "middle" }, this.xTitle));
      axes.push(svg("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(9 ${(top + bottom) / 2}) rotate(-90)` }, this.yTitle));
      const clip = svg("clipPath", { id }, svg("rect", { x: left, y: top, width: right - left, height: bottom - top }));
      this.svg.replaceChildren(clip, ...axes, svg("g", { "clip-path": `url(#${id})` }, parts));
    }
  }

  /** Return segments joined to lines where they share an end, so that dashes run on. */
  function join(segments) {
    const key = (point) => point.map((value) => value.toFixed(8)).join();
    const ends = new Map();
    segments.forEach((segment, place) => segment.forEach((point) => ends.set(key(point), [...(ends.get(key(point)) ?? []), place])));
    const left = new Set(segments.keys());
    const follow = (line) => {
      for (;;) {
        const last = key(line.at(-1));
        const next = ends.get(last).find((place) => left.has(place));
        if (next === undefined) return line;
        left.delete(next);
        line.push(segments[next].find((point) => key(point) !== last) ?? line.at(-1));
      }
    };
    const lines = [];
    for (const place of segments.keys()) {
      if (left.delete(place)) lines.push(follow(follow([...segments[place]]).reverse()));
    }
    return lines;
  }

  /** Return the lines where f(x, y) = 0 in a rectangle, by marching squares. */
  function contour(f, [xLow, xHigh, yLow, yHigh], across = 80, up = 60) {
    const xs = Array.from({ length: across + 1 }, (_, i) => xLow + (i / across) * (xHigh - xLow));
    const ys = Array.from({ length: up + 1 }, (_, j) => yLow + (j / up) * (yHigh - yLow));
    const values = ys.map((y) => xs.map((x) => f(x, y)));
    const cross = (from, to, a, b) => from.map((at, k) => at + (a / (a - b)) * (to[k] - at));
    const found = [];
    for (let j = 0; j < up; j += 1) {
      for (let i = 0; i < across; i += 1) {
        const corners = [[xs[i], ys[j]], [xs[i + 1], ys[j]], [xs[i + 1], ys[j + 1]], [xs[i], ys[j + 1]]];
        const heights = [values[j][i], values[j][i + 1], values[j + 1][i + 1], values[j + 1][i]];
        const crossings = [];
        for (let k = 0; k < 4; k += 1) {
          const next = (k + 1) % 4;
          if (heights[k] > 0 !== heights[next] > 0) crossings.push(cross(corners[k], corners[next], heights[k], heights[next]));
        }
        for (let k = 0; k + 1 < crossings.length; k += 2) found.push([crossings[k], crossings[k + 1]]);
      }
    }
    return join(found);
  }

  /** Return a legend: a line of each kind beside its name. */
  const legend = (entries) =>
    html("p", {}, entries.map(([kind, name]) => html("span", { class: "key" }, svg("svg", { viewBox: "0 0 24 8", "aria-hidden": "true" }, svg("path", { d: "M0 4H24", class: kind })), name)));

  /** Return a table with a heading for each column; ``rows`` are lists of texts. */
  const table = (caption, headings, rows) =>
    html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, html("table", { class: "numbers", "aria-label": caption }, html("thead", {}, html("tr", {}, headings.map((name) => html("th", { scope: "col" }, name)))), html("tbody", {}, rows.map(([first, ...others]) => html("tr", {}, html("th", { scope: "row" }, first), others.map((text) => html("td", {}, text)))))));

  const toolkit = { html, svg, slider, Chart, contour, legend, table };
  const known = new Map();

  function mountAll() {
    for (const element of document.querySelectorAll(".suffice-widget")) {
      const mount = known.get(element.dataset.widget);
      if (mount && !element.childElementCount) mount(element, toolkit);
    }
  }

  const register = ([name, mount]) => {
    known.set(name, mount);
    mountAll();
  };
  if (Array.isArray(window.sufficeWidgets ?? [])) {
    const waiting = window.sufficeWidgets ?? [];
    document.head.append(html("style", {}, STYLE));
    window.sufficeWidgets = { push: register };
    waiting.forEach(register);
    // mkdocs-material replaces the page without loading it again, and says so here
    if (window.document$?.subscribe) window.document$.subscribe(mountAll);
  }
})();
