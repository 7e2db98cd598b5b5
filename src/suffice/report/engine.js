// The engine: log p(x, class) of a row, from the model's own numbers. A row is a list of cells, one for each
// feature: a number, a label, a text, or null for an empty cell.

/** Return the engine with its packs unpacked, and its labels and words indexed. */
function prepared(engine) {
  const blocks = engine.blocks.map((block) => {
    const entries = Object.entries(block).map(([name, its]) => [name, its && its.f64 ? unpacked(its) : its]);
    const open = Object.fromEntries(entries);
    if (block.words) open.index = new Map(block.words.map((word, place) => [word, place]));
    if (block.text) open.stop = new Set(block.text.stop);
    if (block.implied) open.implied = new Map(block.implied.map(([a, b, flags]) => [`${a} ${b}`, flags]));
    if (block.sizes) open.starts = startsOf(block.sizes);
    return open;
  });
  const features = engine.features.map((feature) => ({
    ...feature,
    index: feature.labels && new Map(feature.labels.map((label, code) => [keyOf(label), code])),
  }));
  return { ...engine, blocks, features, prior: Array.from(unpacked(engine.prior)) };
}

/** Return what a label is known by: 1, 1.0 and true are one. */
const keyOf = (label) => (typeof label === "string" ? `s${label}` : `n${Number(label)}`);

/** Return where the slots of each column start: one for each level, and one for any other. */
function startsOf(sizes) {
  let filled = 0;
  return sizes.map((size) => (filled += size + 1) - size - 1);
}

/** Return the code of a cell, −1 if it is empty, and the number of levels if it is none of them. */
function codeOf(feature, value, size) {
  if (value === null || value === undefined) return -1;
  if (feature.edges) return feature.edges.filter((edge) => edge <= value).length;
  const code = feature.index ? feature.index.get(keyOf(value)) : Math.floor(value);
  return code === undefined || code >= size ? size : code;
}

/** Return the codes of a block's cells; where a column is closed, a level never met is as good as empty. */
function codesOf(engine, block, row) {
  return block.columns.map((place, j) => {
    const code = codeOf(engine.features[place], row[place], block.sizes[j]);
    return block.open && code >= block.sizes[j] && !block.open[j] ? -1 : code;
  });
}

const isEmpty = (value) => value === null || value === undefined || Number.isNaN(value);

/** Return [class][column] of a function of single cells; an empty one adds nothing. */
function byCell(engine, block, row, added) {
  const count = block.columns.length;
  return engine.classes.map((_, k) =>
    block.columns.map((place, j) => (isEmpty(row[place]) ? 0 : added(Number(row[place]), k * count + j, k))),
  );
}

// What each kind of independent columns adds, [class][column].
const ALONE = {
  bits(engine, block, row) {
    return byCell(engine, block, row, (x, i) => {
      const bit = block.threshold === null ? x : Number(x > block.threshold);
      if (bit === 1) return block.log_p[i];
      return bit === 0 ? block.log_q[i] : block.log_q[i] + bit * (block.log_p[i] - block.log_q[i]);
    });
  },
  levels(engine, block, row) {
    const codes = codesOf(engine, block, row);
    const width = block.table.length / engine.classes.length;
    return engine.classes.map((_, k) =>
      codes.map((code, j) => (code < 0 ? 0 : block.table[k * width + block.starts[j] + code])),
    );
  },
  gaussian(engine, block, row) {
    return byCell(engine, block, row, (x, i) => {
      const away = x - block.mean[i];
      return -0.5 * (LOG_2PI + Math.log(block.variance[i]) + (away * away) / block.variance[i]);
    });
  },
  student(engine, block, row) {
    return byCell(engine, block, row, (x, i) => {
      const away = x - block.mean[i];
      return block.peaks[i] - block.exponent[i] * Math.log1p(away * away * block.precision[i]);
    });
  },
  poisson(engine, block, row) {
    return byCell(engine, block, row, (x, i) => {
      return (x > 0 ? x * block.log_rate[i] : 0) - block.rate[i] - logGamma(x + 1);
    });
  },
  "negative-binomial"(engine, block, row) {
    return byCell(engine, block, row, (x, i) => {
      const [a, b] = [block.shape[i], block.rate[i]];
      return logRising(a, x) - x * Math.log1p(b) - logGamma(x + 1) - a * Math.log1p(1 / b);
    });
  },
  counts(engine, block, row) {
    return byCell(engine, block, row, (x, i) => (x > 0 ? x * block.table[i] : 0));
  },
  dirichlet(engine, block, row) {
    return dirichlet(engine, block, block.columns.map((place) => row[place] ?? 0));
  },
  linear(engine, block, row) {
    const count = block.columns.length;
    return byCell(engine, block, row, (x, i, k) => block.slopes[i] * x + block.biases[k] / count);
  },
};

