"""Columns of texts as ONNX: the terms of a vocabulary that each row contains, and the sums over them.

Texts are split by the operator Tokenizer of ONNX Runtime, whose regular expression names all characters of words. The
different words of all rows become numbers, character by character, so that lower case needs no locale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from suffice.data.column_names import column_name
from suffice.export.onnx_cells import IN_PYTHON, Cells, Inputs
from suffice.export.onnx_columnwise import log_rising
from suffice.export.onnx_graph import ML, RUNTIME, Tensor
from suffice.export.text_splitting import (
    FINAL_SIGMA,
    MIDDLE_SIGMA,
    SIGMA,
    Ranges,
    Splitting,
    sigma_contexts,
    to_ranges,
    word_ranges,
    write_ranges,
)
from suffice.schema import Array, Columns, Words
from suffice.score import Linear, LogGamma, LogGammaOfTotal

# Stands for no word where a row has fewer of them than another.
PADDING = "\x00"

# Sequences are numbered up to here; then the numbers of those that are known are made smaller.
MOST_NUMBERED = 2**62

# The end of an axis.
LAST = np.iinfo(np.int64).max


def read_cells(inputs: Inputs, columns: Columns) -> Cells:
    """Return the cells of a block."""
    has_words = columns.codings is not None and isinstance(columns.codings[0], Words)
    return (WordCells if has_words else Cells)(inputs, columns)


@dataclass(frozen=True)
class WordCells(Cells):
    """The terms of the vocabulary of a column of texts that occur in each row."""

    @property
    def words(self) -> Words:
        """The vocabulary."""
        words = (self.columns.codings or ())[0]
        assert isinstance(words, Words)
        return words

    @cached_property
    def splitting(self) -> Splitting:
        """How texts become terms."""
        remedy = f"fit without the column (families={{{self.names[0]!r}: 'ignore'}}), {IN_PYTHON}"
        return Splitting.of(self.words, self.columns.name(0), "ONNX", remedy)

    @property
    def texts(self) -> Tensor:
        """The texts, [row]."""
        return self.graph.input(column_name(self.names[0])).reshape(-1)

    @property
    def terms(self) -> Tensor:
        """The numbers of the terms of each row, in descending order, [row, place]; their count where there is none."""
        key = ("terms", self.names[0], self.words.text, self.words.labels)
        return self.inputs.once(key, lambda: _find_terms(self, self.splitting))

    @property
    def unclear(self) -> Tensor:
        """NaN for each row whose lower case cannot be known from its words alone, and 0 for others, [row, 1]."""
        return self.inputs.once(("unclear", self.names[0]), lambda: _find_unclear(self))

    @property
    def ranks(self) -> Tensor:
        """How often the same term occurs in the row before each of `terms`, [row, place]."""
        is_new = self.graph.concat([self.terms.part(0, 1, 1) > -1, ~_equals_before(self.terms)])
        place = self.graph.add("CumSum", (self.terms * 0 + 1), np.array(1)) - 1
        group = self.graph.add("CumSum", is_new.cast("int64"), np.array(1)) - 1
        first = self.graph.add(
            "ScatterElements", place * 0, group, self.graph.where(is_new, place, np.array(0)), axis=1, reduction="max"
        )
        return place - self.graph.add("GatherElements", first, group, axis=1)


def _find_terms(cells: WordCells, splitting: Splitting) -> Tensor:
    """Write `WordCells.terms`."""
    graph, words = cells.graph, splitting.words
    lowest, highest = words.text.ngram_range
    if not words.labels:
        return _encode(cells.texts.expand(1), {"": 0}, 0)
    # with a row that has enough words for one term of each size
    tokens = _split(cells, " ".join(["a" * splitting.least] * highest), _write_pattern(splitting), splitting.least)
    distinct, places = graph.unique(tokens.reshape(-1))
    single = sorted({word for label in words.labels for word in label.split(" ")} | {*splitting.stop_words})
    numbers = _number_words(distinct, single, splitting)
    found = graph.add("Reshape", numbers.take(places), graph.add("Shape", tokens))
    if splitting.stop_words:
        found = _move_stop_words(found, single, splitting)
    terms = _join_words(found, single, words.labels, (lowest, highest)).part(0, -1, 0)
    count = graph.add("Shape", terms).part(1, 2, 0)
    ordered = graph.add_first("TopK", terms, count, axis=1, largest=1, sorted=1)
    if not words.text.binary:
        return ordered
    # a term counts once
    kept = graph.where(_equals_before(ordered), np.array(words.size), ordered.part(1, LAST, 1))
    return graph.concat([ordered.part(0, 1, 1), kept])


def _equals_before(terms: Tensor) -> Tensor:
    """Write where an element is equal to the one before it, without the first of each row."""
    return terms.part(1, LAST, 1).equals(terms.part(0, -1, 1))


def _find_unclear(cells: WordCells) -> Tensor:
    """Write `WordCells.unclear`: a capital sigma that a character which is no letter parts from another letter."""
    cased, skipped = map(write_ranges, sigma_contexts())
    pattern = f"{SIGMA}[{skipped}]+[{cased}]|[{cased}][{skipped}]+{SIGMA}"
    tokens = _split(cells, f"{SIGMA}.{MIDDLE_SIGMA}", pattern, 1).part(0, -1, 0)
    is_unclear = _encode(tokens, {PADDING: 0}, 1).max(1, keep=True) > np.array(0)
    return cells.graph.where(is_unclear, np.nan, 0.0)


def _split(cells: WordCells, last: str, pattern: str, least: int) -> Tensor:
    """Write what a regular expression finds in each text, and in one more row, so that there is something to find."""
    more = np.empty(1, object)
    more[0] = last
    texts = cells.graph.concat([cells.texts, cells.graph.constant(more)], axis=0)
    return _tokenize(texts, least, tokenexp=pattern)


def _tokenize(texts: Tensor, least: int, **how: Any) -> Tensor:
    """Write the parts of texts that have enough characters, [text, place]."""
    return texts.graph.add("Tokenizer", texts, domain=RUNTIME, mincharnum=least, mark=0, pad_value=PADDING, **how)


def _write_pattern(splitting: Splitting) -> str:
    """Return the regular expression of a word.

    A capital letter whose lower case is a letter and a character that is none ends a word.
    """
    least, ending = splitting.least, [upper for upper, lower in splitting.lower_case.items() if len(lower) > 1]
    codes = [code for first, last in word_ranges() for code in range(first, last + 1) if chr(code) not in ending]
    inside = write_ranges(to_ranges(codes))
    pattern = f"[{inside}]{{{least},}}"
    if ending:
        pattern = f"[{inside}]{{{least - 1},}}[{''.join(ending)}]|{pattern}"
    return pattern


def _number_words(words: Tensor, known: list[str], splitting: Splitting) -> Tensor:
    """Write the position of each word among known ones, [word]; their number if it is none of them."""
    graph, longest = words.graph, max(map(len, known))
    chars = _tokenize(words, 1, separators=[b""])
    letters = {char: place for place, char in enumerate(sorted(set("".join(known))), 1)}
    lower = {upper: letters.get(small[0]) for upper, small in splitting.lower_case.items()}
    keys = letters | {upper: place for upper, place in lower.items() if place is not None} | {PADDING: 0}
    other = len(letters) + 1
    codes = _encode(chars, keys, other)
    codes = graph.add("Pad", codes, np.array([0, 0, 0, longest + 1])).part(0, longest + 1, 1)
    columns = [codes.part(place, place + 1, 1) for place in range(longest + 1)]
    if splitting.has_sigma:
        columns = _replace_sigmas(chars, columns, letters, other)
    table = np.zeros((len(known), longest + 1), np.int64)
    for row, word in enumerate(known):
        table[row, : len(word)] = [letters[char] for char in word]
    return _number_sequences(columns, table, other + 1).reshape(-1)


def _replace_sigmas(chars: Tensor, columns: list[Tensor], letters: dict[str, int], other: int) -> list[Tensor]:
    """Write the columns of letters with the lower case of capital sigmas, by the other letters of the word."""
    graph, count = chars.graph, len(columns)
    cased, skipped = ({chr(code) for code in _codes_of(each)} for each in sigma_contexts())
    kinds = dict.fromkeys(cased, 1) | dict.fromkeys(skipped, 2) | {SIGMA: 3, PADDING: 0}
    found = graph.add("Pad", _encode(chars, kinds, 0), np.array([0, 0, 0, count])).part(0, count, 1)
    kind = [found.part(place, place + 1, 1) for place in range(count)]
    is_sigma = [each.equals(np.array(3)) for each in kind]
    is_cased = [each.equals(np.array(1)) | sigma for each, sigma in zip(kind, is_sigma, strict=True)]
    is_skipped = [each.equals(np.array(2)) for each in kind]
    before, after = _seen(is_cased, is_skipped), _seen(is_cased[::-1], is_skipped[::-1])[::-1]
    final, middle = (np.array(letters.get(each, other)) for each in (FINAL_SIGMA, MIDDLE_SIGMA))
    return [
        graph.where(sigma, graph.where(left & ~right, final, middle), letter)
        for sigma, left, right, letter in zip(is_sigma, before, after, columns, strict=True)
    ]


def _seen(is_cased: list[Tensor], is_skipped: list[Tensor]) -> list[Tensor]:
    """Write whether the last character before each, without those that are skipped, is cased."""
    found = [is_cased[0] & ~is_cased[0]]
    for cased, skipped in zip(is_cased[:-1], is_skipped[:-1], strict=True):
        found.append(cased | (skipped & found[-1]))
    return found


def _codes_of(ranges: Ranges) -> list[int]:
    return [code for first, last in ranges for code in range(first, last + 1)]


def _number_sequences(columns: list[Tensor], table: Array, width: int) -> Tensor:
    """Write the position of each sequence of numbers below ``width`` in a table of known ones, or their count."""
    number, keys, most = columns[0], table[:, 0], width
    for column, own in zip(columns[1:], table.T[1:], strict=True):
        if most * width > MOST_NUMBERED:
            known, keys = np.unique(keys, return_inverse=True)
            number = _encode(number, {int(key): place for place, key in enumerate(known)}, len(known))
            most = len(known) + 1
        number, keys, most = number * width + column, keys * width + own, most * width
    return _encode(number, {int(key): place for place, key in enumerate(keys)}, len(table))


def _move_stop_words(words: Tensor, single: list[str], splitting: Splitting) -> Tensor:
    """Write the words of each row with the stop words after all others, as words that are not known."""
    graph, size = words.graph, len(single)
    is_stop = np.isin(single, splitting.stop_words)
    is_moved = graph.add("Gather", np.append(is_stop, False), words)
    place = graph.add("CumSum", words * 0 + 1, np.array(1))
    width = graph.add("Shape", words).part(1, 2, 0)
    order = graph.add_second("TopK", place + is_moved.cast("int64") * width, width, axis=1, largest=0, sorted=1)
    kept = graph.where(is_moved, np.array(size), words)
    return graph.add("GatherElements", kept, order, axis=1)


def _join_words(words: Tensor, single: list[str], labels: tuple[str, ...], sizes: tuple[int, int]) -> Tensor:
    """Write the numbers of the terms of adjacent words, [row, place]; the count of terms where there is none."""
    graph, index = words.graph, {word: place for place, word in enumerate(single)}
    lowest, highest = sizes
    sequences = [tuple(index[word] for word in label.split(" ")) for label in labels]
    place_of = {sequence: place for place, sequence in enumerate(sequences)}
    codes, found = words, []
    known: list[tuple[int, ...]] = [(place,) for place in range(len(single))]
    for size in range(1, highest + 1):
        if size > 1:  # a sequence of known words, and one word more
            before = {sequence: place for place, sequence in enumerate(known)}
            known = sorted({sequence[:size] for sequence in sequences if len(sequence) >= size})
            width = len(single) + 1
            pairs = codes.part(0, -1, 1) * width + words.part(size - 1, LAST, 1)
            keys = {before[each[:-1]] * width + each[-1]: place for place, each in enumerate(known)}
            codes = _encode(pairs, keys or {-1: 0}, len(known))
        if size >= lowest:
            terms = [place_of.get(sequence, len(labels)) for sequence in known]
            found.append(graph.add("Gather", np.array([*terms, len(labels)]), codes))
    return graph.concat(found)


def _encode(x: Tensor, keys: dict[Any, int], other: int) -> Tensor:
    """Write the value of each key, and ``other`` for what is no key."""
    if isinstance(next(iter(keys)), str):
        attributes: dict[str, Any] = {"keys_strings": [key.encode() for key in keys]}
    else:
        attributes = {"keys_int64s": list(keys)}
    return x.graph.add(
        "LabelEncoder", x, domain=ML, values_int64s=list(keys.values()), default_int64=other, **attributes
    )


def _sum_terms(cells: WordCells, table: Array) -> Tensor:
    """Write the sum over terms of the columns of a table [class, term]."""
    wide = np.ascontiguousarray(np.insert(table, table.shape[1], 0.0, axis=1).T)
    found = cells.graph.add("Gather", wide, cells.terms).sum(1)
    return found + cells.unclear if cells.splitting.has_sigma else found


def translate_linear(term: Linear, cells: WordCells) -> Tensor:
    """Write Σⱼ biases + weights·xⱼ, and ``limit`` where ``veto`` is positive."""
    found = _sum_terms(cells, term.weights) + term.bias
    if term.veto is None:
        return found
    return cells.graph.where(_sum_terms(cells, term.veto.weights) > 0.0, term.limit, found)


def translate_log_gamma(term: LogGamma, cells: WordCells) -> Tensor:
    """Write weight·Σⱼ (log Γ(a + xⱼ) − log Γ(a)) as the sum of log(a + i) over i < xⱼ."""
    if cells.words.text.binary:
        return _sum_terms(cells, np.log(term.a)) * term.weight
    wide = np.ascontiguousarray(np.insert(term.a, term.a.shape[1], 1.0, axis=1).T)
    ranks = cells.graph.where(cells.terms < cells.words.size, cells.ranks, np.array(0))
    found = cells.graph.add("Gather", wide, cells.terms) + ranks.cast("float64").expand(2)
    found = found.log().sum(1) * term.weight
    return found + cells.unclear if cells.splitting.has_sigma else found


def translate_log_gamma_of_total(term: LogGammaOfTotal, cells: WordCells) -> Tensor:
    """Write log Γ(a) − log Γ(a + Σⱼ xⱼ)."""
    is_term = cells.terms < cells.words.size
    return -log_rising(term.a, is_term.cast("float64").sum(1, keep=True))


WORD_TRANSLATORS: dict[type[Any], Callable[[Any, Any], Tensor]] = {
    Linear: translate_linear,
    LogGamma: translate_log_gamma,
    LogGammaOfTotal: translate_log_gamma_of_total,
}
