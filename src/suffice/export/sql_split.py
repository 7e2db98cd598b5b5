"""Texts split into words in SQL: by regular expressions, or by recursion in SQLite, which has none.

All characters of words are named, so that the result depends neither on the locale nor on the version of a database.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from suffice.export.dialects import ExportError
from suffice.export.sql_cells import IN_PYTHON
from suffice.export.sql_expressions import Expression
from suffice.export.sql_parameters import text_literal
from suffice.export.sql_table_query import TableQuery
from suffice.export.text_splitting import (
    FINAL_SIGMA,
    MIDDLE_SIGMA,
    SIGMA,
    Splitting,
    sigma_contexts,
    word_ranges,
    write_ranges,
)

# The characters that one byte can have, without the first, which no text has.
ASCII = [chr(code) for code in range(1, 128)]


@dataclass(frozen=True)
class SplitSql:
    """How a database splits texts.

    Attributes
    ----------
    words : str
        The SELECT of the words of each row with their places. ``text`` is the text in lower case, ``pattern`` the
        regular expression of a word, and ``others`` that of what is between words.
    translate : str
        The function that replaces characters by others; empty if they are replaced one by one.
    replace : str
        The function that replaces all matches of a regular expression.
    group : str
        What stands before the number of a group of a match.
    flags : tuple of str
        Further arguments of ``replace``.
    """

    words: str
    translate: str = "TRANSLATE"
    replace: str = "REGEXP_REPLACE"
    group: str = "\\"
    flags: tuple[str, ...] = ()


SPLITS = {
    "duckdb": SplitSql(
        "SELECT r.{id}, UNNEST(r.{word}) AS {word}, GENERATE_SUBSCRIPTS(r.{word}, 1) AS {place} "
        "FROM (SELECT r.{id}, REGEXP_EXTRACT_ALL({text}, {pattern}) AS {word} FROM {cells} AS r) AS r",
        flags=("g",),
    ),
    "postgres": SplitSql(
        'SELECT r.{id}, m.{word}[1] COLLATE "default" AS {word}, m.{place} FROM {cells} AS r '
        "CROSS JOIN LATERAL REGEXP_MATCHES({text} COLLATE \"C\", {pattern}, 'g') WITH ORDINALITY AS m({word}, {place})",
        flags=("g",),
    ),
    "spark": SplitSql(
        "SELECT r.{id}, m.{word}, m.{place} FROM {cells} AS r "
        "LATERAL VIEW POSEXPLODE(REGEXP_EXTRACT_ALL({text}, {pattern}, 0)) m AS {place}, {word}",
        group="$",
    ),
    "mysql": SplitSql(
        "SELECT r.{id}, CAST(m.{word} AS BINARY) AS {word}, m.{place} FROM {cells} AS r CROSS JOIN JSON_TABLE("
        """CONCAT('["', REGEXP_REPLACE({text}, {others}, '","'), '"]'), '$[*]' """
        "COLUMNS ({place} FOR ORDINALITY, {word} TEXT PATH '$')) AS m WHERE CHAR_LENGTH(m.{word}) >= {least}",
        translate="",
    ),
    "bigquery": SplitSql(
        "SELECT r.{id}, {word}, {place} FROM {cells} AS r "
        "CROSS JOIN UNNEST(REGEXP_EXTRACT_ALL({text}, {pattern})) AS {word} WITH OFFSET AS {place}"
    ),
    "snowflake": SplitSql(
        "SELECT r.{id}, CAST(m.VALUE AS TEXT) AS {word}, m.INDEX AS {place} FROM {cells} AS r "
        "CROSS JOIN LATERAL FLATTEN(INPUT => REGEXP_SUBSTR_ALL({text}, {pattern})) AS m"
    ),
    "clickhouse": SplitSql(
        "SELECT r.{id}, {word}, {place} FROM {cells} AS r "
        "ARRAY JOIN extractAll({text}, {pattern}) AS {word}, arrayEnumerate(extractAll({text}, {pattern})) AS {place}",
        translate="translateUTF8",
        replace="replaceRegexpAll",
    ),
}


def add_words(query: TableQuery, name: str, splitting: Splitting, title: str) -> str:
    """Add the words of a column, in lower case, as a table with columns word and place; return its name."""
    query.text_columns.add(name)
    cell = query.cell(name)
    if query.dialect.name == "sqlite":
        return _add_words_by_recursion(query, cell.cast("text"), splitting)
    if query.dialect.name not in SPLITS:
        raise ExportError(
            f"{title} is text, and {query.dialect.title} has no regular expressions to split it into words; use "
            f"another database, {IN_PYTHON}"
        )
    split = SPLITS[query.dialect.name]
    text = _as_text(cell) if query.dialect.name == "mysql" else cell.cast("text")
    if splitting.has_sigma:
        text = _replace_final_sigma(query, text, split)
    text = query.add(0, "text", _lower(query, text, splitting, split.translate))
    inside = write_ranges(word_ranges())
    return _add_words(
        query,
        split.words,
        text=f"r.{_sql(query, text.node)}",
        pattern=_literal(query, f"[{inside}]{{{splitting.least},}}"),
        others=_literal(query, f"[^{inside}]+"),
        least=splitting.least,
    )


def _add_words(query: TableQuery, template: str, **parts: object) -> str:
    names = {name: _quoted(query, name) for name in ("word", "place")}
    row, cells = _quoted(query, query.prefix + "id"), _quoted(query, query.cells.strip('"'))
    return query.add_written("words", template.format(id=row, cells=cells, **names, **parts))


def _lower(query: TableQuery, text: Expression, splitting: Splitting, translate: str) -> Expression:
    """Return a text with the lower case of the letters that the vocabulary contains."""
    pairs = splitting.lower_case | ({SIGMA: MIDDLE_SIGMA} if splitting.has_sigma else {})
    several = {upper: lower for upper, lower in pairs.items() if len(lower) > 1 or not translate}
    text = reduce(lambda found, upper: _call(query, "REPLACE", found, upper, several[upper]), several, text)
    single = {upper: lower for upper, lower in pairs.items() if upper not in several}
    return _call(query, translate, text, "".join(single), "".join(single.values())) if single else text


def _replace_final_sigma(query: TableQuery, text: Expression, split: SplitSql) -> Expression:
    """Return a text in which a capital sigma at the end of a word, but not alone, is a small one."""
    cased, skipped = map(write_ranges, sigma_contexts())
    pattern = f"([{cased}][{skipped}]*){SIGMA}([{skipped}]*([^{cased}{skipped}]|$))"
    by = f"{split.group}1{FINAL_SIGMA}{split.group}2"
    return _call(query, split.replace, text, pattern, by, *split.flags)


def _as_text(cell: Expression) -> Expression:
    """Return the bytes of a text in MySQL as a text whose comparisons do not ignore case."""
    converted = f"CONVERT({cell.node.sql(dialect='mysql', identify=True)} USING utf8mb4) COLLATE utf8mb4_bin"
    return Expression(exp.Var(this=converted))


# A step of the recursion reads the known characters at the beginning of the rest as a part of a word (what is after
# them was found by the step before), and looks up the next character: it is a further letter of the word, or ends it.
RECURSION = """WITH RECURSIVE {sigma}d AS (
  SELECT r.{id}, 0 AS {place}, NULL AS {word}, '' AS run, {text} || ' ' AS rest, LTRIM({text} || ' ', {known}) AS after
  FROM {source}
  UNION ALL
  SELECT d.{id}, d.{place} + 1,
    CASE WHEN {letter} IS NULL THEN d.run || {head} END,
    CASE WHEN {letter} IS NULL THEN '' ELSE d.run || {head} || {letter} END,
    {rest},
    LTRIM({rest}, {known})
  FROM d WHERE d.rest <> ''
)
SELECT d.{id}, d.{word}, d.{place} FROM d WHERE LENGTH(d.{word}) >= {least}"""

# Replaces the capital sigmas of a text, from the first to the last.
SIGMA_RECURSION = """s AS (
  SELECT r.{id}, '' AS done, {text} AS rest FROM {cells} AS r WHERE {text} <> ''
  UNION ALL
  SELECT s.{id},
    {before} || CASE WHEN {is_cased_before} AND NOT {is_cased_after} THEN {final} ELSE {middle} END,
    {after}
  FROM s WHERE INSTR(s.rest, {capital}) > 0
), """


def _add_words_by_recursion(query: TableQuery, text: Expression, splitting: Splitting) -> str:
    """Add the words of a text in SQLite, which has no regular expressions, and whose lower case is that of ASCII."""
    several = {upper: lower for upper, lower in splitting.lower_case.items() if len(lower) > 1}
    text = reduce(lambda found, upper: _call(query, "REPLACE", found, upper, several[upper]), several, text)
    if splitting.words.text.lowercase:
        text = _call(query, "LOWER", text)
    cell = f"r.{_sql(query, query.add(0, 'text', text).node)}"
    letters = query.parameters.add(
        query.new_name("letters"),
        {"first": "integer", "last": "integer", "letter": "text"},
        _list_letters(splitting),
        ("first",),
    )
    known = {char for char in splitting.alphabet | set(ASCII) if char == "_" or char.isalnum()}
    found = (
        "CASE WHEN UNICODE(d.after) > 127 THEN (SELECT CASE WHEN l.last >= UNICODE(d.after) THEN "
        f"COALESCE(l.letter, SUBSTR(d.after, 1, 1)) END FROM {letters} AS l "
        "WHERE l.first <= UNICODE(d.after) ORDER BY l.first DESC LIMIT 1) END"
    )
    separators = _literal(query, "".join(char for char in ASCII if char not in known))
    cells = f"{query.cells} AS r WHERE {cell} <> ''"
    sigma = _sigma_recursion(query, cell) if splitting.has_sigma else ""
    return _add_words(
        query,
        RECURSION,
        sigma=sigma,
        text="r.done || r.rest" if sigma else cell,
        source=f"s AS r WHERE INSTR(r.rest, {_literal(query, SIGMA)}) = 0" if sigma else cells,
        least=splitting.least,
        known=_literal(query, "".join(sorted(known))),
        head="SUBSTR(d.rest, 1, LENGTH(d.rest) - LENGTH(d.after))",
        letter=found,
        rest=f"CASE WHEN {found} IS NULL THEN LTRIM(SUBSTR(d.after, 2), {separators}) ELSE SUBSTR(d.after, 2) END",
    )


def _sigma_recursion(query: TableQuery, cell: str) -> str:
    """Return the common table expression of the texts without capital sigmas."""
    ranges, skipped = sigma_contexts()
    cased = query.parameters.add(query.new_name("cased"), {"first": "integer", "last": "integer"}, ranges, ("first",))
    ignored = _literal(query, "".join(chr(code) for first, last in skipped for code in range(first, last + 1)))
    capital = _literal(query, SIGMA)
    before = f"s.done || SUBSTR(s.rest, 1, INSTR(s.rest, {capital}) - 1)"
    after = f"SUBSTR(s.rest, INSTR(s.rest, {capital}) + 1)"

    def is_cased(char: str) -> str:
        return f"EXISTS (SELECT 1 FROM {cased} AS l WHERE UNICODE({char}) BETWEEN l.first AND l.last)"

    return SIGMA_RECURSION.format(
        id=_quoted(query, query.prefix + "id"),
        text=cell,
        cells=query.cells,
        before=before,
        after=after,
        is_cased_before=is_cased(f"SUBSTR(RTRIM({before}, {ignored}), -1)"),
        is_cased_after=is_cased(f"LTRIM({after}, {ignored})"),
        final=_literal(query, FINAL_SIGMA),
        middle=_literal(query, MIDDLE_SIGMA),
        capital=capital,
    )


def _list_letters(splitting: Splitting) -> list[tuple[int, int, str | None]]:
    """Return ranges of the non-ASCII characters of words; each capital letter has a range, with its lower case."""
    capitals = {ord(upper): lower for upper, lower in splitting.lower_case.items() if len(lower) == 1}
    rows: list[tuple[int, int, str | None]] = []
    for first, last in word_ranges():
        own = [code for code in sorted(capitals) if first <= code <= last]
        starts, ends = [first, *(code + 1 for code in own)], [*(code - 1 for code in own), last]
        rows += [(start, end, None) for start, end in zip(starts, ends, strict=True) if start <= end]
        rows += [(code, code, capitals[code]) for code in own]
    return sorted((row for row in rows if row[1] > 127), key=lambda row: row[0])


def _call(query: TableQuery, function: str, text: Expression, *arguments: str) -> Expression:
    literals = [text_literal(each, query.dialect) for each in arguments]
    return Expression(exp.Anonymous(this=function, expressions=[text.node, *literals]))


def _literal(query: TableQuery, text: str) -> str:
    return _sql(query, text_literal(text, query.dialect))


def _quoted(query: TableQuery, name: str) -> str:
    return _sql(query, exp.to_identifier(name, quoted=True))


def _sql(query: TableQuery, node: exp.Expression) -> str:
    return node.sql(dialect=query.dialect.name, identify=True)
