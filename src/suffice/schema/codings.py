"""Codings: how the values of a column become codes 0, 1, … that counts are laid out by."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from suffice.schema.arrays import Array


class Coding(ABC):
    """What the codes of one column stand for; frozen, grows by making a new one."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many codes there are."""

    @property
    @abstractmethod
    def family(self) -> str:
        """What a column so coded is called."""

    @property
    def open(self) -> bool:
        """Whether a value may turn up that has no code yet."""
        return False

    @abstractmethod
    def merge(self, other: Any, name: str) -> Coding:
        """Return the coding of both, or say what the two disagree on."""

    @abstractmethod
    def label(self, code: int) -> str:
        """Return what a code stands for, as a person would write it."""

    def places_in(self, wider: Any) -> Array:
        """Return the wider coding's code for each of this one's."""
        return np.arange(self.size)

    def codes_in(self, other: Any) -> Array:
        """Return the other coding's code for each of this one's, also where it has fewer: its size, if it has none."""
        return self.places_in(other)

    def kept(self, codes: Array) -> Coding:
        """Return the coding of these codes alone: what was never met, or is forgotten, has none."""
        return self


@dataclass(frozen=True)
class Levels(Coding):
    """Labels, sorted: the code of a value is its place among them.

    A ``binary`` column is one of yes and no. It is closed when it has met both; a third makes it a
    column of levels like others.

    >>> Levels(("no", "yes")).merge(Levels(("maybe",)), "column 'answer'").labels
    ('maybe', 'no', 'yes')
    """

    labels: tuple[Any, ...]
    binary: bool = False

    @classmethod
    def of(cls, labels: Iterable[Any], binary: bool = False) -> Levels:
        """Return the coding of labels in any order."""
        return cls(tuple(sorted(set(labels))), binary)

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def family(self) -> str:
        return "bernoulli" if self.binary and self.size <= 2 else "categorical"

    @property
    def open(self) -> bool:
        return not (self.binary and self.size == 2)

    @cached_property
    def index(self) -> Mapping[Any, int]:
        """The code of each label."""
        return {label: code for code, label in enumerate(self.labels)}

    def merge(self, other: Any, name: str) -> Coding:
        if not isinstance(other, Levels):
            raise ValueError(f"{name} has levels on one side and numbers cut into bins on the other")
        return self.grown(other.labels, name, self.binary and other.binary)

    def grown(self, labels: Iterable[Any], name: str, binary: bool | None = None) -> Levels:
        """Return the coding with room for more labels, which must be of the same kind."""
        binary = self.binary if binary is None else binary
        new = [label for label in labels if label not in self.index]
        if not new:
            return self if binary == self.binary else replace(self, binary=binary)
        if self.labels and isinstance(self.labels[0], str) != isinstance(new[0], str):
            raise ValueError(
                f"{name} was learned with levels such as {self.labels[0]!r} and now holds {new[0]!r}, which is of "
                "another kind; make them all strings or all numbers"
            )
        return replace(self, labels=tuple(sorted([*self.labels, *new])), binary=binary)

    def label(self, code: int) -> str:
        return repr(self.labels[code])

    def places_in(self, wider: Any) -> Array:
        if wider.labels is self.labels:
            return np.arange(self.size)
        return np.fromiter((wider.index[label] for label in self.labels), np.intp, self.size)

    def codes_in(self, other: Any) -> Array:
        return np.fromiter((other.index.get(label, other.size) for label in self.labels), np.intp, self.size)

    def kept(self, codes: Array) -> Coding:
        return self if len(codes) == self.size else replace(self, labels=tuple(self.labels[c] for c in codes.tolist()))


@dataclass(frozen=True)
class Combinations(Levels):
    """Levels of several columns at once: each label is a tuple, with one entry for each column before it."""

    @property
    def family(self) -> str:
        return "joint"

    def label(self, code: int) -> str:
        return " and ".join(map(repr, self.labels[code]))


