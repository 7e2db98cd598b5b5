"""Decision trees: how they are grown, how rows descend in them, and the class shares of their leaves."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

from suffice.kernels.compiler import Kernel, Scorer

# A generator of Park and Miller: its states fit into 64 bits when they are multiplied, compiled or not.
FACTOR, MODULUS = 48271, 2147483647

# The rank of a missing number, above all others.
MISSING = 2147483647


@Kernel
def grow(ranks, is_level, codes, weights, seed, tries, look, order, column, cut, child, low, high, first, last, sums):
    """Grow a tree from rows, and return its number of nodes.

    ``ranks`` [column, row] are the ranks of numbers, or codes of levels. A node is split by the best of ``tries``
    random splits, the one with the least entropy of the classes, until its rows have one class or equal cells. A split
    is judged by about ``look`` rows of the node.

    The node i of the tree sends rows to the node ``child[i]`` if their rank in ``column[i]`` is below ``cut[i]``, or
    equal to it in a column of levels, and all others to the next node. ``column[i]`` is −1 in a leaf. ``low`` and
    ``high`` are the ranks of the split's neighbours in the node. ``order``, ``first``, ``last`` and ``sums`` are
    buffers.
    """
    rows = codes.shape[0]
    columns = ranks.shape[0]
    scale = 1.0 / MODULUS
    classes = sums.shape[1]
    most = column.shape[0]
    state = seed
    for row in range(rows):
        order[row] = row
    first[0] = 0
    last[0] = rows
    nodes = 1
    node = 0
    while node < nodes:
        start = first[node]
        stop = last[node]
        size = stop - start
        column[node] = -1
        step = max(size // look, 1)
        for k in range(classes):
            sums[0, k] = 0.0
        for place in range(start, stop, step):
            row = order[place]
            sums[0, codes[row]] += weights[row]
        held = 0
        for k in range(classes):
            if sums[0, k] > 0.0:
                held += 1
        if step > 1 and held < 2:  # the rows that were not looked at may have other classes
            for place in range(start, stop):
                if codes[order[place]] != codes[order[start]]:
                    held = 2
        if held < 2 or nodes + 2 > most:
            node += 1
            continue
        best = math.inf
        best_column = -1
        best_cut = 0
        done = 0
        for _ in range(4 * tries):
            if done == tries:
                break
            state = state * FACTOR % MODULUS
            j = int(state * scale * columns)
            state = state * FACTOR % MODULUS
            a = ranks[j, order[start + int(state * scale * size)]]
            state = state * FACTOR % MODULUS
            b = ranks[j, order[start + int(state * scale * size)]]
            if is_level[j]:
                t = a + 0
            else:
                if a == b:
                    continue
                if b < a:
                    a, b = b, a
                t = MISSING if b == MISSING else (a + b + 1) // 2
            for k in range(classes):
                sums[1, k] = 0.0
            if is_level[j]:
                for place in range(start, stop, step):
                    row = order[place]
                    sums[1, codes[row]] += weights[row] * (ranks[j, row] == t)
            else:
                for place in range(start, stop, step):
                    row = order[place]
                    sums[1, codes[row]] += weights[row] * (ranks[j, row] < t)
            left = 0.0
            right = 0.0
            for k in range(classes):
                left += sums[1, k]
                right += sums[0, k] - sums[1, k]
            if left <= 0.0 or right <= 0.0:
                continue
            done += 1
            entropy = left * math.log(left) + right * math.log(right)
            for k in range(classes):
                part = sums[1, k]
                rest = sums[0, k] - part
                if part > 0.0:
                    entropy -= part * math.log(part)
                if rest > 0.0:
                    entropy -= rest * math.log(rest)
            if entropy < best:
                best = entropy
                best_column = j
                best_cut = t
        if best_column < 0:
            node += 1
            continue
        j = best_column
        place = start
        end = stop
        least = MISSING
        greatest = 0
        while place < end:
            row = order[place]
            rank = ranks[j, row]
            if (rank == best_cut) if is_level[j] else (rank < best_cut):
                greatest = max(greatest, rank)
                place += 1
            else:
                least = min(least, rank)
                end -= 1
                order[place] = order[end]
                order[end] = row
        if place == start or place == stop:  # noqa: SIM109 (compiled: no tuple)
            node += 1
            continue
        column[node] = j
        cut[node] = best_cut
        low[node] = greatest
        high[node] = least
        child[node] = nodes
        first[nodes] = start
        last[nodes] = place
        first[nodes + 1] = place
        last[nodes + 1] = stop
        nodes += 2
        node += 1
    return nodes


@Kernel
def descend(x, is_level, starts, column, threshold, child, leaf, codes):
    """Write the leaf of each row in each tree to ``codes`` [row, tree].

    The nodes of all trees are joined; ``starts`` is the first node of each tree, and children count from it.
    """
    for tree in range(starts.shape[0]):
        root = starts[tree]
        for row in range(x.shape[0]):
            node = root
            j = column[node]
            while j >= 0:
                value = x[row, j]
                below = (value == threshold[node]) if is_level[j] else (value < threshold[node])
                node = root + child[node] + (0 if below else 1)
                j = column[node]
            codes[row, tree] = leaf[node]


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
