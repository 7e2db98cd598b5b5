"""Explanations: the log joint probability of a row, split into the class prior and one term per feature.

log p(x, class) = log P(class) + Σⱼ contribution of feature j. The contributions of a row sum to the score that the
prediction is made from, so the two cannot disagree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.blocks import Block, Sparse
from suffice.model import Model
from suffice.schema import Array, Columns, Words

MAX_REASONS = 5  # in a sentence
NEGLIGIBLE = 0.005  # nats; it would be printed as 0.00


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

        The contributions sum to log P(label | x) − log P(against | x) before calibration.

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
            First "(prior)", then the features in decreasing order of the absolute contribution.
        """
        mine = self._code(self.most_probable(row) if label is None else label)
        other = self._runner_up(row, mine) if against is None else self._code(against)
        with np.errstate(invalid="ignore"):
            nats = _subtract(self.contributions[row, mine], self.contributions[row, other])
            prior = float(_subtract(self.prior[mine : mine + 1], self.prior[other : other + 1])[0])
        order = np.argsort(-np.abs(nats), kind="stable")
        parts = [(self.features[j], self.values[row][j], float(nats[j])) for j in order.tolist()]
        return [("(prior)", None, prior), *parts]

    def sentence(self, row: int = 0, most: int = MAX_REASONS, label: Any = None) -> str:
        """Return the explanation of a row as text.

        Parameters
        ----------
        row : int, default=0
            Position of the row.
        most : int, default=5
            Number of reasons that are listed for and against the label.
        label : object, default=None
            The class to explain; None is the most probable class.

        Returns
        -------
        sentence : str

        Examples
        --------
        >>> from suffice import BernoulliNB
        >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
        >>> print(model.explain([[0, 1]]).sentence())
        'spam' (64 %) compared with 'ham'. Main reasons: column 0 = 0 (+0.98), column 1 = 1 (+0.29). Reasons against:
        the class is rare (-0.69). The log-odds are +0.58 nats.
        """
        label = self.most_probable(row) if label is None else label
        mine = self._code(label)
        if len(self.classes) == 1:
            return f"{label!r} is the only class."
        other = self._runner_up(row, mine)
        # a probability that rounds to 1 is not certain while another class is possible
        highest = 1.0 if np.isneginf(self.log_proba[row, other]) else float(np.nextafter(1.0, 0.0))
        probability = format_probability(min(float(np.exp(self.log_proba[row, mine])), highest))
        head = f"{label!r} ({probability}) compared with {self.classes[other]!r}."
        parts = self.log_odds(row, label)
        largest = sorted(parts, key=lambda part: -abs(part[2]))
        reasons = [(_describe(name, value, nats), nats) for name, value, nats in largest if abs(nats) >= NEGLIGIBLE]
        sides = []
        for title, sign in (("Main reasons", 1), ("Reasons against", -1)):
            listed = [f"{text} ({nats:+.2f})" for text, nats in reasons if sign * nats > 0]
            more = f" and {len(listed) - most} more" if len(listed) > most else ""
            if listed:
                sides.append(f"{title}: {', '.join(listed[:most])}{more}.")
        if not sides:
            return f"{head} No feature of this row favours either class."
        total = sum(nats for _, _, nats in parts)
        if np.isnan(total):  # ∞ − ∞
            end = "No class can produce this row, so only the class prior decides."
        else:
            calibrated = " before calibration" if self._is_calibrated(row, mine, other, total) else ""
            end = f"The log-odds are {total:+.2f} nats{calibrated}."
        return " ".join([head, *sides, end])

    @property
    def importance(self) -> dict[str, float]:
        """Mean absolute contribution of each feature, relative to the mean over the classes; largest first."""
        finite = np.where(np.isfinite(self.contributions), self.contributions, 0.0)
        centred = finite - finite.mean(axis=1, keepdims=True)
        weights = np.abs(centred).mean(axis=(0, 1))
        order = np.argsort(-weights, kind="stable")
        return {self.features[j]: float(weights[j]) for j in order.tolist()}

    def _is_calibrated(self, row: int, mine: int, other: int, total: float) -> bool:
        """Return whether calibration changed the log-odds that the contributions sum to."""
        log_odds = float(self.log_proba[row, mine]) - float(self.log_proba[row, other])
        both_finite = np.isfinite(log_odds) and np.isfinite(total)
        return bool(both_finite and not np.isclose(log_odds, total, rtol=1e-6, atol=1e-6))

    def _code(self, label: Any) -> int:
        if label not in self.classes:
            raise ValueError(f"{label!r} is no class; there are {', '.join(map(repr, self.classes))}")
        return self.classes.index(label)

    def _runner_up(self, row: int, mine: int) -> int:
        """Return the most probable of the other classes."""
        others = [k for k in range(len(self.classes)) if k != mine]
        return max(others, key=lambda k: self.log_proba[row, k]) if others else mine


