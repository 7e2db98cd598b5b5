// Terms that join columns. The contribution of a cell is the log probability of the cells up to it minus that of the
// cells before it. Except for trees, it is the mean over both directions of the columns.

/** Return log p(cells up to one) − log p(cells before it), [class][cell]; ``scores(cells)`` returns log p, [class]. */
function sequentialContributions(cells, order, scores) {
  const place = new Map(cells.map((cell, i) => [cell.column, i]));
  const known = [];
  let before = scores(known);
  const found = before.map(() => new Array(cells.length).fill(0));
  for (const column of order) {
    if (!place.has(column)) continue;
    known.push(cells[place.get(column)]);
    const after = scores(known);
    // an impossible row stays impossible
    before.forEach((value, k) => (found[k][place.get(column)] = value === -Infinity ? 0 : after[k] - value));
    before = after;
  }
  return found;
}

/** Return the mean of two arrays [class][cell]. */
const meanOf = (one, other) => one.map((line, k) => line.map((value, i) => (value + other[k][i]) / 2));

/** Return the slots of all columns, −1 for an empty cell and for an unknown level of a closed column. */
function slotsOf(term, cells) {
  const slots = new Array(term.sizes.length).fill(-1);
  for (const { column, x } of cells) slots[column] = x < term.sizes[column] ? x : term.is_open[column] ? term.sizes[column] : -1;
  return slots;
}

/** Return the first slot of each column: there is one for each level, and one for unknown levels. */
function startsOf(sizes) {
  let filled = 0;
  return sizes.map((size) => (filled += size + 1) - size - 1);
}

/** Return log p of a tree in class k; empty cells are summed out, from the leaves to the root. */
function treeScore(term, cells, k) {
  const { table, sizes } = term;
  const [parents, order, offsets] = [term.parents[k], term.order[k], term.offsets[k]];
  const [slots, messages] = [slotsOf(term, cells), new Map()];
  let total = 0;
  for (let i = order.length - 1; i >= 0; i--) {
    const j = order[i];
    if (slots[j] < 0 && !messages.has(j)) continue; // nothing below an empty cell is known: it sums to 1
    const [parent, width] = [parents[j], sizes[j] + 1];
    const isSummed = parent >= 0 && slots[parent] < 0;
    if (isSummed && !messages.has(parent)) messages.set(parent, new Array(sizes[parent] + 1).fill(0));
    const first = parent < 0 || isSummed ? 0 : slots[parent];
    const last = isSummed ? sizes[parent] : first;
    for (let above = first; above <= last; above++) {
      const line = offsets[j] + above * width;
      const value = slots[j] >= 0 ? table[line + slots[j]] : logSumExp(messages.get(j).map((message, slot) => table[line + slot] + message));
      if (isSummed) messages.get(parent)[above] += value;
      else total += value;
    }
  }
  return total;
}

TERMS.PairLookUp = {
  scores: (term, cells) => term.order.map((_, k) => treeScore(term, cells, k)),
  contributions: (term, cells) => term.order.map((order, k) => sequentialContributions(cells, order, (known) => [treeScore(term, known, k)])[0]),
};

/** Return the levels of a row as {slot, column}, without those that another level implies. */
function unimpliedLevels(term, cells) {
  const levels = slotsOf(term, cells).map((slot, column) => ({ slot: term.starts[column] + slot, column, isKnown: slot >= 0 })).filter((level) => level.isKnown);
  const isKept = levels.map(() => true);
  for (let i = 0; term.implied.size && i < levels.length; i++) {
    for (let j = 0; j < i; j++) {
      const flags = term.implied.get(`${levels[i].slot} ${levels[j].slot}`) || 0;
      if (flags === 1) isKept[j] = false;
      else if (flags & 2) isKept[i] = false;
    }
  }
  return levels.filter((_, i) => isKept[i]);
}

/** Return log p(slot b | slot a, class), [class, a, b], from pair counts: (pairs + m·p(b | class)) / (whole + m);
 *  where both are the same, log p(slot | class). */
