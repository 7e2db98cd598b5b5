"""The mean of each class as an image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import Array, axes_for, check_fitted, plain
from suffice.plots.pixel_heat_map import image_shape

if TYPE_CHECKING:
    from suffice.plots import Axes


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
    down = -(-count // across)
    gap = max(width // 8, 1)
    above = max(height // 4, 1)
    mosaic = np.full((down * (height + above), across * (width + gap) - gap), np.nan)
    ax = axes_for(ax, (1.3 * across + 0.9, 1.3 * down * (height + above) / (width + gap) + 0.5))
    for k, image in enumerate(images):
        top, left = (k // across) * (height + above) + above, (k % across) * (width + gap)
        mosaic[top : top + height, left : left + width] = image.reshape(height, width)
        label = plain(model.classes_.tolist()[k], 14)
        ax.text(left + width / 2 - 0.5, top - 0.7, label, ha="center", va="bottom", fontsize=9)
    drawn = ax.imshow(mosaic, cmap="viridis")
    ax.axis("off")
    ax.figure.colorbar(drawn, ax=ax, shrink=0.8, label=what)
    return ax


def class_means(model: Any) -> tuple[Array, str]:
    """Return the means [class, column], and their name."""
    check_fitted(model)
    if hasattr(model, "theta_"):
        return np.asarray(model.theta_), "mean"
    if hasattr(model, "means_"):
        return np.asarray(model.means_), "mean"
    if hasattr(model, "rate_"):
        return np.asarray(model.rate_), "rate"
    found = getattr(model, "feature_log_prob_", None)
    if isinstance(found, np.ndarray) and not hasattr(model, "norm"):
        is_binary = hasattr(model, "binarize")
        return np.exp(found), "probability of a 1" if is_binary else "share of all counts"
    raise ValueError(
        f"{type(model).__name__} has no means to draw as an image; use a fitted BernoulliNB, GaussianNB, PoissonNB, "
        "GaussianDiscriminant or MultinomialNB, or densities(model, column=…) for one column"
    )
