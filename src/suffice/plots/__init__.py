"""Pictures, of matplotlib: each function returns the Axes it has drawn on.

What a picture shows as numbers can be had as numbers: `points` of a nomogram, `learning` of a learning curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # a name for files of pictures, which are typed with it

    from suffice.plots.areas import boundary
    from suffice.plots.beliefs import belief
    from suffice.plots.classes import densities, means
    from suffice.plots.evidence import heat_map, marked_text, waterfall
    from suffice.plots.graphs import newton, tree
    from suffice.plots.growing import learning, learning_curve
    from suffice.plots.judging import confusion, ladder, over_time, reliability
    from suffice.plots.nomograms import nomogram
    from suffice.plots.scales import points
    from suffice.plots.totals import Points, Scale

__all__ = [
    "Points",
    "Scale",
    "belief",
    "boundary",
    "confusion",
    "densities",
    "heat_map",
    "ladder",
    "learning",
    "learning_curve",
    "marked_text",
    "means",
    "newton",
    "nomogram",
    "over_time",
    "points",
    "reliability",
    "tree",
    "waterfall",
]

# Each file of pictures takes its colours and Axes from here, so it is imported when it is first asked for.
_HOMES = {
    "areas": ("boundary",),
    "beliefs": ("belief",),
    "classes": ("densities", "means"),
    "evidence": ("heat_map", "marked_text", "waterfall"),
    "graphs": ("newton", "tree"),
    "judging": ("confusion", "ladder", "over_time", "reliability"),
    "growing": ("learning", "learning_curve"),
    "nomograms": ("nomogram",),
    "scales": ("points",),
    "totals": ("Points", "Scale"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

Array = npt.NDArray[Any]

# Okabe and Ito's colours, which people who see red and green alike can tell apart.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
# Grey stands for their yellow, of which a line is hardly seen on white.
SKY, PURPLE, GREY, BLACK = "#56B4E9", "#CC79A7", "#8C8C8C", "#000000"
COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK, GREY)
DASHES = ("-", "--", ":", "-.")  # tell apart what colours alone no longer do


def plain(name: Any, most: int = 28) -> str:
    r"""Return a name as matplotlib shows it as it is: one line, not too long, and no $ read as mathematics.

    >>> plain("_cost in $")
    ' _cost in \\$'
    """
    words = shortened(" ".join(str(name).split()), most)
    # a legend leaves out what starts with _
    return (" " if words.startswith("_") else "") + words.replace("$", r"\$")


def shortened(words: str, most: int) -> str:
    """Return words without their middle, if they are long: what tells names apart is often at the end.

    >>> shortened("class number 07", 10), shortened("short", 10)
    ('class…r 07', 'short')
    """
    end = (most - 1) // 2
    return words if len(words) <= most else f"{words[: most - 1 - end]}…{words[len(words) - end :]}"


def percent(log_share: float) -> str:
    """Return a probability, given by its logarithm, without saying 100 % or 0 % of what is not.

    >>> percent(np.log(0.64)), percent(-1e-9), percent(-30.0)
    ('64 %', 'more than 99.99 %', 'less than 0.01 %')
    """
    share = float(np.exp(log_share))
    if log_share == -np.inf:
        return "0 %"
    if not 1e-4 <= share <= 1 - 1e-4:
        return "more than 99.99 %" if share > 0.5 else "less than 0.01 %"
    return f"{100 * share:.4g} %"


def style(place: int) -> tuple[str, str]:
    """Return the colour and the dashes of the class at a place, no two alike among the first 32."""
    return COLOURS[place % len(COLOURS)], DASHES[place // len(COLOURS) % len(DASHES)]


def axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the Axes given, or new ones."""
    return ax if ax is not None else axes_beside(None, 1, size)[0]


def axes_beside(ax: Any, count: int, size: tuple[float, float]) -> list[Axes]:
    """Return the Axes given, one for each of several pictures, or new ones side by side."""
    if ax is not None:
        given = list(np.ravel(np.asarray(ax, object)))
        if len(given) != count:
            raise ValueError(f"ax has {len(given)} Axes, and {count} pictures are to be drawn; pass {count}, or none")
        return given
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install 'suffice[plots]'") from None
    wide, high = size
    made = plt.subplots(1, count, figsize=(wide * count, high), layout="constrained", squeeze=False)
    return list(made[1].ravel())


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's NotFittedError if this is an estimator that has not learned anything yet."""
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, type) and hasattr(model, "fit"):
        raise TypeError(f"{model.__name__} is a class; pass a fitted model: {model.__name__}().fit(X, y)")
    if hasattr(model, "fit"):
        check_is_fitted(model)


def legend_beside(ax: Axes, title: str | None = None, markerscale: float = 1.0) -> None:
    """Draw the legend to the right of a picture: on it, it would hide what it is about."""
    count = len(ax.get_legend_handles_labels()[1])
    ax.legend(
        fontsize="small" if count <= 8 else "x-small" if count <= 24 else 5.5,
        loc="upper left",
        bbox_to_anchor=(1.01, 1),
        borderaxespad=0,
        ncols=1 + count // 36,
        title=title,
        markerscale=markerscale,
    )


def class_places(classes: Sequence[Any], label: Any, against: Any, scores: Array) -> tuple[int, int]:
    """Return the places of a label and of the one it is held against: where not said, those of the highest scores."""
    known = list(classes)
    if len(known) < 2:
        raise ValueError(f"there is one class only, {known[0]!r}: nothing to tell it from; learn rows of another")
    for name in (label, against):
        if name is not None and name not in known:
            raise ValueError(f"{name!r} is no class; there are {', '.join(map(repr, known))}")
    order = np.argsort(-scores, kind="stable").tolist()
    other = None if against is None else known.index(against)
    mine = next(k for k in order if k != other) if label is None else known.index(label)
    other = next(k for k in order if k != mine) if other is None else other
    if mine == other:
        raise ValueError(f"label and against are both {known[mine]!r}; name two classes")
    return mine, other


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'suffice.plots' has no attribute {name!r}")
    value = getattr(import_module(f"suffice.plots.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
