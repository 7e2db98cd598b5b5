// The page: its sections in order, and the quality of the predictions.

/** Return a section with a heading, and add it to the table of contents. */
function section(title, id, ...children) {
  document.getElementById("contents").append(el("a", { href: `#${id}` }, title));
  return el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), children);
}

const figure = (name, value, below) => el("div", { class: "figure" }, el("span", { class: "what" }, name), el("strong", {}, value), el("span", { class: "note" }, below));

const scoreText = (name, value) => (["accuracy", "calibration error"].includes(name) ? percent(value) : value.toFixed(3));

function qualitySection({ quality, about, warnings }) {
  const said = warnings.length ? el("ul", { class: "warnings" }, warnings.map((text) => el("li", {}, text))) : null;
  if (!quality) return section("Quality", "quality", el("p", { class: "note" }, "Not measured: the report was written without labelled rows."), said);
  const below = {
    accuracy: `baseline (most frequent class): ${percent(quality.baseline.accuracy)}`,
    "log-loss": `baseline (class frequencies): ${quality.baseline["log-loss"].toFixed(3)}`,
    "ROC AUC": about.classes.length > 2 ? "mean over the classes; chance: 0.5" : "chance: 0.5",
    "calibration error": "perfectly calibrated: 0",
  };
  const interval = (name, its) => (its.low === undefined ? "" : `95 % interval ${scoreText(name, its.low)} to ${scoreText(name, its.high)}`);
  const figures = Object.entries(quality.scores).filter(([, its]) => its.value !== null).map(([name, its]) => figure(name, scoreText(name, its.value), [interval(name, its), interval(name, its) && below[name] ? el("br") : null, below[name] || null]));
  const training = quality.has_training_counts ? el("p", { class: "caution" }, "These rows look like the training rows: each class has the same number of rows. Figures on rows that a model has learned are too good, above all those of trees. Use rows that were held out.") : null;
  const predicts = about.target ? ["The model predicts ", el("strong", {}, about.target), ". "] : [];
  return section("Quality", "quality", el("p", {}, predicts, `Measured on ${countOf(quality.rows, "row")}.`), training, el("div", { class: "figures" }, figures), said);
}

function classesSection({ quality, about }) {
  if (!quality) return null;
  const entry = (its) => (its.value === null ? "–" : [bar(its.value, its), el("span", { class: "note" }, `${percent(its.value)} (${percent(its.low)}–${percent(its.high)}) of ${grouped(its.rows)}`)]);
  const lines = quality.classes.map((its, k) => ({
    name: about.classes[k].name,
    cells: () => [about.classes[k].name, el("div", { class: "cell" }, entry(its.recall)), el("div", { class: "cell" }, entry(its.precision))],
    data: [about.classes[k].name, its.recall.value, its.precision.value],
  }));
  return section("Classes", "classes", note("Recall: share of the rows of a class that are predicted as it. Precision: share of the rows predicted as a class that belong to it. With 95 % intervals."), pagedTable("Recall and precision", ["Class", "Recall", "Precision"], lines, { what: "class", size: 12 }));
}

function calibrationSection({ quality, calibration }) {
  const chart = (series, name, caption) => savable(reliabilityChart(series), name, () => reliabilityLines(series), caption);
  const legend = (series) => series.map(({ name, tone }) => [el("i", { class: tone }), ` ${name} `]);
  const parts = [];
  if (quality) {
    const text = "With calibrated probabilities the points lie on the diagonal; below it, probabilities are too high. Lines: 95 % intervals. Larger points have more rows.";
    parts.push(chart([{ name: "these rows", its: quality.reliability, tone: "accent" }], "Calibration", text));
  }
  if (calibration) {
    const series = [{ name: "before", its: calibration.reliability.before, tone: "against" }, { name: "after", its: calibration.reliability.after, tone: "for" }];
    const caption = ` Calibration by ${calibration.method} on held-out training rows: calibration error ${percent(calibration.error.before)} before and ${percent(calibration.error.after)} after; log-loss ${calibration.log_loss.before.toFixed(3)} before and ${calibration.log_loss.after.toFixed(3)} after.`;
    parts.push(chart(series, "Calibration before and after", el("span", { class: "legend" }, legend(series), caption)));
  }
  return parts.length ? section("Calibration", "calibration", el("div", { class: "side-by-side" }, parts)) : null;
}

const data = JSON.parse(document.getElementById("data").textContent);

async function start() {
  await decodeArrays(data.engine);
  const engine = prepareEngine(data.engine);
  window.suffice = { engine, probabilities: (row) => probabilities(engine, row), explain: (row) => explainRow(engine, row), image: (strokes) => strokeImage(strokes, engine.side, data.images.drawing) };
  const panel = engine.live ? livePanel(engine) : null;
  document.getElementById("head").append(el("h1", {}, data.title));
  const live = () => liveSection(engine, panel);
  const quality = [qualitySection, comparisonSection, (its) => thresholdSection(its, panel), (its) => confusionSection(its, panel), classesSection, (its) => errorsSection(its, panel)];
  const model = [(its) => featuresSection(its, engine), subgroupsSection, calibrationSection, driftSection, aboutSection];
  const makers = engine.side ? [live, ...quality, ...model] : [...quality, live, ...model];
  for (const maker of makers) {
    const made = maker(data);
    if (made) document.getElementById("main").append(made);
  }
  document.documentElement.dataset.ready = "yes";
}

start().catch((error) => {
  document.getElementById("main").append(el("p", { class: "caution" }, `This page could not be drawn: ${error.message}. It needs a browser of 2023 or later.`));
  throw error;
});
