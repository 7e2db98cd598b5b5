"""Rules: how parameters are estimated from a prior and a statistic; and the marginal likelihood, to choose a prior by.

| rule | estimate |
|---|---|
| ``mle`` | maximum likelihood; the prior is not used |
| ``map`` | the mode of the posterior |
| ``mean`` | the mean of the posterior |
| ``predictive`` | the posterior predictive distribution: the average over all parameters |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from suffice.families import Family
from suffice.families.family import Hyperparameters, Parameters
from suffice.priors import list_priors
from suffice.schema import Array, Columns, Combinations
from suffice.statistics import Statistic

Rule = Callable[[Family, Columns, Statistic, Any], Parameters]

# The logarithms of the pseudo-counts among which "auto" searches, and the resolution of the search.
LEAST, MOST, STEPS, TOLERANCE = np.log(1e-6), np.log(1e6), 25, 1e-6
GOLDEN = (np.sqrt(5) - 1) / 2


def mle(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Parameters:
    """Return the maximum-likelihood parameters."""
    return family.maximum_likelihood(columns, statistic)


def map_(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Parameters:
    """Return the parameters at the mode of the posterior."""
    return family.mode(columns, posterior_hyperparameters(family, columns, statistic, prior))


def mean(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Parameters:
    """Return the parameters at the mean of the posterior."""
    return family.mean(columns, posterior_hyperparameters(family, columns, statistic, prior))


def predictive(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Parameters:
    """Return the parameters of the posterior predictive distribution."""
    return family.predictive(columns, posterior_hyperparameters(family, columns, statistic, prior))


RULES: dict[str, Rule] = {"mle": mle, "map": map_, "mean": mean, "predictive": predictive}
DEFAULT_RULE = "mean"


def check_rules(setting: Any) -> Any:
    """Return {column or family: rule}, or a single rule; raise if one of the rules is not known."""
    for name, rule in setting.items() if isinstance(setting, Mapping) else ():
        if not isinstance(rule, str) or rule not in RULES:
            raise ValueError(f"estimate={{…}} has {rule!r} for {name!r}; a rule is one of {', '.join(RULES)}")
    return setting


def select_rules(setting: Any, columns: Columns) -> str | tuple[str, ...]:
    """Return the rule of a block from {column or family: rule}, or one for each column if they differ.

    The rule of a column takes precedence over that of its family; other columns have the rule "mean". Combinations of
    levels have the rule of their columns if it is the same for all.

    >>> select_rules({"gaussian": "mle", "age": "map"}, Columns("gaussian", 2, ("age", "height")))
    ('map', 'mle')
    """
    if not isinstance(setting, Mapping):
        return str(setting)
    rules = tuple(columns.select(setting, DEFAULT_RULE))
    if columns.codings and isinstance(columns.codings[-1], Combinations):
        rules = (*rules[:-1], rules[0] if len(set(rules[:-1])) == 1 else DEFAULT_RULE)
    return rules[0] if len(set(rules)) == 1 else rules


def estimate_by_column(
    rules: Sequence[str], family: Family, columns: Columns, statistic: Statistic, prior: Any
) -> Parameters:
    """Return the parameters of columns of levels, each estimated by its own rule."""
    found = {rule: RULES[rule](family, columns, statistic, prior) for rule in dict.fromkeys(rules)}
    assert columns.sizes is not None
    first, *others = found.items()
    by_column = np.array(rules)
    by_cell = np.repeat(by_column, columns.sizes)
    arrays = {field.name: np.array(getattr(first[1], field.name)) for field in fields(first[1])}
    for rule, parameters in others:
        for name, array in arrays.items():
            is_own = (by_cell if array.shape[-1] == len(by_cell) else by_column) == rule
            array[..., is_own] = getattr(parameters, name)[..., is_own]
    return type(first[1])(**arrays)


def prior_hyperparameters(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Hyperparameters:
    """Return the hyperparameters of one prior for all columns, or of one prior for each column."""
    priors, sizes = list_priors(prior, columns), columns.sizes
    if priors is None:
        return family.prior_hyperparameters(prior, columns, statistic)
    found = []
    for j, each in enumerate(priors):
        column = replace(columns, count=1, names=None, codings=None, sizes=None if sizes is None else sizes[j : j + 1])
        try:
            arrays = family.prior_hyperparameters(each, column, statistic)
        except ValueError as error:
            raise ValueError(f"{columns.name(j)}: {error}") from None
        # what a family takes from the statistic has an entry for each column
        found.append([array[..., j : j + 1] if sizes is None and array.shape[-1] > 1 else array for array in arrays])
    return tuple(np.concatenate(_align(arrays), axis=-1) for arrays in zip(*found, strict=True))


def _align(arrays: Sequence[Array]) -> list[Array]:
    """Return arrays [class, cell] with the same leading axes: for leave-one-out, some are [row, class, cell]."""
    leading = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    return [np.broadcast_to(array, (*leading, array.shape[-1])) for array in arrays]


def posterior_hyperparameters(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Hyperparameters:
    """Return the hyperparameters after the data: those of the prior with the sums added."""
    return family.posterior_hyperparameters(prior_hyperparameters(family, columns, statistic, prior), statistic)


def log_evidence(family: Family, columns: Columns, statistic: Statistic, prior: Any) -> Array:
    """Return log p(data | prior) = log Z(posterior) − log Z(prior), [class, column].

    Factors of the likelihood that do not depend on parameters are left out, because they are the same under every
    prior: multinomial coefficients, and the factorials of Poisson counts.
    """
    family = family.generative
    before = prior_hyperparameters(family, columns, statistic, prior)
    normaliser = family.log_partition(columns, before)
    return family.log_partition(columns, family.posterior_hyperparameters(before, statistic)) - normaliser


def choose_prior(prior: Any, family: Family, columns: Columns, statistic: Statistic) -> Any:
    """Return the prior itself, or for "auto" the pseudo-count of highest evidence, one for all columns or for each."""
    if not isinstance(prior, str):
        return prior

    def evidence(log_count: Array) -> Array:
        return log_evidence(family, columns, statistic, np.exp(log_count))

    if prior == "auto":
        return float(np.exp(_maximize(lambda logs: evidence(logs[0]).sum()[None], 1)[0]))
    if prior == "auto-by-column":
        return np.exp(_maximize(lambda logs: evidence(logs).sum(axis=0), columns.count))
    raise ValueError(f"prior={prior!r} is not known; it is a number, a Prior, a list, 'auto' or 'auto-by-column'")


def _maximize(score: Callable[[Array], Array], count: int) -> Array:
    """Return the maximum of each of many functions of one variable, by a coarse grid and golden sections."""
    grid = np.linspace(LEAST, MOST, STEPS)
    coarse = np.array([score(np.full(count, point)) for point in grid])
    best = coarse.argmax(axis=0)
    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, STEPS - 1)]
    while (high - low).max() > TOLERANCE:
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        is_left = score(left) >= score(right)
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
    return np.asarray((low + high) / 2)
