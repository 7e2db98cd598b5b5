"""How Python splits texts into words, as data for databases and graphs: characters of words, and their lower case."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

from suffice.data.texts import stop_words_of
from suffice.export.dialects import ExportError
from suffice.schema import Text, Words

Ranges = tuple[tuple[int, int], ...]

# A word of at least so many characters as the pattern has \w.
PATTERN = re.compile(r"(?:\(\?u\))?\\b((?:\\w)+)\+\\b")

# The only character whose lower case depends on the characters around it.
SIGMA, MIDDLE_SIGMA, FINAL_SIGMA = "Σ", "σ", "ς"


@dataclass(frozen=True)
class Splitting:
    """How texts become terms of a vocabulary.

    Only letters that the vocabulary contains need a lower case: a word with another letter is not in the vocabulary,
    whatever the case of that letter is.

    Parameters
    ----------
    words : Words
        The vocabulary with its settings.
    """

    words: Words

    @classmethod
    def of(cls, words: Words, title: str, language: str, remedy: str) -> Splitting:
        """Return the splitting of a column; raise ExportError if ``language`` cannot express one of its settings."""
        setting = _find_unsupported(words.text)
        if setting is not None:
            raise ExportError(
                f"{title} is text with {setting}={getattr(words.text, setting)!r}, which {language} cannot express; "
                rf"use words of letters and digits, as by Text() or Text(token_pattern=r'(?u)\b\w+\b'), {remedy}"
            )
        return cls(words)

    @property
    def least(self) -> int:
        """The least number of characters of a word."""
        found = PATTERN.fullmatch(self.words.text.token_pattern or "")
        assert found is not None
        return len(found[1]) // 2

    @cached_property
    def stop_words(self) -> tuple[str, ...]:
        """The words that are not counted."""
        return tuple(sorted(stop_words_of(self.words.text)))

    @cached_property
    def alphabet(self) -> frozenset[str]:
        """The characters of the vocabulary and of the stop words."""
        return frozenset().union(*self.words.labels, *self.stop_words) - {" "}

    @cached_property
    def lower_case(self) -> dict[str, str]:
        """The capital letters that are replaced, with what they become, without the capital sigma."""
        if not self.words.text.lowercase:
            return {}
        kept = self.alphabet
        return {upper: lower for upper, lower in _lower_case().items() if lower in kept or len(lower) > 1}

    @property
    def has_sigma(self) -> bool:
        """Whether a capital sigma is replaced, by a final sigma at the end of a word."""
        return self.words.text.lowercase and not self.alphabet.isdisjoint({MIDDLE_SIGMA, FINAL_SIGMA})


def _find_unsupported(text: Text) -> str | None:
    """Return the name of a setting that only Python can follow."""
    lowest, highest = text.ngram_range
    supported = {
        "analyzer": text.analyzer == "word",
        "tokenizer": text.tokenizer is None,
        "preprocessor": text.preprocessor is None,
        "strip_accents": text.strip_accents is None,
        "token_pattern": PATTERN.fullmatch(text.token_pattern or "") is not None,
        "ngram_range": 1 <= lowest <= highest,
    }
    return next((name for name, is_supported in supported.items() if not is_supported), None)


@cache
def word_ranges() -> Ranges:
    r"""Return the ranges of code points of the characters that ``\w`` matches.

    >>> word_ranges()[:4] == ((48, 57), (65, 90), (95, 95), (97, 122))
    True
    """
    return to_ranges(code for code in range(sys.maxunicode + 1) if chr(code).isalnum() or code == ord("_"))


@cache
def sigma_contexts() -> tuple[Ranges, Ranges]:
    """Return the letters next to which a capital sigma is part of a word, and the characters that it looks past.

    A capital sigma becomes a final one if such a letter is before it, and none after it.
    """
    codes = range(sys.maxunicode + 1)
    cased = {code for code in codes if (chr(code) + SIGMA).lower().endswith(FINAL_SIGMA)}
    skipped = (code for code in codes if f"A{chr(code)}{SIGMA}".lower().endswith(FINAL_SIGMA) and code not in cased)
    return to_ranges(sorted(cased)), to_ranges(skipped)


def to_ranges(codes: Iterable[int]) -> Ranges:
    """Return ascending code points as ranges.

    >>> to_ranges([1, 2, 3, 7])
    ((1, 3), (7, 7))
    """
    ranges: list[tuple[int, int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = ranges[-1][0], code
        else:
            ranges.append((code, code))
    return tuple(ranges)


def write_ranges(ranges: Ranges) -> str:
    r"""Return the inside of a character class of a regular expression; ASCII punctuation is escaped.

    >>> write_ranges(((39, 39), (94, 94), (97, 122)))
    "'\\^a-z"
    """
    return "".join(_escape(first) if first == last else f"{_escape(first)}-{_escape(last)}" for first, last in ranges)


def _escape(code: int) -> str:
    return f"\\{chr(code)}" if chr(code) in r"\^[]-" else chr(code)


@cache
def _lower_case() -> dict[str, str]:
    """Return all characters that have another lower case, without the capital sigma."""
    found = {char: char.lower() for char in map(chr, range(sys.maxunicode + 1)) if char.lower() != char}
    del found[SIGMA]
    return found
