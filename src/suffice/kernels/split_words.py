"""Words of texts, and pairs of adjacent words, as codes."""

# mypy: allow-untyped-defs, allow-untyped-calls

from suffice.kernels.compiler import Exact


@Exact
def split(chars, is_word, ends, table, starts, lengths, hashes, codes, counts):
    """Write a code for each word of the texts to ``codes``; return how many different words there are.

    Return −1 if the table is too small: more than half full.

    A word is a longest run of two or more word characters. ``chars`` are the characters of all texts, ``ends`` the
    place after the last one of each text. ``table`` is a hash table that is filled with −1, and its size a power of
    two. Where the different words start, their lengths and their hashes are written to ``starts``, ``lengths`` and
    ``hashes``, and the number of words of each text to ``counts``.
    """
    known = 0
    token = 0
    place = 0
    last_slot = table.shape[0] - 1
    for text in range(ends.shape[0]):
        before = token
        stop = ends[text]
        while place < stop:
            start = place
            key = 0
            while place < stop and is_word[chars[place]]:
                key = (key * 1000003 ^ chars[place]) & 0x7FFFFFFF
                place += 1
            length = place - start
            if length == 0:
                place += 1
            if length < 2:
                continue
            slot = (key ^ key >> 15) & last_slot
            code = -1
            while code < 0:
                other = table[slot]
                if other < 0:
                    table[slot] = known
                    starts[known] = start
                    lengths[known] = length
                    hashes[known] = key
                    code = known
                    known += 1
                    if 2 * known > last_slot:
                        return -1
                elif hashes[other] == key and lengths[other] == length:
                    same = 0
                    while same < length and chars[starts[other] + same] == chars[start + same]:
                        same += 1
                    if same == length:
                        code = other
                slot = (slot + 1) & last_slot
            codes[token] = code
            token += 1
        counts[text] = token - before
    return known


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
