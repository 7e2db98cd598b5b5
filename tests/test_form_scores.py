"""Scores of forms, compared with sums that are written out cell by cell; kernels give the same, compiled or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from suffice.choice.cuts import CellCounts, mdl, quantiles
from suffice.choice.score_forms import MOST_LEFT_OUT, PSEUDO_COUNT, score_gaussian, score_levels
from suffice.kernels import bin_cells, compiler, form_scores
from suffice.schema import Array

KERNELS = (bin_cells.cut_evenly, bin_cells.cut_by_classes, form_scores.score_bins, form_scores.score_gaussians)


def example(seed: int, columns: int = 12, classes: int = 3) -> tuple[CellCounts, Array, tuple[Array, Array, Array]]:
    """Return the cells of some columns, their upper edges, and moments; some cells and classes are empty."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, columns)
    counts = rng.poisson(3.0, (int(sizes.sum()), classes)).astype(np.float64) * rng.choice([1.0, 0.5, 0.0])
    counts += rng.integers(0, 3, counts.shape)
    cells = CellCounts(counts, sizes)
    upper = np.concatenate([[*np.sort(rng.normal(size=size - 1)), np.inf] for size in sizes])
    n = np.stack([counts[start : start + size].sum(axis=0) for start, size in zip(cells.starts, sizes, strict=True)])
    return cells, upper, (n, rng.normal(size=n.shape), n * rng.gamma(2.0, size=n.shape))


def score(with_all: Array, without: Array, counts: Array) -> float:
    """Return Σ counts·log P(class | cell), where [cell, class] holds joint probabilities with and without a row."""
    total = 0.0
    for cell, k in zip(*np.nonzero(counts), strict=True):
        others = with_all[cell].sum() - with_all[cell, k]
        total += counts[cell, k] * np.log(without[cell, k] / (without[cell, k] + others))
    return total


@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_levels_are_scored_as_written_out(seed: int, has_missing: bool) -> None:
    cells, _, (n, _, _) = example(seed)
    rng = np.random.default_rng(seed)
    is_end = rng.random(len(cells.counts)) < 0.5
    missing = rng.integers(0, 4, n.shape).astype(np.float64)
    found = score_levels(cells, is_end, n + missing, missing if has_missing else None)
    for j, (start, size) in enumerate(zip(cells.starts, cells.sizes, strict=True)):
        places = np.append(0, np.flatnonzero(is_end[start : start + size - 1]) + 1)
        bins = np.add.reduceat(cells.counts[start : start + size], places, axis=0)
        bins = np.vstack([bins, missing[j]]) if has_missing else bins
        rows, pseudo = bins.sum(axis=0), PSEUDO_COUNT * len(bins)
        with_all = (n + missing)[j] * (bins + PSEUDO_COUNT) / (rows + pseudo)
        left = np.maximum(bins - 1, 0) + PSEUDO_COUNT
        without = (n + missing)[j] * left / (np.maximum(rows - 1, 0) + pseudo)
        assert found[j] == pytest.approx(score(with_all, without, bins), rel=1e-9, abs=1e-12)


def between(low: float, high: float, mean: float, deviation: float) -> float:
    """Return the probability of an interval under a Gaussian."""
    if low > mean:
        low, high = 2 * mean - high, 2 * mean - low
    return float(max(norm.cdf(high, mean, deviation) - norm.cdf(low, mean, deviation), np.exp(-700)))


@pytest.mark.parametrize("seed", range(4))
def test_gaussians_are_scored_as_written_out(seed: int) -> None:
    cells, upper, moments = example(seed)
    found = score_gaussian(cells, upper, moments, moments[0] + 1)
    for j, (start, size) in enumerate(zip(cells.starts, cells.sizes, strict=True)):
        n, mean, squares = (moment[j] for moment in moments)
        centre = n @ mean / n.sum()
        pooled = (squares + n * (mean - centre) ** 2).sum() / n.sum()
        mean, squares = np.where(n > 0, (mean - centre) / np.sqrt(pooled), 0.0), squares / pooled
        edges = np.array([-np.inf, *(upper[start : start + size - 1] - centre) / np.sqrt(pooled), np.inf])
        counts, classes = cells.counts[start : start + size], range(len(n))
        with_all, without = np.empty(counts.shape), np.empty(counts.shape)
        for cell in range(size):
            low, high = edges[cell], edges[cell + 1]
            x = (max(low, -MOST_LEFT_OUT) + min(high, MOST_LEFT_OUT)) / 2
            for k in classes:
                width = np.sqrt((squares[k] + PSEUDO_COUNT) / (n[k] + PSEUDO_COUNT))
                with_all[cell, k] = (n[k] + 1) * between(low, high, mean[k], width)
                rest, centre_of_rest, squares_of_rest = max(n[k] - 1, 0), 0.0, 0.0
                if rest > 0:
                    centre_of_rest = mean[k] - (x - mean[k]) / rest
                    squares_of_rest = max(squares[k] - (x - mean[k]) ** 2 * n[k] / rest, 0.0)
                width = np.sqrt((squares_of_rest + PSEUDO_COUNT) / (rest + PSEUDO_COUNT))
                without[cell, k] = (n[k] + 1) * between(low, high, centre_of_rest, width)
        assert found[j] == pytest.approx(score(with_all, without, counts), rel=1e-9)


@pytest.mark.parametrize(
    "run",
    [
        lambda cells, upper, moments: quantiles(cells),
        lambda cells, upper, moments: mdl(cells),
        lambda cells, upper, moments: score_levels(cells, mdl(cells), moments[0]),
        lambda cells, upper, moments: score_gaussian(cells, upper, moments, moments[0]),
    ],
    ids=["quantiles", "mdl", "levels", "gaussian"],
)
def test_compiled_kernels_give_the_same_to_the_bit(monkeypatch: pytest.MonkeyPatch, run: Callable[..., Array]) -> None:
    parts: list[Any] = [example(seed, 40) for seed in range(3)]
    found = []
    for patience in (1 << 60, 0):
        monkeypatch.setattr(compiler, "PATIENCE", patience)
        for kernel in KERNELS:
            monkeypatch.setattr(kernel, "_spent", {})
        found.append([run(*part) for part in parts])
    for slow, fast in zip(*found, strict=True):
        np.testing.assert_array_equal(slow, fast)
