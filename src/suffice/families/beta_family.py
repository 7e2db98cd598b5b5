"""Families of counts whose parameter is a probability p of success; the conjugate prior is Beta(a, b)."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import stats
from scipy.special import betaln

from suffice.blocks import Part
from suffice.families.dirichlet import mode_weights
from suffice.families.family import (
    Family,
    Hyperparameters,
    Parameters,
    check_proper,
    draw_weights,
    fields_by_column,
    log_ratio,
)
from suffice.priors import Beta, Flat, MEstimate, Prior, broadcast_to_columns, check_positive, unsupported_prior
from suffice.schema import Array, Columns
from suffice.statistics import Counts, Statistic, scan
from suffice.statistics.statistic import ROUNDING


@dataclass(frozen=True)
class BetaFamily(Family):
    """Counts with p(x | p) ∝ p^s·(1 − p)^f; the posterior is Beta(a + Σs, b + Σf).

    A family says what its successes s and failures f are. A number c as a prior stands for Beta(c, c). The mode is
    (a − 1) / (a + b − 2), or 0 or 1 if a or b is less than 1; if a = b ≤ 1 it is taken to be ½.
    """

    cells = "counts"
    accepts_sparse = True
    is_whole = True
    sql_sums: ClassVar[Any] = "totals"

    @abstractmethod
    def outcomes(self, statistic: Any, hyperparameters: Hyperparameters) -> tuple[Array, Array]:
        """Return the numbers of successes and of failures, [class, column]."""

    @abstractmethod
    def from_logs(self, log_p: Array, log_q: Array, hyperparameters: Hyperparameters) -> Parameters:
        """Return the distribution with log p and log(1 − p)."""

    def extras(self, columns: Columns, statistic: Any) -> Hyperparameters:
        """Return hyperparameters other than a and b, which the data do not change."""
        return ()

    def refuses(self, values: Array) -> Array:
        wrong = values < 0
        if values.dtype.kind == "f":
            wrong |= np.isinf(values) | ((values != np.floor(values)) & ~np.isnan(values))
        return np.asarray(wrong)

    def refusal(self, value: float) -> str:
        return f"{self.full_name} takes counts 0, 1, 2, …; the families 'gaussian', 'number' and 'categorical' take it"

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        return columns, scan.sums(part)

    def prior_hyperparameters(self, prior: Any, columns: Columns, statistic: Statistic) -> Hyperparameters:
        count, extras = columns.count, self.extras(columns, statistic)
        if isinstance(prior, Flat):
            return np.ones((1, count)), np.ones((1, count)), *extras
        if isinstance(prior, Beta):
            return *fields_by_column(prior, count), *extras
        if isinstance(prior, MEstimate):
            rows, p = fields_by_column(MEstimate(prior.m, 0.5 if prior.p is None else prior.p), count)
            return rows * p, rows * (1 - p), *extras
        if isinstance(prior, Prior):
            raise unsupported_prior(prior, self.name, "a number, Beta, MEstimate or Flat")
        each = broadcast_to_columns(check_positive(prior, "prior"), count, "prior")[None]
        return each, each, *extras

    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: Any) -> Hyperparameters:
        a, b, *extras = hyperparameters
        successes, failures = self.outcomes(statistic, tuple(extras))
        return a + successes, b + failures, *extras

    def maximum_likelihood(self, columns: Columns, statistic: Any) -> Parameters:
        extras = self.extras(columns, statistic)
        return self._from_weights(*self.outcomes(statistic, extras), extras)

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        a, b, *extras = hyperparameters
        return self._from_weights(*beta_mode(a, b), tuple(extras))

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        a, b, *extras = hyperparameters
        return self._from_weights(a, b, tuple(extras))

    def log_partition(self, columns: Columns, hyperparameters: Hyperparameters) -> Array:
        return np.asarray(betaln(*check_proper(hyperparameters[:2])))

    def marginals(self, columns: Columns, hyperparameters: Hyperparameters) -> dict[str, Any]:
        return {"p": stats.beta(*np.broadcast_arrays(*check_proper(hyperparameters[:2])))}

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> Parameters:
        a, b, *extras = hyperparameters
        return self._from_weights(*draw_beta(a, b, rng), tuple(extras))

    def _from_weights(self, successes: Array, failures: Array, extras: Hyperparameters) -> Parameters:
        whole = successes + failures
        return self.from_logs(log_ratio(successes, whole, 0.5), log_ratio(failures, whole, 0.5), extras)


def beta_mode(a: Array, b: Array) -> tuple[Array, Array]:
    """Return weights of 1 and 0 in proportion to the mode of Beta(a, b); at an edge one of them is 0.

    >>> [each.tolist() for each in beta_mode(np.array([3.0, 0.5]), np.array([2.0, 4.0]))]
    [[2.0, 0.0], [1.0, 3.0]]
    """
    ones, zeros, tie = mode_weights(a), mode_weights(b), ROUNDING * (a + b)
    at_edge = (ones + zeros) == 0
    return np.where(at_edge, a > b + tie, ones), np.where(at_edge, b > a + tie, zeros)


def draw_beta(a: Array, b: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return weights of 1 and 0, the larger of which is 1, in proportion to a draw from Beta(a, b)."""
    both = np.stack(np.broadcast_arrays(a, b), axis=-1)
    drawn = draw_weights(both.reshape(-1, 2), np.array([0]), rng).reshape(both.shape)
    return drawn[..., 0], drawn[..., 1]
