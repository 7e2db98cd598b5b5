"""The waterfall plot of one prediction: from the prior to the log-odds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import BLUE, RED, axes_for, percent, plain
from suffice.plots.explained_row import clip_infinite, row_classes

if TYPE_CHECKING:
    from suffice.plots import Axes


def waterfall(
    explanation: Any,
    row: int = 0,
    label: Any = None,
    against: Any = None,
    most: int = 12,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the evidence of each feature leads from the prior to the log-odds of one row, strongest first.

    log P(label | x) − log P(against | x) = log-odds of the prior + Σⱼ evidence of feature j, in nats.

    Parameters
    ----------
    explanation : Explanation
        What ``model.explain(X)`` returns.
    row : int, default=0
        Row of the explanation.
    label : object, default=None
        Class that evidence speaks for; by default the most probable one.
    against : object, default=None
        Class to compare with; by default the most probable other one.
    most : int, default=12
        Number of features with a bar of their own; the others share one.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
    >>> ax = waterfall(model.explain([[0, 1]]))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['prior', 'column 0 = 0', 'column 1 = 1', 'log-odds']
    """
    mine, other = row_classes(explanation, row, label, against)
    label, against = explanation.classes[mine], explanation.classes[other]
    parts = explanation.log_odds(row, label, against)
    if most < 1:
        raise ValueError(f"most is the number of features with a bar, at least 1, not {most!r}")
    shown, rest = parts[: most + 1], parts[most + 1 :]
    names = ["prior", *(_name_with_value(name, value) for name, value, _ in shown[1:])]
    nats = [each for _, _, each in shown]
    if rest:
        names.append(f"{len(rest)} more")
        nats.append(float(sum(each for _, _, each in rest)))
    ax = axes_for(ax, (7.5, 1.4 + 0.3 * (len(nats) + 1)))
    total = float(sum(nats))
    drawn = clip_infinite(np.array(nats))
    ends = np.cumsum(drawn)
    starts = ends - drawn
    places = np.arange(len(nats))
    colours = [BLUE if each >= 0 else RED for each in nats]
    ax.barh(places, drawn, left=starts, color=colours, height=0.66)
    ax.vlines(ends, places, places + 1, color="0.5", linewidth=0.7)
    ax.barh(len(nats), ends[-1], color="0.35", height=0.66)
    # numbers are in a column of their own, where no bar covers them
    for place, each in enumerate([*nats, total]):
        ax.annotate(
            f"{each:+.2f}",
            (1.01, place),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize="small",
            fontweight="bold" if place == len(nats) else "normal",
        )
    ax.axvline(0, color="k", linewidth=0.8)
    ax.set_yticks(range(len(nats) + 1), [*names, "log-odds"], fontsize="small")
    ax.set_ylim(len(nats) + 0.6, -0.6)
    low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
    ax.set_xlim(low - 0.04 * (high - low + 1e-9), high + 0.04 * (high - low + 1e-9))
    share = percent(explanation.log_proba[row, mine])
    ax.set_xlabel(f"nats: right for {plain(label)}, left for {plain(against)}")
    ax.set_title(f"{plain(label)} with {share}, against {plain(against)}", fontsize="medium", loc="left")
    ax.grid(axis="x", alpha=0.3)
    return ax


def _name_with_value(name: str, value: Any) -> str:
    shown = f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)
    return f"{plain(name)} = {plain(shown, 18)}"
