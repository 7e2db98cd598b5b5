"""Texts as counts of words, with a vocabulary that grows."""

from array import array
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from suffice.data.labels import is_missing
from suffice.schema import Text, Words


def count_words(texts: list[Any], words: Words, grow: bool, name: str) -> tuple[Words, Any]:
    """Return the vocabulary, with new words if ``grow``, and the counts [text, word] as a sparse matrix.

    Words outside the vocabulary are not counted; a missing text has no words.

    >>> words, counts = count_words(["a bit of a bit", None], Words(()), True, "column 'message'")
    >>> words.labels, counts.toarray().tolist()
    (('bit', 'bit of', 'of', 'of bit'), [[1, 1, 1, 1], [0, 0, 0, 0]])
    """
    analyze = analyzer(words.text)
    index = dict(words.index)
    places, ends = array("q"), np.zeros(len(texts) + 1, np.int64)
    for row, text in enumerate(texts):
        if not is_missing(text):
            if not isinstance(text, str):
                raise ValueError(f"{name} is text, but holds {text!r} in row {row}, which is not a string")
            if grow:
                places.extend([index.setdefault(word, len(index)) for word in analyze(text)])
            else:
                places.extend([index[word] for word in analyze(text) if word in index])
        ends[row + 1] = len(places)
    grown = words.grown(list(index)[words.size :], name)
    assert isinstance(grown, Words)
    codes = np.frombuffer(places, np.int64) if len(places) else np.zeros(0, np.int64)
    if grown.size > words.size:
        final = np.fromiter((grown.index[word] for word in index), np.int64, len(index))
        codes = final[codes]
    ones = np.ones(len(codes), np.int64)
    counts = sp.csr_array((ones, codes, ends), shape=(len(texts), grown.size))
    counts.sum_duplicates()
    if words.text.binary:
        counts.data[:] = 1
    return grown, counts


@lru_cache(maxsize=64)
def analyzer(text: Text) -> Callable[[str], list[str]]:
    """Return the function that splits a text into words, which is that of scikit-learn's CountVectorizer."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(
        analyzer=text.analyzer,
        ngram_range=text.ngram_range,
        lowercase=text.lowercase,
        stop_words=list(text.stop_words) if isinstance(text.stop_words, tuple) else text.stop_words,
        token_pattern=text.token_pattern,
        tokenizer=text.tokenizer,
        preprocessor=text.preprocessor,
        strip_accents=text.strip_accents,
    )
    vectorizer._validate_ngram_range()
    return vectorizer.build_analyzer()  # type: ignore[no-any-return]
