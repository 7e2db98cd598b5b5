"""A nomogram as numbers: the scales of columns, total points and probabilities."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, logit

from suffice.decision import log_posterior
from suffice.explain import subtract_logs
from suffice.families.description import Support
from suffice.plots.canvas import check_fitted, choose_two_classes
from suffice.plots.model_columns import MISSING, OTHER, column_values, columns_of, explain_values, find_support
from suffice.schema import Array


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
        Whether a value that is not in ``values`` is accepted, with the evidence 0, instead of being an error.
    missing : ndarray of shape (n_classes,) or None
        Evidence of a missing value, if it is a level of the column; otherwise, a missing value has the evidence 0.
    """

    feature: str
    kind: str
    values: list[Any]
    evidence: Array
    edges: tuple[float, ...] = ()
    silent: bool = False
    missing: Array | None = None

    def evidence_of(self, value: Any) -> Array:
        """Return the evidence of a value for each class: log p(value | class), or 0."""
        place = self.place(value)
        if place is not None:
            return np.asarray(self.evidence[place])
        nothing = np.zeros(self.evidence.shape[1])
        return nothing if self.missing is None or not _is_missing(value) else self.missing

    def place(self, value: Any) -> int | None:
        """Return the position of a value in ``values``; None if its evidence is 0 or that of a missing value."""
        if _is_missing(value):
            return self.values.index(MISSING) if MISSING in self.values else None
        if self.kind == "bins" or self.edges:
            return int(np.searchsorted(self.edges, value, side="right"))
        for known in (value, OTHER):
            if known in self.values:
                return self.values.index(known)
        if self.silent:
            return None
        raise ValueError(
            f"{self.feature} = {value!r} is not on the scale of {len(self.values)} values from {self.values[0]!r} to "
            f"{self.values[-1]!r}; make the scales with rows that have it: points(model, X)"
        )

    @property
    def level_names(self) -> list[str]:
        """The values of a scale of levels as text; for a threshold, such as "≤ 0" and "> 0"."""
        if self.edges and self.values[0]:
            return [f"≤ {self.values[0]:g}", f"> {self.values[0]:g}"]
        return [f"{value:g}" if isinstance(value, float) else str(value) for value in self.values]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))


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
        Positions in ``classes`` of ``label`` and ``against``.
    prior : ndarray of shape (n_classes,)
        Log probabilities of the classes.
    scales : list of Scale
        One scale for each column.
    label, against : object
        The class that points count for, and the class it is compared with.
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
        """The class that points count for."""
        return self.classes[self.mine]

    @property
    def against(self) -> Any:
        """The class that the label is compared with."""
        return self.classes[self.other]

    def nats(self, scale: Scale) -> Array:
        """Return the evidence of each value of a scale, in nats of log-odds."""
        return subtract_logs(scale.evidence[:, self.mine], scale.evidence[:, self.other])

    def nats_of(self, scale: Scale, value: Any) -> float:
        """Return the evidence of a value, in nats of log-odds."""
        evidence = scale.evidence_of(value)
        return float(subtract_logs(evidence[self.mine], evidence[self.other]))

    def least(self, scale: Scale) -> float:
        """Return the evidence that has 0 points: the smallest finite evidence of the values and of a missing value."""
        nats = self.nats(scale)
        return float(np.min(nats[np.isfinite(nats)], initial=self.nats_of(scale, None)))

    @cached_property
    def widths(self) -> Array:
        """Range of each scale, in nats."""
        nats = [np.append(self.nats(scale), self.nats_of(scale, None)) for scale in self.scales]
        return np.array([np.ptp(each[np.isfinite(each)]) for each in nats])

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
        """Return the points of each value of a row; a missing value has the points of its evidence, often 0 nats.

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
        pairs = zip(self.scales, row, strict=True)
        return [(self.nats_of(scale, value) - self.least(scale)) * self.unit for scale, value in pairs]

    def log_odds(self, total: Any) -> Any:
        """Return log P(label | x) − log P(against | x) for a total of points."""
        return self.base + np.asarray(total) / self.unit

    def probability(self, total: Any) -> Any:
        """Return P(label | x, the class is label or against) for a total of points."""
        return expit(self.log_odds(total))

    def total(self, probability: Any) -> Any:
        """Return the total of points for a probability."""
        return (logit(probability) - self.base) * self.unit

    def probabilities(self, row: Any) -> Array:
        """Return P(class | x) of all classes for a row of values."""
        parts = [scale.evidence_of(value) for scale, value in zip(self.scales, row, strict=True)]
        return np.asarray(np.exp(log_posterior(np.sum([self.prior, *parts], axis=0)[None], self.prior)[0]))


def make_scale(title: str, support: Support, evidence: Array, missing: Array | None) -> Scale:
    """Return the scale of a column; a missing cell that is evidence is one of its levels."""
    is_levels = support.kind == "levels"
    silent = is_levels and not support.edges and missing is not None
    if not is_levels or missing is None or not missing.any():
        return Scale(title, support.kind, support.values, evidence, support.edges, silent, missing)
    return Scale(title, support.kind, [*support.values, MISSING], np.vstack([evidence, missing]), (), silent, missing)


def points(model: Any, X: Any = None, label: Any = None, against: Any = None, *, row: int | None = None) -> Points:
    """Return a nomogram as numbers: the points of each value of each column for one class against another.

    Parameters
    ----------
    model : classifier
        As in `nomogram`.
    X : array-like of shape (n_rows, n_columns), default=None
        Rows that give the range of numeric columns, as in `nomogram`.
    label, against : object, default=None
        The class that points count for, and the class it is compared with, as in `nomogram`.
    row : int, default=None
        Row of ``X`` whose values are on the scales in any case.

    Returns
    -------
    Points
        Scales, and methods that convert values to points, totals and probabilities.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> X = [[1, 0], [1, 1], [0, 1]]
    >>> model = BernoulliNB().fit(X, ["ham", "ham", "spam"])
    >>> its = points(model, label="spam")
    >>> total = sum(its.points([0, 1]))
    >>> round(float(its.probability(total)), 6), model.predict_proba([[0, 1]])[0, 1].round(6).item()
    (0.64, 0.64)
    """
    check_fitted(model)
    if not hasattr(model, "chosen_tally"):
        raise TypeError(f"nomogram needs a classifier that learns from sums, not {type(model).__name__}")
    seen = {} if X is None else column_values(model, X, row)
    columns = columns_of(model)
    supports = [find_support(model, column, seen.get(column.title, [])) for column in columns]
    longest = max(len(support.values) for support in supports)
    cells = {
        column: np.resize(np.array(support.values, object), longest)
        for column, support in zip(columns, supports, strict=True)
    }
    first = explain_values(model, cells)
    # columns are independent if each value has the same evidence beside other values of the other columns
    second = explain_values(model, {column: np.roll(its, j + 1) for j, (column, its) in enumerate(cells.items())})
    is_table = model.chosen_tally().schema.features is not None
    empty = explain_values(model, {column: [None] for column in columns}).contributions[0] if is_table else None
    scales = []
    for j, (column, support) in enumerate(zip(columns, supports, strict=True)):
        evidence = first.contributions[:, :, j]
        if not np.allclose(second.contributions[:, :, j], np.roll(evidence, j + 1, axis=0), rtol=1e-9, atol=1e-9):
            raise ValueError(
                f"a nomogram adds up columns that are independent given the class, and the evidence of {column.title} "
                'depends on others; use structure="naive" (of counts, estimate="mean"), or waterfall for one row'
            )
        missing = None if empty is None else empty[:, j]
        scales.append(make_scale(column.title, support, evidence[: len(support.values)], missing))
    uncalibrated = log_posterior(first.log_joint.copy(), first.prior)
    if not np.allclose(first.log_proba, uncalibrated, atol=1e-9, rtol=1e-9, equal_nan=True):
        raise ValueError("calibrated probabilities are not a sum of points; set calibrate=None")
    # the second of two classes is the positive one: yes, 1, True
    is_second_first = len(first.classes) == 2 and label is None and against is None
    scores = np.arange(2) if is_second_first else np.zeros(len(first.classes))
    return Points(first.classes, *choose_two_classes(first.classes, label, against, scores), first.prior, scales)
