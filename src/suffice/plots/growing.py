"""Learning curves: what more rows would buy."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import BLUE, ORANGE, Array, axes_for

if TYPE_CHECKING:
    from suffice.plots import Axes


@dataclass(frozen=True)
class Learning:
    """After how many rows (``sizes``) the accuracy was what, on rows held out and on those learned, [size, fold]."""

    sizes: Array
    held_out: Array
    learned: Array


def learning(model: Any, X: Any, y: Any, cv: int = 5, steps: int = 8) -> Learning:
    """Return the accuracy after growing parts of the rows, by folds.

    A tally is a sum, so each part is added to what is known (``partial_fit``) and nothing is learned twice.
    Models whose reading of the columns depends on the rows, and those without ``partial_fit``, learn each part anew.
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold
    from sklearn.utils import _safe_indexing

    labels = np.asarray(y)
    least = int(np.unique(labels, return_counts=True)[1].min())
    if not 2 <= cv <= least:
        raise ValueError(
            f"cv={cv} folds, and the rarest class has {least} rows: set cv from 2 to that, or leave the class out"
        )
    fewest = len(labels) - -(-len(labels) // cv)
    sizes = np.unique(np.geomspace(min(max(10, 2 * len(set(labels.tolist()))), fewest), fewest, steps).astype(int))
    held_out, learned = np.zeros((2, len(sizes), cv))
    folds = StratifiedKFold(cv, shuffle=True, random_state=0)
    for fold, (train, test) in enumerate(folds.split(np.zeros(len(labels)), labels)):
        train = _mixed(train, labels)
        kept, known = _safe_indexing(X, test), clone(model)
        for step, size in enumerate(sizes.tolist()):
            rows = train[:size]
            if _adds(model):
                new = train[sizes[step - 1] if step else 0 : size]
                known.partial_fit(_safe_indexing(X, new), labels[new], classes=np.unique(labels))
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # few rows leave columns constant: that is what is drawn
                    known = clone(model).fit(_safe_indexing(X, rows), labels[rows])
            held_out[step, fold] = known.score(kept, labels[test])
            learned[step, fold] = known.score(_safe_indexing(X, rows), labels[rows])
    return Learning(sizes, held_out, learned)


def learning_curve(model: Any, X: Any, y: Any, cv: int = 5, steps: int = 8, ax: Axes | None = None) -> Axes:
    """Draw the accuracy on rows held out, and on rows learned, against how many were learned."""
    found = learning(model, X, y, cv, steps)
    ax = axes_for(ax, (6, 4))
    for accuracy, colour, dashes, name in (
        (found.learned, ORANGE, "--", "of rows that were learned"),
        (found.held_out, BLUE, "-", f"of rows held out ({cv} folds)"),
    ):
        middle, spread = accuracy.mean(axis=1), accuracy.std(axis=1)
        ax.plot(found.sizes, middle, dashes, marker="o", markersize=4, color=colour, label=name)
        ax.fill_between(
            found.sizes, middle - spread, np.minimum(middle + spread, 1.0), color=colour, alpha=0.15, linewidth=0
        )
    ax.set_xscale("log")
    shown = found.sizes if len(found.sizes) <= 8 else found.sizes[:: len(found.sizes) // 6]
    ax.set_xticks(shown.tolist(), [f"{size:g}" for size in shown.tolist()])
    ax.minorticks_off()
    ax.set_xlabel("rows learned")
    ax.set_ylabel("accuracy")
    ax.set_title(f"{type(model).__name__} (bands: a standard deviation over folds)", fontsize="small", loc="left")
    ax.legend(loc="lower right", fontsize="small")
    ax.grid(alpha=0.3)
    return ax


def _adds(model: Any) -> bool:
    """Return whether learning in parts is learning all at once: columns of tables are planned by all rows."""
    plain = not hasattr(model, "families") and getattr(model, "calibrate", None) is None
    return plain and callable(getattr(type(model), "partial_fit", None))


def _mixed(rows: Array, labels: Array) -> Array:
    """Return the rows in random order, the first of each class in front: a model of one class tells nothing."""
    rows = np.random.default_rng(0).permutation(rows)
    first = np.unique(labels[rows], return_index=True)[1]
    return np.concatenate([rows[first], np.delete(rows, first)])
