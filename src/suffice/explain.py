"""Explanations: the log joint probability of a row, split into the class prior and one term per feature.

log p(x, class) = log P(class) + Σⱼ contribution of feature j. The contributions of a row sum to the score that the
prediction is made from, so the two cannot disagree. Where probabilities are calibrated, the log-odds of two classes are
explained after calibration: all terms are multiplied by the slope of the calibration, and what it adds besides is a
term of its own, "(calibration)".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from suffice.blocks import Block, Sparse
from suffice.data.column_names import list_names
from suffice.pooled_model import AnyModel
from suffice.printable import escape_controls, signed
from suffice.records import Records
from suffice.schema import Array, Columns, Words

MAX_REASONS = 5  # in a sentence
NEGLIGIBLE = 0.005  # nats; it would be printed as 0.00
ROUNDING = 1e-9  # relative to the terms that are added
SHOWN_ROWS = 3  # in a notebook
PRIOR, CALIBRATION = "(prior)", "(calibration)"


@dataclass(frozen=True)
class Explanation:
    """The contributions of the prior and of each feature to log p(x, class) of some rows.

    ``prior + contributions.sum(axis=-1)`` equals ``log_joint``.

    Parameters
    ----------
    classes : list
        The class labels.
    features : list of str
        The feature names. Each word of a text column is a feature of its own, named "column: word".
    values : list of list
        The value of each feature in each row, None if the cell is empty.
    prior : ndarray of shape (n_classes,)
        log P(class).
    contributions : ndarray of shape (n_rows, n_classes, n_features)
        The term that each feature adds to log p(x, class), in nats.
    log_joint : ndarray of shape (n_rows, n_classes)
        log p(x, class).
    log_proba : ndarray of shape (n_rows, n_classes)
        log P(class | x), after calibration if the model is calibrated.
    scale : ndarray of shape (n_rows,), default=None
        The slope of the calibration in each row, by which ``log_odds`` multiplies all terms: 1 / temperature; the mean
        factor of vector scaling; for isotonic calibration, which has no slope, the ratio of the log-odds after and
        before it, at most 1. None is 1.

    Attributes
    ----------
    importance : dict of str to float
        Mean absolute contribution of each feature, largest first.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
    >>> explanation = model.explain([[0, 1]])
    >>> explanation.most_probable()
    'spam'
    >>> [(name, value, round(nats, 2)) for name, value, nats in explanation.log_odds()]
    [('(prior)', None, -0.69), ('column 0', 0.0, 0.98), ('column 1', 1.0, 0.29)]
    """

    classes: list[Any]
    features: list[str]
    values: list[list[Any]]
    prior: Array
    contributions: Array
    log_joint: Array
    log_proba: Array
    scale: Array | None = None

    def __len__(self) -> int:
        return len(self.log_joint)

    def most_probable(self, row: int = 0) -> Any:
        """Return the most probable label of a row.

        Parameters
        ----------
        row : int, default=0
            Position of the row.

        Returns
        -------
        label : object
        """
        return self.classes[int(self.log_proba[row].argmax())]

    def log_odds(self, row: int = 0, label: Any = None, against: Any = None) -> list[tuple[str, Any, float]]:
        """Return the contribution of the prior and of each feature to the log-odds of two classes.

        The contributions sum to log P(label | x) − log P(against | x), after calibration if the model is calibrated.

        Parameters
        ----------
        row : int, default=0
            Position of the row.
        label : object, default=None
            The class in favour of which a positive number counts; None is the most probable class.
        against : object, default=None
            The class it is compared with; None is the most probable of the other classes.

        Returns
        -------
        contributions : list of (name, value, nats)
            First "(prior)", then the features in decreasing order of the absolute contribution, then "(calibration)"
            if calibration does more than to scale the log-odds.
        """
        mine, other = choose_classes(self.classes, label, against, self.log_proba[row])
        scale, shift = self._calibrated(row, mine, other)
        nats = self.feature_log_odds(row, mine, other)
        prior = scale * float(subtract_logs(self.prior[mine], self.prior[other]))
        order = np.argsort(-np.abs(nats), kind="stable")
        parts = [(self.features[j], self.values[row][j], float(nats[j])) for j in order.tolist()]
        shifts: list[tuple[str, Any, float]] = [(CALIBRATION, None, shift)] if shift else []
        return [(PRIOR, None, prior), *parts, *shifts]

    def feature_log_odds(self, row: int, mine: int, other: int) -> Array:
        """Return the contribution of each feature to the log-odds of two classes, given by their positions.

        Parameters
        ----------
        row : int
            Position of the row.
        mine, other : int
            Positions of the class in favour of which a positive number counts, and of the other class.

        Returns
        -------
        nats : ndarray of shape (n_features,)
        """
        scale, _ = self._calibrated(row, mine, other)
        return scale * subtract_logs(self.contributions[row, mine], self.contributions[row, other])

    def _calibrated(self, row: int, mine: int, other: int) -> tuple[float, float]:
        """Return the factor of all terms, and what calibration adds to the log-odds besides."""
        before = float(subtract_logs(self.log_joint[row, mine], self.log_joint[row, other]))
        after = float(subtract_logs(self.log_proba[row, mine], self.log_proba[row, other]))
        if self.scale is None or not np.isfinite([before, after]).all():
            return 1.0, 0.0  # no number that is added to an infinite one gives the calibrated one
        scale = float(self.scale[row])
        shift, size = after - scale * before, float(np.abs(self.log_joint[row, [mine, other]]).max())
        return scale, shift if abs(shift) > ROUNDING * max(size, 1.0) else 0.0

    def sentence(self, row: int = 0, most: int = MAX_REASONS, label: Any = None, against: Any = None) -> str:
        """Return the explanation of a row as text.

        Parameters
        ----------
        row : int, default=0
            Position of the row.
        most : int, default=5
            Number of reasons that are listed for and against the label.
        label : object, default=None
            The class to explain; None is the most probable class.
        against : object, default=None
            The class it is compared with, such as the true class of a wrong prediction; None is the most probable of
            the other classes.

        Returns
        -------
        sentence : str

        Examples
        --------
        >>> from suffice import BernoulliNB
        >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
        >>> print(model.explain([[0, 1]]).sentence())
        'spam' (64 %) compared with 'ham'. Main reasons: column 0 = 0 (+0.98), column 1 = 1 (+0.29). Reasons against:
        class prior (−0.69). The log-odds are +0.58 nats.
        """
        if len(self.classes) == 1:
            return f"{self.classes[0]!r} is the only class."
        mine, other = choose_classes(self.classes, label, against, self.log_proba[row])
        # a probability that rounds to 1 is not certain while another class is possible
        highest = 1.0 if np.isneginf(self.log_proba[row, other]) else float(np.nextafter(1.0, 0.0))
        probability = format_probability(min(float(np.exp(self.log_proba[row, mine])), highest))
        sentences = [f"{self.classes[mine]!r} ({probability}) compared with {self.classes[other]!r}."]
        parts = self.log_odds(row, self.classes[mine], self.classes[other])
        largest = sorted(parts, key=lambda part: -abs(part[2]))
        for title, sign in (("Main reasons", 1), ("Reasons against", -1)):
            reasons = [
                f"{escape_controls(_describe(*part[:2]))} ({signed(part[2])})"
                for part in largest
                if sign * part[2] >= NEGLIGIBLE
            ]
            if reasons:
                sentences.append(f"{title}: {list_names(reasons, most)}.")
        if len(sentences) == 1:
            return f"{sentences[0]} No feature of this row favours either class."
        total = sum(nats for _, _, nats in parts)
        if np.isnan(total):  # ∞ − ∞
            return " ".join([*sentences, "No class can produce this row, so only the class prior decides."])
        log_odds = float(subtract_logs(self.log_proba[row, mine], self.log_proba[row, other]))
        is_calibrated = np.isfinite([log_odds, total]).all() and not np.isclose(log_odds, total, rtol=1e-6, atol=1e-6)
        calibrated = " before calibration" if is_calibrated else ""
        return " ".join([*sentences, f"The log-odds are {signed(total)} nats{calibrated}."])

    @property
    def importance(self) -> dict[str, float]:
        """Mean absolute contribution of each feature, relative to the mean over the classes; largest first."""
        finite = np.where(np.isfinite(self.contributions), self.contributions, 0.0)
        finite = finite if self.scale is None else finite * self.scale[:, None, None]
        centred = finite - finite.mean(axis=1, keepdims=True)
        weights = np.abs(centred).mean(axis=(0, 1))
        order = np.argsort(-weights, kind="stable")
        return {self.features[j]: float(weights[j]) for j in order.tolist()}

    def to_frame(self, label: Any = None, against: Any = None) -> Any:
        """Return the contributions to the log-odds of two classes as a pandas frame.

        Parameters
        ----------
        label, against : object, default=None
            The classes, as in ``log_odds``; None are the two most probable ones of each row.

        Returns
        -------
        frame : pandas.DataFrame
            With one line for each row and contribution, and the columns row, label, against, feature, value and
            log_odds.
        """
        return self._records(range(len(self)), label, against).to_frame()

    def _records(self, rows: Iterable[int], label: Any = None, against: Any = None) -> Records:
        lines = Records()
        for row in rows:
            mine, other = choose_classes(self.classes, label, against, self.log_proba[row])
            classes = {"label": self.classes[mine], "against": self.classes[other]}
            for feature, value, nats in self.log_odds(row, *classes.values()):
                lines.append({"row": row, **classes, "feature": feature, "value": value, "log_odds": nats})
        return lines

    def _repr_html_(self) -> str:
        shown = range(min(len(self), SHOWN_ROWS))
        pages = [f"<p>{escape(self.sentence(row))}</p>{self._records([row])._repr_html_()}" for row in shown]
        rest = f"<p>and {len(self) - SHOWN_ROWS} more rows</p>" if len(self) > SHOWN_ROWS else ""
        return "".join(pages) + rest


def explain_rows(
    model: AnyModel,
    classes: list[Any],
    blocks: tuple[Block, ...],
    names: Sequence[Any],
    values: Sequence[Sequence[Any]],
    log_proba: Array,
    slope: float | None = None,
) -> Explanation:
    """Return the explanation of some rows.

    Parameters
    ----------
    model : Model
        The estimated model.
    classes : list
        The class labels.
    blocks : tuple of Block
        The rows, as the model scores them.
    names : sequence
        The names of the columns of the table.
    values : sequence of sequence
        The cells of each row, in the order of ``names``.
    log_proba : ndarray of shape (n_rows, n_classes)
        log P(class | x) of the rows.
    slope : float, default=None
        The slope of the calibration (`Calibration.slope`); None finds it for each row.

    Returns
    -------
    explanation : Explanation
    """
    position = {name: j for j, name in enumerate(names)}
    found: list[_Feature] = []
    for keys, evidence, columns, block in model.evidence(blocks):
        if columns is not None and isinstance(block, Sparse) and columns.codings is not None:
            found += _split_words(columns, block, evidence, position)
            continue
        for j, name in enumerate(keys[: evidence.shape[-1]]):
            at = position.get(name, len(position))
            found.append(_Feature(at, column_title(name), [line[at] for line in values], evidence[:, :, j]))
    found = _join_columns(found)
    features = [feature.name for feature in found]
    held = [[feature.values[row] for feature in found] for row in range(len(values))]
    empty = np.zeros((len(values), len(classes), 0))  # texts of unknown words have no features
    contributions = np.stack([feature.contribution for feature in found], axis=-1) if found else empty
    log_joint = model.log_joint(blocks)
    scale = _slopes(log_joint, log_proba) if slope is None else np.full(len(log_proba), slope)
    return Explanation(classes, features, held, model.evidence_prior, contributions, log_joint, log_proba, scale)


def _slopes(before: Array, after: Array) -> Array:
    """Return the ratio of the log-odds after and before calibration of each row, at most 1.

    The size of the log-odds is their standard deviation over the classes.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = after.std(axis=1) / before.std(axis=1)
    return np.where(ratio < 1, ratio, 1.0)


