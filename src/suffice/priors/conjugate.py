"""Prior distributions of the parameters of a family.

A prior holds hyperparameters only. Each family converts the priors that it supports to its own hyperparameters and
raises for the others. A plain number is the symmetric pseudo-count of that size, like ``alpha`` of scikit-learn.
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from suffice.schema import Array

# Hyperparameters above this, or below its inverse, would overflow where they are multiplied.
LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class Prior:
    """Base class of all priors.

    Hyperparameters are numbers, or arrays with one entry per column. Two priors are equal if they have the same type
    and the same hyperparameters.

    Examples
    --------
    >>> from suffice import Beta, Gamma
    >>> isinstance(Beta(1, 1), Prior), Beta(1, 1) == Beta(1.0, 1.0), Beta(1, 1) == Gamma(1, 1)
    (True, True, False)
    """

    # Fields that may be zero or negative; all others must be positive.
    _unbounded: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            value, what = getattr(self, field.name), f"{type(self).__name__}({field.name}=…)"
            if value is None and field.default is None:
                continue
            if field.name in self._unbounded:
                check_numbers(value, what)
            else:
                check_positive(value, what)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Flat(Prior):
    """The uniform prior p(θ) ∝ 1, under which the MAP estimate is the maximum-likelihood estimate.

    It is Beta(1, 1) for Bernoulli columns, Dirichlet(1) for levels and word counts, p(λ) ∝ 1 for Poisson columns and
    p(μ, σ²) ∝ 1 for Gaussian columns. For Bernoulli columns, levels and word counts it equals one pseudo-observation
    of each outcome; for Poisson and Gaussian columns it is improper, so the mean of few rows may not exist.

    Examples
    --------
    >>> from suffice import Bernoulli
    >>> flips = Bernoulli.tally([1, 1, 0, 0, 0])
    >>> [round(Bernoulli.estimate(flips, Flat(), rule).p, 3) for rule in ("mle", "map", "mean")]
    [0.4, 0.4, 0.429]
    """


@dataclass(frozen=True, eq=False)
class Beta(Prior):
    """Beta distribution, p(θ) ∝ θ^(a − 1)·(1 − θ)^(b − 1), of the probability θ of a 1 (Bernoulli columns).

    The posterior mean is (a + ones) / (a + b + n): as if ``a`` ones and ``b`` zeros had been observed before.

    Parameters
    ----------
    a, b : float or array of shape (n_columns,)
        Pseudo-counts of ones and of zeros, more than 0.

    Examples
    --------
    >>> from suffice import Bernoulli
    >>> round(Bernoulli.estimate(Bernoulli.tally([1, 1, 0]), Beta(2, 3)).p, 3)
    0.5
    """

    a: Any
    b: Any


@dataclass(frozen=True, eq=False)
class Dirichlet(Prior):
    """Dirichlet distribution, p(θ) ∝ Πⱼ θⱼ^(αⱼ − 1), of the probabilities of levels, words or classes.

    The posterior mean is (αⱼ + countⱼ) / (Σα + n): as if level j had been observed αⱼ times before.

    Parameters
    ----------
    alpha : float or array
        Pseudo-counts, more than 0: one for all levels, one per level of each column, or one per level of all columns.

    Examples
    --------
    >>> from suffice import Categorical
    >>> Categorical.estimate(Categorical.tally([0, 0, 1]), Dirichlet([1, 2])).p.tolist()
    [0.5, 0.5]
    """

    alpha: Any


@dataclass(frozen=True, eq=False)
class MEstimate(Prior):
    """The m-estimate, P = (count + m·p) / (n + m): the Dirichlet distribution with α = m·p.

    As if ``m`` rows had been observed before, of which a share ``p`` had the level.

    Parameters
    ----------
    m : float or array of shape (n_columns,)
        Number of pseudo-rows, more than 0.
    p : float or array, default=None
        Share of each level, which must sum to 1; for Bernoulli columns, the share of ones. By default all levels
        have the same share.

    Examples
    --------
    >>> from suffice import Categorical
    >>> Categorical.estimate(Categorical.tally([0, 0, 0, 1]), MEstimate(4)).p.round(3).tolist()
    [0.625, 0.375]
    """

    m: Any
    p: Any = None

    _unbounded = ("p",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p is not None and not ((p := check_numbers(self.p, "MEstimate(p=…)")) >= 0).all() & (p <= 1).all():
            raise ValueError(f"MEstimate(p=…) is a probability, from 0 to 1, not {self.p}")


@dataclass(frozen=True, eq=False)
class Gamma(Prior):
    """Gamma distribution, p(λ) ∝ λ^(shape − 1)·e^(−rate·λ), of the rate λ of Poisson columns.

    The posterior mean is (shape + Σx) / (rate + n): as if ``shape`` events had been counted in ``rate`` rows before.

    Parameters
    ----------
    shape, rate : float or array of shape (n_columns,)
        Pseudo-events and pseudo-rows, more than 0.

    Examples
    --------
    >>> from suffice import Poisson
    >>> Poisson.estimate(Poisson.tally([2, 0, 4]), Gamma(2, 1)).rate
    2.0
    """

    shape: Any
    rate: Any


@dataclass(frozen=True, eq=False)
class NormalInverseGamma(Prior):
    """Normal-inverse-gamma distribution of the mean μ and the variance σ² of each Gaussian column.

    σ² ~ InverseGamma(shape, scale), p(σ²) ∝ (σ²)^(−shape − 1)·e^(−scale / σ²), and μ ~ N(mean, σ² / kappa). As if
    ``kappa`` rows with the mean ``mean`` and 2·``shape`` rows with a sum of squared deviations of 2·``scale`` had
    been observed before.

    Parameters
    ----------
    mean : float or array of shape (n_columns,)
        Expected mean.
    kappa : float or array of shape (n_columns,)
        Number of pseudo-rows behind ``mean``, more than 0.
    shape, scale : float or array of shape (n_columns,)
        Half of the number of pseudo-rows behind the variance, and half of their sum of squares; more than 0.

    Examples
    --------
    >>> from suffice import Gaussian
    >>> Gaussian.estimate(Gaussian.tally([1.0, 2.0, 6.0]), NormalInverseGamma(0, 1, 2, 2))
    Gaussian(mean=2.25, variance=4.95)
    """

    mean: Any
    kappa: Any
    shape: Any
    scale: Any

    _unbounded = ("mean",)


@dataclass(frozen=True, eq=False)
class NormalInverseWishart(Prior):
    """Normal-inverse-Wishart distribution of the mean vector μ and the covariance matrix Σ of Gaussian columns.

    Σ ~ InverseWishart(dof, scale), p(Σ) ∝ |Σ|^(−(dof + d + 1) / 2)·e^(−tr(scale·Σ⁻¹) / 2) for d columns, and
    μ ~ N(mean, Σ / kappa). As if ``kappa`` rows with the mean ``mean`` and ``dof`` rows with the scatter matrix
    ``scale`` had been observed before.

    Parameters
    ----------
    mean : float or array of shape (n_columns,)
        Expected mean.
    kappa : float
        Number of pseudo-rows behind ``mean``, more than 0.
    dof : float
        Number of pseudo-rows behind the covariance, more than n_columns − 1.
    scale : array of shape (n_columns, n_columns)
        Scatter matrix of these rows, symmetric and positive definite.

    Examples
    --------
    >>> from suffice import Gaussian
    >>> prior = NormalInverseWishart(mean=0, kappa=1, dof=4, scale=[[2.0, 0.0], [0.0, 2.0]])
    >>> Gaussian.estimate(Gaussian.tally([[1.0, 3.0], [5.0, 0.0]]), prior).mean.tolist()
    [2.0, 1.0]
    """

    mean: Any
    kappa: float
    dof: float
    scale: Any

    _unbounded = ("mean", "scale")

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.ndim(self.kappa) or np.ndim(self.dof):
            raise ValueError("NormalInverseWishart takes one kappa and one dof for all columns together")
        scale = np.atleast_2d(np.asarray(self.scale, np.float64))
        size = len(scale)
        is_symmetric = scale.shape == (size, size) and np.allclose(scale, scale.T, rtol=1e-8, atol=0)
        if not is_symmetric or np.linalg.eigvalsh(scale).min() <= 0:
            raise ValueError("NormalInverseWishart(scale=…) must be a symmetric positive definite matrix")
        if self.dof <= size - 1:
            raise ValueError(
                f"NormalInverseWishart(dof=…) must be more than {size - 1} for {size} columns, not {self.dof}"
            )


def check_numbers(value: Any, what: str) -> Array:
    """Return a number or numbers as an array of finite doubles; ``what`` names them in the error."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be a number or an array of numbers, not {value!r}") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{what} must be finite, not {array[~np.isfinite(array)].flat[0]:g}")
    return array


