"""Explanations: the evidence before it is summed.

log p(x, class) = log P(class) + what each feature adds. An explanation is that sum, not yet added up, so it
cannot disagree with the prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.blocks import Block, Sparse
from suffice.families import FAMILIES
from suffice.model import Model
from suffice.schema import Array, Columns, Words

SPOKEN = 5  # features that a sentence names


@dataclass(frozen=True)
class Explanation:
    """Why a model says what it says of some rows.

    ``prior`` [class] and ``contributions`` [row, class, feature] add up to ``log_joint`` [row, class], log p(x,
    class). ``values`` are what the rows hold of the features; of a text each word is a feature.
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
        """Return the label that the row gets."""
        return self.classes[int(self.log_proba[row].argmax())]

    def log_odds(self, row: int = 0, label: Any = None, against: Any = None) -> list[tuple[str, Any, float]]:
        """Return what each feature says for a label and against another, in nats, the strongest first.

        By default for the most probable label, and against the next. The first entry is the prior's; all of
        them add up to log P(label given x) − log P(other given x), before calibration.
        """
        mine = self._code(self.most_probable(row) if label is None else label)
        other = self._next(row, mine) if against is None else self._code(against)
        with np.errstate(invalid="ignore"):
            nats = _difference(self.contributions[row, mine], self.contributions[row, other])
            first = float(_difference(self.prior[mine : mine + 1], self.prior[other : other + 1])[0])
        order = np.argsort(-np.abs(nats), kind="stable")
        parts = [(self.features[j], self.values[row][j], float(nats[j])) for j in order.tolist()]
        return [("(prior)", None, first), *parts]

    def sentence(self, row: int = 0, most: int = SPOKEN, label: Any = None) -> str:
        """Return the explanation of a row in plain words, by default of the most probable label.

        >>> from suffice import BernoulliNB
        >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
        >>> print(model.explain([[0, 1]]).sentence())
        'spam' with 64 %, rather than 'ham'. For it speak column 0 = 0 (+0.98), column 1 = 1 (+0.29); against it its
        rarity (-0.69). All in nats: they add up to +0.58.
        """
        label = self.most_probable(row) if label is None else label
        mine = self._code(label)
        if len(self.classes) == 1:
            return f"{label!r}: it is the only class."
        parts = self.log_odds(row, label)
        total = sum(nats for _, _, nats in parts)
        named = [(_said(name, value, nats), nats) for name, value, nats in parts if abs(nats) >= 0.005]
        sides = []
        for word, sign in (("For it speak", 1), ("against it", -1)):
            these = [f"{said} ({nats:+.2f})" for said, nats in named if sign * nats > 0]
            rest = f" and {len(these) - most} more" if len(these) > most else ""
            if these:
                sides.append(f"{word} {', '.join(these[:most])}{rest}")
        other = self._next(row, mine)
        # what is rounded to 1 is not certain as long as another class is possible
        most_sure = 1.0 if np.isneginf(self.log_proba[row, other]) else float(np.nextafter(1.0, 0.0))
        share = said_share(min(float(np.exp(self.log_proba[row, mine])), most_sure))
        head = f"{label!r} with {share}, rather than {self.classes[other]!r}"
        if not sides:
            return f"{head}. Nothing in this row speaks for one or the other."
        if np.isnan(total):  # ∞ − ∞
            return f"{head}. {'; '.join(sides)}. No class can have this row: how common they are is all that is left."
        mended = ", before calibration" if self._calibrated(row, mine, other, total) else ""
        return f"{head}. {'; '.join(sides)}. All in nats: they add up to {total:+.2f}{mended}."

    @property
    def importance(self) -> dict[str, float]:
        """How much each feature moves the log-odds of a class against the mean of all, on average over the rows."""
        finite = np.where(np.isfinite(self.contributions), self.contributions, 0.0)
        about = finite - finite.mean(axis=1, keepdims=True)
        weights = np.abs(about).mean(axis=(0, 1))
        order = np.argsort(-weights, kind="stable")
        return {self.features[j]: float(weights[j]) for j in order.tolist()}

    def _calibrated(self, row: int, mine: int, other: int, total: float) -> bool:
        """Say whether the probabilities are not those of the sums: they were mended after these were added up."""
        said = float(self.log_proba[row, mine]) - float(self.log_proba[row, other])
        return bool(np.isfinite(said) and np.isfinite(total) and not np.isclose(said, total, rtol=1e-6, atol=1e-6))

    def _code(self, label: Any) -> int:
        if label not in self.classes:
            raise ValueError(f"{label!r} is no class; there are {', '.join(map(repr, self.classes))}")
        return self.classes.index(label)

    def _next(self, row: int, mine: int) -> int:
        """Return the most probable class but for one."""
        others = [k for k in range(len(self.classes)) if k != mine]
        return max(others, key=lambda k: self.log_proba[row, k]) if others else mine


