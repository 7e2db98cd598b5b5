"""Cell densities: the distribution of a number within the cells in which it was counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from suffice.choice.column_forms import collect_sums
from suffice.choice.score_forms import PSEUDO_COUNT
from suffice.choice.single_column import ColumnSums
from suffice.data import Sheet
from suffice.schema import Array, Cuts, MissingLevel, Schema
from suffice.statistics import Tally

# A cell counts as at least this share of the standard deviation wide, so that a value which many rows have does not
# get an arbitrarily high density.
LEAST_WIDTH = 1e-3


@dataclass(frozen=True)
class CellDensity:
    """The distribution of a number within its cells, in each class.

    A number is drawn as low + width·uᵍ, with u uniform from 0 to 1, and with the exponent g of its class for which the
    numbers of all cells have the mean of the class: 1 / (1 + g) = (mean − Σ share·low) / Σ share·width. In the two open
    cells it has the tails of a Gaussian.

    Attributes
    ----------
    bounds : array [cell + 1]
        The edges of the cells, from −∞ to ∞.
    counts : array [cell, class]
        The weight of the rows in each cell.
    mean, deviation : arrays [class]
        The mean and the standard deviation of each class, with half a row of all classes added.
    exponent : array [class]
        g, which is 1 if numbers are uniform within their cells.
    whole : bool
        Whether all numbers are whole.
    """

    bounds: Array
    counts: Array
    mean: Array
    deviation: Array
    exponent: Array
    whole: bool = False

    @classmethod
    def of(cls, sums: ColumnSums, *, by_class: bool = True) -> CellDensity:
        """Return the densities of a column in each class, or in all classes as one."""
        assert sums.cuts is not None
        bounds = np.array([-np.inf, *sums.cuts.edges, np.inf])
        n, mean, m2 = _moments_of_cells(bounds, sums.counts) if sums.moments is None else sums.moments
        total = max(float(n.sum()), 1e-300)
        centre = float(n @ mean) / total
        variance = float(np.sum(m2 + n * (mean - centre) ** 2)) / total
        if by_class:
            means = (n * mean + PSEUDO_COUNT * centre) / (n + PSEUDO_COUNT)
            variances = (m2 + PSEUDO_COUNT * variance) / (n + PSEUDO_COUNT)
        else:
            means, variances = np.array([centre]), np.array([variance])
        deviation = np.maximum(np.sqrt(variances), 1e-9 * np.abs(means) + 1e-150)
        counts = sums.counts if by_class else sums.counts.sum(axis=1, keepdims=True)
        uniform = cls(bounds, counts, means, deviation, np.ones(len(means)), sums.cuts.whole)
        return uniform if sums.moments is None or not by_class else uniform._with_means(mean)

    def draw(self, bins: Array, cuts: Cuts, classes: Array, rng: np.random.Generator) -> list[Any]:
        """Return a number for each row: a cell of its bin, drawn by the counts of its class, and a number in the cell.

        The counts of all classes are used if the row's class has none in the bin.
        """
        starts = [0, *np.searchsorted(self.bounds, cuts.edges).tolist(), len(self.counts)]
        shares, numbers = rng.random(len(bins)), np.empty(len(bins))
        for place, k in np.unique(np.column_stack([bins, classes]), axis=0).tolist():
            rows = (bins == place) & (classes == k)
            numbers[rows] = self._at(shares[rows], starts[place], starts[place + 1], k)
        return self._listed(numbers)

    def draw_any(self, classes: Array, rng: np.random.Generator) -> list[Any]:
        """Return a number for each row, from all cells of its class."""
        return self.draw(np.zeros(len(classes), np.intp), Cuts((), "cells"), classes, rng)

    def map_gaussian(self, drawn: Array, classes: Array) -> list[Any]:
        """Return numbers of a Gaussian, mapped to the numbers at the same quantiles of the cells of their class.

        The order of the numbers is kept, and thereby their dependence on other columns (a Gaussian copula).
        """
        shares, numbers = ndtr((drawn - self.mean[classes]) / self.deviation[classes]), np.empty(len(drawn))
        for k in np.unique(classes).tolist():
            numbers[classes == k] = self._at(shares[classes == k], 0, len(self.counts), k)
        return self._listed(numbers)

    def log_density(self, x: Array, cuts: Cuts) -> Array:
        """Return log p(x | bin) in all classes: the smoothed share of the cell in its bin, over the width of the cell.

        In an open cell, the Gaussian's density beyond the edge takes the place of 1 / width.
        """
        counts = self.counts.sum(axis=1) + PSEUDO_COUNT
        bins = np.searchsorted(cuts.edges, self.bounds[:-1], side="right")
        log_shares = np.log(counts) - np.log(np.bincount(bins, counts))[bins]
        cells = np.searchsorted(self.bounds[1:-1], x, side="right")
        low, high = self.bounds[cells], self.bounds[cells + 1]
        mean, deviation = self.mean[0], self.deviation[0]
        tail = log_ndtr(np.where(np.isinf(low), high - mean, mean - low) / deviation)
        with np.errstate(over="ignore"):
            gaussian = -0.5 * ((x - mean) / deviation) ** 2 - np.log(deviation) - 0.5 * np.log(2 * np.pi) - tail
        uniform = -np.log(np.maximum(high - low, LEAST_WIDTH * deviation))
        return np.asarray(log_shares[cells] + np.where(np.isinf(high - low), gaussian, uniform))

    def _with_means(self, mean: Array) -> CellDensity:
        """Return the same cells with the exponents for which their numbers have these means."""
        low, high = (bounds[:, None] for bounds in (self.bounds[:-1], self.bounds[1:]))
        from_below, is_open = np.isinf(low), np.isinf(high - low)
        if self.whole:  # a whole number stands for the numbers up to the next one
            low, high, mean = np.ceil(low), np.ceil(high), mean + 0.5
        distance = np.where(from_below, high - self.mean, self.mean - low) / self.deviation
        beyond = np.exp(-0.5 * distance**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(distance)) * self.deviation
        tail = np.where(from_below, self.mean - beyond, self.mean + beyond)
        first, width = np.where(is_open, tail, low), np.where(is_open, 0.0, high - low)
        shares = self.counts / np.maximum(self.counts.sum(axis=0), 1e-300)
        widths = (shares * width).sum(axis=0)
        place = (mean - (shares * first).sum(axis=0)) / np.where(widths > 0, widths, 1.0)
        place = np.where(widths > 0, np.clip(place, 0.05, 0.95), 0.5)
        return replace(self, exponent=1 / place - 1)

    def _at(self, shares: Array, first: int, last: int, k: int) -> Array:
        """Return the numbers below which these shares of the rows of a class lie, in the cells from first to last."""
        own, every = self.counts[first:last, k], self.counts[first:last].sum(axis=1)
        weights = own if own.any() else every if every.any() else np.ones(last - first)
        below = np.append(0.0, np.cumsum(weights))
        below /= below[-1]
        shares = np.clip(shares, 1e-15, 1 - 1e-15)
        places = np.searchsorted(below, shares, side="right") - 1
        shares = (shares - below[places]) / (below[places + 1] - below[places])
        within = shares ** self.exponent[k]
        low, high = self.bounds[first + places], self.bounds[first + places + 1]
        is_open = np.isinf(high - low)
        width = np.where(is_open, 0.0, high - low)
        numbers = low + within * width
        numbers[is_open] = self._in_tail(shares[is_open], low[is_open], high[is_open], k)
        if not self.whole:
            return np.asarray(np.clip(numbers, low, np.nextafter(high, low)))
        least, most = np.ceil(low), np.ceil(high) - 1
        count = np.where(is_open, 0.0, most - least + 1)
        numbers = np.where(is_open, np.rint(numbers), least + np.floor(within * count))
        return np.asarray(np.clip(numbers, least, most))

    def _in_tail(self, shares: Array, low: Array, high: Array, k: int) -> Array:
        """Return the numbers at these shares of the Gaussian below ``high``, or above ``low``, or of all of it."""
        mean, deviation = self.mean[k], self.deviation[k]
        shares = np.clip(shares, 1e-12, 1 - 1e-12)
        below = ndtri_exp(log_ndtr((high - mean) / deviation) + np.log(shares))
        above = -ndtri_exp(log_ndtr((mean - low) / deviation) + np.log1p(-shares))
        both = np.isinf(low) & np.isinf(high)
        return np.asarray(mean + deviation * np.where(both, ndtri(shares), np.where(np.isinf(low), below, above)))

    def _listed(self, numbers: Array) -> list[Any]:
        return [int(number) for number in numbers.tolist()] if self.whole else numbers.tolist()


def log_density_in_bins(tally: Tally, chosen: Schema, sheet: Sheet) -> Array:
    """Return Σ log p(number | its bin) of each row, over the columns that have bins in the chosen layout.

    It does not depend on the class. Missing cells add nothing.
    """
    total, sums = np.zeros(sheet.shape[0]), collect_sums(tally)
    for columns in chosen.blocks:
        for name, coding in zip(columns.names or (), columns.codings or (), strict=False):
            cuts = coding.values if isinstance(coding, MissingLevel) else coding
            if not isinstance(cuts, Cuts) or name not in sheet.places or sheet.kind(name) == "empty":
                continue
            x = sheet.number(name)
            held = ~np.isnan(x)
            total[held] += CellDensity.of(sums[name], by_class=False).log_density(x[held], cuts)
    return total


def _moments_of_cells(bounds: Array, counts: Array) -> tuple[Array, Array, Array]:
    """Return weight, mean and squared deviations by class, where each row lies in the middle of its cell."""
    low, high = bounds[:-1], bounds[1:]
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isinf(low), high, np.where(np.isinf(high), low, (low + high) / 2))
    middle = np.where(np.isinf(middle), 0.0, middle)[:, None]
    n = counts.sum(axis=0)
    mean = (counts * middle).sum(axis=0) / np.maximum(n, 1e-300)
    return n, mean, (counts * (middle - mean) ** 2).sum(axis=0)
