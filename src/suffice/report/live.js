// The live panel: set the features of a row, and see what the model says of it, and why.

const SHOWN_INPUTS = 40;
const SHOWN_PARTS = 12;
const SHOWN_CLASSES = 12;

/** Return the panel, and ``set(row)`` to show a row in it. */
function livePanel(engine, examples) {
  const result = el("div", { class: "result" });
  const status = el("p", { class: "status", role: "status", "aria-live": "polite", id: "live-status" });
  const state = { row: startingRow(engine, examples), next: 1, waiting: false };
  const update = () => {
    if (state.waiting) return;
    state.waiting = true;
    requestAnimationFrame(() => {
      state.waiting = false;
      showResult(engine, state.row, result, status);
    });
  };
  const drawn = () => (inputs.forEach((its) => its.show()), update());
  const inputs = [];
  if (engine.side) inputs.push(drawingPad(engine, state, drawn));
  if (mayBeTable(engine)) inputs.push(featureForm(engine, state, engine.side ? drawn : update));
  const set = (row) => {
    state.row = [...row];
    drawn();
  };
  const another = el("button", { type: "button", id: "another", onclick: () => set(examples[state.next++ % examples.length]) }, "Another example");
  const clear = el("button", { type: "button", id: "clear", onclick: () => set(clearedRow(engine)) }, engine.side ? "Clear" : "Usual values");
  const buttons = el("p", { class: "buttons" }, examples.length ? another : null, clear);
  set(state.row);
  return { node: el("div", { class: "live" }, el("div", {}, buttons, inputs.map((its) => its.node)), el("div", { class: "outcome" }, status, result)), set };
}

/** Say whether rows may be a table: a few columns may happen to be a square. */
const mayBeTable = (engine) => !engine.side || engine.side < 7;

const startingRow = (engine, examples) => [...(examples[0] || clearedRow(engine))];
const clearedRow = (engine) => engine.features.map((feature) => (engine.side && feature.input !== "none" ? inked(feature, 0) : feature.usual));

/** Show the probabilities of the classes, and what speaks for the most probable one against the next. */
function showResult(engine, row, node, status) {
  const shares = probabilities(engine, row);
  const order = shares.map((_, k) => k).sort((a, b) => shares[b] - shares[a]);
  const [best, next] = order;
  status.textContent = `Most probable${data.about.target ? ` ${data.about.target}` : ""}: ${engine.classes[best]}, ${sure(shares[best])}`;
  const listed = order.length > SHOWN_CLASSES ? order.slice(0, SHOWN_CLASSES) : shares.map((_, k) => k);
  const classes = listed.map((k) => line(engine.classes[k], bar(shares[k], { tone: k === best ? "accent" : "quiet" }), sure(shares[k])));
  const children = [el("h3", {}, "Probabilities"), el("div", { class: "lines", id: "live-probabilities" }, classes)];
  if (next !== undefined) children.push(...contributionsOf(engine, row, best, next));
  node.replaceChildren(...children);
}

const line = (name, graph, value) => el("div", { class: "line-of" }, el("span", { class: "name", title: name }, inTwo(name)), graph, el("span", { class: "value" }, value));

/** Return a long name in two parts, of which the first is cut off where there is no room: names often differ at the end. */
const inTwo = (name) => (name.length <= 16 ? name : [el("span", { class: "start" }, name.slice(0, -7)), el("span", {}, name.slice(-7))]);

function contributionsOf(engine, row, best, next) {
  const { prior, parts } = logOddsParts(engine, row, best, next);
  const total = sum([prior, ...parts.map((part) => part.nats)]);
  const head = el("h3", {}, `For ${engine.classes[best]} rather than ${engine.classes[next]}`);
  const note = el("p", { class: "note" }, `In nats; all of them add up to ${signed(total)}${engine.calibration ? ", before calibration" : ""}.`);
  if (!mayBeTable(engine)) return [head, note, evidenceMap(engine, parts)];
  const shownParts = parts.filter((part) => Math.abs(part.nats) >= 0.005).slice(0, SHOWN_PARTS);
  const most = Math.max(Math.abs(prior), ...shownParts.map((part) => Math.abs(part.nats)));
  const finite = Number.isFinite(most) ? most : 50;
  const lines = [line("how common they are", twoSided(prior, finite), signed(prior))];
  for (const part of shownParts) lines.push(line(`${part.name} = ${shown(part.value)}`, twoSided(part.nats, finite), signed(part.nats)));
  const rest = parts.length - shownParts.length;
  const left = sum(parts.map((part) => part.nats)) - sum(shownParts.map((part) => part.nats));
  const said = Math.abs(left) < 0.005 ? (rest === 1 ? "says next to nothing" : "say next to nothing") : `${rest === 1 ? "adds" : "add"} ${signed(left)}`;
  const more = rest ? el("p", { class: "note" }, `${grouped(rest)} more ${said}.`) : null;
  return [head, note, el("div", { class: "lines wide", id: "live-contributions" }, lines), more].filter(Boolean);
}

