// Tables: subgroups, drift, comparison of models, and the facts about the model.

/** Return a table whose rows are drawn in steps, with its data as CSV; lines are {name, cells(), data}. */
function pagedTable(title, headings, lines, { size = 15, what }) {
  const rows = lines.map((its) => ({ name: its.name, draw: () => el("tr", {}, its.cells().map((cell, j) => (j ? el("td", {}, cell) : el("th", { scope: "row" }, cell)))) }));
  const view = table(headings, [], { label: title });
  const node = pagedList(rows, { size, what, list: view.querySelector("tbody"), view });
  return savable(node, title, () => [headings, ...lines.map((its) => its.data)]);
}

const shareCell = (its) => [el("span", { class: "figure-of" }, percent(its.accuracy)), bar(its.accuracy, its)];

function subgroupsSection({ subgroups, quality }) {
  if (!subgroups || !subgroups.groups.length) return null;
  const overall = quality.scores.accuracy.value;
  const lines = subgroups.groups.map((its) => {
    const name = its.columns.map((column, i) => `${column}: ${its.values[i]}`).join(", ");
    const verdict = its.high < overall ? "lower" : its.low > overall ? "higher" : "";
    return { name, cells: () => [name, grouped(its.rows), shareCell(its), `${percent(its.low, 0)}–${percent(its.high, 0)}`, verdict], data: [name, its.rows, its.accuracy, `${its.low}–${its.high}`, verdict] };
  });
  const { worse } = subgroups;
  return section("Subgroups", "subgroups",
    el("p", {}, `Accuracy is ${percent(overall)} on all rows. ${worse ? `${countOf(worse, "group")} of rows ${worse === 1 ? "has" : "have"} an interval below it.` : "No group has an interval below it."}`),
    note(`Groups of at least ${subgroups.least_rows} rows: by each column, and by pairs of the most important ones. Sorted by the upper end of the 95 % interval, so that groups that are clearly worse come first. With many groups, a few intervals miss the true accuracy by chance.`),
    pagedTable("Subgroups", ["Group", "Rows", "Accuracy", "95 % interval", "Compared with all rows"], lines, { what: "group" }));
}

function driftSection({ drift, quality }) {
  if (!drift.length) return null;
  const moved = drift.filter((its) => its.is_significant).length;
  const most = Math.max(...drift.map((its) => its.distance), 0.1);
  const lines = drift.map((its) => ({
    name: its.name,
    cells: () => [its.name, [el("span", { class: "figure-of" }, its.distance.toFixed(3)), bar(its.distance / most)], its.is_significant ? "yes" : "no", its.unknown ? (its.form === "words" ? countOf(its.unknown, "word") : countOf(its.unknown, "row")) : "–", its.labels ? largestChange(its) : "–"],
    data: [its.name, its.distance, its.is_significant, its.unknown, its.labels ? largestChange(its) : ""],
  }));
  return section("Drift", "drift",
    el("p", {}, `${moved ? countOf(moved, "column") : "No column"} of ${grouped(drift.length)} ${moved === 1 || !moved ? "differs" : "differ"} between these rows and the training rows by more than chance.`),
    note("Distance: Jensen-Shannon distance between the shares of levels or intervals, from 0 (equal) to 1. More than chance: Pearson's chi-squared test at 1 %, corrected for the number of columns."),
    pagedTable("Drift", ["Column", "Distance", "More than chance", "Unknown levels", "Largest change"], lines, { what: "column", size: 10 }));
}

/** Return the label whose share has changed most. */
function largestChange({ labels, before, after }) {
  const j = labels.map((_, i) => i).sort((a, b) => Math.abs(after[b] - before[b]) - Math.abs(after[a] - before[a]))[0];
  return `${labels[j]}: ${percent(before[j])} → ${percent(after[j])}`;
}

/** Return the difference of a score to the best one, and the verdict. */
function verdictNote(name, its) {
  if (its.verdict === undefined) return null;
  const shares = ["accuracy", "calibration error"].includes(name);
  const by = shares ? `${signed(100 * its.difference)} ± ${(100 * its.half_width).toFixed(2)} %` : `${signed(its.difference, 3)} ± ${its.half_width.toFixed(3)}`;
  return el("span", { class: "note below" }, its.verdict === "best" ? "best" : `${by}: ${its.verdict}`);
}

