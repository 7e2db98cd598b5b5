"""Plots with matplotlib. Each function returns the Axes that it has drawn on.

`points` returns the numbers of a nomogram, and `learning` those of a learning curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # for the annotations of the other files

    from suffice.plots.class_densities import densities
    from suffice.plots.class_means import means
    from suffice.plots.confusion_matrix import confusion
    from suffice.plots.decision_boundary import boundary
    from suffice.plots.dependency_tree import tree
    from suffice.plots.learning_curves import learning, learning_curve
    from suffice.plots.marked_words import marked_text
    from suffice.plots.model_comparison import ladder
    from suffice.plots.newton_steps import newton
    from suffice.plots.nomogram_drawing import nomogram
    from suffice.plots.nomogram_points import Points, Scale
    from suffice.plots.nomogram_scales import points
    from suffice.plots.pixel_heat_map import heat_map
    from suffice.plots.posteriors import belief
    from suffice.plots.reliability_diagram import reliability
    from suffice.plots.stream_accuracy import over_time
    from suffice.plots.waterfall_plot import waterfall

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

# Each plot is imported when it is first used: its file takes colours and Axes from here. No file has the name of its
# function, because importing a submodule sets an attribute of that name.
_HOMES = {
    "class_densities": ("densities",),
    "class_means": ("means",),
    "confusion_matrix": ("confusion",),
    "decision_boundary": ("boundary",),
    "dependency_tree": ("tree",),
    "learning_curves": ("learning", "learning_curve"),
    "marked_words": ("marked_text",),
    "model_comparison": ("ladder",),
    "newton_steps": ("newton",),
    "nomogram_drawing": ("nomogram",),
    "pixel_heat_map": ("heat_map",),
    "posteriors": ("belief",),
    "reliability_diagram": ("reliability",),
    "nomogram_scales": ("points",),
    "stream_accuracy": ("over_time",),
    "nomogram_points": ("Points", "Scale"),
    "waterfall_plot": ("waterfall",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

Array = npt.NDArray[Any]

# Colours of Okabe and Ito, which can be told apart without seeing red and green.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
# Grey replaces their yellow, which is hardly visible on white.
SKY, PURPLE, GREY, BLACK = "#56B4E9", "#CC79A7", "#8C8C8C", "#000000"
COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK, GREY)
DASHES = ("-", "--", ":", "-.")  # for more classes than colours


def plain(name: Any, most: int = 28) -> str:
    r"""Return a name on one line, shortened, and with $ escaped, which matplotlib would read as mathematics.

    >>> plain("_cost in $")
    ' _cost in \\$'
    """
    words = shortened(" ".join(str(name).split()), most)
    # a legend omits labels that start with _
    return (" " if words.startswith("_") else "") + words.replace("$", r"\$")


def shortened(words: str, most: int) -> str:
    """Return long text without its middle: names often differ at the end.

    >>> shortened("class number 07", 10), shortened("short", 10)
    ('class…r 07', 'short')
    """
    end = (most - 1) // 2
    return words if len(words) <= most else f"{words[: most - 1 - end]}…{words[len(words) - end :]}"


def percent(log_share: float) -> str:
    """Return a probability, given by its logarithm, as text; 100 % and 0 % mean exactly that.

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
    """Return the colour and the dashes of the class at a place; the first 32 are distinct."""
    return COLOURS[place % len(COLOURS)], DASHES[place // len(COLOURS) % len(DASHES)]


def axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the Axes given, or new ones."""
    return ax if ax is not None else axes_beside(None, 1, size)[0]


def axes_beside(ax: Any, count: int, size: tuple[float, float]) -> list[Axes]:
    """Return the Axes given, one for each of several plots, or new ones side by side."""
    if ax is not None:
        given = list(np.ravel(np.asarray(ax, object)))
        if len(given) != count:
            raise ValueError(f"ax has {len(given)} Axes, and there are {count} plots; pass {count}, or none")
        return given
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'suffice[plots]'") from None
    wide, high = size
    made = plt.subplots(1, count, figsize=(wide * count, high), layout="constrained", squeeze=False)
    return list(made[1].ravel())


def check_fitted(model: Any) -> None:
    """Raise NotFittedError of scikit-learn if this is an estimator that is not fitted."""
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, type) and hasattr(model, "fit"):
        raise TypeError(f"{model.__name__} is a class; pass a fitted model: {model.__name__}().fit(X, y)")
    if hasattr(model, "fit"):
        check_is_fitted(model)


def legend_beside(ax: Axes, title: str | None = None, markerscale: float = 1.0) -> None:
    """Draw the legend to the right of a plot, where it hides nothing."""
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


def class_pair(classes: Sequence[Any], label: Any, against: Any, scores: Array) -> tuple[int, int]:
    """Return the places of two classes that are compared; by default those with the highest scores."""
    known = list(classes)
    if len(known) < 2:
        raise ValueError(
            f"there is one class only, {known[0]!r}, and nothing to compare it with; fit rows of another class"
        )
    for name in (label, against):
        if name is not None and name not in known:
            raise ValueError(f"{name!r} is not a class; there are {', '.join(map(repr, known))}")
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
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
