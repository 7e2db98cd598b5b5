"""Codings: map the values of a column to codes 0, 1, …, the positions of their counts."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from suffice.schema.arrays import Array, Frozen

# The largest number of levels of a column; words of texts and combinations of levels are not limited.
MOST_LEVELS = 100_000

# An edge nearer to 0 than this only separates numbers from 0, and is shown as 0.
NEGLIGIBLE_EDGE = 1e-100


class Coding(Frozen, ABC):
    """The meaning of the codes of one column. Immutable: a coding with more values is a new one."""

    can_shrink: ClassVar[bool] = True  # whether codes without rows can be dropped

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of codes."""

    @property
    @abstractmethod
    def family(self) -> str:
        """The name of the family of a column with this coding."""

    @property
    def open(self) -> bool:
        """Whether values without a code are possible."""
        return False

    @abstractmethod
    def merge(self, other: Any, name: str) -> Coding:
        """Return a coding with the values of both; raise ValueError, naming the column, if they are incompatible."""

    @abstractmethod
    def label(self, code: int) -> str:
        """Return the value of a code as text."""

    def places_in(self, wider: Any) -> Array:
        """Return, for each code, its code in a coding that contains all values of this one."""
        return np.arange(self.size)

    def codes_in(self, other: Any) -> Array:
        """Return, for each code, its code in another coding, or that coding's size if it does not have the value."""
        return self.places_in(other)

    def kept(self, codes: Array) -> Coding:
        """Return a coding of these codes only; codings that cannot shrink return themselves."""
        return self

    def closed(self) -> Coding:
        """Return the same coding, in which values without a code have no probability of their own."""
        return self


