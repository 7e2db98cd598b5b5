"""Calibration maps as SQL: the maps of `suffice.decision.calibration`."""

from __future__ import annotations

from itertools import pairwise

from sqlglot import exp

from suffice.decision.calibration import Isotonic, Map, Temperature, Vector
from suffice.export.sql_expressions import (
    MIN_EXPONENT,
    Expression,
    add,
    column,
    double,
    greatest,
    ln,
    multiply,
    number,
    searched_case,
    shift,
    subtract,
)
from suffice.export.sql_stages import StagedQuery

# For log P above this, 1 − exp(log P) loses its digits, and −log P·(1 + ½ log P) is exact to nine of them.
NEARLY_CERTAIN = -1e-5

# log(1 − P) for P = 1, as in `suffice.decision.calibration`.
LOG_ZERO = -745.0


def apply_scaling(scaling: Map, log_proba: list[Expression]) -> list[Expression]:
    """Return factor·log P + shift of each class, whose softmax is calibrated."""
    if isinstance(scaling, Temperature):
        return [multiply([log_p, number(1 / scaling.temperature)]) for log_p in log_proba]
    assert isinstance(scaling, Vector)
    classes = zip(log_proba, scaling.factors.tolist(), scaling.shifts.tolist(), strict=True)
    return [add([multiply([log_p, number(factor)]), number(bias)]) for log_p, factor, bias in classes]


def apply_isotonic(query: StagedQuery, stage: int, isotonic: Isotonic, log_proba: list[str]) -> list[Expression]:
    """Return the calibrated P of each class before they are normalised.

    P is piecewise linear in the log odds: y + slope·(log odds − x) between the knots (x, y). The log odds are added
    to ``stage``; with two classes, P of the second is added to the next stage, and P of the first is 1 minus it.
    """
    odds = [query.add(stage, f"o{k}", _log_odds(query, name)) for k, name in enumerate(log_proba)]
    shares: list[Expression] = []
    for name, x, y in zip(odds, isotonic.log_odds, isotonic.shares, strict=True):
        knots = list(zip(x.tolist(), y.tolist(), strict=True))
        branches: list[tuple[Expression, Expression]] = [(column(name) <= number(knots[0][0]), number(knots[0][1]))]
        for (low, start), (high, end) in pairwise(knots):
            rise = multiply([shift(column(name), low), number((end - start) / (high - low))])
            line = add([number(start), rise]) if end != start else number(start)
            branches.append((column(name) < number(high), line))
        shares.append(searched_case(branches, double(knots[-1][1])))
    if len(shares) == 2:
        second = query.add(stage + 1, "r1", shares[1])
        return [subtract(number(1.0), column(second)), column(second)]
    return shares


def _log_odds(query: StagedQuery, name: str) -> Expression:
    """Return log P − log(1 − P), from log P."""
    log_p = column(name)
    linear = exp.Paren(this=add([number(1.0), multiply([number(0.5), log_p])]))
    near_one = multiply([exp.Neg(this=log_p.copy()), linear])
    power = exp.Exp(this=greatest([log_p.copy(), number(MIN_EXPONENT)], query.dialect))
    log_other = searched_case(
        [(log_p >= number(0.0), number(LOG_ZERO)), (log_p > number(NEARLY_CERTAIN), ln(near_one))],
        ln(subtract(number(1.0), power)),
    )
    return subtract(log_p.copy(), log_other)
