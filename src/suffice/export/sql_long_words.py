"""Cells of a column of texts for the style "tables": the words of its vocabulary that each row contains, counted."""

from __future__ import annotations

from collections.abc import Iterable

from suffice.export.sql_cells import IN_PYTHON
from suffice.export.sql_long_cells import LongCells
from suffice.export.sql_split import add_words
from suffice.export.sql_table_query import TableQuery
from suffice.export.text_splitting import Splitting
from suffice.schema import Columns, Words


def read_cells(query: TableQuery, columns: Columns, first: int) -> LongCells:
    """Return the cells of a block."""
    has_words = columns.codings is not None and isinstance(columns.codings[0], Words)
    return (WordCells if has_words else LongCells)(query, columns, first)


class WordCells(LongCells):
    """The counts of words in a column of texts. A row has no cell for a word that it does not contain.

    The terms of words are 0 for a count of 0.
    """

    @property
    def words(self) -> Words:
        """The vocabulary."""
        words = (self.columns.codings or ())[0]
        assert isinstance(words, Words)
        return words

    @property
    def width(self) -> int:
        return self.words.size

    def unpivot(self, table: str, carried: Iterable[str], *, is_squared: bool = False) -> str:
        columns = "".join(f', p."{each}"' for each in carried)
        return (
            f'SELECT r.{self.query.id}, r."x"{columns} FROM {self._counts()} AS r '
            f'JOIN {table} AS p ON p."col" = r."col"'
        )

    def add_totals(self) -> str:
        row = self.query.id
        return self.query.add_common(
            "totals", f'SELECT r.{row}, SUM(r."x") AS "n" FROM {self._counts()} AS r GROUP BY r.{row}'
        )

    def _counts(self) -> str:
        """Return the name of the table of counts: row, number of the word, and count."""
        query, words, name = self.query, self.words, self.names[0]
        key = ("counts", name, words.text, words.labels)
        if key not in query.known:
            title = self.columns.name(0)
            remedy = f"fit without it (families={{{name!r}: 'ignore'}}), {IN_PYTHON}"
            splitting = Splitting.of(words, title, "SQL", remedy)
            rows = ((label, place) for place, label in enumerate(words.labels, 1))
            vocabulary = query.parameters.add(
                query.new_name("words"), {"word": "text", "col": "integer"}, rows, ("word",)
            )
            terms = _add_terms(query, add_words(query, name, splitting, title), splitting)
            count = "1e0" if words.text.binary else "CAST(COUNT(*) AS DOUBLE)"
            query.known[key] = query.add_common(
                "counts",
                f'SELECT t.{query.id}, v."col", {count} AS "x" FROM ({terms}) AS t '
                f'JOIN {vocabulary} AS v ON v."word" = t."term" GROUP BY t.{query.id}, v."col"',
            )
        return str(query.known[key])


def _add_terms(query: TableQuery, words: str, splitting: Splitting) -> str:
    """Return the query of all terms of one or several adjacent words, row by row."""
    row, (lowest, highest) = query.id, splitting.words.text.ngram_range
    kept = ""
    if splitting.stop_words:
        stop_words = query.parameters.add(
            query.new_name("stop_words"), {"word": "text"}, ([word] for word in splitting.stop_words), ("word",)
        )
        kept = f' WHERE w."word" NOT IN (SELECT s."word" FROM {stop_words} AS s)'
    following = "".join(
        f', LEAD(w."word", {count - 1}) OVER (PARTITION BY w.{row} ORDER BY w."place") AS "w{count}"'
        for count in range(2, highest + 1)
    )
    adjacent = query.add_common("adjacent", f'SELECT w.{row}, w."word" AS "w1"{following} FROM {words} AS w{kept}')
    terms = []
    for count in range(lowest, highest + 1):
        term = " || ' ' || ".join(f'a."w{place}"' for place in range(1, count + 1))
        terms.append(f'SELECT a.{row}, {term} AS "term" FROM {adjacent} AS a WHERE a."w{count}" IS NOT NULL')
    return " UNION ALL ".join(terms)
