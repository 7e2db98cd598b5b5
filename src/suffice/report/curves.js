// ROC and precision-recall curves of one class against all others, with the point of the chosen threshold.

/** Return the points of the ROC curve: [false positive rate, recall]. */
const rocPoints = (its) => [[0, 0], ...its.true.map((count, i) => [its.false[i] / its.negatives, count / its.positives])];

/** Return the points of the precision-recall curve: [recall, precision]. */
function precisionPoints(its) {
  const points = its.true.map((count, i) => [count / its.positives, count / (count + its.false[i])]);
  return [[0, points[0][1]], ...points];
}

/** Return a chart of a curve, and ``move(point)`` that marks the chosen threshold. */
function curveChart(label, xTitle, yTitle, points, ideal) {
  const dot = svg("circle", { r: 5, class: "dot against chosen" });
  const chart = shareChart(label, xTitle, yTitle, [straight(...ideal.map((point) => chartPoint(...point)), "ideal"), polyline(points, "line accent"), dot]);
  const move = (x, y) => {
    const [cx, cy] = chartPoint(x, y);
    fill(dot, { cx, cy, visibility: Number.isFinite(x) && Number.isFinite(y) ? "visible" : "hidden" }, []);
  };
  return { chart, move };
}

/** Return both curves of a class, and ``move(outcome)`` that marks a threshold in them. */
function thresholdCurves(its, name) {
  if (!its.true.length) return { nodes: [note("There are no curves: the rows have only one of both kinds.")], move: () => {} };
  const base = its.positives / (its.positives + its.negatives);
  const roc = curveChart(`ROC curve of ${name}, area ${its.auc.toFixed(3)}`, "false positive rate (%)", "recall (%)", rocPoints(its), [[0, 0], [1, 1]]);
  const pr = curveChart(`Precision-recall curve of ${name}`, "recall (%)", "precision (%)", precisionPoints(its), [[0, base], [1, base]]);
  const nodes = [
    savable(roc.chart, `ROC curve of ${name}`, () => [["false positive rate", "recall"], ...rocPoints(its)], `ROC curve; area ${its.auc.toFixed(3)}. The diagonal is chance.`),
    savable(pr.chart, `Precision-recall curve of ${name}`, () => [["recall", "precision"], ...precisionPoints(its)], `Precision-recall curve; average precision ${its.average_precision.toFixed(3)}. The dashed line is chance.`),
  ];
  const move = ({ recall, precision, fallout }) => {
    roc.move(fallout, recall);
    pr.move(recall, precision);
  };
  return { nodes, move };
}
