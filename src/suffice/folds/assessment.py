"""Assessment: the log-loss, Brier score and accuracy of many models on the same rows, from one pass."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from suffice.blocks import Block
from suffice.data.engines import memory
from suffice.kernels import posterior
from suffice.model import Model
from suffice.parallel import map_threads
from suffice.pooled_model import AnyModel
from suffice.schema import Array
from suffice.score import Score

# The least log probability in a log-loss, as in scikit-learn's log_loss.
LEAST_LOG = float(np.log(np.finfo(np.float64).eps))

# The quantile of the standard normal distribution for a 95 % interval.
Z_95 = 1.959963984540054


@dataclass(frozen=True)
class Assessment:
    """Measures of each row: −log P(true class), the Brier score, the highest P, and 1 if that class is the true one.

    The Brier score is Σ (P − 1 for the true class)² over the classes, and half of it if there are two classes, as in
    scikit-learn's ``brier_score_loss``.
    """

    log_loss: Array
    brier: Array
    confidence: Array
    right: Array


def assess_predictions(log_proba: Array, codes: Array) -> Assessment:
    """Return the measures of log probabilities [row, class]; ``codes`` are the true classes.

    >>> log_proba = np.log([[0.9, 0.1], [0.6, 0.4]])
    >>> assessment = assess_predictions(log_proba, np.array([0, 1]))
    >>> assessment.brier.round(2).tolist(), assessment.right.tolist()
    ([0.01, 0.36], [1.0, 0.0])
    """
    return _scale_brier(_assess(log_proba, codes), log_proba.shape[1])


def _assess(log_proba: Array, codes: Array) -> Assessment:
    measures, no_prior = np.empty((len(codes), 4)), np.zeros(log_proba.shape[1])
    posterior.assess(log_proba, 0, no_prior, codes, LEAST_LOG, measures, work=4 * log_proba.size)
    return Assessment(*measures.T)


def _scale_brier(assessment: Assessment, classes: int) -> Assessment:
    return replace(assessment, brier=assessment.brier / 2) if classes == 2 else assessment


def wilson_interval(right: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share.

    >>> [round(bound, 3) for bound in wilson_interval(9, 10)]
    [0.596, 0.982]
    """
    if not n:
        return 0.0, 1.0
    p, z = right / n, Z_95**2 / n
    half = Z_95 * float(np.sqrt(p * (1 - p) / n + z / (4 * n)))
    return max((p + z / 2 - half) / (1 + z), 0.0), min((p + z / 2 + half) / (1 + z), 1.0)


def assess_models(
    models: Sequence[AnyModel], blocks: tuple[Block, ...], codes: Array, classes: int
) -> list[Assessment]:
    """Return the assessment of each of several models of the same columns.

    ``codes`` are the true classes, −1 for one that the models have not learned, and ``classes`` the number of all.
    """
    return [_scale_brier(each, classes) for each in _assess_alike(models, blocks, codes)]


def _assess_alike(models: Sequence[AnyModel], blocks: tuple[Block, ...], codes: Array) -> list[Assessment]:
    plain = [model for model in models if isinstance(model, Model)]
    if len(plain) < len(models):
        return [_assess(model.log_posterior(blocks), codes) for model in models]
    if len(models) == 1:
        return _assessed(plain, blocks, codes)
    # several rules may give the same model, which is scored once
    different: list[Model] = []
    places = []
    for model in plain:
        same = (place for place, other in enumerate(different) if _is_same(_content(model), _content(other)))
        places.append(next(same, len(different)))
        if places[-1] == len(different):
            different.append(model)
    found = _assessed(different, tuple(block.gathered() for block in blocks), codes)
    return [found[place] for place in places]


def _content(model: Model) -> tuple[Any, ...]:
    return model.class_log_prior, model.scores


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two values have equal parameters; arrays that differ mostly do so in their first entries."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        first = slice(None, 1024)
        return (
            one.shape == other.shape
            and np.array_equal(one.flat[first], other.flat[first])
            and np.array_equal(one, other)
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if is_dataclass(one):
        return all(_is_same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    return bool(one == other)


def _assessed(models: Sequence[Model], blocks: tuple[Block, ...], codes: Array) -> list[Assessment]:
    classes, count = len(models[0].class_log_prior), len(models)
    joined = [Score.side_by_side([model.scores[place] for model in models]) for place in range(len(blocks))]
    priors = np.concatenate([model.class_log_prior for model in models])

    def part(rows: slice) -> Array:
        scores = np.empty((rows.stop - rows.start, count * classes))
        scores[:] = priors
        for block, score in zip(blocks, joined, strict=True):
            score.add(block, rows, scores)
        measures, truth = np.empty((count, len(scores), 4)), codes[rows]

        def assess(m: int) -> None:
            prior, work = models[m].class_log_prior, 4 * len(scores) * classes
            posterior.assess(scores, m * classes, prior, truth, LEAST_LOG, measures[m], work=work)

        map_threads(assess, range(count))
        return measures

    measures = np.concatenate(memory.over_rows(blocks, classes, part), axis=1)
    return [Assessment(*model_measures.T) for model_measures in measures]
