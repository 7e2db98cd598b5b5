"""A kernel density of one variable, from counts of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from suffice.data.cells import CELLS, fit_cells
from suffice.distributions.distribution import check_column, check_weights
from suffice.families.kernel import smooth_counts
from suffice.priors import check_numbers
from suffice.schema import Array, Cuts
from suffice.statistics import Counts

# The bandwidths among which one is chosen, in standard deviations; 0 does not smooth.
BANDWIDTHS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6)


@dataclass(frozen=True)
class CellCounts:
    """Counts of the cells of a number, which can be added, subtracted and scaled.

    Two of them with different cells are added in the cells that both have.

    Attributes
    ----------
    cuts : Cuts
        The cells.
    counts : Counts
        The weight of the observations in each cell.
    """

    cuts: Cuts
    counts: Counts

    def __add__(self, other: CellCounts) -> CellCounts:
        merged, mine, its = self._align(other)
        return CellCounts(merged, mine + its)

    def __sub__(self, other: CellCounts) -> CellCounts:
        merged, mine, its = self._align(other)
        return CellCounts(merged, mine - its)

    def __mul__(self, weight: float) -> CellCounts:
        return CellCounts(self.cuts, self.counts * weight)

    __rmul__ = __mul__

    def _align(self, other: CellCounts) -> tuple[Any, Counts, Counts]:
        merged: Any = self.cuts.merge(other.cuts, "the variable")
        return merged, self._on(merged), other._on(merged)

    def _on(self, cuts: Cuts) -> Counts:
        return self.counts.rearrange((1, cuts.size), np.array([0]), None, self.cuts.places_in(cuts))


class KernelDensity:
    """Kernel density of a number: a histogram whose cells are smoothed by their neighbours.

    The bandwidth is the one with the best leave-one-out likelihood of the counts. The density is constant within a
    cell, and 0 beyond the first and the last edge.

    Parameters
    ----------
    edges : array-like of shape (cells + 1,)
        The edges of the cells, in ascending order.
    p : array-like of shape (cells,)
        The probability of each cell; scaled to sum to 1.

    Attributes
    ----------
    edges, p : ndarray
        The edges, and the probabilities of the cells.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=2000)
    >>> found = KernelDensity.estimate(KernelDensity.tally(x))
    >>> bool(abs(np.exp(found.log_density([0.0])[0]) - 0.4) < 0.05)
    True
    """

    def __init__(self, edges: Any, p: Any) -> None:
        self.edges, self.p = check_numbers(edges, "edges"), check_numbers(p, "p")
        is_ordered = self.edges.ndim == 1 and bool((np.diff(self.edges) > 0).all())
        if not is_ordered or self.p.shape != (len(self.edges) - 1,) or (self.p < 0).any() or not self.p.any():
            raise ValueError("edges must ascend, and p must have a probability for each cell between two of them")
        self.p = self.p / self.p.sum()

    def __repr__(self) -> str:
        return f"KernelDensity({len(self.p)} cells from {self.edges[0]:g} to {self.edges[-1]:g})"

    @classmethod
    def tally(cls, x: Any, weights: Any = None, *, cells: CellCounts | None = None) -> CellCounts:
        """Return the counts of observations in cells.

        Parameters
        ----------
        x : array-like of shape (n_observations,)
            Observations.
        weights : array-like of shape (n_observations,), default=None
            Weight of each observation, 0 or more; 1 by default.
        cells : CellCounts, default=None
            Other counts whose cells are used; by default up to 32 cells are chosen from the observations.

        Returns
        -------
        CellCounts
            Sums, which can be added (``+``), subtracted (``-``) and scaled (``*``).
        """
        values = check_column(x, cls.__name__)
        each = check_weights(weights, len(values))
        cuts = fit_cells(values, each, CELLS[0]) if cells is None else cells.cuts
        codes = np.searchsorted(cuts.edges, values, side="right")
        total = np.bincount(codes, each, minlength=cuts.size)[None].astype(np.float64)
        return CellCounts(cuts, Counts(np.array([[each.sum()]]), total))

    @classmethod
    def estimate(cls, tally: CellCounts, prior: float = 0.0) -> KernelDensity:
        """Return the density that is estimated from counts.

        Parameters
        ----------
        tally : CellCounts
            Counts, as ``tally`` returns them.
        prior : float, default=0.0
            Pseudo-count of each cell, added to the smoothed counts.

        Returns
        -------
        KernelDensity
            The estimate.
        """
        if len(tally.cuts.edges) < 2:
            raise ValueError("a kernel density needs at least two edges: add up tallies that have the same cells")
        edges = np.array(tally.cuts.edges)
        counts, widths, middles = tally.counts.total[:, 1:-1], np.diff(edges), (edges[1:] + edges[:-1]) / 2
        mean = counts[0] @ middles / max(counts.sum(), 1e-300)
        deviation = np.sqrt(counts[0] @ (middles - mean) ** 2 / max(counts.sum(), 1e-300))
        smoothed = smooth_counts(counts, middles, widths / widths.sum(), np.array(BANDWIDTHS) * deviation)
        return cls(edges, smoothed[0] + check_numbers(prior, "prior"))

    def log_density(self, x: Any) -> Array:
        """Return log p(x) of each observation, which is −∞ outside of the cells.

        Parameters
        ----------
        x : array-like
            Observations.

        Returns
        -------
        ndarray of shape (n_observations,)
            Log density.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._distribution.pdf(x)))

    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        """Return random observations.

        Parameters
        ----------
        size : int, default=1
            Number of observations.
        random_state : int, numpy.random.Generator or None, default=None
            Seed or generator.

        Returns
        -------
        ndarray of shape (size,)
            Observations.
        """
        return np.asarray(self._distribution.rvs(size=size, random_state=random_state))

    @property
    def _distribution(self) -> Any:
        return stats.rv_histogram((self.p, self.edges), density=False)
