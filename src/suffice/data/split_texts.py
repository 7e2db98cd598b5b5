r"""Split many texts into words at once, by compiled loops: the same words as those of the regular expression.

The default pattern of a word, ``(?u)\b\w\w+\b``, matches the longest runs of two or more word characters, which are
the characters for which ``str.isalnum`` is true, and the underscore.
"""

from itertools import accumulate, pairwise

import numpy as np
import scipy.sparse as sp

from suffice.kernels import split_words as kernels
from suffice.parallel import get_threads, map_threads
from suffice.schema import Array, Text

PATTERN = r"(?u)\b\w\w+\b"

# Texts are split in parts of at most about so many characters, as many for each thread. The different words of all
# parts are merged, so that larger parts take less time.
PART = 1 << 24

# A key of a word holds its characters in so many bits each: nine of ASCII, or three of any.
BITS = {True: 7, False: 21}

# A hash table has this size at first, which stays in the cache, and is MORE times as large if there are more words.
FIRST_TABLE, MORE = 1 << 17, 16


def is_splittable(text: Text) -> bool:
    """Return whether texts with these settings can be split here: words of the default pattern, of any number."""
    plain = (text.stop_words, text.tokenizer, text.preprocessor, text.strip_accents)
    lowest, highest = text.ngram_range
    return text.analyzer == "word" and text.token_pattern == PATTERN and plain == (None,) * 4 and 1 <= lowest <= highest


