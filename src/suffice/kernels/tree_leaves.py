"""Decision trees: how rows descend in them, and the class shares of their leaves."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

from suffice.kernels.compiler import Kernel, Scorer

# The column of a leaf.
LEAF = 4294967295


@Kernel
def descend(x, roots, column, low, high, below, codes, active, nodes, found):
    """Write the leaf of each row in each tree to ``codes`` [row, tree].

    The nodes of all trees are joined. A row goes to the node ``below`` if its number in ``column`` is at least ``low``
    and less than ``high``, otherwise to the next one. In a leaf, ``column`` is `LEAF` and ``below`` the number of the
    leaf. ``active``, ``nodes`` and ``found`` [row] are buffers: the rows that are not yet in a leaf, where they are,
    and the leaf of each row. They descend together, so that a processor need not wait for one of them, and without a
    branch, which it could not predict.
    """
    for tree in range(roots.shape[0]):
        root = roots[tree]
        count = x.shape[0] if column[root] != LEAF else 0
        for row in range(x.shape[0]):
            active[row] = row
            nodes[row] = root
            found[row] = below[root]
        while count > 0:
            remaining = 0
            for place in range(count):
                row = active[place]
                node = nodes[place]
                value = x[row, column[node]]
                node = below[node] + 1 - (int(value >= low[node]) & int(value < high[node]))
                active[remaining] = row
                nodes[remaining] = node
                found[row] = below[node]
                remaining += int(column[node] != LEAF)
            count = remaining
        for row in range(x.shape[0]):
            codes[row, tree] = found[row]


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


def leave_one_out(node, own, weight, parent, sums, backoff, base, path, shares, place):
    """Write the class shares of a node, estimated without a row of a class and a weight, to ``shares[place]``."""
    classes = sums.shape[1]
    depth = 0
    path[0] = node
    while parent[node] >= 0:
        node = parent[node]
        depth += 1
        path[depth] = node
    for k in range(classes):
        shares[place, k] = base[k]
    for back in range(depth + 1):
        node = path[depth - back]
        n = backoff - weight
        for k in range(classes):
            n += sums[node, k]
        if n > 0.0:
            for k in range(classes):
                count = sums[node, k] - (weight if k == own else 0.0)
                shares[place, k] = (count + backoff * shares[place, k]) / n


@Kernel
def leave_out(nodes, is_used, codes, weights, parent, sums, backoff, base, path, places, shares, total, trees):
    """Add the class shares of each row's leaf in one tree, estimated without the row, to ``total`` [row, class].

    Rows that helped to grow the tree are skipped; ``trees`` [row] counts the trees that were added. Rows of one leaf,
    one class and weight 1 have the same shares. ``path``, ``places`` [node, class], which are −1, and ``shares``
    [row + 1, class] are buffers.
    """
    classes = sums.shape[1]
    computed = 1
    for row in range(nodes.shape[0]):
        if is_used[row]:
            continue
        node = nodes[row]
        own = codes[row]
        weight = min(weights[row], 1.0)
        place = places[node, own] if weight == 1.0 else 0
        if place <= 0:
            if weight == 1.0:
                place = computed
                places[node, own] = place
                computed += 1
            leave_one_out(node, own, weight, parent, sums, backoff, base, path, shares, place)
        for k in range(classes):
            total[row, k] += shares[place, k]
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
