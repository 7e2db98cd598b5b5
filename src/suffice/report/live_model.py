"""The model as the page computes it: class prior, terms of each block, weights of a pool, and calibration, as JSON."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np

from suffice import score
from suffice.data.read_columns import combination_order
from suffice.data.texts import analyzer
from suffice.decision.calibration import Calibration
from suffice.explain import column_keys
from suffice.model import Model
from suffice.pooled_model import PooledModel
from suffice.report.inputs import Input
from suffice.report.live_pairs import pack_averaged_pairs
from suffice.report.live_trees import pack_leaves, pack_trees
from suffice.report.model_view import ModelView
from suffice.report.packed_arrays import NotLiveError, check_size, pack_array, pack_value
from suffice.schema import Array, Columns, Combinations, Cuts, Levels, MissingLevel, Text, Words
from suffice.statistics import Statistic
from suffice.structures.joint import COMBINATION

MAX_VOCABULARY_CHARACTERS, CHARACTERS_PER_WEIGHT = 5_000_000, 6

MAX_TRIANGLE = 100_000  # numbers of a covariance matrix that all classes share

# A block or a term as JSON. Its key "note", if there is one, says what the page computes differently.
Packed = dict[str, Any]


def write_live_model(view: ModelView, inputs: dict[Any, Input]) -> dict[str, Any]:
    """Return the model as the page computes it.

    ``members`` are the models of a pool; any other model is the only member. ``notes`` say what the page computes
    differently; ``live`` is False if it cannot compute the model at all.
    """
    model = view.model
    counted = zip(view.tally.schema.blocks, view.tally.statistics, strict=True)
    packer = partial(_pack_block, inputs=inputs, counted={id(columns): each for columns, each in counted})
    found = {
        "classes": view.class_names,
        "prior": pack_array(model.evidence_prior),
        "calibration": None if view.calibration is None else _pack_calibration(view.calibration),
        "pool": {"floor": model.floor, "biases": pack_array(model.biases)} if isinstance(model, PooledModel) else None,
    }
    try:
        if isinstance(model, PooledModel):
            pairs = zip(model.components, model.member_priors, strict=True)
            members = [_pack_member(its.model, its.weight, prior, packer) for its, prior in pairs]
        else:
            members = [_pack_member(model, 1.0, model.class_log_prior, packer)]
        check_size(len(json.dumps(members)))
    except NotLiveError as reason:
        note = f"The model cannot be computed in this page: {reason}."
        return found | {"members": [], "notes": [note], "live": False}
    blocks = [block for member in members for block in member["blocks"]]
    parts = [part for block in blocks for part in (block, *block["terms"])]
    notes = [part.pop("note") for part in parts if "note" in part]
    return found | {"members": members, "notes": notes, "live": True}


def _pack_member(
    model: Model, weight: float, base: Array, pack_block: Callable[[Columns, score.Score], Packed]
) -> Packed:
    """Return a member of a pool; ``base`` is its score for a row without evidence."""
    pairs = zip(model.columns, model.scores, strict=True)
    blocks = [pack_block(columns, terms) for columns, terms in pairs if weight]
    return {"weight": weight, "prior": pack_array(model.class_log_prior), "base": pack_array(base), "blocks": blocks}


def _pack_block(
    columns: Columns, terms: score.Score, inputs: Mapping[Any, Input], counted: Mapping[int, Statistic]
) -> Packed:
    """Return how the page reads the cells of a block, and its terms; ``counted`` has the statistics by block."""
    if columns.is_forest:
        return pack_trees(columns, inputs) | {"terms": [_pack_term(term) for term in terms]}
    coding = columns.codings[0] if columns.codings else None
    counts = counted.get(id(columns))
    packed = _pack_texts(coding, terms) if isinstance(coding, Words) else _pack_cells(columns, terms, counts)
    positions = {key: place for place, key in enumerate(inputs)}
    keys = [key for key in column_keys(columns) if key != COMBINATION]
    return packed | {"columns": [positions[key] for key in keys]}


def _pack_cells(columns: Columns, terms: score.Score, counts: Statistic | None) -> Packed:
    """Return a block of numbers or levels; a binned number has its edges."""
    codings = columns.codings or ()
    if codings and isinstance(codings[-1], Combinations):
        alone = Columns.coded(columns.family, tuple(column_keys(columns)[:-1]), codings[:-1])
        return _pack_cells(alone, terms, None) | {"combinations": _combination_codes(columns)}
    inner = [coding.values if isinstance(coding, MissingLevel) else coding for coding in codings]
    return {
        "sizes": _pack_value(columns.sizes),
        "missing": [isinstance(coding, MissingLevel) for coding in codings],
        "edges": [list(coding.edges) if isinstance(coding, Cuts) else None for coding in inner],
        "terms": [_pack_cell_term(term, columns, counts) for term in terms],
    }


def _combination_codes(columns: Columns) -> list[list[int]]:
    """Return the codes of the columns in each combination; its labels are in the order of the names of the columns."""
    *codings, combined = columns.codings or ()
    assert isinstance(combined, Combinations)
    places = np.argsort(combination_order(tuple(column_keys(columns)[:-1]))).tolist()
    pairs = list(zip(places, codings, strict=True))
    return [
        [of.index[label[place]] if isinstance(of, Levels) else int(label[place]) for place, of in pairs]
        for label in combined.labels
    ]


def _pack_value(value: Any) -> Any:
    """Return a field of a term: a float or an array of floats with all digits, whole numbers as they are."""
    return _pack_fields(value) if isinstance(value, score.Term) else pack_value(value)


def _pack_fields(term: Any) -> Packed:
    return {field.name: _pack_value(getattr(term, field.name)) for field in fields(term)}


def _pack_triangular_solve(term: score.TriangularSolve) -> Packed:
    """Pack the lower triangles of the covariances; a covariance that all classes share may be too large for that."""
    rows, cells = np.tril_indices(term.mean.shape[1])
    is_shared, is_large = len(term.covariance) == 1, len(rows) > MAX_TRIANGLE
    if is_shared and term.dof is None and is_large:
        return _pack_shared_gaussian(term.mean, lambda away: np.linalg.solve(term.covariance[0], away.T).T)
    lower = pack_array(term.covariance[:, rows, cells])
    return {"mean": pack_array(term.mean), "lower": lower, "dof": _pack_value(term.dof), "is_shared": is_shared}


def _pack_shared_gaussian(mean: Array, solve: Callable[[Array], Array]) -> Packed:
    """Pack Gaussians with one covariance as a linear term, which omits the part that is the same for all classes.

    ``solve`` returns covariance⁻¹·away for rows of ``away``.
    """
    middle = mean.mean(axis=0)
    weights = solve(mean - middle)
    biases = -weights * (middle + (mean - middle) / 2)
    note = "Log p(x, class) is shown here without the part that is the same for all classes."
    return {"type": "Linear", "note": note} | _pack_fields(score.Linear(weights, biases))


def _pack_mixture(term: score.LogSumExp) -> Packed:
    components = [[_pack_term(each) for each in its] for its in term.components]
    return {"components": components, "log_weights": [pack_array(weights) for weights in term.log_weights]}


PLAIN_TERMS = (score.LookUp, score.Linear, score.Quadratic, score.LogQuadratic, score.PairLookUp, score.JointLookUp)
COUNT_TERMS = (
    score.LogGamma,
    score.LogGammaOfRest,
    score.LogGammaOfTotal,
    score.LogBinomial,
    score.LogFactorial,
    score.NegativeLog,
)
PACKERS: dict[type[score.Term], Callable[[Any], Packed]] = {
    **dict.fromkeys((*PLAIN_TERMS, *COUNT_TERMS), _pack_fields),
    score.AveragedPairs: pack_averaged_pairs,
    score.LogSumExp: _pack_mixture,
    score.OfFunction: lambda term: {
        "inner": _pack_term(term.term),
        "function": term.function,
        "factor": pack_value(term.factor),
    },
    score.MeanOfTrees: pack_leaves,
    score.TriangularSolve: _pack_triangular_solve,
    score.CompleteLinear: lambda term: {"type": "Linear"} | _pack_fields(term),
    score.LowRank: lambda term: _pack_shared_gaussian(term.mean, term.slopes),
}


def _pack_cell_term(term: score.Term, columns: Columns, counts: Statistic | None) -> Packed:
    """Return a term of a block of levels or numbers; ``counts`` is what it was estimated from, if that is known."""
    if isinstance(term, score.AveragedPairs):
        return {"type": "AveragedPairs"} | pack_averaged_pairs(term, columns, counts)
    return _pack_term(term)


def _pack_term(term: score.Term) -> Packed:
    kind = type(term)
    if kind not in PACKERS:
        raise NotLiveError(f"a page has no code for terms of type {kind.__name__}")
    return {"type": kind.__name__} | PACKERS[kind](term)


def _pack_texts(coding: Words, terms: score.Score) -> Packed:
    """Return a block of the words of a text; only words that occur in the text are evaluated by the page."""
    if not all(_is_zero_at_zero(term) for term in terms):
        raise NotLiveError("words that do not occur in a text change its score, which a page does not compute")
    words, kept, note = coding.labels, _choose_words(coding, terms), {}
    if len(kept) < len(words):
        note["note"] = (
            f"This page has {len(kept):,} of the {len(words):,} words, those that differ most between classes; it "
            "ignores all others, so its probabilities may differ slightly from those of the model."
        )
        words = tuple(words[w] for w in kept.tolist())
        terms = score.Score(tuple(_select_columns(term, kept) for term in terms if isinstance(term, score.Linear)))
    packed = [_pack_term(term) for term in terms]
    return {"words": words, "text": _pack_text_settings(coding.text), "terms": packed} | note


def _is_zero_at_zero(term: Any) -> bool:
    """Return whether a count of 0 adds nothing to a term."""
    if isinstance(term, score.Linear):
        return not term.biases.any() and (term.veto is None or not term.veto.biases.any())
    return isinstance(term, COUNT_TERMS)


def _choose_words(coding: Words, terms: score.Score) -> Array:
    """Return the words that fit into the page, chosen by how much their weights differ between classes."""
    # weights that are compressed take about this many characters
    numbers = CHARACTERS_PER_WEIGHT * sum(term.class_count for term in terms)
    sizes = np.array([len(word) + 4 for word in coding.labels]) + numbers
    if sizes.sum() <= MAX_VOCABULARY_CHARACTERS:
        return np.arange(coding.size)
    if not all(isinstance(term, score.Linear) for term in terms):
        raise NotLiveError(f"its {coding.size:,} words take too much space")
    weights = sum(_finite_weights(term) for term in terms if isinstance(term, score.Linear))
    order = np.argsort(-(np.exp(weights).max(axis=0) * np.ptp(weights, axis=0)), kind="stable")
    return np.sort(order[np.cumsum(sizes[order]) <= MAX_VOCABULARY_CHARACTERS])


def _finite_weights(term: score.Linear) -> Array:
    """Return the weights [class, column], with −50 for impossible words."""
    weights = np.maximum(term.weights, -50.0)
    return weights if term.veto is None else np.where(term.veto.weights > 0, -50.0, weights)


def _select_columns(term: score.Linear, kept: Array) -> score.Linear:
    """Return a linear term of some of its columns."""
    veto = None if term.veto is None else _select_columns(term.veto, kept)
    return replace(term, weights=term.weights[:, kept], biases=term.biases[:, kept], veto=veto)


def _pack_text_settings(text: Text) -> dict[str, Any]:
    """Return how a text is split into words, or raise if the page cannot do it."""
    names = ("ngram_range", "lowercase", "stop_words", "binary", "complement")
    if Text(**{name: getattr(text, name) for name in names}) != text:
        raise NotLiveError(f"it splits texts by {text!r}, which a page cannot")
    stop = getattr(analyzer(text), "keywords", {}).get("stop_words")
    settings = {"ngrams": list(text.ngram_range), "lowercase": text.lowercase, "binary": text.binary}
    return settings | {"stop": sorted(stop or ())}


def _pack_calibration(calibration: Calibration) -> dict[str, Any]:
    """Return the calibration map: its method, its floor and its fields as lists."""
    lists = {
        name: [each.tolist() for each in value] if isinstance(value, tuple) else np.asarray(value).tolist()
        for name, value in vars(calibration.map).items()
    }
    return {"kind": calibration.method, "floor": calibration.floor} | lists