@dataclass(frozen=True)
class Levels(Coding):
    """Sorted labels; the code of a value is its position among them.

    Attributes
    ----------
    labels : tuple
        The sorted labels.
    binary : bool
        Whether the column has two values. It is closed once both have occurred; a third value turns it into a
        categorical column.
    keeps_share : bool
        Whether an open column keeps a share of probability for a label that was never seen. Tallies always hold True;
        the layout that estimates need has False under ``unseen="ignore"``.

    >>> Levels(("no", "yes")).merge(Levels(("maybe",)), "column 'answer'").labels
    ('maybe', 'no', 'yes')
    """

    labels: tuple[Any, ...]
    binary: bool = False
    keeps_share: bool = True

    is_limited: ClassVar[bool] = True  # whether there are at most MOST_LEVELS

    @classmethod
    def of(cls, labels: Iterable[Any], binary: bool = False) -> Levels:
        """Return the coding of labels given in any order."""
        return cls(tuple(sorted(set(labels))), binary)

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def family(self) -> str:
        return "bernoulli" if self.binary and self.size <= 2 else "categorical"

    @property
    def open(self) -> bool:
        return self.keeps_share and not (self.binary and self.size == 2)

    @cached_property
    def index(self) -> Mapping[Any, int]:
        """The code of each label."""
        return {label: code for code, label in enumerate(self.labels)}

    def merge(self, other: Any, name: str) -> Coding:
        if not isinstance(other, Levels):
            raise ValueError(f"{name} has levels on one side and numbers cut into bins on the other")
        return self.grown(other.labels, name, self.binary and other.binary)

    def grown(self, labels: Iterable[Any], name: str, binary: bool | None = None) -> Levels:
        """Return the coding with additional labels, which must be of the same kind (all strings or all numbers)."""
        binary = self.binary if binary is None else binary
        new = [label for label in labels if label not in self.index]
        if not new:
            return self if binary == self.binary else replace(self, binary=binary)
        if self.labels and isinstance(self.labels[0], str) != isinstance(new[0], str):
            raise ValueError(
                f"{name} was learned with levels such as {self.labels[0]!r} and now holds {new[0]!r}, which is of "
                "another kind; make them all strings or all numbers"
            )
        if self.is_limited and self.size + len(new) > MOST_LEVELS:
            column = name.removeprefix("column ")
            raise ValueError(
                f"{name} has {self.size + len(new):,} levels, but the limit is {MOST_LEVELS:,}; leave it out "
                f"(families={{{column}: 'ignore'}}), read it as text (families={{{column}: 'text'}}), or shorten its "
                "values, so that fewer of them differ"
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

    def closed(self) -> Coding:
        return replace(self, keeps_share=False) if self.open else self


@dataclass(frozen=True)
class Combinations(Levels):
    """Levels of several columns combined: a label is a tuple with one entry for each column."""

    is_limited = False

    @property
    def family(self) -> str:
        return "joint"

    def label(self, code: int) -> str:
        return " and ".join(map(repr, self.labels[code]))


@dataclass(frozen=True)
class Text:
    """Settings for a column of texts, which are split into words as by scikit-learn's CountVectorizer.

    Pass it in ``BayesClassifier(families={"message": Text(stop_words="english")})``; the string ``"text"`` means
    ``Text()``. The counts of words are multinomial: log p(text | class) = Σ count·log p(word | class). By default a
    word or a pair of adjacent words counts once per text; ``Text(ngram_range=(1, 1), binary=False)`` has the counts
    of scikit-learn's default.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        What is counted: words, characters, characters inside words, or what the function returns for a text.
    ngram_range : tuple of (int, int), default=(1, 2)
        The smallest and the largest number of adjacent words (or characters) that are counted as one term. Without
        pairs the vocabulary is about a fifth.
    lowercase : bool, default=True
        Whether texts are converted to lower case.
    stop_words : "english", sequence of str or None, default=None
        Words that are not counted.
    token_pattern : str or None
        The regular expression of a word; words of two or more letters by default.
    tokenizer : callable, optional
        A function that splits a text into words, instead of ``token_pattern``.
    preprocessor : callable, optional
        A function that is applied to a text first, instead of ``lowercase`` and ``strip_accents``.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
        How accents are removed.
    binary : bool, default=True
        Whether a word counts once per text, however often it occurs.
    complement : bool, default=False
        Whether a class is scored by the word frequencies of all other classes (Rennie et al. 2003), as in
        `ComplementNB`.

    Examples
    --------
    >>> Text(stop_words="english")
    Text(stop_words='english')
    """

    analyzer: str | Callable[[str], list[str]] = "word"
    ngram_range: tuple[int, int] = (1, 2)
    lowercase: bool = True
    stop_words: str | tuple[str, ...] | None = None
    token_pattern: str | None = r"(?u)\b\w\w+\b"
    tokenizer: Callable[[str], list[str]] | None = None
    preprocessor: Callable[[str], str] | None = None
    strip_accents: str | Callable[[str], str] | None = None
    binary: bool = True
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
                raise ValueError(
                    f"Text(token_pattern={self.token_pattern!r}) is not a regular expression: {error}"
                ) from None

    def __repr__(self) -> str:
        defaults = type(self).__dataclass_fields__
        changed = [f"{name}={value!r}" for name, value in vars(self).items() if value != defaults[name].default]
        return f"Text({', '.join(changed)})"


@dataclass(frozen=True)
class Words(Levels):
    """The vocabulary of a text column: unlike other levels, several of them occur in one row."""

    text: Text = field(default_factory=Text)

    is_limited = False

    @property
    def family(self) -> str:
        return "text"

    def closed(self) -> Coding:
        return self  # unknown words are skipped in any case

    def merge(self, other: Any, name: str) -> Coding:
        if not isinstance(other, Words) or other.text != self.text:
            raise ValueError(f"{name} is read as {self.text!r} on one side and with other settings on the other")
        return super().merge(other, name)


@dataclass(frozen=True, eq=False)
class Cuts(Coding):
    """Bins of numbers; the code of a value x is the number of edges ≤ x.

    Attributes
    ----------
    edges : tuple of float
        The sorted cut points.
    by : str
        How they were chosen: "cells" (without the labels), "quantiles" or "mdl".
    whole : bool
        Whether all numbers that were counted in these cells are whole. A batch with fractions turns it off for good.

    >>> Cuts((1.5, 4.0)).label(1)
    '1.5 ≤ x < 4'
    >>> [Cuts((-1e-154, 1e-154, 4.0)).label(code) for code in range(4)]
    ['x < 0', 'x = 0', '0 < x < 4', '4 ≤ x']
    """

    edges: tuple[float, ...]
    by: str = "quantiles"
    whole: bool = False

    can_shrink = False

    @property
    def size(self) -> int:
        return len(self.edges) + 1

    @property
    def family(self) -> str:
        return self.by

    def merge(self, other: Any, name: str) -> Coding:
        """Return the common coarsening: the edges that both have."""
        if not isinstance(other, Cuts):
            raise ValueError(f"{name} is a number on one side and has levels on the other")
        if other == self:
            return self
        edges = tuple(edge for edge in self.edges if edge in set(other.edges))
        return replace(self, edges=edges, whole=self.whole and other.whole)

    def label(self, code: int) -> str:
        if not self.edges:
            return "any"
        edges = [0.0 if abs(edge) < NEGLIGIBLE_EDGE else edge for edge in self.edges]
        above = [0 < edge < NEGLIGIBLE_EDGE for edge in self.edges]  # an edge just above 0 separates 0 from the rest
        low = f"{edges[code - 1]:g} {'<' if above[code - 1] else '≤'} " if code else ""
        high = f" {'≤' if above[code] else '<'} {edges[code]:g}" if code < len(edges) else ""
        return "x = 0" if (low, high) == ("0 ≤ ", " ≤ 0") else f"{low}x{high}"

    def places_in(self, wider: Any) -> Array:
        # each bin lies within one bin of the other coding if the other's edges are a subset of these
        return np.searchsorted(wider.edges, [-np.inf, *self.edges], side="right")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cuts) and other.edges == self.edges and other.whole == self.whole

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class MissingLevel(Coding):
    """The codes of another coding, and one more for a missing cell.

    >>> MissingLevel(Levels(("no", "yes"))).label(2)
    'missing'
    """

    values: Coding

    @property
    def size(self) -> int:
        return self.values.size + 1

    @property
    def family(self) -> str:
        return self.values.family

    @property
    def open(self) -> bool:
        return self.values.open

    def merge(self, other: Any, name: str) -> Coding:
        if not isinstance(other, MissingLevel):
            raise ValueError(f"a missing cell of {name} is a level on one side only")
        return MissingLevel(self.values.merge(other.values, name))

    def kept(self, codes: Array) -> Coding:
        values = self.values.kept(codes[:-1])
        # the last code is that of a missing cell, which stays in any case
        return self if values is self.values or self.values.size not in codes else MissingLevel(values)

    def closed(self) -> Coding:
        return MissingLevel(self.values.closed())

    def label(self, code: int) -> str:
        return "missing" if code == self.values.size else self.values.label(code)


