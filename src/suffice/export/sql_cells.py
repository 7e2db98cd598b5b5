"""Cells of a table as SQL: numbers, and the codes of levels and bins."""

from copy import copy
from typing import Any, Self

import numpy as np
from sqlglot import exp

from suffice.blocks import Function
from suffice.data.column_names import column_name
from suffice.export import sql_expressions as sql
from suffice.export.dialects import ExportError, check_text
from suffice.export.sql_expressions import Expression, Operand
from suffice.export.sql_parameters import text_literal
from suffice.export.sql_stages import StagedQuery
from suffice.schema import Columns, Combinations, Cuts, Levels, MissingLevel

# Greater numbers count as missing, so that their squares are finite.
MAX_NUMBER = 1e100

# Smaller numbers are read as 0 before they are squared where an underflow is an error.
MIN_SQUARED = 1e-160

# Greater integers are not all doubles.
MAX_EXACT_INTEGER = 2**53

# The functions of numbers.
FUNCTIONS: dict[str, type[exp.Func]] = {"log": exp.Ln, "sqrt": exp.Sqrt, "cos": exp.Cos, "sin": exp.Sin}

# Ends every message about a model that cannot be written.
IN_PYTHON = "or predict in Python (predict, predict_table), which works for every model"


def column_names(columns: Columns) -> list[str]:
    """Return the names that a block's columns have in a table."""
    return [column_name(name) for name in (range(columns.count) if columns.names is None else columns.names)]


