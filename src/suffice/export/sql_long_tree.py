"""`PairLookUp` as joins with a table of log p(level | level of the parent), with missing cells summed out."""

from collections.abc import Iterator

import numpy as np

from suffice.export.pair_values import exponential
from suffice.export.sql_expressions import Expression
from suffice.export.sql_long_cells import LongCells
from suffice.export.sql_long_columnwise import IMPOSSIBLE_TEXT
from suffice.export.sql_parameters import LEAST_POSSIBLE, Kind
from suffice.schema import starts_of
from suffice.score import PairLookUp


def translate_pair_look_up(term: PairLookUp, cells: LongCells) -> list[Expression]:
    """Add Σⱼ log p(xⱼ | x of the parent of j, class); classes with the same tree are computed together."""
    found: list[Expression | None] = [None] * len(term.parents)
    trees, which = np.unique(term.parents, axis=0, return_inverse=True)
    for place in range(len(trees)):
        classes = np.flatnonzero(which.ravel() == place).tolist()
        values = _Tree(term, cells, classes).add()
        for k in classes:
            found[k] = values[k]
    return [each for each in found if each is not None]


class _Tree:
    """The tree of some classes.

    A missing column j that has a child with a value sends a message to its parent: for each level u of the parent,
    log Σ over levels v of j of p(v | u)·Πᵢ p(xᵢ | v) over its children i. Messages are computed from the leaves to
    the root, one height after the other. A parent that is not missing, or that there is not, has one level.
    """

    def __init__(self, term: PairLookUp, cells: LongCells, classes: list[int]) -> None:
        self.term, self.cells, self.query, self.classes = term, cells, cells.query, classes
        self.parents = term.parents[classes[0]].tolist()
        self.heights = dict.fromkeys(range(len(self.parents)), 0)
        for j in reversed(term.order[classes[0]].tolist()):
            if self.parents[j] >= 0:
                self.heights[self.parents[j]] = max(self.heights[self.parents[j]], self.heights[j] + 1)

    def add(self) -> list[Expression]:
        """Add the tables; return the score of each class."""
        query, row = self.query, self.query.id
        parameters, starts = query.parameters, starts_of(self.term.sizes + 1).tolist()
        columns, edges = range(len(self.parents)), self.parents
        self.edges = parameters.add_arrays(
            query.new_name("edges"),
            {"col": [j + 1 for j in columns], "parent": [p + 1 for p in edges]},
            {
                "height": [self.heights[p] if p >= 0 else -1 for p in edges],
                "slot": [starts[j] for j in columns],
                "above": [starts[p] + 1 if p >= 0 else 0 for p in edges],
            },
        )
        kinds: dict[str, Kind] = {"slot": "integer", "above": "integer", **dict.fromkeys(self._names("c"), "double")}
        self.entries = parameters.add(query.new_name("conditionals"), kinds, self._rows(), ("slot", "above"))
        # the levels of each column of a row and of its parent; NULL if missing, and 0 if there is no parent
        array = self.cells.codes(len(edges))
        own, above = (query.pick("r", array, f'e."{name}"') for name in ("col", "parent"))
        self.levels = query.add_common(
            "above",
            f'SELECT r.{row}, e."col", e."parent", e."height", CAST(e."slot" AS BIGINT) + {own} AS "slot", '
            f'CASE WHEN e."parent" = 0 THEN 0 ELSE CAST(e."above" AS BIGINT) + {above} END AS "above" '
            f"FROM {query.cells} AS r CROSS JOIN {self.edges} AS e",
        )
        known = (
            f"SELECT a.{row}, {self._list('p', 'c')} FROM {self.levels} AS a "
            f'JOIN {self.entries} AS p ON p."slot" = a."slot" AND p."above" = a."above"'
        )
        parts = [known, *self._messages()]
        united = " UNION ALL ".join(parts)
        sums = ", ".join(f'SUM(u."{name}") AS "{name}"' for name in self._names("c"))
        rest = ", ".join(f'0e0 AS "c{k}"' for k in range(query.class_count) if k not in self.classes)
        text = f"SELECT u.{row}, {sums}{', ' + rest if rest else ''} FROM ({united}) AS u GROUP BY u.{row}"
        return query.join_scores("tree", text)

    def _messages(self) -> Iterator[str]:
        """Add the messages of missing columns; yield what those to a known parent, or to none, add to the score."""
        query, row = self.query, self.query.id
        sent: dict[int, str] = {}
        for height in sorted({self.heights[p] for p in self.parents if p >= 0}):
            direct = (
                f'SELECT a.{row}, a."parent" AS "col", p."above" AS "slot", {self._list("p", "c")} '
                f'FROM {self.levels} AS a JOIN {self.entries} AS p ON p."slot" = a."slot" '
                f'WHERE a."above" IS NULL AND a."height" = {height}'
            )
            below = {self.heights[j] for j, p in enumerate(self.parents) if p >= 0 and self.heights[p] == height} - {0}
            passed = (
                f'SELECT m.{row}, m."parent", m."above", {self._list("m", "c")} FROM {sent[each]} AS m '
                f'WHERE m."known" IS NULL AND m."height" = {height}'
                for each in sorted(below)
            )
            # the greatest of each column by a window: MariaDB computes a table again for each query that refers to it
            sums = ", ".join(
                f'SUM(u."c{k}") AS "c{k}", MAX(SUM(u."c{k}")) OVER (PARTITION BY u.{row}, u."col") AS "t{k}"'
                for k in self.classes
            )
            inner = " UNION ALL ".join([direct, *passed])
            products = query.add_common(
                "products",
                f'SELECT u.{row}, u."col", u."slot", {sums} FROM ({inner}) AS u GROUP BY u.{row}, u."col", u."slot"',
            )
            sent[height] = query.add_common("messages", self._sum_out(products))
            yield f'SELECT m.{row}, {self._list("m", "c")} FROM {sent[height]} AS m WHERE m."known" IS NOT NULL'

    def _sum_out(self, products: str) -> str:
        """Return log Σ over levels v of a missing column of p(v | u)·product of v, for each level u of the parent."""
        row = self.query.id
        values = (
            f"CASE WHEN MAX(u.t{k}) < {LEAST_POSSIBLE!r} OR SUM({self._share(k)}) = 0 THEN {IMPOSSIBLE_TEXT} "
            f'ELSE MAX(u.t{k}) + LN(SUM({self._share(k)})) END AS "c{k}"'
            for k in self.classes
        )
        return (
            f'SELECT u.{row}, a."parent", a."height", a."above" AS "known", p."above" AS "above", {", ".join(values)} '
            f"FROM {products} AS u "
            f'JOIN {self.levels} AS a ON a.{row} = u.{row} AND a."col" = u."col" '
            f'JOIN {self.entries} AS p ON p."slot" = u."slot" - 1 '
            f'WHERE a."above" IS NULL OR p."above" = a."above" '
            f'GROUP BY u.{row}, a."parent", a."height", a."above", p."above"'
        )

    def _share(self, k: int) -> str:
        return exponential(f"(p.c{k} + u.c{k} - u.t{k})")

    def _names(self, letter: str) -> list[str]:
        return [f"{letter}{k}" for k in self.classes]

    def _list(self, alias: str, letter: str) -> str:
        return ", ".join(f'{alias}."{name}"' for name in self._names(letter))

    def _rows(self) -> Iterator[list[float]]:
        """Yield slot, slot of the parent from 1 on, 0 if there is none, and log p of each class."""
        starts = starts_of(self.term.sizes + 1)
        for j, parent in enumerate(self.parents):
            tables = [self.term.table_of(k, j) for k in self.classes]
            for u, v in np.ndindex(tables[0].shape):
                above = 0 if parent < 0 else int(starts[parent]) + u + 1
                yield [int(starts[j]) + v, above, *(float(table[u, v]) for table in tables)]
