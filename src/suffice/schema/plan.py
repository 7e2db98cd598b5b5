"""Plan: what is counted of a table. It is chosen before the rows are counted; only trees and pools use the labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from suffice.printable import escape_controls
from suffice.schema.codings import Coding, Combinations, Cuts, Levels, Words
from suffice.schema.columns import Columns
from suffice.schema.schema import Features


@dataclass(frozen=True, repr=False)
class Plan:
    """What is counted of a table: its columns, the cells of its numbers, and its levels and words.

    Under one plan sums are exact: batches equal the whole, shards add up, and forgetting equals never having learned.
    Two models that share a plan count in the same cells. Everything else is decided from the sums.

    A plan holds no number of a row: the edges of cells are numbers with few binary digits. It does hold the levels and
    the words that occurred (``values``), and whether all numbers of a column are whole; and a twin (``pool``) holds the
    words of two rows or more with the changes of their coefficients.

    Attributes
    ----------
    blocks : tuple of Columns
        The columns by family, with their cells, levels and words.
    features : Features or None
        All columns of the table, and the reasons why some are left out.
    pool : Pool or None
        The weights of a pooled model, which were fitted to held-out rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from suffice import BayesClassifier
    >>> table = pd.DataFrame({"size": [1.25, 2.5, 3.75, 5.0] * 9, "colour": ["red", "blue", "red", "green"] * 9})
    >>> model = BayesClassifier().fit(table, [0, 0, 1, 1] * 9)
    >>> print(model.plan_)
    size    number, 6 cells from 1 to 8, and moments
    colour  3 levels: 'blue', 'green', 'red'
    pairs of all categorical columns
    >>> other = BayesClassifier(plan=model.plan_).fit(table[:20], [0, 0, 1, 1] * 5)
    >>> other.plan_ == model.plan_
    True
    """

    is_comparable: ClassVar[bool] = True  # as a setting: two plans are compared by ``==``

    blocks: tuple[Columns, ...]
    features: Features | None = None
    pool: Any = None
    # whether the blocks that are counted in pairs are marked; a new plan is marked when the levels are known
    is_marked: bool = field(default=False, compare=False)

    @property
    def values(self) -> dict[Any, tuple[Any, ...]]:
        """The levels and words of each column that has them: all that a plan holds of the data."""
        return {
            name: coding.labels
            for block in self.blocks
            for name, coding in _codings(block)
            if isinstance(coding, Levels) and not isinstance(coding, Combinations)
        }

    @property
    def edges(self) -> dict[Any, tuple[float, ...]]:
        """The edges of the cells of each number that is counted in cells."""
        codings = (pair for block in self.blocks for pair in _codings(block))
        return {name: coding.edges for name, coding in codings if isinstance(coding, Cuts)}

    @property
    def left_out(self) -> dict[Any, str]:
        """The columns that are not counted, with the reason."""
        return {} if self.features is None else dict(self.features.left_out)

    def __repr__(self) -> str:
        count = sum(block.count for block in self.blocks) if self.features is None else len(self.features.names)
        return f"<Plan of {count} columns>"

    def __str__(self) -> str:
        lines: dict[Any, list[str]] = {name: [] for name in (self.features.names if self.features else ())}
        for block in self.blocks:
            for name, coding in () if block.is_forest else _codings(block):
                lines.setdefault(name, []).append(_describe(block.family, coding))
        for name, reason in self.left_out.items():
            lines[name] = [f"left out: {reason}"]
        shown = [(escape_controls(str(name)), ", and ".join(parts)) for name, parts in lines.items()]
        width = max((len(name) for name, _ in shown), default=0)
        described = [f"{name:<{width}}  {parts}" for name, parts in shown if parts]
        pairs = [
            f"pairs of all {block.family} columns{', with fourth moments' if block.fourths else ''}"
            for block in self.blocks
            if block.pairs
        ]
        trees = [f"{block.count} trees with {block.width:,} leaves" for block in self.blocks if block.is_forest]
        pool = [] if self.pool is None else [f"pool: {self.pool}"]
        return "\n".join(described + pairs + trees + pool)


def _codings(block: Columns) -> Iterable[tuple[Any, Coding | None]]:
    names = block.names or tuple(range(block.count))
    return zip(names, block.codings or (None,) * block.count, strict=True)


def _describe(family: str, coding: Coding | None) -> str:
    """Return what is counted of a column, as text."""
    if isinstance(coding, Cuts):
        ends = f" from {coding.edges[0]:g} to {coding.edges[-1]:g}" if coding.edges else ""
        return f"{'whole number' if coding.whole else 'number'}, {coding.size} cells{ends}"
    if isinstance(coding, Combinations):
        return f"{coding.size} combinations of levels"
    if isinstance(coding, Levels):
        kind = "words" if isinstance(coding, Words) else "levels"
        few = ", ".join(map(repr, coding.labels[:4])) + (", …" if coding.size > 4 else "")
        return f"{coding.size} {kind}: {few}" if coding.size else f"no {kind}"
    return "moments" if family == "gaussian" else family


def check_plan_columns(plan: Plan, names: tuple[Any, ...] | None, count: int) -> None:
    """Raise if a table does not have the columns of a plan."""
    planned = plan.blocks[0].names if plan.features is None else plan.features.names
    if planned is None or names is None:
        planned, names = tuple(range(sum(block.count for block in plan.blocks))), tuple(range(count))
    missing = [name for name in planned if name not in set(names)]
    unknown = [name for name in names if name not in set(planned)]
    if missing or unknown:
        parts = [f"the table has no column {missing[0]!r}" if missing else ""]
        parts += [f"the plan has no column {unknown[0]!r}" if unknown else ""]
        raise ValueError(
            f"the plan is for other columns: {' and '.join(filter(None, parts))}; use the plan of a model of the same "
            "columns, or fit without plan="
        )
