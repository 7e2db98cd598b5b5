"""The model's own numbers, as the page takes them to compute what the model says of a row."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np

from suffice.data.texts import analyzer
from suffice.decision.calibration import Calibration, Isotonic, Temperature, Vector
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.gaussian import GaussianParameters, StudentT
from suffice.families.low_rank_gaussian import LowRankGaussian
from suffice.families.multinomial import DirichletMultinomial, MultinomialParameters
from suffice.families.multivariate_gaussian import MultivariateGaussian, MultivariateStudentT
from suffice.families.poisson import NegativeBinomial, PoissonParameters
from suffice.model import Model
from suffice.report.inputs import Feature, places_of
from suffice.schema import Array, Columns, Text, Words
from suffice.structures.averaged import AveragedParameters
from suffice.structures.joint import JointParameters
from suffice.structures.tree import TreeParameters

# Characters that all numbers together, and those of a vocabulary, may take in the page.
MOST, MOST_WORDS = 1_900_000, 1_000_000


class NotLiveError(ValueError):
    """Why a page cannot compute what a model says."""


def engine(model: Model, classes: list[str], features: list[Feature], calibration: Calibration | None) -> Any:
    """Return what the page computes by: priors, blocks of parameters, and the map that calibrates.

    ``notes`` says what is not the same in the page, and ``live`` is False if nothing can be computed there.
    """
    place, notes = places_of(features), list[str]()
    found: dict[str, Any] = {
        "classes": classes,
        "prior": packed(model.class_log_prior),
        "blocks": [],
        "calibration": None if calibration is None else _map(calibration),
        "notes": notes,
        "live": True,
    }
    try:
        for columns, parameters in zip(model.columns, model.parameters, strict=True):
            block = _block(columns, parameters, notes)
            names = range(columns.count) if columns.names is None else columns.names
            found["blocks"].append({"columns": [place[name] for name in names], **block})
        size = sum(_size(block) for block in found["blocks"])
        if size > MOST:
            raise NotLiveError(
                f"its tables would take {size / 1e6:.1f} MB of this page; naive columns "
                '(structure="naive") take less, and need no other pass over the rows'
            )
    except NotLiveError as reason:
        found |= {"blocks": [], "live": False}
        notes.append(f"The model cannot be computed in this page: {reason}.")
    return found


def packed(array: Any) -> dict[str, Any]:
    """Return numbers as the page unpacks them: all digits, and infinity as well.

    >>> packed(np.array([[1.0]]))
    {'f64': 'AAAAAAAA8D8=', 'shape': [1, 1]}
    """
    array = np.asarray(array, "<f8")
    return {"f64": base64.b64encode(array.tobytes()).decode(), "shape": list(array.shape)}


def _size(block: dict[str, Any]) -> int:
    """Return how many characters a block takes, about."""
    packs = sum(len(its["f64"]) for its in block.values() if isinstance(its, dict) and "f64" in its)
    return packs + sum(len(word) + 4 for word in block.get("words", ())) + 12 * len(block.get("implied", ()))


def _block(columns: Columns, parameters: Any, notes: list[str]) -> dict[str, Any]:
    """Return the parameters of a block, by their kind."""
    for kind, written in WRITTEN:
        if isinstance(parameters, kind):
            return written(columns, parameters, notes)
    raise NotLiveError(f"{type(parameters).__name__} has no form that a page computes")


def _joint(columns: Columns, its: Any, notes: list[str]) -> dict[str, Any]:
    raise NotLiveError("combinations of all levels are too many for a page")


def _bits(columns: Columns, its: Any, notes: list[str]) -> dict[str, Any]:
    return {"kind": "bits", "threshold": columns.threshold, "log_p": packed(its.log_p), "log_q": packed(its.log_q)}


def _levels(columns: Columns, its: Any, notes: list[str]) -> dict[str, Any]:
    return {"kind": "levels", "sizes": its.sizes.tolist(), "table": packed(its.score().terms[0].table)}


def _tree(columns: Columns, its: Any, notes: list[str]) -> dict[str, Any]:
    whole = {name: getattr(its, name).tolist() for name in ("parents", "order", "offsets", "sizes")}
    return {"kind": "tree", **whole, "open": its.is_open.tolist(), "table": packed(its.table)}


def _averaged(columns: Columns, its: Any, notes: list[str]) -> dict[str, Any]:
    if its.given.size * 16 / 3 > MOST:  # before it is written: there may be very many
        raise NotLiveError(
            f"its tables of pairs would take {its.given.size * 16 / 3e6:.0f} MB of this page; naive columns "
            '(structure="naive") take less, and need no other pass over the rows'
        )
    implied = [] if its.implied is None else np.argwhere(its.implied).tolist()
    return {
        "kind": "averaged",
        "sizes": its.sizes.tolist(),
        "open": its.is_open.tolist(),
        "alone": packed(its.alone),
        "given": packed(its.given[:, :, 0]),  # the other way of a pair is this one with a and b exchanged
        "eligible": its.eligible.tolist(),
        "weights": packed(its.weights),
        "implied": [[a, b, int(its.implied[a, b])] for a, b in implied],
    }


def _gaussian(columns: Columns, its: Any, notes: list[str]) -> dict[str, Any]:
    return {"kind": "gaussian", "mean": packed(its.mean), "variance": packed(its.variance)}


def _student(columns: Columns, its: Any, notes: list[str]) -> dict[str, Any]:
    term = its.score().terms[0]
    precision, exponent, peaks = term.scale, term.exponent, term.peak
    packs = {"precision": packed(precision), "exponent": packed(exponent), "peaks": packed(peaks)}
    return {"kind": "student", "mean": packed(its.mean), **packs}


def _together(columns: Columns, its: Any, notes: list[str]) -> dict[str, Any]:
    rows, cells = np.tril_indices(its.mean.shape[1])
    if len(its.covariance) * len(rows) * 32 / 3 > MOST:
        if len(its.covariance) > 1 or isinstance(its, MultivariateStudentT):
            megabytes = len(its.covariance) * len(rows) * 32 / 3e6
            raise NotLiveError(f"its covariances would take {megabytes:.0f} MB of this page")
        return _linear(columns, its, notes)
    dof = packed(its.dof) if isinstance(its, MultivariateStudentT) else None
    return {"kind": "together", "mean": packed(its.mean), "lower": packed(its.covariance[:, rows, cells]), "dof": dof}


def _linear(columns: Columns, its: Any, notes: list[str]) -> dict[str, Any]:
    _, slopes, biases = its.as_linear()
    notes.append("Log p(x, class) is shown here without what all classes share of it.")
    return {"kind": "linear", "slopes": packed(slopes), "biases": packed(biases)}


def _poisson(columns: Columns, its: Any, notes: list[str]) -> dict[str, Any]:
    with np.errstate(divide="ignore"):
        return {"kind": "poisson", "rate": packed(its.rate), "log_rate": packed(np.log(its.rate + its.epsilon))}


def _negative_binomial(columns: Columns, its: Any, notes: list[str]) -> dict[str, Any]:
    return {"kind": "negative-binomial", "shape": packed(its.shape), "rate": packed(its.inverse_scale)}


def _counts(columns: Columns, its: Any, notes: list[str]) -> dict[str, Any]:
    predictive = isinstance(its, DirichletMultinomial)
    table: Array = its.alpha if predictive else its.log_p
    coding = columns.codings[0] if columns.codings else None
    if not isinstance(coding, Words):
        return {"kind": "dirichlet" if predictive else "counts", "table": packed(table)}
    words, kept = coding.labels, _kept_words(coding, table)
    if len(kept) < len(words):
        if predictive:
            raise NotLiveError(f"its {len(words):,} words take too much of this page")
        notes.append(
            f"Of the {len(words):,} words the {len(kept):,} that differ most between classes are in this page; here, "
            "others say nothing, so probabilities may differ a little from the model's own."
        )
        words, table = tuple(words[w] for w in kept.tolist()), table[:, kept]
    kind = "dirichlet-words" if predictive else "words"
    return {"kind": kind, "words": words, "text": _reading(coding.text), "table": packed(table)}


def _kept_words(coding: Words, table: Array) -> Array:
    """Return the places of the words that fit into the page, of those that tell classes apart best."""
    sizes = np.array([len(word) + 4 for word in coding.labels]) + len(table) * 32 / 3
    if sizes.sum() <= MOST_WORDS:
        return np.arange(coding.size)
    finite = np.maximum(table, -50.0)
    order = np.argsort(-(np.exp(finite).max(axis=0) * np.ptp(finite, axis=0)), kind="stable")
    return np.sort(order[np.cumsum(sizes[order]) <= MOST_WORDS])


def _reading(text: Text) -> dict[str, Any]:
    """Return how a text becomes words, if a page can do so."""
    plain = Text(ngram_range=text.ngram_range, lowercase=text.lowercase, stop_words=text.stop_words, binary=text.binary)
    plain = Text(**(vars(plain) | {"complement": text.complement}))
    if plain != text:
        raise NotLiveError(f"its texts are read by {text!r}, which a page cannot")
    stop = getattr(analyzer(text), "keywords", {}).get("stop_words")
    return {
        "ngrams": list(text.ngram_range),
        "lowercase": text.lowercase,
        "binary": text.binary,
        "stop": sorted(stop or ()),
    }


def _map(calibration: Calibration) -> dict[str, Any]:
    """Return the map that makes probabilities honest."""
    its, floor = calibration.map, calibration.floor
    if isinstance(its, Temperature):
        return {"kind": "temperature", "floor": floor, "temperature": its.temperature}
    if isinstance(its, Vector):
        return {"kind": "vector", "floor": floor, "factors": its.factors.tolist(), "shifts": its.shifts.tolist()}
    assert isinstance(its, Isotonic)
    knots = [[x.tolist(), y.tolist()] for x, y in zip(its.log_odds, its.shares, strict=True)]
    return {"kind": "isotonic", "floor": floor, "knots": knots}


Written = Callable[[Columns, Any, list[str]], dict[str, Any]]

# What is more special comes first.
WRITTEN: tuple[tuple[type, Written], ...] = (
    (JointParameters, _joint),
    (BernoulliParameters, _bits),
    (CategoricalParameters, _levels),
    (TreeParameters, _tree),
    (AveragedParameters, _averaged),
    (GaussianParameters, _gaussian),
    (StudentT, _student),
    (MultivariateGaussian, _together),
    (LowRankGaussian, _linear),
    (PoissonParameters, _poisson),
    (NegativeBinomial, _negative_binomial),
    (MultinomialParameters, _counts),
    (DirichletMultinomial, _counts),
)
