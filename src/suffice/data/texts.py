"""Texts as counts of words, with a vocabulary that grows."""

from array import array
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from suffice.data.labels import is_missing
from suffice.data.split_texts import count_columns, is_splittable, split_texts
from suffice.schema import Array, Text, Words

# Texts of so many characters in all are split by compiled loops; loading these takes longer than splitting fewer.
MANY_CHARACTERS = 1 << 20


def count_words(texts: list[Any], words: Words, grow: bool, name: str) -> tuple[Words, Any]:
    """Return the vocabulary, with new words if ``grow``, and the counts [text, word] as a sparse matrix.

    Words outside the vocabulary are not counted; a missing text has no words.

    >>> words, counts = count_words(["a bit of a bit", None], Words(()), True, "column 'message'")
    >>> words.labels, counts.toarray().tolist()
    (('bit', 'bit of', 'of', 'of bit'), [[1, 1, 1, 1], [0, 0, 0, 0]])
    """
    for row, each in enumerate(texts):
        if not isinstance(each, str) and not is_missing(each):
            raise ValueError(f"{name} is text, but holds {each!r} in row {row}, which is not a string")
    held = [each if isinstance(each, str) else None for each in texts]
    is_long = is_splittable(words.text) and sum(len(each) for each in held if each) >= MANY_CHARACTERS
    if is_long:
        terms, codes, ends = split_texts([each or "" for each in held], words.text)
    else:
        terms, codes, ends = _analyze(held, analyzer(words.text))
    grown = words.grown(terms, name) if grow else words
    assert isinstance(grown, Words)
    final = np.fromiter((grown.index.get(term, -1) for term in terms), np.int64, len(terms))
    if is_long:
        counts = count_columns(codes, ends, final, grown.size)
    else:
        codes = final[codes]
        is_known = codes >= 0
        codes, ends = codes[is_known], np.append(0, np.cumsum(is_known))[ends]
        ones = np.ones(len(codes), np.int64)
        counts = sp.csr_array((ones, codes, ends), shape=(len(texts), grown.size))
        counts.sum_duplicates()
    if words.text.binary:
        counts.data[:] = 1
    return grown, counts


def _analyze(texts: list[str | None], analyze: Callable[[str], list[str]]) -> tuple[list[str], Array, Array]:
    """Return the different terms, the code of each term of the texts, and the number of terms up to each text's end."""
    index: dict[str, int] = {}
    places, ends = array("q"), np.zeros(len(texts) + 1, np.int64)
    for row, text in enumerate(texts):
        if text is not None:
            places.extend([index.setdefault(term, len(index)) for term in analyze(text)])
        ends[row + 1] = len(places)
    return list(index), np.frombuffer(places, np.int64) if len(places) else np.zeros(0, np.int64), ends


@lru_cache(maxsize=64)
def analyzer(text: Text) -> Callable[[str], list[str]]:
    """Return the function that splits a text into words, which is that of scikit-learn's CountVectorizer."""
    vectorizer = _vectorizer(text)
    vectorizer._validate_ngram_range()
    return vectorizer.build_analyzer()  # type: ignore[no-any-return]


def stop_words_of(text: Text) -> frozenset[str]:
    """Return the words that are not counted.

    >>> sorted(stop_words_of(Text(stop_words="english")))[:2], stop_words_of(Text())
    (['a', 'about'], frozenset())
    """
    return frozenset(_vectorizer(text).get_stop_words() or ())


def _vectorizer(text: Text) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(
        analyzer=text.analyzer,
        ngram_range=text.ngram_range,
        lowercase=text.lowercase,
        stop_words=list(text.stop_words) if isinstance(text.stop_words, tuple) else text.stop_words,
        token_pattern=text.token_pattern,
        tokenizer=text.tokenizer,
        preprocessor=text.preprocessor,
        strip_accents=text.strip_accents,
    )
