// Rows: the confusion matrix, the rows of its cells, and the largest errors. A row can be opened in "Try it".

const MAX_MATRIX = 60;
const SHOWN_CELLS = 6;

const exampleRows = () => data.shown.examples.map((place) => data.shown.rows[place].cells);
const predictedOf = (row) => row.probabilities.indexOf(Math.max(...row.probabilities));

/** Return a confusion matrix; ``choose(truth, predicted)`` is called when a number is chosen. */
function matrixTable(names, counts, choose) {
  const most = Math.max(1, ...counts.map((line, k) => Math.max(0, ...line.filter((_, j) => j !== k))));
  const short = shortened(names, 14);
  const lines = counts.map((line, k) => [
    short[k],
    ...line.map((count, j) => {
      const tint = { class: j === k ? "tint right" : "tint wrong", style: { "--share": j === k ? count / Math.max(1, sum(line)) : count / most } };
      return count ? button(grouped(count), () => choose(k, j), { ...tint, "aria-label": `True ${names[k]}, predicted ${names[j]}: ${countOf(count, "row")}` }) : el("span", tint, "·");
    }),
  ]);
  const isLong = short.some((name) => name.length > 5);
  return table(["", ...short.map((name) => el("span", {}, name))], lines, { label: "Confusion matrix", class: `confusion${isLong ? " upright" : ""}${names.length > 12 ? " many" : ""}` });
}

function confusionSection({ quality, about }, panel) {
  if (!quality || about.classes.length < 3) return null;
  const names = about.classes.map((its) => its.name);
  const chosen = el("div");
  const choose = (truth, predicted) => showCell(chosen, (row) => row.truth === truth && predictedOf(row) === predicted, `true ${names[truth]}, predicted ${names[predicted]}`, quality.confusion[truth][predicted], panel);
  const lines = () => [["true class", ...names.map((name) => `predicted ${name}`)], ...quality.confusion.map((line, k) => [names[k], ...line])];
  const matrix = names.length <= MAX_MATRIX ? matrixTable(names, quality.confusion, choose) : note(`The matrix of ${names.length} classes is in the CSV file.`);
  const pairs = quality.confusion.flatMap((line, k) => line.map((count, j) => ({ k, j, count }))).filter(({ k, j, count }) => k !== j && count).sort((a, b) => b.count - a.count);
  const list = pairs.slice(0, 10).map(({ k, j, count }) => el("li", {}, button(`${names[k]} predicted as ${names[j]}: ${countOf(count, "row")}`, () => choose(k, j), { class: "link" })));
  return section("Confusion matrix", "confusions", note("Rows: true class. Columns: predicted class. Choose a number to see its rows."),
    savable(matrix, "Confusion matrix", lines), chosen, pairs.length ? [el("h3", {}, "Most frequent confusions"), el("ol", { class: "columns" }, list)] : null);
}

/** Show the rows of a cell of a confusion matrix. */
function showCell(node, belongs, title, count, panel) {
  const rows = data.shown.rows.filter((row) => row.truth !== undefined && belongs(row));
  const text = `${rows.length < count ? `This page has ${grouped(rows.length)} of ` : ""}${countOf(count, "row")}.`;
  const head = el("h3", { tabindex: "-1" }, `Rows: ${title}`);
  node.replaceChildren(el("div", { class: "cell-rows" }, head, note(text), el("ol", { class: "rows" }, rows.slice(0, 20).map((row) => rowItem(row, panel)))));
  head.focus({ preventScroll: true });
  node.scrollIntoView({ block: "nearest" });
}