def recoding(old: Coding, new: Coding) -> Array:
    """Return the new code of each old code, then of an unknown level, then of a missing cell (code −1)."""
    (table,) = np.split(*recodings([old], [new]))
    return np.roll(table, -1)


def recodings(old: Sequence[Coding], new: Sequence[Coding]) -> tuple[Array, Array]:
    """Return tables for the codes of several columns, one after the other, and where the second and later ones start.

    Each has the new code of a missing cell (code −1), then of each old code, then of an unknown level.
    """
    values = [coding.values if type(coding) is MissingLevel else coding for coding in new]
    sizes, known, own = (np.array([each.size for each in codings], np.intp) for codings in (old, values, new))
    missing = np.array([its.size if its is not coding else -1 for its, coding in zip(values, new, strict=True)])
    starts = np.cumsum(sizes + 2) - sizes - 2
    table = np.repeat(own, sizes + 2)
    table[starts] = missing
    is_code = np.ones(len(table), bool)
    is_code[starts] = is_code[starts + sizes + 1] = False
    codes = _join_codes(old, values, sizes, lambda mine, its: mine.codes_in(its))
    # a level that the new coding does not have is unknown
    table[is_code] = np.where(codes < np.repeat(known, sizes), codes, table[is_code])
    return table, starts[1:]


def join_places(old: Sequence[Coding], wider: Sequence[Coding], starts: Array) -> Array:
    """Return the places of all codes of several columns, one after the other, in columns that contain their values.

    ``starts`` are the places of the first codes of the wider columns.
    """
    sizes = np.array([coding.size for coding in old], np.intp)
    return np.repeat(starts, sizes) + _join_codes(old, wider, sizes, lambda mine, its: mine.places_in(its))


def _join_codes(
    old: Sequence[Coding], new: Sequence[Coding], sizes: Array, codes_in: Callable[[Coding, Coding], Array]
) -> Array:
    """Return ``codes_in`` of each pair of codings, one after the other; all cuts are compared at once."""
    ends = np.cumsum(sizes)
    codes = np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)
    cuts: list[tuple[int, Cuts, Cuts]] = []
    for j, (mine, its) in enumerate(zip(old, new, strict=True)):
        if mine is its:
            continue
        if type(mine) is Cuts and type(its) is Cuts:
            cuts.append((j, mine, its))
        else:
            codes[ends[j] - sizes[j] : ends[j]] = codes_in(mine, its)
    if cuts:
        # in the order of complex numbers, first the column decides, then the edge
        here, before = _number_edges([its for *_, its in cuts], least=())
        there, _ = _number_edges([mine for _, mine, _ in cuts], least=(-np.inf,))
        is_cut = np.zeros(len(sizes), bool)
        is_cut[[j for j, *_ in cuts]] = True
        column = there.real.astype(np.intp)
        codes[np.repeat(is_cut, sizes)] = np.searchsorted(here, there, side="right") - before[column]
    return np.asarray(codes)


def _number_edges(cuts: Sequence[Cuts], least: tuple[float, ...]) -> tuple[Array, Array]:
    """Return column + i·edge for the edges of several columns, after ``least``, and the number of those before each."""
    counts = np.array([len(each.edges) + len(least) for each in cuts], np.intp)
    numbers = np.empty(int(counts.sum()), np.complex128)
    numbers.real = np.repeat(np.arange(len(counts)), counts)
    numbers.imag = np.fromiter(chain.from_iterable((*least, *each.edges) for each in cuts), np.float64, len(numbers))
    return numbers, np.cumsum(counts) - counts
