"""Texts in several scripts, with characters whose lower case or kind differs between Python and other programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from suffice import BayesClassifier, Text
from suffice.export.text_splitting import sigma_contexts, write_ranges

_WORDS = (
    "free prize win call naïve café école straße grüße fußball größe οδός λόγος σοφός ὀδυσσεύς σ2 привет мир ёлка "
    "istanbul ırmak i̇zmir şeker 東京 日本語 中文 한국어 x² ½kg 1st snake_case __init__ a1 ǆep ﬁn ǳ ⅷ ª1 ʰa १२ ไทย"
)
WORDS = _WORDS.split()
# İ becomes two characters, K (the Kelvin sign) becomes k, Σ becomes σ or ς, and ẞ becomes ß.
CAPITALS = {"i̇": "İ", "k": "K", "å": "Å", "ω": "Ω", "ß": "ẞ", "θ": "ϴ", "ǆ": "ǅ"}
_PLAIN_SEPARATORS = [" ", " ", " ", ", ", ".", "'", "’", ":", "-", "\n", "\t"]
SEPARATORS = [*_PLAIN_SEPARATORS, " 😀 ", "👩‍👩‍👧", "\u00a0", "\u0307", "\u00ad", "·", "£", "_"]

# A capital sigma and a letter, with characters between them that Python looks past.
_CASED, _SKIPPED = map(write_ranges, sigma_contexts())
UNCLEAR_SIGMA = f"Σ[{_SKIPPED}]+[{_CASED}]|[{_CASED}][{_SKIPPED}]+Σ"


def odd_texts(rng: np.random.Generator, y: Any, new: bool = False) -> list[str | None]:
    """Return texts whose words depend on classes; with ``new``, also with other characters, and without words."""
    texts = [_text(rng, k, new) for k in y]
    if new:
        texts[:8] = [None, "", " ", "😀", "a", "Σ", "ΣΣ", "ΟΔΌΣ"]
        texts[8:12] = ["ΟΔΌΣ.ΟΔΌΣ", "οδόΣ'α", "A\u0301Σ", "Σ'ΟΔΌΣ"]
        texts[12:16] = ["İSTANBUL", "İzmir iİzmir", "CAFÉ\u0301", "FREE_PRIZE Free"]
    return texts


def _text(rng: np.random.Generator, k: int, new: bool) -> str | None:
    if new and rng.random() < 0.05:
        return None
    chosen = (rng.integers(0, len(WORDS) // 2, rng.integers(1, 12)) + 9 * k) % len(WORDS)
    parts = []
    for place in chosen:
        word = WORDS[place]
        case = rng.integers(0, 5)
        word = word.upper() if case == 0 else word.capitalize() if case == 1 else word.swapcase() if case == 2 else word
        if case == 3:
            for small, capital in CAPITALS.items():
                word = word.replace(small, capital)
        parts += [word, SEPARATORS[rng.integers(0, len(SEPARATORS))]]
        if new and rng.random() < 0.2:
            parts.append(_any_character(rng))
    return "".join(parts)


def _any_character(rng: np.random.Generator) -> str:
    """Return any character of Unicode, mostly of its first pages; no half of a surrogate pair, and no NUL."""
    code = int(rng.integers(1, (0x100, 0x600, 0x3100, 0x20000)[rng.integers(0, 4)]))
    return chr(code) if not 0xD800 <= code < 0xE000 else "x"


def text_table(rows: int, seed: int, new: bool = False) -> tuple[pd.DataFrame, Any]:
    """Return a table with a column of texts, one of numbers and one of levels, and labels of three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    table = pd.DataFrame(
        {
            "message": pd.Series(odd_texts(rng, y, new), dtype=object),
            "size": pd.Series(rng.normal(y, 1.0).round(2), dtype=object),
            "from": pd.Series(np.array(["a", "b", "c"])[(y + (rng.random(rows) < 0.5)) % 3], dtype=object),
        }
    )
    return table, y


def text_model(text: Text | str = "text", **settings: Any) -> BayesClassifier:
    """Return a model of the columns of `text_table`."""
    return BayesClassifier(families={"message": text}, **settings)


# Models of `text_table`, with every setting that databases and ONNX have.
TEXT_MODELS: dict[str, Any] = {
    "default": text_model(),
    "naive": text_model(structure="naive"),
    "counts": text_model(Text(ngram_range=(1, 3), binary=False), structure="naive", estimate="predictive"),
    "pairs only": text_model(Text(ngram_range=(2, 2))),
    "complement": text_model(Text(complement=True), structure="naive"),
    "never seen": text_model(Text(binary=False), structure="naive", estimate="mle"),
    "stop words": text_model(Text(stop_words=("free", "ὀδυσσεύς", "the"), binary=False), calibrate="isotonic"),
    "as they are": text_model(Text(lowercase=False, token_pattern=r"(?u)\b\w+\b"), calibrate="temperature"),
}
# Settings that only Python can follow.
UNSUPPORTED_SETTINGS: dict[str, dict[str, Any]] = {
    "tokenizer": {"tokenizer": str.split, "token_pattern": None},
    "preprocessor": {"preprocessor": str.lower},
    "analyzer": {"analyzer": "char"},
    "strip_accents": {"strip_accents": "unicode"},
    "token_pattern": {"token_pattern": r"[a-z]+"},
}