class Cells:
    """The cells of a block of columns, read in the first stage of a query.

    A missing cell is NULL, and so is a cell that holds no number. NaN compares as greater than all numbers or as
    unknown, depending on the database: in both cases it is not at most `MAX_NUMBER`.

    Parameters
    ----------
    query : StagedQuery
        The query that reads the table.
    columns : Columns
        The columns of the block, with their codings.
    first : int
        The place of the first column among all columns of the model; it makes the names of intermediate columns.
    """

    def __init__(self, query: StagedQuery, columns: Columns, first: int) -> None:
        self.query, self.columns, self.first = query, columns, first
        self.function: Function | None = None
        self.names = column_names(columns)

    @property
    def description(self) -> str:
        """The columns as a message names them, without a column that combines others."""
        codings = self.columns.codings or (None,) * len(self.names)
        names = [name for name, coding in zip(self.names, codings, strict=True) if not isinstance(coding, Combinations)]
        if len(names) == 1:
            return f"column {names[0]!r}"
        return f"the columns {names[0]!r} to {names[-1]!r}" if names else "a block without columns"

    def number(self, j: int, *, is_squared: bool = False) -> Expression:
        """Return the number in column j; ``is_squared`` says that its square must not underflow."""
        is_flushed = is_squared and self.query.dialect.underflow_is_error
        if self.function is not None:
            return self._mapped_number(j, self.function, is_flushed)
        name = f"{'z' if is_flushed else 'x'}{self.first + j}"
        if not self._is_read(name):
            value = self._number(j)
            flushed: list[tuple[Expression, Operand]] = (
                [(abs(value) < MIN_SQUARED, sql.double(0.0))] if is_flushed else []
            )
            self.query.add(0, name, sql.case_when([*flushed, (abs(value) <= MAX_NUMBER, value)]))
        return sql.column(self.query.prefix + name)

    def mapped(self, function: Function) -> Self:
        """Return the same cells, of whose numbers a function is taken."""
        found = copy(self)
        found.function = function
        return found

    def code(self, j: int) -> Expression:
        """Return the code of column j's level or bin; the number of known levels if it is another level.

        If a column is closed, an unknown level has no code: NULL, like a missing cell.
        """
        name = f"i{self.first + j}"
        if not self._is_read(name):
            self.query.add(0, name, self._code(j))
        return sql.column(self.query.prefix + name)

    def block_column(self, stage: int, letter: str, expression: Expression) -> Expression:
        """Add a column that is computed once for the block; return the reference to it."""
        return self.query.add(stage, f"{letter}{self.first}", expression)

    def _mapped_number(self, j: int, function: Function, is_flushed: bool) -> Expression:
        """Return a function of the number in column j; NULL outside of its domain, where the row has no result."""
        name = f"{'z' if is_flushed else 'x'}{self.first + j}_{function.name}"
        if not self._is_read(name):
            value = self._number(j)
            scaled = value if function.factor == 1 else value * function.factor
            is_inside = abs(value) <= MAX_NUMBER
            if function.name in ("log", "sqrt"):
                is_outside = value <= 0.0 if function.name == "log" else value < 0.0
                flag = self.query.add(0, f"o{name}", sql.case_when([(is_outside, sql.integer(1))], sql.integer(0)))
                self.query.null_conditions.append(flag.equals(sql.integer(1)))
                least = float(np.finfo(np.float64).tiny) if function.name == "log" else 0.0
                branches: list[tuple[Expression, Operand]] = [(value < least, Expression(exp.null()))]
            else:
                branches = []
            found = FUNCTIONS[function.name](this=scaled.node)
            self.query.add(0, name, sql.case_when([*branches, (is_inside, Expression(found))]))
        mapped = sql.column(self.query.prefix + name)
        if not is_flushed:
            return mapped
        return sql.case_when([(abs(mapped) < MIN_SQUARED, sql.double(0.0))], mapped)

    def _is_read(self, name: str) -> bool:
        return self.query.prefix + name in self.query.stages[0]

    def _cell(self, j: int) -> Expression:
        return self.query.cell(self.names[j])

    def _number(self, j: int) -> Expression:
        return self._cell(j).cast("double")

    def _is_number(self, j: int) -> Expression:
        """Return the condition that a cell holds a finite number."""
        return abs(self._number(j)) <= np.finfo(np.float64).max

    def _code(self, j: int) -> Expression:
        coding = None if self.columns.codings is None else self.columns.codings[j]
        if coding is None:  # integers are codes themselves, and fractions are truncated
            assert self.columns.sizes is not None
            return self._bin(j, [float(code) for code in range(1, int(self.columns.sizes[j]) + 1)])
        if isinstance(coding, MissingLevel):
            return self._code_with_missing(j, coding)
        if isinstance(coding, Cuts):
            return self._bin(j, [float(edge) for edge in coding.edges])
        if type(coding) is not Levels:  # its subclasses code something else than one cell
            raise ExportError(f"{self.columns.name(j)} has a {type(coding).__name__} coding, which SQL cannot express")
        key, is_present, values = self._labels(j, coding.labels)
        unknown = sql.case_when([(is_present, sql.integer(coding.size))]) if coding.open else None
        return sql.case_when([(value, sql.integer(code)) for code, value in enumerate(values)], unknown, key=key)

    def _code_with_missing(self, j: int, coding: MissingLevel) -> Expression:
        """Return the code of a column in which a missing cell is a level."""
        missing = sql.integer(coding.values.size)
        if isinstance(coding.values, Cuts):
            return sql.case_when([(self._is_number(j), self._bin(j, list(coding.values.edges)))], missing)
        assert isinstance(coding.values, Levels)
        key, is_present, values = self._labels(j, coding.values.labels)
        # a level that is not known has the code after that of a missing cell; in a closed column it has none
        code = sql.integer(coding.size) if coding.open else Expression(exp.null())
        unknown = sql.case_when([(is_present, code)], missing)
        return sql.case_when([(value, sql.integer(code)) for code, value in enumerate(values)], unknown, key=key)

    def _bin(self, j: int, edges: list[float]) -> Expression:
        """Return the number of edges that are less than or equal to a number."""
        below = [(self._number(j) < edge, sql.integer(code)) for code, edge in enumerate(edges)]
        return sql.case_when([*below, (self._is_number(j), sql.integer(len(edges)))])

    def _labels(self, j: int, labels: tuple[Any, ...]) -> tuple[Expression, Expression, list[Expression]]:
        """Return what is compared with labels, the condition that the cell is not missing, and the labels."""
        if labels and all(isinstance(label, bool) for label in labels):
            # as integers, so that a table may hold booleans or 0 and 1
            return self._cell(j).cast("int"), self._cell(j).is_not_null(), [sql.integer(int(label)) for label in labels]
        if labels and all(isinstance(label, (int, float)) for label in labels):
            if any(isinstance(label, int) and abs(label) > MAX_EXACT_INTEGER for label in labels):
                values = [sql.integer(label) if isinstance(label, int) else sql.number(label) for label in labels]
                return self._cell(j), self._is_number(j), values
            return self._number(j), self._is_number(j), [sql.number(label) for label in labels]
        texts = [check_text(str(label), f"{self.columns.name(j)}: the level") for label in labels]
        literals = [Expression(text_literal(text, self.query.dialect)) for text in texts]
        return self._cell(j).cast("text"), self._cell(j).is_not_null(), literals
