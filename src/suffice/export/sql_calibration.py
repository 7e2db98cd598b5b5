"""Calibration as SQL: from log probabilities to better ones, as `decision.calibration` maps them."""

from __future__ import annotations

from itertools import pairwise

from sqlglot import exp

from suffice.decision.calibration import Isotonic, Map, Temperature, Vector
from suffice.export.sql_draft import Draft
from suffice.export.sql_terms import LEAST_EXPONENT, Term, choose, double, less, ln, number, product, total

# Where log P is so near to 0 that 1 − P has lost its digits, it is −log P to nine of them and more.
NEARLY_CERTAIN = -1e-5


def scaled(its: Map, said: list[Term]) -> list[Term]:
    """Return a·log P + b, whose softmax is calibrated."""
    if isinstance(its, Temperature):
        return [product([term, number(1 / its.temperature)]) for term in said]
    assert isinstance(its, Vector)
    pairs = zip(said, its.factors.tolist(), its.shifts.tolist(), strict=True)
    return [total([product([term, number(factor)]), number(shift)]) for term, factor, shift in pairs]


def risen(draft: Draft, stage: int, its: Isotonic, said: list[str]) -> list[Term]:
    """Return P(class) as the rising functions have it, not yet made to add up to 1.

    Between knots it is y + slope·(log-odds − x). The log-odds are put into one stage, the functions in the next.
    """
    odds = [draft.put(stage, f"o{k}", _log_odds(draft, name)) for k, name in enumerate(said)]
    found: list[Term] = []
    for name, x, y in zip(odds, its.log_odds, its.shares, strict=True):
        knots = list(zip(x.tolist(), y.tolist(), strict=True))
        branches: list[tuple[Term, Term]] = [
            (exp.LTE(this=draft.own(name), expression=number(knots[0][0])), number(knots[0][1]))
        ]
        for (low, below), (high, above) in pairwise(knots):
            away = product([less(draft.own(name), low), number((above - below) / (high - low))])
            line = total([number(below), away]) if above != below else number(below)
            branches.append((exp.LT(this=draft.own(name), expression=number(high)), line))
        found.append(choose(branches, double(knots[-1][1])))
    if len(found) == 2:  # of two classes one says it all
        second = draft.put(stage + 1, "r1", found[1])
        return [exp.Sub(this=number(1.0), expression=draft.own(second)), draft.own(second)]
    return found


def _log_odds(draft: Draft, name: str) -> Term:
    """Return log P − log(1 − P), from log P."""
    near = product([exp.Neg(this=draft.own(name)), exp.Paren(this=total([number(1.0), _half(draft.own(name))]))])
    least = draft.greatest([draft.own(name), number(LEAST_EXPONENT)])
    far = exp.Sub(this=number(1.0), expression=exp.Exp(this=least))
    certain = exp.GTE(this=draft.own(name), expression=number(0.0))
    nearly = exp.GT(this=draft.own(name), expression=number(NEARLY_CERTAIN))
    others = choose([(certain, number(-745.0)), (nearly, ln(near))], ln(far))
    return exp.Sub(this=draft.own(name), expression=others)


def _half(term: Term) -> Term:
    return product([number(0.5), term])
