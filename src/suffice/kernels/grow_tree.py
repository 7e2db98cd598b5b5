"""How a decision tree is grown: random splits, of which each node takes the one with the least entropy."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

from suffice.kernels.compiler import Kernel

# A generator of Park and Miller: its states fit into 64 bits when they are multiplied, compiled or not.
FACTOR, MODULUS = 48271, 2147483647
SCALE = 1.0 / MODULUS

# The rank of a missing number, above all others.
MISSING = 2147483647


def goes_left(rank, cut, is_level):
    """Return whether a row with this rank goes to the first child."""
    return (rank == cut) if is_level else (rank < cut)


def count_classes(order, start, stop, step, codes, weights, sums):
    """Write the weight of each class in a node to ``sums``, and return how many classes it has: 1, or 2 for more."""
    classes = sums.shape[1]
    for k in range(classes):
        sums[0, k] = 0.0
    for place in range(start, stop, step):
        row = order[place]
        sums[0, codes[row]] += weights[row]
    first = codes[order[start]]
    for place in range(start, stop):
        if codes[order[place]] != first:
            return 2
    return 1


def split_entropy(ranks, j, cut, is_level, order, start, stop, step, codes, weights, sums):
    """Return the entropy of the classes after a split, times the weight of the node; infinity if a side is empty."""
    classes = sums.shape[1]
    for k in range(classes):
        sums[1, k] = 0.0
    if is_level:
        for place in range(start, stop, step):
            row = order[place]
            sums[1, codes[row]] += weights[row] * (ranks[j, row] == cut)
    else:
        for place in range(start, stop, step):
            row = order[place]
            sums[1, codes[row]] += weights[row] * (ranks[j, row] < cut)
    left = 0.0
    right = 0.0
    entropy = 0.0
    for k in range(classes):
        part = sums[1, k]
        rest = sums[0, k] - part
        left += part
        right += rest
        if part > 0.0:
            entropy -= part * math.log(part)
        if rest > 0.0:
            entropy -= rest * math.log(rest)
    if left <= 0.0 or right <= 0.0:
        return math.inf
    return entropy + left * math.log(left) + right * math.log(right)


def divide_rows(ranks, j, cut, is_level, order, start, stop):
    """Put the rows of the first child before those of the second, and return where the second begins."""
    place = start
    end = stop
    while place < end:
        row = order[place]
        if goes_left(ranks[j, row], cut, is_level):
            place += 1
        else:
            end -= 1
            order[place] = order[end]
            order[end] = row
    return place


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
    columns = ranks.shape[0]
    state = seed
    for row in range(codes.shape[0]):
        order[row] = row
    first[0] = 0
    last[0] = codes.shape[0]
    nodes = 1
    node = 0
    while node < nodes:
        start = first[node]
        stop = last[node]
        size = stop - start
        step = max(size // look, 1)
        column[node] = -1
        best = math.inf
        j = -1
        best_cut = 0
        done = 0
        if nodes + 2 <= column.shape[0] and count_classes(order, start, stop, step, codes, weights, sums) > 1:
            for _ in range(4 * tries):
                if done == tries:
                    break
                state = state * FACTOR % MODULUS
                drawn = int(state * SCALE * columns)
                state = state * FACTOR % MODULUS
                a = ranks[drawn, order[start + int(state * SCALE * size)]]
                state = state * FACTOR % MODULUS
                b = ranks[drawn, order[start + int(state * SCALE * size)]]
                if a == b and not is_level[drawn]:
                    continue
                t = MISSING if max(a, b) == MISSING else (a + b + 1) // 2
                if is_level[drawn]:
                    t = a + 0
                entropy = split_entropy(
                    ranks, drawn, t, is_level[drawn], order, start, stop, step, codes, weights, sums
                )
                if entropy < math.inf:
                    done += 1
                if entropy < best:
                    best = entropy
                    j = drawn
                    best_cut = t
        if j >= 0:
            middle = divide_rows(ranks, j, best_cut, is_level[j], order, start, stop)
            greatest = 0
            least = MISSING
            for place in range(start, middle):
                greatest = max(greatest, ranks[j, order[place]])
            for place in range(middle, stop):
                least = min(least, ranks[j, order[place]])
            column[node] = j
            cut[node] = best_cut
            low[node] = greatest
            high[node] = least
            child[node] = nodes
            first[nodes] = start
            last[nodes] = middle
            first[nodes + 1] = middle
            last[nodes + 1] = stop
            nodes += 2
        node += 1
    return nodes
