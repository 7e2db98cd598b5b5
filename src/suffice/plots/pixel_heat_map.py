"""The evidence of each pixel of an image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import axes_for, plain
from suffice.plots.explained_row import clip_infinite, row_classes, row_nats

if TYPE_CHECKING:
    from suffice.plots import Axes


def heat_map(
    explanation: Any,
    shape: tuple[int, int] | None = None,
    row: int = 0,
    label: Any = None,
    against: Any = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the evidence of each pixel for one class against another as an image; left-out columns have none.

    Parameters
    ----------
    explanation : Explanation
        What ``model.explain(X)`` returns for rows whose columns are pixels.
    shape : (height, width), default=None
        Shape of the image; by default a square.
    row : int, default=0
        Row of the explanation.
    label, against : object, default=None
        The class whose evidence is shown and the class it is compared with; by default the two most probable ones.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0, 0, 1], [0, 1, 1, 0]], ["falling", "rising"])
    >>> heat_map(model.explain([[1, 0, 0, 1]])).get_title(loc="left")
    'falling (blue) against rising (red)'
    """
    mine, other = row_classes(explanation, row, label, against)
    label, against = explanation.classes[mine], explanation.classes[other]
    nats = row_nats(explanation, row, mine, other)
    places = _pixels(explanation.features)
    shape = image_shape(max(places) + 1, shape)
    image = np.zeros(shape[0] * shape[1])
    image[places] = clip_infinite(nats)
    ax = axes_for(ax, (5.2, 4.4))
    widest = float(np.abs(image).max()) or 1.0
    drawn = ax.imshow(image.reshape(shape), cmap="RdBu", vmin=-widest, vmax=widest)
    ax.figure.colorbar(drawn, ax=ax, shrink=0.8, label="nats")
    ax.set_xticks([])
    ax.set_yticks([])
    prior = float(explanation.prior[mine] - explanation.prior[other])
    ax.set_title(f"{plain(label)} (blue) against {plain(against)} (red)", fontsize="medium", loc="left")
    ax.set_xlabel(f"all pixels {nats.sum():+.2f} nats, prior {prior:+.2f}", fontsize="small")
    return ax


def _pixels(features: list[str]) -> list[int]:
    """Return the pixel of each feature: the number in its name, or its place among the features."""
    numbers = [re.fullmatch(r"column (\d+)", feature) for feature in features]
    if all(numbers):
        return [int(each.group(1)) for each in numbers if each is not None]
    return list(range(len(features)))


def image_shape(count: int, shape: tuple[int, int] | None) -> tuple[int, int]:
    """Return the height and width of an image with this number of pixels; a square by default.

    >>> image_shape(64, None), image_shape(6, (2, 3))
    ((8, 8), (2, 3))
    """
    if shape is None:
        side = round(count**0.5)
        if side * side != count:
            raise ValueError(f"{count} columns do not make a square image; say shape=(height, width)")
        return side, side
    height, width = shape
    if height * width < count:
        raise ValueError(f"shape={shape!r} has {height * width} pixels, and there are {count} columns")
    return int(height), int(width)
