"""Von Mises: angles and other numbers on a circle, such as directions of wind and times of day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import i0e, i1e

from suffice.blocks import Function
from suffice.families import description
from suffice.families.domain import Domain
from suffice.families.family import NO_EVIDENCE, Hyperparameters, Parameters, check_proper
from suffice.families.pseudo_rows import PseudoRowFamily, match_gamma, with_unseen_pooled
from suffice.families.quadrature import Averages, average
from suffice.schema import Array, Columns
from suffice.score import Linear, OfFunction, Score

TURN = 2 * np.pi

# 1 minus the greatest mean resultant length. It belongs to a concentration of 1e8, angles within 1e-4.
LEAST_REST = 5e-9

# Angles of a sum over the circle; the sum converges exponentially.
GRID = 1024

# The least concentration, for a uniform distribution, and the greatest, which belongs to LEAST_REST.
LEAST_CONCENTRATION, MOST_CONCENTRATION = 1e-9, 1e8


@dataclass(frozen=True)
class VonMisesParameters(Parameters):
    """p(x) = exp(κ·cos(2π·x/period − μ)) / (period·I₀(κ)), with direction μ and concentration κ [class, column]."""

    direction: Array
    concentration: Array
    period: float

    def score(self) -> Score:
        factor, kappa = TURN / self.period, self.concentration
        # log I₀(κ) is log i0e(κ) + κ; κ·cos(…) − κ is at most 0
        biases = -np.log(self.period) - np.log(i0e(kappa)) - kappa
        cosines = Linear(kappa * np.cos(self.direction), biases)
        sines = Linear(kappa * np.sin(self.direction), np.zeros(kappa.shape))
        return OfFunction(cosines, "cos", factor) + OfFunction(sines, "sin", factor)

    @property
    def n_parameters(self) -> int:
        return 2 * self.direction.size

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        drawn = rng.vonmises(self.direction[k], self.concentration[k], (count, self.direction.shape[1]))
        return np.asarray(drawn % TURN * (self.period / TURN))


@dataclass(frozen=True)
class VonMises(PseudoRowFamily):
    """p(x | class) = Πⱼ exp(κⱼ·cos(2π·xⱼ/period − μⱼ)) / (period·I₀(κⱼ)).

    The statistics are n, Σcos and Σsin of the angles. The prior is that of pseudo-rows, p(μ, κ) ∝ I₀(κ)^−rows·
    exp(κ·R₀·cos(μ − μ₀)): a number c stands for c rows with the mean cosine and sine of all classes pooled, and `Flat`
    for none. With N rows in all and the length R of the sum of their directions, the maximum likelihood and the mode
    solve I₁(κ)/I₀(κ) = R/N; the mean of κ and the evidence are integrals over κ alone, of I₀(Rκ) / I₀(κ)^N, which are
    computed by a trapezoidal rule. The predictive distribution has no form as a sum of terms.

    Parameters
    ----------
    period : float or None, default=None
        The number that is a whole turn: 360 for degrees, 24 for hours; None is 2π, for radians. In a name it is the
        number in parentheses, as in "von-mises(360)".
    """

    period: float | None = None

    name = "von-mises"
    setting = "period"

    def __post_init__(self) -> None:
        if not 0 < self.turn < np.inf:
            raise ValueError(f"the period of von-mises is a number greater than 0, not {self.turn:g}")

    @property
    def turn(self) -> float:
        """The number that is a whole turn."""
        return TURN if self.period is None else self.period

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """One turn in either direction."""
        unit = "radians; of degrees the family is von-mises(360)" if self.period is None else f"{self.turn:g} a turn"
        most = self.turn * (1 + 1e-9)
        return Domain(-most, most, f"angles from {-self.turn:g} to {self.turn:g} ({unit})")

    @property
    def functions(self) -> tuple[Function | None, ...]:
        return Function("cos", TURN / self.turn), Function("sin", TURN / self.turn)

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> VonMisesParameters:
        rows, cosines, sines = hyperparameters
        return self._parameters(cosines, sines, solve_concentration(_rest(rows, cosines, sines)))

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> VonMisesParameters:
        found = self._averages(hyperparameters)
        _, cosines, sines = hyperparameters
        return self._parameters(cosines, sines, found.mean(found.nodes))

    def log_partition(self, columns: Columns, hyperparameters: Hyperparameters) -> Array:
        check_proper((hyperparameters[0],), NO_EVIDENCE)
        # the integral over the direction is 2π·I₀(Rκ), and each row has a factor 1/period
        return np.asarray(
            self._averages(hyperparameters).log_integral + np.log(TURN) - hyperparameters[0] * np.log(self.turn)
        )

    def marginals(self, columns: Columns, hyperparameters: Hyperparameters) -> dict[str, Any]:
        """Return approximate posteriors: of the direction, a von Mises distribution; of the concentration, a Gamma."""
        rows, cosines, sines = hyperparameters
        check_proper((rows,))
        found = self._averages(hyperparameters)
        length = found.nodes * np.hypot(cosines, sines)
        rest = 1 - found.mean(i1e(length) / i0e(length))
        direction = np.arctan2(sines, cosines)
        return {
            "direction": stats.vonmises(solve_concentration(np.maximum(rest, LEAST_REST)), loc=direction),
            "concentration": match_gamma(found, found.nodes, np.zeros(())),
        }

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> VonMisesParameters:
        _, cosines, sines = hyperparameters
        kappa = self._averages(hyperparameters).draw(rng)
        direction = rng.vonmises(np.arctan2(sines, cosines), np.minimum(kappa * np.hypot(cosines, sines), 1e15))
        return VonMisesParameters(np.asarray(direction), np.maximum(kappa, LEAST_CONCENTRATION), self.turn)

    def support(self, columns: Columns, statistic: Any, j: int, seen: Sequence[float] = ()) -> description.Support:
        return description.support_of_numbers(0.0, self.turn, list(seen))

    def information(self, columns: Columns, statistic: Any) -> Array:
        """Return the mutual information I(column; class) in nats, by a sum over the circle."""
        angles = np.linspace(0, self.turn, GRID, endpoint=False)
        n = np.broadcast_to(statistic.n, statistic.first.shape)
        found = np.zeros(columns.count)
        for j in range(columns.count):
            one = replace(
                statistic,
                n=n[:, j : j + 1],
                **{name: getattr(statistic, name)[:, j : j + 1] for name in ("first", "second")},
            )
            p = np.exp(
                self.maximum_likelihood(replace(columns, count=1), one).score().contributions_of(angles[:, None])
            )
            joint = (p / p.sum(axis=0))[:, :, 0].T * (n[:, j] / max(float(n[:, j].sum()), 1e-300))[:, None]
            found[j] = description.information_of_table(joint, (0, 1))
        return found

    def location(self, statistic: Any) -> tuple[Array, Array]:
        """Return the mean direction, from 0 to the period, and the circular standard deviation √(−2·log(R/n))."""
        rows, cosines, sines = with_unseen_pooled(statistic)
        mean = np.arctan2(sines, cosines) % TURN
        spread = np.sqrt(-2 * np.log1p(-np.minimum(_rest(rows, cosines, sines), 1 - 1e-9)))
        scale = self.turn / TURN
        return mean * scale, np.minimum(spread, np.pi / 3) * scale

    def _parameters(self, cosines: Array, sines: Array, kappa: Array) -> VonMisesParameters:
        bounded = np.clip(kappa, LEAST_CONCENTRATION, MOST_CONCENTRATION)
        return VonMisesParameters(np.arctan2(sines, cosines), bounded, self.turn)

    def _averages(self, hyperparameters: Hyperparameters) -> Averages:
        """Return averages over the posterior of the concentration, ∝ I₀(Rκ) / I₀(κ)^N."""
        rest = _rest(*hyperparameters)
        rows = np.where(hyperparameters[0] > 0, hyperparameters[0], 1.0)
        length = rows * (1 - rest)

        def log_density(kappa: Array) -> Array:
            return np.asarray(np.log(i0e(length * kappa)) - rows * np.log(i0e(kappa)) - rows * rest * kappa)

        return average(log_density, np.maximum(solve_concentration(rest), 1e-2))


def solve_concentration(rest: Array) -> Array:
    """Return the κ for which 1 − I₁(κ)/I₀(κ) is a given number, by Newton's method.

    >>> kappa = np.array([1e-3, 1.0, 30.0, 1e6])
    >>> bool(np.allclose(solve_concentration(1 - i1e(kappa) / i0e(kappa)), kappa, rtol=1e-6))
    True
    """
    length = 1 - rest
    kappa = np.maximum(length * (2 - length**2) / (rest * (2 - rest)), LEAST_CONCENTRATION)
    for _ in range(12):
        found = _rest_at(kappa)
        # the derivative of I₁/I₀ is 1 − ratio/κ − ratio²
        slope = found * (2 - found) - (1 - found) / kappa
        is_large = kappa > 1e4
        slope = np.where(is_large, 0.5 / kappa**2 + 0.25 / kappa**3, slope)
        step = (found - rest) / np.where(slope > 0, slope, 0.5)
        kappa = np.clip(kappa + step, kappa / 4, kappa * 4)
    return np.asarray(kappa)


def _rest_at(kappa: Array) -> Array:
    """Return 1 − I₁(κ)/I₀(κ), for a large κ by its series, which loses no digits."""
    large = np.maximum(kappa, 1e3)
    series = (1 / large) * (0.5 + (1 / large) * (0.125 + (1 / large) * (0.125 + 25 / 128 / large)))
    return np.where(kappa > 1e3, series, 1 - i1e(kappa) / i0e(kappa))


def _rest(rows: Array, cosines: Array, sines: Array) -> Array:
    """Return 1 − R/N, with the length R of the sum of the directions of N rows."""
    n = np.where(rows > 0, rows, 1.0)
    return np.clip(np.where(rows > 0, 1 - np.hypot(cosines, sines) / n, 1.0), LEAST_REST, 1.0)
