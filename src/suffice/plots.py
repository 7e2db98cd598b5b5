"""Pictures, of matplotlib: each function returns the Axes it has drawn on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which people who see red and green alike can tell apart.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"


def ladder(table: Sequence[dict[str, Any]], ax: Axes | None = None) -> Axes:
    """Draw the log-loss of each model of a comparison, best at the top, with two standard errors to each side."""
    ax = _axes(ax, (8, 1 + 0.32 * len(table)))
    places = np.arange(len(table))[::-1]
    for place, line in zip(places, table, strict=True):
        colour = RED if line["worse"] else BLUE
        ax.errorbar(line["log_loss"], place, xerr=2 * line["log_loss_se"], fmt="o", color=colour, capsize=3)
        ax.annotate(
            f"{line['accuracy']:.1%}", (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize="small"
        )
    ax.set_yticks(places, [line["model"] for line in table])
    ax.set_xlabel("log-loss of rows not learned (bars: two standard errors; right: accuracy)")
    ax.set_title("blue: no real difference from the best; red: worse", fontsize="small", loc="left")
    ax.margins(y=0.5 / max(len(table), 1))
    ax.grid(axis="x", alpha=0.3)
    return ax


def reliability(curves: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw how often what was said with probability p is right; on the diagonal it is in p of all cases."""
    ax = _axes(ax, (5, 5))
    ax.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--", label="as it should be")
    for (name, its), colour in zip(curves.items(), (RED, BLUE, GREEN, ORANGE) * len(curves), strict=False):
        met = its.share > 0
        label = f"{name} (error {its.error:.3f})"
        ax.plot(its.confidence[met], its.accuracy[met], color=colour, linewidth=1, label=label)
        ax.scatter(its.confidence[met], its.accuracy[met], s=8 + 400 * its.share[met], color=colour, alpha=0.6)
    ax.set_xlabel("probability that was given")
    ax.set_ylabel("how often it was right (dots: how often it was given)")
    ax.set_aspect("equal")
    ax.legend(loc="upper left", fontsize="small")
    return ax


def over_time(rows: Any, accuracy: Any, ax: Axes | None = None) -> Axes:
    """Draw the accuracy of each batch of a stream, and that of all rows so far."""
    ax = _axes(ax, (7, 4))
    seen = np.cumsum(rows)
    ax.plot(seen, accuracy, color=BLUE, linewidth=0.8, alpha=0.6, label="of the batch")
    ax.plot(seen, np.cumsum(accuracy * rows) / seen, color=RED, label="of all rows so far")
    ax.set_xlabel("rows")
    ax.set_ylabel("accuracy, before they are learned")
    ax.legend(loc="lower right", fontsize="small")
    ax.grid(alpha=0.3)
    return ax


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the Axes given, or new ones."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install 'suffice[plots]'") from None
    return plt.subplots(figsize=size, layout="constrained")[1]