/** Return which pixels speak for a class and which against it. */
function evidenceMap(engine, parts) {
  const values = new Array(engine.features.length).fill(0);
  for (const part of parts) values[part.feature] += part.nats;
  const most = Math.max(...values.map(Math.abs).filter(Number.isFinite));
  const canvas = el("canvas", { width: 224, height: 224, class: "map", role: "img", id: "live-contributions", "aria-label": "Pixels that speak for (green) and against (orange)" });
  const legend = el("p", { class: "note legend" }, el("i", { class: "for" }), " speaks for it, ", el("i", { class: "against" }), " against it");
  return el("div", {}, painted(canvas, values, engine.side, most, true), legend);
}

/** Return inputs for all features that the model looks at. */
function featureForm(engine, state, update) {
  const controls = engine.features
    .map((feature, place) => ({ feature, place }))
    .filter(({ feature }) => feature.input !== "none")
    .map(({ feature, place }) => control(feature, place, state, update));
  const nodes = controls.map((its) => its.node);
  const rest = nodes.length > SHOWN_INPUTS ? el("details", {}, el("summary", {}, `${nodes.length - SHOWN_INPUTS} more features`), nodes.slice(SHOWN_INPUTS)) : null;
  const node = el("form", { class: "inputs", onsubmit: (event) => event.preventDefault() }, nodes.slice(0, SHOWN_INPUTS), rest);
  return { node, show: () => controls.forEach((its) => its.show()) };
}

function control(feature, place, state, update) {
  const id = `feature-${place}`;
  const change = (value) => {
    state.row[place] = value;
    update();
  };
  const kinds = { menu: menuControl, number: numberControl, text: textControl };
  const { parts, show } = kinds[feature.input](feature, id, change, () => state.row[place]);
  const label = el("label", { for: id, title: feature.name }, feature.name);
  return { node: el("div", { class: `control ${feature.input}` }, label, parts), show };
}

function menuControl(feature, id, change, value) {
  const values = [...feature.labels];
  if (feature.open) values.push(ANY_OTHER);
  if (feature.may_be_empty) values.push(null);
  const options = values.map((its, place) => el("option", { value: place }, shown(its)));
  const select = el("select", { id, onchange: () => change(values[Number(select.value)]) }, options);
  const show = () => {
    const mine = value();
    const found = mine === null ? values.indexOf(null) : values.findIndex((its) => its !== null && keyOf(its) === keyOf(mine));
    select.value = String(found >= 0 ? found : values.indexOf(ANY_OTHER));
  };
  return { parts: [select], show };
}

function numberControl(feature, id, change, value) {
  const step = feature.whole ? 1 : "any";
  const slider = el("input", { type: "range", id, min: feature.low, max: feature.high, step: feature.whole ? 1 : (feature.high - feature.low) / 200 });
  const field = el("input", { type: "number", step, "aria-label": `${feature.name}, as a number` });
  const empty = el("input", { type: "checkbox", id: `${id}-empty` });
  const put = (number) => {
    empty.checked = false;
    change(number);
    show();
  };
  const show = () => {
    const mine = value();
    empty.checked = mine === null;
    slider.classList.toggle("off", mine === null);
    field.value = mine === null ? "" : String(Number(Number(mine).toPrecision(6)));
    if (mine !== null) slider.value = String(Number(mine));
  };
  slider.addEventListener("input", () => put(Number(Number(slider.value).toPrecision(6))));
  field.addEventListener("change", () => (field.value === "" ? (feature.may_be_empty ? change(null) : null) : change(Number(field.value)), show()));
  empty.addEventListener("change", () => (change(empty.checked ? null : Number(slider.value)), show()));
  const tick = feature.may_be_empty ? el("label", { class: "empty", for: `${id}-empty` }, empty, "empty") : null;
  return { parts: [slider, field, tick], show };
}