/** Return what counts of unknown shares add, [class][column]; what all share is each one's by its part of them. */
function dirichlet(engine, block, counts) {
  const [width, whole] = [counts.length, counts.reduce((sum, x) => sum + x, 0)];
  return engine.classes.map((_, k) => {
    const alpha = block.table.subarray(k * width, (k + 1) * width);
    const shared = whole > 0 ? logRising(alpha.reduce((sum, a) => sum + a, 0), whole) / whole : 0;
    return counts.map((x, j) => (x > 0 ? logRising(alpha[j], x) - x * shared : 0));
  });
}

/** Return the words of a text as the model reads it, each with how often it occurs. */
function wordsOf(block, text) {
  const { lowercase, binary, ngrams } = block.text;
  const whole = lowercase ? text.toLowerCase() : text;
  const tokens = (whole.match(/[\p{L}\p{N}_]{2,}/gu) || []).filter((word) => !block.stop.has(word));
  const found = new Map();
  for (let size = ngrams[0]; size <= ngrams[1]; size++) {
    for (let first = 0; first + size <= tokens.length; first++) {
      const word = tokens.slice(first, first + size).join(" ");
      if (block.index.has(word)) found.set(word, binary ? 1 : (found.get(word) || 0) + 1);
    }
  }
  return found;
}

/** Return the words that a text holds and what they add: a part for each word. */
function textParts(engine, block, row) {
  const text = row[block.columns[0]];
  const found = isEmpty(text) ? new Map() : wordsOf(block, String(text));
  const width = block.words.length;
  if (block.kind === "dirichlet-words") {
    const counts = block.words.map((word) => found.get(word) || 0);
    const added = dirichlet(engine, block, counts);
    return Array.from(found, ([word, count]) => ({ word, count, added: added.map((line) => line[block.index.get(word)]) }));
  }
  return Array.from(found, ([word, count]) => {
    const place = block.index.get(word);
    return { word, count, added: engine.classes.map((_, k) => count * block.table[k * width + place]) };
  });
}

// log p(all columns of a block given class), of columns that depend on each other: [class] from their cells.
const TOGETHER = {
  tree: { cells: codesOf, score: (engine, block, codes) => engine.classes.map((_, k) => treeScore(block, codes, k)) },
  averaged: { cells: codesOf, score: averagedScore },
};

/** Return log p of a tree in a class; empty cells are summed out, leaves first. */
function treeScore(block, codes, k) {
  const { table, sizes } = block;
  const [parents, order, offsets] = [block.parents[k], block.order[k], block.offsets[k]];
  const messages = new Map();
  let total = 0;
  for (let place = order.length - 1; place >= 0; place--) {
    const j = order[place];
    if (codes[j] < 0 && !messages.has(j)) continue; // empty, and nothing below it is known: it sums to 1
    const [parent, width] = [parents[j], sizes[j] + 1];
    const summed = parent >= 0 && codes[parent] < 0;
    if (summed && !messages.has(parent)) messages.set(parent, new Array(sizes[parent] + 1).fill(0));
    const first = parent < 0 || summed ? 0 : codes[parent];
    const last = summed ? sizes[parent] : first;
    for (let above = first; above <= last; above++) {
      const line = offsets[j] + above * width;
      const value = codes[j] >= 0 ? table[line + codes[j]] : logSumExp(messages.get(j).map((m, s) => table[line + s] + m));
      if (summed) messages.get(parent)[above] += value;
      else total += value;
    }
  }
  return total;
}

