// The sections of the page.

/** Return a section with a heading, and add it to the table of contents. */
function section(title, id, ...children) {
  document.getElementById("contents").append(el("a", { href: `#${id}` }, title));
  return el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), children);
}

const figure = (name, value, below) => el("div", { class: "figure" }, el("span", { class: "what" }, name), el("strong", {}, value), el("span", { class: "note" }, below));

function aboutSection({ about }) {
  const figures = [
    figure("training rows", grouped(about.rows), `${about.classes.length} classes`),
    figure("features", grouped(Object.keys(data.engine.features).length), `${grouped(about.parameters)} parameters`),
  ];
  const classes = about.classes.map((its) => line(its.name, bar(its.share), `${percent(its.share)} · ${grouped(its.rows)}`));
  const families = Object.entries(about.families).map(([family, names]) => [family, names]);
  const settings = Object.entries(about.settings).map(([name, value]) => el("li", {}, el("code", {}, `${name} = ${value}`)));
  const predicted = about.target ? ["It predicts ", el("strong", {}, about.target), ". "] : [];
  return section("Model", "about",
    el("p", {}, predicted, el("code", {}, about.kind), about.components.length ? ": a pool of models, log p(class | x) = Σ weight · log p(class | x, model) + bias of the class, up to a constant." : `: Bayes’ rule, p(class | x) ∝ p(class) · p(x | class); ${about.structure}.`),
    el("div", { class: "figures" }, figures),
    componentsTable(about),
    el("h3", {}, "Classes"), el("div", { class: "lines wide" }, classes),
    el("h3", {}, "Columns by family"), table(["Family", "Columns"], families, { label: "Columns by family" }),
    el("details", {}, el("summary", {}, "Settings"), el("ul", { class: "settings" }, settings)));
}

/** Return the models of a pool with their weights; null if the model is no pool. */
function componentsTable(about) {
  if (!about.components.length) return null;
  const loss = (value) => (value === null ? "–" : value.toFixed(3));
  const lines = about.components.map((its) => [its.name, its.weight.toFixed(2), loss(its.log_loss), its.model]);
  if (about.pool_log_loss !== null) lines.push(["pool", "", loss(about.pool_log_loss), "all of them, weighted"]);
  const note = about.pool_log_loss === null ? "" : " The weights have the least log-loss on held-out rows.";
  return [el("h3", {}, "Components"), el("p", { class: "note" }, `Each component is a model of all columns.${note}`), table(["Component", "Weight", "Held-out log-loss", "Model"], lines, { label: "Components of the pool" })];
}

function qualitySection({ quality, about }) {
  if (!quality) return section("Quality", "quality", el("p", { class: "note" }, "Not measured: the report was written without rows and labels (X and y)."));
  const formats = { accuracy: percent, "calibration error": percent };
  const figures = Object.entries(quality.scores).map(([name, its]) => {
    const format = formats[name] || ((value) => value.toFixed(3));
    return figure(name, format(its.value), its.low === undefined ? "0 is perfect calibration" : `95 % interval ${format(its.low)} to ${format(its.high)}`);
  });
  const entry = (its) => (its.value === null ? "–" : [bar(its.value, its), el("span", { class: "note" }, `${percent(its.value)} (${percent(its.low, 0)}–${percent(its.high, 0)}) of ${grouped(its.rows)}`)]);
  const lines = quality.classes.map((its, k) => [about.classes[k].name, el("div", { class: "cell" }, entry(its.recall)), el("div", { class: "cell" }, entry(its.precision))]);
  return section("Quality", "quality",
    el("p", {}, `Measured on ${grouped(quality.rows)} rows. Baseline accuracy, by always predicting the most frequent class: ${percent(quality.baseline)}.`),
    el("div", { class: "figures" }, figures),
    table(["Class", "Recall", "Precision"], lines, { label: "By class", class: "by-class" }));
}

function reliabilityKey(series) {
  return el("p", { class: "note legend" }, series.map(({ name, tone }) => [el("i", { class: tone }), ` ${name} `]).flat());
}

