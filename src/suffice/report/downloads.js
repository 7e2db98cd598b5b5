// Downloads: each chart and table as CSV, and as a picture (PNG). Files are made in the page; nothing is sent.

/** Return a figure with buttons that save it; ``lines()`` returns its data as rows of cells. */
function savable(node, name, lines, caption = null) {
  const file = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  const csv = button("CSV", () => save(new Blob([toCsv(lines())], { type: "text/csv" }), `${file}.csv`), { class: "small", "aria-label": `Save ${name} as CSV` });
  const png = button("PNG", async () => save(await toPicture(node), `${file}.png`), { class: "small", "aria-label": `Save ${name} as PNG` });
  return el("figure", { class: "savable" }, node, caption ? el("figcaption", {}, caption) : null, el("p", { class: "save" }, csv, png));
}

function toCsv(lines) {
  const cell = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  return lines.map((line) => line.map((value) => cell(value === null || value === undefined ? "" : String(value))).join(",") + "\r\n").join("");
}

function save(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Return a node as a PNG file, drawn from the boxes and texts that the browser has laid out. */
async function toPicture(whole) {
  const node = whole.matches("svg") ? whole : whole.querySelector("svg.large-shape, table") || whole;
  const frame = node.getBoundingClientRect();
  const [width, height, scale] = [Math.max(node.scrollWidth || 0, frame.width), Math.max(node.scrollHeight || 0, frame.height), 2];
  const canvas = el("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, width, height);
  const inner = node.matches("svg") ? [node] : [node, ...node.querySelectorAll("*")];
  const [left, top] = [frame.left - (node.scrollLeft || 0), frame.top - (node.scrollTop || 0)];
  for (const its of inner) {
    const box = its.getBoundingClientRect();
    if (its.matches("button:not(.tint), input") || !box.width || its.ownerSVGElement) continue;
    if (its.matches("svg")) context.drawImage(await svgImage(its, box), box.left - left, box.top - top, box.width, box.height);
    else if (its.matches("canvas")) context.drawImage(its, box.left - left, box.top - top, box.width, box.height);
    else drawBox(context, its, box, left, top);
  }
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** Draw the background and the texts of an element. */
function drawBox(context, its, box, left, top) {
  const style = getComputedStyle(its);
  context.fillStyle = style.backgroundColor;
  context.fillRect(box.left - left, box.top - top, box.width, box.height);
  context.fillStyle = style.color;
  context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  context.textBaseline = "middle";
  for (const text of [...its.childNodes].filter((child) => child.nodeType === 3 && child.data.trim())) {
    const range = document.createRange();
    range.selectNodeContents(text);
    const [first, ...others] = range.getClientRects();
    if (first && !others.length) context.fillText(text.data.trim(), first.left - left, first.top - top + first.height / 2);
    else if (first) for (const word of wordBoxes(text)) context.fillText(word.text, word.box.left - left, word.box.top - top + word.box.height / 2);
  }
}

/** Return the words of a text that is broken into lines, with their boxes. */
function wordBoxes(text) {
  return [...text.data.matchAll(/\S+/g)].map((found) => {
    const range = document.createRange();
    range.setStart(text, found.index);
    range.setEnd(text, found.index + found[0].length);
    return { text: found[0], box: range.getBoundingClientRect() };
  });
}

const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight", "text-anchor", "opacity"];

/** Return a drawing as an image, with the styles of the page written into it. */
async function svgImage(node, box) {
  const copy = node.cloneNode(true);
  const parts = [copy, ...copy.querySelectorAll("*")];
  [node, ...node.querySelectorAll("*")].forEach((its, i) => {
    const style = getComputedStyle(its);
    for (const name of DRAWN) parts[i].setAttribute(name, style.getPropertyValue(name));
  });
  fill(copy, { xmlns: SVG, width: box.width, height: box.height }, []);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  return image;
}