@dataclass(frozen=True)
class Text:
    """How a text is read: into words, as scikit-learn's CountVectorizer reads it.

    A ``families={"message": Text(ngram_range=(1, 2))}`` says so of one column; ``"text"`` is
    ``Text()``. With ``complement`` each class is judged by how little a text is like all others
    (Rennie et al. 2003), and ``binary`` counts a word once a text.

    >>> Text(stop_words="english")
    Text(stop_words='english')
    """

    analyzer: str | Callable[[str], list[str]] = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    stop_words: str | tuple[str, ...] | None = None
    token_pattern: str | None = r"(?u)\b\w\w+\b"
    tokenizer: Callable[[str], list[str]] | None = None
    preprocessor: Callable[[str], str] | None = None
    strip_accents: str | Callable[[str], str] | None = None
    binary: bool = False
    complement: bool = False

    def __post_init__(self) -> None:
        for name in ("ngram_range", "stop_words"):
            value = getattr(self, name)
            if not isinstance(value, (str, tuple, type(None))):
                object.__setattr__(self, name, tuple(sorted(value) if name == "stop_words" else value))
        if self.token_pattern is not None:
            try:
                re.compile(self.token_pattern)
            except re.error as error:
                raise ValueError(f"Text(token_pattern={self.token_pattern!r}) is no pattern: {error}") from None

    def __repr__(self) -> str:
        default = type(self).__dataclass_fields__
        said = [f"{name}={value!r}" for name, value in vars(self).items() if value != default[name].default]
        return f"Text({', '.join(said)})"


@dataclass(frozen=True)
class Words(Levels):
    """The words of a text column: levels of which a row has many."""

    text: Text = field(default_factory=Text)

    @property
    def family(self) -> str:
        return "text"

    def merge(self, other: Any, name: str) -> Coding:
        if not isinstance(other, Words) or other.text != self.text:
            raise ValueError(f"{name} is {self.text!r} on one side, and is read otherwise on the other")
        return super().merge(other, name)


@dataclass(frozen=True, eq=False)
class Cuts(Coding):
    """Numbers cut into bins: the code of a value is the number of cuts below it, itself included.

    >>> Cuts((1.5, 4.0)).label(1)
    '1.5 ≤ x < 4'
    """

    edges: tuple[float, ...]
    by: str = "quantiles"

    @property
    def size(self) -> int:
        return len(self.edges) + 1

    @property
    def family(self) -> str:
        return self.by

    def merge(self, other: Any, name: str) -> Coding:
        if not isinstance(other, Cuts):
            raise ValueError(f"{name} is cut into bins on one side and has levels on the other")
        if other.edges != self.edges:
            raise ValueError(
                f"{name} is cut at {_few(self.edges)} on one side and at {_few(other.edges)} on the other; learn the "
                "second with partial_fit on a copy of the first, which keeps its cuts"
            )
        return self

    def label(self, code: int) -> str:
        low = f"{self.edges[code - 1]:g} ≤ " if code else ""
        high = f" < {self.edges[code]:g}" if code < len(self.edges) else ""
        return f"{low}x{high}" if self.edges else "any"

    def places_in(self, wider: Any) -> Array:
        # a bin lies within one bin of cuts that are fewer, but the same
        return np.searchsorted(wider.edges, [-np.inf, *self.edges], side="right")

    def finer(self, *others: Cuts) -> Cuts:
        """Return the cuts of all: a bin of any of them is a sum of bins of these."""
        return replace(self, edges=tuple(sorted({*self.edges, *(edge for its in others for edge in its.edges)})))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cuts) and other.edges == self.edges

    __hash__ = None  # type: ignore[assignment]


def _few(edges: tuple[float, ...]) -> str:
    return ", ".join(f"{edge:g}" for edge in edges[:3]) + (", …" if len(edges) > 3 else "")