function textControl(feature, id, change, value) {
  const area = el("textarea", { id, rows: 4, oninput: () => change(area.value) });
  return { parts: [area], show: () => (area.value = value() === null ? "" : String(value())) };
}

/** Return the value of a feature of so much ink, from 0 to 1. */
function inked(feature, ink) {
  if (feature.input === "menu") return feature.labels[Math.round(ink * (feature.labels.length - 1))] ?? null;
  const value = feature.low + ink * (feature.high - feature.low);
  return feature.whole ? Math.round(value) : value;
}

/** Return how much ink a value is. */
function inkOf(feature, value) {
  if (feature.input === "none" || value === null) return 0;
  if (feature.input === "menu") return feature.labels.indexOf(value) / Math.max(feature.labels.length - 1, 1);
  return (value - feature.low) / (feature.high - feature.low);
}

/** Return a pad to draw an image on, with the mouse, a finger or the keys. */
function drawingPad(engine, state, update) {
  const [side, cells] = [engine.side, engine.features.length];
  const scale = evenFeatures(engine);
  const canvas = el("canvas", { width: side * Math.round(336 / side), height: side * Math.round(336 / side), id: "pad", tabindex: "0", role: "application", "aria-label": `Drawing pad of ${side} by ${side} cells`, "aria-describedby": "pad-help live-status" });
  const help = el("p", { class: "note", id: "pad-help" }, "Draw with the mouse or a finger. By keyboard: arrow keys move, space inks, backspace wipes.");
  const cursor = { x: Math.floor(side / 2), y: Math.floor(side / 2), shown: false };
  const show = () => {
    painted(canvas, state.row.map((value, place) => inkOf(scale[place], value)), side, 1);
    if (cursor.shown) outline(canvas, cursor, side);
  };
  const put = (x, y, ink) => {
    const place = y * side + x;
    if (x < 0 || y < 0 || x >= side || y >= side || place >= cells) return;
    if (ink === 0 || inkOf(scale[place], state.row[place]) < ink) state.row[place] = inked(scale[place], ink);
  };
  const brush = (x, y, ink) => {
    put(x, y, ink);
    if (ink && side > 6) for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) put(x + dx, y + dy, side > 12 ? 0.8 : 0.35);
    update();
    show();
  };
  const stroke = (event) => {
    const box = canvas.getBoundingClientRect();
    const cell = (at, start, length) => Math.floor(((at - start) / length) * side);
    brush(cell(event.clientX, box.left, box.width), cell(event.clientY, box.top, box.height), event.buttons & 2 || event.shiftKey ? 0 : 1);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    cursor.shown = false;
    stroke(event);
  });
  canvas.addEventListener("pointermove", (event) => event.buttons && (event.getCoalescedEvents?.() || [event]).forEach(stroke));
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("blur", () => ((cursor.shown = false), show()));
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    if (!step && ![" ", "Backspace", "Delete"].includes(event.key)) return;
    event.preventDefault();
    cursor.shown = true;
    if (step) {
      cursor.x = Math.min(Math.max(cursor.x + step[0], 0), side - 1);
      cursor.y = Math.min(Math.max(cursor.y + step[1], 0), side - 1);
      show();
    } else brush(cursor.x, cursor.y, event.key === " " ? 1 : 0);
  });
  return { node: el("div", { class: "pad" }, canvas, help), show };
}

/** Return the features with one scale for all numbers: ink is as dark in each pixel. */
function evenFeatures(engine) {
  const numbers = engine.features.filter((feature) => feature.input === "number");
  const [low, high] = [Math.min(...numbers.map((its) => its.low), Infinity), Math.max(...numbers.map((its) => its.high), -Infinity)];
  for (const feature of numbers) Object.assign(feature, { low: Math.max(low, Math.min(low, 0)), high });
  return engine.features;
}

function outline(canvas, cursor, side) {
  const [context, cell] = [canvas.getContext("2d"), canvas.width / side];
  context.strokeStyle = "rgb(206, 98, 50)";
  context.lineWidth = 3;
  context.strokeRect(cursor.x * cell + 1.5, cursor.y * cell + 1.5, cell - 3, cell - 3);
}
