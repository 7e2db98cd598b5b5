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


@dataclass(frozen=True, eq=False)
class Prior:
    """What was believed before. Hyperparameters are numbers, or arrays with one entry a column."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and field.name not in self._unbounded():
                _check_positive(value, f"{type(self).__name__}({field.name}=…)")

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
        if self.p is not None and bool(np.any(np.asarray(self.p, np.float64) > 1)):
            raise ValueError(f"MEstimate(p=…) is a probability, from 0 to 1, not {self.p}")


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
        scale = np.atleast_2d(np.asarray(self.scale, np.float64))
        size = len(scale)
        if scale.shape != (size, size) or not np.allclose(scale, scale.T) or np.linalg.eigvalsh(scale).min() <= 0:
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
        return _spread(prior.alpha, sizes, "Dirichlet(alpha=…)")
    if isinstance(prior, MEstimate):
        share = 1 / np.repeat(sizes, sizes) if prior.p is None else _spread(prior.p, sizes, "MEstimate(p=…)")
        totals = np.add.reduceat(share, np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp))
        share = share / np.repeat(checked_sums(totals, "MEstimate(p=…)"), sizes)
        return np.asarray(share * _spread(prior.m, sizes, "MEstimate(m=…)"))
    if not isinstance(prior, Prior):
        _check_positive(prior, "prior", least_excluded=False)
        return _spread(prior, sizes, "prior")
    raise refused(prior, family, "a number, Dirichlet, MEstimate or Flat")


def refused(prior: Any, family: str, accepted: str) -> ValueError:
    """Return the error for a prior that is another family's."""
    return ValueError(f"prior={prior!r} does not suit {family} columns; they take {accepted}")


def checked_sums(totals: Any, what: str) -> Any:
    """Return sums of probabilities that are 1 but for rounding, or raise with the sum."""
    worst = np.ravel(totals)[np.argmax(np.abs(np.ravel(totals) - 1))]
    if abs(worst - 1) > 1e-8:
        raise ValueError(f"{what} must sum to 1, and sums to {worst:g}")
    return totals


def _spread(value: Any, sizes: Array, what: str) -> Array:
    """Return one number a level: from one for all, one a level, or one a column."""
    value, width = np.asarray(value, np.float64), int(sizes.sum())
    if value.ndim == 0:
        return np.full(width, float(value))
    if value.shape == (width,):
        return np.asarray(value)
    if value.shape == (len(sizes),):
        return np.repeat(value, sizes)
    if len(set(sizes.tolist())) == 1 and value.shape == (int(sizes[0]),):
        return np.tile(value, len(sizes))
    levels = f"{sizes[0]} levels" if len(sizes) == 1 else f"{len(sizes)} columns with {width} levels in all"
    raise ValueError(f"{what} has {value.size} entries, and there are {levels}")


def _check_positive(value: Any, what: str, least_excluded: bool = True) -> None:
    try:
        number = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be a number or an array of numbers, not {value!r}") from None
    wrong = ~np.isfinite(number) | (number <= 0 if least_excluded else number < 0)
    if wrong.any():
        bound = "more than 0" if least_excluded else "0 or more"
        raise ValueError(f"{what} must be finite and {bound}, not {number[wrong].flat[0]:g}")


def for_columns(prior: Any, columns: Columns) -> Any:
    """Return one prior for all columns from a list or dictionary with one for each.

    >>> for_columns([Beta(1, 2), Beta(3, 4)], Columns("bernoulli", 2))
    Beta(a=array([1., 3.]), b=array([2., 4.]))
    """
    if isinstance(prior, Mapping):
        names: Sequence[Any] = columns.names or range(columns.count)
        missing = [name for name in names if name not in prior]
        if missing:
            raise ValueError(f"prior={{…}} names a prior for each column, and {missing[0]!r} is not there")
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
    sizes = np.ones(columns.count, np.intp) if columns.sizes is None else columns.sizes
    stacked = {}
    for field in fields(kind):
        values = [getattr(each, field.name) for each in prior]
        stacked[field.name] = (
            None
            if all(value is None for value in values)
            else np.concatenate(
                [np.broadcast_to(np.asarray(v, np.float64), size) for v, size in zip(values, sizes, strict=True)]
            )
        )
    return kind(**stacked)
