"""A model as a graph of ONNX operators: its scores, its probabilities and its labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from onnx import ModelProto

from suffice import score as terms
from suffice.data.column_names import rename_taken
from suffice.decision.calibration import Calibration
from suffice.export import onnx_columnwise, onnx_covariance, onnx_joint, onnx_pairs, onnx_trees
from suffice.export.dialects import ExportError
from suffice.export.onnx_cells import IN_PYTHON, Cells, FloatType, Inputs, InputType, MappedCells, check_text
from suffice.export.onnx_graph import Tensor
from suffice.export.onnx_posterior import calibrate, log_posterior, log_sum_exp, normalise
from suffice.export.onnx_words import WORD_TRANSLATORS, WordCells, read_cells
from suffice.model import Model
from suffice.pooled_model import AnyModel, PooledModel
from suffice.schema import Array
from suffice.score import Linear, LogSumExp, OfFunction, Score, Term

# A translator returns what a term adds to the score of each class, [row, class].
Translator = Callable[[Any, Cells], Tensor]


def translate_log_sum_exp(term: LogSumExp, cells: Cells) -> Tensor:
    """Write log Σᵢ exp(log weight + score of component i) of each class."""
    parts = zip(term.components, term.log_weights, strict=True)
    return cells.graph.concat([log_sum_exp(write_score(score, cells) + log_weights, 1) for score, log_weights in parts])


def translate_of_function(term: OfFunction, cells: Cells) -> Tensor:
    """Write a term of a function of each cell."""
    return TRANSLATORS[type(term.term)](term.term, MappedCells(cells.inputs, cells.columns, term.mapping))


TRANSLATORS: dict[type[Term], Translator] = {
    terms.LookUp: onnx_columnwise.translate_look_up,
    terms.Linear: onnx_columnwise.translate_linear,
    terms.CompleteLinear: onnx_columnwise.translate_complete_linear,
    terms.Products: onnx_columnwise.translate_products,
    terms.Quadratic: onnx_columnwise.translate_quadratic,
    terms.LogQuadratic: onnx_columnwise.translate_log_quadratic,
    terms.LogGamma: onnx_columnwise.translate_log_gamma,
    terms.LogGammaOfRest: onnx_columnwise.translate_log_gamma_of_rest,
    terms.LogGammaOfTotal: onnx_columnwise.translate_log_gamma_of_total,
    terms.PairLookUp: onnx_pairs.translate_pair_look_up,
    terms.AveragedPairs: onnx_pairs.translate_averaged_pairs,
    terms.JointLookUp: onnx_joint.translate_joint_look_up,
    terms.TriangularSolve: onnx_covariance.translate_triangular_solve,
    terms.LowRank: onnx_covariance.translate_low_rank,
    terms.MeanOfTrees: onnx_trees.translate_mean_of_trees,
    terms.LogSumExp: translate_log_sum_exp,
    terms.OfFunction: translate_of_function,
}


def write_model(
    model: AnyModel,
    classes: list[Any],
    calibration: Calibration | None,
    dtype: FloatType,
    types: Mapping[str, InputType],
    features: int | None,
) -> ModelProto:
    """Return the model as a graph; the parameters are those of `suffice.export.to_onnx`."""
    inputs = Inputs(model.columns, dtype, types, features)
    log_proba = _write_posterior(model, inputs)
    p = log_proba.exp() if calibration is None else calibrate(log_proba, calibration)
    labels, kind = _as_labels(classes, dtype)
    codes = inputs.graph.add("ArgMax", p, axis=1, keepdims=0)
    results = {"label": inputs.graph.add("Gather", labels, codes), "probabilities": p.cast(dtype)}
    label, probabilities = rename_taken(results, inputs.types)
    inputs.graph.output(results["label"], label, kind, [None])
    inputs.graph.output(results["probabilities"], probabilities, dtype, [None, len(classes)])
    return inputs.graph.to_model("The label and P(class | x) of each row.")


def _write_posterior(model: AnyModel, inputs: Inputs) -> Tensor:
    """Write log P(class | x), [row, class]."""
    if isinstance(model, Model):
        return _write_member(model, inputs)
    assert isinstance(model, PooledModel)
    pairs = zip(model.weights.tolist(), model.members, strict=True)
    parts = [_write_member(member, inputs).at_least(model.floor) * weight for weight, member in pairs if weight]
    if not parts:
        raise ExportError(f"all components of the pool have a weight of 0; {IN_PYTHON}")
    return normalise(inputs.graph.total(parts) + model.biases)


def _write_member(model: Model, inputs: Inputs) -> Tensor:
    """Write log P(class | x) of a model that is no pool."""
    scores = [
        write_score(score, read_cells(inputs, columns))
        for columns, score in zip(model.columns, model.scores, strict=True)
        if any(not term.is_class_independent for term in score)
    ]
    total = inputs.graph.total(scores) + model.class_log_prior
    can_be_certain = any(isinstance(term, Linear) and term.limit > 0 for score in model.scores for term in score)
    if can_be_certain:  # an impossible class stays impossible
        total = inputs.graph.where(total.is_nan(), -np.inf, total)
    return log_posterior(total, model.class_log_prior, can_be_certain)


def write_score(score: Score, cells: Cells) -> Tensor:
    """Write the sum of the terms that differ between classes, [row, class]."""
    translators = WORD_TRANSLATORS if isinstance(cells, WordCells) else TRANSLATORS
    found = []
    for term in score:
        if term.is_class_independent:
            continue
        if type(term) not in translators:
            raise ExportError(
                f"the model of {cells.description} has a {type(term).__name__} term, which has no form in ONNX; use "
                f'structure="naive", {IN_PYTHON}'
            )
        found.append(translators[type(term)](term, cells))
    return cells.graph.total(found)


def _as_labels(classes: list[Any], dtype: FloatType) -> tuple[Array, str]:
    """Return the labels as an array, and their type."""
    if all(isinstance(label, bool) for label in classes):
        return np.array(classes), "bool"
    if all(isinstance(label, int) for label in classes):
        return np.array(classes, np.int64), "int64"
    if all(isinstance(label, (int, float)) for label in classes):
        return np.array(classes, dtype), dtype
    texts = np.empty(len(classes), object)
    texts[:] = [check_text(str(label), "the class") for label in classes]
    return texts, "string"
