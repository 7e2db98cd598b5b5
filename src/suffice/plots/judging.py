"""How good predictions are: a comparison, reliability, a stream, and what is taken for what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import BLUE, COLOURS, RED, Array, axes_for, check_fitted, plain

if TYPE_CHECKING:
    from suffice.plots import Axes


def ladder(table: Sequence[dict[str, Any]], ax: Axes | None = None) -> Axes:
    """Draw the log-loss of each model of a comparison, best at the top, with two standard errors to each side."""
    ax = axes_for(ax, (8, 1 + 0.32 * len(table)))
    places = np.arange(len(table))[::-1]
    for place, line in zip(places, table, strict=True):
        colour = RED if line["worse"] else BLUE
        ax.errorbar(line["log_loss"], place, xerr=2 * line["log_loss_se"], fmt="o", color=colour, capsize=3)
        ax.annotate(
            f"{100 * line['accuracy']:.1f} %",
            (1.01, place),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize="small",
        )
    ax.set_yticks(places, [plain(line["model"], 60) for line in table])
    ax.set_xlabel("log-loss of rows not learned (bars: two standard errors; right: accuracy)")
    ax.set_title("blue: no real difference from the best; red: worse", fontsize="small", loc="left")
    ax.margins(y=0.5 / max(len(table), 1))
    ax.grid(axis="x", alpha=0.3)
    return ax


def reliability(curves: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw how often what was said with probability p is right; on the diagonal it is in p of all cases."""
    found = {name: _curve(name, each) for name, each in _named(curves).items()}
    ax = axes_for(ax, (5, 5))
    ax.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--", label="as it should be")
    colours = (RED, BLUE, *(each for each in COLOURS if each not in (RED, BLUE))) * (1 + len(found) // len(COLOURS))
    for (name, its), colour in zip(found.items(), colours, strict=False):
        met = its.share > 0
        label = f"{plain(name)} (error {its.error:.3f})"
        ax.plot(its.confidence[met], its.accuracy[met], color=colour, linewidth=1, label=label)
        ax.scatter(its.confidence[met], its.accuracy[met], s=8 + 400 * its.share[met], color=colour, alpha=0.6)
    ax.set_xlabel("probability that was given")
    ax.set_ylabel("how often it was right (dots: how often it was given)")
    ax.set_aspect("equal")
    ax.legend(loc="upper left", fontsize="small")
    return ax


def _named(curves: Any) -> Mapping[str, Any]:
    """Return the curves by name; raise if they have no names."""
    if not isinstance(curves, Mapping):
        raise TypeError(f"reliability takes {{name: curve}}, not {type(curves).__name__}")
    return curves


def _curve(name: str, given: Any) -> Any:
    """Return a reliability curve, from one or from a fitted model with calibrated probabilities."""
    if all(hasattr(given, field) for field in ("share", "confidence", "accuracy")):
        return given
    if hasattr(given, "predict_proba"):
        check_fitted(given)
        if getattr(given, "calibration_", None) is None:
            raise ValueError(
                f"{name!r} is a model without calibration, which has no reliability curve; fit it with calibrate=…, "
                'such as calibrate="temperature", or pass suffice.decision.reliability.Reliability.of(confidence, right)'
            )
        return given.calibration_.reliability["after"]
    raise TypeError(f"{name!r} is a {type(given).__name__}; pass a reliability curve or a fitted model")


def over_time(rows: Any, accuracy: Any, ax: Axes | None = None) -> Axes:
    """Draw the accuracy of each batch of a stream, and that of all rows so far."""
    ax = axes_for(ax, (7, 4))
    rows, accuracy = np.asarray(rows, np.float64), np.asarray(accuracy, np.float64)
    seen = np.cumsum(rows)
    ax.plot(seen, accuracy, color=BLUE, linewidth=0.8, alpha=0.6, label="of the batch")
    ax.plot(seen, np.cumsum(accuracy * rows) / seen, color=RED, label="of all rows so far")
    ax.set_xlabel("rows")
    ax.set_ylabel("accuracy, before they are learned")
    ax.legend(loc="lower right", fontsize="small")
    ax.grid(alpha=0.3)
    return ax


def confusion(y_true: Any, said: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw what is taken for what: of the rows of each class, how many were said to be of each.

    ``said`` are labels, or a fitted model that is asked about the rows X. Colour is the share of the true class.

    >>> confusion(["a", "a", "b"], ["a", "b", "b"]).get_title(loc="left")
    '2 of 3 right (66.7 %)'
    """
    if hasattr(said, "predict"):
        if X is None:
            raise ValueError("confusion(y, model) needs the rows to ask the model about: confusion(y, model, X)")
        said = said.predict(X)
    elif X is not None:
        raise ValueError("confusion(y_true, labels) has no use for X: leave it out, or pass a model in place of labels")
    labels, counts = _counted(np.asarray(y_true).tolist(), np.asarray(said).tolist())
    size = len(labels)
    # of one or two classes the title is wider than the picture
    ax = axes_for(ax, (max(2.2 + 0.42 * size, 4.4), 2.0 + 0.38 * size))
    rows = counts.sum(axis=1, keepdims=True)
    shares = counts / np.where(rows > 0, rows, 1)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    small = 9 if size <= 12 else 6.5
    for (i, j), count in np.ndenumerate(counts):
        if count:
            ax.text(
                j, i, f"{count:g}", ha="center", va="center", fontsize=small, color="w" if shares[i, j] > 0.5 else "k"
            )
    names = [plain(label, 16) for label in labels]
    upright = max(map(len, names)) > 3
    ax.set_xticks(range(size), names, rotation=90 if upright else 0, fontsize=small)
    ax.set_yticks(range(size), names, fontsize=small)
    ax.set_xlabel("said")
    ax.set_ylabel("true")
    right, whole = float(np.trace(counts)), float(counts.sum())
    ax.set_title(f"{right:g} of {whole:g} right ({100 * right / whole:.1f} %)", fontsize="small", loc="left")
    return ax


def _counted(true: list[Any], said: list[Any]) -> tuple[list[Any], Array]:
    """Return all labels, sorted, and how often each was said of each, [true, said]."""
    if len(true) != len(said):
        raise ValueError(f"there are {len(true)} true labels and {len(said)} that were said; pass one of each a row")
    if not true:
        raise ValueError("there are no rows; pass at least one")
    labels = list({*true, *said})
    try:
        labels.sort()
    except TypeError:  # a label of another kind, such as the None of predict(reject_below=…)
        labels.sort(key=lambda label: (type(label).__name__, str(label)))
    place = {label: k for k, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)))
    np.add.at(counts, ([place[label] for label in true], [place[label] for label in said]), 1)
    return labels, counts
