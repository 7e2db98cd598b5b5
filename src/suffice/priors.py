"""Priors: what was believed before the data, as pseudo-rows that are added to the sums.

A prior is plain hyperparameters. Each family reads off it what it can use and refuses the rest; a
number stands for the symmetric pseudo-count of that size, as scikit-learn's ``alpha`` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from suffice.schema import Array, Columns

# Hyperparameters beyond this, or below its inverse, would overflow where they are multiplied.
LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class Prior:
    """What was believed before. Hyperparameters are numbers, or arrays with one entry a column."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value, what = getattr(self, field.name), f"{type(self).__name__}({field.name}=…)"
            if value is None and field.default is None:
                continue
            if field.name in self._unbounded():
                numbers(value, what)
            else:
                positive(value, what)

    @classmethod
    def _unbounded(cls) -> tuple[str, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Flat(Prior):
    """No preference: every value of the parameters is as credible as every other, so MAP is MLE.

    Beta(1, 1) for bernoulli, Dirichlet(1) for levels and counts, p(λ) ∝ 1 for poisson, p(μ, σ²) ∝ 1
    for gaussian.
    """


@dataclass(frozen=True, eq=False)
class Beta(Prior):
    """p(θ) ∝ θ^(a − 1)·(1 − θ)^(b − 1): a ones and b zeros seen before (bernoulli).

    >>> Beta(2, 3)
    Beta(a=2, b=3)
    """

    a: Any
    b: Any


@dataclass(frozen=True, eq=False)
class Dirichlet(Prior):
    """p(θ) ∝ Πⱼ θⱼ^(αⱼ − 1): each thing seen αⱼ times before; a number for all, or one for each.

    >>> Dirichlet(0.5)
    Dirichlet(alpha=0.5)
    """

    alpha: Any


@dataclass(frozen=True, eq=False)
class MEstimate(Prior):
    """m virtual rows, of which a share p had the level: P = (count + m·p) / (n + m).

    p is by default the same for all levels, 0.5 where there are two.

    >>> MEstimate(1)
    MEstimate(m=1, p=None)
    """

    m: Any
    p: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p is not None and not ((p := numbers(self.p, "MEstimate(p=…)")) >= 0).all() & (p <= 1).all():
            raise ValueError(f"MEstimate(p=…) is a probability, from 0 to 1, not {self.p}")

    @classmethod
    def _unbounded(cls) -> tuple[str, ...]:
        return ("p",)


@dataclass(frozen=True, eq=False)
class Gamma(Prior):
    """p(λ) ∝ λ^(shape − 1)·e^(−rate·λ): ``shape`` events seen in ``rate`` rows before (poisson).

    >>> Gamma(2, 1)
    Gamma(shape=2, rate=1)
    """

    shape: Any
    rate: Any


@dataclass(frozen=True, eq=False)
class NormalInverseGamma(Prior):
    """σ² ~ InverseGamma(shape, scale) and μ ~ N(mean, σ² / kappa), for each column (gaussian).

    As if ``kappa`` rows had shown the mean and 2·``shape`` rows a sum of squares of 2·``scale``.

    >>> NormalInverseGamma(0, 1, 2, 2)
    NormalInverseGamma(mean=0, kappa=1, shape=2, scale=2)
    """

    mean: Any
    kappa: Any
    shape: Any
    scale: Any

    @classmethod
    def _unbounded(cls) -> tuple[str, ...]:
        return ("mean",)


@dataclass(frozen=True, eq=False)
class NormalInverseWishart(Prior):
    """Σ ~ InverseWishart(dof, scale) and μ ~ N(mean, Σ / kappa), for all columns together."""

    mean: Any
    kappa: float
    dof: float
    scale: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.ndim(self.kappa) or np.ndim(self.dof):
            raise ValueError("NormalInverseWishart takes one kappa and one dof for all columns together")
        scale = np.atleast_2d(np.asarray(self.scale, np.float64))
        size = len(scale)
        symmetric = scale.shape == (size, size) and np.allclose(scale, scale.T, rtol=1e-8, atol=0)
        if not symmetric or np.linalg.eigvalsh(scale).min() <= 0:
            raise ValueError("NormalInverseWishart(scale=…) must be a symmetric positive definite matrix")
        if self.dof <= size - 1:
            raise ValueError(
                f"NormalInverseWishart(dof=…) must be more than {size - 1} for {size} columns, not {self.dof}"
            )

    @classmethod
    def _unbounded(cls) -> tuple[str, ...]:
        return ("mean", "scale")


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


def refused(prior: Any, family: str, accepted: str) -> ValueError:
    """Return the error for a prior that is another family's."""
    return ValueError(f"prior={prior!r} does not suit {family} columns; they take {accepted}")


def checked_sums(totals: Any, what: str) -> Any:
    """Return sums of probabilities that are 1 but for rounding, or raise with the sum."""
    worst = np.ravel(totals)[np.argmax(np.abs(np.ravel(totals) - 1))]
    if abs(worst - 1) > 1e-8:
        raise ValueError(f"{what} must sum to 1, and sums to {worst:g}")
    return totals


def per_column(value: Any, count: int, what: str) -> Array:
    """Return one number a column, from one for all or one for each."""
    array = numbers(value, what)
    if array.ndim and array.shape != (count,):
        raise ValueError(f"{what} has {array.size} entries, and there are {count} columns: give one, or one a column")
    return np.array(np.broadcast_to(array, count))


def numbers(value: Any, what: str) -> Array:
    """Return finite numbers as an array, or say what is none."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be a number or an array of numbers, not {value!r}") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{what} must be finite, not {array[~np.isfinite(array)].flat[0]:g}")
    return array


def positive(value: Any, what: str, zero: bool = False) -> Array:
    """Return numbers more than 0 (or 0), and not so large or small that their squares are none."""
    array = numbers(value, what)
    wrong = (array < 0) if zero else (array <= 0)
    if wrong.any():
        raise ValueError(
            f"{what} must be finite and {'0 or more' if zero else 'more than 0'}, not {array[wrong].flat[0]:g}"
        )
    wrong = (array > LARGEST) | (array < 1 / LARGEST) & (array > 0) & (not zero)
    if wrong.any():
        raise ValueError(f"{what} must lie between {1 / LARGEST:g} and {LARGEST:g}, not be {array[wrong].flat[0]:g}")
    return array


def _by_level(value: Any, sizes: Array, what: str) -> Array:
    """Return one number a level: from one for all, or one for each level of a column."""
    array, width = numbers(value, what), int(sizes.sum())
    if array.ndim == 0:
        return np.full(width, float(array))
    if array.shape == (width,):
        return array
    if len(set(sizes.tolist())) == 1 and array.shape == (int(sizes[0]),):
        return np.tile(array, len(sizes))
    levels = f"{sizes[0]} levels" if len(sizes) == 1 else f"{len(sizes)} columns with {width} levels in all"
    raise ValueError(f"{what} has {array.size} entries, and there are {levels}")


def _shares(p: Any, sizes: Array) -> Array:
    share = _by_level(p, sizes, "MEstimate(p=…)")
    totals = np.add.reduceat(share, np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp))
    return np.asarray(share / np.repeat(checked_sums(totals, "MEstimate(p=…)"), sizes))


def for_columns(prior: Any, columns: Columns) -> Any:
    """Return one prior for all columns from a list or dictionary with one for each.

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
