"""Rules: how parameters are read off prior and tally; and the evidence, by which a prior is chosen.

| rule | what it takes |
|---|---|
| ``mle`` | the parameters that make the data most probable; no prior |
| ``map`` | the mode of the posterior |
| ``mean`` | the mean of the posterior |
| ``predictive`` | no single parameters: the average over the posterior |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from suffice.families import Family
from suffice.families.family import Beliefs, Parameters
from suffice.priors import Prior, for_columns
from suffice.schema import Array, Columns
from suffice.statistics import Statistic

Rule = Callable[[Family, Columns, Statistic, Any], Parameters]

# The pseudo-counts among which "auto" looks, as logarithms, and how finely.
LEAST, MOST, STEPS, TOLERANCE = np.log(1e-6), np.log(1e6), 25, 1e-6
GOLDEN = (np.sqrt(5) - 1) / 2


def mle(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Parameters:
    """Return the maximum-likelihood parameters."""
    return family.most_likely(columns, statistic)


def map_(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Parameters:
    """Return the parameters at the mode of the posterior."""
    return family.mode(columns, posterior(family, columns, statistic, prior))


def mean(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Parameters:
    """Return the parameters at the mean of the posterior."""
    return family.mean(columns, posterior(family, columns, statistic, prior))


def predictive(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Parameters:
    """Return the parameters of the posterior predictive distribution."""
    return family.predictive(columns, posterior(family, columns, statistic, prior))


RULES: dict[str, Rule] = {"mle": mle, "map": map_, "mean": mean, "predictive": predictive}


def believed(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Beliefs:
    """Return the hyperparameters that a prior stands for, or one for each column, of whatever kinds."""
    kinds = {_kind(each): each for each in prior} if isinstance(prior, (list, tuple)) else {}
    if len(kinds) < 2 or len(prior) != columns.count or columns.sizes is not None:
        return family.believed(for_columns(prior, columns), columns, statistic)
    found: list[Array] = []
    for kind, its in kinds.items():
        mine = np.array([_kind(each) == kind for each in prior])
        filled = [each if own else its for each, own in zip(prior, mine, strict=True)]
        given = for_columns(filled if kind is not float else np.array(filled, np.float64), columns)
        beliefs = family.believed(given, columns, statistic)
        found = list(beliefs) if not found else [np.where(mine, *both) for both in zip(beliefs, found, strict=True)]
    return tuple(found)


def _kind(prior: Any) -> type:
    return type(prior) if isinstance(prior, Prior) else float


def posterior(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Beliefs:
    """Return what is believed after the data: the prior's hyperparameters with the sums added."""
    return family.updated(believed(family, columns, statistic, prior), statistic)


def log_evidence(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Array:
    """Return log p(data | prior) = log Z(posterior) − log Z(prior), [class, column].

    Of the likelihood only what depends on parameters is in it: not the multinomial coefficients, nor
    the factorials of poisson counts, which are the same under every prior.
    """
    family = family.generative
    before = believed(family, columns, statistic, prior)
    normaliser = family.log_partition(columns, before)
    return family.log_partition(columns, family.updated(before, statistic)) - normaliser


def chosen(prior: Any, family: Family, columns: Columns, statistic: Statistic) -> Any:
    """Return the prior itself, or the pseudo-count of most evidence: "auto" for all columns, or for each."""
    if not isinstance(prior, str):
        return prior
    if prior == "auto":
        return float(
            np.exp(_highest(lambda c: log_evidence(family, columns, statistic, np.exp(c[0])).sum()[None], 1)[0])
        )
    if prior == "auto-by-column":
        return np.exp(
            _highest(lambda c: log_evidence(family, columns, statistic, np.exp(c)).sum(axis=0), columns.count)
        )
    raise ValueError(f"prior={prior!r} is not known; it is a number, a Prior, one a column, 'auto' or 'auto-by-column'")


def _highest(score: Callable[[Array], Array], count: int) -> Array:
    """Return where each of many scores is highest, by a coarse look and golden sections, all at once."""
    grid = np.linspace(LEAST, MOST, STEPS)
    coarse = np.array([score(np.full(count, point)) for point in grid])
    best = coarse.argmax(axis=0)
    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, STEPS - 1)]
    while (high - low).max() > TOLERANCE:
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        better = score(left) >= score(right)
        low, high = np.where(better, low, left), np.where(better, right, high)
    return np.asarray((low + high) / 2)
