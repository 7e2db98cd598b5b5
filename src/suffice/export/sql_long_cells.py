"""Cells of a block for the style "tables": columns or arrays of numbers and of codes, whose meaning is in tables."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sqlglot import exp

from suffice.export import sql_expressions as sql
from suffice.export.dialects import ExportError, check_text
from suffice.export.sql_cells import MAX_EXACT_INTEGER, Cells
from suffice.export.sql_expressions import Expression
from suffice.export.sql_table_query import TableQuery
from suffice.schema import Columns, Combinations, Cuts, Levels, MissingLevel, TreeInput

# The code of a missing level in the inputs of trees.
NO_LEVEL = -1


class LongCells(Cells):
    """The cells of a block, from which terms pick one by its position.

    Parameters
    ----------
    query : TableQuery
        The query that reads the table.
    columns : Columns
        The columns of the block, with their codings.
    first : int
        The place of the first column among all columns of the model; it makes the names of intermediate columns.
    """

    query: TableQuery

    def raw_code(self, j: int) -> Expression:
        """Return the code of column j before a missing cell gets one: NULL if missing, the size if unknown."""
        coding = None if self.columns.codings is None else self.columns.codings[j]
        values = coding.values if isinstance(coding, MissingLevel) else coding
        if values is None:  # integers are codes themselves, and fractions are truncated
            assert self.columns.sizes is not None
            return self._integer_code(j, int(self.columns.sizes[j]))
        if isinstance(values, Cuts):
            return self._bin_code(j, values)
        if type(values) is not Levels:
            kind = type(values).__name__
            raise ExportError(f"{self.columns.name(j)} has a {kind} coding, which SQL cannot express")
        return self.level_code(self.names[j], values.labels, self.columns.name(j))

    def code(self, j: int) -> Expression:
        """Return the code of column j; the number of known levels if it is another level, NULL if it has none."""
        raw, coding = self.raw_code(j), None if self.columns.codings is None else self.columns.codings[j]
        if isinstance(coding, MissingLevel):
            missing, size = sql.integer(coding.values.size), coding.values.size
            unknown = sql.integer(coding.size) if coding.open else Expression(exp.null())
            return sql.case_when([(raw.is_null(), missing), (raw.equals(sql.integer(size)), unknown)], raw)
        if coding is None or isinstance(coding, Cuts) or coding.open:
            return raw
        return sql.case_when([(raw < sql.integer(coding.size), raw)])

    def level_code(self, name: str, labels: tuple[Any, ...], title: str) -> Expression:
        """Return the position of a cell among labels, their number if it is not one of them, NULL if it is missing."""
        values: list[Any]
        cell, is_number = self.query.cell(name), all(isinstance(label, (int, float)) for label in labels)
        if labels and all(isinstance(label, bool) for label in labels):
            # as integers, so that a table may hold booleans or 0 and 1
            key, kind, values = cell.cast("int"), "numbers", [float(label) for label in labels]
        elif labels and is_number and any(isinstance(x, int) and abs(x) > MAX_EXACT_INTEGER for x in labels):
            key, kind, values = cell, "integers", [int(label) for label in labels]
        elif labels and is_number:
            key, kind, values = cell.cast("double"), "numbers", [float(label) for label in labels]
        else:
            texts = [check_text(str(label), f"{title}: the level") for label in labels]
            key, kind, values = self.query.text(cell), "labels", texts
            self.query.text_columns.add(name)
        place = self.query.add_labels(kind, values)
        found = self.query.look_up(kind, place, "=", key)
        is_boolean = all(isinstance(label, bool) for label in labels)
        is_present = cell.is_not_null()
        if kind != "labels" and not is_boolean:
            is_present = abs(cell.cast("double")) <= np.finfo(np.float64).max
        known = found.if_null(sql.integer(len(labels)))
        return self.query.add_once(0, ("level", name, labels), sql.case_when([(is_present, known)]))

    def _bin_code(self, j: int, cuts: Cuts) -> Expression:
        """Return the number of edges that are less than or equal to a number."""
        place = self.query.add_labels("bins", [-float(np.finfo(np.float64).max), *map(float, cuts.edges)])
        number = self.query.add_once(0, ("number", self.names[j]), self._finite(j))
        return self.query.add_once(
            1, ("bin", self.names[j], cuts.edges), self.query.look_up("bins", place, "<=", number)
        )

    def _integer_code(self, j: int, size: int) -> Expression:
        number = self.query.add_once(0, ("number", self.names[j]), self._finite(j))
        floor = Expression(exp.Floor(this=number.node)).cast("bigint")
        code = sql.case_when(
            [(number < 1.0, sql.integer(0)), (number < float(size), floor), (number.is_not_null(), sql.integer(size))]
        )
        return self.query.add_once(1, ("integer", self.names[j], size), code)

    def _finite(self, j: int) -> Expression:
        return sql.case_when([(self._is_number(j), self._number(j))])

    # -- what terms pick from --------------------------------------------------------------------------

    def numbers(self, *, is_squared: bool = False) -> str:
        """Return the name of the array of numbers."""
        count = len(self.names)
        return self.query.add_array(
            ("x", self.first, is_squared, self.function),
            [self.number(j, is_squared=is_squared) for j in range(count)],
            "double",
        )

    @property
    def width(self) -> int:
        """The number of columns that terms are summed over."""
        return len(self.names)

    def unpivot(self, table: str, carried: Iterable[str], *, is_squared: bool = False) -> str:
        """Return the query of the numbers, x, row by row and column by column, with columns of a table by column."""
        x = self.query.pick("r", self.numbers(is_squared=is_squared), 'p."col"')
        columns = "".join(f', p."{each}"' for each in carried)
        return f'SELECT r.{self.query.id}, {x} AS "x"{columns} FROM {self.query.cells} AS r CROSS JOIN {table} AS p'

    def add_totals(self) -> str:
        """Add the sum n of the numbers of each row; return the name of the table."""
        columns = self.query.parameters.add_arrays(
            self.query.new_name("summed"), {"col": np.arange(1, self.width + 1)}, {}
        )
        row = self.query.id
        numbers = self.unpivot(columns, ())
        return self.query.add_common(
            "totals", f'SELECT p.{row}, SUM(COALESCE(p."x", 0e0)) AS "n" FROM ({numbers}) AS p GROUP BY p.{row}'
        )

    def codes(self, count: int | None = None) -> str:
        """Return the name of the array of codes of the first columns, by default of all."""
        count = len(self.names) if count is None else count
        return self.query.add_array(("i", self.first), [self.code(j) for j in range(count)], "bigint")

    def inputs(self, inputs: tuple[TreeInput, ...]) -> str:
        """Return the name of the array of the inputs of trees."""
        values = []
        for each in inputs:
            name = str(each.name)
            if each.levels is None:
                values.append(self.input_number(name))
            else:
                code = self.level_code(name, each.levels, f"column {name!r}")
                values.append(code.if_null(sql.integer(NO_LEVEL)).cast("double"))
        return self.query.add_array(("f", self.first), values, "double")

    def input_number(self, name: str) -> Expression:
        """Return an input of trees as a number; NULL if it is missing or infinite."""
        value = self._read_input(name)
        is_number = abs(value) <= np.finfo(np.float64).max
        return self.query.add_once(0, ("number", name), sql.case_when([(is_number, value)]))

    def _read_input(self, name: str) -> Expression:
        """Return an input of trees as a number; it may be a boolean, which PostgreSQL does not cast."""
        cell = self.query.cell(name)
        if self.query.dialect.name != "postgres":
            return cell.cast("double")
        text = cell.cast("text")
        truths = [(Expression(exp.Literal.string(each)), float(each == "true")) for each in ("true", "false")]
        return sql.case_when(truths, text.cast("double"), key=text)

    @staticmethod
    def count_of(columns: Columns) -> int:
        """Return the number of columns without the column of combinations."""
        return columns.count - (columns.codings is not None and isinstance(columns.codings[-1], Combinations))