/** Return the slots that count in a row: what another one implies is left out. */
function keptSlots(block, codes) {
  const met = codes.map((code, j) => ({ slot: block.starts[j] + code, column: j, code })).filter((its) => its.code >= 0);
  const keep = met.map(() => true);
  if (block.implied.size) {
    for (let i = 0; i < met.length; i++) {
      for (let j = 0; j < i; j++) {
        const flags = block.implied.get(`${met[i].slot} ${met[j].slot}`) || 0;
        if (flags === 1) keep[j] = false;
        else if (flags & 2) keep[i] = false;
      }
    }
  }
  return met.filter((_, i) => keep[i]);
}

/** Return log Σᵢ wᵢ·p(xᵢ | class)·Πⱼ p(xⱼ | xᵢ, class) / Σᵢ wᵢ for each class. */
function averagedScore(engine, block, codes) {
  const [met, classes] = [keptSlots(block, codes), engine.classes.length];
  const width = block.alone.length / classes;
  const parents = met.filter((its) => block.eligible[its.slot]);
  const weight = parents.reduce((sum, its) => sum + block.weights[its.column], 0);
  return engine.classes.map((_, k) => {
    const alone = (its) => block.alone[its.slot * classes + k];
    if (!parents.length) return met.reduce((sum, its) => sum + alone(its), 0);
    const lines = parents.map((parent) => {
      let line = alone(parent) + Math.log(block.weights[parent.column]);
      for (const child of met) {
        if (child !== parent) line += block.given[(parent.slot * width + child.slot) * classes + k];
      }
      return line;
    });
    return logSumExp(lines) - Math.log(weight);
  });
}

/** Return what is added when a score goes from one value to the next; what is impossible stays so. */
const gained = (before, after) => (before === -Infinity ? 0 : after - before);

/** Return what each column adds to those before it: the mean of both directions, for a tree from its root on. */
function oneAfterTheOther(engine, block, row) {
  const { cells, score } = TOGETHER[block.kind];
  const codes = cells(engine, block, row);
  const found = engine.classes.map(() => new Array(codes.length).fill(0));
  const forward = codes.map((_, j) => j);
  const runs = block.order
    ? engine.classes.map((_, k) => ({ order: block.order[k], mine: [k], share: 1 }))
    : [forward, [...forward].reverse()].map((order) => ({ order, mine: engine.classes.map((_, k) => k), share: 0.5 }));
  for (const { order, mine, share } of runs) {
    const known = new Array(codes.length).fill(-1);
    const scored = () => (block.order ? mine.map((k) => treeScore(block, known, k)) : score(engine, block, known));
    let before = scored();
    for (const j of order) {
      known[j] = codes[j];
      const after = codes[j] < 0 ? before : scored();
      mine.forEach((k, i) => (found[k][j] += share * gained(before[i], after[i])));
      before = after;
    }
  }
  return found;
}

/** Return the triangles of Σ of the columns that are there, for one order of them; kept for the next row. */
function triangle(block, c, there) {
  block.triangles ??= new Map();
  const key = `${c}:${there.join()}`;
  if (!block.triangles.has(key)) {
    if (block.triangles.size > 200) block.triangles.clear();
    const size = block.columns.length;
    const first = (c * size * (size + 1)) / 2;
    const entry = (i, j) => {
      const [a, b] = [Math.max(there[i], there[j]), Math.min(there[i], there[j])];
      return block.lower[first + (a * (a + 1)) / 2 + b];
    };
    block.triangles.set(key, cholesky(entry, there.length));
  }
  return block.triangles.get(key);
}

/** Return what each column adds to those before it in N(x; μ, Σ) or in a multivariate t, in one order. */
function inOrder(block, x, there, k) {
  const size = block.columns.length;
  const shared = block.lower.length === (size * (size + 1)) / 2;
  const lower = triangle(block, shared ? 0 : k, there);
  const [z, found] = [[], new Array(size).fill(0)];
  let [squares, logs, before] = [0, 0, 0];
  there.forEach((j, i) => {
    let rest = x[j] - block.mean[k * size + j];
    for (let m = 0; m < i; m++) rest -= lower[i][m] * z[m];
    z.push(rest / lower[i][i]);
    squares += z[i] * z[i];
    logs += 2 * Math.log(lower[i][i]);
    const after = density(block, squares, logs, i + 1, k);
    found[j] = after - before;
    before = after;
  });
  return found;
}

