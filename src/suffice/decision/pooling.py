"""Pool: the predictions of several models as one, weighted in log space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_softmax

from suffice.parallel import limit_blas
from suffice.schema import Array

# Log probabilities are raised to at least this before they are pooled, so that no model has a veto.
FLOOR = float(np.log(1e-6))

# The same where only one model gives probabilities, so that there is none to overrule.
FLOOR_ALONE = float(np.log(1e-300))

# Pseudo-rows by which the weights are held near equal shares, and the biases near 0.
RIDGE = 2.0
STEPS, TOLERANCE = 50, 1e-8

# Weights and biases are rounded to so many decimal digits.
DIGITS = 6


@dataclass(frozen=True)
class Pool:
    """log P(class | x) = Σₘ wₘ·max(log Pₘ(class | x), floor) + b of the class, up to a constant.

    The weights w ≥ 0 and the biases b have the least log-loss on held-out rows, with a ridge towards equal weights and
    no biases, so the probabilities are calibrated, too.

    Attributes
    ----------
    components : tuple of Structure
        The structures of the models.
    weights : array [component]
        wₘ.
    classes : list
        The labels.
    biases : array [class]
        b of each class.
    rows : float
        The weight of the held-out rows; 0 if the weights are equal because there were none.
    log_loss : dict
        The log-loss of each component on the held-out rows, and of the pool.
    reduced : Pool or None
        The pool of the components without trees, which is used where the trees were dropped.
    """

    components: tuple[Any, ...]
    weights: Array
    classes: list[Any]
    biases: Array
    rows: float = 0.0
    log_loss: dict[str, float] | None = None
    reduced: Pool | None = None

    @property
    def names(self) -> list[str]:
        """The names of the components' structures."""
        return [_name(each) for each in self.components]

    @classmethod
    def equal(cls, components: Sequence[Any], classes: list[Any]) -> Pool:
        """Return the pool of equal weights and no biases."""
        return cls(tuple(components), _equal_weights(components), classes, np.zeros(len(classes)))

    @classmethod
    def fit(cls, components: Sequence[Any], classes: list[Any], log_proba: Array, codes: Array, weights: Array) -> Pool:
        """Return the pool with the least log-loss.

        Parameters
        ----------
        components : sequence of Structure
            The structures of the models.
        classes : list
            The labels.
        log_proba : array [component, row, class]
            The predictions of held-out rows.
        codes : array [row]
            The classes of the rows.
        weights : array [row]
            The weights of the rows.
        """
        raised = np.maximum(log_proba, floor_of(components))
        with limit_blas(log_proba.size):
            parameters, loss = _fit_weights(raised.T, codes, weights, _equal_weights(components))
        # scores of compiled kernels may differ in their last digits; what is learned must not
        parameters = np.round(parameters, DIGITS)
        count, rows = len(components), float(weights.sum())
        own = [weights @ -each[np.arange(len(codes)), codes] / rows for each in raised]
        losses = {_name(each): float(of) for each, of in zip(components, own, strict=True)}
        biases = parameters[count:]
        return cls(tuple(components), parameters[:count], classes, biases, rows, losses | {"pool": loss / rows})

    @property
    def loss(self) -> float:
        """The log-loss on the held-out rows."""
        return self.log_loss["pool"] if self.log_loss else np.inf

    def combine(self, log_proba: Array) -> Array:
        """Return log P(class | x) from the predictions of the components, [component, row, class]."""
        raised = np.maximum(log_proba, floor_of(self.components))
        return np.asarray(log_softmax(np.tensordot(self.weights, raised, axes=1) + self.biases, axis=1))

    def select(self, are_present: Sequence[bool]) -> Pool:
        """Return the pool of the components that are present."""
        if all(are_present):
            return self
        kept = [place for place, is_present in enumerate(are_present) if is_present]
        components = tuple(self.components[place] for place in kept)
        if self.reduced is not None and [*map(_name, self.reduced.components)] == [*map(_name, components)]:
            return self.reduced
        weights = self.weights[kept]
        total = float(weights.sum())
        weights = weights * (self.weights.sum() / total) if total > 0 else np.full(len(kept), 1 / len(kept))
        return replace(self, components=components, weights=weights, log_loss=None, reduced=None)

    def biases_of(self, labels: Sequence[Any]) -> Array:
        """Return the biases of classes; a class that was not held out has none."""
        known = dict(zip(self.classes, self.biases.tolist(), strict=True))
        return np.array([known.get(label, 0.0) for label in labels])

    def merge(self, other: Pool) -> Pool:
        """Return the mean of two pools, by their rows; a component that one of them lacks weighs 0 there."""
        if other == self:
            return self
        if other.names != self.names:
            both = {_name(each): each for each in (*self.components, *other.components)}
            # in an order that is the same for both sides
            every = sorted(both.values(), key=lambda each: (each.is_correction, each.grows_trees, _name(each)))
            self, other = self._widened(every), other._widened(every)
        total = self.rows + other.rows
        share = self.rows / total if total > 0 else 0.5
        classes = sorted({*self.classes, *other.classes})
        reduced = self.reduced.merge(other.reduced) if self.reduced and other.reduced else None
        pairs = zip(self.components, other.components, strict=True)
        return replace(
            self,
            components=tuple(mine.merge(its, share) for mine, its in pairs),
            weights=share * self.weights + (1 - share) * other.weights,
            classes=classes,
            biases=share * self.biases_of(classes) + (1 - share) * other.biases_of(classes),
            rows=total,
            log_loss=None,
            reduced=reduced,
        )

    def _widened(self, components: Sequence[Any]) -> Pool:
        """Return the pool with more components, of weight 0; if trees are new, ``reduced`` is the pool itself."""
        own = dict(zip(self.names, zip(self.components, self.weights.tolist(), strict=True), strict=True))
        found, weights = zip(*(own.get(_name(each), (each, 0.0)) for each in components), strict=True)
        gets_trees = any(each.grows_trees and _name(each) not in own for each in components)
        reduced = self if gets_trees else self.reduced
        return replace(self, components=found, weights=np.array(weights), reduced=reduced)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pool):
            return NotImplemented
        return (
            self.components == other.components
            and self.classes == other.classes
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.biases, other.biases)
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return ", ".join(f"{name} {of:.2f}" for name, of in zip(self.names, self.weights.tolist(), strict=True))


