// Scores: log p(x, class) as a sum of terms, its parts, and the probabilities that follow from it.

/** Return the live model with its arrays unpacked, and with its labels and words indexed. */
function prepareEngine(engine) {
  const blocks = engine.blocks.map((block) => ({
    ...block,
    index: block.words && new Map(block.words.map((word, place) => [word, place])),
    stop: block.text && new Set(block.text.stop),
    terms: block.terms.map((term) => prepareTerm(term, engine.classes.length)),
  }));
  const features = engine.features.map((feature) => ({
    ...feature,
    index: feature.labels && new Map(feature.labels.map((label, code) => [keyOf(label), code])),
  }));
  return { ...engine, blocks, features, prior: Array.from(unpack(engine.prior)) };
}

/** Return a field of a term: an array, a number if the array has no dimensions, or a term within the term. */
function prepareField(its, classes) {
  if (its && its.f64 !== undefined) return its.shape.length ? unpack(its) : unpack(its)[0];
  return its && its.weights ? prepareTerm(its, classes) : its;
}

/** Return a term with its arrays unpacked; ``width`` is the length of a row of its first array [class, …]. */
function prepareTerm(term, classes) {
  const table = Object.values(term).find((its) => its && its.shape && its.shape.length === 2);
  return {
    ...Object.fromEntries(Object.entries(term).map(([name, its]) => [name, prepareField(its, classes)])),
    classes,
    width: table && table.shape[1],
    starts: term.sizes && startsOf(term.sizes),
    implied: term.implied && new Map(term.implied.map(([a, b, flags]) => [`${a} ${b}`, flags])),
    factors: new Map(),
  };
}

/** Return the sum of values; a value of −∞ makes it −∞. */
const sum = (values) => (values.includes(-Infinity) ? -Infinity : values.reduce((total, value) => total + value, 0));

/** Return the cells of a block that are not empty. */
const presentCells = (engine, block, row) => readCells(engine, block, row).filter(({ x }) => x !== null);

/** Return log p(x given class) of a block, [class]. */
function blockScores(engine, block, row) {
  const cells = presentCells(engine, block, row);
  const parts = block.terms.map((term) => {
    const type = TERMS[term.type];
    return type.scores ? type.scores(term, cells) : type.contributions(term, cells).map(sum);
  });
  return engine.classes.map((_, k) => sum(parts.map((part) => part[k])));
}

/** Return log p(x, class), [class]. */
function logScores(engine, row) {
  const scores = engine.blocks.map((block) => blockScores(engine, block, row));
  return engine.prior.map((prior, k) => sum([prior, ...scores.map((part) => part[k])]));
}

/** Return the contributions of the cells of a block: [{feature, name, value, added[class]}]. */
function blockContributions(engine, block, row) {
  const cells = readCells(engine, block, row);
  const present = cells.filter(({ x }) => x !== null);
  const parts = block.terms.map((term) => TERMS[term.type].contributions(term, present));
  const added = new Map(present.map((cell, i) => [cell, engine.classes.map((_, k) => sum(parts.map((part) => part[k][i])))]));
  const nothing = engine.classes.map(() => 0);
  return cells.map((cell) => ({ feature: cell.feature, name: cell.name, value: cell.value, added: added.get(cell) || nothing }));
}

/** Return log p(x, class) and its parts: {prior[class], contributions: [{feature, name, value, added[class]}], logJoint[class]}. */
function explainRow(engine, row) {
  const contributions = engine.blocks.flatMap((block) => blockContributions(engine, block, row));
  return { prior: engine.prior, contributions, logJoint: logScores(engine, row) };
}

/** Return log P(class given x) from log p(x, class); if no class is possible, it is the prior. */
function logPosterior(engine, scores) {
  if (scores.includes(Infinity)) scores = scores.map((score) => (score === Infinity ? 0 : -Infinity));
  return logSoftmax(scores.every((score) => score === -Infinity) ? engine.prior : scores);
}

/** Return calibrated log probabilities. */
function calibrate(map, logProba) {
  if (!map) return logProba;
  const values = logProba.map((value) => Math.max(value, map.floor));
  if (map.kind === "temperature") return logSoftmax(values.map((value) => value / map.temperature));
  if (map.kind === "vector") return logSoftmax(values.map((value, k) => map.factors[k] * value + map.shifts[k]));
  const shares = values.map((value, k) => interpolate(logOdds(value), map.log_odds[k], map.shares[k]));
  if (shares.length === 2) shares[0] = 1 - shares[1];
  return logSoftmax(shares.map(Math.log));
}

/** Return log P − log(1 − P), from log P. */
function logOdds(value) {
  const other = value > -0.5 ? Math.log(-Math.expm1(value)) : Math.log1p(-Math.exp(value));
  return value - Math.max(other, -745);
}

/** Return P(class given x), [class]. */
function probabilities(engine, row) {
  return calibrate(engine.calibration, logPosterior(engine, logScores(engine, row))).map(Math.exp);
}

/** Return the contributions to the log-odds of two classes, in nats, in decreasing order of their size. */
function logOddsParts(engine, row, mine, other) {
  const { prior, contributions } = explainRow(engine, row);
  const difference = (added) => (added[mine] === added[other] ? 0 : added[mine] - added[other]);
  const parts = contributions.map((part) => ({ ...part, nats: difference(part.added) }));
  parts.sort((a, b) => Math.abs(b.nats) - Math.abs(a.nats));
  return { prior: difference(prior), parts };
}
