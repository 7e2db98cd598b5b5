"""The reliability diagram: whether probabilities are calibrated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from suffice.plots import BLUE, COLOURS, RED, axes_for, check_fitted, plain

if TYPE_CHECKING:
    from suffice.plots import Axes


def reliability(curves: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw the reliability diagram: the accuracy of predictions against the probability that they were given.

    On the diagonal, predictions with probability p are correct in a share p of all cases.

    Parameters
    ----------
    curves : dict of str to Reliability or classifier
        Reliability curves by name, such as ``model.calibration_.reliability``; or classifiers fitted with
        ``calibrate=…``, whose curve after calibration is drawn.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB
    >>> model = GaussianNB(calibrate="temperature").fit(*load_iris(return_X_y=True))
    >>> len(reliability(model.calibration_.reliability).lines)
    3
    """
    found = {name: _curve(name, each) for name, each in _named(curves).items()}
    ax = axes_for(ax, (5, 5))
    ax.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--", label="perfectly calibrated")
    colours = (RED, BLUE, *(each for each in COLOURS if each not in (RED, BLUE))) * (1 + len(found) // len(COLOURS))
    for (name, its), colour in zip(found.items(), colours, strict=False):
        used = its.share > 0
        label = f"{plain(name)} (error {its.error:.3f})"
        ax.plot(its.confidence[used], its.accuracy[used], color=colour, linewidth=1, label=label)
        ax.scatter(its.confidence[used], its.accuracy[used], s=8 + 400 * its.share[used], color=colour, alpha=0.6)
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("accuracy (area of dots: share of predictions)")
    ax.set_aspect("equal")
    ax.legend(loc="upper left", fontsize="small")
    return ax


def _named(curves: Any) -> Mapping[str, Any]:
    """Return the curves by name; raise if they have no names."""
    if not isinstance(curves, Mapping):
        raise TypeError(f"reliability takes {{name: curve}}, not {type(curves).__name__}")
    return curves


def _curve(name: str, given: Any) -> Any:
    """Return a reliability curve, from one or from a fitted model with calibrated probabilities."""
    if all(hasattr(given, field) for field in ("share", "confidence", "accuracy")):
        return given
    if hasattr(given, "predict_proba"):
        check_fitted(given)
        if getattr(given, "calibration_", None) is None:
            raise ValueError(
                f"{name!r} is a model without calibration, which has no reliability curve; fit it with calibrate=…, "
                'such as calibrate="temperature", or pass a Reliability of suffice.decision.reliability'
            )
        return given.calibration_.reliability["after"]
    raise TypeError(f"{name!r} is a {type(given).__name__}; pass a reliability curve or a fitted model")
