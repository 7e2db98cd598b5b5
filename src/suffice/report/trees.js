// Decision trees: the path of a row in each tree, and the mean of the class shares of its leaves. The cells of a block
// of trees are the columns on which trees split: a number (NaN if it is empty) or the position of a level.

/** Return trees with the first child of each node (0 for a leaf) and the class shares of all nodes, [node, class]. */
function growTrees(trees, term, classes) {
  const [nodes, child] = [trees.nodes, new Int32Array(trees.nodes.length)];
  const [parent, shares] = [new Int32Array(nodes.length), new Float64Array(nodes.length * classes)];
  const roots = [];
  let [root, split, leaf, filled] = [0, 0, 0, 0];
  for (const size of trees.sizes) {
    const first = split;
    for (let node = root; node < root + size; node++) {
      if (nodes[node]) {
        child[node] = root + (trees.child ? trees.child[split] : 2 * (split - first) + 1);
        parent[child[node]] = parent[child[node] + 1] = node;
        split += 1;
      } else {
        for (const end = filled + term.filled[leaf++]; filled < end; filled++) shares[node * classes + term.codes[filled]] = term.counts[filled];
      }
    }
    roots.push(root);
    root += size;
  }
  // counts from the leaves to the roots
  for (let node = nodes.length - 1; node >= 0; node--) {
    for (let k = 0; child[node] && k < classes; k++) shares[node * classes + k] = shares[child[node] * classes + k] + shares[(child[node] + 1) * classes + k];
  }
  // the weight of a tree is its number of rows divided by their mean over the trees
  const weights = roots.map((root) => sum(Array.from(shares.subarray(root * classes, (root + 1) * classes))));
  const rows = sum(weights);
  const base = Array.from({ length: classes }, (_, k) => (rows > 0 ? roots.reduce((total, root) => total + shares[root * classes + k], 0) / rows : 1 / classes));
  // p = (count + backoff · p of the parent) / (n + backoff), from the roots to the leaves
  const isRoot = new Set(roots);
  for (let node = 0; node < nodes.length; node++) {
    let n = term.backoff;
    for (let k = 0; k < classes; k++) n += shares[node * classes + k];
    for (let k = 0; k < classes; k++) {
      const above = isRoot.has(node) ? base[k] : shares[parent[node] * classes + k];
      shares[node * classes + k] = (shares[node * classes + k] + term.backoff * above) / n;
    }
  }
  roots.forEach((root, place) => {
    const weight = rows > 0 ? (weights[place] * roots.length) / rows : 1;
    for (let at = root * classes; at < (roots[place + 1] ?? nodes.length) * classes; at++) shares[at] *= weight;
  });
  return { ...trees, child, shares, roots };
}

/** Call visit(node, child, column) for each split on the paths of a row, and return its leaves, one of each tree. */
function descend(trees, cells, visit = () => {}) {
  const isBelow = (node) => {
    const split = trees.nodes[node] - 1;
    const { x, isLevel } = cells[trees.column[split]];
    return isLevel ? x === trees.threshold[split] : x < trees.threshold[split];
  };
  return trees.roots.map((root) => {
    let node = root;
    while (trees.child[node]) {
      const next = trees.child[node] + (isBelow(node) ? 0 : 1);
      visit(node, next, trees.column[trees.nodes[node] - 1]);
      node = next;
    }
    return node;
  });
}

/** Return the mean of the class shares of some nodes, [class]. */
function meanShares(term, nodes) {
  const { shares } = term.trees;
  return Array.from({ length: term.classes }, (_, k) => nodes.reduce((total, node) => total + shares[node * term.classes + k], 0) / nodes.length);
}

TERMS.MeanOfTrees = {
  scores: (term, cells) => meanShares(term, descend(term.trees, cells)).map(Math.log),

  /** Return what each column adds to log P: its share of the changes of P on the paths of the row. */
  contributions(term, cells) {
    const { shares, roots } = term.trees;
    const changes = Array.from({ length: term.classes }, () => new Array(cells.length).fill(0));
    descend(term.trees, cells, (node, next, column) => {
      changes.forEach((line, k) => (line[column] += (shares[next * term.classes + k] - shares[node * term.classes + k]) / roots.length));
    });
    const base = meanShares(term, roots).map((share) => Math.max(share, term.least));
    return changes.map((line, k) => {
      const away = Math.max(base[k] + sum(line), term.least) - base[k];
      const ratio = away === 0 ? 1 / base[k] : Math.log1p(away / base[k]) / away;
      return line.map((change) => change * ratio);
    });
  },
};
