"""Scores of rows whose columns depend on each other, added to ``scores`` [row, class].

A code below 0 is a missing cell. A code beyond the known levels is an unseen level if the column is open, and a missing
cell if it is closed.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np

from suffice.kernels.compiler import Scorer

# A summand that is smaller than the largest by this logarithm is left out.
NEGLIGIBLE = 50.0


def read_slot(code, size, is_open):
    """Return the slot of a code, −1 if the cell is missing."""
    if code < size:
        return code
    return size if is_open else -1


def sum_complete(slots, parents, offsets, sizes, table, k):
    """Return Σⱼ log p(xⱼ | x of its parent, class k) of a row without a missing cell."""
    total = 0.0
    for j in range(slots.shape[0]):
        parent = parents[k, j]
        above = slots[parent] if parent >= 0 else 0
        total += table[offsets[k, j] + above * (sizes[j] + 1) + slots[j]]
    return total


def sum_out(table, line, messages, start, width):
    """Return log Σ p(slot)·message(slot) over the slots of a missing cell."""
    highest = -math.inf
    for slot in range(width):
        highest = max(highest, table[line + slot] + messages[start + slot])
    if highest == -math.inf:
        return highest
    part = 0.0
    for slot in range(width):
        part += math.exp(table[line + slot] + messages[start + slot] - highest)
    return highest + math.log(part)


def sum_incomplete(slots, parents, order, offsets, sizes, table, starts, messages, has_message, k):
    """Return log p(x | class k) of a row with missing cells, summed out by messages from the leaves to the root."""
    total = 0.0
    for j in range(slots.shape[0]):
        has_message[j] = 0
    for place in range(slots.shape[0] - 1, -1, -1):
        j = order[k, place]
        parent = parents[k, j]
        if slots[j] < 0 and not has_message[j]:
            continue  # all cells below this missing cell are missing, too: their probabilities sum to 1
        sends_message = parent >= 0 and slots[parent] < 0
        first = 0 if sends_message or parent < 0 else slots[parent]
        last = sizes[parent] + 1 if sends_message else first + 1
        if sends_message and not has_message[parent]:
            has_message[parent] = 1
            for above in range(last):
                messages[starts[parent] + above] = 0.0
        for above in range(first, last):
            line = offsets[k, j] + above * (sizes[j] + 1)
            if slots[j] >= 0:
                value = table[line + slots[j]]
            else:
                value = sum_out(table, line, messages, starts[j], sizes[j] + 1)
            if sends_message:
                messages[starts[parent] + above] += value
            else:
                total += value
    return total


@Scorer
def add_tree(x, parents, order, offsets, sizes, is_open, table, starts, messages, scores):
    """Add Σⱼ log p(xⱼ | x of its parent, class); missing cells are summed out.

    ``messages`` has an entry for each slot of each column: log p(columns below | slot), for a missing cell.
    """
    rows, columns = x.shape
    slots = np.zeros(columns, np.intp)
    has_message = np.zeros(columns, np.uint8)
    for row in range(rows):
        is_complete = True
        for j in range(columns):
            slots[j] = read_slot(int(x[row, j]), int(sizes[j]), is_open[j])
            is_complete = is_complete and slots[j] >= 0
        for k in range(scores.shape[1]):
            if is_complete:
                scores[row, k] += sum_complete(slots, parents, offsets, sizes, table, k)
            else:
                scores[row, k] += sum_incomplete(
                    slots, parents, order, offsets, sizes, table, starts, messages, has_message, k
                )


def drop_implied(implied, slots, which, keep, count):
    """Remove levels that another level of the row implies; return the number of levels that are left."""
    for i in range(count):
        keep[i] = 1
    for i in range(count):
        for j in range(i):
            flags = implied[slots[i], slots[j]]
            if flags == 1:
                keep[j] = 0
            elif flags:  # if each implies the other, the first stays
                keep[i] = 0
    kept = 0
    for i in range(count):
        if keep[i]:
            slots[kept] = slots[i]
            which[kept] = which[i]
            kept += 1
    return kept


def fill_lines(given, slots, lines, count, classes):
    """Write log p(xᵢ | class) + Σⱼ log p(xⱼ | xᵢ, class) of each parent i to ``lines`` [class, parent]."""
    for k in range(classes):
        for i in range(count):
            lines[k, i] = given[slots[i], slots[i], 0, k]
    for i in range(count):
        a = slots[i]
        for k in range(classes):
            total = lines[k, i]  # a sum in a register: in memory, each step would wait for the one before
            for j in range(i):
                # both directions of a pair are adjacent in memory
                total += given[a, slots[j], 0, k]
                lines[k, j] += given[a, slots[j], 1, k]
            lines[k, i] = total


def average_lines(lines, eligible, weights, slots, which, count, k):
    """Return log Σᵢ wᵢ·exp(line of parent i) over the eligible parents of class k."""
    highest = -math.inf
    for i in range(count):
        if eligible[slots[i]]:
            highest = max(highest, lines[k, i])
    if highest == -math.inf:
        return highest
    total = 0.0
    for i in range(count):
        if eligible[slots[i]] and lines[k, i] > highest - NEGLIGIBLE:
            total += weights[which[i]] * math.exp(lines[k, i] - highest)
    return highest + math.log(total)


@Scorer
def add_averaged(x, alone, given, eligible, weights, implied, sizes, is_open, starts, scores):
    """Add log Σᵢ wᵢ·p(xᵢ | class)·Πⱼ p(xⱼ | xᵢ, class) / Σᵢ wᵢ over the eligible levels i of a row."""
    rows, columns = x.shape
    classes = scores.shape[1]
    slots = np.zeros(columns, np.intp)
    which = np.zeros(columns, np.intp)
    lines = np.zeros((classes, columns))
    keep = np.zeros(columns, np.uint8)
    for row in range(rows):
        count = 0
        for j in range(columns):
            slot = read_slot(int(x[row, j]), int(sizes[j]), is_open[j])
            if slot >= 0:
                slots[count] = starts[j] + slot
                which[count] = j
                count += 1
        if implied is not None:
            count = drop_implied(implied, slots, which, keep, count)
        whole = 0.0
        for i in range(count):
            if eligible[slots[i]]:
                whole += weights[which[i]]
        if whole == 0:
            for i in range(count):
                for k in range(classes):
                    scores[row, k] += alone[slots[i], k]
            continue
        fill_lines(given, slots, lines, count, classes)
        for k in range(classes):
            value = average_lines(lines, eligible, weights, slots, which, count, k)
            if value == -math.inf:
                scores[row, k] = value
            else:
                scores[row, k] += value - math.log(whole)
