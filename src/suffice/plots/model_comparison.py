"""The plot of a comparison of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import BLUE, RED, axes_for, plain

if TYPE_CHECKING:
    from suffice.plots import Axes


def ladder(table: Sequence[dict[str, Any]], ax: Axes | None = None) -> Axes:
    """Draw the log-loss of each model of a comparison, best at the top, with two standard errors to each side.

    Parameters
    ----------
    table : list of dict
        The rows of ``compare(…).table``, with keys "model", "log_loss", "log_loss_se", "accuracy" and "worse".
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> line = {"model": "GaussianNB", "log_loss": 0.1, "log_loss_se": 0.02, "accuracy": 0.95, "worse": False}
    >>> [tick.get_text() for tick in ladder([line]).get_yticklabels()]
    ['GaussianNB']
    """
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
    ax.set_xlabel("log-loss on held-out rows (bars: ± 2 standard errors; right: accuracy)")
    ax.set_title("blue: no significant difference from the best; red: worse", fontsize="small", loc="left")
    ax.margins(y=0.5 / max(len(table), 1))
    ax.grid(axis="x", alpha=0.3)
    return ax
