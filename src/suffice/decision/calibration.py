"""Calibration: probabilities that mean what they say, learned from predictions for rows that were not learned.

Naive Bayes counts what columns have in common once for each of them, and so is surer than it should be.
All three maps work on log-odds, where being too sure is a factor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.isotonic import IsotonicRegression

from suffice.decision.reliability import Reliability
from suffice.schema import Array

STEPS, TOLERANCE = 100, 1e-10
MOST = 1e3  # of a temperature's inverse: rows that are all right would have it grow without end
IMPOSSIBLE = float(np.log(np.finfo(np.float64).eps))
RIDGE = 1e-6  # holds what the rows do not decide


class Map(ABC):
    """What turns log probabilities into better ones."""

    @abstractmethod
    def __call__(self, log_proba: Array) -> Array: ...


@dataclass(frozen=True)
class Temperature(Map):
    """P ∝ P^(1/T): one number for all classes; the order of the classes stays.

    >>> said = np.log([[0.99, 0.01]])
    >>> np.exp(Temperature(2.0)(said)).round(2).tolist()
    [[0.91, 0.09]]
    """

    temperature: float

    def __call__(self, log_proba: Array) -> Array:
        return np.asarray(log_softmax(log_proba / self.temperature, axis=1))

    @classmethod
    def of(cls, log_proba: Array, codes: Array, weights: Array) -> Temperature:
        """Return the temperature of the least log-loss, by Newton's steps on 1/T, in which it is convex."""
        # log probabilities may be of any size, their squares of more than that: measured by the largest of them
        size = max(float(-log_proba.min()), 1e-300)
        said = log_proba / size
        inverse, mine = size, said[np.arange(len(codes)), codes]
        for _ in range(STEPS):
            p = np.exp(log_softmax(inverse * said, axis=1))
            mean = (p * said).sum(axis=1)
            slope = weights @ (mean - mine)
            curve = weights @ ((p * said**2).sum(axis=1) - mean**2)
            # no step may be longer than a factor of four: far out the loss is a straight line
            least, most = inverse / 4, min(inverse * 4, MOST * size)
            if curve > abs(slope) / inverse / 8:
                following = min(max(inverse - slope / curve, least), most)
            else:
                following = inverse if slope == 0 else least if slope > 0 else most
            if abs(following - inverse) <= TOLERANCE * inverse:
                break
            inverse = following
        return cls(size / inverse)


@dataclass(frozen=True)
class Vector(Map):
    """P ∝ e^(a·log P + b), with a factor and a shift for each class."""

    factors: Array
    shifts: Array

    def __call__(self, log_proba: Array) -> Array:
        return np.asarray(log_softmax(self.factors * log_proba + self.shifts, axis=1))

    @classmethod
    def of(cls, log_proba: Array, codes: Array, weights: Array) -> Vector:
        """Return the factors and shifts of the least log-loss, starting from the best temperature."""
        classes = log_proba.shape[1]
        truth = np.eye(classes)[codes]
        start = np.append(
            np.full(classes, 1 / Temperature.of(log_proba, codes, weights).temperature), np.zeros(classes)
        )
        whole = weights.sum()

        def loss(both: Array) -> tuple[float, Array]:
            said = log_softmax(both[:classes] * log_proba + both[classes:], axis=1)
            away = (np.exp(said) - truth) * weights[:, None]
            held = both - start
            slope = np.append((away * log_proba).sum(axis=0), away.sum(axis=0)) / whole + RIDGE * held
            return float(-weights @ (said * truth).sum(axis=1) / whole + RIDGE / 2 * held @ held), slope

        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
        return cls(found[:classes], found[classes:])


