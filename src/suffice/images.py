"""Images: flat arrays of pixels, straightened before a model learns them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, validate_data

from suffice.schema import Array

# Images are read in pieces of this many pixels, which stay in the cache.
PIECE = 1 << 19


def deskew(X: Any, shape: tuple[int, int] | None = None, *, center: bool = True) -> Array:
    """Return images without their slant, with the centre of mass in the centre of the image.

    Each line is moved sideways by slant·(y − ȳ), where slant = Σ p·(x − x̄)(y − ȳ) / Σ p·(y − ȳ)², p is the value of the
    pixel in column x and line y, and x̄, ȳ is the centre of mass. Between pixels, values are interpolated linearly. So
    afterwards the covariance of x and y is 0, unless pixels were moved out of the image.

    Parameters
    ----------
    X : array-like of shape (n_images, n_pixels)
        The images, line after line. The background is 0; a pixel below 0 counts as 0 in the sums above.
    shape : (height, width), default=None
        The shape of an image; None if images are square.
    center : bool, default=True
        Whether the centre of mass is moved to the centre of the image.

    Returns
    -------
    deskewed : array of shape (n_images, n_pixels)
        Of type float32 if X is, else of float64. An empty image stays as it is.

    Examples
    --------
    >>> slanted = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    >>> deskew(np.ravel(slanted)[None]).reshape(3, 3).tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """
    images: Array = check_array(X, dtype=[np.float64, np.float32])
    height, width = _check_shape(shape, images.shape[1])
    found = np.empty_like(images)
    step = max(PIECE // images.shape[1], 1)
    for first in range(0, len(images), step):
        piece = images[first : first + step].reshape(-1, height, width)
        found[first : first + step] = _straighten(piece, center).reshape(len(piece), -1)
    return found


class Deskew(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transformer that removes the slant of images, as `deskew` does; it learns nothing.

    Parameters
    ----------
    shape : (height, width), default=None
        The shape of an image; None if images are square.
    center : bool, default=True
        Whether the centre of mass is moved to the centre of the image.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from suffice import GaussianDiscriminant
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_pipeline(Deskew(), GaussianDiscriminant(shrinkage=0.1)).fit(X[:1000], y[:1000])
    >>> round(model.score(X[1000:], y[1000:]), 2)
    0.97
    """

    def __init__(self, shape: tuple[int, int] | None = None, *, center: bool = True) -> None:
        self.shape = shape
        self.center = center

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that the rows are images of the shape.

        Parameters
        ----------
        X : array-like of shape (n_images, n_pixels)
            The images.
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        _check_shape(self.shape, validate_data(self, X, dtype=[np.float64, np.float32]).shape[1])
        return self

    def transform(self, X: Any) -> Array:
        """Return the images without their slant.

        Parameters
        ----------
        X : array-like of shape (n_images, n_pixels)
            The images.

        Returns
        -------
        deskewed : array of shape (n_images, n_pixels)
        """
        images = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return deskew(images, self.shape, center=self.center)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _check_shape(shape: tuple[int, int] | None, pixels: int) -> tuple[int, int]:
    """Return height and width of images; raise if they do not have this number of pixels."""
    side = round(pixels**0.5)
    height, width = (side, side) if shape is None else shape
    if height < 1 or width < 1 or height * width != pixels:
        told = "they are not square" if shape is None else f"shape={shape!r} has {height * width}"
        raise ValueError(f"images have {pixels} pixels, but {told}; set shape=(height, width)")
    return int(height), int(width)


def _straighten(images: Array, center: bool) -> Array:
    """Return images [image, line, column] without their slant."""
    _, height, width = images.shape
    x, y = np.arange(width), np.arange(height)
    if center:
        mass, mean = _centre(images.transpose(0, 2, 1))
        moved = np.where(mass > 0, mean - (height - 1) / 2, 0.0)
        images = _move_lines(images.transpose(0, 2, 1), moved[:, None]).transpose(0, 2, 1)
    mass, mean = _centre(images)
    lines = np.maximum(images, 0).sum(axis=2, dtype=np.float64)
    below = y - _divide(lines @ y, mass)[:, None]
    # Σ p·(x − x̄)(y − ȳ) = Σ p·x·(y − ȳ), because Σ p·(y − ȳ) = 0
    covariance = ((np.maximum(images, 0) @ x.astype(np.float64)) * below).sum(axis=1)
    shift = _divide(covariance, (lines * below**2).sum(axis=1))[:, None] * below
    return _move_lines(images, shift + np.where((mass > 0) & center, mean - (width - 1) / 2, 0.0)[:, None])


def _centre(images: Array) -> tuple[Array, Array]:
    """Return the mass of images [image, line, column], and the mean column of their mass."""
    columns = np.maximum(images, 0).sum(axis=1, dtype=np.float64)
    mass = columns.sum(axis=1)
    return mass, _divide(columns @ np.arange(images.shape[2]), mass)


def _divide(values: Array, by: Array) -> Array:
    """Return the quotient, 0 where the divisor is 0."""
    return np.divide(values, by, out=np.zeros(len(values)), where=by > 0)


def _move_lines(images: Array, shift: Array) -> Array:
    """Return images whose lines are moved to the left by a number of pixels, [image, line] or [image, 1]."""
    width = images.shape[2]
    whole = np.floor(shift)
    part = (shift - whole).astype(images.dtype)[:, :, None]
    left = np.arange(width) + np.clip(whole, -width - 1, width)[:, :, None].astype(np.intp)
    return np.asarray((1 - part) * _pixels(images, left) + part * _pixels(images, left + 1))


def _pixels(images: Array, columns: Array) -> Array:
    """Return the pixels of each line in these columns; 0 outside of the image."""
    width = images.shape[2]
    inside = (columns >= 0) & (columns < width)
    columns = np.broadcast_to(np.clip(columns, 0, width - 1), images.shape)
    return np.asarray(np.take_along_axis(images, columns, axis=2) * inside)
