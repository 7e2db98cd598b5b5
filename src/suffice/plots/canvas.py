"""What all plots share: colours, names as text, Axes, labels and legends."""

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.explain import choose_classes, format_probability
from suffice.schema import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:  # matplotlib is imported when the first plot is drawn
    Axes = Any

# Blue and red are those of the report, the others are of Okabe and Ito. They can be told apart without seeing red and
# green, because they differ in lightness.
BLUE, ORANGE, GREEN, RED = "#2F61BA", "#E69F00", "#009E73", "#B5501F"
# Grey replaces their yellow, which is hardly visible on white.
SKY, PURPLE, GREY, BLACK = "#56B4E9", "#CC79A7", "#8C8C8C", "#000000"
COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK, GREY)
DASHES = ("-", "--", ":", "-.")  # for more classes than colours


def plain(name: Any, most: int = 28) -> str:
    r"""Return a name on one line, and with $ escaped, which matplotlib would read as mathematics.

    A long name loses its middle, because names often differ at the end.

    >>> plain("_cost in $"), plain("class number 07", 10)
    (' _cost in \\$', 'class…r 07')
    """
    words, end = " ".join(str(name).split()), (most - 1) // 2
    if len(words) > most:
        words = f"{words[: most - 1 - end]}…{words[len(words) - end :]}"
    # a legend omits labels that start with _
    return (" " if words.startswith("_") else "") + words.replace("$", r"\$")


def percent(log_share: float) -> str:
    """Return a probability, given by its logarithm, as text; 100 % and 0 % mean exactly that.

    >>> percent(np.log(0.64)), percent(-1e-9), percent(-30.0)
    ('64 %', '> 99.9 %', '< 0.1 %')
    """
    if log_share == -np.inf:
        return format_probability(0.0)
    highest = 1.0 if log_share == 0 else float(np.nextafter(1.0, 0.0))
    return format_probability(float(np.clip(np.exp(log_share), np.nextafter(0.0, 1.0), highest)))


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


def finish(
    ax: Axes, x: str = "", y: str = "", title: str = "", *, grid: Any = None, legend: Any = None, size: str = "small"
) -> Axes:
    """Add labels, a title, a grid ("x" or "both") and a legend at a place, and return the Axes."""
    ax.set(xlabel=x, ylabel=y)
    ax.set_title(title, fontsize=size, loc="left")
    if grid:
        ax.grid(axis=grid, alpha=0.3)
    if legend:
        ax.legend(loc=legend, fontsize="small")
    return ax


def write_beside(ax: Axes, place: float, text: str, weight: str = "normal") -> None:
    """Write a text to the right of a plot, where nothing covers it, at a place of its vertical axis."""
    at = ("axes fraction", "data")
    ax.annotate(text, (1.01, place), xycoords=at, va="center", fontsize="small", fontweight=weight)


def legend_beside(ax: Axes, title: str | None = None, markerscale: float = 1.0) -> None:
    """Draw the legend to the right of a plot, where it hides nothing."""
    count = len(ax.get_legend_handles_labels()[1])
    size: Any = "small" if count <= 8 else "x-small" if count <= 24 else 5.5
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0}
    ax.legend(fontsize=size, ncols=1 + count // 36, title=title, markerscale=markerscale, **place)


def check_fitted(model: Any) -> None:
    """Raise NotFittedError of scikit-learn if this is an estimator that is not fitted."""
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, type) and hasattr(model, "fit"):
        raise TypeError(f"{model.__name__} is a class; pass a fitted model: {model.__name__}().fit(X, y)")
    if hasattr(model, "fit"):
        check_is_fitted(model)


def count_rows(X: Any) -> int:
    """Return the number of rows of a list, an array, a sparse matrix or a data frame."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def choose_two_classes(classes: list[Any], label: Any, against: Any, scores: Array) -> tuple[int, int]:
    """Return the places of two different classes that are compared; by default those with the highest scores."""
    if len(classes) < 2:
        raise ValueError(
            f"there is one class only, {classes[0]!r}, and nothing to compare it with; fit rows of another class"
        )
    mine, other = choose_classes(classes, label, against, scores)
    if mine == other:
        raise ValueError(f"label and against are both {classes[mine]!r}; name two classes")
    return mine, other