function comparisonSection({ comparison }) {
  if (!comparison.length) return null;
  const names = Object.keys(comparison[0].scores);
  const lower = new Set(["log-loss", "Brier score", "calibration error"]);
  const best = Object.fromEntries(names.map((name) => {
    const values = comparison.map((its) => its.scores[name].value ?? NaN);
    return [name, lower.has(name) ? Math.min(...values) : Math.max(...values)];
  }));
  const cell = (name, its) => (its.value === null ? "–" : [el(its.value === best[name] ? "strong" : "span", {}, scoreText(name, its.value)), its.low === undefined ? null : el("span", { class: "note below" }, `${scoreText(name, its.low)} to ${scoreText(name, its.high)}`), verdictNote(name, its)]);
  const lines = comparison.map((its) => [[its.name, el("span", { class: "note below" }, its.kind)], ...names.map((name) => cell(name, its.scores[name]))]);
  const parts = ["value", "difference", "half_width", "verdict"];
  const csv = () => [["model", "classifier", ...names.flatMap((name) => parts.map((part) => (part === "value" ? name : `${name} ${part.replace("_", " ")}`)))], ...comparison.map((its) => [its.name, its.kind, ...names.flatMap((name) => parts.map((part) => its.scores[name][part] ?? ""))])];
  const margins = names.filter((name) => comparison[0].scores[name].margin).map((name) => `${name} ${scoreText(name, comparison[0].scores[name].margin)}`);
  return section("Comparison", "comparison", note("All models on the same rows, with 95 % intervals; the best value is bold. The last line of a cell is the difference to the best model, with ± half of a 95 % interval that holds for all models at once. Worse: the interval does not contain 0. Practically equal: it lies within a margin (", margins.join(", "), "). Undecided: neither; more rows are needed. This page describes the first model."),
    savable(table(["Model", ...names], lines, { label: "Comparison of models" }), "Comparison", csv));
}

function aboutSection({ about }) {
  const figures = [
    figure("training rows", grouped(about.rows), countOf(about.classes.length, "class", "classes")),
    figure("features", grouped(data.engine.features.length), countOf(about.parameters, "parameter")),
  ];
  const classes = about.classes.map((its) => ({ name: its.name, draw: () => line(its.name, bar(its.share), `${percent(its.share)} · ${grouped(its.rows)}`) }));
  const families = Object.entries(about.families);
  const settings = Object.entries(about.settings).map(([name, value]) => el("li", {}, el("code", {}, `${name} = ${value}`)));
  return section("Model", "about",
    el("p", {}, el("code", {}, about.kind), about.components.length ? ": a weighted mean of the log probabilities of several models, plus a bias for each class." : `: Bayes’ rule, p(class | x) ∝ p(class) · p(x | class); ${about.structure}.`),
    el("div", { class: "figures" }, figures),
    componentsTable(about),
    el("h3", {}, "Classes in training"), pagedList(classes, { size: 12, what: "class", list: el("div", { class: "lines wide" }) }),
    el("h3", {}, "Columns by family"), table(["Family", "Columns"], families, { label: "Columns by family" }),
    el("details", {}, el("summary", {}, "Settings"), el("ul", { class: "settings" }, settings)));
}

/** Return the models of a pool with their weights; null if the model is no pool. */
function componentsTable(about) {
  if (!about.components.length) return null;
  const loss = (value) => (value === null ? "–" : value.toFixed(3));
  const lines = about.components.map((its) => [its.name, its.weight.toFixed(2), loss(its.log_loss), its.model]);
  if (about.pool_log_loss !== null) lines.push(["pool", "", loss(about.pool_log_loss), "weighted combination of all"]);
  return [el("h3", {}, "Components"), note(`Each component models the same rows.${about.pool_log_loss === null ? "" : " The weights minimise the log-loss on held-out rows."}`), table(["Component", "Weight", "Held-out log-loss", "Model"], lines, { label: "Components of the pool" })];
}
