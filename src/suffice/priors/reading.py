"""Reading a prior: what it means for columns of so many levels, and one prior from one a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from suffice.priors.checks import checked_sums, numbers, per_column, positive
from suffice.priors.priors import Beta, Dirichlet, Flat, MEstimate, Prior
from suffice.schema import Array, Columns, starts_of


def pseudo_counts(prior: Any, sizes: Array, family: str) -> Array:
    """Return one pseudo-count a level, for columns of so many levels each, side by side.

    >>> pseudo_counts(MEstimate(1), np.array([3]), "categorical")
    array([0.33333333, 0.33333333, 0.33333333])
    """
    width = int(sizes.sum())
    if isinstance(prior, Flat):
        return np.ones(width)
    if isinstance(prior, Dirichlet):
        return _by_level(prior.alpha, sizes, "Dirichlet(alpha=…)")
    if isinstance(prior, MEstimate):
        share = 1 / np.repeat(sizes, sizes) if prior.p is None else _shares(prior.p, sizes)
        return np.asarray(share * np.repeat(per_column(prior.m, len(sizes), "MEstimate(m=…)"), sizes))
    if isinstance(prior, Prior):
        raise refused(prior, family, "a number, Dirichlet, MEstimate or Flat")
    positive(prior, "prior", zero=True)
    if len(sizes) == 1:
        return _by_level(prior, sizes, "prior")
    return np.repeat(per_column(prior, len(sizes), "prior"), sizes)


def for_columns(prior: Any, columns: Columns) -> Any:
    """Return one prior for all columns from a list or dictionary with one for each.

    >>> from suffice import Beta
    >>> for_columns([Beta(1, 2), Beta(3, 4)], Columns("bernoulli", 2))
    Beta(a=array([1., 3.]), b=array([2., 4.]))
    """
    if isinstance(prior, Mapping):
        names: Sequence[Any] = columns.names or range(columns.count)
        odd = [name for name in names if name not in prior] or [name for name in prior if name not in names]
        if odd:
            raise ValueError(f"prior={{…}} must name each column once: {odd[0]!r} is on one side only")
        prior = [prior[name] for name in names]
    if not isinstance(prior, (list, tuple)) or not any(isinstance(each, Prior) for each in prior):
        return prior
    kinds = {type(each) for each in prior}
    if len(prior) != columns.count or len(kinds) > 1:
        raise ValueError(
            f"prior=[…] has {len(prior)} entries of {len(kinds)} kinds; "
            f"it takes one a column ({columns.count}), all of one kind"
        )
    kind = type(prior[0])
    by_level = kind is Dirichlet or (kind is MEstimate and any(np.ndim(each.p) for each in prior))
    two = np.full(columns.count, 2 if by_level and columns.family == "bernoulli" else 1)
    stacked = {}
    for field in fields(kind):
        values = [getattr(each, field.name) for each in prior]
        if any(value is None for value in values) and not all(value is None for value in values):
            raise ValueError(f"prior=[…] sets {field.name} of some columns and not of others: set it for all")
        leveled = by_level and field.name in ("alpha", "p")
        sizes = columns.sizes if leveled and columns.sizes is not None else two if leveled else np.ones(len(two), int)
        stacked[field.name] = (
            None
            if all(value is None for value in values)
            else np.concatenate(
                [
                    per_column(v, int(size), f"{kind.__name__}({field.name}=…)")
                    for v, size in zip(values, sizes, strict=True)
                ]
            )
        )
    return kind(**stacked)


def by_name(prior: Any, columns: Columns) -> Any:
    """Return the prior of a block from {column or family: prior}; what is not named has a pseudo-count of ½.

    >>> from suffice import Gamma
    >>> by_name({"poisson": Gamma(2, 1), "age": 5.0}, Columns("gaussian", 2, ("age", "height")))
    array([5. , 0.5])
    """
    if not isinstance(prior, Mapping):
        return prior
    names, families = columns.names or tuple(range(columns.count)), columns.families
    found = [prior.get(name, prior.get(family, 0.5)) for name, family in zip(names, families, strict=True)]
    for name, each in zip(names, found, strict=True):
        if isinstance(each, str):
            raise ValueError(
                f'prior={{…}} has {each!r} for column {name!r}, and takes a number or a Prior; "auto" is for all'
            )
    if any(isinstance(each, Prior) for each in found) and columns.sizes is not None:
        found = [_of_levels(*each, columns.family) for each in zip(found, columns.sizes, names, strict=True)]
    if any(isinstance(each, Prior) for each in found):
        return found[0] if len(found) == 1 or all(each == found[0] for each in found) else found
    return np.array(found, np.float64) if len(found) > 1 else found[0]


def _of_levels(prior: Any, size: int, name: Any, family: str) -> Dirichlet:
    """Return the prior of a column of so many levels as a Dirichlet: one of any kind stands beside any other."""
    if isinstance(prior, Beta):
        prior = Dirichlet(np.array([prior.b, prior.a], np.float64))
    if size == 2 and isinstance(prior, MEstimate) and prior.p is not None and np.size(prior.p) == 1:
        share = float(np.ravel(prior.p)[0])  # of yes and no, it is the share of yes
        prior = MEstimate(prior.m, [1 - share, share])
    try:
        return Dirichlet(pseudo_counts(prior, np.array([size]), family))
    except ValueError as error:
        raise ValueError(f"column {name!r}: {error}") from None


def refused(prior: Any, family: str, accepted: str) -> ValueError:
    """Return the error for a prior that is another family's."""
    return ValueError(f"prior={prior!r} does not suit {family} columns; they take {accepted}")


def _by_level(value: Any, sizes: Array, what: str) -> Array:
    """Return one number a level: from one for all, or one for each level of a column."""
    array, width = numbers(value, what), int(sizes.sum())
    if array.size == 1:
        return np.full(width, array.item())
    if array.shape == (width,):
        return array
    if len(set(sizes.tolist())) == 1 and array.shape == (int(sizes[0]),):
        return np.tile(array, len(sizes))
    levels = f"{sizes[0]} levels" if len(sizes) == 1 else f"{len(sizes)} columns with {width} levels in all"
    raise ValueError(f"{what} has {array.size} entries, and there are {levels}")


def _shares(p: Any, sizes: Array) -> Array:
    share = _by_level(p, sizes, "MEstimate(p=…)")
    totals = np.add.reduceat(share, starts_of(sizes))
    return np.asarray(share / np.repeat(checked_sums(totals, "MEstimate(p=…)"), sizes))
