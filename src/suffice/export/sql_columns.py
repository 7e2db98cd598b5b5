"""Columns by themselves: what each of them adds to the log joint, as SQL.

A writer takes the reader of a block and its parameters, and returns the terms of each class. Terms that are the
same for all classes, such as −log x!, are left out: probabilities do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import gammaln
from sqlglot import exp

from suffice.export.dialects import ExportError
from suffice.export.sql_cells import Reader
from suffice.export.sql_terms import (
    Term,
    by_slot,
    choose,
    double,
    is_there,
    less,
    ln,
    log,
    number,
    product,
    ratio,
    times,
    total,
)
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.gaussian import GaussianParameters, StudentT
from suffice.families.multinomial import DirichletMultinomial, MultinomialParameters
from suffice.families.poisson import NegativeBinomial, PoissonParameters
from suffice.schema import Array

ByClass = list[list[Term]]

# Up to this many counts Γ is shifted to where Stirling's series is good to nine digits.
MANY, SHIFT = 1e4, 8

# A distance, in deviations, whose square is nothing beside a logarithm.
NEXT_TO_NOTHING = 1e-20


def levels(read: Reader, its: CategoricalParameters) -> ByClass:
    """Return log p[level], one look-up a column."""
    (term,) = its.score()
    starts, table = term.starts, term.table  # type: ignore[attr-defined]
    found: ByClass = []
    for line in table:
        pieces = zip(starts.tolist(), its.sizes.tolist(), strict=True)
        found.append([by_slot(read.slot(j), map(log, line[a : a + size + 1])) for j, (a, size) in enumerate(pieces)])
    return found


def bits(read: Reader, its: BernoulliParameters) -> ByClass:
    """Return log p where a number is above the threshold, else log(1 − p)."""
    threshold = read.columns.threshold

    def term(k: int, j: int) -> Term:
        p, q = its.log_p[k, j], its.log_q[k, j]
        if threshold is None and np.isfinite(p) and np.isfinite(q):
            return _or_nothing(total([number(q), product([read.value(j), number(p - q)])]))
        above = exp.GT(this=read.value(j), expression=number(threshold or 0.0))
        return choose([(above, log(p)), (is_there(read.value(j)), log(q))], double(0.0))

    return _each(its.log_p, term)


def gaussian(read: Reader, its: GaussianParameters) -> ByClass:
    """Return −½ log 2πσ² − (x − μ)² / 2σ²."""
    quadratic: Any = its.score().terms[0]

    def term(k: int, j: int) -> Term:
        mean, factor = float(its.mean[k, j]), float(quadratic.scale[k, j])
        density = exp.Sub(this=number(quadratic.peak[k, j]), expression=_square(read, j, mean, factor))
        if factor < 1e100:
            return _or_nothing(density)
        # as good as constant: what is far away is impossible, and its square is no number
        near = exp.LT(this=exp.Abs(this=less(read.value(j), mean)), expression=number(1e154 / np.sqrt(factor)))
        return choose([(near, density), (is_there(read.value(j)), exp.null())], double(0.0))

    return _each(its.mean, term)


def student(read: Reader, its: StudentT) -> ByClass:
    """Return the log density at m, less (ν + 1) / 2·log(1 + (x − m)² / νs²)."""
    its_term: Any = its.score().terms[0]
    precision, exponent, peaks = its_term.scale, its_term.exponent, its_term.peak

    def term(k: int, j: int) -> Term:
        mean, factor = float(its.mean[k, j]), float(precision[k, j])
        grown = ln(total([number(1.0), _square(read, j, mean, factor)]))
        if factor >= 1e100:
            # as good as constant: far away the 1 is nothing, and the square is no number
            distance = exp.Abs(this=less(read.value(j), mean))
            near = exp.LT(this=distance.copy(), expression=number(1e150 / np.sqrt(factor)))
            far = times(2.0, exp.Paren(this=total([number(0.5 * np.log(factor)), ln(distance)])))
            grown = choose([(near, grown), (is_there(read.value(j)), far)])
        return _or_nothing(exp.Sub(this=number(peaks[k, j]), expression=times(exponent[k, j], grown)))

    return _each(its.mean, term)


def _square(read: Reader, j: int, mean: float, factor: float) -> Term:
    """Return factor·(x − mean)²; where it is an error to be too small, 0 instead of what is next to it."""
    square = product([number(factor), *(less(read.value(j), mean) for _ in range(2))])
    if not read.draft.dialect.underflows:
        return square
    away = exp.GTE(this=exp.Abs(this=less(read.value(j), mean)), expression=number(NEXT_TO_NOTHING / np.sqrt(factor)))
    return choose([(away, square), (is_there(read.value(j)), double(0.0))])


def poisson(read: Reader, its: PoissonParameters) -> ByClass:
    """Return x·log λ − λ."""
    with np.errstate(divide="ignore"):
        logs = np.log(its.rate + its.epsilon)
    return _each(logs, lambda k, j: _linear(read, j, logs[k, j], -its.rate[k, j]))


def counts(read: Reader, its: MultinomialParameters) -> ByClass:
    """Return x·log p."""
    if np.isposinf(its.log_p).any():
        raise ExportError(
            "a column that no other class has makes its class infinitely likely, which SQL has no number for; "
            "use a prior (alpha) of more than 0"
        )
    return _each(its.log_p, lambda k, j: _linear(read, j, its.log_p[k, j], 0.0))


def negative_binomial(read: Reader, its: NegativeBinomial) -> ByClass:
    """Return log Γ(a + x) − log Γ(a) − x·log(b + 1) − a·log(1 + 1/b)."""
    linear: Any = its.score().terms[1]

    def term(k: int, j: int) -> Term:
        rising = list(_log_rising(lambda: read.value(j), float(its.shape[k, j])))
        events = product([read.value(j), number(-np.log1p(its.inverse_scale[k, j]))])
        return _or_nothing(total([number(linear.biases[k, j]), events, *rising]))

    return _each(its.shape, term)


def dirichlet(read: Reader, its: DirichletMultinomial) -> ByClass:
    """Return Σⱼ log Γ(αⱼ + xⱼ) − log Γ(αⱼ), less the same of the sums."""
    columns = range(its.alpha.shape[1])
    if not columns:
        return [[] for _ in its.alpha]
    cells = [exp.Coalesce(this=read.value(j), expressions=[double(0.0)]) for j in columns]
    count = read.draft.put(1, f"n{read.draft.columns.index(read.names[0])}", total(cells))
    found = _each(
        its.alpha,
        lambda k, j: _or_nothing(total(_log_rising(lambda: read.value(j), float(its.alpha[k, j])))),
    )
    for terms, whole in zip(found, its.alpha.sum(axis=1).tolist(), strict=True):
        rising = total(_log_rising(lambda: read.draft.own(count), whole))
        terms.append(exp.Neg(this=exp.Paren(this=rising)))
    return found


def _log_rising(x: Callable[[], Term], a: float) -> Iterator[Term]:
    """Yield terms whose sum is log Γ(a + x) − log Γ(a), by Stirling's series: most dialects have no Γ."""

    def plus(value: float) -> Term:
        return less(x(), -value)

    if a > MANY:
        # (a + x − ½)·log(1 + x/a) + x·(log a − 1) + (1/(a + x) − 1/a)/12: what is alike in both is not subtracted
        grown = ln(total([number(1.0), product([x(), number(1 / a)])]))
        yield product([plus(a - 0.5), grown])
        yield product([x(), number(np.log(a) - 1)])
        yield ratio(number(1 / 12), plus(a))
        yield number(-1 / (12 * a))
        return
    r = a + SHIFT
    yield product([plus(r - 0.5), ln(plus(r))])
    yield exp.Neg(this=x())
    yield ratio(number(1 / 12), plus(r))
    yield ratio(number(-1 / 360), exp.Paren(this=product([plus(r) for _ in range(3)])))
    yield ratio(number(1 / 1260), exp.Paren(this=product([plus(r) for _ in range(5)])))
    yield exp.Neg(this=ln(product([plus(a + step) for step in range(SHIFT)])))
    yield number(0.5 * np.log(2 * np.pi) - r - float(gammaln(a)))


