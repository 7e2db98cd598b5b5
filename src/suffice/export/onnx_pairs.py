"""Tables of pairs of levels, as ONNX: `PairLookUp` and `AveragedPairs`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.export.onnx_cells import Cells
from suffice.export.onnx_columnwise import sum_rows
from suffice.export.onnx_graph import Tensor
from suffice.export.onnx_posterior import log_sum_exp
from suffice.schema import Array, starts_of
from suffice.score import AveragedPairs, PairLookUp


def replace_rows(whole: Tensor, is_replaced: Tensor, make: Callable[[Tensor], Tensor]) -> Tensor:
    """Return ``whole`` [row, class] with other values in the rows for which ``is_replaced`` [row] is true.

    ``make`` gets the places of these rows and returns their values, which are computed for no other row.
    """
    places = whole.graph.add("NonZero", is_replaced).squeeze(0)
    return whole.graph.add("ScatterND", whole, places.expand(1), make(places))


def translate_pair_look_up(term: PairLookUp, cells: Cells) -> Tensor:
    """Write Σⱼ log p(xⱼ | x of the parent of j, class); missing cells are summed out.

    Classes whose columns have the same parents are written together.
    """
    slots = cells.read_slots(term.is_open)
    parents, groups = np.unique(term.parents, axis=0, return_inverse=True)
    members = [np.flatnonzero(groups.ravel() == group) for group in range(len(parents))]
    trees = [_Tree(term, classes) for classes in members]
    order = np.argsort(np.concatenate(members))

    def join(parts: list[Tensor]) -> Tensor:
        found = cells.graph.concat(parts)
        return found if len(parts) == 1 else found.take(order, axis=1)

    complete = join([tree.sum_complete(slots) for tree in trees])
    is_incomplete = (slots < 0).any(1)
    return replace_rows(
        complete, is_incomplete, lambda rows: join([tree.sum_incomplete(slots.take(rows)) for tree in trees])
    )


class _Tree:
    """The tree that some classes have in common, and their tables [parent's slot, slot, class] of each column."""

    def __init__(self, term: PairLookUp, classes: Array) -> None:
        first = int(classes[0])
        self.parents, self.order, self.widths = term.parents[first], term.order[first], np.asarray(term.sizes) + 1
        self.tables = [np.stack([term.table_of(int(k), j) for k in classes], axis=-1) for j in range(len(self.parents))]

    def sum_complete(self, slots: Tensor) -> Tensor:
        """Write the sum of the tables' values in rows without a missing cell, [row, class]."""
        starts = starts_of(np.array([table.shape[0] * table.shape[1] for table in self.tables]))
        known = slots.at_least(0)
        above = known.take(np.maximum(self.parents, 0), axis=1) * np.where(self.parents < 0, 0, self.widths)
        table = np.concatenate([table.reshape(-1, table.shape[-1]) for table in self.tables])
        return sum_rows(table, (above + known + starts).transpose(), len(starts))

    def sum_incomplete(self, slots: Tensor) -> Tensor:
        """Write log p(x) with missing cells summed out, by messages from the leaves to the root, [row, class].

        The message of a column is log p(it and all columns below | level of its parent), [class, row, level].
        """
        graph, messages, is_known, roots = slots.graph, dict[int, Tensor](), dict[int, Tensor](), []
        for j in reversed(self.order.tolist()):
            slot, parent = slots.take(np.array([j]), axis=1), int(self.parents[j])
            is_missing = slot < 0
            is_possible = slot.equals(np.arange(self.widths[j])) | is_missing
            shares = np.ascontiguousarray(np.exp(self.tables[j]).T)  # [class, slot, parent's slot]
            if j in messages:
                found = _log_product(graph.where(is_possible, messages[j], -np.inf), shares)
            else:
                found = (is_possible.cast("float64") @ shares).log()
            # if all columns below are missing, too, their probabilities sum to 1
            known = ~is_missing | is_known[j] if j in is_known else ~is_missing
            found = graph.where(known, found, 0.0)
            if parent < 0:
                roots.append(found)
                continue
            messages[parent] = messages[parent] + found if parent in messages else found
            is_known[parent] = is_known[parent] | known if parent in is_known else known
        return graph.total(roots).squeeze(2).transpose()


def _log_product(logs: Tensor, matrix: Array) -> Tensor:
    """Write log(exp(logs) @ matrix), without overflow; −∞ where all logarithms are −∞."""
    # the first of one: if there are no rows, ONNX Runtime keeps all
    highest = logs.max(2, keep=True).part(0, 1, 2)
    highest = logs.graph.where(highest.equals(-np.inf), 0.0, highest)
    return ((logs - highest).exp() @ matrix).log() + highest


def translate_averaged_pairs(term: AveragedPairs, cells: Cells) -> Tensor:
    """Write log Σᵢ wᵢ·p(xᵢ | class)·Πⱼ p(xⱼ | xᵢ, class) / Σᵢ wᵢ over the columns i whose level is eligible.

    Missing cells and implied levels have a slot of their own, after all others, whose logarithms are 0.
    """
    graph, count, columns = cells.graph, len(term.alone), len(term.sizes)
    own = cells.read_slots(term.is_open)
    slots = graph.where(own < 0, np.array(count), own + starts_of(term.sizes + 1)).transpose()
    if term.implied is not None:
        slots = _drop_implied(slots, term.implied, starts_of(term.sizes + 1))
    given = np.zeros((count + 1, count + 1, term.class_count))
    given[:-1, :-1] = term.given[:, :, 0]
    table = graph.constant(given.reshape(-1, term.class_count))
    lines = [sum_rows(table, _pairs_with(slots, i, slots, count), columns).expand(0) for i in range(columns)]
    eligible = np.append(term.eligible, 0).astype(np.float64)
    weights = graph.add("Gather", eligible, slots) * term.weights[:, None]
    whole = weights.sum(0).expand(1)
    total = log_sum_exp(graph.concat(lines, axis=0) + weights.log().expand(2), 0).squeeze(0)
    alone = sum_rows(np.append(term.alone, np.zeros((1, term.class_count)), axis=0), slots, columns)
    return graph.where(whole > 0.0, total - whole.log(), alone)


def _pairs_with(slots: Tensor, i: int, others: Tensor, count: int) -> Tensor:
    """Write the places of the pairs of column i and others in a table [slot, slot], [column, row]."""
    return slots.part(i, i + 1, 0) * (count + 1) + others


def _drop_implied(slots: Tensor, implied: Array, starts: Array) -> Tensor:
    """Write the slots [column, row], in which a level that another one of the row implies counts as missing."""
    count = len(implied)
    drops = np.zeros((count + 1, count + 1), bool)
    later = np.tril(implied, -1)  # of two columns, the later one is the first index
    drops[:-1, :-1] = (later == 1) | (later > 1).T
    # only columns that have levels which imply, or are implied
    implying, dropped = (
        np.flatnonzero(np.add.reduceat(np.any(drops, axis=axis, keepdims=True).ravel()[:-1], starts)) for axis in (1, 0)
    )
    others, table, is_implied = slots.take(dropped), slots.graph.constant(drops.ravel()), None
    for i in implying.tolist():
        own = table.take(_pairs_with(slots, i, others, count))
        is_implied = own if is_implied is None else is_implied | own
    if is_implied is None:
        return slots
    others = slots.graph.where(is_implied, np.array(count), others)
    places = np.arange(len(starts))
    places[dropped] = len(starts) + np.arange(len(dropped))
    return slots.graph.concat([slots, others], axis=0).take(places)
