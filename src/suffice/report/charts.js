// Elements and charts. Text is inserted as text nodes only, so that no name or value can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Return an element with attributes and children; strings become text. */
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") for (const [property, its] of Object.entries(value)) node.style.setProperty(property, its);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  const there = children.flat(Infinity).filter((child) => child !== null && child !== undefined);
  node.append(...there.map((child) => (child.nodeType ? child : String(child))));
  return node;
}

const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
const probabilityText = (share) => (share > 0.999 && share < 1 ? "> 99.9 %" : share < 0.001 && share > 0 ? "< 0.1 %" : percent(share));
const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + (Math.abs(value) === Infinity ? "∞" : Math.abs(value).toFixed(2));
const grouped = (value) => value.toLocaleString("en", { maximumFractionDigits: 2 });

/** Return a number with four significant digits, in groups of three. */
const rounded = (value) => Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 15 });

/** Return a cell value as text. */
function shown(value) {
  if (value === null || value === undefined) return "(empty)";
  if (value === ANY_OTHER) return "(any other)";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
  return String(value);
}

// A label that differs from all labels of the data.
const ANY_OTHER = "\u0000any other";

/** Return a bar whose length is a share of the width; an interval is drawn as a line over it. */
function bar(share, { low = null, high = null, tone = "accent" } = {}) {
  const width = (value) => `${100 * Math.min(Math.max(value, 0), 1)}%`;
  const whisker = low === null ? null : el("i", { class: "whisker", style: { left: width(low), width: width(high - low) } });
  return el("span", { class: "bar", "aria-hidden": "true" }, el("b", { class: tone, style: { width: width(share) } }), whisker);
}

/** Return a bar to the left (negative) or to the right (positive) of the middle. */
function twoSided(value, most) {
  const share = Math.min(Math.abs(value) / (most || 1), 1) * 50;
  const left = value < 0 ? 50 - share : 50;
  const tone = value < 0 ? "against" : "for";
  return el("span", { class: "bar two", "aria-hidden": "true" }, el("b", { class: tone, style: { left: `${left}%`, width: `${share}%` } }));
}

/** Return a table from headings and rows of cells; a cell is text or an element. */
function table(headings, lines, attributes = {}) {
  // long text is cut off by the style, and shown in full as a tooltip
  const title = (cell, scope) => el("th", { scope, title: typeof cell === "string" ? cell || null : null }, cell);
  const head = el("thead", {}, el("tr", {}, headings.map((heading) => title(heading, "col"))));
  const body = lines.map((cells) => el("tr", {}, cells.map((cell, j) => (j ? el("td", {}, cell) : title(cell, "row")))));
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": attributes.label || "table" }, el("table", { class: attributes.class }, head, el("tbody", {}, body)));
}

/** Return a reliability diagram: accuracy against the predicted probability. */
function reliabilityChart(series) {
  const [size, pad] = [260, 34];
  const at = (x, y) => [pad + x * size, pad / 2 + (1 - y) * size];
  const line = (from, to, kind) => svg("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], class: kind });
  const parts = [svg("rect", { x: pad, y: pad / 2, width: size, height: size, class: "frame" }), line(at(0, 0), at(1, 1), "ideal")];
  for (const tick of [0, 0.5, 1]) {
    parts.push(svg("text", { x: at(tick, 0)[0], y: at(0, 0)[1] + 15, "text-anchor": "middle" }, percent(tick, 0)));
    parts.push(svg("text", { x: pad - 4, y: at(0, tick)[1] + 4, "text-anchor": "end" }, String(100 * tick)));
  }
  series.forEach(({ name, its, tone }) => {
    const filled = its.share.map((share, i) => [share, its.confidence[i], its.accuracy[i]]).filter(([share]) => share > 0);
    const points = filled.map(([, x, y]) => at(x, y).join()).join(" ");
    parts.push(svg("polyline", { points, class: `line ${tone}` }));
    for (const [share, x, y] of filled) {
      const [cx, cy] = at(x, y);
      const tooltip = `${name}: probability ${percent(x)}, accuracy ${percent(y)}, ${percent(share)} of the rows`;
      parts.push(svg("circle", { cx, cy, r: 2.5 + 9 * Math.sqrt(share), class: `dot ${tone}` }, svg("title", {}, tooltip)));
    }
  });
  const label = `Accuracy against predicted probability: ${series.map((its) => its.name).join(", ")}`;
  const box = `0 0 ${size + pad + 16} ${size + pad + 22}`;
  parts.push(svg("text", { x: pad + size / 2, y: size + pad + 16, "text-anchor": "middle" }, "predicted probability → accuracy ↑"));
  return svg("svg", { viewBox: box, role: "img", "aria-label": label, class: "reliability" }, parts);
}

/** Paint values as a square of cells: shades from 0 to the largest value, or two colours by sign. */
function paint(canvas, values, side, most, two = false) {
  const context = canvas.getContext("2d");
  const cell = canvas.width / side;
  context.clearRect(0, 0, canvas.width, canvas.height);
  values.forEach((value, place) => {
    const share = Math.min(Math.abs(Number(value) || 0) / (most || 1), 1);
    if (!share) return;
    const colour = !two ? "72, 118, 200" : value > 0 ? "44, 140, 106" : "206, 98, 50";
    context.fillStyle = `rgba(${colour}, ${share})`;
    const [x, y] = [place % side, Math.floor(place / side)];
    const [left, top] = [Math.round(x * cell), Math.round(y * cell)];
    context.fillRect(left, top, Math.round((x + 1) * cell) - left, Math.round((y + 1) * cell) - top);
  });
  return canvas;
}
