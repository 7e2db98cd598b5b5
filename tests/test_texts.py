"""Texts: compiled loops split them into the same words as scikit-learn's analyzer, which small tables use."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from suffice import Text
from suffice.data import texts as module
from suffice.data.split_texts import is_splittable, split_texts
from suffice.data.texts import count_words
from suffice.schema import Words

# Letters whose lower case has another length or depends on their neighbours, combining marks, digits of other scripts,
# characters beyond 16 bits, parts of surrogate pairs, and the ends of words.
ODD = [
    "ß",
    "ẞ",
    "İ",
    "I",
    "ı",
    "Σ",
    "ς",
    "ǅ",
    "ﬁ",
    "e\u0301",
    "\u0345",
    "_",
    "²",
    "½",
    "٣",
    "क्ष",
    "漢",
    "😀",
    "\U0001d400",
]
ODD += ["\ud800", "\udc00", "\x00", "\u200d", "\u2028", "'", "-", " ", "a", "Z", "0", "\n", "\xa0", "\xad"]
CHARACTERS = st.characters(exclude_categories=())
TEXTS = st.lists(st.none() | st.lists(CHARACTERS | st.sampled_from(ODD)).map("".join))


def rows_of(counts: Any, labels: tuple[str, ...]) -> list[dict[str, int]]:
    """The terms of each text with their counts."""
    return [
        {labels[code]: int(count) for code, count in zip(line.indices, line.data, strict=True)}
        for line in (counts[[row]].tocsr() for row in range(counts.shape[0]))
    ]


@pytest.mark.parametrize("grams", [(1, 1), (1, 2), (2, 2), (1, 3), (2, 4)])
@given(texts=TEXTS, lowercase=st.booleans(), binary=st.booleans())
def test_compiled_loops_find_the_same_words(
    grams: tuple[int, int], texts: list[str | None], lowercase: bool, binary: bool
) -> None:
    setting = Text(ngram_range=grams, lowercase=lowercase, binary=binary)
    assert is_splittable(setting)
    analyze = CountVectorizer(ngram_range=grams, lowercase=lowercase).build_analyzer()
    expected = [[] if text is None else analyze(text) for text in texts]
    terms, codes, ends = split_texts([text or "" for text in texts], setting)
    found = [sorted(terms[code] for code in codes[a:b]) for a, b in itertools.pairwise(ends)]
    assert found == [sorted(words) for words in expected]
    assert len(set(terms)) == len(terms)


@given(texts=TEXTS, later=TEXTS)
def test_both_paths_count_the_same(texts: list[str | None], later: list[str | None]) -> None:
    setting, before = Text(), module.MANY_CHARACTERS
    found = []
    for many in (0, 1 << 40):
        module.MANY_CHARACTERS = many
        try:
            words, counts = count_words(texts, Words((), text=setting), True, "column 'x'")
            same, known = count_words(later, words, False, "column 'x'")
            more, new = count_words(later, words, True, "column 'x'")
        finally:
            module.MANY_CHARACTERS = before
        assert same is words
        found.append((words, more, [rows_of(*pair) for pair in ((counts, words.labels), (known, words.labels))]))
        found[-1][2].append(rows_of(new, more.labels))
    assert found[0] == found[1]


def test_parts_of_the_texts_share_a_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.data.split_texts.PART", 10)
    monkeypatch.setattr("suffice.data.split_texts.FIRST_TABLE", 2)  # too small for the words, so that it grows
    rng = np.random.default_rng(0)
    texts = [" ".join(f"word{code}" for code in rng.integers(0, 9, 7)) for _ in range(30)]
    terms, codes, ends = split_texts(texts, Text(ngram_range=(1, 1)))
    assert sorted(terms) == [f"word{code}" for code in range(9)]
    assert [" ".join(terms[code] for code in codes[a:b]) for a, b in itertools.pairwise(ends)] == texts


@pytest.mark.parametrize("letters", ["ab", "aA_", "äß漢"])
@pytest.mark.parametrize("copies", [1, 10])  # ten are enough for compiled loops
def test_long_words_that_differ_in_one_place_are_told_apart(letters: str, copies: int) -> None:
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list(letters), length)) for length in range(1, 40)]
    words += [word[:place] + "7" + word[place + 1 :] for word in words for place in range(len(word))]
    texts = [" ".join(rng.permutation(words)) for _ in range(3)]
    terms, codes, ends = split_texts(texts * copies, Text(ngram_range=(1, 1)))
    analyze = CountVectorizer().build_analyzer()
    expected = [analyze(text) for text in texts] * copies
    assert [[terms[code] for code in codes[a:b]] for a, b in itertools.pairwise(ends)] == expected
    assert len(set(terms)) == len(terms)


def test_other_settings_are_left_to_scikit_learn() -> None:
    for setting in (
        {"analyzer": "char"},
        {"stop_words": "english"},
        {"token_pattern": r"\w+"},
        {"tokenizer": str.split},
    ):
        assert not is_splittable(Text(**setting))
