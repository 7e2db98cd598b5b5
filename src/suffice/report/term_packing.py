"""The terms of a score as the JavaScript of a page computes them: one function for each type of term."""

import base64
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from suffice.schema import Array
from suffice.score import (
    AveragedPairs,
    JointLookUp,
    Linear,
    LogFactorial,
    LogGamma,
    LogGammaOfTotal,
    LogQuadratic,
    LogSumExp,
    LookUp,
    LowRank,
    PairLookUp,
    Quadratic,
    Score,
    Term,
    TriangularSolve,
)

MAX_CHARACTERS = 1_900_000  # of all arrays of a page
CHARACTERS_PER_NUMBER = 32 / 3  # eight bytes in base 64

# A packed term: its type, arrays, and plain lists; notes say how the page differs from the model.
Packed = dict[str, Any]


class NotLiveError(ValueError):
    """The reason why a page cannot compute a model."""


def pack_array(array: Any) -> dict[str, Any]:
    """Return an array as the page unpacks it: all digits, and infinite numbers.

    >>> pack_array(np.array([[1.0]]))
    {'f64': 'AAAAAAAA8D8=', 'shape': [1, 1]}
    """
    array = np.asarray(array, "<f8")
    return {"f64": base64.b64encode(array.tobytes()).decode(), "shape": list(array.shape)}


def pack_score(score: Score, notes: list[str]) -> list[Packed]:
    """Return the packed terms of a score, and add to the notes what the page computes differently."""
    return [_pack_term(term, notes) for term in score]


def _pack_term(term: Term, notes: list[str]) -> Packed:
    pack = PACKERS.get(type(term))
    if pack is None:
        raise NotLiveError(f"a page has no code for terms of type {type(term).__name__}")
    return {"type": type(term).__name__} | pack(term, notes)


def count_characters(packed: Packed) -> int:
    """Return the approximate number of characters that a packed term takes in the page."""
    arrays = sum(len(value["f64"]) for value in packed.values() if isinstance(value, dict) and "f64" in value)
    return arrays + 12 * len(packed.get("implied", ()))


def _check_size(numbers: float, what: str) -> None:
    """Raise if so many numbers take too much space, before they are packed."""
    if numbers * CHARACTERS_PER_NUMBER > MAX_CHARACTERS:
        raise NotLiveError(f"its {what} would take {numbers * CHARACTERS_PER_NUMBER / 1e6:.0f} MB of this page")


def _pack_columnwise(term: Any, notes: list[str]) -> Packed:
    """Pack a term whose fields are arrays [class, column] or numbers."""
    values = {field.name: getattr(term, field.name) for field in fields(term)}
    columns = max((np.shape(value)[-1] for value in values.values() if np.ndim(value)), default=0)
    return {name: pack_array(value) if np.ndim(value) else value for name, value in values.items()} | {
        "columns": columns
    }


def _pack_linear(term: Linear, notes: list[str]) -> Packed:
    packed: Packed = {"weights": pack_array(term.weights), "biases": pack_array(term.biases)}
    if term.veto is not None:
        packed |= {
            "veto_weights": pack_array(term.veto.weights),
            "veto_biases": pack_array(term.veto.biases),
            "limit": pack_array([term.limit]),
        }
    return packed | {"columns": term.weights.shape[1], "threshold": term.threshold}


def _pack_look_up(term: LookUp, notes: list[str]) -> Packed:
    return {"table": pack_array(term.table), "slots": term.table.shape[1], "sizes": term.sizes.tolist()}


def _pack_pair_look_up(term: PairLookUp, notes: list[str]) -> Packed:
    _check_size(term.table.size, "tables of pairs")
    lists = {name: getattr(term, name).tolist() for name in ("parents", "order", "offsets", "sizes", "is_open")}
    return lists | {"table": pack_array(term.table)}


def _pack_averaged_pairs(term: AveragedPairs, notes: list[str]) -> Packed:
    _check_size(term.given.size / 2, "tables of pairs")
    implied = np.zeros((0, 0), np.intp) if term.implied is None else term.implied
    return {
        "sizes": term.sizes.tolist(),
        "is_open": term.is_open.tolist(),
        "alone": pack_array(term.alone),
        "given": pack_array(term.given[:, :, 0]),  # the other direction of a pair is this one with a and b exchanged
        "eligible": term.eligible.tolist(),
        "weights": pack_array(term.weights),
        "implied": [[a, b, int(implied[a, b])] for a, b in np.argwhere(implied).tolist()],
    }


def _pack_triangular_solve(term: TriangularSolve, notes: list[str]) -> Packed:
    columns, is_shared = term.mean.shape[1], len(term.covariance) == 1
    rows, cells = np.tril_indices(columns)
    numbers = len(term.covariance) * len(rows)
    if is_shared and term.dof is None and numbers * CHARACTERS_PER_NUMBER > MAX_CHARACTERS:
        return _pack_shared_gaussian(term.mean, lambda away: np.linalg.solve(term.covariance[0], away.T).T, notes)
    _check_size(numbers, "covariances")
    return {
        "mean": pack_array(term.mean),
        "lower": pack_array(term.covariance[:, rows, cells]),
        "dof": None if term.dof is None else pack_array(term.dof),
        "is_shared": is_shared,
        "columns": columns,
    }


def _pack_low_rank(term: LowRank, notes: list[str]) -> Packed:
    return _pack_shared_gaussian(term.mean, term.slopes, notes)


def _pack_shared_gaussian(mean: Array, solve: Callable[[Array], Array], notes: list[str]) -> Packed:
    """Pack Gaussians with one covariance as a linear term, which omits the part that is the same for all classes.

    ``solve`` returns covariance⁻¹·away for rows of ``away``.
    """
    notes.append("Log p(x, class) is shown here without the part that is the same for all classes.")
    middle = mean.mean(axis=0)
    weights = solve(mean - middle)
    biases = -weights * (middle + (mean - middle) / 2)
    return {"type": "Linear"} | _pack_linear(Linear(weights, biases), notes)


def _refuse_joint_look_up(term: JointLookUp, notes: list[str]) -> Packed:
    raise NotLiveError("it has a probability for each combination of all levels, which are too many for a page")


def _refuse_log_sum_exp(term: LogSumExp, notes: list[str]) -> Packed:
    raise NotLiveError("a page does not compute mixtures of components")


PACKERS: dict[type[Term], Callable[[Any, list[str]], Packed]] = {
    LookUp: _pack_look_up,
    Linear: _pack_linear,
    Quadratic: _pack_columnwise,
    LogQuadratic: _pack_columnwise,
    LogGamma: _pack_columnwise,
    LogGammaOfTotal: _pack_columnwise,
    LogFactorial: _pack_columnwise,
    PairLookUp: _pack_pair_look_up,
    AveragedPairs: _pack_averaged_pairs,
    JointLookUp: _refuse_joint_look_up,
    TriangularSolve: _pack_triangular_solve,
    LowRank: _pack_low_rank,
    LogSumExp: _refuse_log_sum_exp,
}
