"""Assessing: how good what many models say of the same rows is, the rows read once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.blocks import Block, Dense
from suffice.data.engines import memory
from suffice.families.family import Parameters
from suffice.families.linear_score import Linear
from suffice.kernels import posterior
from suffice.model import Model
from suffice.parallel import spread
from suffice.schema import Array, Columns
from suffice.statistics.scan import comparable

# scikit-learn's log_loss cuts probabilities of 0 off here, too
LEAST_LOG = float(np.log(np.finfo(np.float64).eps))


NORMAL = 1.959963984540054  # of a 95 % interval


@dataclass(frozen=True)
class Assessment:
    """Of each row −log P(its class), the squared error of all P, the highest P, and whether that was right."""

    log_loss: Array
    brier: Array
    confidence: Array
    right: Array


def assessed(log_proba: Array, codes: Array) -> Assessment:
    """Return how good log probabilities [row, class] are for rows of these classes.

    >>> said = np.log([[0.9, 0.1], [0.6, 0.4]])
    >>> found = assessed(said, np.array([0, 1]))
    >>> found.brier.round(2).tolist(), found.right.tolist()
    ([0.02, 0.72], [1.0, 0.0])
    """
    found, nothing = np.empty((len(codes), 4)), np.zeros(log_proba.shape[1])
    posterior.assess(log_proba, 0, nothing, codes, LEAST_LOG, found, work=4 * log_proba.size)
    return Assessment(*found.T)


def wilson(right: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share.

    >>> [round(bound, 3) for bound in wilson(9, 10)]
    [0.596, 0.982]
    """
    if not n:
        return 0.0, 1.0
    p, z = right / n, NORMAL**2 / n
    half = NORMAL * float(np.sqrt(p * (1 - p) / n + z / (4 * n)))
    return max((p + z / 2 - half) / (1 + z), 0.0), min((p + z / 2 + half) / (1 + z), 1.0)


def all_assessed(models: Sequence[Model], blocks: tuple[Block, ...], codes: Array) -> list[Assessment]:
    """Return how good each of several models of the same columns is for rows of these classes."""
    keys = [_key(model) for model in models]
    different = dict(zip(keys, models, strict=True))
    found = dict(zip(different, _assessed(list(different.values()), blocks, codes), strict=True))
    return [found[key] for key in keys]


def _key(model: Model) -> Any:
    """Return what models have in common that say the same, as those of several rules may."""
    forms = [parameters.product for parameters in model.parameters]
    if any(form is None for form in forms):
        return id(model)
    weights = tuple((form.weights.tobytes(), form.biases.tobytes(), form.veto is None) for form in forms)
    return model.class_log_prior.tobytes(), weights


def _assessed(models: Sequence[Model], blocks: tuple[Block, ...], codes: Array) -> list[Assessment]:
    classes, count = len(models[0].class_log_prior), len(models)
    scorers = [_scorer([model.parameters[place] for model in models]) for place in range(len(blocks))]
    priors = np.concatenate([model.class_log_prior for model in models])

    def part(rows: slice) -> Array:
        scores = np.empty((rows.stop - rows.start, count * classes))
        scores[:] = priors
        for columns, block, scorer in zip(models[0].columns, blocks, scorers, strict=True):
            scorer.add(columns, block, rows, scores)
        found, truth = np.empty((count, len(scores), 4)), codes[rows]

        def assess(m: int) -> None:
            prior, work = models[m].class_log_prior, 4 * len(scores) * classes
            posterior.assess(scores, m * classes, prior, truth, LEAST_LOG, found[m], work=work)

        spread(assess, range(count))
        return found

    alone = any(scorer.spreads_itself for scorer in scorers)
    found = np.concatenate(memory.over_rows(blocks, classes, part, alone), axis=1)
    return [Assessment(*its.T) for its in found]


class _OneByOne:
    """Adds the scores of each model by itself."""

    def __init__(self, many: Sequence[Parameters]) -> None:
        self.many = many
        self.spreads_itself = any(parameters.spreads_itself for parameters in many)

    def add(self, columns: Columns, block: Block, rows: slice, scores: Array) -> None:
        for mine, parameters in zip(np.split(scores, len(self.many), axis=1), self.many, strict=True):
            line = np.ascontiguousarray(mine)
            parameters.add(columns, block, rows, line)
            mine[:] = line


class _SideBySide:
    """Adds the scores of all models as if their classes were those of one."""

    spreads_itself = False

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters

    def add(self, columns: Columns, block: Block, rows: slice, scores: Array) -> None:
        self.parameters.add(columns, block, rows, scores)


class _Product(_OneByOne):
    """Adds the scores of all models as one matrix product."""

    def __init__(self, many: Sequence[Parameters], products: Sequence[Linear]) -> None:
        super().__init__(many)
        self.products = products
        forms = [*products, *(its.veto for its in products if its.veto is not None)]
        self.weights = np.ascontiguousarray(np.concatenate([its.weights for its in forms]).T)
        self.bias = np.concatenate([its.bias for its in forms])
        self.spreads_itself = True

    def add(self, columns: Columns, block: Block, rows: slice, scores: Array) -> None:
        if not isinstance(block, Dense) or block.gaps:
            super().add(columns, block, rows, scores)
            return
        classes = len(self.products[0].weights)
        for x, part in block.scored(rows, scores):
            ones = x if columns.threshold is None else x > comparable(columns.threshold, block.dtype)
            found = ones.astype(np.float64) @ self.weights
            found += self.bias
            vetoed = len(self.products) * classes
            part += found[:, :vetoed]
            for place, its in enumerate(self.products):
                if its.veto is not None:
                    mine = part[:, place * classes : (place + 1) * classes]
                    # what is impossible in one block is impossible, however certain another is
                    mine[(found[:, vetoed : vetoed + classes] > 0) & (mine > -np.inf)] = its.limit
                    vetoed += classes


def _scorer(many: list[Parameters]) -> _OneByOne | _SideBySide:
    """Return what adds the scores of several models of a block, whose rows it reads as few times as it can."""
    if len(many) > 1 and len({type(parameters) for parameters in many}) == 1:
        products = [parameters.product for parameters in many]
        if products[0] is not None:
            return _Product(many, products)
        together = many[0].side_by_side(many)
        if together is not None:
            return _SideBySide(together)
    return _OneByOne(many)