def _linear(read: Reader, j: int, weight: float, bias: float) -> Term:
    """Return weight·x + bias; a weight of −∞ makes any x above 0 impossible, and 0 of it is 0."""
    if weight != -np.inf:
        terms = [product([read.value(j), number(weight)])]
        return _or_nothing(total([*terms, number(bias)] if bias else terms))
    above = exp.GT(this=read.value(j), expression=number(0.0))
    return choose([(above, exp.null()), (is_there(read.value(j)), number(bias))], double(0.0))


def _or_nothing(term: Term) -> Term:
    """Return what a number adds, which is NULL where its cell is empty: that adds nothing."""
    return exp.Coalesce(this=term, expressions=[double(0.0)])


def _each(table: Array, term: Callable[[int, int], Term]) -> ByClass:
    """Return the terms of each class and column."""
    return [[term(k, j) for j in range(table.shape[1])] for k in range(len(table))]


Written = Callable[[Reader, Any], ByClass]
INDEPENDENT: tuple[tuple[type, Written], ...] = (
    (CategoricalParameters, levels),
    (BernoulliParameters, bits),
    (GaussianParameters, gaussian),
    (StudentT, student),
    (PoissonParameters, poisson),
    (MultinomialParameters, counts),
    (NegativeBinomial, negative_binomial),
    (DirichletMultinomial, dirichlet),
)
