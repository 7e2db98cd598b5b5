"""What every family provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from suffice.blocks import Block, Coded, Dense, Gappy, Part, Sparse
from suffice.schema import Array, Columns, Frozen, by_group, field_names
from suffice.statistics import Statistic

Beliefs = tuple[Array, ...]


@dataclass(frozen=True)
class Parameters(Frozen, ABC):
    """Estimated p(x given class) of a block of columns: arrays [class, column, …] that score rows."""

    # whether rows are scored by products that use all threads by themselves
    spreads_itself: ClassVar[bool] = False

    @abstractmethod
    def add(self, columns: Columns, block: Block, rows: slice, scores: Array) -> None:
        """Add log p(x given class) of a range of rows to the scores [row, class]."""

    @property
    def class_count(self) -> int:
        """How many classes there are: as a rule, the lines of the first array."""
        return len(getattr(self, field_names(type(self))[0]))

    def evidence(self, columns: Columns, block: Block) -> Array:
        """Return what each column adds to log p(x given class), [row, class, column]: they sum to what `add` adds.

        Parameters may be the same for all rows, [class, …], or each row's own, [row, class, …]. Where columns
        depend on each other, a column's part is what it adds to those before it: log p of all up to it, minus
        log p of all before it, the others summed out; the mean of both directions.
        """
        return one_after_the_other(self, columns, block, [np.arange(columns.count), np.arange(columns.count)[::-1]])

    @property
    def product(self) -> Any:
        """The weights and biases of which the scores are a product with x alone; None if they are not."""
        return None

    @classmethod
    def side_by_side(cls, many: Sequence[Any]) -> Parameters | None:
        """Return parameters of the classes of all, side by side; None if they cannot be scored so."""
        return None

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """How many free numbers there are, of all classes."""

    def as_linear(self) -> tuple[str, Array, Array]:
        """Return a lift, weights [class, feature] and biases [class]: the scores, but for what classes share."""
        raise ValueError("the log probability of these columns is not linear in any lift of them")

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        """Return rows drawn from a class, [row, column]: numbers, codes of levels, or counts."""
        raise ValueError("these columns are scored, but not by a probability: no rows can be drawn from them")


class Family(ABC):
    """The probability of one kind of column given the class: pure functions over arrays.

    Beliefs are the hyperparameters of its conjugate prior: `believed` reads them off a prior,
    `updated` adds a statistic to them, and each estimate is read off beliefs. So a rule needs to know
    nothing of the family, and a family nothing of rules.
    """

    name: ClassVar[str]
    statistic: ClassVar[type[Statistic]]

    @property
    def generative(self) -> Family:
        """The family of whose counts there is an evidence: itself, but for scores that are no probability."""
        return self

    def spreads_itself(self, columns: Columns) -> bool:
        """Say whether a tally of these columns is taken by products that use all threads by themselves."""
        return False

    @abstractmethod
    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Statistic]:
        """Return the columns, with the levels that were met, and the sums over a part of the rows."""

    @abstractmethod
    def believed(self, prior: Any, columns: Columns, statistic: Statistic) -> Beliefs:
        """Return the hyperparameters that a prior stands for."""

    @abstractmethod
    def updated(self, beliefs: Beliefs, statistic: Any) -> Beliefs:
        """Return the hyperparameters of the posterior, [class, …]."""

    @abstractmethod
    def most_likely(self, columns: Columns, statistic: Any) -> Parameters:
        """Return the maximum-likelihood parameters."""

    @abstractmethod
    def mode(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        """Return the most credible parameters."""

    @abstractmethod
    def mean(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        """Return the expected parameters."""

    @abstractmethod
    def predictive(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        """Return p(x given class) averaged over what is believed of the parameters."""

    @abstractmethod
    def log_partition(self, columns: Columns, beliefs: Beliefs) -> Array:
        """Return log Z, the logarithm of what normalises the conjugate prior, [class, column]."""

    @abstractmethod
    def marginals(self, columns: Columns, beliefs: Beliefs) -> dict[str, Any]:
        """Return what is believed of each parameter, a scipy.stats distribution of arrays [class, column or level]."""

    @abstractmethod
    def draw(self, columns: Columns, beliefs: Beliefs, rng: np.random.Generator) -> Parameters:
        """Return parameters drawn at random from what is believed."""


def add_by_piece(
    block: Block,
    rows: slice,
    scores: Array,
    whole: Callable[[Array, Array], float],
    present: Callable[[Array, Array], float],
) -> None:
    """Add to the scores by the kernel for complete rows; by the other where cells turn out to be empty."""
    assert isinstance(block, Dense)
    for x, part in block.scored(rows, scores):
        before = part.copy() if block.gaps else None
        if whole(x, part) == 0:
            continue
        if before is not None:
            part[:] = before
            if present(x, part) == 0:
                continue
        block.reject_if_not_finite(rows)


def plain_rows(block: Block) -> tuple[Array, Array]:
    """Return a few rows as doubles, [row, 1, column], with 0 in empty cells, and which cells are not empty."""
    if isinstance(block, Dense):
        rows = np.concatenate([piece for _, piece in block.pieces(0, block.shape[0])]).astype(np.float64)[:, None]
        there = ~np.isnan(rows) if block.gaps else np.ones((1, 1, 1), bool)
        return (np.where(there, rows, 0.0) if block.gaps else rows), there
    assert isinstance(block, Sparse)
    return block.matrix.toarray().astype(np.float64)[:, None], np.ones((1, 1, 1), bool)


def one_after_the_other(
    parameters: Parameters, columns: Columns, block: Block, orders: Sequence[Array], classes: Array | None = None
) -> Array:
    """Return what each column adds to the log probability of those before it, [row, class, column]: a mean over orders.

    With ``classes`` there is an order for each class, and no mean.
    """
    assert isinstance(block, Dense)
    rows = np.concatenate([piece for _, piece in block.pieces(0, block.shape[0])])
    coded = isinstance(block, Coded)
    empty: Any = -1 if coded else np.nan
    rows = rows if coded else rows.astype(np.float64)

    def scores(cells: Array) -> Array:
        found = np.zeros((len(cells), count))
        kind = Coded if coded else Gappy
        parameters.add(columns, kind(block.owner, block.names, cells), slice(0, len(cells)), found)
        return found

    count = parameters.class_count
    total = np.zeros((len(rows), count, rows.shape[1]))
    for place, order in enumerate(orders):
        known = np.full(rows.shape, empty, rows.dtype)
        before = scores(known)
        for j in order.tolist():
            known[:, j] = rows[:, j]
            after = scores(known)
            # what is impossible stays so, whatever comes after it
            added = np.where(np.isneginf(before), 0.0, after - np.where(np.isneginf(before), 0.0, before))
            if classes is None:
                total[:, :, j] += added / len(orders)
            else:
                total[:, classes[place], j] = added[:, classes[place]]
            before = after
    return total


def log_ratio(part: Array, whole: Array, otherwise: Array | float) -> Array:
    """Return log(part / whole), −∞ for no part of something, and log(otherwise) for a part of nothing.

    >>> log_ratio(np.array([0.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0]), 0.5).tolist()
    [-inf, 0.0, -0.6931471805599453]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(whole > 0, np.log(part) - np.log(whole), np.log(otherwise))


