// Shapes: the share of a class at each level or in each interval of a feature, with its interval, over the rows there.

/** Return for each label of a feature: rows, share of the class, and the 95 % interval of the share. */
function shapeOf(feature, k) {
  return feature.labels.map((label, j) => {
    const rows = sum(feature.counts.map((line) => line[j]));
    const [low, high] = wilson(feature.counts[k][j], rows);
    return { label, rows, share: rows ? feature.counts[k][j] / rows : null, low, high, value: feature.values[j] };
  });
}

/** Return the drawing of a shape in a box: a histogram of rows, and shares with intervals above it. */
function shapeParts(points, base, { left, top, width, height, isNumber }) {
  const most = Math.max(...points.map((its) => its.rows), 1);
  const step = width / points.length;
  const [x, y] = [(j) => left + (j + 0.5) * step, (share) => top + (1 - share) * height];
  const parts = [svg("line", { x1: left, x2: left + width, y1: y(base), y2: y(base), class: "ideal" })];
  points.forEach((its, j) => {
    const rise = (its.rows / most) * height * 0.6;
    parts.push(svg("rect", { x: left + (j + 0.1) * step, y: top + height - rise, width: 0.8 * step, height: rise, class: "histogram" }));
  });
  const there = points.map((its, j) => ({ ...its, j })).filter((its) => its.rows > 0);
  const joined = there.filter((its) => isNumber && its.value !== null);
  if (joined.length > 1) parts.push(svg("polyline", { points: joined.map((its) => `${x(its.j)},${y(its.share)}`).join(" "), class: "line accent" }));
  for (const its of there) {
    parts.push(svg("line", { x1: x(its.j), x2: x(its.j), y1: y(its.low), y2: y(its.high), class: "line accent" }));
    parts.push(svg("circle", { cx: x(its.j), cy: y(its.share), r: Math.min(3, Math.max(step / 5, 1.2)), class: "point accent" }));
  }
  return { parts, x, y };
}

/** Return the small chart of a feature for the list of features. */
function smallShape(feature, names, k) {
  if (feature.kind === "words") return el("span", { class: "note words-of" }, feature.words[k].slice(0, 6).join(", ") || "–");
  if (feature.kind === "numbers") return smallMeans(feature, names);
  if (feature.kind === "shares") return note(feature.labels.map((label, j) => `${label}: ${percent(feature.shares[k][j], 0)}`).join(", "));
  const points = shapeOf(feature, k);
  const { parts } = shapeParts(points, baseRate(k), { left: 0, top: 3, width: 200, height: 44, isNumber: feature.edges !== null });
  return svg("svg", { viewBox: "0 0 200 50", class: "small-shape", role: "img", "aria-label": `Share of ${names[k]} by ${feature.name}: ${shapeText(points)}` }, parts);
}

/** Return the lowest and highest share as text. */
function shapeText(points) {
  const there = points.filter((its) => its.rows > 0).sort((a, b) => a.share - b.share);
  if (!there.length) return "no rows";
  const say = (its) => `${percent(its.share, 0)} at ${its.label}`;
  return there.length === 1 ? say(there[0]) : `from ${say(there[0])} to ${say(there.at(-1))}`;
}

/** Return the means and spreads of a number in the classes as bars. */
function smallMeans(feature, names) {
  const low = Math.min(...feature.mean.map((mean, k) => mean - 2 * feature.spread[k]));
  const high = Math.max(...feature.mean.map((mean, k) => mean + 2 * feature.spread[k]));
  const at = (value) => (200 * (value - low)) / (high - low || 1);
  const height = Math.max(50 / names.length, 2);
  const parts = names.map((_, k) => [
    svg("rect", { x: at(feature.mean[k] - feature.spread[k]), y: k * height + height * 0.2, width: Math.max(at(feature.mean[k] + feature.spread[k]) - at(feature.mean[k] - feature.spread[k]), 1), height: height * 0.6, class: "histogram" }),
    svg("circle", { cx: at(feature.mean[k]), cy: (k + 0.5) * height, r: Math.min(3, height / 2), class: "point accent" }),
  ]);
  return svg("svg", { viewBox: `0 0 200 ${Math.max(50, height * names.length)}`, class: "small-shape", role: "img", "aria-label": `Means of ${feature.name} by class` }, parts);
}

const SHAPE = { left: 44, top: 10, height: 180 };

/** Return the large chart of a feature; ``predicted`` has the mean prediction of the model at each label, or null. */
function largeShape(feature, names, k, predicted) {
  const points = shapeOf(feature, k);
  const width = Math.min(Math.max(points.length * 34, 260), 900);
  const { parts, x, y } = shapeParts(points, baseRate(k), { ...SHAPE, width, isNumber: feature.edges !== null });
  for (const tick of [0, 0.5, 1]) parts.push(svg("text", { x: SHAPE.left - 5, y: y(tick) + 4, "text-anchor": "end" }, percent(tick, 0)));
  const labels = shortened(points.map((its) => its.label), 18);
  const foot = SHAPE.top + SHAPE.height;
  const bottom = 28 + 4 * Math.max(...labels.map((label) => Math.min(label.length, 18))); // labels are slanted
  labels.forEach((label, j) => parts.push(svg("text", { "text-anchor": "end", transform: `translate(${x(j) + 3} ${foot + 10}) rotate(-40)` }, label)));
  if (predicted) {
    predicted.forEach((share, j) => {
      if (share !== null) parts.push(svg("rect", { x: x(j) - 5, y: y(share) - 1.5, width: 10, height: 3, class: "prediction" }));
    });
  }
  const label = `Share of ${names[k]} by ${feature.name}: ${shapeText(points)}`;
  return svg("svg", { viewBox: `0 0 ${SHAPE.left + width + 10} ${foot + bottom}`, class: "large-shape", role: "img", "aria-label": label, style: { "max-width": `${SHAPE.left + width + 10}px` } }, parts);
}

/** Return the share of a class among the training rows. */
const baseRate = (k) => data.about.classes[k].share;

/** Return a value with a label of a feature; that of an interval lies within the range of the feature. */
function valueAt(feature, j, { low, high }) {
  const value = feature.values[j];
  return feature.edges && !isEmpty(value) ? Math.min(Math.max(value, low), high) : value;
}

/** Return the mean prediction of a class if a feature is set to each of its values, over some rows. */
function meanPredictions(engine, feature, k, rows) {
  if (!rows.length) return null;
  return feature.labels.map((_, j) => {
    const value = valueAt(feature, j, engine.features[feature.place]);
    if (value === undefined) return null; // all other levels
    const shares = rows.map((row) => probabilities(engine, row.with(feature.place, value))[k]);
    return sum(shares) / shares.length;
  });
}
