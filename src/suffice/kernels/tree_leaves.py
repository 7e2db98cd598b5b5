"""Decision trees: how rows descend in them, and the class shares of their leaves."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

from suffice.kernels.compiler import Kernel, Scorer


def take_step(x, row, node, j, is_level, split, threshold):
    """Return the child of a node to which a row goes; ``j`` is the column of the split, −1 in a leaf."""
    if j < 0:
        return node
    value = x[row, j]
    cut = threshold[node]
    level = int(is_level[j])
    # both comparisons instead of a branch, which a processor could not predict
    return split[node, 1] + 1 - (int(value == cut) & level | int(value < cut) & (1 - level))


@Kernel
def descend(x, is_level, roots, split, threshold, codes):
    """Write the leaf of each row in each tree to ``codes`` [row, tree].

    The nodes of all trees are joined. ``split`` [node] holds the column, and the first child; −1 and the number of the
    leaf in a leaf. Four rows descend at once: a processor then need not wait for one comparison before the next.
    """
    rows = x.shape[0]
    for tree in range(roots.shape[0]):
        root = roots[tree]
        for first in range(0, rows, 4):
            # the last rows stand in for those that are not there
            r1 = min(first + 1, rows - 1)
            r2 = min(first + 2, rows - 1)
            r3 = min(first + 3, rows - 1)
            n0 = root
            n1 = root
            n2 = root
            n3 = root
            j0 = split[root, 0]
            j1 = j0
            j2 = j0
            j3 = j0
            while j0 >= 0 or j1 >= 0 or j2 >= 0 or j3 >= 0:
                n0 = take_step(x, first, n0, j0, is_level, split, threshold)
                n1 = take_step(x, r1, n1, j1, is_level, split, threshold)
                n2 = take_step(x, r2, n2, j2, is_level, split, threshold)
                n3 = take_step(x, r3, n3, j3, is_level, split, threshold)
                j0 = split[n0, 0]
                j1 = split[n1, 0]
                j2 = split[n2, 0]
                j3 = split[n3, 0]
            codes[first, tree] = split[n0, 1]
            codes[r1, tree] = split[n1, 1]
            codes[r2, tree] = split[n2, 1]
            codes[r3, tree] = split[n3, 1]


@Kernel
def sum_nodes(starts, ends, child, column, leaf, offsets, counts, sums):
    """Write the counts of each node, [node, class], from those of the leaves, [class, leaf]; children come later."""
    for tree in range(starts.shape[0]):
        root = starts[tree]
        for back in range(ends[tree] - root):
            node = ends[tree] - 1 - back
            for k in range(sums.shape[1]):
                if column[node] < 0:
                    sums[node, k] = counts[k, offsets[tree] + leaf[node]]
                else:
                    below = root + child[node]
                    sums[node, k] = sums[below, k] + sums[below + 1, k]


@Kernel
def smooth(starts, ends, child, column, sums, backoff, base, shares):
    """Write the class shares of each node: p = (count + backoff·p of the parent) / (n + backoff), from the root down.

    ``base`` are the shares above the root. A node without rows has those of its parent.
    """
    classes = sums.shape[1]
    for tree in range(starts.shape[0]):
        root = starts[tree]
        for k in range(classes):
            shares[root, k] = base[k]
        for node in range(root, ends[tree]):
            n = backoff
            for k in range(classes):
                n += sums[node, k]
            if n > 0.0:
                for k in range(classes):
                    shares[node, k] = (sums[node, k] + backoff * shares[node, k]) / n
            if column[node] >= 0:
                for k in range(classes):
                    shares[root + child[node], k] = shares[node, k]
                    shares[root + child[node] + 1, k] = shares[node, k]


@Kernel
def leave_out(nodes, is_used, codes, weights, parent, sums, backoff, base, path, shares, total, trees):
    """Add the class shares of each row's leaf in one tree, estimated without the row, to ``total`` [row, class].

    Rows that helped to grow the tree are skipped; ``trees`` [row] counts the trees that were added.
    """
    classes = sums.shape[1]
    for row in range(nodes.shape[0]):
        if is_used[row]:
            continue
        depth = 0
        node = nodes[row]
        path[0] = node
        while parent[node] >= 0:
            node = parent[node]
            depth += 1
            path[depth] = node
        for k in range(classes):
            shares[k] = base[k]
        own = codes[row]
        weight = min(weights[row], 1.0)
        for back in range(depth + 1):
            node = path[depth - back]
            n = backoff - weight
            for k in range(classes):
                n += sums[node, k]
            if n > 0.0:
                for k in range(classes):
                    count = sums[node, k] - (weight if k == own else 0.0)
                    shares[k] = (count + backoff * shares[k]) / n
        for k in range(classes):
            total[row, k] += shares[k]
        trees[row] += 1


@Scorer
def add_log_mean(codes, starts, shares, log_scale, scores):
    """Add log(mean over trees of shares[leaf, class]) to the scores; trees without a leaf (−1) are left out."""
    trees = codes.shape[1]
    classes = scores.shape[1]
    for row in range(codes.shape[0]):
        found = 0
        for k in range(classes):
            log_scale[k] = 0.0
        for tree in range(trees):
            code = codes[row, tree]
            if code >= 0:
                found += 1
                place = starts[tree] + code
                for k in range(classes):
                    log_scale[k] += shares[place, k]
        if found > 0:
            for k in range(classes):
                mean = log_scale[k] / found
                scores[row, k] += math.log(mean) if mean > 0.0 else -math.inf
