"""Combinations of all columns, as ONNX: `JointLookUp`."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.data.read_columns import combination_order
from suffice.export.onnx_cells import Cells
from suffice.export.onnx_columnwise import translate_look_up
from suffice.export.onnx_graph import ML, Tensor
from suffice.schema import Array, Levels, MissingLevel
from suffice.score import JointLookUp

# Combinations are numbered up to here; then the numbers of those that were learned are made smaller.
MOST_COMBINED = 2**62


def translate_joint_look_up(term: JointLookUp, cells: Cells) -> Tensor:
    """Write table[class, combination], or the look-up of each column by itself where the combination is not known."""
    graph, count = cells.graph, term.table.shape[1]
    separate = translate_look_up(term.separate, cells)
    if not count:
        return separate
    codes = [cells.own_codes(j) for j in range(cells.columns.count - 1)]
    is_complete = ~(graph.concat(codes) < 0).any(1, keep=True)
    place = _number_combinations(cells, codes, count)
    known = graph.add("Gather", np.ascontiguousarray(term.table.T), place.at_most(count - 1).squeeze(1))
    unseen = separate + graph.where(is_complete, term.log_unseen, 0.0)
    return graph.where(is_complete & (place < count), known, unseen)


def _number_combinations(cells: Cells, codes: list[Tensor], count: int) -> Tensor:
    """Write the code of each row's combination, [row, 1]; ``count`` if it was not learned."""
    codings: list[Any] = [
        coding.values if isinstance(coding, MissingLevel) else coding for coding in cells.columns.codings or ()
    ]
    learned, order = codings[-1].labels, combination_order(cells.names[:-1])
    number: Tensor | None = None
    keys, most = np.zeros(count, np.int64), 1
    for place, j in enumerate(order):
        coding, width = codings[j], codings[j].size + 1  # the last code is that of an unknown level
        if number is not None and most * width > MOST_COMBINED:
            distinct, keys = np.unique(keys, return_inverse=True)
            number, most = _encode(number, distinct), len(distinct) + 1
        own = codes[j].at_least(0)
        number = own if number is None else number * width + own
        keys, most = keys * width + _codes_of(coding, [label[place] for label in learned]), most * width
    assert number is not None
    found = _encode(number, np.sort(keys))
    # as the codes of combinations are those of sorted labels, and not of sorted keys
    return cells.graph.add("Gather", np.append(np.argsort(keys), count), found)


def _encode(number: Tensor, keys: Array) -> Tensor:
    """Write the position of a number among sorted keys; their count if it is none of them."""
    values = list(range(len(keys)))
    attributes = {"keys_int64s": keys.tolist(), "values_int64s": values, "default_int64": len(keys)}
    return number.graph.add("LabelEncoder", number, domain=ML, **attributes)


def _codes_of(coding: Any, labels: list[Any]) -> Array:
    codes = [coding.index[label] for label in labels] if isinstance(coding, Levels) else labels
    return np.array(codes, np.int64)
