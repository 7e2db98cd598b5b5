"""Fourth moments: co-moments, with the sums of third and fourth order from which the error of a covariance follows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from suffice.schema import Array
from suffice.statistics.comoments import CoMoments
from suffice.statistics.moments import Moments, mean_difference


@dataclass(frozen=True, eq=False)
class FourthMoments(CoMoments):
    """Co-moments with cubes = Σw·dᵢ²·dⱼ and fourths = Σw·dᵢ²·dⱼ², where d = x − mean, over the complete rows.

    The variance of each entry of a covariance matrix is a function of the fourths, and the optimal shrinkage of Ledoit
    and Wolf a function of their sum. About another centre, d is d + δ, and with s the scatter and v its diagonal,

        cubesᵢⱼ + vᵢ·δⱼ + 2·δᵢ·sᵢⱼ + n·δᵢ²·δⱼ,
        fourthsᵢⱼ + 2·δⱼ·cubesᵢⱼ + 2·δᵢ·cubesⱼᵢ + δⱼ²·vᵢ + δᵢ²·vⱼ + 4·δᵢ·δⱼ·sᵢⱼ + n·δᵢ²·δⱼ².

    Sums about a common centre add, so the cubes are kept because fourths need them to merge.

    Parameters
    ----------
    n, mean, tail, scatter, alone_n, alone_mean, alone_tail, alone_m2, error : array
        As in `CoMoments`.
    cubes, fourths : array of shape (classes, columns, columns)
        The sums of third and fourth order. The fourths are symmetric.

    Examples
    --------
    >>> both = FourthMoments.of([[0.0], [2.0]]) + FourthMoments.of([[4.0]])
    >>> both.mean.tolist(), both.cubes.tolist(), both.fourths.tolist()
    ([[2.0]], [[[0.0]]], [[[32.0]]])
    """

    cubes: Array = field(default=None, kw_only=True)  # type: ignore[arg-type]
    fourths: Array = field(default=None, kw_only=True)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        for name in ("cubes", "fourths"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.zeros(np.shape(self.scatter)))
        super().__post_init__()

    @classmethod
    def of(cls, rows: Array | list[list[float]], weights: Array | None = None) -> Self:
        rows = np.asarray(rows, np.float64)
        lower = CoMoments.of(rows, weights)
        centred = (rows - lower.mean) - lower.tail
        squares = centred * centred
        weighted = squares if weights is None else squares * np.asarray(weights, np.float64)[:, None]
        return cls(**lower.arrays(), cubes=(weighted.T @ centred)[None], fourths=(weighted.T @ squares)[None])

    def with_spreads(self, spreads: Moments) -> Self:
        return self._raised(super().with_spreads(spreads), self.cubes, self.fourths)

    def __add__(self, other: Self) -> Self:
        whole = super().__add__(other)
        delta, n = mean_difference(self, other), np.where(whole.n > 0, whole.n, 1.0)
        mine, theirs = self._about(-delta * (other.n / n)), other._about(delta * (self.n / n))
        return self._raised(whole, mine[0] + theirs[0], mine[1] + theirs[1])

    def __sub__(self, other: Self) -> Self:
        left = super().__sub__(other)
        delta, n = mean_difference(self, other), np.where(left.n > 0, left.n, 1.0)
        # what is left, about the mean of all rows; then about its own mean
        away = -delta * (other.n / n)
        theirs, moved = other._about(delta), self._raised(left, 0 * self.cubes, 0 * self.fourths)._about(away)
        cubes = self.cubes - theirs[0] - moved[0]
        spread = np.diagonal(left.scatter, axis1=1, axis2=2)
        fourths = self.fourths - theirs[1] - moved[1] - _cross(away, cubes)
        # Cauchy-Schwarz: (Σ dᵢdⱼ)² ≤ n·Σ dᵢ²dⱼ² and (Σ dᵢ²dⱼ)² ≤ Σ dᵢ² · Σ dᵢ²dⱼ², which rounding may violate
        fourths = np.maximum(fourths, left.scatter**2 / n[:, :, None])
        has_spread = (spread > 0)[:, :, None] & (spread > 0)[:, None, :]
        fourths = np.where(has_spread, fourths, 0.0)
        limit = np.sqrt(spread)[:, :, None] * np.sqrt(fourths)
        return self._raised(left, np.clip(cubes, -limit, limit), fourths)

    def __mul__(self, weight: float) -> Self:
        return self._raised(super().__mul__(weight), self.cubes * weight, self.fourths * weight)

    def isclose(self, other: Self, rtol: float = 1e-9) -> bool:
        """Return whether both hold the same sums up to rounding; cubes and fourths relative to their largest size.

        Parameters
        ----------
        other : FourthMoments
            Moments of the same shape.
        rtol : float, default=1e-9
            The relative and absolute tolerance.
        """
        if not self._lower.isclose(other._lower, rtol):
            return False
        size = np.sqrt(np.diagonal(self.fourths, axis1=1, axis2=2))
        fourths = size[:, :, None] * size[:, None, :]
        cubes = np.sqrt(np.diagonal(self.scatter, axis1=1, axis2=2)[:, :, None] * fourths)
        pairs = ((self.cubes - other.cubes, cubes), (self.fourths - other.fourths, fourths))
        return all(bool((np.abs(difference) <= rtol * (1 + limit)).all()) for difference, limit in pairs)

    @property
    def _lower(self) -> CoMoments:
        """The co-moments alone."""
        return CoMoments(**{name: array for name, array in self.arrays().items() if name not in ("cubes", "fourths")})

    def _about(self, delta: Array) -> tuple[Array, Array]:
        """Return cubes and fourths about the mean − δ, where d is d + δ."""
        spread, squared, n = np.diagonal(self.scatter, axis1=1, axis2=2), delta * delta, self.n[:, :, None]
        mine, other = delta[:, :, None], delta[:, None, :]
        cubes = self.cubes + spread[:, :, None] * other + 2 * mine * self.scatter + n * squared[:, :, None] * other
        sides = spread[:, :, None] * squared[:, None, :]
        fourths = self.fourths + _cross(delta, self.cubes) + sides + np.swapaxes(sides, 1, 2)
        fourths = fourths + 4 * mine * other * self.scatter + n * squared[:, :, None] * squared[:, None, :]
        return cubes, fourths

    @classmethod
    def _raised(cls, lower: CoMoments, cubes: Array, fourths: Array) -> Self:
        return cls(**{**lower.arrays(), "cubes": cubes, "fourths": fourths})


def _cross(delta: Array, cubes: Array) -> Array:
    """Return 2·δⱼ·cubesᵢⱼ + 2·δᵢ·cubesⱼᵢ."""
    product = 2 * delta[:, None, :] * cubes
    return np.asarray(product + np.swapaxes(product, 1, 2))
