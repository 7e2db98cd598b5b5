"""Calibration: corrects predicted probabilities, using predictions for held-out rows.

If columns share evidence, naive Bayes counts it once for each of them, so its probabilities are too extreme. The maps
work on log probabilities or log-odds, where overconfidence is a factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from suffice.decision.reliability import Reliability
from suffice.schema import Array

STEPS, TOLERANCE = 100, 1e-10
MOST = 1e3  # the largest inverse temperature: it would be infinite if all rows were predicted correctly
IMPOSSIBLE = float(np.log(np.finfo(np.float64).eps))
LEAST_WEIGHT = 1e-6  # of the weighted mean of weights
RIDGE = 1e-6  # a penalty, for parameters that the rows do not determine


@dataclass(frozen=True)
class Temperature:
    """Temperature scaling, P ∝ P^(1/T): one parameter, which does not change the order of the classes.

    >>> log_proba = np.log([[0.99, 0.01]])
    >>> np.exp(Temperature(2.0)(log_proba)).round(2).tolist()
    [[0.91, 0.09]]
    """

    temperature: float

    def __call__(self, log_proba: Array) -> Array:
        return np.asarray(log_softmax(log_proba / self.temperature, axis=1))

    @classmethod
    def of(cls, log_proba: Array, codes: Array, weights: Array) -> Temperature:
        """Return the temperature with the least log-loss, by Newton steps in 1/T, in which the loss is convex."""
        # scaled by the largest, so that squares of large log probabilities do not overflow
        size = max(float(-log_proba.min()), 1e-300)
        scaled = log_proba / size
        inverse, true_class = size, scaled[np.arange(len(codes)), codes]
        for _ in range(STEPS):
            p = np.exp(log_softmax(inverse * scaled, axis=1))
            mean = (p * scaled).sum(axis=1)
            slope = weights @ (mean - true_class)
            curve = weights @ ((p * scaled**2).sum(axis=1) - mean**2)
            # a step is limited to a factor of four: far from the minimum the loss is nearly linear
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
class Vector:
    """Vector scaling, P ∝ e^(a·log P + b), with a factor and a shift for each class."""

    factors: Array
    shifts: Array

    def __call__(self, log_proba: Array) -> Array:
        return np.asarray(log_softmax(self.factors * log_proba + self.shifts, axis=1))

    @classmethod
    def of(cls, log_proba: Array, codes: Array, weights: Array) -> Vector:
        """Return the factors and shifts with the least log-loss, starting from the best temperature."""
        classes = log_proba.shape[1]
        truth = np.eye(classes)[codes]
        inverse, whole = 1 / Temperature.of(log_proba, codes, weights).temperature, weights.sum()
        start = np.repeat([inverse, 0.0], classes)

        def loss(parameters: Array) -> tuple[float, Array]:
            mapped = log_softmax(parameters[:classes] * log_proba + parameters[classes:], axis=1)
            residual = (np.exp(mapped) - truth) * weights[:, None]
            step = parameters - start
            slope = np.append((residual * log_proba).sum(axis=0), residual.sum(axis=0)) / whole + RIDGE * step
            return float(-weights @ (mapped * truth).sum(axis=1) / whole + RIDGE / 2 * step @ step), slope

        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
        return cls(found[:classes], found[classes:])


@dataclass(frozen=True)
class Isotonic:
    """P(class) as any increasing function of its log-odds; the probabilities are then normalised."""

    log_odds: tuple[Array, ...]
    shares: tuple[Array, ...]

    def __call__(self, log_proba: Array) -> Array:
        log_odds = _log_odds(log_proba)
        p = np.column_stack(
            [np.interp(s, x, y) for s, x, y in zip(log_odds.T, self.log_odds, self.shares, strict=True)]
        )
        if p.shape[1] == 2:  # with two classes, one function determines both
            p[:, 0] = 1 - p[:, 1]
        return np.asarray(np.log(p) - np.log(p.sum(axis=1, keepdims=True)))

    @classmethod
    def of(cls, log_proba: Array, codes: Array, weights: Array) -> Isotonic:
        """Return the increasing functions with the least squared error, bounded away from 0 and 1 by 1 / (rows + 2)."""
        from sklearn.isotonic import IsotonicRegression  # late, because it takes long to import

        # rows without any weight to speak of, such as those of a class of weight 1e-7, would have steps of their own
        kept = weights > LEAST_WEIGHT * (weights @ weights) / max(weights.sum(), 1e-300)
        log_proba, codes, weights = log_proba[kept], codes[kept], weights[kept]
        log_odds, least = _log_odds(log_proba), 1 / (len(codes) + 2)
        knots = []
        for k in range(log_proba.shape[1]):
            rising = IsotonicRegression(y_min=least, y_max=1 - least, out_of_bounds="clip")
            rising.fit(log_odds[:, k], codes == k, sample_weight=weights)
            knots.append((np.asarray(rising.X_thresholds_, float), np.asarray(rising.y_thresholds_, float)))
        return cls(tuple(x for x, _ in knots), tuple(y for _, y in knots))


Map = Temperature | Vector | Isotonic
MAPS: dict[str, Any] = {"temperature": Temperature, "vector": Vector, "isotonic": Isotonic}


@dataclass(frozen=True)
class Calibration:
    """A calibration map, with the quality of held-out predictions before and after it.

    The figures after calibration are computed on each fold with a map fitted to the other folds.

    Attributes
    ----------
    method : {"temperature", "vector", "isotonic"}
        The name of the map.
    classes : list
        The labels.
    map : Map
        The fitted map.
    floor : float
        Log probabilities below it are raised to it before they are mapped.
    log_loss : dict
        The log-loss "before" and "after".
    reliability : dict
        The reliability "before" and "after".
    error : dict
        The expected calibration error "before" and "after".
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
        """Fit a map to predictions for held-out rows; it is the identity if there are none.

        ``fold`` is the fold of each row, ``codes`` the code of its class.
        """
        # a probability of zero counts as the smallest one that occurs, or less
        floor = min(float(log_proba[np.isfinite(log_proba)].min(initial=0.0)), IMPOSSIBLE)
        raised = np.maximum(log_proba, floor)
        row_weights = np.ones(len(codes)) if weights is None else weights

        def fitted(rows: Array) -> Map:
            found: Map = (
                MAPS[method].of(raised[rows], codes[rows], row_weights[rows]) if rows.any() else Temperature(1.0)
            )
            return found

        after = np.empty(raised.shape)
        for place in np.unique(fold).tolist():
            here = fold == place
            after[here] = fitted(~here)(raised[here])
        log_loss, reliability = {}, {}
        for name, given in (("before", raised), ("after", after)):
            best = given.argmax(axis=1)
            rows = np.arange(len(codes))
            log_loss[name] = float(row_weights @ -given[rows, codes] / max(row_weights.sum(), 1e-300))
            reliability[name] = Reliability.of(np.exp(given[rows, best]), (best == codes).astype(float), row_weights)
        return cls(method, classes.tolist(), fitted(np.ones(len(codes), bool)), floor, log_loss, reliability)

    def __call__(self, log_proba: Array) -> Array:
        """Return calibrated log probabilities."""
        return self.map(np.maximum(log_proba, self.floor))

    @property
    def error(self) -> dict[str, float]:
        """The expected calibration error "before" and "after"."""
        return {name: float(reliability.error) for name, reliability in self.reliability.items()}

    @property
    def slope(self) -> float | None:
        """The factor of the log-odds: 1 / temperature, or the mean of the factors; None if isotonic."""
        if isinstance(self.map, Temperature):
            return 1 / self.map.temperature
        return float(self.map.factors.mean()) if isinstance(self.map, Vector) else None

    def plot(self, ax: Any = None) -> Any:
        """Plot the reliability before and after calibration; return the Axes."""
        from suffice.plots import reliability

        return reliability(self.reliability, ax)

    def __repr__(self) -> str:
        name = f"temperature {self.map.temperature:.3g}" if isinstance(self.map, Temperature) else self.method
        figures = [
            f"{what} {values['before']:.4f} -> {values['after']:.4f}"
            for what, values in (("log-loss", self.log_loss), ("calibration error", self.error))
        ]
        return f"Calibration({name}: {', '.join(figures)})"


def _log_odds(log_proba: Array) -> Array:
    """Return the log-odds log P − log(1 − P) from log P."""
    with np.errstate(divide="ignore"):
        others = np.where(log_proba > -0.5, np.log(-np.expm1(log_proba)), np.log1p(-np.exp(log_proba)))
    return np.asarray(log_proba - np.maximum(others, -745.0))