function calibrationSection({ quality, calibration }) {
  const parts = [];
  if (quality) {
    const series = [{ name: "these rows", its: quality.reliability, tone: "accent" }];
    parts.push(el("figure", {}, reliabilityChart(series), el("figcaption", {}, "Calibrated probabilities lie on the diagonal; points below it are overconfident. Larger dots stand for more rows.")));
  }
  if (calibration) {
    const series = [{ name: "before", its: calibration.reliability.before, tone: "against" }, { name: "after", its: calibration.reliability.after, tone: "for" }];
    const caption = `Calibrated by ${calibration.method} on held-out rows: calibration error ${percent(calibration.error.before)} before and ${percent(calibration.error.after)} after; log-loss ${calibration.log_loss.before.toFixed(3)} before and ${calibration.log_loss.after.toFixed(3)} after.`;
    parts.push(el("figure", {}, reliabilityChart(series), reliabilityKey(series), el("figcaption", {}, caption)));
  }
  if (!parts.length) parts.push(el("p", { class: "note" }, "Not measured: there are no labelled rows, and the model is not calibrated."));
  return section("Calibration", "calibration", el("div", { class: "side-by-side" }, parts));
}

function confusionSection({ quality, about }) {
  if (!quality || !quality.confusion) return null;
  const names = about.classes.map((its) => its.name);
  const most = Math.max(1, ...quality.confusion.map((counts, k) => Math.max(0, ...counts.filter((_, j) => j !== k))));
  const lines = quality.confusion.map((counts, k) => [
    names[k],
    ...counts.map((count, j) => el("span", { class: j === k ? "tint right" : "tint wrong", style: { "--share": j === k ? count / Math.max(1, sum(counts)) : count / most } }, count ? grouped(count) : "·")),
  ]);
  return section("Confusion matrix", "confusions", el("p", { class: "note" }, "Rows: true class. Columns: predicted class."), table(["", ...names], lines, { label: "Confusion matrix", class: "confusion" }));
}

function learnedSection({ learned, about }) {
  const names = about.classes.map((its) => its.name);
  if (learned.images) {
    const most = Math.max(...learned.images.flat().map(Math.abs));
    const pictures = learned.images.map((values, k) => {
      const canvas = el("canvas", { width: learned.side * 8, height: learned.side * 8, class: "map", role: "img", "aria-label": `Mean image of class ${names[k]}` });
      return el("figure", {}, paint(canvas, values, learned.side, most), el("figcaption", {}, names[k]));
    });
    if (!learned.features.length) return section("Features by class", "learned", el("p", { class: "note" }, "The mean image of each class."), el("div", { class: "pictures" }, pictures));
  }
  const cards = learned.features.map((feature) => featureCard(feature, names));
  const order = learned.features.some((its) => its.importance) ? "Features with the largest mean contribution come first." : "In the order of the table.";
  const more = learned.more ? el("p", { class: "note" }, `${grouped(learned.more)} more features are not shown.`) : null;
  return section("Features by class", "learned", el("p", { class: "note" }, `${order}${about.components.length ? " Each column is shown by itself, as a naive model counts it." : ""}`), el("div", { class: "cards" }, cards), more);
}

function featureCard(feature, names) {
  const weight = feature.importance ? ` · mean absolute contribution ${feature.importance.toFixed(2)} nats` : "";
  const bodies = { levels: levelsBody, numbers: numbersBody, words: wordsBody };
  return el("article", { class: "card" }, el("h3", {}, feature.name), el("p", { class: "note" }, feature.family + weight), bodies[feature.shows](feature, names));
}

function levelsBody(feature, names) {
  if (feature.uncut) return el("p", { class: "note" }, "Not informative: the column was not split into intervals.");
  const more = feature.more ? el("p", { class: "note" }, `${grouped(feature.more)} rarer levels are not shown.`) : null;
  if (names.length > FEW_CLASSES) return el("div", {}, levelsTable(feature, names), more);
  const groups = feature.labels.map((label, j) => [
    el("h4", {}, shown(label)),
    names.map((name, k) => line(name, bar(feature.shares[k][j], { tone: `tone-${k % 6}` }), percent(feature.shares[k][j]))),
  ]);
  return el("div", { class: "lines" }, groups, more);
}

const FEW_CLASSES = 3;

