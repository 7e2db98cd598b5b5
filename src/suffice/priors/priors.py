"""Priors: what was believed before the data, as pseudo-rows that are added to the sums.

A prior is plain hyperparameters. Each family reads off it what it can use and refuses the rest; a
number stands for the symmetric pseudo-count of that size, as scikit-learn's ``alpha`` does.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from suffice.priors.checks import numbers, positive


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