function density(block, squares, logs, size, k) {
  if (!block.dof) return -0.5 * (squares + logs + size * LOG_2PI);
  const dof = block.dof[k];
  const peak = logGamma((dof + size) / 2) - logGamma(dof / 2) - 0.5 * (size * Math.log(dof * Math.PI) + logs);
  return peak - ((dof + size) / 2) * Math.log1p(squares / dof);
}

/** Return what numbers that vary together add, [class][column]: the mean of both directions. */
function varying(engine, block, row) {
  const x = block.columns.map((place) => row[place]);
  const there = x.map((_, j) => j).filter((j) => !isEmpty(x[j]));
  const back = [...there].reverse();
  return engine.classes.map((_, k) => {
    const [one, other] = [inOrder(block, x, there, k), inOrder(block, x, back, k)];
    return one.map((value, j) => (value + other[j]) / 2);
  });
}

/** Return what each column of a block adds, [class][column]. */
function evidence(engine, block, row) {
  if (ALONE[block.kind]) return ALONE[block.kind](engine, block, row);
  return block.kind === "together" ? varying(engine, block, row) : oneAfterTheOther(engine, block, row);
}

const sum = (values) => values.reduce((total, value) => (total === -Infinity ? total : total + value), 0);

/** Return log p(x given class) of a block, [class]. */
function blockScore(engine, block, row) {
  if (block.words) {
    const parts = textParts(engine, block, row);
    return engine.classes.map((_, k) => sum(parts.map((part) => part.added[k])));
  }
  const together = TOGETHER[block.kind];
  if (together) return together.score(engine, block, together.cells(engine, block, row));
  return evidence(engine, block, row).map(sum);
}

/** Return log p(x, class), [class]. */
function logScores(engine, row) {
  const scores = engine.blocks.map((block) => blockScore(engine, block, row));
  return engine.prior.map((prior, k) => sum([prior, ...scores.map((its) => its[k])]));
}

/** Return log p(x, class) not yet added up: {prior, contributions: [{feature, name, added[class]}], logJoint}. */
function logJoint(engine, row) {
  const contributions = [];
  for (const block of engine.blocks) {
    if (block.words) {
      const place = block.columns[0];
      for (const { word, count, added } of textParts(engine, block, row)) {
        contributions.push({ feature: place, name: `${engine.features[place].name}: ${word}`, value: count, added });
      }
      continue;
    }
    const added = evidence(engine, block, row);
    block.columns.forEach((place, j) => {
      const name = engine.features[place].name;
      contributions.push({ feature: place, name, value: row[place], added: added.map((line) => line[j]) });
    });
  }
  return { prior: engine.prior, contributions, logJoint: logScores(engine, row) };
}

/** Return log P(class given x) from log p(x, class): where no class is possible, the prior stands. */
function posterior(engine, scores) {
  if (scores.some((score) => score === Infinity)) {
    scores = scores.map((score) => (score === Infinity ? 0 : -Infinity));
  }
  return logSoftmax(scores.every((score) => score === -Infinity) ? engine.prior : scores);
}

/** Return log probabilities as calibrated. */
function calibrated(map, said) {
  if (!map) return said;
  said = said.map((value) => Math.max(value, map.floor));
  if (map.kind === "temperature") return logSoftmax(said.map((value) => value / map.temperature));
  if (map.kind === "vector") return logSoftmax(said.map((value, k) => map.factors[k] * value + map.shifts[k]));
  const shares = said.map((value, k) => interpolated(logOdds(value), ...map.knots[k]));
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
  return calibrated(engine.calibration, posterior(engine, logScores(engine, row))).map(Math.exp);
}

/** Return what each feature says for a class and against another, in nats, the strongest first. */
function logOddsParts(engine, row, mine, other) {
  const { prior, contributions } = logJoint(engine, row);
  const apart = (added) => (added[mine] === added[other] ? 0 : added[mine] - added[other]);
  const parts = contributions.map((its) => ({ ...its, nats: apart(its.added) }));
  parts.sort((a, b) => Math.abs(b.nats) - Math.abs(a.nats));
  return { prior: apart(prior), parts };
}
