"""The accuracy over the batches of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import BLUE, RED, axes_for

if TYPE_CHECKING:
    from suffice.plots import Axes


def over_time(rows: Any, accuracy: Any, ax: Axes | None = None) -> Axes:
    """Draw the accuracy of each batch of a stream, and the accuracy on all rows so far.

    Parameters
    ----------
    rows : array-like of shape (n_batches,)
        Number of rows of each batch.
    accuracy : array-like of shape (n_batches,)
        Accuracy on each batch, before it was learned.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> over_time([10, 30], [0.5, 0.9]).lines[1].get_ydata().tolist()
    [0.5, 0.8]
    """
    ax = axes_for(ax, (7, 4))
    rows, accuracy = np.asarray(rows, np.float64), np.asarray(accuracy, np.float64)
    seen = np.cumsum(rows)
    ax.plot(seen, accuracy, color=BLUE, linewidth=0.8, alpha=0.6, label="batch")
    ax.plot(seen, np.cumsum(accuracy * rows) / seen, color=RED, label="all rows so far")
    ax.set_xlabel("rows")
    ax.set_ylabel("accuracy before learning the batch")
    ax.legend(loc="lower right", fontsize="small")
    ax.grid(alpha=0.3)
    return ax
