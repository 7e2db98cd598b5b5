// Scores: log p(x, class) as a sum of terms, its parts, and the probabilities that follow from it.

/** Return the live model with its arrays unpacked, and with its labels and words indexed. */
function prepareEngine(engine) {
  const classes = engine.classes.length;
  const members = engine.members.map((member) => ({ ...unpackAll(member), blocks: member.blocks.map((block) => prepareBlock(block, classes)) }));
  const features = engine.features.map((feature) => ({
    ...feature,
    index: feature.labels && new Map(feature.labels.map((label, code) => [keyOf(label), code])),
  }));
  return { ...engine, members, features, prior: Array.from(unpack(engine.prior)), pool: engine.pool && unpackAll(engine.pool) };
}

function prepareBlock(block, classes) {
  const combinations = block.combinations && new Map(block.combinations.map((codes, place) => [codes.join(), place]));
  const terms = block.terms.map((term) => ({ ...prepareTerm(term, classes), combinations }));
  return {
    ...block,
    index: block.words && new Map(block.words.map((word, place) => [word, place])),
    stop: block.text && new Set(block.text.stop),
    terms: block.trees ? terms.map((term) => ({ ...term, trees: growTrees(unpackAll(block.trees), term, classes) })) : terms,
  };
}

/** Return a field of a term: an array, a number if the array has no dimensions, or a term within the term. */
function prepareField(its, classes) {
  if (isPacked(its)) return its.shape.length ? unpack(its) : unpack(its)[0];
  return its && (its.weights || its.table) ? prepareTerm(its, classes) : its;
}

/** Return a mixture whose terms are prepared; the classes of these are the components of a class. */
function prepareMixture(term) {
  const weights = term.log_weights.map(unpack);
  return { ...term, log_weights: weights, components: term.components.map((terms, k) => terms.map((its) => prepareTerm(its, weights[k].length))) };
}

