"""Bernoulli: columns of 0 and 1, or of numbers above a threshold or not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import betaln

from suffice.blocks import Part
from suffice.families import description
from suffice.families.beta_family import beta_mode, draw_beta
from suffice.families.family import (
    NO_EVIDENCE,
    Family,
    Hyperparameters,
    Parameters,
    check_proper,
    fields_by_column,
    log_ratio,
)
from suffice.priors import Beta, MEstimate, Prior, broadcast_to_columns, check_positive, pseudo_counts
from suffice.schema import Array, Columns
from suffice.score import Linear, Score
from suffice.statistics import Counts, Statistic, rest_of, scan


@dataclass(frozen=True)
class BernoulliParameters(Parameters):
    """The logarithms of p, the probability of a 1, and of 1 − p, [class, column]."""

    log_p: Array
    log_q: Array
    threshold: float | None = None

    def score(self) -> Score:
        return Score((Linear.of_bits(self.log_p, self.log_q, self.threshold),))

    def as_linear(self) -> tuple[str, Array, Array]:
        return "linear", self.log_p - self.log_q, np.asarray(self.log_q.sum(axis=1))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        return np.asarray(rng.random((count, self.log_p.shape[1])) < np.exp(self.log_p[k]), np.float64)


@dataclass(frozen=True)
class Bernoulli(Family):
    """p(x | class) = Πⱼ pⱼ^xⱼ·(1 − pⱼ)^(1 − xⱼ); the conjugate prior is Beta(a, b).

    The mode is (a − 1) / (a + b − 2); if a or b is less than 1 it is 0 or 1. If a = b ≤ 1, where no value has the
    highest density, it is taken to be ½.
    """

    epsilon: float = 0.0

    name = "bernoulli"
    is_separate = True
    cells = "bits"
    coded_as = "categorical"
    accepts_sparse = True
    sql_sums = "totals"

    def sparse_columns(self, names: tuple[Any, ...]) -> Columns:
        return Columns(self.name, len(names), names, threshold=0.0)

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        return columns, scan.bits(part, columns.threshold)

    def prior_hyperparameters(self, prior: Any, columns: Columns, statistic: Statistic) -> Hyperparameters:
        count = columns.count
        if isinstance(prior, Beta):
            return fields_by_column(prior, count)
        if isinstance(prior, MEstimate) and prior.p is not None and np.size(prior.p) != 2 * count:
            # one p for each column is the share of ones
            rows, p = fields_by_column(prior, count)
            return rows * p, rows * (1 - p)
        if isinstance(prior, Prior):
            zeros, ones = pseudo_counts(prior, np.full(count, 2), self.name).reshape(-1, 2).T
            return ones[None], zeros[None]
        each = broadcast_to_columns(check_positive(prior, "prior", zero=True), count, "prior")[None]
        return each, each

    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: Counts) -> Hyperparameters:
        a, b = hyperparameters
        return a + statistic.total, b + rest_of(statistic.n, statistic.total)

    def maximum_likelihood(self, columns: Columns, statistic: Counts) -> BernoulliParameters:
        return self._from_weights(columns, statistic.total, rest_of(statistic.n, statistic.total))

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> BernoulliParameters:
        return self._from_weights(columns, *beta_mode(*hyperparameters))

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> BernoulliParameters:
        return self._from_weights(columns, *hyperparameters)

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> BernoulliParameters:
        return self.mean(columns, hyperparameters)  # the average of a single trial is the mean

    def log_partition(self, columns: Columns, hyperparameters: Hyperparameters) -> Array:
        return np.asarray(betaln(*check_proper(hyperparameters, NO_EVIDENCE)))

    def marginals(self, columns: Columns, hyperparameters: Hyperparameters) -> dict[str, Any]:
        return {"p": stats.beta(*check_proper(hyperparameters))}

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> BernoulliParameters:
        return self._from_weights(columns, *draw_beta(hyperparameters[0], hyperparameters[1], rng))

    def support(self, columns: Columns, statistic: Any, j: int, seen: Sequence[float] = ()) -> description.Support:
        if columns.threshold is None:
            return description.Support("levels", sorted({0.0, 1.0, *seen}))
        above = float(np.nextafter(columns.threshold, np.inf))
        return description.Support("levels", [float(columns.threshold), columns.threshold + 1.0], (above,))

    def summarize(self, columns: Columns, statistic: Counts, j: int) -> dict[str, Any]:
        shares = (statistic.total[:, j] / description.rows_of(statistic, j)).tolist()
        above = "1" if not columns.threshold else f"more than {columns.threshold:g}"
        return {"shows": "levels", "labels": [above], "shares": [[round(share, 6)] for share in shares], "more": 0}

    def information(self, columns: Columns, statistic: Counts) -> Array:
        """Return the mutual information of the counts of ones and zeros with the classes."""
        both = np.stack([statistic.total, np.broadcast_to(statistic.n, statistic.total.shape) - statistic.total], -1)
        return description.information_of_table(both / np.maximum(both.sum(axis=(0, 2), keepdims=True), 1e-300), (0, 2))

    def _from_weights(self, columns: Columns, ones: Array, zeros: Array) -> BernoulliParameters:
        """Return the parameters with p in proportion to the weights of ones and zeros."""
        log_p, log_q = (log_ratio(part, ones + zeros, 0.5, self.epsilon) for part in (ones, zeros))
        return BernoulliParameters(log_p, log_q, columns.threshold)
