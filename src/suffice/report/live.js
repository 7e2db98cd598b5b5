// The live panel: inputs for a row, its probabilities, and the contributions of its features.

const SHOWN_INPUTS = 40;
const SHOWN_PARTS = 12;
const SHOWN_CLASSES = 12;
const NEGLIGIBLE = 0.005; // nats; would be shown as 0.00

/** Return the panel, and ``set(row)`` that shows a row in it. */
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
  const refresh = () => (inputs.forEach((its) => its.show()), update());
  const inputs = [];
  if (engine.side) inputs.push(drawingPad(engine, state, refresh));
  if (mayBeTable(engine)) inputs.push(featureForm(engine, state, engine.side ? refresh : update));
  const set = (row) => {
    state.row = [...row];
    refresh();
  };
  const another = el("button", { type: "button", id: "another", onclick: () => set(examples[state.next++ % examples.length]) }, "Another example");
  const clear = el("button", { type: "button", id: "clear", onclick: () => set(clearedRow(engine)) }, engine.side ? "Clear" : "Typical values");
  const buttons = el("p", { class: "buttons" }, examples.length ? another : null, clear);
  set(state.row);
  return { node: el("div", { class: "live" }, el("div", {}, buttons, inputs.map((its) => its.node)), el("div", { class: "outcome" }, status, result)), set };
}

/** Return whether inputs are shown for each feature: a small square may be a table and no image. */
const mayBeTable = (engine) => !engine.side || engine.side < 7;

const startingRow = (engine, examples) => [...(examples[0] || clearedRow(engine))];
const clearedRow = (engine) => engine.features.map((feature) => (engine.side && feature.input !== "none" ? valueOfInk(feature, 0) : feature.typical));

/** Show the probabilities of the classes, and the contributions to the log-odds of the two most probable. */
function showResult(engine, row, node, status) {
  const shares = probabilities(engine, row);
  const order = shares.map((_, k) => k).sort((a, b) => shares[b] - shares[a]);
  const [best, next] = order;
  status.textContent = `Most probable${data.about.target ? ` ${data.about.target}` : ""}: ${engine.classes[best]}, ${probabilityText(shares[best])}`;
  const listed = order.length > SHOWN_CLASSES ? order.slice(0, SHOWN_CLASSES) : shares.map((_, k) => k);
  const classes = listed.map((k) => line(engine.classes[k], bar(shares[k], { tone: k === best ? "accent" : "quiet" }), probabilityText(shares[k])));
  const children = [el("h3", {}, "Probabilities"), el("div", { class: "lines", id: "live-probabilities" }, classes)];
  if (next !== undefined) children.push(...contributionsOf(engine, row, best, next));
  node.replaceChildren(...children);
}

const line = (name, graph, value) => el("div", { class: "line-of" }, el("span", { class: "name", title: name }, splitName(name)), graph, el("span", { class: "value" }, value));

/** Return a long name in two parts; the first is cut off if space is short, because names often differ at the end. */
const splitName = (name) => (name.length <= 16 ? name : [el("span", { class: "start" }, name.slice(0, -7)), el("span", {}, name.slice(-7))]);

function contributionsOf(engine, row, best, next) {
  const { prior, parts } = logOddsParts(engine, row, best, next);
  const all = [prior, ...parts.map((part) => part.nats)];
  const isImpossible = all.includes(Infinity) && all.includes(-Infinity);
  const head = el("h3", {}, `Log-odds: ${engine.classes[best]} compared with ${engine.classes[next]}`);
  const total = isImpossible ? "no class can produce this row, so only the class prior decides" : `they sum to ${signed(sum(all))}${engine.calibration ? " before calibration" : ""}`;
  const note = el("p", { class: "note" }, `Contributions in nats; ${total}.`);
  if (!mayBeTable(engine)) return [head, note, evidenceMap(engine, parts)];
  const shownParts = parts.filter((part) => Math.abs(part.nats) >= NEGLIGIBLE).slice(0, SHOWN_PARTS);
  const most = Math.max(Math.abs(prior), ...shownParts.map((part) => Math.abs(part.nats)));
  const finite = Number.isFinite(most) ? most : 50;
  const lines = [line(engine.pool ? "class prior and bias" : "class prior", twoSided(prior, finite), signed(prior))];
  for (const part of shownParts) lines.push(line(`${part.name} = ${shown(part.value)}`, twoSided(part.nats, finite), signed(part.nats)));
  const hidden = parts.filter((part) => !shownParts.includes(part));
  const rest = sum(hidden.map((part) => part.nats));
  const amount = Math.abs(rest) < NEGLIGIBLE ? "less than 0.01" : signed(rest);
  const subject = hidden.length === 1 ? "1 more feature contributes" : `${grouped(hidden.length)} more features contribute`;
  const more = hidden.length ? el("p", { class: "note" }, `${subject} ${amount}${hidden.length === 1 ? "" : " in total"}.`) : null;
  return [head, note, el("div", { class: "lines wide", id: "live-contributions" }, lines), more].filter(Boolean);
}

/** Return the contributions as an image. */
function evidenceMap(engine, parts) {
  const values = new Array(engine.features.length).fill(0);
  for (const part of parts) values[part.feature] += part.nats;
  const most = Math.max(...values.map(Math.abs).filter(Number.isFinite));
  const canvas = el("canvas", { width: 224, height: 224, class: "map", role: "img", id: "live-contributions", "aria-label": "Contribution of each pixel: for (green) and against (orange)" });
  const legend = el("p", { class: "note legend" }, el("i", { class: "for" }), " for, ", el("i", { class: "against" }), " against");
  return el("div", {}, paint(canvas, values, engine.side, most, true), legend);
}

/** Return inputs for all features that the model uses. */
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
  if (feature.is_open) values.push(ANY_OTHER);
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
  const step = feature.is_whole ? 1 : "any";
  const slider = el("input", { type: "range", id, min: feature.low, max: feature.high, step: feature.is_whole ? 1 : (feature.high - feature.low) / 200 });
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
