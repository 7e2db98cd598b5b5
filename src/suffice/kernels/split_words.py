"""Words of texts, and pairs of adjacent words, as codes, and how often each text has each of them."""

# mypy: allow-untyped-defs, allow-untyped-calls

from suffice.kernels.compiler import Exact

# The largest key of a word, and an odd factor that spreads keys over the hash table; their products wrap around.
MOST, SPREAD = (1 << 63) - 1, 0x1E3779B97F4A7C15


@Exact
def split(chars, folded, bits, ends, table, starts, lengths, keys, codes, counts):
    """Write a code for each word of the texts to ``codes``; return how many different words there are.

    Return −1 if the table is too small: more than half full.

    A word is a longest run of two or more word characters. ``chars`` are the characters of all texts, ``ends`` the
    place after the last one of each text. ``folded`` is 0 for characters that are not part of words, and for the others
    a number of so many ``bits``, which is the same for characters that are not told apart. ``table`` is a hash table
    that is filled with −1, and its size a power of two. Where the different words start, their lengths and their keys
    are written to ``starts``, ``lengths`` and ``keys``, and the number of words of each text to ``counts``.

    The key of a short word holds its characters, so that words with the same key are equal. A word with more characters
    than a key can hold has a hash as its key, which is negative, and is compared with the word that has the same key.
    """
    known = 0
    token = 0
    place = 0
    last_slot = table.shape[0] - 1
    held = 63 // bits
    for text in range(ends.shape[0]):
        before = token
        stop = ends[text]
        while place < stop:
            start = place
            key = 0
            short = min(start + held, stop)
            while place < short and folded[chars[place]] != 0:
                key = key << bits | folded[chars[place]]
                place += 1
            if place == start + held:
                while place < stop and folded[chars[place]] != 0:
                    key = (key * 1000003 ^ folded[chars[place]]) & MOST
                    place += 1
                if place > start + held:
                    key = -1 - key
            length = place - start
            if length == 0:
                place += 1
            if length < 2:
                continue
            spread = (key * SPREAD) & MOST
            slot = (spread ^ spread >> 29) & last_slot
            code = -1
            while code < 0:
                other = table[slot]
                if other < 0:
                    table[slot] = known
                    starts[known] = start
                    lengths[known] = length
                    keys[known] = key
                    code = known
                    known += 1
                    if 2 * known > last_slot:
                        return -1
                elif keys[other] == key:
                    same = length if key >= 0 else 0
                    if lengths[other] == length:
                        while same < length and folded[chars[starts[other] + same]] == folded[chars[start + same]]:
                            same += 1
                    if same == length:
                        code = other
                slot = (slot + 1) & last_slot
            codes[token] = code
            token += 1
        counts[text] = token - before
    return known


@Exact
def count_columns(codes, ends, columns, last, found, counts, stops):
    """Write the different columns of each text to ``found``, in the order of their first terms, and their counts.

    ``codes`` are the terms of all texts, ``ends`` the place after the last one of each text, and ``columns`` the column
    of each code, −1 if it is not counted. ``last`` has a place for each column and is filled with −1. The place after
    the last column of each text is written to ``stops``.
    """
    entry = 0
    token = 0
    for text in range(ends.shape[0]):
        first = entry
        while token < ends[text]:
            column = columns[codes[token]]
            token += 1
            if column < 0:
                continue
            if last[column] < first:
                last[column] = entry
                found[entry] = column
                counts[entry] = 1
                entry += 1
            else:
                counts[last[column]] += 1
        stops[text] = entry


@Exact
def pair(first, second, table, left, right, codes):
    """Write a code for each pair of adjacent codes to ``codes``; return how many different pairs there are.

    The parts of the different pairs are written to ``left`` and ``right``. ``table`` is as in `split`.
    """
    known = 0
    last_slot = table.shape[0] - 1
    for place in range(first.shape[0]):
        key = ((first[place] * 1000003 ^ second[place]) * 69069) & 0x7FFFFFFFFFFF
        slot = (key ^ key >> 20) & last_slot
        code = -1
        while code < 0:
            other = table[slot]
            if other < 0:
                table[slot] = known
                left[known] = first[place]
                right[known] = second[place]
                code = known
                known += 1
            elif left[other] == first[place] and right[other] == second[place]:
                code = other
            slot = (slot + 1) & last_slot
        codes[place] = code
    return known