/** Return a row with its label, its prediction and its cells. */
function rowItem(row, panel) {
  const { target, classes } = data.about;
  const predicted = predictedOf(row);
  const order = row.probabilities.map((_, k) => k).sort((a, b) => row.probabilities[b] - row.probabilities[a]);
  const listed = [...new Set([...order.slice(0, 2), ...(row.truth >= 0 ? [row.truth] : [])])];
  return el("li", {},
    data.engine.side ? picture(row.cells, data.engine.side, `Image of row ${row.row}`) : null,
    el("p", {}, el("strong", {}, `Row ${grouped(row.row)}`), `: ${row.label === undefined ? "" : `true ${target || "class"} ${row.label}, `}predicted ${classes[predicted].name}. Probabilities: ${listed.map((k) => `${classes[k].name}: ${probabilityText(row.probabilities[k])}`).join(", ")}. `,
      panel ? button("Try it", () => panel.open(row), { class: "small", "aria-label": `Try row ${row.row}` }) : null),
    rowCells(row, predicted),
    row.reasons && row.reasons.length && !data.engine.side ? note(`Reasons for ${classes[predicted].name}${row.truth >= 0 ? ` against ${row.label}` : ""}: ${row.reasons.map(reasonText).join(", ")}.`) : null);
}

// terms that are no features: the class prior and the calibration
const TERM_NAMES = { "(prior)": "intercept (class prior)", "(calibration)": "calibration" };
const reasonText = ([name, value, nats]) => `${TERM_NAMES[name] || `${name} = ${shown(value)}`} (${signed(nats)})`;

/** Return the texts of a row with highlighted words, and the cells of its most important features. */
function rowCells(row, predicted) {
  if (data.engine.side) return null;
  const features = data.engine.features;
  const texts = features.map((its, place) => ({ its, place })).filter(({ its, place }) => its.input === "text" && row.cells[place]);
  // reasons name the cells that matter
  const order = row.reasons && row.reasons.length ? [] : data.learned.features.filter((its) => features[its.place].input !== "text").slice(0, SHOWN_CELLS);
  const cells = order.map((its) => `${its.name} = ${shown(row.cells[its.place])}`);
  const rest = features.filter((its) => its.input !== "none").length - order.length - texts.length;
  return [
    texts.map(({ place }) => markedText(row, place, predicted)),
    cells.length ? note(`${cells.join(", ")}${rest > 0 ? `, and ${countOf(rest, "more feature")}` : ""}`) : null,
  ];
}

/** Return a text whose words are marked by their contribution to the predicted class against the true one. */
function markedText(row, place, predicted) {
  const text = String(row.cells[place]);
  const engine = window.suffice.engine;
  const other = row.truth >= 0 && row.truth !== predicted ? row.truth : row.probabilities.indexOf(Math.max(...row.probabilities.filter((_, k) => k !== predicted)));
  if (!engine.live || other < 0) return el("blockquote", {}, text);
  const weights = new Map();
  for (const part of logOddsParts(engine, row.cells, predicted, other).parts) {
    if (part.feature === place) for (const word of part.name.slice(engine.features[place].name.length + 2).split(" ")) weights.set(word, (weights.get(word) || 0) + part.nats);
  }
  const most = Math.max(...[...weights.values()].map(Math.abs), 1e-9);
  const pieces = text.split(/([\p{L}\p{N}_]{2,})/u).map((piece) => {
    const nats = weights.get(piece) ?? weights.get(piece.toLowerCase());
    if (!nats || Math.abs(nats) < 0.05 * most) return piece;
    return el("mark", { class: nats > 0 ? "against" : "for", style: { "--share": Math.abs(nats) / most }, title: `${signed(nats)} nats` }, piece);
  });
  const names = data.about.classes.map((its) => its.name);
  return [el("blockquote", {}, pieces), el("p", { class: "note legend" }, el("i", { class: "against" }), ` for ${names[predicted]} `, el("i", { class: "for" }), ` for ${names[other]}`)];
}

function errorsSection({ shown, quality }, panel) {
  if (!quality) return null;
  if (!shown.wrong) return section("Largest errors", "wrong", el("p", {}, "All predictions are correct."));
  const rows = shown.errors.map((place) => ({ name: `row ${shown.rows[place].row}`, draw: () => rowItem(shown.rows[place], panel) }));
  return section("Largest errors", "wrong", note(`${countOf(shown.wrong, "prediction")} of ${grouped(quality.rows)} ${shown.wrong === 1 ? "is" : "are"} wrong. The rows whose true class has the lowest probability come first.`), pagedList(rows, { size: 5, what: "largest error", list: el("ol", { class: "rows" }) }));
}