# a feature: the column it stands in, its name, what rows hold of it, and what it adds, [row, class]
Feature = tuple[int, str, list[Any], Array]


def explained(
    model: Model, blocks: tuple[Block, ...], names: Sequence[Any], values: Sequence[Sequence[Any]]
) -> tuple[list[str], list[list[Any]], Array]:
    """Return features in the order of columns, what rows hold of them, and what they add, [row, class, feature]."""
    found: list[Feature] = []
    place = {name: j for j, name in enumerate(names)}
    for columns, block, score in zip(model.columns, blocks, model.scores, strict=True):
        evidence = score.contributions(block)
        if isinstance(block, Sparse) and columns.codings is not None:
            found += _words(columns, block, evidence, place)
            continue
        for j in range(evidence.shape[-1]):
            name = j if columns.names is None else columns.names[j]
            at = place.get(name, len(place))
            found.append((at, _title(name), [line[at] for line in values], evidence[:, :, j]))
    found.sort(key=lambda entry: entry[0])
    if not found:  # of texts, no word is known
        return [], [[] for _ in values], np.zeros((blocks[0].shape[0], len(model.class_log_prior), 0))
    features = [title for _, title, _, _ in found]
    held = [list(line) for line in zip(*(column for _, _, column, _ in found), strict=True)]
    return features, held, np.stack([part for _, _, _, part in found], axis=-1)


def information(columns: Columns, statistic: Any) -> Array:
    """Return the mutual information I(column; class) in nats of each column, as its family defines it."""
    return FAMILIES[columns.family].information(columns, statistic)


def said_share(share: float) -> str:
    """Return a probability in words, without saying 100 % or 0 % of what is not: as a report says it.

    >>> said_share(0.8), said_share(0.998), said_share(0.99996), said_share(0.0002), said_share(1.0)
    ('80 %', '99.8 %', '> 99.9 %', '< 0.1 %', '100 %')
    """
    if 0.999 < share < 1 or 0 < share < 0.001:
        return "> 99.9 %" if share > 0.5 else "< 0.1 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def _words(columns: Columns, block: Sparse, evidence: Array, place: dict[Any, int]) -> list[Feature]:
    """Return the words that any of the rows has, as features."""
    assert columns.codings is not None
    assert columns.names is not None
    words, name = columns.codings[0], columns.names[0]
    assert isinstance(words, Words)
    counts = block.matrix.toarray()
    met = np.flatnonzero(counts.any(axis=0))
    at = place.get(name, len(place))
    return [(at, f"{name}: {words.labels[w]}", counts[:, w].tolist(), evidence[:, :, w]) for w in met.tolist()]


def _title(name: Any) -> str:
    return f"column {name}" if isinstance(name, (int, np.integer)) else str(name)


def _difference(mine: Array, other: Array) -> Array:
    """Return mine − other, where what is impossible on both sides says nothing."""
    both = np.isneginf(mine) & np.isneginf(other)
    return np.where(both, 0.0, mine - np.where(both, 0.0, other))


def _said(name: str, value: Any, nats: float) -> str:
    """Return a feature as a sentence names it."""
    if value is None and name == "(prior)":
        return "how common it is" if nats > 0 else "its rarity"
    if isinstance(value, (float, np.floating)):
        return f"{name} = {value:.6g}"
    return f"{name} = {value}"
