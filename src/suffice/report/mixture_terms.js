// Terms that choose between distributions: mixtures of components, and tables of combinations of all levels.

/** Return log Σᵢ exp(weightᵢ + log p of component i) of the cells up to each one, with that of no cells first. */
function mixturePrefixes(weights, terms, cells) {
  const parts = terms.map((term) => (TERMS[term.type].inOrder || TERMS[term.type].contributions)(term, cells));
  const scores = Array.from(weights);
  const found = [logSumExp(scores)];
  cells.forEach((_, i) => {
    for (const part of parts) scores.forEach((score, m) => (scores[m] = score + part[m][i]));
    found.push(logSumExp(scores));
  });
  return found;
}

TERMS.LogSumExp = {
  scores: (term, cells) => term.components.map((terms, k) => mixturePrefixes(term.log_weights[k], terms, cells).at(-1)),
  inOrder(term, cells) {
    return term.components.map((terms, k) => {
      const found = mixturePrefixes(term.log_weights[k], terms, cells);
      return cells.map((_, i) => (found[i] === -Infinity ? 0 : found[i + 1] - found[i]));
    });
  },
  contributions(term, cells) {
    const backward = this.inOrder(term, [...cells].reverse()).map((line) => line.reverse());
    return meanOf(this.inOrder(term, cells), backward);
  },
};

TERMS.JointLookUp = {
  /** Return log p of the combination; of an unknown or incomplete one, that of its cells one by one. */
  scores(term, cells) {
    const isComplete = cells.length === term.separate.sizes.length;
    const codes = [...cells].sort((a, b) => a.column - b.column).map(({ x }) => x);
    const place = isComplete ? term.combinations.get(codes.join()) : undefined;
    if (place !== undefined) return Array.from({ length: term.classes }, (_, k) => term.table[k * term.width + place]);
    const separate = TERMS.LookUp.contributions(term.separate, cells).map(sum);
    return separate.map((score, k) => score + (isComplete ? term.log_unseen[k] : 0));
  },
  contributions(term, cells) {
    const forward = cells.map(({ column }) => column);
    const scores = (known) => this.scores(term, known);
    return meanOf(sequentialContributions(cells, forward, scores), sequentialContributions(cells, [...forward].reverse(), scores));
  },
};
