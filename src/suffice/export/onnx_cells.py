"""The inputs of an ONNX model, and its cells: numbers, and the codes of levels and bins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from suffice.blocks import Function
from suffice.data.column_names import column_name
from suffice.export.dialects import ExportError
from suffice.export.onnx_graph import ML, TYPES, Graph, Tensor
from suffice.export.onnx_search import count_edges
from suffice.schema import Array, Columns, Combinations, Cuts, Levels, MissingLevel, Partition, Words, recoding
from suffice.schema.partition import TreeInput

FloatType = Literal["float32", "float64"]
InputType = Literal["float32", "float64", "int64", "bool", "string"]

# The name of the only input if a model was fitted to an array.
ARRAY = "X"

# Greater integers are not all floats or doubles.
MOST_WHOLE = {"float32": 2**24, "float64": 2**53}

# Ends every message about a model that cannot be written.
IN_PYTHON = "or predict in Python, which works for every model"

# The labels of a column, or None if it is read as numbers; and whether a missing cell is a level.
Reading = tuple[tuple[Any, ...] | None, bool]


class Inputs:
    """The inputs of a model, each a tensor with one column, or one tensor with all columns of an array.

    Parameters
    ----------
    blocks : sequence of Columns
        The columns of the model.
    dtype : {"float32", "float64"}
        The type of numbers.
    types : mapping of {str: str}
        The types of inputs that are not to have the type which `_choose_type` chooses.
    features : int, optional
        The number of columns of the table; by default those up to the last that is read.
    """

    def __init__(
        self, blocks: Sequence[Columns], dtype: FloatType, types: Mapping[str, InputType], features: int | None
    ) -> None:
        self.dtype = dtype
        self.types: dict[str, tuple[str, int]] = {}
        readings: dict[Any, list[Reading]] = {}
        for columns in blocks:
            for name, reading in _list_readings(columns):
                readings.setdefault(name, []).append(reading)
        has_texts = any(isinstance(label, str) for each in readings.values() for of, _ in each for label in of or ())
        self.is_array = not has_texts and not types and not any(isinstance(name, str) for name in readings)
        if self.is_array:
            self.width = max(max(readings) + 1, features or 0)
            self.types = {ARRAY: (dtype, self.width)}
        else:
            for name, each in readings.items():
                own = check_text(column_name(name), "the name of the column")
                if not own:
                    raise ExportError("a column has an empty name, which no input can have; rename it and fit again")
                chosen = types.get(own) or _choose_type(each, dtype)
                _check_type(own, chosen, each)
                self.types[own] = chosen, 1
            if unknown := [name for name in types if name not in self.types]:
                raise ExportError(f"the model has no column {unknown[0]!r}; types= names {', '.join(self.types)}")
        self.graph = Graph(self.types)
        self._known: dict[Any, Tensor] = {}

    def numbers(self, names: tuple[Any, ...]) -> Tensor:
        """Return columns as doubles, [row, column]; NaN if missing or infinite."""
        return self.once(("numbers", names), lambda: self._read_numbers(names))

    def codes(self, name: Any, labels: tuple[Any, ...]) -> Tensor:
        """Return the position of each cell among labels, [row, 1]: −1 if missing, their number if unknown."""
        return self.once(("codes", name, labels), lambda: self._read_codes(name, labels))

    def once(self, key: Any, write: Callable[[], Tensor]) -> Tensor:
        """Return a tensor that several terms read, which ``write`` adds to the graph when it is first read."""
        if key not in self._known:
            self._known[key] = write()
        return self._known[key]

    def _read_numbers(self, names: tuple[Any, ...]) -> Tensor:
        if self.is_array:
            x = self.graph.input(ARRAY).cast("float64")
            x = x if names == tuple(range(self.width)) else x.take(np.array(names), axis=1)
        else:
            x = self.graph.concat([self.graph.input(column_name(name)).cast("float64") for name in names])
        return self.graph.where(self.graph.add("IsInf", x), np.nan, x)

    def _read_codes(self, name: Any, labels: tuple[Any, ...]) -> Tensor:
        kind = self.dtype if self.is_array else self.types[column_name(name)][0]
        if kind in TYPES and kind not in MOST_WHOLE:
            return self._encode(name, kind, labels)
        x, values, unknown = self.numbers((name,)), np.array(labels, np.float64), np.array(len(labels))
        rounded = values.astype(kind).astype(np.float64)
        if len(np.unique(rounded)) == len(values):
            values = rounded  # a level such as 0.1 is found although a float32 is not equal to it
        if not labels:
            return self.graph.where(x.is_nan(), np.array(-1), unknown)
        order = np.argsort(values)
        place = (count_edges(x, values[order]) - 1).at_least(0)
        is_known = x.equals(self.graph.add("Gather", values[order], place))
        code = self.graph.where(is_known, self.graph.add("Gather", order, place), unknown)
        return self.graph.where(x.is_nan(), np.array(-1), code)

    def _encode(self, name: Any, kind: str, labels: tuple[Any, ...]) -> Tensor:
        """Return the codes of texts, whole numbers or booleans, by a dictionary."""
        x, codes = self.graph.input(column_name(name)), list(range(len(labels)))
        if kind == "string":
            # an empty text is a missing cell, unless it was learned as a level
            keys: dict[Any, int] = {"": -1} | dict(zip(labels, codes, strict=True))
            texts = [check_text(key, f"column {column_name(name)!r}: the level").encode() for key in keys]
            attributes: dict[str, Any] = {"keys_strings": texts}
        else:
            keys = {int(label): code for label, code in zip(labels, codes, strict=True) if float(label).is_integer()}
            x, attributes = x.cast("int64"), {"keys_int64s": list(keys)}
            if not keys:
                return x * 0 + len(labels)
        values = list(keys.values())
        return self.graph.add(
            "LabelEncoder", x, domain=ML, values_int64s=values, default_int64=len(labels), **attributes
        )


@dataclass(frozen=True)
class Cells:
    """The cells of a block of columns."""

    inputs: Inputs
    columns: Columns

    @property
    def graph(self) -> Graph:
        return self.inputs.graph

    @property
    def names(self) -> tuple[Any, ...]:
        return tuple(range(self.columns.count)) if self.columns.names is None else self.columns.names

    @property
    def description(self) -> str:
        """The columns as a message names them."""
        names = [column_name(name) for name in self.columns.read_names or self.names]
        return f"column {names[0]!r}" if len(names) == 1 else f"the columns {names[0]!r} to {names[-1]!r}"

    @cached_property
    def numbers(self) -> Tensor:
        """The numbers, [row, column]; NaN if missing."""
        return self.inputs.numbers(self.names)

    @cached_property
    def is_missing(self) -> Tensor:
        """Which numbers are missing."""
        return self.numbers.is_nan()

    @cached_property
    def present(self) -> Tensor:
        """1 for each number that is there, 0 for each that is missing."""
        return (~self.is_missing).cast("float64")

    @cached_property
    def filled(self) -> Tensor:
        """The numbers, with 0 for those that are missing."""
        return self.graph.where(self.is_missing, 0.0, self.numbers)

    @cached_property
    def codes(self) -> Tensor:
        """The codes of levels and bins, [row, column]; −1 if missing, the number of known levels if unknown."""
        if self.columns.codings is None:  # whole numbers are codes themselves
            return self.graph.where(self.is_missing, np.array(-1), self.filled.cast("int64"))
        found = []
        for j, coding in enumerate(self.columns.codings):
            if isinstance(coding, MissingLevel):
                found.append(self.graph.add("Gather", recoding(coding.values, coding), self.own_codes(j)))
            elif not isinstance(coding, Combinations):
                found.append(self.own_codes(j))
        return self.graph.concat(found)

    def own_codes(self, j: int) -> Tensor:
        """Return the codes of column j, [row, 1]; −1 if missing, even if a missing cell is a level."""
        coding: Any = (self.columns.codings or ())[j]
        coding = coding.values if isinstance(coding, MissingLevel) else coding
        if isinstance(coding, Cuts):
            x = self.inputs.numbers((self.names[j],))
            code = count_edges(x, np.array(coding.edges)) if coding.edges else np.array(0)
            return self.graph.where(x.is_nan(), np.array(-1), code)
        if type(coding) is not Levels:  # its subclasses code something else than one cell
            kind = type(coding).__name__
            raise ExportError(f"{self.columns.name(j)} has a {kind} coding, which has no form in ONNX; {IN_PYTHON}")
        return self.inputs.codes(self.names[j], coding.labels)

    def read_slots(self, is_open: Array) -> Tensor:
        """Return codes in which an unknown level is −1 in columns that are not open, [row, column]."""
        sizes = np.asarray(self.columns.sizes, np.int64)[: len(is_open)]
        most = np.where(is_open, sizes, -1)
        return self.graph.where(self.codes < sizes, self.codes, most)

    def tree_inputs(self, inputs: tuple[TreeInput, ...]) -> tuple[Tensor, Array]:
        """Return numbers and positions of levels as doubles, [row, input], and the place of each input in them."""
        places = [place for place, each in enumerate(inputs) if each.levels is None]
        parts = [self.inputs.numbers(tuple(inputs[place].name for place in places))] if places else []
        for place, each in enumerate(inputs):
            if each.levels is not None:
                parts.append(self.inputs.codes(each.name, each.levels).cast("float64"))
                places.append(place)
        return self.graph.concat(parts), np.argsort(places)


@dataclass(frozen=True)
class MappedCells(Cells):
    """The cells of a block of numbers, of which a function is taken."""

    function: Function

    @cached_property
    def numbers(self) -> Tensor:
        x = self.inputs.numbers(self.names)
        scaled = x if self.function.factor == 1 else x * self.function.factor
        if self.function.name == "cos":  # runtimes have no cosine of doubles
            return self.graph.add("Sin", scaled + np.pi / 2)
        return self.graph.add(self.function.name.capitalize(), scaled)

    @cached_property
    def is_missing(self) -> Tensor:
        # a number outside of the domain has no function: it is not missing, and its row has no probabilities
        return self.inputs.numbers(self.names).is_nan()


def _list_readings(columns: Columns) -> Iterator[tuple[Any, Reading]]:
    """Yield the columns of a block, each with how it is read."""
    names = range(columns.count) if columns.names is None else columns.names
    for name, coding in zip(names, columns.codings or [None] * columns.count, strict=True):
        values = coding.values if isinstance(coding, MissingLevel) else coding
        if isinstance(values, Words):
            yield name, (("",), False)  # a text, which is no level
            return
        if isinstance(values, Partition):
            yield from ((each.name, (each.levels, False)) for each in values.inputs)
            return  # all trees of a block have the same inputs
        if not isinstance(values, Combinations):
            labels = values.labels if isinstance(values, Levels) else None
            yield name, (labels, isinstance(coding, MissingLevel))


def _choose_type(readings: list[Reading], dtype: FloatType) -> InputType:
    """Return the type of an input: numbers if any part of the model reads numbers or knows missing numbers."""
    labels = [label for of, _ in readings for label in of or ()]
    if any(isinstance(label, str) for label in labels):
        return "string"
    are_whole = all(isinstance(label, int) for label in labels)
    if any(isinstance(label, int) and abs(label) > MOST_WHOLE[dtype] for label in labels):
        return "int64"
    if not labels or not are_whole or any(of is None or has_missing for of, has_missing in readings):
        return dtype
    return "bool" if all(isinstance(label, bool) for label in labels) else "int64"


def _check_type(name: str, kind: str, readings: list[Reading]) -> None:
    """Raise if a column cannot have the type that was asked for."""
    if kind not in TYPES:
        raise ExportError(f"types={{{name!r}: {kind!r}}} is not known; an input is one of {', '.join(TYPES)}")
    has_texts = any(isinstance(label, str) for labels, _ in readings for label in labels or ())
    if has_texts != (kind == "string"):
        learned = "with texts as its levels" if has_texts else "with numbers"
        raise ExportError(f"column {name!r} was learned {learned}, and cannot be an input of type {kind}")


def check_text(text: str, what: str) -> str:
    """Return a text that ONNX can hold, which is one that has an encoding, or raise ExportError."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ExportError(
            f"{what} {text!r} contains half of a surrogate pair, which is no text; rename it and fit again"
        ) from None
    return text