def split_texts(texts: list[str], text: Text) -> tuple[list[str], Array, Array]:
    """Return the different terms, the code of each term of the texts, and the number of terms up to each text's end.

    >>> terms, codes, ends = split_texts(["Rain, rain!", "go away"], Text(ngram_range=(1, 2)))
    >>> terms, codes.tolist(), ends.tolist()
    (['rain', 'go', 'away', 'rain rain', 'go away'], [0, 0, 3, 1, 2, 4], [0, 3, 6])
    """
    ends = np.fromiter(accumulate(map(len, texts)), np.int64, len(texts))
    parts = [texts[rows] for rows in _parts_of(ends, -(-int(ends[-1]) // PART) if len(ends) else 1)]
    split = map_threads(lambda part: _split(part, text.lowercase), parts)
    words: dict[str, int] = {}
    tokens = np.concatenate([_code_words(own, words)[codes] for own, codes, _ in split], dtype=np.int32)
    counts = np.concatenate([each for _, _, each in split])
    return _join_terms(list(words), tokens, counts, text.ngram_range)


def _code_words(words: list[str], index: dict[str, int]) -> Array:
    """Return the codes of words; new ones are added to the index."""
    return np.fromiter((index.setdefault(word, len(index)) for word in words), np.int32, len(words))


def _split(texts: list[str], lowercase: bool) -> tuple[list[str], Array, Array]:
    """Return the different words of some texts, the code of each word, and the number of words of each text."""
    joined = "".join(texts)
    is_ascii = joined.isascii()
    if not is_ascii and lowercase:  # each by itself, because a character may become two
        texts = [each.lower() for each in texts]
        joined = "".join(texts)
    ends = np.fromiter(accumulate(map(len, texts)), np.int64, len(texts))
    if is_ascii:
        chars, there = np.frombuffer(joined.encode("ascii"), np.uint8), np.arange(128)
    else:
        chars = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        is_there = np.zeros(int(chars.max()) + 1, bool)
        is_there[chars] = True
        there = np.flatnonzero(is_there)
    folded = np.zeros(int(there[-1]) + 1, chars.dtype)
    lower = str.lower if is_ascii and lowercase else str
    for char in map(chr, there.tolist()):
        folded[ord(char)] = ord(lower(char)) if char == "_" or char.isalnum() else 0
    codes, counts = np.empty(len(chars) // 2 + 1, np.int32), np.zeros(len(texts), np.int64)
    known, size = -1, FIRST_TABLE
    while known < 0:
        table = np.full(size, -1, np.int32)
        starts, lengths, keys = (np.empty(size // 2 + 1, np.int64) for _ in range(3))
        arrays = (ends, table, starts, lengths, keys, codes, counts)
        known = kernels.split(chars, folded, BITS[is_ascii], *arrays, work=len(chars))
        size *= MORE
    spans = zip(starts[:known].tolist(), lengths[:known].tolist(), strict=True)
    return [lower(joined[start : start + length]) for start, length in spans], codes[: int(counts.sum())], counts


def count_columns(codes: Array, ends: Array, columns: Array, size: int) -> sp.csr_array:
    """Return how often each text has each column, [text, column].

    Parameters
    ----------
    codes, ends : arrays
        As `split_texts` returns them.
    columns : array
        The column of each code; −1 if it is not counted.
    size : int
        The number of columns.

    >>> count_columns(np.array([0, 1, 0]), np.array([0, 2, 3]), np.array([1, -1]), 2).toarray().tolist()
    [[0, 1], [0, 1]]
    """

    def count(rows: slice) -> tuple[Array, Array, Array]:
        own, stops = codes[ends[rows.start] : ends[rows.stop]], np.zeros(rows.stop - rows.start, np.int64)
        found, counts, last = np.empty(len(own), np.int32), np.empty(len(own), np.int64), np.full(size, -1)
        own_ends = ends[rows.start + 1 : rows.stop + 1] - ends[rows.start]
        kernels.count_columns(own, own_ends, columns, last, found, counts, stops, work=2 * len(own))
        held = int(stops[-1]) if len(stops) else 0
        return found[:held], counts[:held], np.diff(stops, prepend=0)

    counted = map_threads(count, _parts_of(ends[1:]))
    found, counts, sizes = map(np.concatenate, zip(*counted, strict=True))
    stops = np.append(0, np.cumsum(sizes))
    return sp.csr_array((counts, found, stops), shape=(len(sizes), size))


def _parts_of(ends: Array, least: int = 1) -> list[slice]:
    """Return parts of the texts of about the same size: at least so many, and the same number for each thread."""
    count = -(-least // get_threads()) * get_threads()
    cuts = np.searchsorted(ends, np.arange(1, count) * (ends[-1] if len(ends) else 0) / count)
    starts = np.unique([0, *cuts, len(ends)]).tolist()
    return [slice(*pair) for pair in pairwise(starts)] or [slice(0, 0)]


def _join_terms(
    words: list[str], tokens: Array, counts: Array, ngram_range: tuple[int, int]
) -> tuple[list[str], Array, Array]:
    """Return the terms of one or several adjacent words, with codes and ends as in `split_texts`."""
    lowest, highest = ngram_range
    if highest == 1:
        return words, tokens, np.append(0, np.cumsum(counts))
    terms, found = list[str](), list[tuple[Array, Array]]()  # codes of each number of words, and their counts by text
    row = np.repeat(np.arange(len(counts)), counts)
    labels, codes, starts = words, tokens, np.arange(len(tokens))
    for count in range(1, highest + 1):
        if count > 1:  # a term that starts at each word with another one after the term that started there before
            last = starts + count - 1
            is_kept = last < len(row)
            is_kept[is_kept] = row[last[is_kept]] == row[starts[is_kept]]
            starts = starts[is_kept]
            left, right, codes = _pair(codes[is_kept], tokens[starts + count - 1])
            labels = [f"{labels[a]} {words[b]}" for a, b in zip(left.tolist(), right.tolist(), strict=True)]
        if count >= lowest:
            found.append((codes + len(terms), np.bincount(row[starts], minlength=len(counts))))
            terms += labels
    ends = np.concatenate([[0], np.cumsum(sum(counts for _, counts in found))])
    joined, first = np.empty(ends[-1], np.int64), ends[:-1]
    for codes, counts in found:
        joined[np.arange(len(codes)) + np.repeat(first - np.cumsum(counts) + counts, counts)] = codes
        first = first + counts
    return terms, joined, ends


def _pair(first: Array, second: Array) -> tuple[Array, Array, Array]:
    """Return the parts of the different pairs, and the code of each pair."""
    left, right, codes = (np.zeros(len(first), np.int64) for _ in range(3))
    first, second = np.ascontiguousarray(first, np.int64), np.ascontiguousarray(second, np.int64)
    table = np.full(1 << (2 * len(first)).bit_length(), -1, np.int32)
    known = kernels.pair(first, second, table, left, right, codes, work=4 * len(first))
    return left[:known], right[:known], codes