/** Return the shares of levels by class as tinted cells; for many classes, bars would take too much space. */
function levelsTable(feature, names) {
  const cell = (share) => el("span", { class: "tint right", style: { "--share": share * 2 } }, Math.round(100 * share) || "·");
  const lines = feature.labels.map((label, j) => [shown(label), ...names.map((_, k) => cell(feature.shares[k][j]))]);
  return table(["%", ...names], lines, { label: `Shares of the levels of ${feature.name}`, class: "confusion" });
}

function numbersBody(feature, names) {
  const low = Math.min(...feature.mean.map((mean, k) => mean - 2 * feature.spread[k]));
  const high = Math.max(...feature.mean.map((mean, k) => mean + 2 * feature.spread[k]));
  const at = (value) => `${(100 * (value - low)) / (high - low || 1)}%`;
  return el("div", { class: "lines numbers" }, names.map((name, k) => {
    const [mean, spread] = [feature.mean[k], feature.spread[k]];
    const graph = el("span", { class: "bar range", "aria-hidden": "true" },
      el("b", { class: `tone-${k % 6}`, style: { left: at(mean - spread), width: `${(200 * spread) / (high - low || 1)}%` } }), el("i", { class: "mark", style: { left: at(mean) } }));
    return line(name, graph, spread ? `${rounded(mean)} ± ${rounded(spread)}` : rounded(mean));
  }));
}

const wordsBody = (feature, names) => el("dl", { class: "words" }, names.map((name, k) => [el("dt", {}, name), el("dd", {}, feature.words[k].join(", ") || "–")]).flat());

function wrongSection({ wrong, quality, about }, panel) {
  const is = about.target ? ` has ${about.target} = ` : " is ";
  if (!quality) return null;
  if (!wrong.length) return section("Largest errors", "wrong", el("p", {}, "All predictions are correct."));
  const tried = (its) => {
    panel.set(its.cells);
    const live = document.getElementById("live");
    live.scrollIntoView();
    document.getElementById("live-title").focus({ preventScroll: true });
  };
  const picture = (its) => {
    if (!data.engine.side) return null;
    const canvas = el("canvas", { width: 80, height: 80, class: "map", role: "img", "aria-label": `Row ${its.row}` });
    return paint(canvas, its.cells, data.engine.side, Math.max(...its.cells.map(Number)));
  };
  const cards = wrong.map((its) => el("li", {}, picture(its),
    el("p", {}, el("strong", {}, `Row ${its.row}`), `${is}${its.label}; predicted ${its.predicted} (${probabilityText(its.probability)}; ${probabilityText(its.label_probability)} for ${its.label}). `,
      panel ? el("button", { type: "button", class: "small", onclick: () => tried(its), "aria-label": `Try row ${its.row} above` }, "Try it") : null),
    its.sentence ? el("p", { class: "note" }, its.sentence) : null));
  return section("Largest errors", "wrong", el("ol", { class: "wrong" }, cards));
}

function warningsSection({ warnings }) {
  const body = warnings.length ? el("ul", { class: "warnings" }, warnings.map((text) => el("li", {}, text))) : el("p", {}, "None.");
  return section("Warnings", "warnings", body);
}

function liveSection(engine, panel) {
  const notes = engine.notes.map((note) => el("p", { class: "note" }, note));
  const pool = engine.pool ? " The contributions of all components are added up, times their weights." : "";
  const help = el("p", { class: "note" }, `Change the values of a row to see its probabilities and the contribution of each feature. They are computed in this page from the parameters of the model.${pool}`);
  const found = section("Try it", "live", panel ? [help, notes, panel.node] : notes);
  found.querySelector("h2").setAttribute("tabindex", "-1");
  return found;
}

const data = JSON.parse(document.getElementById("data").textContent);

function start() {
  const engine = prepareEngine(data.engine);
  const panel = engine.live ? livePanel(engine, data.examples) : null;
  document.getElementById("head").append(el("h1", {}, data.title));
  const makers = [aboutSection, qualitySection, () => liveSection(engine, panel), learnedSection, calibrationSection, confusionSection, () => wrongSection(data, panel), warningsSection];
  for (const maker of makers) {
    const made = maker(data);
    if (made) document.getElementById("main").append(made);
  }
  window.suffice = { engine, probabilities: (row) => probabilities(engine, row), explain: (row) => explainRow(engine, row) };
}

start();
