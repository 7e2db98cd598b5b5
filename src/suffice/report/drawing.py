"""How images are drawn: their size, position, ink and slant, so that a page can prepare a drawing like them."""

from typing import Any

import numpy as np

from suffice.schema import Array

VISIBLE = 0.1  # of the darkest pixel
MAX_SLANT_DEVIATION, MAX_CENTRE_DEVIATION = 0.02, 0.025  # the latter of the side of an image


def measure_drawing(images: Array) -> dict[str, Any]:
    """Return the typical size, centre and ink of square images [image, pixel], whose background is 0.

    ``height`` and ``width`` are in pixels, ``ink`` is the mean sum of the pixels, each from 0 to 1. Images are centred
    if their centres of mass are about the same, and straight if their pixels have no covariance of x and y, as
    `suffice.images.deskew` makes them.
    """
    side = int(np.sqrt(images.shape[1]))
    images = np.maximum(np.nan_to_num(images), 0.0).reshape(-1, side, side)
    darkest = float(np.quantile(images, 0.99)) or float(images.max(initial=0.0))
    images = np.minimum(images / (darkest or 1.0), 1.0)
    images = images[images.any(axis=(1, 2))]
    found = {"height": 0.8 * side, "width": 0.8 * side, "ink": 0.2 * side * side, "x": side / 2, "y": side / 2}
    if not len(images):
        return found | {"is_centred": False, "is_straight": False, "darkest": darkest}
    places, mass = np.arange(side), images.sum(axis=(1, 2))
    x, y = images.sum(axis=1) @ places / mass, images.sum(axis=2) @ places / mass
    below = places - y[:, None]
    covariance = ((images @ places) * below).sum(axis=1)
    slant = covariance / np.maximum((images.sum(axis=2) * below**2).sum(axis=1), 1e-9)
    is_centred = max(x.std(), y.std()) < MAX_CENTRE_DEVIATION * side
    rows, columns = _spans(images.max(axis=2)), _spans(images.max(axis=1))
    return {
        "height": float(np.median(rows)),
        "width": float(np.quantile(columns, 0.99)),
        "ink": float(mass.mean()),
        "x": float(np.median(x) + 0.5),
        "y": float(np.median(y) + 0.5),
        "is_centred": bool(is_centred),
        "is_straight": bool(is_centred and slant.std() < MAX_SLANT_DEVIATION),
        "darkest": darkest,
    }


def _spans(ink: Array) -> Array:
    """Return the number of pixels from the first to the last visible one of each line."""
    visible = ink > VISIBLE
    return np.asarray(ink.shape[1] - visible.argmax(axis=1) - visible[:, ::-1].argmax(axis=1))
