// The features of the model: one row for each, sorted by importance, with a chart that can be opened.

const FIRST_FEATURES = 15;
const PREDICTED_ROWS = 20;

function featuresSection({ learned, about, images }, engine) {
  if (images) return imagesSection(images, about);
  const names = about.classes.map((its) => its.name);
  const state = { k: names.length === 2 ? 1 : 0 };
  const body = el("div");
  const draw = () => body.replaceChildren(pagedList(learned.features.map((feature) => ({ name: feature.name, draw: () => featureRow(feature, names, state.k, engine) })), { size: FIRST_FEATURES, what: "feature", list: el("div", { class: "features" }) }));
  draw();
  const has = (kind) => learned.features.some((feature) => feature.kind === kind);
  const whose = learned.features.some((feature) => feature.of_new_rows) ? "labelled" : "training";
  const chooser = names.length > 1 && learned.features.some((feature) => feature.kind !== "numbers") ? menu("Class", names, state.k, (k) => ((state.k = k), draw())) : null;
  const pool = about.components.length ? " Each column is counted by itself." : "";
  return section("Features", "features",
    isMeasured() ? note(measureText(learned.measure)) : null,
    has("counts") ? note(`Points: share of the class among the ${whose} rows with this value, with its 95 % interval. Bars: number of these rows. Dashed: share of the class among all training rows.${pool}`) : null,
    has("numbers") ? note("Dots and bars: mean and standard deviation of each class, one below the other.") : null,
    chooser, body,
    el("p", { class: "save" }, button("CSV of all features", () => save(new Blob([toCsv(featureLines(learned.features, names))], { type: "text/csv" }), "features.csv"), { class: "small" })));
}

const isMeasured = () => data.learned.features.some((its) => its.importance > 0);

const measureText = (measure) => (measure === "contribution" ? "Importance: mean absolute contribution to the log-odds, in nats, over a sample of the rows." : "Importance: information on the class that the column has by itself, in nats.");

function featureRow(feature, names, k, engine) {
  const most = data.learned.features[0].importance || 1;
  const details = el("details", { class: "feature", ontoggle: () => details.open && !details.dataset.drawn && openFeature(details, feature, names, k, engine) });
  details.append(el("summary", {},
    el("span", { class: "name" }, el("strong", {}, feature.name), " ", el("span", { class: "note" }, feature.family)),
    el("span", { class: "importance" }, isMeasured() ? [bar(feature.importance / most), el("span", { class: "value" }, feature.importance.toFixed(3))] : null),
    smallShape(feature, names, k)));
  return details;
}

/** Draw the details of a feature when they are opened. */
function openFeature(details, feature, names, k, engine) {
  details.dataset.drawn = "yes";
  if (feature.kind === "words") return details.append(wordsBody(feature, names));
  if (feature.kind === "numbers") return details.append(savable(meansTable(feature, names), feature.name, () => [["class", "mean", "spread"], ...names.map((name, i) => [name, feature.mean[i], feature.spread[i]])]));
  if (feature.kind === "shares") return details.append(savable(table(["Class", ...feature.labels], names.map((name, i) => [name, ...feature.shares[i].map((share) => percent(share))]), { label: feature.name }), feature.name, () => [["class", ...feature.labels], ...names.map((name, i) => [name, ...feature.shares[i]])]));
  const rows = exampleRows().slice(0, PREDICTED_ROWS);
  const predicted = engine.live ? meanPredictions(engine, feature, k, rows) : null;
  const points = shapeOf(feature, k);
  const said = predicted ? el("p", { class: "note legend" }, el("i", { class: "against" }), ` Mean probability of ${names[k]} by the model if the column had this value, over ${rows.length} rows.`) : null;
  const rowsTitle = feature.of_new_rows ? "rows of this page" : "training rows";
  const head = [feature.name, rowsTitle, `share of ${names[k]}`, "low", "high", "mean prediction", ...names.map((name) => `rows of ${name}`)];
  const lines = () => [head, ...points.map((its, j) => [its.label, its.rows, its.share, its.low, its.high, predicted ? predicted[j] : "", ...feature.counts.map((line) => line[j])])];
  details.append(savable(el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Chart of ${feature.name}` }, largeShape(feature, names, k, predicted)), feature.name, lines, said));
  const cells = points.map((its, j) => [its.label, grouped(its.rows), its.rows ? `${percent(its.share)} (${percent(its.low, 0)}–${percent(its.high, 0)})` : "–", predicted && predicted[j] !== null ? percent(predicted[j]) : "–"]);
  details.append(table([feature.name, rowsTitle, `Share of ${names[k]} (95 % interval)`, "Mean prediction"], cells, { label: `Values of ${feature.name}` }));
}

function meansTable(feature, names) {
  return table(["Class", "Mean", "Standard deviation"], names.map((name, k) => [name, rounded(feature.mean[k]), feature.spread[k] ? rounded(feature.spread[k]) : "–"]), { label: `Means of ${feature.name}` });
}

/** Return the words of a text: those that are typical of each class, and those that matter most for predictions. */
function wordsBody(feature, names) {
  const typical = el("dl", { class: "words" }, names.map((name, k) => [el("dt", {}, name), el("dd", {}, feature.words[k].join(", ") || "–")]).flat());
  const weights = feature.weights || [];
  const lines = weights.map(([word, weight]) => ({ name: word, cells: () => [word, el("div", { class: "cell" }, bar(weight / weights[0][1]), el("span", { class: "note" }, weight.toFixed(4)))], data: [word, weight] }));
  const important = lines.length ? pagedTable(`Important words of ${feature.name}`, ["Word", "Importance"], lines, { what: "word", size: 10 }) : null;
  return el("div", {}, note("Words that occur more often in a class than in the others:"), typical, important ? note("Words with the largest mean absolute contribution, over the same sample of rows:") : null, important);
}

function featureLines(features, names) {
  return [["feature", "family", "importance", "value", ...names.map((name) => `rows of ${name}`)],
    ...features.flatMap((its) => (its.kind === "counts" ? its.labels.map((label, j) => [its.name, its.family, its.importance, label, ...its.counts.map((line) => line[j])]) : [[its.name, its.family, its.importance]]))];
}

/** Return the mean image of each class, and the importance of each pixel. */
function imagesSection(images, about) {
  const side = data.engine.side;
  const most = Math.max(...images.means.flat().map(Math.abs));
  const one = (values, name, label, options) => savable(picture(values, side, label, options), label, () => Array.from({ length: side }, (_, y) => values.slice(y * side, (y + 1) * side)), name);
  const means = images.means.map((values, k) => one(values, about.classes[k].name, `Mean image of class ${about.classes[k].name}`, { most }));
  const weight = one(images.importance, "importance", "Importance of each pixel");
  return section("Features", "features", note(`The mean image of each class, and the importance of each pixel. ${measureText(images.measure)}`), el("div", { class: "pictures" }, means, weight));
}
