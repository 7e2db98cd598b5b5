"""From scores to probabilities, as SQL: the e to the power of the distances from it, and their sum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import log_softmax
from sqlglot import exp

from suffice.decision.calibration import Calibration, Isotonic
from suffice.export.sql_calibration import risen, scaled
from suffice.export.sql_draft import Draft
from suffice.export.sql_terms import Term, choose, double, exponential, is_null, ln, number, ratio, total
from suffice.schema import Array

# Stands for the score of a class that is impossible where the greatest is looked for: less than any score.
LEAST = -float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Decided:
    """The names under which a draft has scores, the greatest of them, weights, and the sum of these.

    ``best`` has of each class whether none is more probable, as `predict` compares them.
    """

    scores: list[str]
    top: str
    weights: list[str]
    sum: str
    best: list[Term]

    def shares(self, draft: Draft) -> list[Term]:
        """Return each weight's share of the sum."""
        return [ratio(draft.own(weight), draft.own(self.sum)) for weight in self.weights]


def decided(draft: Draft, scores: list[str], class_log_prior: Array | None, mark: str = "") -> Decided:
    """Return P = e^(score − greatest) / Σ e^(score − greatest), which no score is too large or too small for.

    A class that is impossible has no score (NULL). If that is so of all, the row says nothing, and the prior stands.
    """
    stage = len(draft.stages)
    numbers: list[Term] = [exp.Coalesce(this=draft.own(name), expressions=[number(LEAST)]) for name in scores]
    top = draft.put(stage, f"top{mark}", exp.Nullif(this=draft.greatest(numbers), expression=number(LEAST)))
    weights = []
    for k, name in enumerate(scores):
        weight = exponential(partial(_difference, draft, name, top))
        if class_log_prior is not None:
            weight = choose([(is_null(draft.own(top)), number(np.exp(class_log_prior[k])))], weight)
        weights.append(draft.put(stage + 1, f"w{mark}{k}", weight))
    best: list[Term] = [exp.EQ(this=draft.own(score), expression=draft.own(top)) for score in scores]
    return Decided(scores, top, weights, draft.put(stage + 2, f"sum{mark}", total(map(draft.own, weights))), best)


def calibrated(draft: Draft, calibration: Calibration, found: Decided, class_log_prior: Array) -> Decided:
    """Return probabilities as the map has them, learned of log P no less than a floor.

    By them it is decided: what differs less than they have digits for is equal, and the first of equals is said.
    """
    stage, floor = len(draft.stages), float(calibration.floor)
    prior = np.maximum(log_softmax(class_log_prior), floor)
    said = []
    for k, name in enumerate(found.scores):
        log_p = exp.Sub(this=_difference(draft, name, found.top), expression=ln(draft.own(found.sum)))
        impossible = [(is_null(draft.own(found.top)), double(prior[k])), (is_null(draft.own(name)), number(floor))]
        said.append(draft.put(stage, f"l{k}", choose(impossible, draft.greatest([log_p, number(floor)]))))
    if isinstance(calibration.map, Isotonic):
        shares = risen(draft, stage + 1, calibration.map, said)
        weights = [draft.put(stage + 3, f"c{k}", share) for k, share in enumerate(shares)]
        top = draft.put(stage + 4, "topc", draft.greatest([draft.own(name) for name in weights]))
        whole = draft.put(stage + 4, "sumc", total(map(draft.own, weights)))
        logs = [ln(draft.own(name)) for name in weights]
        best = _best(draft, stage + 5, logs, ln(draft.own(top)), whole)
        return Decided(weights, top, weights, whole, best)
    terms = scaled(calibration.map, [draft.own(name) for name in said])
    mapped = decided(draft, [draft.put(stage + 1, f"c{k}", term) for k, term in enumerate(terms)], None, "c")
    logs = [_difference(draft, name, mapped.top) for name in mapped.scores]
    return replace(mapped, best=_best(draft, len(draft.stages), logs, number(0.0), mapped.sum))


def _best(draft: Draft, stage: int, logs: list[Term], top: Term, whole: str) -> list[Term]:
    """Return whether each log P, less the logarithm of the sum, is as great as the greatest."""
    log_sum = draft.put(stage, "lsumc", ln(draft.own(whole)))
    greatest = draft.put(stage + 1, "ltopc", exp.Sub(this=top, expression=draft.own(log_sum)))
    return [
        exp.EQ(this=exp.Sub(this=log, expression=draft.own(log_sum)), expression=draft.own(greatest)) for log in logs
    ]


def _difference(draft: Draft, score: str, top: str) -> Term:
    return exp.Sub(this=draft.own(score), expression=draft.own(top))
