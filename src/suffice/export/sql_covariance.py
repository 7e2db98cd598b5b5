"""Numbers that vary together, as SQL: sums of squares by the triangular factors of Σ⁻¹."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as every

import numpy as np
from scipy.special import gammaln
from sqlglot import exp

from suffice.export.sql_cells import Reader
from suffice.export.sql_columns import ByClass
from suffice.export.sql_terms import (
    Term,
    choose,
    double,
    is_null,
    less,
    ln,
    look_up,
    number,
    product,
    times,
    total,
    whole,
)
from suffice.families.low_rank_gaussian import LowRankGaussian
from suffice.families.multivariate_gaussian import MultivariateGaussian, MultivariateStudentT
from suffice.schema import Array

# Up to this many columns each pattern of empty cells has a density of its own.
FEW = 6

# A factor below it adds nothing, as no number is beyond 1e100. A mean below the other is 0 to any deviation.
LEAST_FACTOR, LEAST_MEAN = 1e-130, 1e-160


def together(read: Reader, its: MultivariateGaussian) -> ByClass:
    """Return log N(x; μ, Σ), or the multivariate t, of the cells that are not empty.

    Of few columns that is the exact marginal. Of many there would be too many patterns of empty cells, so there a
    row with some cells empty, and some not, is unknown.
    """
    size = its.mean.shape[1]
    if size > FEW:
        return _whole_rows(read, [_density(read, its, k, range(size)) for k in range(len(its.mean))], False)
    weights = [choose([(is_null(read.value(j)), whole(1 << j))], whole(0)) for j in range(size)]
    pattern = read.draft.put(1, f"e{_place(read)}", total(weights))
    found: ByClass = []
    for k in range(len(its.mean)):
        branches = []
        for there in every((True, False), repeat=size):
            kept = [j for j in range(size) if there[j]]
            if kept:
                code = sum(1 << j for j in range(size) if not there[j])
                branches.append((whole(code), _density(read, its, k, kept)))
        found.append([look_up(read.draft.own(pattern), branches, double(0.0))])
    return found


def subspace(read: Reader, its: LowRankGaussian) -> ByClass:
    """Return what differs between classes of log N(x; μ, Σ), for one Σ that is never formed: it is linear in x."""
    middle = its.mean.mean(axis=0)
    away = its.mean - middle
    slopes = (away @ its.whitening) @ its.whitening.T
    if its.floor > 0:
        scaled = away / its.scale
        slopes += (scaled - (scaled @ its.axes) @ its.axes.T) / (its.scale * its.floor)
    biases = -0.5 * (away * slopes).sum(axis=1)
    return _whole_rows(read, [_line(read, middle, *pair) for pair in zip(slopes, biases, strict=True)], True)


def _whole_rows(read: Reader, densities: list[Term], strict: bool) -> ByClass:
    """Return what is known of complete rows: others are unknown, unless all cells are empty and that is allowed."""
    size = read.columns.count
    empty = [choose([(is_null(read.value(j)), whole(1))], whole(0)) for j in range(size)]
    count = read.draft.put(1, f"e{_place(read)}", total(empty))
    some: Term = exp.GT(this=read.draft.own(count), expression=whole(0))
    if not strict:
        some = exp.And(this=some, expression=exp.LT(this=read.draft.own(count), expression=whole(size)))
    read.draft.unknown.append(some)
    return [[look_up(read.draft.own(count), [(whole(0), density)], double(0.0))] for density in densities]


def _density(read: Reader, its: MultivariateGaussian, k: int, kept: list[int] | range) -> Term:
    """Return the log density of some of the columns."""
    shared = len(its.covariance) == 1
    places = list(kept)
    sigma = its.covariance[0 if shared else k][np.ix_(places, places)]
    lower = np.linalg.cholesky(sigma)
    inverse = np.linalg.inv(lower)
    log_det = 2 * float(np.log(np.diagonal(lower)).sum())
    size = len(places)
    if shared and not isinstance(its, MultivariateStudentT):
        # the squares of x are the same for all classes
        middle = its.mean.mean(axis=0)[places]
        away = its.mean[k, places] - middle
        slopes = inverse.T @ (inverse @ away)
        full = np.zeros((2, its.mean.shape[1]))
        full[0, places], full[1, places] = middle, slopes
        return _line(read, full[0], full[1], -0.5 * float(away @ slopes))
    lines = (_products(read, places, line, its.mean[k, places]) for line in inverse)
    distance = total(read.draft.squared(total(line)) for line in lines)
    if not isinstance(its, MultivariateStudentT):
        density = exp.Sub(
            this=number(-0.5 * (log_det + size * np.log(2 * np.pi))),
            expression=times(0.5, exp.Paren(this=distance)),
        )
    else:
        dof = float(its.dof[k])
        peak = gammaln((dof + size) / 2) - gammaln(dof / 2) - 0.5 * (size * np.log(dof * np.pi) + log_det)
        grown = total([number(1.0), times(1 / dof, exp.Paren(this=distance))])
        density = exp.Sub(this=number(peak), expression=times((dof + size) / 2, ln(grown)))
    return density


def _line(read: Reader, middle: Array, slopes: Array, bias: float) -> Term:
    """Return Σⱼ slopeⱼ·(xⱼ − middleⱼ) + bias."""
    return total([*_products(read, range(len(slopes)), slopes, middle), double(bias)])


def _products(read: Reader, places: Sequence[int], factors: Array, middle: Array) -> list[Term]:
    """Return factor·(x − middle) of each column, but of those that add nothing."""
    return [
        product([number(factor), less(read.value(place), mean if abs(mean) >= LEAST_MEAN else 0.0)])
        for place, factor, mean in zip(places, factors.tolist(), middle.tolist(), strict=True)
        if abs(factor) >= LEAST_FACTOR
    ]


def _place(read: Reader) -> int:
    return read.draft.columns.index(read.names[0])