class _Feature(NamedTuple):
    """A feature: position of its column, name, value in each row, and contribution [row, class]."""

    column: int
    name: str
    values: list[Any]
    contribution: Array


def _join_columns(found: list[_Feature]) -> list[_Feature]:
    """Return the features in the order of the columns; those of the same column in several models are added up."""
    joined: dict[tuple[int, str], _Feature] = {}
    for feature in sorted(found, key=lambda feature: feature.column):
        key = feature.column, feature.name
        known = joined.get(key)
        if known is not None:
            feature = feature._replace(contribution=known.contribution + feature.contribution)
        joined[key] = feature
    return list(joined.values())


def _split_words(columns: Columns, block: Sparse, evidence: Array, position: dict[Any, int]) -> list[_Feature]:
    """Return the words that occur in any of the rows, as features."""
    (name,), (words,) = columns.names or (), columns.codings or ()
    assert isinstance(words, Words)
    counts = block.matrix.toarray()
    return [
        _Feature(position[name], f"{name}: {words.labels[w]}", counts[:, w].tolist(), evidence[:, :, w])
        for w in np.flatnonzero(counts.any(axis=0)).tolist()
    ]


def column_keys(columns: Columns) -> Sequence[Any]:
    """Return the names of columns, or their positions if they have no names."""
    return range(columns.count) if columns.names is None else columns.names


