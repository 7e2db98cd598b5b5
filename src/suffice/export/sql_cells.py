"""Reading: the cells of a table as the numbers and the slots that a model scores."""

from __future__ import annotations

import numpy as np
from sqlglot import exp

from suffice.data.column_names import column_name
from suffice.export.dialects import ExportError, checked_text
from suffice.export.sql_draft import Draft
from suffice.export.sql_terms import Term, as_double, choose, double, is_there, look_up, number, whole
from suffice.schema import Coding, Columns, Combinations, Cuts, Levels, Words

# Numbers beyond it count as empty cells, so that no square of them is too large for a double.
LARGEST = 1e100

# Gaussian numbers below it are 0 to any deviation that there may be, and their products no numbers at all.
SMALLEST = 1e-160

# Whole numbers beyond it are not all doubles.
LARGEST_WHOLE = 2**53


def names_of(columns: Columns) -> list[str]:
    """Return the names of a block's columns."""
    return [column_name(name) for name in (range(columns.count) if columns.names is None else columns.names)]


class Reader:
    """The first stage of a draft: it reads each cell once, as a number or as the slot of its level.

    An empty cell is NULL, and so is what is no number: NaN is not at most `LARGEST` in any dialect, as it is
    either greater than all numbers or comparable to none.
    """

    def __init__(self, draft: Draft, columns: Columns) -> None:
        self.draft, self.columns = draft, columns
        self.names = names_of(columns)
        self._read: dict[int, str] = {}

    def value(self, j: int) -> Term:
        """Return the number in a column."""
        if j not in self._read:
            cell = self._number(j)
            branches: list[tuple[Term, Term]] = [
                (exp.LTE(this=exp.Abs(this=cell), expression=number(LARGEST)), self._number(j))
            ]
            if self.draft.dialect.underflows and self.columns.family == "gaussian":
                nothing = exp.LT(this=exp.Abs(this=self._number(j)), expression=number(SMALLEST))
                branches.insert(0, (nothing, double(0.0)))
            self._read[j] = self._put(j, choose(branches))
        return self.draft.own(self._read[j])

    def slot(self, j: int) -> Term:
        """Return the slot of a column's level: its code, or the number of codes if it was never met.

        Where a column is closed, what was never met says nothing: its slot is NULL, as that of an empty cell.
        """
        if j not in self._read:
            coding = None if self.columns.codings is None else self.columns.codings[j]
            self._read[j] = self._put(j, self._codes(j) if coding is None else self._levels(j, coding))
        return self.draft.own(self._read[j])

    def _put(self, j: int, term: Term) -> str:
        return self.draft.put(0, f"x{self.draft.columns.index(self.names[j])}", term)

    def _cell(self, j: int) -> Term:
        return self.draft.cell(self.names[j])

    def _number(self, j: int) -> Term:
        return as_double(self._cell(j))

    def _any_number(self, j: int) -> Term:
        """Return whether a cell holds a number, of whatever size."""
        return exp.LTE(this=exp.Abs(this=self._number(j)), expression=number(np.finfo(np.float64).max))

    def _codes(self, j: int) -> Term:
        """Return codes that stand for themselves, cut off to whole numbers."""
        assert self.columns.sizes is not None
        return self._bins(j, [float(code) for code in range(1, int(self.columns.sizes[j]) + 1)])

    def _bins(self, j: int, edges: list[float]) -> Term:
        """Return the number of edges that are no greater than a number."""
        below = [(exp.LT(this=self._number(j), expression=number(edge)), whole(p)) for p, edge in enumerate(edges)]
        # NULL and NaN are not below any edge, and not a number either
        return choose([*below, (self._any_number(j), whole(len(edges)))])

    def _levels(self, j: int, coding: Coding) -> Term:
        if isinstance(coding, Cuts):
            return self._bins(j, [float(edge) for edge in coding.edges])
        if isinstance(coding, (Words, Combinations)) or not isinstance(coding, Levels):
            raise ExportError(f"{self.columns.name(j)} is {coding.family}, which has no form in SQL")
        labels = coding.labels
        if all(isinstance(label, bool) for label in labels) and labels:
            # whatever the table has for yes and no, 1 and 0 as well
            key: Term = exp.Cast(this=self._cell(j), to=exp.DataType.build("int"))
            there, values = is_there(self._cell(j)), [whole(int(label)) for label in labels]
        elif all(isinstance(label, (int, float)) for label in labels) and labels:
            exact = any(isinstance(label, int) and abs(label) > LARGEST_WHOLE for label in labels)
            key = self._cell(j) if exact else self._number(j)
            values = [whole(label) if exact and isinstance(label, int) else number(label) for label in labels]
            there = self._any_number(j)
        else:
            key, there = exp.Cast(this=self._cell(j), to=exp.DataType.build("text")), is_there(self._cell(j))
            what = f"{self.columns.name(j)}: the level"
            values = [exp.Literal.string(checked_text(str(label), what)) for label in labels]
        other = choose([(there, whole(len(labels)))]) if coding.open else None
        return look_up(key, zip(values, map(whole, range(len(labels))), strict=True), other)