def floor_of(components: Sequence[Any]) -> float:
    """Return what the log probabilities of a pool's components are raised to."""
    return FLOOR if sum(not each.is_correction for each in components) > 1 else FLOOR_ALONE


def _equal_weights(components: Sequence[Any]) -> Array:
    """Return equal shares of the models that are components; what corrects them counts in full."""
    are_models = np.array([not each.is_correction for each in components])
    return np.where(are_models, 1 / max(are_models.sum(), 1), 1.0)


def _name(component: Any) -> str:
    return str(component.name)


def _fit_weights(scores: Array, codes: Array, weights: Array, equal: Array) -> tuple[Array, float]:
    """Return the weights and biases with the least log-loss, and that loss; ``scores`` are [class, row, component].

    Newton steps are halved until the loss falls. A weight at 0 whose slope is positive stays there.
    """
    classes, rows, count = scores.shape
    start, scores = np.append(equal, np.zeros(classes)), np.ascontiguousarray(scores)
    flat, true_class = scores.reshape(classes * rows, count), codes * rows + np.arange(rows)

    def evaluate(parameters: Array) -> tuple[float, Array, float]:
        mapped = (flat @ parameters[:count]).reshape(classes, rows) + parameters[count:, None]
        log_p = np.asarray(log_softmax(mapped, axis=0))
        loss = -float(weights @ log_p.ravel()[true_class])
        step = parameters - start
        return loss + RIDGE / 2 * float(step @ step), log_p, loss

    parameters = start
    value, log_p, loss = evaluate(parameters)
    for _ in range(STEPS):
        p = np.exp(log_p) * weights
        residual = p.copy()
        residual.ravel()[true_class] -= weights
        slope = np.append(residual.ravel() @ flat, residual.sum(axis=1)) + RIDGE * (parameters - start)
        curve = _curvature(scores, flat, p, weights) + RIDGE * np.eye(len(start))
        is_free = np.ones(len(start), bool)
        is_free[:count] = (parameters[:count] > 0) | (slope[:count] < 0)
        step = np.zeros(len(start))
        # least squares: with enormous weights the ridge is less than their rounding errors
        step[is_free] = np.linalg.lstsq(curve[np.ix_(is_free, is_free)], slope[is_free])[0]
        for _ in range(STEPS):
            following = parameters - step
            following[:count] = np.maximum(following[:count], 0.0)
            found = evaluate(following)
            if found[0] <= value:
                break
            step = step / 2
        moved = float(np.abs(following - parameters).max())
        if not found[0] <= value:
            break
        parameters, (value, log_p, loss) = following, found
        if moved <= TOLERANCE:
            break
    return parameters, loss


def _curvature(scores: Array, flat: Array, p: Array, weights: Array) -> Array:
    """Return the second derivatives of the log-loss; ``p`` are the probabilities times the weights of the rows."""
    classes, _, count = scores.shape
    share = p / np.maximum(weights, 1e-300)
    mean = np.einsum("kr,krm->rm", share, scores)
    curve = np.empty((count + classes, count + classes))
    curve[:count, :count] = flat.T @ (flat * p.reshape(-1, 1)) - mean.T @ (mean * weights[:, None])
    cross = np.einsum("kr,krm->mk", p, scores) - mean.T @ p.T
    curve[:count, count:], curve[count:, :count] = cross, cross.T
    curve[count:, count:] = np.diag(p.sum(axis=1)) - share @ p.T
    return curve
