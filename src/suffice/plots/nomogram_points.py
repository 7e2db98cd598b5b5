"""A nomogram as numbers: the scales of columns, total points and probabilities."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax

from suffice.plots import Array

OTHER = "(other)"  # any level that was not in the training rows


@dataclass(frozen=True)
class Scale:
    """The scale of a column.

    Attributes
    ----------
    feature : str
        Name of the column.
    kind : {"levels", "bins", "curve"}
        Whether ``values`` are all possible values, one number in each bin between ``edges``, or points of a curve.
    values : list
        Values.
    evidence : ndarray of shape (n_values, n_classes)
        log p(value | class).
    edges : tuple of float
        Edges of the bins.
    silent : bool
        Whether other values are no evidence.
    """

    feature: str
    kind: str
    values: list[Any]
    evidence: Array
    edges: tuple[float, ...] = ()
    silent: bool = False

    def place(self, value: Any) -> int | None:
        """Return the place of a value in ``values``; None if it is missing or no evidence."""
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
    """A nomogram as numbers: log-odds = ``base`` + total points / ``unit``.

    A point is 1 / ``unit`` nats. The value of a column (or the missing value) with the least evidence for the label has
    0 points.

    Attributes
    ----------
    classes : list
        Labels.
    mine, other : int
        Places of the class that points speak for, and of the class it is compared with.
    prior : ndarray of shape (n_classes,)
        Log probabilities of the classes.
    scales : list of Scale
        One scale for each column.
    label, against : object
        The two classes.
    widths : ndarray of shape (n_columns,)
        Range of each scale, in nats.
    unit : float
        Points per nat: the widest scale has 100 points.
    base : float
        Log-odds of 0 points.
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
        """The class that the label is compared with."""
        return self.classes[self.other]

    def nats(self, scale: Scale) -> Array:
        """Return the evidence of each value of a scale, in nats of log-odds."""
        mine, other = scale.evidence[:, self.mine], scale.evidence[:, self.other]
        both = np.isneginf(mine) & np.isneginf(other)  # a value that both classes exclude favours neither
        with np.errstate(invalid="ignore"):
            return np.where(both, 0.0, mine - other)

    def least(self, scale: Scale) -> float:
        """Return the evidence at 0 points of a scale: the least finite one, at most the 0 of a missing value."""
        nats = self.nats(scale)
        return float(np.min(nats[np.isfinite(nats)], initial=0.0))

    @cached_property
    def widths(self) -> Array:
        """Range of each scale, in nats."""
        nats = [self.nats(scale) for scale in self.scales]
        most = [float(np.max(each[np.isfinite(each)], initial=0.0)) for each in nats]
        return np.array([high - self.least(scale) for high, scale in zip(most, self.scales, strict=True)])

    @cached_property
    def unit(self) -> float:
        """Points per nat: the widest scale has 100 points."""
        widest = float(self.widths.max())
        return 100.0 / widest if widest > 0 else 1.0

    @cached_property
    def base(self) -> float:
        """Log-odds of 0 points."""
        return float(self.prior[self.mine] - self.prior[self.other]) + sum(self.least(scale) for scale in self.scales)

    def points(self, row: Any) -> list[float]:
        """Return the points of each value of a row; a missing value has the points of no evidence, which may exceed 0.

        Parameters
        ----------
        row : sequence of length n_columns
            Values, in the order of ``scales``.

        Returns
        -------
        list of float
            Points of each value.
        """
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
        """Return log P(label | x) − log P(against | x) for a total of points."""
        return self.base + np.asarray(total) / self.unit

    def probability(self, total: Any) -> Any:
        """Return P(label | x, the class is label or against) for a total of points."""
        return expit(self.log_odds(total))

    def total(self, probability: Any) -> Any:
        """Return the total of points for a probability."""
        share = np.asarray(probability, np.float64)
        return (np.log(share) - np.log1p(-share) - self.base) * self.unit

    def probabilities(self, row: Any) -> Array:
        """Return P(class | x) of all classes for a row of values."""
        whole = self.prior.astype(np.float64)
        for scale, value in zip(self.scales, row, strict=True):
            place = scale.place(value)
            whole = whole if place is None else whole + scale.evidence[place]
        return np.asarray(np.exp(posterior(whole, self.prior)))


def posterior(log_joint: Array, prior: Array) -> Array:
    """Return log P(class | x); the prior where all classes exclude x, as in predict."""
    impossible = np.isneginf(log_joint).all(axis=-1, keepdims=True)
    return np.asarray(log_softmax(np.where(impossible, prior, log_joint), axis=-1))
