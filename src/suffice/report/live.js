// "Try it": inputs for a row, its probabilities, and the contributions of its features.

const FIRST_INPUTS = 12;
const SHOWN_PARTS = 12;
const SHOWN_CLASSES = 12;
const NEGLIGIBLE = 0.005; // nats; would be shown as 0.00
const FEW_ROWS = 10;

/** Return the panel, with ``set(row)`` that shows the cells of a row, and ``open(row)`` that goes to the panel. */
function livePanel(engine) {
  const examples = exampleRows();
  const result = el("div", { class: "result" });
  const status = el("p", { class: "status", role: "status", "aria-live": "polite", id: "live-status" });
  const state = { row: [...(examples[0] || typicalRow(engine))], strokes: [], isEmpty: Boolean(engine.side), next: engine.side ? 0 : 1, against: null, waiting: false };
  const update = () => {
    if (state.waiting) return;
    state.waiting = true;
    requestAnimationFrame(() => {
      state.waiting = false;
      showResult(engine, state, result, status, update);
    });
  };
  const input = engine.side ? drawingPad(engine, state, update) : featureForm(engine, state, update);
  const set = (row, against = null) => {
    Object.assign(state, { row: [...row], strokes: [], isEmpty: false, against });
    input.show();
    update();
  };
  const open = (row) => {
    set(row.cells, row.truth >= 0 && row.truth !== predictedOf(row) ? row.truth : null);
    document.getElementById("live").scrollIntoView();
    document.getElementById("live-title").focus({ preventScroll: true });
  };
  const another = button("Another example", () => set(examples[state.next++ % examples.length]), { id: "another" });
  const clear = engine.side ? button("Clear", input.clear, { id: "clear" }) : button("Typical values", () => set(typicalRow(engine)), { id: "clear" });
  if (engine.side) input.clear();
  else set(state.row);
  const buttons = el("p", { class: "buttons" }, examples.length ? another : null, clear);
  const node = el("div", { class: `live${engine.side ? " drawn" : ""}` }, el("div", { class: "entry" }, engine.side ? [input.node, buttons] : [buttons, input.node]), el("div", { class: "outcome" }, status, result));
  return { node, set, open };
}

const typicalRow = (engine) => engine.features.map((feature) => feature.typical);

/** Show the probabilities of the classes, and the contributions to the log-odds of two of them. */
function showResult(engine, state, node, status, update) {
  if (state.isEmpty) {
    status.textContent = "";
    return node.replaceChildren(note("Draw on the pad, or choose “Another example”."));
  }
  const shares = probabilities(engine, state.row);
  const order = shares.map((_, k) => k).sort((a, b) => shares[b] - shares[a]);
  const best = order[0];
  const next = state.against !== null && state.against !== best ? state.against : order[1];
  status.textContent = `Prediction${data.about.target ? ` of ${data.about.target}` : ""}: ${engine.classes[best]} (${probabilityText(shares[best])})`;
  const listed = order.length > SHOWN_CLASSES ? order.slice(0, SHOWN_CLASSES) : shares.map((_, k) => k);
  const classes = listed.map((k) => line(engine.classes[k], bar(shares[k], { tone: k === best ? "accent" : "quiet" }), probabilityText(shares[k])));
  const chart = savable(el("div", { class: "lines", id: "live-probabilities" }, classes), "Probabilities", () => [["class", "probability"], ...shares.map((share, k) => [engine.classes[k], share])]);
  const children = [warningsOf(engine, state.row), el("h3", {}, "Probabilities"), chart];
  if (next !== undefined) children.push(...contributionsOf(engine, state, best, next, update));
  node.replaceChildren(...children.filter(Boolean));
}

/** Return warnings about values that the model has not learned. */
function warningsOf(engine, row) {
  const said = engine.side ? [] : engine.features.map((feature, place) => warningOf(feature, row[place])).filter(Boolean);
  return said.length ? el("ul", { class: "warnings", id: "live-warnings" }, said.slice(0, 5).map((text) => el("li", {}, text))) : null;
}

function warningOf(feature, value) {
  if (isEmpty(value) || feature.input === "none") return null;
  if (feature.input === "menu" && !feature.index.has(keyOf(value))) return `${feature.name}: the model has not learned this level.`;
  const margin = 0.05 * (feature.high - feature.low); // the range is that of a sample
  const isOutside = feature.input === "number" && (value < feature.low - margin || value > feature.high + margin);
  const whose = feature.has_range_of_rows ? "the range of the rows" : "the range that the model has learned, about";
  return isOutside ? `${feature.name} = ${shown(value)} is outside of ${whose}: ${rounded(feature.low)} to ${rounded(feature.high)}. The probabilities are not reliable there.` : null;
}