@dataclass(frozen=True)
class Isotonic(Map):
    """P(class) as a rising function of its log-odds, of whatever form; the classes' are then made to add up to 1."""

    log_odds: tuple[Array, ...]
    shares: tuple[Array, ...]

    def __call__(self, log_proba: Array) -> Array:
        said = _log_odds(log_proba)
        p = np.column_stack([np.interp(s, x, y) for s, x, y in zip(said.T, self.log_odds, self.shares, strict=True)])
        if p.shape[1] == 2:  # of two classes one says it all
            p[:, 0] = 1 - p[:, 1]
        return np.asarray(np.log(p) - np.log(p.sum(axis=1, keepdims=True)))

    @classmethod
    def of(cls, log_proba: Array, codes: Array, weights: Array) -> Isotonic:
        """Return the rising functions of the least squared error; none gives less than one row in all of them."""
        said, least = _log_odds(log_proba), 1 / (len(codes) + 2)
        knots = []
        for k in range(log_proba.shape[1]):
            rising = IsotonicRegression(y_min=least, y_max=1 - least, out_of_bounds="clip")
            rising.fit(said[:, k], codes == k, sample_weight=weights)
            knots.append((np.asarray(rising.X_thresholds_, float), np.asarray(rising.y_thresholds_, float)))
        return cls(tuple(x for x, _ in knots), tuple(y for _, y in knots))


MAPS: dict[str, Any] = {"temperature": Temperature, "vector": Vector, "isotonic": Isotonic}


@dataclass(frozen=True)
class Calibration:
    """A map of log probabilities, and how good they were before and after it, on rows that were not learned.

    What was after it is measured on each fold by a map learned from the others. ``reliability`` has what a
    reliability diagram shows, "before" and "after"; ``plot()`` draws it.
    """

    method: str
    classes: list[Any]
    map: Map
    floor: float
    log_loss: dict[str, float]
    reliability: dict[str, Reliability]

    @classmethod
    def of(
        cls, method: str, classes: Array, log_proba: Array, codes: Array, fold: Array, weights: Array | None
    ) -> Calibration:
        """Return the calibration of predictions for rows that were held out, each in a fold."""
        # what was held to be impossible counts as what was held to be least possible, or less
        floor = min(float(log_proba[np.isfinite(log_proba)].min(initial=0.0)), IMPOSSIBLE)
        said = np.maximum(log_proba, floor)
        each = np.ones(len(codes)) if weights is None else weights
        kind = MAPS[method]
        after = np.empty(said.shape)
        for place in range(int(fold.max()) + 1):
            here = fold == place
            after[here] = kind.of(said[~here], codes[~here], each[~here])(said[here])
        log_loss, reliability = {}, {}
        for name, its in (("before", said), ("after", after)):
            best = its.argmax(axis=1)
            rows = np.arange(len(codes))
            log_loss[name] = float(np.average(-its[rows, codes], weights=each))
            reliability[name] = Reliability.of(np.exp(its[rows, best]), (best == codes).astype(float), each)
        return cls(method, classes.tolist(), kind.of(said, codes, each), floor, log_loss, reliability)

    def __call__(self, log_proba: Array) -> Array:
        """Return calibrated log probabilities."""
        return self.map(np.maximum(log_proba, self.floor))

    @property
    def error(self) -> dict[str, float]:
        """The expected calibration error, before and after."""
        return {name: float(its.error) for name, its in self.reliability.items()}

    def plot(self, ax: Any = None) -> Any:
        """Draw the reliability before and after; return the Axes."""
        from suffice.plots import reliability

        return reliability(self.reliability, ax)

    def __repr__(self) -> str:
        kind = f"temperature {self.map.temperature:.3g}" if isinstance(self.map, Temperature) else self.method
        said = [
            f"{what} {its['before']:.4f} -> {its['after']:.4f}"
            for what, its in (("log-loss", self.log_loss), ("calibration error", self.error))
        ]
        return f"Calibration({kind}: {', '.join(said)})"


def _log_odds(log_proba: Array) -> Array:
    """Return log P − log(1 − P), from log P."""
    with np.errstate(divide="ignore"):
        others = np.where(log_proba > -0.5, np.log(-np.expm1(log_proba)), np.log1p(-np.exp(log_proba)))
    return np.asarray(log_proba - np.maximum(others, -745.0))