def column_title(key: Any) -> str:
    """Return the name of a column, which may be its position, as text."""
    return f"column {key}" if isinstance(key, (int, np.integer)) else str(key)


def choose_classes(classes: list[Any], label: Any, against: Any, scores: Array) -> tuple[int, int]:
    """Return the positions of two classes to compare; a class that is None is the one with the highest score.

    If there is only one class, it is compared with itself.
    """
    for name in (label, against):
        if name is not None and name not in classes:
            raise ValueError(f"{name!r} is not a class; there are {', '.join(map(repr, classes))}")
    order = np.argsort(-scores, kind="stable").tolist()
    other = None if against is None else classes.index(against)
    mine = next((k for k in order if k != other), 0) if label is None else classes.index(label)
    return mine, next((k for k in order if k != mine), mine) if other is None else other


def format_probability(probability: float) -> str:
    """Return a probability in per cent; only 0 and 1 are printed as 0 % and 100 %.

    >>> [format_probability(p) for p in (0.8, 0.998, 0.99996, 0.0002, 1.0)]
    ['80 %', '99.8 %', '> 99.9 %', '< 0.1 %', '100 %']
    """
    if 0.999 < probability < 1 or 0 < probability < 0.001:
        return "> 99.9 %" if probability > 0.5 else "< 0.1 %"
    return f"{100 * probability:.1f}".removesuffix(".0") + " %"


def subtract_logs(mine: Any, other: Any) -> Array:
    """Return mine − other, and 0 where both are −∞: a value that both classes exclude favours neither."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(mine) & np.isneginf(other), 0.0, np.subtract(mine, other))


def _describe(name: str, value: Any) -> str:
    """Return a contribution as a sentence names it."""
    if value is None and name == PRIOR:
        return "class prior"
    if value is None and name == CALIBRATION:
        return "calibration"
    if value is None:
        return f"{name} is missing"
    return f"{name} = {value:.6g}" if isinstance(value, (float, np.floating)) else f"{name} = {value}"
