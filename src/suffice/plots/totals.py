"""A nomogram as numbers: scales of points, their total, and the probability it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax

from suffice.plots import Array

OTHER = "(other)"  # stands for any level never met


@dataclass(frozen=True)
class Scale:
    """What a column says: ``evidence`` [value, class] is log p(value given class), ``kind`` how its values go on.

    Of "levels" there are these and no others; "bins" hold all numbers between ``edges``; a "curve" has the
    evidence of numbers at ``values``.
    """

    feature: str
    kind: str
    values: list[Any]
    evidence: Array
    edges: tuple[float, ...] = ()
    silent: bool = False  # what is not among the values says nothing

    def place(self, value: Any) -> int | None:
        """Return where a value stands among ``values``; None if it is empty and says nothing."""
        if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
            return None
        if self.kind == "bins" or self.edges:
            return int(np.searchsorted(self.edges, value, side="right"))
        if value in self.values:
            return self.values.index(value)
        if OTHER in self.values:
            return self.values.index(OTHER)
        if self.silent:
            return None
        about = f"{self.values[0]!r} to {self.values[-1]!r}"
        raise ValueError(
            f"{self.feature} = {value!r} is not on the scale of {len(self.values)} values from {about}; make "
            "the scales with rows that have it: points(model, X)"
        )


@dataclass(frozen=True)
class Points:
    """A nomogram as numbers: total = Σ points, and P(label given x, and that it is label or other) = σ(…total…).

    A point is 1 / ``unit`` nats, and what says least for the label has 0 points (a value, or an empty cell), so that
    log-odds = ``base`` + total / ``unit``.
    """

    classes: list[Any]
    mine: int
    other: int
    prior: Array
    scales: list[Scale]

    @property
    def label(self) -> Any:
        """The class that points speak for."""
        return self.classes[self.mine]

    @property
    def against(self) -> Any:
        """The class that points speak against."""
        return self.classes[self.other]

    def nats(self, scale: Scale) -> Array:
        """Return what each value of a column adds to the log-odds."""
        mine, other = scale.evidence[:, self.mine], scale.evidence[:, self.other]
        both = np.isneginf(mine) & np.isneginf(other)  # impossible on both sides says nothing
        with np.errstate(invalid="ignore"):
            return np.where(both, 0.0, mine - other)

    def least(self, scale: Scale) -> float:
        """Return the nats at a scale's zero: the least that is finite, and no more than an empty cell's 0."""
        nats = self.nats(scale)
        return float(np.min(nats[np.isfinite(nats)], initial=0.0))

    @cached_property
    def widths(self) -> Array:
        """How many nats each scale spans."""
        nats = [self.nats(scale) for scale in self.scales]
        most = [float(np.max(each[np.isfinite(each)], initial=0.0)) for each in nats]
        return np.array([high - self.least(scale) for high, scale in zip(most, self.scales, strict=True)])

    @cached_property
    def unit(self) -> float:
        """Points a nat: the widest scale has 100."""
        widest = float(self.widths.max())
        return 100.0 / widest if widest > 0 else 1.0

    @cached_property
    def base(self) -> float:
        """The log-odds of no points."""
        return float(self.prior[self.mine] - self.prior[self.other]) + sum(self.least(scale) for scale in self.scales)

    def points(self, row: Any) -> list[float]:
        """Return the points of each value of a row; an empty cell's say nothing, which is not 0 points."""
        if len(row) != len(self.scales):
            names = ", ".join(scale.feature for scale in self.scales[:5])
            raise ValueError(f"the row has {len(row)} values, and there are {len(self.scales)} scales: {names}, …")
        found = []
        for scale, value in zip(self.scales, row, strict=True):
            place = scale.place(value)
            nats = 0.0 if place is None else float(self.nats(scale)[place])
            found.append((nats - self.least(scale)) * self.unit)
        return found

    def log_odds(self, total: Any) -> Any:
        """Return log P(label given x) − log P(other given x) of a total of points."""
        return self.base + np.asarray(total) / self.unit

    def probability(self, total: Any) -> Any:
        """Return P(label given x) / (P(label given x) + P(other given x)) of a total: of two classes, P(label)."""
        return expit(self.log_odds(total))

    def total(self, probability: Any) -> Any:
        """Return the total of points that has a probability."""
        share = np.asarray(probability, np.float64)
        return (np.log(share) - np.log1p(-share) - self.base) * self.unit

    def probabilities(self, row: Any) -> Array:
        """Return P(class given x) of all classes."""
        whole = self.prior.astype(np.float64)
        for scale, value in zip(self.scales, row, strict=True):
            place = scale.place(value)
            whole = whole if place is None else whole + scale.evidence[place]
        return np.asarray(np.exp(posterior(whole, self.prior)))


def posterior(log_joint: Array, prior: Array) -> Array:
    """Return log P(class given x); of what no class allows, nothing but the prior is left, as in predict."""
    impossible = np.isneginf(log_joint).all(axis=-1, keepdims=True)
    return np.asarray(log_softmax(np.where(impossible, prior, log_joint), axis=-1))
