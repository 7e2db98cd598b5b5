"""Bins of cells: cuts of columns, of which one comes after the other, with equal weights or by the classes."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

from suffice.kernels.compiler import Exact


def entropy(sums, line, classes, n):
    """Return n times the entropy of a line of sums, of which n is the total, in nats."""
    total = 0.0
    for k in range(classes):
        if sums[line, k] > 0.0:
            total -= sums[line, k] * math.log(sums[line, k] / n)
    return total


def move_cell(counts, cell, sums, classes):
    """Move a cell from the right part of an interval to the left one, and return its weight."""
    weight = 0.0
    for k in range(classes):
        weight += counts[cell, k]
        sums[1, k] += counts[cell, k]
        sums[2, k] = sums[0, k] - sums[1, k]
    return weight


def describe_cut(counts, first, cut, sums, parts, n, present, whole):
    """Return the length of the description of a cut, by which it must decrease the entropy, in nats.

    ``present`` is the number of classes in the interval, and ``whole`` n times the entropy.
    """
    left = 0.0
    right = 0.0
    for k in range(counts.shape[1]):
        own = 0.0
        for cell in range(first, first + cut + 1):
            own += counts[cell, k]
        left += 1.0 if own > 0.0 else 0.0
        right += 1.0 if sums[0, k] - own > 0.0 else 0.0
    # log(3ᵏ − 2), in a form that does not overflow for many classes
    cost = math.log(max(n - 1.0, 1.0)) + present * math.log(3.0) + math.log1p(-2.0 * 3.0**-present)
    cost -= present * (whole / n)
    cost += left * (parts[1, cut] / parts[0, cut])
    return cost + right * (parts[2, cut] / (n - parts[0, cut]))


@Exact
def cut_evenly(counts, starts, sizes, bins, sums, below, is_end):
    """Mark the cell with which each bin ends, but the last one, so that bins have equal weights as far as cells allow.

    ``sums`` and ``below`` are buffers for the weight of each class, and for the weight up to the end of each cell.
    """
    for column in range(starts.shape[0]):
        for k in range(counts.shape[1]):
            sums[0, k] = 0.0
        whole = 0.0
        for place in range(sizes[column]):
            whole = 0.0
            for k in range(counts.shape[1]):
                sums[0, k] += counts[starts[column] + place, k]
                whole += sums[0, k]
            below[place] = whole
        count = bins
        taken = 0.0
        place = 0
        while count > 1 and taken < whole:
            share = taken + (whole - taken) / count * (1 - 1e-12)
            while below[place] < share:
                place += 1
            taken = below[place]
            if taken < whole:
                is_end[starts[column] + place] = True
            count -= 1


@Exact
def cut_by_classes(counts, starts, sizes, tie, intervals, sums, parts, is_end):
    """Mark the cell with which each bin ends, but the last one, by the minimum description length principle.

    ``counts`` is the weight of each class in each cell, [cell, class]. ``intervals``, ``sums`` and ``parts`` are
    buffers for the ends of as many intervals as a column has cells, for the weight of each class in an interval and in
    its two parts, and for each cut the weight of the left part, the entropy of each part and their sum. Entropies are
    multiplied by the weight of the rows.
    """
    classes = counts.shape[1]
    for column in range(starts.shape[0]):
        intervals[0, 0] = starts[column]
        intervals[0, 1] = starts[column] + sizes[column]
        waiting = 1
        while waiting > 0:
            waiting -= 1
            first = intervals[waiting, 0]
            last = intervals[waiting, 1]
            n = 0.0
            present = 0.0
            for k in range(classes):
                sums[0, k] = 0.0
                sums[1, k] = 0.0
                for cell in range(first, last):
                    sums[0, k] += counts[cell, k]
                n += sums[0, k]
                present += 1.0 if sums[0, k] > 0.0 else 0.0
            if present < 2.0:
                continue
            best = math.inf
            left = 0.0
            for cell in range(first, last - 1):
                here = move_cell(counts, cell, sums, classes)
                left += here
                parts[0, cell - first] = left
                parts[3, cell - first] = math.inf
                if here > 0.0 and n > left:  # a cut after an empty cell is not another one
                    for line in range(1, 3):
                        parts[line, cell - first] = entropy(sums, line, classes, left if line == 1 else n - left)
                    parts[3, cell - first] = parts[1, cell - first] + parts[2, cell - first]
                    best = min(best, parts[3, cell - first])
            if best == math.inf:
                continue
            whole = 0.0
            for k in range(classes):
                if sums[0, k] > 0.0:
                    whole -= sums[0, k] * math.log(sums[0, k] / n)
            cut = 0  # the first of equally good ones
            while parts[3, cut] > best + tie * whole:
                cut += 1
            cost = describe_cut(counts, first, cut, sums, parts, n, present, whole)
            if whole - parts[3, cut] > cost:
                is_end[first + cut] = True
                intervals[waiting, 0] = first
                intervals[waiting, 1] = first + cut + 1
                intervals[waiting + 1, 0] = first + cut + 1
                intervals[waiting + 1, 1] = last
                waiting += 2
