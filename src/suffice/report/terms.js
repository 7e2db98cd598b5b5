// Terms that are sums over columns. Each term type returns the contribution of each cell, [class][cell]. The arrays of a
// term are [class, column], row by row, unless the term says otherwise.

/** Return a term type whose contribution is a function of one cell: value(term, x, place, class, column). */
function columnwise(value) {
  return {
    contributions(term, cells) {
      return Array.from({ length: term.classes }, (_, k) => cells.map(({ x, column }) => value(term, x, k * term.width + column, k, column)));
    },
  };
}

const TERMS = {
  // table[class, starts[column] + code], with one more slot for unknown levels
  LookUp: columnwise((term, x, _, k, column) => term.table[k * term.width + term.starts[column] + Math.min(x, term.sizes[column])]),

  // biases + weights·x, or the limit if the value is impossible
  Linear: columnwise((term, value, place) => {
    const x = term.threshold === null ? value : Number(value > term.threshold);
    if (term.veto && term.veto.biases[place] + term.veto.weights[place] * x > 0) return term.limit;
    return term.biases[place] + term.weights[place] * x;
  }),

  // peak − scale·(x − centre − tail)²
  Quadratic: columnwise((term, x, place) => term.peak[place] - term.scale[place] * (x - term.centre[place] - term.tail[place]) ** 2),

  // peak − exponent·log(1 + scale·(x − centre − tail)²)
  LogQuadratic: columnwise((term, x, place) => term.peak[place] - term.exponent[place] * Math.log1p(term.scale[place] * (x - term.centre[place] - term.tail[place]) ** 2)),

  // weight·(log Γ(a + x) − log Γ(a))
  LogGamma: columnwise((term, x, place) => term.weight * logRising(term.a[place], x)),

  // −log x
  NegativeLog: columnwise((_, x) => -Math.log(x)),

  // another term, of a function of each cell
  OfFunction: {
    contributions(term, cells) {
      const mapped = cells.map((cell) => ({ ...cell, x: Math[term.function](cell.x * term.factor) }));
      return TERMS[term.inner.type].contributions(term.inner, mapped);
    },
  },

  // log Γ(a + trials − x) − log Γ(a + trials)
  LogGammaOfRest: columnwise((term, x, place) => logRising(term.a[place], Math.max(term.trials - x, 0)) - logRising(term.a[place], term.trials)),

  // log C(trials, x)
  LogBinomial: columnwise((term, x) => (x > term.trials ? -Infinity : logGamma(term.trials + 1) - logGamma(x + 1) - logGamma(term.trials - x + 1))),

  // −log x!
  LogFactorial: columnwise((_, x) => -logGamma(x + 1)),

  // log Γ(a) − log Γ(a + n) with n the total of the row; the contribution of a cell is its share of the total
  LogGammaOfTotal: {
    contributions(term, cells) {
      const total = cells.reduce((sum, { x }) => sum + x, 0);
      return Array.from(term.a, (a) => cells.map(({ x }) => (total > 0 ? (-x / total) * logRising(a, total) : 0)));
    },
  },
};
