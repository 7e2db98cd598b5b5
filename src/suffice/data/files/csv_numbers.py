"""Numbers as people write them in CSV files: with currency signs, percent signs, separators of thousands and commas."""

import re

# In a column of numbers, these texts stand for a missing cell, too; capitals do not matter. In other columns they are
# levels.
MISSING_AMONG_NUMBERS = (
    *("-", "--", "---", "–", "—", ".", "..", "...", "*", "none", "n.a.", "n.d.", "n.k.", "k.a.", "k. a.", "nil"),
    *("n/d", "nd", "na", "n/a", "nan", "null", "unknown", "missing", "not available", "#value!", "#div/0!", "#ref!"),
)
# A column is read as numbers if at least this share of its cells, and at least this many cells, are numbers.
NEARLY_ALL, FEWEST_NUMBERS = 0.95, 19

SIGNS, BLANKS = "$€£¥", " \u00a0\u202f"
_BEFORE = rf"\s*\(?\s*[+−-]?\s*[{SIGNS}]?\s*[+−-]?"
_AFTER = rf"([eE][+-]?\d+)?\s*[%{SIGNS}]?\s*\)?\s*"
DECIMAL_POINT = rf"{_BEFORE}(\d+|\d{{1,3}}([,{BLANKS}]\d{{3}})+)?(\.\d*)?{_AFTER}"
DECIMAL_COMMA = rf"{_BEFORE}(\d+|\d{{1,3}}([.{BLANKS}]\d{{3}})+)?(,\d*)?{_AFTER}"


def is_number(cell: str) -> bool:
    """Return whether Python reads a cell as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def looks_like_number(cell: str) -> bool:
    """Return whether a cell is a number as people write it.

    >>> [looks_like_number(cell) for cell in ("1,234.50", "12 %", "-$5", "(3)", "1-2", "%", "n.d.")]
    [True, True, True, True, False, False, False]
    """
    return is_number(cell) or (
        any(map(str.isdigit, cell)) and any(re.fullmatch(each, cell) for each in (DECIMAL_POINT, DECIMAL_COMMA))
    )


def number_test(pattern: str) -> str:
    """Return the SQL that tests whether a text is a number of this pattern; ``{0}`` stands for the text.

    The first character is tested first, because a pattern is slow: it is a sign, a digit, a blank or a bracket.
    """
    signs = ", ".join(str(ord(sign)) for sign in f"{SIGNS}−{BLANKS}")
    first = f"ascii({{0}}) < 58 OR ascii({{0}}) IN ({signs})"
    matches = rf"regexp_full_match({{0}}, {_quote(pattern)}) AND regexp_matches({{0}}, '\d')"
    return f"CASE WHEN {first} THEN {matches} END"


def number_value(pattern: str) -> str:
    """Return the SQL that reads a text as a number of this pattern; NULL if it is none."""
    digits = rf"regexp_replace(replace({{0}}, '−', '-'), '[\s{BLANKS}{SIGNS}%()]', '', 'g')"
    if pattern == DECIMAL_COMMA:
        digits = f"replace(replace({digits}, '.', ''), ',', '.')"
    else:
        digits = f"replace({digits}, ',', '')"
    sign = "CASE WHEN contains({0}, '(') THEN -1 ELSE 1 END"  # accountants write (5) for -5
    return f"CASE WHEN {number_test(pattern)} THEN TRY_CAST({digits} AS DOUBLE) * {sign} END"


def _quote(pattern: str) -> str:
    """Return a pattern as a string of SQL, for `str.format`."""
    return "'" + pattern.replace("{", "{{").replace("}", "}}") + "'"