def explain_rows(
    model: Model,
    classes: list[Any],
    blocks: tuple[Block, ...],
    names: Sequence[Any],
    values: Sequence[Sequence[Any]],
    log_proba: Array,
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

    Returns
    -------
    explanation : Explanation
    """
    found = _split_contributions(model, blocks, names, values)
    features = [feature.name for feature in found]
    held = [[feature.values[row] for feature in found] for row in range(len(values))]
    empty = np.zeros((len(values), len(classes), 0))  # texts of unknown words have no features
    contributions = np.stack([feature.contribution for feature in found], axis=-1) if found else empty
    return Explanation(
        classes, features, held, model.class_log_prior, contributions, model.log_joint(blocks), log_proba
    )


@dataclass(frozen=True)
class _Feature:
    """A feature: position of its column, name, value in each row, and contribution [row, class]."""

    column: int
    name: str
    values: list[Any]
    contribution: Array


def _split_contributions(
    model: Model, blocks: tuple[Block, ...], names: Sequence[Any], values: Sequence[Sequence[Any]]
) -> list[_Feature]:
    """Return the contribution of each feature, in the order of the columns."""
    found: list[_Feature] = []
    position = {name: j for j, name in enumerate(names)}
    for columns, block, score in zip(model.columns, blocks, model.scores, strict=True):
        evidence = score.contributions(block)
        if isinstance(block, Sparse) and columns.codings is not None:
            found += _split_words(columns, block, evidence, position)
            continue
        for j in range(evidence.shape[-1]):
            name = j if columns.names is None else columns.names[j]
            at = position.get(name, len(position))
            title = f"column {name}" if isinstance(name, (int, np.integer)) else str(name)
            found.append(_Feature(at, title, [line[at] for line in values], evidence[:, :, j]))
    return sorted(found, key=lambda feature: feature.column)


def _split_words(columns: Columns, block: Sparse, evidence: Array, position: dict[Any, int]) -> list[_Feature]:
    """Return the words that occur in any of the rows, as features."""
    assert columns.codings is not None
    assert columns.names is not None
    words, name = columns.codings[0], columns.names[0]
    assert isinstance(words, Words)
    counts = block.matrix.toarray()
    at = position.get(name, len(position))
    return [
        _Feature(at, f"{name}: {words.labels[w]}", counts[:, w].tolist(), evidence[:, :, w])
        for w in np.flatnonzero(counts.any(axis=0)).tolist()
    ]


def format_probability(probability: float) -> str:
    """Return a probability in per cent; only 0 and 1 are printed as 0 % and 100 %.

    >>> [format_probability(p) for p in (0.8, 0.998, 0.99996, 0.0002, 1.0)]
    ['80 %', '99.8 %', '> 99.9 %', '< 0.1 %', '100 %']
    """
    if 0.999 < probability < 1 or 0 < probability < 0.001:
        return "> 99.9 %" if probability > 0.5 else "< 0.1 %"
    return f"{100 * probability:.1f}".removesuffix(".0") + " %"


def _subtract(mine: Array, other: Array) -> Array:
    """Return mine − other, and 0 where both are −∞."""
    both = np.isneginf(mine) & np.isneginf(other)
    return np.where(both, 0.0, mine - np.where(both, 0.0, other))


def _describe(name: str, value: Any, nats: float) -> str:
    """Return a contribution as a sentence names it."""
    if value is None and name == "(prior)":
        return "the class is common" if nats > 0 else "the class is rare"
    return f"{name} = {value:.6g}" if isinstance(value, (float, np.floating)) else f"{name} = {value}"
