"""How a prior is read for a block of columns: the prior of each column, and the pseudo-count of each level."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice.priors.conjugate import (
    Beta,
    Dirichlet,
    Flat,
    MEstimate,
    Prior,
    broadcast_to_columns,
    check_numbers,
    check_positive,
    check_sums_to_one,
)
from suffice.schema import Array, Columns, starts_of


def unsupported_prior(prior: Any, family: str, accepted: str) -> ValueError:
    """Return the error for a prior that a family does not support."""
    return ValueError(f"prior={prior!r} does not suit {family} columns; they take {accepted}")


def pseudo_counts(prior: Any, sizes: Array, family: str) -> Array:
    """Return the pseudo-count of each level, for columns with these numbers of levels, concatenated.

    >>> pseudo_counts(MEstimate(1), np.array([3]), "categorical")
    array([0.33333333, 0.33333333, 0.33333333])
    """
    if isinstance(prior, Flat):
        return np.ones(int(sizes.sum()))
    if isinstance(prior, Dirichlet):
        return _by_level(prior.alpha, sizes, "Dirichlet(alpha=…)")
    if isinstance(prior, MEstimate):
        share = 1 / np.repeat(sizes, sizes) if prior.p is None else _shares(prior.p, sizes)
        return np.asarray(share * np.repeat(broadcast_to_columns(prior.m, len(sizes), "MEstimate(m=…)"), sizes))
    if isinstance(prior, Prior):
        raise unsupported_prior(prior, family, "a number, Dirichlet, MEstimate or Flat")
    check_positive(prior, "prior", zero=True)
    if len(sizes) == 1:
        return _by_level(prior, sizes, "prior")
    return np.repeat(broadcast_to_columns(prior, len(sizes), "prior"), sizes)


def _by_level(value: Any, sizes: Array, what: str) -> Array:
    """Return one number per level, from one for all, one per level of each column, or one per level of all."""
    array, width = check_numbers(value, what), int(sizes.sum())
    if array.size == 1:
        return np.full(width, array.item())
    if array.shape == (width,):
        return array
    if len(set(sizes.tolist())) == 1 and array.shape == (int(sizes[0]),):
        return np.tile(array, len(sizes))
    levels = f"{sizes[0]} levels" if len(sizes) == 1 else f"{len(sizes)} columns with {width} levels in all"
    raise ValueError(f"{what} has {array.size} entries, and there are {levels}")


def _shares(p: Any, sizes: Array) -> Array:
    """Return the share of each level, scaled so that those of a column sum to 1."""
    share = _by_level(p, sizes, "MEstimate(p=…)")
    totals = np.add.reduceat(share, starts_of(sizes))
    return np.asarray(share / np.repeat(check_sums_to_one(totals, "MEstimate(p=…)"), sizes))


def list_priors(prior: Any, columns: Columns) -> list[Any] | None:
    """Return the prior of each column if it is a list or dictionary with a `Prior`; None if all columns have the same.

    >>> list_priors({"b": Beta(1, 2), "a": 0.5}, Columns("bernoulli", 2, ("a", "b")))
    [0.5, Beta(a=1, b=2)]
    """
    if isinstance(prior, Mapping):
        names: Sequence[Any] = columns.names or range(columns.count)
        odd = [name for name in names if name not in prior] or [name for name in prior if name not in names]
        if odd:
            raise ValueError(f"prior={{…}} must name each column once: {odd[0]!r} is on one side only")
        return [prior[name] for name in names]
    if not isinstance(prior, (list, tuple)) or not any(isinstance(each, Prior) for each in prior):
        return None
    if len(prior) != columns.count:
        raise ValueError(f"prior=[…] has {len(prior)} entries; it takes one per column ({columns.count})")
    return list(prior)


def select_priors(prior: Any, columns: Columns) -> Any:
    """Return the prior of a block from {column or family: prior}; other columns have a pseudo-count of ½.

    >>> from suffice import Gamma
    >>> select_priors({"poisson": Gamma(2, 1), "age": 5.0}, Columns("gaussian", 2, ("age", "height")))
    array([5. , 0.5])
    """
    if not isinstance(prior, Mapping):
        return prior
    names, found = columns.names or tuple(range(columns.count)), columns.select(prior, 0.5)
    for name, each in zip(names, found, strict=True):
        if isinstance(each, str):
            raise ValueError(
                f'prior={{…}} has {each!r} for column {name!r}, and takes a number or a Prior; "auto" is for all'
            )
    if any(isinstance(each, Prior) for each in found):
        if columns.sizes is not None:
            found = list(map(_as_prior_of_levels, found, columns.sizes))
        return found[0] if len(found) == 1 or all(each == found[0] for each in found) else found
    return np.array(found, np.float64) if len(found) > 1 else found[0]


def _as_prior_of_levels(prior: Any, size: int) -> Any:
    """Return a prior of the probability of a 1 as one of the levels 0 and 1; other priors as they are."""
    if isinstance(prior, Beta):
        return Dirichlet(np.array([prior.b, prior.a], np.float64))
    if size == 2 and isinstance(prior, MEstimate) and prior.p is not None and np.size(prior.p) == 1:
        share = np.ravel(prior.p)[0]
        return MEstimate(prior.m, [1 - share, share])
    return prior
