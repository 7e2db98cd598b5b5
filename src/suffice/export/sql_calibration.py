"""Calibration maps as SQL: the maps of `suffice.decision.calibration`."""

from itertools import pairwise

from sqlglot import exp

from suffice.decision.calibration import Isotonic, Map, Temperature, Vector
from suffice.export.sql_expressions import (
    MIN_EXPONENT,
    Expression,
    Operand,
    double,
    greatest,
    ln,
    number,
    searched_case,
)
from suffice.export.sql_stages import StagedQuery

# For log P above this, 1 − exp(log P) loses its digits, and −log P·(1 + ½ log P) is exact to nine of them.
NEARLY_CERTAIN = -1e-5

# log(1 − P) for P = 1, as in `suffice.decision.calibration`.
LOG_ZERO = -745.0


def apply_scaling(scaling: Map, log_proba: list[Expression]) -> list[Expression]:
    """Return factor·log P + shift of each class, whose softmax is calibrated."""
    if isinstance(scaling, Temperature):
        return [log_p * (1 / scaling.temperature) for log_p in log_proba]
    assert isinstance(scaling, Vector)
    classes = zip(log_proba, scaling.factors.tolist(), scaling.shifts.tolist(), strict=True)
    return [log_p * factor + shift for log_p, factor, shift in classes]


def apply_isotonic(query: StagedQuery, stage: int, isotonic: Isotonic, log_proba: list[Expression]) -> list[Expression]:
    """Return the calibrated P of each class before they are normalised.

    P is piecewise linear in the log odds: y + slope·(log odds − x) between the knots (x, y). The log odds are added
    to ``stage``; with two classes, P of the second is added to the next stage, and P of the first is 1 minus it.
    """
    log_odds = [query.add(stage, f"o{k}", _log_odds(query, log_p)) for k, log_p in enumerate(log_proba)]
    shares: list[Expression] = []
    for odds, x, y in zip(log_odds, isotonic.log_odds, isotonic.shares, strict=True):
        knots = list(zip(x.tolist(), y.tolist(), strict=True))
        branches: list[tuple[Expression, Operand]] = [(odds <= knots[0][0], knots[0][1])]
        for (low, start), (high, end) in pairwise(knots):
            line = start + (odds - low) * ((end - start) / (high - low)) if end != start else number(start)
            branches.append((odds < high, line))
        shares.append(searched_case(branches, double(knots[-1][1])))
    if len(shares) == 2:
        second = query.add(stage + 1, "r1", shares[1])
        return [1.0 - second, second]
    return shares


def _log_odds(query: StagedQuery, log_p: Expression) -> Expression:
    """Return log P − log(1 − P), from log P."""
    power = Expression(exp.Exp(this=greatest([log_p, number(MIN_EXPONENT)], query.dialect).node))
    log_other = searched_case(
        [(log_p >= 0.0, LOG_ZERO), (log_p > NEARLY_CERTAIN, ln(-log_p * (1.0 + 0.5 * log_p)))], ln(1.0 - power)
    )
    return log_p - log_other