/** Return the number of training rows with the value of a contribution; null if it was not counted. */
function supportOf(part) {
  const feature = data.learned.features.find((its) => its.place === part.feature);
  if (!feature || feature.kind !== "counts" || feature.of_new_rows || part.value === ANY_OTHER) return null;
  let j = isEmpty(part.value) ? feature.values.indexOf(null) : feature.edges ? feature.edges.filter((edge) => edge <= part.value).length : -1;
  if (j < 0 && !isEmpty(part.value)) j = feature.values.findIndex((value) => value !== null && keyOf(value) === keyOf(part.value));
  return j < 0 ? null : sum(feature.counts.map((line) => line[j]));
}

function contributionsOf(engine, state, best, next, update) {
  const { prior, parts } = logOddsParts(engine, state.row, best, next);
  const all = [prior, ...parts.map((part) => part.nats)];
  const isImpossible = all.includes(Infinity) && all.includes(-Infinity);
  const head = el("h3", {}, "Contributions to the log-odds");
  const total = isImpossible ? "No class can produce this row, so only the class prior decides." : `They sum to ${signed(sum(all))} nats.`;
  const others = engine.classes.map((_, k) => k).filter((k) => k !== best);
  const chooser = others.length > 1 ? menu(`${engine.classes[best]} compared with`, others.map((k) => engine.classes[k]), others.indexOf(next), (place) => ((state.against = others[place]), update())) : note(`${engine.classes[best]} compared with ${engine.classes[next]}.`);
  const lines = () => [["feature", "value", "nats"], ["(intercept)", "", prior], ...parts.map((part) => [part.name, shown(part.value), part.nats])];
  const chart = engine.side ? evidenceMap(engine, parts) : contributionLines(engine, prior, parts);
  return [head, chooser, note(total), savable(chart, "Contributions", lines)];
}

function contributionLines(engine, prior, parts) {
  const shownParts = parts.filter((part) => Math.abs(part.nats) >= NEGLIGIBLE).slice(0, SHOWN_PARTS);
  const most = Math.max(Math.abs(prior), ...shownParts.map((part) => Math.abs(part.nats)));
  const finite = Number.isFinite(most) ? most : 50;
  const lines = [line("intercept (class prior)", twoSided(prior, finite), signed(prior))];
  for (const part of shownParts) {
    const rows = supportOf(part);
    const few = rows !== null && rows < FEW_ROWS ? el("em", { class: "few" }, ` ${rows ? `only ${countOf(rows, "training row")}` : "no training row"}`) : null;
    lines.push(line([part.feature < 0 ? part.name : `${part.name} = ${shown(part.value)}`, few], twoSided(part.nats, finite), signed(part.nats)));
  }
  const hidden = parts.filter((part) => !shownParts.includes(part));
  const rest = sum(hidden.map((part) => part.nats));
  const amount = Math.abs(rest) < NEGLIGIBLE ? "less than 0.01" : signed(rest);
  const subject = hidden.length === 1 ? "1 more feature contributes" : `${grouped(hidden.length)} more features contribute`;
  const more = hidden.length ? note(`${subject} ${amount}${hidden.length === 1 ? "" : " in total"}.`) : null;
  return el("div", { class: "lines wide", id: "live-contributions" }, lines, more);
}

/** Return the contributions as an image. */
function evidenceMap(engine, parts) {
  const values = new Array(engine.features.length).fill(0);
  for (const part of parts) if (part.feature >= 0) values[part.feature] += part.nats;
  const most = Math.max(...values.map(Math.abs).filter(Number.isFinite));
  const canvas = picture(values, engine.side, "Contribution of each pixel: for (green) and against (orange)", { most, two: true, size: 28 });
  canvas.id = "live-contributions";
  return el("div", {}, canvas, el("p", { class: "note legend" }, el("i", { class: "for" }), " for, ", el("i", { class: "against" }), " against"));
}

function liveSection(engine, panel) {
  const notes = engine.notes.map((text) => note(text));
  const help = engine.side ? "The drawing is scaled and centred like the images of the model." : "Change the values of a row to see its probabilities and the contribution of each feature.";
  const found = section("Try it", "live", panel ? [note(`${help} Everything is computed in this page.`), notes, panel.node] : notes);
  found.querySelector("h2").setAttribute("tabindex", "-1");
  return found;
}
