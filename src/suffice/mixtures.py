"""Mixtures: a class as several components, fitted by expectation maximisation.

The M-step is a weighted tally: each row counts in each component by the probability that it belongs there, and the
components are estimated from the sums by the same rules as classes are.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from suffice.blocks import Dense
from suffice.estimation import RULES
from suffice.families.bernoulli import Bernoulli
from suffice.families.family import Parameters
from suffice.families.gaussian import Gaussian
from suffice.schema import Array, Columns
from suffice.score import LogSumExp, Score
from suffice.score.linear import LinearProduct
from suffice.statistics import CoMoments, Counts, Moments, Statistic, two_sum
from suffice.structures import Subject
from suffice.structures.covariances import PAIRED, CovarianceKind
from suffice.structures.full import Full

LLOYD_STEPS = 10

# Products of two columns are kept for all steps if they are at most this many.
LIFTED = 1 << 25


@dataclass(frozen=True)
class Kind(ABC):
    """A kind of components: how they are counted, estimated and scored."""

    rule: str
    prior: Any

    @abstractmethod
    def tally(self, x: Array, shares: Array, lifted: Array | None) -> Statistic:
        """Return the sums of the rows by component, each row weighted by its shares [row, component]."""

    def prepared(self, x: Array) -> Array | None:
        """Return values of the rows that every step needs, if they are not too many."""
        return None

    @abstractmethod
    def estimate(self, statistic: Statistic) -> Parameters:
        """Return the parameters of the components."""

    def score(self, parameters: Parameters) -> Score:
        """Return log p(x | component) as a model scores rows with it."""
        return parameters.score()

    def score_of_complete_rows(self, parameters: Parameters) -> Score | LinearProduct:
        """Return log p(x | component) as rows without missing cells are scored fastest."""
        return parameters.score()


@dataclass(frozen=True)
class Gaussians(Kind):
    """Components with a mean and a covariance of any kind."""

    covariance: CovarianceKind = "full"
    shrinkage: float | str | None = None

    def tally(self, x: Array, shares: Array, lifted: Array | None) -> Statistic:
        n, shift = shares.sum(axis=0), x.mean(axis=0)
        drift = shares.T @ (x - shift) / np.maximum(n, 1e-300)[:, None]
        mean, tail = two_sum(np.broadcast_to(shift, drift.shape), drift)
        if self.covariance not in PAIRED:
            m2 = np.stack([share @ (x - centre) ** 2 for share, centre in zip(shares.T, mean, strict=True)])
            return Moments(n[:, None], mean, tail, m2)
        if lifted is None:
            return CoMoments(n[:, None], mean, tail, _scatter(x, shares, mean))
        scatter = np.empty((len(n), x.shape[1], x.shape[1]))
        rows, columns = np.tril_indices(x.shape[1])
        scatter[:, rows, columns] = scatter[:, columns, rows] = shares.T @ lifted
        scatter -= drift[:, :, None] * drift[:, None, :] * n[:, None, None]
        diagonal = np.arange(x.shape[1])
        scatter[:, diagonal, diagonal] = np.maximum(scatter[:, diagonal, diagonal], 0.0)
        return CoMoments(n[:, None], mean, tail, scatter)

    def prepared(self, x: Array) -> Array | None:
        """Return the products of each two columns, centred, if they are not too many."""
        rows, columns = np.tril_indices(x.shape[1])
        if self.covariance not in PAIRED or len(x) * len(rows) > LIFTED:
            return None
        away = x - x.mean(axis=0)
        return np.asarray(away[:, rows] * away[:, columns])

    def estimate(self, statistic: Statistic) -> Parameters:
        columns = Columns("gaussian", statistic.mean.shape[1], pairs=True)  # type: ignore[attr-defined]
        subject = Subject(Gaussian(), columns, statistic)
        return Full(self.shrinkage, self.covariance).dependent(self.rule, subject, self.prior)


@dataclass(frozen=True)
class Bernoullis(Kind):
    """Components of bits, whose columns are independent within each; numbers above ``threshold`` are ones."""

    threshold: float | None = None

    def tally(self, x: Array, shares: Array, lifted: Array | None) -> Statistic:
        return Counts(shares.sum(axis=0)[:, None], shares.T @ x)

    def estimate(self, statistic: Statistic) -> Parameters:
        columns = Columns("bernoulli", statistic.total.shape[1])  # type: ignore[attr-defined]
        return RULES[self.rule](Bernoulli(1e-12), columns, statistic, self.prior)

    def score(self, parameters: Parameters) -> Score:
        return replace(parameters, threshold=self.threshold).score()  # type: ignore[call-arg]

    def score_of_complete_rows(self, parameters: Parameters) -> Score | LinearProduct:
        return LinearProduct(parameters.score().terms)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Mixture:
    """The components of a class: the logarithms of their shares, their parameters and their sums.

    ``trace`` is the mean log likelihood of a row after each step.
    """

    log_shares: Array
    parameters: Parameters
    statistic: Statistic
    trace: tuple[float, ...]
    converged: bool


def mixture(
    x: Array,
    weights: Array,
    components: int,
    kind: Kind,
    rng: np.random.Generator,
    steps: int,
    tolerance: float,
    say: Callable[[str], None],
    known: Mixture | None = None,
    keep: Callable[[Mixture], None] = lambda found: None,
) -> Mixture:
    """Return a mixture by expectation maximisation, from one start (k-means++, then ten steps of Lloyd's algorithm).

    ``keep`` is called after each step. ``known``, what an earlier call has kept, is continued with the same result.
    """
    if known is not None and (known.converged or len(known.trace) > steps):
        return known
    lifted, trace = kind.prepared(x), [] if known is None else list(known.trace)
    if known is None:
        shares = _start(x, weights, components, rng) * weights[:, None]
    else:
        scores, total = _score(x, kind, known.parameters, known.log_shares)
        shares = np.exp(scores - total[:, None]) * weights[:, None]
    while True:
        statistic = kind.tally(x, shares, lifted)
        parameters = kind.estimate(statistic)
        size = shares.sum(axis=0)
        pseudo = 0.0 if kind.rule == "mle" else 1.0
        log_shares = np.log(np.maximum(size + pseudo, 1e-300) / (size.sum() + pseudo * components))
        scores, total = _score(x, kind, parameters, log_shares)
        trace.append(float(weights @ total / weights.sum()))
        say(f"step {len(trace)}, log likelihood {trace[-1]:.4f}")
        converged = len(trace) > 1 and abs(trace[-1] - trace[-2]) < tolerance
        found = Mixture(log_shares, parameters, statistic, tuple(trace), converged)
        keep(found)
        if converged or len(trace) > steps:
            return found
        shares = np.exp(scores - total[:, None]) * weights[:, None]


def _score(x: Array, kind: Kind, parameters: Parameters, log_shares: Array) -> tuple[Array, Array]:
    """Return log share·p(x | component) of each row and component, and the logarithm of their sum for each row."""
    scores = np.tile(log_shares, (len(x), 1))
    kind.score_of_complete_rows(parameters).add(Dense("mixture", None, x), slice(0, len(x)), scores)
    return scores, logsumexp(scores, axis=1)


def _scatter(x: Array, shares: Array, mean: Array) -> Array:
    """Return Σ share·(x − mean)(x − mean)ᵀ of each component."""
    scatter, roots = np.empty((len(mean), x.shape[1], x.shape[1])), np.sqrt(shares)
    for c in range(len(mean)):
        some = np.flatnonzero(shares[:, c] > 1e-12)  # most rows have no share in most components
        away = (x[some] - mean[c]) * roots[some, c, None]
        scatter[c] = away.T @ away
    return scatter


def _start(x: Array, weights: Array, components: int, rng: np.random.Generator) -> Array:
    """Return shares of 0 and 1, by the nearest of centres that k-means++ and a few steps of Lloyd's algorithm find."""
    from sklearn.cluster import kmeans_plusplus  # imported here, because it loads a hundred modules

    scale = x.std(axis=0)
    z = (x - x.mean(axis=0)) / np.where(scale > 0, scale, 1.0) if (scale.max() > 100 * np.median(scale)) else x
    # rows are drawn in an order of their own, so that neither their order nor a repetition matters
    order = np.argsort(z @ np.random.default_rng(0).standard_normal(z.shape[1]), kind="stable")
    seed = int(rng.integers(2**31))
    centres, _ = kmeans_plusplus(z[order], components, sample_weight=weights[order], random_state=seed)
    for _ in range(LLOYD_STEPS):
        shares = _nearest(z, centres) * weights[:, None]
        size = shares.sum(axis=0)
        centres = np.where(size[:, None] > 0, shares.T @ z / np.maximum(size, 1e-300)[:, None], centres)
    return _nearest(z, centres)


def _nearest(z: Array, centres: Array) -> Array:
    """Return 1 for the nearest centre of each row, and 0 for others, [row, centre]."""
    distances = (centres**2).sum(axis=1) - 2 * z @ centres.T  # without |z|², which is the same for all centres
    return np.asarray(np.eye(len(centres))[distances.argmin(axis=1)])


@dataclass(frozen=True)
class MixtureParameters(Parameters):
    """p(x | class) = Σ share·p(x | component), with the components of all classes."""

    mixtures: tuple[Mixture, ...]
    kind: Kind

    def score(self) -> Score:
        scores = tuple(self.kind.score(each.parameters) for each in self.mixtures)
        return Score((LogSumExp(scores, tuple(each.log_shares for each in self.mixtures)),))

    @property
    def n_parameters(self) -> int:
        return sum(each.parameters.n_parameters + len(each.log_shares) - 1 for each in self.mixtures)

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        parameters, shares = self.mixtures[k].parameters, np.exp(self.mixtures[k].log_shares)
        codes = rng.choice(len(shares), count, p=shares / shares.sum())
        by_component = [parameters.sample(c, size, rng) for c, size in enumerate(np.bincount(codes).tolist()) if size]
        return np.concatenate(by_component)[np.argsort(np.argsort(codes, kind="stable"))]


def rows_of(block: Dense, columns: Columns, first: int, last: int) -> Array:
    """Return rows as doubles, or as 0 and 1 if there is a threshold; NaN only if the block has missing cells."""
    block.reject_if_not_finite(slice(first, last))
    x = np.asarray(np.concatenate([piece for _, piece in block.pieces(first, last)]), np.float64)
    return x if columns.threshold is None else np.where(np.isnan(x), np.nan, x > columns.threshold)