def guarded(log_p: Array, epsilon: float) -> Array:
    """Return log(p + ε) from log p: the lecture's guard against a probability of zero."""
    return log_p if epsilon == 0 else np.log(np.exp(log_p) + epsilon)


def proper(beliefs: Beliefs) -> Beliefs:
    """Return hyperparameters of a distribution, or say that these are of none."""
    if not all((np.asarray(belief) > 0).all() for belief in beliefs):
        raise ValueError(
            "under this prior, and with so few rows, there is no posterior distribution; use a larger prior"
        )
    return beliefs


def log_rising(a: Array, x: Array | float) -> Array:
    """Return log Γ(a + x) − log Γ(a), with all its digits where a is so large that the two are alike.

    >>> float(log_rising(np.array(1e16), 2.0) - 2 * np.log(1e16))
    0.0
    """
    large = a > 1e4
    b = np.where(large, a, 1e4)
    stirling = (b + x - 0.5) * np.log1p(x / b) + x * np.log(b) - x + (1 / (b + x) - 1 / b) / 12
    small = np.where(large, 1.0, a)
    return np.where(large, stirling, gammaln(small + x) - gammaln(small))


def drawn_weights(alpha: Array, starts: Array, rng: np.random.Generator) -> Array:
    """Return Gamma(α, 1) draws, each group (from one start to the next) scaled so that its largest is 1.

    In logarithms, as log Γ(α + 1)-draw + log(u) / α: a small α gives weights too small for a number.
    """
    alpha = np.maximum(alpha, 1e-300)
    with np.errstate(over="ignore"):
        logs = np.log(rng.standard_gamma(alpha + 1)) + np.log(rng.random(alpha.shape)) / alpha
    logs = np.maximum(logs, -1e300)
    sizes = np.diff([*starts, alpha.shape[1]])
    return np.asarray(np.exp(logs - np.repeat(by_group(np.maximum, logs, starts), sizes, axis=1)))
