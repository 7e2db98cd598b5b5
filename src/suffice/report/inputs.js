// Inputs: a menu, a slider or a text field for each feature that the model uses, the most important first.

/** Return inputs for all features that the model uses, and ``show()`` that writes the row into them. */
function featureForm(engine, state, update) {
  const drawn = new Map();
  const order = [...data.learned.features.map((its) => its.place), ...engine.features.keys()];
  const items = [...new Set(order)].filter((place) => engine.features[place].input !== "none").map((place) => ({
    name: engine.features[place].name,
    draw: () => {
      if (!drawn.has(place)) drawn.set(place, control(engine.features[place], place, state, update));
      drawn.get(place).show();
      return drawn.get(place).node;
    },
  }));
  const list = pagedList(items, { size: FIRST_INPUTS, what: "input", list: el("div") });
  return { node: el("form", { class: "inputs", onsubmit: (event) => event.preventDefault() }, list), show: () => drawn.forEach((its) => its.show()) };
}

function control(feature, place, state, update) {
  const id = `feature-${place}`;
  const change = (value) => {
    state.row[place] = value;
    state.against = null;
    update();
  };
  const kinds = { menu: menuControl, number: numberControl, text: textControl };
  const { parts, show } = kinds[feature.input](feature, id, change, () => state.row[place]);
  const label = el("label", { for: id }, feature.name);
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
  const tick = feature.may_be_empty ? el("label", { class: "empty", for: `${id}-empty` }, empty, "missing") : null;
  return { parts: [slider, field, tick], show };
}

function textControl(feature, id, change, value) {
  const area = el("textarea", { id, rows: 4, oninput: () => change(area.value) });
  return { parts: [area], show: () => (area.value = value() === null ? "" : String(value())) };
}
