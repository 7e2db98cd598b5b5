"""Images whose pixels are columns: the mean of each class, and the evidence of each pixel."""

import re
from typing import Any

import numpy as np

from suffice.families import FAMILIES
from suffice.plots.canvas import Axes, axes_for, check_fitted, finish, plain
from suffice.plots.explained_rows import clip_infinite, compare_classes
from suffice.printable import signed
from suffice.schema import Array


def means(model: Any, shape: tuple[int, int] | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the mean of each class as an image whose pixels are the columns.

    The mean is the probability of a 1 (BernoulliNB), the mean of a Gaussian, the rate of a Poisson distribution, or the
    share of all counts (MultinomialNB).

    Parameters
    ----------
    model : classifier
        A fitted BernoulliNB, GaussianNB, PoissonNB, GaussianDiscriminant or MultinomialNB.
    shape : (height, width), default=None
        Shape of the image; by default a square.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from suffice import GaussianNB
    >>> ax = means(GaussianNB().fit(*load_digits(return_X_y=True)))
    >>> [text.get_text() for text in ax.texts][:3]
    ['0', '1', '2']
    """
    images, what = class_means(model)
    height, width = image_shape(images.shape[1], shape)
    if height * width != images.shape[1]:
        raise ValueError(f"shape={shape!r} has {height * width} pixels, and there are {images.shape[1]} columns")
    count = len(images)
    across = min(count, 5 if count <= 10 else int(np.ceil(np.sqrt(count * 1.6))))
    down, gap, above = -(-count // across), max(width // 8, 1), max(height // 4, 1)
    mosaic = np.full((down * (height + above), across * (width + gap) - gap), np.nan)
    ax = axes_for(ax, (1.3 * across + 0.9, 1.3 * down * (height + above) / (width + gap) + 0.5))
    for k, (label, image) in enumerate(zip(model.classes_.tolist(), images, strict=True)):
        top, left = (k // across) * (height + above) + above, (k % across) * (width + gap)
        mosaic[top : top + height, left : left + width] = image.reshape(height, width)
        ax.text(left + width / 2 - 0.5, top - 0.7, plain(label, 14), ha="center", va="bottom", fontsize=9)
    drawn = ax.imshow(mosaic, cmap="viridis")
    ax.axis("off")
    ax.figure.colorbar(drawn, ax=ax, shrink=0.8, label=what)
    return ax


def class_means(model: Any) -> tuple[Array, str]:
    """Return the estimated means [class, column], and what they are."""
    check_fitted(model)
    estimated = model.estimate_model() if hasattr(model, "estimate_model") else None
    if estimated is not None and len(estimated.parameters) == 1 and estimated.columns[0].sizes is None:
        parameters, family = estimated.parameters[0], FAMILIES[estimated.columns[0].family]
        for name in ("mean", "rate"):
            if hasattr(parameters, name):
                return np.asarray(getattr(parameters, name)), name
        # the score of a family that is not generative is not a probability
        if hasattr(parameters, "log_p") and family.generative is family:
            what = "share of all counts" if family.is_compositional else "probability of a 1"
            return np.exp(parameters.log_p), what
    raise ValueError(
        f"{type(model).__name__} has no means to draw as an image; use a fitted BernoulliNB, GaussianNB, PoissonNB, "
        "GaussianDiscriminant or MultinomialNB, or densities(model, column=…) for one column"
    )


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
    mine, other, nats = compare_classes(explanation, row, label, against)
    # columns without names have their places in their titles
    numbers = [re.fullmatch(r"column (\d+)", feature) for feature in explanation.features]
    places = [int(its[1]) for its in numbers if its] if all(numbers) else list(range(len(numbers)))
    shape = image_shape(max(places) + 1, shape)
    image = np.zeros(shape[0] * shape[1])
    image[places] = clip_infinite(nats)
    ax = axes_for(ax, (5.2, 4.4))
    widest = float(np.abs(image).max()) or 1.0
    drawn = ax.imshow(image.reshape(shape), cmap="RdBu", vmin=-widest, vmax=widest)
    ax.figure.colorbar(drawn, ax=ax, shrink=0.8, label="nats")
    ax.set(xticks=[], yticks=[])
    prior = float(explanation.prior[mine] - explanation.prior[other])
    title = f"{plain(explanation.classes[mine])} (blue) against {plain(explanation.classes[other])} (red)"
    return finish(ax, f"all pixels {signed(nats.sum())} nats, prior {signed(prior)}", title=title, size="medium")


def image_shape(count: int, shape: tuple[int, int] | None) -> tuple[int, int]:
    """Return the height and width of an image with this number of pixels; a square by default.

    >>> image_shape(64, None), image_shape(6, (2, 3))
    ((8, 8), (2, 3))
    """
    if shape is None:
        side = round(count**0.5)
        if side * side != count:
            raise ValueError(f"{count} columns do not make a square image; pass shape=(height, width)")
        return side, side
    height, width = shape
    if height * width < count:
        raise ValueError(f"shape={shape!r} has {height * width} pixels, and there are {count} columns")
    return int(height), int(width)