function tablesOfPairs({ pairs, alone, sizes, starts, backoff, classes }) {
  const [slots, levels] = [alone.length / classes, sizes.reduce((sum, size) => sum + size, 0)];
  const triangle = (levels * (levels + 1)) / 2;
  const firsts = starts.map((start, j) => start - j); // the first level of each column
  const shares = alone.map(Math.exp);
  const given = new Float64Array(classes * slots * slots);
  const fillColumn = (k, line, a, j) => {
    const count = (b) => (a < 0 ? 0 : pairs[k * triangle + (a < b ? (b * (b + 1)) / 2 + a : (a * (a + 1)) / 2 + b)]);
    let whole = backoff;
    for (let b = 0; b < sizes[j]; b++) whole += count(firsts[j] + b);
    for (let b = 0; b <= sizes[j]; b++) {
      const pair = b < sizes[j] ? count(firsts[j] + b) : 0;
      given[line + starts[j] + b] = Math.log((pair + backoff * shares[(starts[j] + b) * classes + k]) / whole);
    }
  };
  for (let k = 0; k < classes; k++) {
    sizes.forEach((size, i) => {
      for (let a = 0; a <= size; a++) {
        const line = (k * slots + starts[i] + a) * slots;
        sizes.forEach((_, j) => fillColumn(k, line, a < size ? firsts[i] + a : -1, j));
        given[line + starts[i] + a] = alone[(starts[i] + a) * classes + k];
      }
    });
  }
  return given;
}

TERMS.AveragedPairs = {
  /** Return log Σᵢ wᵢ·p(xᵢ | class)·Πⱼ p(xⱼ | xᵢ, class) / Σᵢ wᵢ, [class]. */
  scores(term, cells) {
    const [levels, classes] = [unimpliedLevels(term, cells), term.classes];
    const slots = term.alone.length / classes;
    const parents = levels.filter(({ slot }) => term.eligible[slot]);
    const weight = parents.reduce((sum, { column }) => sum + term.weights[column], 0);
    return Array.from({ length: classes }, (_, k) => {
      const alone = ({ slot }) => term.alone[slot * classes + k];
      if (!parents.length) return levels.reduce((sum, level) => sum + alone(level), 0);
      const logs = parents.map((parent) => {
        let value = Math.log(term.weights[parent.column]);
        for (const child of levels) value += term.given[(k * slots + parent.slot) * slots + child.slot];
        return value;
      });
      return logSumExp(logs) - Math.log(weight);
    });
  },
  contributions(term, cells) {
    const forward = term.sizes.map((_, j) => j);
    const scores = (known) => this.scores(term, known);
    return meanOf(sequentialContributions(cells, forward, scores), sequentialContributions(cells, [...forward].reverse(), scores));
  },
};

/** Return the Cholesky factor of the covariance of some columns, in their order; it is kept for the next row. */
function factorOf(term, k, columns) {
  const key = `${k}:${columns.join()}`;
  if (!term.factors.has(key)) {
    if (term.factors.size > 200) term.factors.clear();
    const first = (k * term.width * (term.width + 1)) / 2;
    const entry = (i, j) => {
      const [a, b] = [Math.max(columns[i], columns[j]), Math.min(columns[i], columns[j])];
      return term.lower[first + (a * (a + 1)) / 2 + b];
    };
    term.factors.set(key, cholesky(entry, columns.length));
  }
  return term.factors.get(key);
}

/** Return the log density of a Gaussian, or of Student's t if the term has degrees of freedom, from d² and log det. */
function logDensity(term, squares, logDet, size, k) {
  if (!term.dof) return -0.5 * (squares + logDet + size * LOG_2PI);
  const dof = term.dof[k];
  const peak = logGamma((dof + size) / 2) - logGamma(dof / 2) - 0.5 * (size * Math.log(dof * Math.PI) + logDet);
  return peak - ((dof + size) / 2) * Math.log1p(squares / dof);
}

/** Return the contribution of each cell in one order of the cells, [class][cell]. */
function densityInOrder(term, cells) {
  const columns = cells.map(({ column }) => column);
  return Array.from({ length: term.classes }, (_, k) => {
    const factor = factorOf(term, term.is_shared ? 0 : k, columns);
    const z = [];
    let [squares, logDet, before] = [0, 0, 0];
    return cells.map(({ x, column }, i) => {
      let rest = x - term.mean[k * term.width + column];
      for (let m = 0; m < i; m++) rest -= factor[i][m] * z[m];
      z.push(rest / factor[i][i]);
      squares += z[i] * z[i];
      logDet += 2 * Math.log(factor[i][i]);
      const after = logDensity(term, squares, logDet, i + 1, k);
      const added = after - before;
      before = after;
      return added;
    });
  });
}

TERMS.TriangularSolve = {
  inOrder: densityInOrder,
  contributions(term, cells) {
    const backward = densityInOrder(term, [...cells].reverse()).map((line) => line.reverse());
    return meanOf(densityInOrder(term, cells), backward);
  },
};
