// Decision thresholds: a class is predicted if its probability reaches a threshold; its errors may have costs.

/** Return the outcome of a threshold from 0 to 100: counts, precision, recall and false positive rate. */
function outcomeAt(its, place) {
  const [tp, fp] = [its.grid_true[place], its.grid_false[place]];
  const [fn, tn] = [its.positives - tp, its.negatives - fp];
  const ratio = (part, whole) => (whole ? part / whole : NaN);
  return { tp, fp, fn, tn, precision: ratio(tp, tp + fp), recall: ratio(tp, tp + fn), fallout: ratio(fp, fp + tn), accuracy: ratio(tp + tn, tp + fp + fn + tn), f1: ratio(2 * tp, 2 * tp + fp + fn) };
}

/** Return the threshold with the least cost. */
function cheapest(its, costs) {
  const totals = its.grid_true.map((_, place) => costOf(outcomeAt(its, place), costs));
  return totals.indexOf(Math.min(...totals));
}

const costOf = ({ fp, fn }, costs) => fp * costs.fp + fn * costs.fn;

function thresholdSection({ quality, about }, panel) {
  if (!quality || about.classes.length < 2) return null;
  const names = about.classes.map((its) => its.name);
  const state = { k: names.length === 2 ? 1 : 0, place: 50, costs: { fp: 1, fn: 1 } };
  const body = el("div");
  const draw = () => body.replaceChildren(...thresholdBody(state, quality.thresholds[state.k], names, panel));
  draw();
  const text = names.length === 2 ? "" : " All other classes count as one.";
  return section("Threshold", "threshold",
    note(`The class is predicted if its probability is at least the threshold.${text} Move it to see the confusion matrix, precision, recall and cost on ${countOf(quality.rows, "row")}.`),
    menu("Class", names, state.k, (k) => ((state.k = k), draw())), body);
}

function thresholdBody(state, its, names, panel) {
  const name = names[state.k];
  const other = names.length === 2 ? names[1 - state.k] : `not ${name}`;
  const curves = thresholdCurves(its, name);
  const [result, chosen] = [el("div", { id: "threshold-result" }), el("div")];
  const value = el("output", {}, "");
  const slider = el("input", { type: "range", min: 0, max: 100, step: 1, id: "threshold-slider", oninput: () => move(Number(slider.value)) });
  const move = (place) => {
    state.place = place;
    slider.value = String(place);
    value.textContent = percent(place / 100, 0);
    chosen.replaceChildren();
    const outcome = outcomeAt(its, place);
    curves.move(outcome);
    result.replaceChildren(...thresholdResult(outcome, its, state, name, other, (truth, predicted) => showCell(chosen, (row) => Number(row.truth !== state.k) === truth && Number(row.probabilities[state.k] < place / 100) === predicted, `true ${[name, other][truth]}, predicted ${[name, other][predicted]}`, [[outcome.tp, outcome.fn], [outcome.fp, outcome.tn]][truth][predicted], panel)));
  };
  const cost = (kind, text) => el("label", { class: "field" }, `${text} `, el("input", { type: "number", min: 0, step: "any", value: state.costs[kind], onchange: (event) => ((state.costs[kind] = Math.max(Number(event.target.value) || 0, 0)), move(state.place)) }));
  const least = button("Least cost", () => move(cheapest(its, state.costs)), { id: "least-cost" });
  move(state.place);
  return [
    el("div", { class: "slider" }, el("label", { for: "threshold-slider" }, `Threshold for ${name}`), slider, value),
    el("p", { class: "fields" }, cost("fp", "Cost of a false positive"), cost("fn", "Cost of a false negative"), least),
    result, chosen, el("div", { class: "side-by-side" }, curves.nodes),
  ];
}

function thresholdResult(outcome, its, state, name, other, choose) {
  const text = (share) => (Number.isNaN(share) ? "–" : percent(share));
  const total = costOf(outcome, state.costs);
  const interval = (part, whole) => (whole ? `95 % interval ${wilson(part, whole).map((share) => percent(share)).join(" to ")}` : "no rows");
  const figures = [
    figure("precision", text(outcome.precision), interval(outcome.tp, outcome.tp + outcome.fp)),
    figure("recall", text(outcome.recall), interval(outcome.tp, its.positives)),
    figure("false positive rate", text(outcome.fallout), interval(outcome.fp, its.negatives)),
    figure("accuracy", text(outcome.accuracy), `F1 ${Number.isNaN(outcome.f1) ? "–" : outcome.f1.toFixed(3)}`),
    figure("cost", rounded(total), `${rounded(total / (its.positives + its.negatives))} per row`),
  ];
  const matrix = matrixTable([name, other], [[outcome.tp, outcome.fn], [outcome.fp, outcome.tn]], choose);
  const lines = () => [["true class", `predicted ${name}`, `predicted ${other}`], [name, outcome.tp, outcome.fn], [other, outcome.fp, outcome.tn]];
  return [el("div", { class: "figures" }, figures), savable(matrix, `Confusion matrix at threshold ${state.place} %`, lines, "Rows: true class. Columns: predicted class. Choose a number to see its rows.")];
}
