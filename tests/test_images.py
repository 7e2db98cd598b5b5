"""Images: a slant is removed, and nothing else is changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.ndimage import affine_transform
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from suffice import GaussianDiscriminant
from suffice.images import Deskew, deskew

DIGITS, LABELS = load_digits(return_X_y=True)


def moments(images: Any) -> tuple[Any, Any, Any, Any]:
    """Mass, centre (x, y) and covariance of x and y of images [image, line, column], as sums over single pixels."""
    y, x = np.mgrid[: images.shape[1], : images.shape[2]]
    mass = images.sum(axis=(1, 2))
    mean_x, mean_y = ((images * each).sum(axis=(1, 2)) / mass for each in (x, y))
    away_x, away_y = x - mean_x[:, None, None], y - mean_y[:, None, None]
    return mass, mean_x, mean_y, (images * away_x * away_y).sum(axis=(1, 2)) / mass


def test_a_slanted_bar_becomes_upright() -> None:
    y, x = np.mgrid[:20, :30]
    bars = np.array([np.clip(2 - np.abs(x - 15 - slant * (y - 9.5)), 0, 1) for slant in (-0.5, 0.0, 0.3, 0.5)])
    found = deskew(bars.reshape(4, -1), (20, 30), center=False).reshape(bars.shape)
    np.testing.assert_allclose(found, np.broadcast_to(found[:, :1], found.shape), atol=0.2)  # all lines are alike
    np.testing.assert_allclose(found[1], bars[1], atol=1e-12)
    for before, after in zip(moments(bars)[:3], moments(found)[:3], strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-9)
    np.testing.assert_allclose(moments(found)[3], 0, atol=1e-9)


def test_digits_have_no_slant_where_no_pixel_leaves_the_image() -> None:
    wide = np.pad(DIGITS.reshape(-1, 8, 8), ((0, 0), (0, 0), (8, 8)))
    found = deskew(wide.reshape(len(wide), -1), (8, 24), center=False).reshape(wide.shape)
    assert np.abs(moments(wide)[3]).max() > 1
    np.testing.assert_allclose(moments(found)[3], 0, atol=1e-9)
    # scipy shears each image by the same map
    for image, mine in zip(wide[:20], found[:20], strict=True):
        (_, mean_x, mean_y, covariance), lines = moments(image[None]), np.arange(8)
        slant = covariance[0] / ((image * (lines - mean_y[0])[:, None] ** 2).sum() / image.sum())
        sheared = affine_transform(image, [[1, 0], [slant, 1]], [0, -slant * mean_y[0]], order=1)
        np.testing.assert_allclose(mine, sheared, atol=1e-9)
        assert abs(mean_x[0] - moments(mine[None])[1][0]) < 1e-9


def test_images_are_centred() -> None:
    room = np.pad(DIGITS.reshape(-1, 8, 8), ((0, 0), (4, 4), (8, 8)))
    found = deskew(room.reshape(len(room), -1), (16, 24)).reshape(room.shape)
    mass, mean_x, mean_y, covariance = moments(found)
    np.testing.assert_allclose(mass, room.sum(axis=(1, 2)))
    np.testing.assert_allclose(mean_x, 11.5)
    np.testing.assert_allclose(mean_y, 7.5)
    np.testing.assert_allclose(covariance, 0, atol=1e-9)


def test_images_without_a_slant_stay() -> None:
    line = np.zeros((3, 16))
    line[1, 4:8], line[2, 5] = 1.0, 2.0  # an empty image, a horizontal line, a point
    np.testing.assert_array_equal(deskew(line, center=False), line)
    np.testing.assert_array_equal(deskew(line[:1]), line[:1])


def test_types_and_pieces() -> None:
    assert deskew(DIGITS.astype(np.float32)).dtype == np.float32
    assert deskew(DIGITS.astype(np.uint8)).dtype == np.float64
    many = np.tile(DIGITS, (6, 1))  # more than one piece
    np.testing.assert_array_equal(deskew(many), np.tile(deskew(DIGITS), (6, 1)))


def test_it_is_a_transformer() -> None:
    names = [f"pixel {j}" for j in range(64)]
    model = Deskew().fit(pd.DataFrame(DIGITS, columns=names))
    assert model.get_feature_names_out().tolist() == names
    assert model.set_output(transform="pandas").transform(pd.DataFrame(DIGITS, columns=names)).columns.tolist() == names
    pipeline = make_pipeline(Deskew((8, 8)), GaussianDiscriminant(shrinkage=0.1)).fit(DIGITS[:1000], LABELS[:1000])
    assert pipeline.score(DIGITS[1000:], LABELS[1000:]) > 0.95


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_checks_of_an_estimator() -> None:
    """All pass but those whose tables are no images."""
    results = check_estimator(Deskew(), on_fail=None)
    assert sum(each["status"] == "passed" for each in results) >= 15
    for each in results:
        assert each["status"] != "failed" or "set shape=(height, width)" in str(each["exception"]), each


@pytest.mark.parametrize(
    ("images", "shape", "message"),
    [
        (np.ones((2, 12)), None, r"12 pixels, but they are not square; set shape=\(height, width\)"),
        (np.ones((2, 12)), (3, 5), r"12 pixels, but shape=\(3, 5\) has 15"),
        (np.ones((2, 12)), (-3, -4), r"shape=\(-3, -4\)"),
        (np.ones((2, 4, 3)), (4, 3), "dim 3"),
        (np.array([[1.0, np.nan, 0.0, 0.0]]), None, "NaN"),
    ],
    ids=str,
)
def test_what_is_no_image_is_an_error(images: Any, shape: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        deskew(images, shape)
    with pytest.raises(ValueError, match=message):
        Deskew(shape).fit(images)
