"""Log likelihoods of rows whose columns depend on each other, added to ``scores`` [row, class].

A code below 0 is an empty cell; one that is no level of its column stands for any other level where the
column is open, and says nothing where it is not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suffice.kernels.compiler import Scorer

# What is so much less likely than the likeliest adds nothing to it.
NEGLIGIBLE = 50.0


@Scorer
def add_tree(
    x: Any,
    parents: Any,
    order: Any,
    offsets: Any,
    sizes: Any,
    is_open: Any,
    starts: Any,
    table: Any,
    messages: Any,
    scores: Any,
) -> None:
    """Add Σᵢ log p(xᵢ | its parent, class); empty cells are summed out, leaves first.

    ``messages`` has a slot for each level of each column: what the columns below say of an empty one.
    """
    rows, columns = x.shape
    slots = np.zeros(columns, np.intp)
    told = np.zeros(columns, np.uint8)
    for row in range(rows):
        whole = True
        for j in range(columns):
            slot = int(x[row, j])
            if slot >= sizes[j]:
                slot = int(sizes[j]) if is_open[j] else -1
            slots[j] = slot
            whole = whole and slot >= 0
        for k in range(scores.shape[1]):
            total = 0.0
            if whole:
                for j in range(columns):
                    parent = parents[k, j]
                    above = slots[parent] if parent >= 0 else 0
                    total += table[offsets[k, j] + above * (sizes[j] + 1) + slots[j]]
                scores[row, k] += total
                continue
            for j in range(columns):
                told[j] = 0
            for place in range(columns - 1, -1, -1):
                j = order[k, place]
                parent = parents[k, j]
                width = sizes[j] + 1
                if slots[j] < 0 and not told[j]:
                    continue  # empty, and nothing below it is known: it sums to 1
                first, last = 0, 1
                if parent >= 0 and slots[parent] < 0:
                    last = sizes[parent] + 1
                    if not told[parent]:
                        told[parent] = 1
                        for above in range(last):
                            messages[starts[parent] + above] = 0.0
                elif parent >= 0:
                    first = slots[parent]
                    last = first + 1
                for above in range(first, last):
                    line = offsets[k, j] + above * width
                    if slots[j] >= 0:
                        value = table[line + slots[j]]
                    else:
                        highest = -math.inf
                        for slot in range(width):
                            highest = max(highest, table[line + slot] + messages[starts[j] + slot])
                        value = highest
                        if highest > -math.inf:
                            part = 0.0
                            for slot in range(width):
                                part += math.exp(table[line + slot] + messages[starts[j] + slot] - highest)
                            value = highest + math.log(part)
                    if parent >= 0 and slots[parent] < 0:
                        messages[starts[parent] + above] += value
                    else:
                        total += value
            scores[row, k] += total


@Scorer
def add_averaged(
    x: Any,
    starts: Any,
    alone: Any,
    given: Any,
    eligible: Any,
    weights: Any,
    implied: Any,
    sizes: Any,
    is_open: Any,
    scores: Any,
) -> None:
    """Add log Σᵢ wᵢ·p(xᵢ | class)·Πⱼ p(xⱼ | xᵢ, class) / Σᵢ wᵢ over the eligible levels i of a row."""
    rows, columns = x.shape
    classes = scores.shape[1]
    slots = np.zeros(columns, np.intp)
    which = np.zeros(columns, np.intp)
    lines = np.zeros((columns, classes))
    keep = np.zeros(columns, np.uint8)
    for row in range(rows):
        met = 0
        for j in range(columns):
            slot = int(x[row, j])
            if slot >= sizes[j]:
                slot = int(sizes[j]) if is_open[j] else -1
            if slot >= 0:
                slots[met] = starts[j] + slot
                which[met] = j
                met += 1
        if implied is not None:
            for i in range(met):
                keep[i] = 1
            for i in range(met):
                for j in range(i):
                    flags = implied[slots[i], slots[j]]
                    if flags:
                        # of two that imply each other the first stays
                        if flags & 1 and not flags & 2:
                            keep[j] = 0
                        elif flags & 2:
                            keep[i] = 0
            kept = 0
            for i in range(met):
                if keep[i]:
                    slots[kept] = slots[i]
                    which[kept] = which[i]
                    kept += 1
            met = kept
        lined = 0
        whole = 0.0
        for i in range(met):
            for k in range(classes):
                lines[i, k] = alone[slots[i], k]
            if eligible[slots[i]]:
                whole += weights[which[i]]
                lined += 1
        for i in range(met):
            for j in range(i):
                # both ways of a pair lie together: one look for two parents
                for k in range(classes):
                    lines[i, k] += given[slots[i], slots[j], 0, k]
                    lines[j, k] += given[slots[i], slots[j], 1, k]
        if lined == 0:
            for i in range(met):
                for k in range(classes):
                    scores[row, k] += alone[slots[i], k]
            continue
        for k in range(classes):
            highest = -math.inf
            for i in range(met):
                if eligible[slots[i]]:
                    highest = max(highest, lines[i, k])
            if highest == -math.inf:
                scores[row, k] = -math.inf
                continue
            total = 0.0
            for i in range(met):
                if eligible[slots[i]] and lines[i, k] > highest - NEGLIGIBLE:
                    total += weights[which[i]] * math.exp(lines[i, k] - highest)
            scores[row, k] += highest + math.log(total / whole)
