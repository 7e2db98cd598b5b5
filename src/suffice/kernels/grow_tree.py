"""How a decision tree is grown: random splits, of which each node takes the one with the least entropy."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

from suffice.kernels.compiler import Kernel

# Factors of Park and Miller's generators, along the tries of a node and along the branches of a tree. Products of their
# states fit into 64 bits, compiled or not.
FACTOR, BRANCH, MODULUS = 48271, 16807, 2147483647
SCALE = 1.0 / MODULUS

# The rank of a missing number, above all others.
MISSING = 2147483647


def goes_left(rank, cut, is_level):
    """Return whether a row with this rank goes to the first child."""
    return (rank == cut) if is_level else (rank < cut)


def count_classes(order, start, judged, stop, codes, weights, sums):
    """Write the weight of each class to ``sums``, and return how many classes a node has: 1, or 2 for more."""
    classes = sums.shape[1]
    for k in range(classes):
        sums[0, k] = 0.0
    for place in range(start, judged):
        row = order[0, place]
        sums[0, codes[row]] += weights[row]
    first = codes[order[0, start]]
    for place in range(start, stop):
        if codes[order[0, place]] != first:
            return 2
    return 1


def split_entropy(ranks, j, cut, is_level, order, start, stop, codes, weights, sums):
    """Return the entropy of the classes after a split, times the weight of the node; infinity if a side is empty."""
    classes = sums.shape[1]
    for k in range(classes):
        sums[1, k] = 0.0
    if is_level:
        for place in range(start, stop):
            row = order[0, place]
            sums[1, codes[row]] += weights[row] * (ranks[j, row] == cut)
    else:
        for place in range(start, stop):
            row = order[0, place]
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
    """Put the rows of the first child before those of the second, both in their order; return where the second begins.

    ``order[1]`` is a buffer.
    """
    middle = start
    others = 0
    for place in range(start, stop):
        row = order[0, place]
        if goes_left(ranks[j, row], cut, is_level):
            order[0, middle] = row
            middle += 1
        else:
            order[1, others] = row
            others += 1
    for place in range(others):
        order[0, middle + place] = order[1, place]
    return middle


def draw_level(ranks, j, keys, state, order, start, stop):
    """Return the level of a random row: the one with the least product of key and state."""
    least = MODULUS
    level = 0
    for place in range(start, stop):
        row = order[0, place]
        product = keys[row] * state % MODULUS
        if product < least:
            least = product
            level = ranks[j, row]
    return level


def draw_cut(ranks, j, state, order, start, stop):
    """Return a random rank between the least and the greatest of some rows; 0 if they are equal.

    It is `MISSING`, which divides missing numbers from others, with the chance that one of two random rows is missing.
    """
    least = MISSING
    greatest = -1
    missing = 0
    for place in range(start, stop):
        rank = ranks[j, order[0, place]]
        if rank == MISSING:
            missing += 1
        else:
            least = min(least, rank)
            greatest = max(greatest, rank)
    share = missing / (stop - start)
    if state * SCALE < share * (2.0 - share):
        return MISSING if greatest >= 0 else 0
    if least >= greatest:
        return 0
    return least + 1 + int(state * FACTOR % MODULUS * SCALE * (greatest - least))


@Kernel
def grow(
    ranks, is_level, codes, weights, keys, seed, tries, look, order, column, cut, child, low, high, first, last, salt,
    sums,
):  # fmt: skip
    """Grow a tree from rows, and return its number of nodes.

    ``ranks`` [column, row] are the ranks of numbers, or codes of levels. A node is split by the best of ``tries``
    random splits, the one with the least entropy of the classes, until its rows have one class or equal cells. A split
    is judged by the first ``look`` rows of the node.

    The rows of a node are in their given order, which is random. The path of a node and ``seed`` decide the columns of
    its splits, and where a threshold lies between the least and the greatest number. ``keys`` [row], from 1 to
    MODULUS − 1, decide whose level a split takes. So without a few rows, a node has nearly the same splits.

    The node i of the tree sends rows to the node ``child[i]`` if their rank in ``column[i]`` is below ``cut[i]``, or
    equal to it in a column of levels, and all others to the next node. ``column[i]`` is −1 in a leaf. ``low`` and
    ``high`` are the ranks of the split's neighbours in the node. ``order``, ``first``, ``last``, ``salt`` and ``sums``
    are buffers.
    """
    columns = ranks.shape[0]
    for row in range(codes.shape[0]):
        order[0, row] = row
    first[0] = 0
    last[0] = codes.shape[0]
    salt[0] = seed
    nodes = 1
    node = 0
    while node < nodes:
        start = first[node]
        stop = last[node]
        size = stop - start
        judged = start + min(size, look)
        column[node] = -1
        best = math.inf
        j = -1
        best_cut = 0
        done = 0
        if nodes + 2 <= column.shape[0] and count_classes(order, start, judged, stop, codes, weights, sums) > 1:
            state = salt[node]
            for _ in range(4 * tries):
                if done == tries:
                    break
                state = state * FACTOR % MODULUS
                drawn = int(state * SCALE * columns)
                state = state * FACTOR % MODULUS
                if is_level[drawn]:
                    t = draw_level(ranks, drawn, keys, state, order, start, judged)
                else:
                    t = draw_cut(ranks, drawn, state, order, start, judged)
                    if t == 0:
                        continue
                entropy = split_entropy(ranks, drawn, t, is_level[drawn], order, start, judged, codes, weights, sums)
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
                greatest = max(greatest, ranks[j, order[0, place]])
            for place in range(middle, stop):
                least = min(least, ranks[j, order[0, place]])
            column[node] = j
            cut[node] = best_cut
            low[node] = greatest
            high[node] = least
            child[node] = nodes
            first[nodes] = start
            last[nodes] = middle
            first[nodes + 1] = middle
            last[nodes + 1] = stop
            salt[nodes] = salt[node] * BRANCH % MODULUS
            salt[nodes + 1] = salt[nodes] * BRANCH % MODULUS
            nodes += 2
        node += 1
    return nodes