def check_positive(value: Any, what: str, zero: bool = False) -> Array:
    """Return numbers more than 0 (with ``zero``, 0 or more) whose squares neither overflow nor underflow."""
    array = check_numbers(value, what)
    wrong = (array < 0) if zero else (array <= 0)
    if wrong.any():
        raise ValueError(
            f"{what} must be finite and {'0 or more' if zero else 'more than 0'}, not {array[wrong].flat[0]:g}"
        )
    wrong = (array > LARGEST) | (array < 1 / LARGEST) & (array > 0) & (not zero)
    if wrong.any():
        raise ValueError(f"{what} must lie between {1 / LARGEST:g} and {LARGEST:g}, not be {array[wrong].flat[0]:g}")
    return array


def broadcast_to_columns(value: Any, count: int, what: str) -> Array:
    """Return one number per column, from one number for all columns or one for each."""
    array = check_numbers(value, what)
    if array.ndim and array.shape != (count,):
        raise ValueError(f"{what} has {array.size} entries, and there are {count} columns: give one, or one per column")
    return np.array(np.broadcast_to(array, count))


def check_sums_to_one(totals: Any, what: str) -> Any:
    """Return sums of probabilities; raise if one differs from 1 by more than rounding."""
    worst = np.ravel(totals)[np.argmax(np.abs(np.ravel(totals) - 1))]
    if abs(worst - 1) > 1e-8:
        raise ValueError(f"{what} must sum to 1, and sums to {worst:g}")
    return totals
