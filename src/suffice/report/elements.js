// Elements: how the page is built. Text is inserted as text nodes only, so that no name or value can become markup.

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
const signed = (value, digits = 2) => (value > 0 ? "+" : value < 0 ? "−" : "") + (Math.abs(value) >= 1e9 ? "∞" : Math.abs(value).toFixed(digits));
const grouped = (value) => value.toLocaleString("en", { maximumFractionDigits: 2 });
const pluralOf = (word) => (word.endsWith("s") ? `${word}es` : `${word}s`);
const countOf = (count, one, many = pluralOf(one)) => `${grouped(count)} ${count === 1 ? one : many}`;

/** Return a number with four significant digits, in groups of three. */
const rounded = (value) => Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 15 });

// A label that differs from all labels of the data.
const ANY_OTHER = "\u0000any other";

/** Return a cell value as text. */
function shown(value) {
  if (value === null || value === undefined) return "(missing)";
  if (value === ANY_OTHER) return "(unknown level)";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
  return String(value);
}

/** Return Wilson's 95 % interval of a share. */
function wilson(right, n) {
  if (!n) return [0, 1];
  const [p, z] = [right / n, 3.8414588 / n];
  const half = 1.959964 * Math.sqrt((p * (1 - p)) / n + z / (4 * n));
  return [Math.max((p + z / 2 - half) / (1 + z), 0), Math.min((p + z / 2 + half) / (1 + z), 1)];
}

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

const line = (name, graph, value) => el("div", { class: "line-of" }, el("span", { class: "name" }, name), graph, el("span", { class: "value" }, value));
const note = (...children) => el("p", { class: "note" }, children);
const button = (text, onclick, attributes = {}) => el("button", { type: "button", onclick, ...attributes }, text);

/** Return a labelled menu of names; ``change`` is called with the position of the chosen one. */
function menu(label, names, chosen, change) {
  const select = el("select", { onchange: () => change(Number(select.value)) }, names.map((name, k) => el("option", { value: k, selected: k === chosen }, name)));
  return el("label", { class: "field" }, `${label} `, select);
}

/** Return a table from headings and rows of cells; a cell is text or an element. */
function table(headings, lines, attributes = {}) {
  const head = el("thead", {}, el("tr", {}, headings.map((heading) => (heading === "" ? el("td") : el("th", { scope: "col" }, heading)))));
  const body = lines.map((cells) => el("tr", {}, cells.map((cell, j) => (j ? el("td", {}, cell) : el("th", { scope: "row" }, cell)))));
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": attributes.label || "table" }, el("table", { class: attributes.class }, head, el("tbody", {}, body)));
}

/** Return names that are at most so long, but still differ from each other. */
function shortened(names, most) {
  const cut = names.map((name) => (name.length <= most ? name : `${name.slice(0, Math.ceil(most / 2))}…${name.slice(-Math.floor(most / 2))}`));
  return names.map((name, i) => (cut.indexOf(cut[i]) === i && cut.lastIndexOf(cut[i]) === i ? cut[i] : name));
}

const SEARCHED = 12; // items; a list of more has a search field

/** Return a list that draws its items {name, draw()} in steps, with a search field; they are put into ``list``. */
function pagedList(items, { size, what, list, view = list }) {
  if (window.innerWidth < 600) size = Math.ceil(size / 2);
  if (items.length <= 1.5 * size) size = items.length;
  const state = { found: items, drawn: 0 };
  const more = button("", () => draw(size * 2), { class: "more" });
  const count = el("p", { class: "note", role: "status" });
  const draw = (number) => {
    list.append(...state.found.slice(state.drawn, state.drawn + number).map((its) => its.draw()));
    state.drawn = Math.min(state.drawn + number, state.found.length);
    const left = state.found.length - state.drawn;
    more.hidden = !left;
    more.textContent = `Show ${grouped(Math.min(left, size * 2))} more`;
    count.textContent = state.found.length ? `${grouped(state.drawn)} of ${countOf(state.found.length, what, pluralOf(what))}` : `No ${what} has this text in its name.`;
  };
  const search = el("input", { type: "search", placeholder: "Search", "aria-label": `Search ${pluralOf(what)}`, oninput: () => {
    const text = search.value.trim().toLowerCase();
    Object.assign(state, { found: items.filter((its) => its.name.toLowerCase().includes(text)), drawn: 0 });
    list.replaceChildren();
    draw(size);
  } });
  draw(size);
  return el("div", { class: "paged" }, items.length > Math.max(size, SEARCHED) ? search : null, view, items.length > size ? [count, more] : null);
}
