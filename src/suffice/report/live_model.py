"""The model as the page computes it: class prior, blocks of packed terms, and calibration."""

from dataclasses import replace
from typing import Any

import numpy as np

from suffice.data.texts import analyzer
from suffice.decision.calibration import Calibration, Isotonic, Temperature, Vector
from suffice.report.inputs import Input, column_keys, positions_by_key
from suffice.report.model_view import ModelView
from suffice.report.term_packing import (
    CHARACTERS_PER_NUMBER,
    MAX_CHARACTERS,
    NotLiveError,
    count_characters,
    pack_array,
    pack_score,
)
from suffice.schema import Array, Columns, MissingLevel, Text, Words
from suffice.score import Linear, LogFactorial, LogGamma, LogGammaOfTotal, Score

MAX_VOCABULARY_CHARACTERS = 1_000_000


def write_live_model(view: ModelView, inputs: list[Input]) -> dict[str, Any]:
    """Return the model as the page computes it.

    ``notes`` say what the page computes differently; ``live`` is False if it cannot compute the model at all.
    """
    notes: list[str] = []
    found: dict[str, Any] = {
        "classes": view.class_names,
        "prior": pack_array(view.model.class_log_prior),
        "blocks": [],
        "calibration": None if view.calibration is None else _pack_calibration(view.calibration),
        "notes": notes,
        "live": True,
    }
    positions = positions_by_key(inputs)
    try:
        for columns, score in zip(view.model.columns, view.model.scores, strict=True):
            block = _pack_block(columns, score, notes)
            found["blocks"].append(block | {"columns": [positions[key] for key in column_keys(columns)]})
        _check_total_size(found["blocks"])
    except NotLiveError as reason:
        notes.append(f"The model cannot be computed in this page: {reason}.")
        found |= {"blocks": [], "live": False}
    return found


def _check_total_size(blocks: list[dict[str, Any]]) -> None:
    """Raise if all blocks take too much space."""
    words = sum(len(word) + 4 for block in blocks for word in block.get("words", ()))
    characters = words + sum(count_characters(term) for block in blocks for term in block["terms"])
    if characters > MAX_CHARACTERS:
        raise NotLiveError(
            f"its tables would take {characters / 1e6:.1f} MB of this page; naive columns "
            '(structure="naive") take less and need no other pass over the rows'
        )


def _pack_block(columns: Columns, score: Score, notes: list[str]) -> dict[str, Any]:
    """Return how the page reads the cells of a block, and its terms."""
    coding = columns.codings[0] if columns.codings else None
    if isinstance(coding, Words):
        return _pack_texts(coding, score, notes)
    sizes = None if columns.sizes is None else columns.sizes.tolist()
    has_missing = [isinstance(coding, MissingLevel) for coding in columns.codings or ()]
    return {"sizes": sizes, "missing": has_missing, "terms": pack_score(score, notes)}


def _pack_texts(coding: Words, score: Score, notes: list[str]) -> dict[str, Any]:
    """Return a block of the words of a text; only words that occur in the text are evaluated by the page."""
    if not all(_is_zero_at_zero(term) for term in score):
        raise NotLiveError("words that do not occur in a text change its score, which a page does not compute")
    words = coding.labels
    kept = _choose_words(coding, score)
    if len(kept) < len(words):
        notes.append(
            f"This page has {len(kept):,} of the {len(words):,} words, those that differ most between classes; it "
            "ignores all others, so its probabilities may differ slightly from those of the model."
        )
        words = tuple(words[w] for w in kept.tolist())
        score = Score(tuple(_select_columns(term, kept) for term in score if isinstance(term, Linear)))
    return {"words": words, "text": _pack_text_settings(coding.text), "terms": pack_score(score, notes)}


def _is_zero_at_zero(term: Any) -> bool:
    """Return whether a count of 0 adds nothing to a term."""
    if isinstance(term, Linear):
        return not term.biases.any() and (term.veto is None or not term.veto.biases.any())
    return isinstance(term, (LogGamma, LogGammaOfTotal, LogFactorial))


def _choose_words(coding: Words, score: Score) -> Array:
    """Return the words that fit into the page, chosen by how much their weights differ between classes."""
    numbers = sum(np.shape(array)[0] for term in score for array in vars(term).values() if np.ndim(array) == 2)
    sizes = np.array([len(word) + 4 for word in coding.labels]) + numbers * CHARACTERS_PER_NUMBER
    if sizes.sum() <= MAX_VOCABULARY_CHARACTERS:
        return np.arange(coding.size)
    if not all(isinstance(term, Linear) for term in score):
        raise NotLiveError(f"its {coding.size:,} words take too much space")
    weights = sum(_finite_weights(term) for term in score if isinstance(term, Linear))
    order = np.argsort(-(np.exp(weights).max(axis=0) * np.ptp(weights, axis=0)), kind="stable")
    return np.sort(order[np.cumsum(sizes[order]) <= MAX_VOCABULARY_CHARACTERS])


def _finite_weights(term: Linear) -> Array:
    """Return the weights [class, column], with −50 for impossible words."""
    weights = np.maximum(term.weights, -50.0)
    return weights if term.veto is None else np.where(term.veto.weights > 0, -50.0, weights)


def _select_columns(term: Linear, kept: Array) -> Linear:
    """Return a linear term of some of its columns."""
    veto = None if term.veto is None else _select_columns(term.veto, kept)
    return replace(term, weights=term.weights[:, kept], biases=term.biases[:, kept], veto=veto)


def _pack_text_settings(text: Text) -> dict[str, Any]:
    """Return how a text is split into words, or raise if the page cannot do it."""
    names = ("ngram_range", "lowercase", "stop_words", "binary", "complement")
    if Text(**{name: getattr(text, name) for name in names}) != text:
        raise NotLiveError(f"it splits texts by {text!r}, which a page cannot")
    stop = getattr(analyzer(text), "keywords", {}).get("stop_words")
    return {
        "ngrams": list(text.ngram_range),
        "lowercase": text.lowercase,
        "binary": text.binary,
        "stop": sorted(stop or ()),
    }


def _pack_calibration(calibration: Calibration) -> dict[str, Any]:
    """Return the calibration map."""
    its, floor = calibration.map, calibration.floor
    if isinstance(its, Temperature):
        return {"kind": "temperature", "floor": floor, "temperature": its.temperature}
    if isinstance(its, Vector):
        return {"kind": "vector", "floor": floor, "factors": its.factors.tolist(), "shifts": its.shifts.tolist()}
    assert isinstance(its, Isotonic)
    knots = [[x.tolist(), y.tolist()] for x, y in zip(its.log_odds, its.shares, strict=True)]
    return {"kind": "isotonic", "floor": floor, "knots": knots}
