"""The steps of Newton's method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import BLUE, RED, axes_for, check_fitted

if TYPE_CHECKING:
    from suffice.plots import Axes


def newton(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the steps of Newton's method: the loss above its minimum, and the largest entry of the gradient.

    Near the minimum each step doubles the number of correct digits, so that the lines fall ever more steeply.

    Parameters
    ----------
    model : LogisticRegression
        A fitted model.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> from suffice import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> newton(model).get_xlabel()
    'step'
    """
    check_fitted(model)
    trace = getattr(model, "trace_", None)
    if not isinstance(trace, tuple) or not trace or "objective" not in trace[0]:
        raise TypeError(f"Newton's steps are drawn of a fitted LogisticRegression, not of {type(model).__name__}")
    objective = np.array([line["objective"] for line in trace])
    gradient = np.array([line["gradient"] for line in trace])
    short = np.array([0 < line["step"] < 1 for line in trace])
    ax = axes_for(ax, (6, 4))
    steps = np.arange(len(trace))
    above = objective - objective.min()
    # below this the difference is rounding
    shown = above > 4 * np.finfo(np.float64).eps * np.abs(objective).max()
    ax.semilogy(steps, gradient, "o-", color=BLUE, label="largest entry of the gradient")
    ax.semilogy(steps[shown], above[shown], "s--", color=RED, label="loss above its minimum")
    if short.any():
        ax.semilogy(
            steps[short], gradient[short], "o", color="w", markeredgecolor=BLUE, label="followed by a shortened step"
        )
    ax.set_xticks(steps if len(steps) <= 15 else steps[:: len(steps) // 10])
    ax.set_xlabel("step")
    ax.set_title(f"{len(trace) - 1} steps to a loss of {objective[-1]:.6g}", fontsize="small", loc="left")
    ax.legend(fontsize="small")
    ax.grid(alpha=0.3)
    return ax
