"""Trees as SQL: `PairLookUp`, tables of log p(level | level of the parent), with missing cells summed out."""

from collections.abc import Callable

import numpy as np

from suffice.export.sql_cells import Cells
from suffice.export.sql_columnwise import ByClass
from suffice.export.sql_expressions import Expression, add, case_when, double, ln, multiply, select_by_code
from suffice.schema import Array
from suffice.score import PairLookUp

# Columns that messages may take: PostgreSQL and SQLite allow fewer than two thousand columns in a query.
MAX_MESSAGES = 1000


def translate_pair_look_up(term: PairLookUp, cells: Cells) -> ByClass:
    """Write Σⱼ log p(xⱼ | x of the parent of j, class).

    Missing cells are summed out by messages from the leaves to the root. If that needs more than `MAX_MESSAGES`
    columns, the result of a row is NULL if a cell of a parent is missing.
    """
    trees = [_Tree(term, cells, k) for k in range(len(term.parents))]
    message_count = sum(int(term.sizes[j]) + 1 for tree in trees for j in tree.children)
    if message_count > MAX_MESSAGES:
        inner = sorted({j for tree in trees for j in tree.children})
        cells.query.null_conditions += [cells.code(j).is_null() for j in inner]
        return [[tree.write_given_parent(j) for j in tree.order] for tree in trees]
    for tree in trees:
        tree.add_messages()
    return [[tree.write(j) for j in tree.order] for tree in trees]


class _Tree:
    """The tree of one class.

    If a column j is missing, the message of its level v is Πᵢ p(xᵢ | v) over its children i, each divided by the
    greatest p(xᵢ | any level). The logarithm of that divisor is added to the score separately, so that a product of
    many small probabilities does not underflow.
    """

    def __init__(self, term: PairLookUp, cells: Cells, k: int) -> None:
        self.cells, self.k = cells, k
        self.order: list[int] = term.order[k].tolist()
        self.parents: list[int] = term.parents[k].tolist()
        self.tables: list[Array] = [term.table_of(k, j) for j in range(len(self.parents))]
        self.children: dict[int, list[int]] = {}
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                self.children.setdefault(parent, []).append(j)
        self.messages: dict[int, list[Expression]] = {}

    def write_given_parent(self, j: int) -> Expression:
        """Write log p(xⱼ | x of its parent), for rows in which the parent is not missing."""
        return self._select(j, lambda level: None, double(0.0))

    def write(self, j: int) -> Expression:
        """Write what column j adds to the score, whether or not it or its parent is missing."""
        return self._select(j, lambda level: self._log_marginal(j, level), self._log_divisor(j))

    def add_messages(self) -> None:
        """Add the messages of each column, one for each of its levels, to a stage after those of its children."""
        heights = dict.fromkeys(self.order, 0)
        for j in reversed(self.order):
            children = self.children.get(j, [])
            heights[j] = max((heights[child] + 1 for child in children), default=0)
            for level in range(self.tables[j].shape[1] if children else 0):
                product = multiply(self._scaled_probability(child, level) for child in children)
                message = case_when([(self.cells.code(j).is_null(), product)])
                name = f"m{self.cells.first + j}_{self.k}_{level}"
                self.messages.setdefault(j, []).append(self.cells.query.add(heights[j], name, message))

    def _select(
        self, j: int, if_missing: Callable[[int], Expression | None], if_parent_is_missing: Expression
    ) -> Expression:
        """Write the table of column j as nested CASEs: of the parent's level, then of its own."""
        code = self.cells.code(j)
        lines = [select_by_code(code, line, if_missing(level)) for level, line in enumerate(self.tables[j])]
        parent = self.parents[j]
        return lines[0] if parent < 0 else select_by_code(self.cells.code(parent), lines, if_parent_is_missing)

    def _log_marginal(self, j: int, parent_level: int) -> Expression | None:
        """Write log Σ over levels v of a missing column of p(v | level of the parent)·message of v."""
        return ln(self._marginal(j, parent_level).null_if(0.0)) if j in self.messages else None

    def _marginal(self, j: int, parent_level: int) -> Expression:
        shares = zip(np.exp(self.tables[j][parent_level]), self.messages[j], strict=True)
        return add([double(0.0), *(p * message for p, message in shares if p > 0)])

    def _scaled_probability(self, j: int, parent_level: int) -> Expression:
        """Write p(xⱼ | a level of its missing parent), divided by the greatest over all levels of the parent."""
        logs, greatest = self.tables[j][parent_level], self.tables[j].max(axis=0)
        scaled = np.exp(logs - np.where(np.isneginf(greatest), 0.0, greatest))
        if_missing = self._marginal(j, parent_level) if j in self.messages else double(1.0)
        return select_by_code(self.cells.code(j), scaled, if_missing)

    def _log_divisor(self, j: int) -> Expression:
        """Write the logarithm of the greatest p(xⱼ | any level of its parent); 0 for a root."""
        return select_by_code(self.cells.code(j), self.tables[j].max(axis=0)) if self.parents[j] >= 0 else double(0.0)