/** Return a term with its arrays unpacked; ``width`` is the length of a row of its first array [class, …]. */
function prepareTerm(term, classes) {
  if (term.components) return prepareMixture(term);
  if (term.inner) return { ...term, factor: prepareField(term.factor, classes), inner: prepareTerm(term.inner, classes), classes };
  const table = Object.values(term).find((its) => its && its.shape && its.shape.length === 2);
  const made = {
    ...Object.fromEntries(Object.entries(term).map(([name, its]) => [name, prepareField(its, classes)])),
    classes,
    width: table && table.shape[1],
    starts: term.sizes && startsOf(term.sizes),
    implied: term.implied && new Map(term.implied.map(([a, b, flags]) => [`${a} ${b}`, flags])),
    factors: new Map(),
  };
  return term.pairs ? { ...made, given: tablesOfPairs(made), pairs: null } : made;
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

/** Return log p(x, class) of a member, [class]. */
function memberScores(engine, member, row) {
  const scores = member.blocks.map((block) => blockScores(engine, block, row));
  return Array.from(member.prior, (prior, k) => sum([prior, ...scores.map((part) => part[k])]));
}

/** Return the weighted sum of values [class] of the members of a pool, and the biases. */
function pooled(engine, values) {
  const parts = engine.members.filter((member) => member.weight).map((member) => values(member).map((value) => member.weight * value));
  return Array.from(engine.pool.biases, (bias, k) => sum([bias, ...parts.map((part) => part[k])]));
}

/** Return the log probabilities of the classes by a member of a pool, raised to the floor. */
const raised = (engine, member, scores) => logPosterior(member.prior, scores).map((value) => Math.max(value, engine.pool.floor));

/** Return the score of a member of a pool: its raised log probabilities, and log p(x). */
function raisedScores(engine, member, scores) {
  const logP = logSumExp(scores);
  return raised(engine, member, scores).map((value) => value + (Number.isFinite(logP) ? logP : 0));
}

/** Return log p(x, class), [class]; of a pool, its scores. */
function logScores(engine, row) {
  if (!engine.pool) return memberScores(engine, engine.members[0], row);
  return pooled(engine, (member) => raisedScores(engine, member, memberScores(engine, member, row)));
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
  const parts = engine.members.map((member) => memberContributions(engine, member, row));
  return { prior: engine.prior, contributions: engine.pool ? joinColumns(engine, parts, row) : parts[0], logJoint: logScores(engine, row) };
}

/** Return the contributions of the cells of all blocks of a member; those of a pool are made to sum to its score. */
function memberContributions(engine, member, row) {
  const parts = member.blocks.flatMap((block) => blockContributions(engine, block, row));
  if (!engine.pool || !member.weight) return parts;
  const scores = raisedScores(engine, member, memberScores(engine, member, row));
  const byClass = scores.map((score, k) => spread(parts.map((part) => part.added[k]), score - member.base[k], member.weight));
  return parts.map((part, i) => ({ ...part, added: byClass.map((line) => line[i]) }));
}

/** Return values that sum to a total, times a weight: what is missing is divided by their size, or among infinite ones. */
function spread(values, total, weight) {
  const isInfinite = values.some((value) => !Number.isFinite(value));
  const sizes = values.map((value) => (isInfinite ? Number(!Number.isFinite(value)) : Math.abs(value)));
  const finite = values.map((value) => (Number.isFinite(value) ? value : 0));
  const whole = sum(sizes);
  const factor = whole > 0 ? (total - sum(finite)) / whole : 0;
  return finite.map((value, i) => weight * (value + factor * sizes[i]));
}

/** Return the contributions of all members of a pool; those of the same column are added up. */
function joinColumns(engine, parts, row) {
  const nothing = engine.classes.map(() => 0);
  const unused = engine.features.map((feature, place) => ({ feature: place, name: feature.name, value: row[place], added: nothing }));
  const joined = new Map();
  // a column that only members without weight have contributes nothing; a text has a part for each of its words
  for (const part of [...unused.filter(({ feature }) => !["none", "text"].includes(engine.features[feature].input)), ...parts.flat()]) {
    const [key, known] = [`${part.feature} ${part.name}`, joined.get(`${part.feature} ${part.name}`)];
    joined.set(key, known ? { ...part, added: part.added.map((value, k) => value + known.added[k]) } : part);
  }
  return [...joined.values()];
}

/** Return log P(class given x) from log p(x, class); if no class is possible, it is the prior. */
function logPosterior(prior, scores) {
  if (scores.includes(Infinity)) scores = scores.map((score) => (score === Infinity ? 0 : -Infinity));
  return logSoftmax(scores.every((score) => score === -Infinity) ? Array.from(prior) : scores);
}

/** Return log P(class given x), [class], before calibration. */
function logProbabilities(engine, row) {
  if (!engine.pool) return logPosterior(engine.prior, logScores(engine, row));
  return logSoftmax(pooled(engine, (member) => raised(engine, member, memberScores(engine, member, row))));
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
  return calibrate(engine.calibration, logProbabilities(engine, row)).map(Math.exp);
}

/** Return the slope of a calibration: of isotonic calibration, the ratio of the log-odds after and before it, at most 1. */
function slopeOf(map, before, after) {
  if (map.kind === "temperature") return 1 / map.temperature;
  if (map.kind === "vector") return sum(map.factors) / map.factors.length;
  return Math.min(deviation(after) / deviation(before) || 1, 1);
}

function deviation(values) {
  const mean = sum(values) / values.length;
  return Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / values.length);
}

/** Return the factor of all contributions to the log-odds of two classes, and what calibration adds besides. */
function calibrationEffect(engine, row, logJoint, mine, other) {
  if (!engine.calibration) return { scale: 1, shift: 0 };
  const after = calibrate(engine.calibration, logProbabilities(engine, row));
  const [before, wanted] = [logJoint[mine] - logJoint[other], after[mine] - after[other]];
  if (!Number.isFinite(before) || !Number.isFinite(wanted)) return { scale: 1, shift: 0 };
  const scale = slopeOf(engine.calibration, logJoint, after);
  const shift = wanted - scale * before;
  return { scale, shift: Math.abs(shift) > 1e-9 * Math.max(Math.abs(logJoint[mine]), Math.abs(logJoint[other]), 1) ? shift : 0 };
}

/** Return the contributions to the log-odds of two classes after calibration, in nats, in decreasing order of their size. */
function logOddsParts(engine, row, mine, other) {
  const { prior, contributions, logJoint } = explainRow(engine, row);
  const { scale, shift } = calibrationEffect(engine, row, logJoint, mine, other);
  const difference = (added) => (added[mine] === added[other] ? 0 : scale * (added[mine] - added[other]));
  const parts = contributions.map((part) => ({ ...part, nats: difference(part.added) }));
  if (shift) parts.push({ name: "calibration", feature: -1, value: null, nats: shift });
  parts.sort((a, b) => Math.abs(b.nats) - Math.abs(a.nats));
  return { prior: difference(prior), parts };
}
