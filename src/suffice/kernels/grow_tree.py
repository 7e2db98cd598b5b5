"""How a decision tree is grown: random splits, of which each node takes the one with the least entropy."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

from suffice.kernels.compiler import Exact

# Factors of Park and Miller's generators, along the tries of a node and along the branches of a tree. Products of their
# states fit into 64 bits, compiled or not.
FACTOR, BRANCH, MODULUS = 48271, 16807, 2147483647
SCALE = 1.0 / MODULUS

# The rank of a missing number, above all others.
MISSING = 2147483647


def is_pure(order, start, stop, codes):
    """Return whether the rows of a node have one class."""
    place = start + 1
    while place < stop and codes[order[0, place]] == codes[order[0, start]]:
        place += 1
    return place >= stop


def sort_by_class(order, start, stop, codes, rows, ends):
    """Write rows in the order of their classes, and where each class that they have ends; return how many these are."""
    classes = ends.shape[0]
    for k in range(classes):
        ends[k] = 0
    for place in range(start, stop):
        ends[codes[order[0, place]]] += 1
    first = 0
    for k in range(classes):
        size = ends[k]
        ends[k] = first
        first += size
    for place in range(start, stop):
        row = order[0, place]
        rows[ends[codes[row]]] = row
        ends[codes[row]] += 1
    present = 0
    first = 0
    for k in range(classes):
        if ends[k] > first:
            first = ends[k]
            ends[present] = first
            present += 1
    return present


def read_column(ranks, j, rows, size, cells, span):
    """Copy the ranks of a node's rows in one column, and write the least and greatest to ``span``.

    ``span`` [column, 3] also has the number of missing ranks; they are neither the least nor the greatest.
    """
    for place in range(size):
        cells[j, place] = ranks[rows[place], j]
    least = MISSING
    greatest = -1
    missing = 0
    for place in range(size):
        rank = cells[j, place]
        is_missing = int(rank == MISSING)
        missing += is_missing
        least = min(least, rank)
        greatest = max(greatest, rank - is_missing * rank - is_missing)
    span[j, 0] = least
    span[j, 1] = greatest
    span[j, 2] = missing


def split_entropy(cells, j, cut, is_level, ends, present, logs):
    """Return the entropy of the classes after a split, times the rows of the node; infinity if a side is empty.

    ``logs[n]`` is n·log(n).
    """
    left = 0
    entropy = 0.0
    first = 0
    for k in range(present):
        end = ends[k]
        part = 0
        if is_level:
            for place in range(first, end):
                part += int(cells[j, place] == cut)
        else:
            for place in range(first, end):
                part += int(cells[j, place] < cut)
        entropy -= logs[part]
        entropy -= logs[end - first - part]
        left += part
        first = end
    if left == 0 or left == first:
        return math.inf
    return entropy + logs[left] + logs[first - left]


def weighted_entropy(cells, j, cut, is_level, ends, present, rows, weights):
    """Return the same as `split_entropy` for rows with weights."""
    left = 0.0
    right = 0.0
    entropy = 0.0
    first = 0
    for k in range(present):
        part = 0.0
        total = 0.0
        for place in range(first, ends[k]):
            weight = weights[rows[place]]
            rank = cells[j, place]
            total += weight
            part += weight * ((rank == cut) if is_level else (rank < cut))
        rest = total - part
        left += part
        right += rest
        if part > 0.0:
            entropy -= part * math.log(part)
        if rest > 0.0:
            entropy -= rest * math.log(rest)
        first = ends[k]
    if left <= 0.0 or right <= 0.0:
        return math.inf
    return entropy + left * math.log(left) + right * math.log(right)


def divide_rows(ranks, j, cut, is_level, order, start, stop, bounds):
    """Put the rows of the first child before those of the second, both in their order; return where the second begins.

    ``bounds`` gets the greatest rank of the first and the least of the second. ``order[1]`` is a buffer.
    """
    middle = start
    others = 0
    greatest = 0
    least = MISSING
    for place in range(start, stop):
        row = order[0, place]
        rank = ranks[row, j]
        goes_left = int(rank == cut) if is_level else int(rank < cut)
        # both are written, and one is kept: a processor could not predict a branch
        order[0, middle] = row
        order[1, others] = row
        middle += goes_left
        others += 1 - goes_left
        greatest = max(greatest, rank * goes_left)
        least = min(least, rank + (MISSING - rank) * goes_left)
    for place in range(others):
        order[0, middle + place] = order[1, place]
    bounds[0] = greatest
    bounds[1] = least
    return middle


def draw_level(ranks, j, keys, state, order, start, size):
    """Return the level of a random row: the one with the least product of key and state, modulo `MODULUS`."""
    least = MODULUS << 32
    for place in range(size):
        # the remainder by 2³¹ − 1 is the sum of the digits to the base 2³¹
        product = keys[place] * state
        product = (product & MODULUS) + (product >> 31)
        product = (product & MODULUS) + (product >> 31)
        least = min(least, product << 32 | place)
    return ranks[order[0, start + (least & 0xFFFFFFFF)], j]


def draw_cut(span, j, state, size):
    """Return a random rank between the least and the greatest of some rows; 0 if they are equal.

    It is `MISSING`, which divides missing numbers from others, with the chance that one of two random rows is missing.
    """
    least = span[j, 0]
    greatest = span[j, 1]
    share = span[j, 2] / size
    if state * SCALE < share * (2.0 - share):
        return MISSING if greatest >= 0 else 0
    if least >= greatest:
        return 0
    return least + 1 + int(state * FACTOR % MODULUS * SCALE * (greatest - least))


@Exact
def grow(
    ranks, is_level, codes, weights, keys, seed, tries, look, order, column, cut, child, low, high, first, last, salt,
    rows, ends, near, cells, span, read_at, logs,
):  # fmt: skip
    """Grow a tree from rows, and return its number of nodes.

    ``ranks`` [row, column] are the ranks of numbers, or codes of levels. A node is split by the best of ``tries``
    random splits, the one with the least entropy of the classes, until its rows have one class or equal cells. A split
    is judged by the first ``look`` rows of the node.

    The rows of a node are in their given order, which is random. The path of a node and ``seed`` decide the columns of
    its splits, and where a threshold lies between the least and the greatest number. ``keys`` [row], from 1 to
    MODULUS − 1, decide whose level a split takes. So without a few rows, a node has nearly the same splits.

    The node i of the tree sends rows to the node ``child[i]`` if their rank in ``column[i]`` is below ``cut[i]``, or
    equal to it in a column of levels, and all others to the next node. ``column[i]`` is −1 in a leaf. ``low`` and
    ``high`` are the ranks of the split's neighbours in the node. ``weights`` is None if all are 1.

    The other arguments are buffers. The judged rows of a node are sorted by class, in ``rows``; ``ends`` has where the
    classes end. ``near`` has their keys in their given order. Their ranks are copied when a column is first drawn, to
    ``cells`` [column, judged row].
    """
    columns = ranks.shape[1]
    for row in range(codes.shape[0]):
        order[0, row] = row
    for n in range(logs.shape[0]):
        logs[n] = n * math.log(n) if n > 0 else 0.0
    for drawn in range(columns):
        read_at[drawn] = -1
    first[0] = 0
    last[0] = codes.shape[0]
    salt[0] = seed
    nodes = 1
    node = 0
    while node < nodes:
        start = first[node]
        stop = last[node]
        size = min(stop - start, look)
        judged = start + size
        column[node] = -1
        best = math.inf
        j = -1
        best_cut = 0
        done = 0
        if nodes + 2 <= column.shape[0] and not is_pure(order, start, stop, codes):
            present = sort_by_class(order, start, judged, codes, rows, ends)
            for place in range(size):
                near[place] = keys[order[0, start + place]]
            state = salt[node]
            for _ in range(4 * tries):
                if done == tries:
                    break
                state = state * FACTOR % MODULUS
                drawn = int(state * SCALE * columns)
                state = state * FACTOR % MODULUS
                if read_at[drawn] != node:
                    read_at[drawn] = node
                    read_column(ranks, drawn, rows, size, cells, span)
                if is_level[drawn]:
                    if span[drawn, 0] == span[drawn, 1]:
                        continue
                    t = draw_level(ranks, drawn, near, state, order, start, size)
                else:
                    t = draw_cut(span, drawn, state, size)
                    if t == 0:
                        continue
                if weights is None:
                    entropy = split_entropy(cells, drawn, t, is_level[drawn], ends, present, logs)
                else:
                    entropy = weighted_entropy(cells, drawn, t, is_level[drawn], ends, present, rows, weights)
                if entropy < math.inf:
                    done += 1
                if entropy < best:
                    best = entropy
                    j = drawn
                    best_cut = t
        if j >= 0:
            middle = divide_rows(ranks, j, best_cut, is_level[j], order, start, stop, ends)
            column[node] = j
            cut[node] = best_cut
            low[node] = ends[0]
            high[node] = ends[1]
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
