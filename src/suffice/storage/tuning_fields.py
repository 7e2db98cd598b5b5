"""Checks of settings and of what is learned besides sums: priors, structures, pools, calibrations and mixtures."""

from dataclasses import fields
from typing import Any, get_args

import numpy as np

from suffice import priors
from suffice.decision.calibration import MAPS, Calibration, Isotonic, Temperature, Vector
from suffice.decision.pooling import Pool
from suffice.decision.reliability import Reliability
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.family import Parameters
from suffice.families.gaussian import GaussianParameters
from suffice.families.low_rank_gaussian import LowRankGaussian
from suffice.families.multivariate_gaussian import MultivariateGaussian
from suffice.logistic.forms import Lift, LinearForm
from suffice.mixtures import Mixture
from suffice.statistics import Statistic
from suffice.storage.field_checks import (
    Check,
    choice,
    class_labels,
    column_name,
    doubles,
    either,
    flag,
    instance,
    label,
    mapping,
    number,
    optional,
    require,
    sequence,
    text,
    unique_labels,
    whole,
)
from suffice.storage.stored_kind import StoredKind
from suffice.structures import Naive, Structure
from suffice.structures.averaged import Averaged
from suffice.structures.chain import Chain
from suffice.structures.covariances import KINDS, LEDOIT_WOLF
from suffice.structures.full import Full
from suffice.structures.joint import Joint
from suffice.structures.pooled import Pooled
from suffice.structures.tree import Tree
from suffice.structures.trees import Trees
from suffice.structures.twin import Twin

MOST_TREES = 1_000_000
_POSITIVE = number(low=1e-300)
_LABELS = sequence(label, list, tuple)


def _numbers(value: Any) -> None:
    """Accept a number, or any array or list of finite numbers; the prior checks its shape and its range."""
    require(type(value) in (int, float, list, tuple) or isinstance(value, np.ndarray), "is not a number or an array")
    array = np.asarray(value)
    require(array.dtype.kind in "iuf" and np.isfinite(array).all(), "holds something else than finite numbers")


def _check_pool(pool: Pool) -> None:
    require(0 < len(pool.components) == len(pool.weights), "does not have a weight for each component")
    require(len(pool.classes) == len(pool.biases), "does not have a bias for each class")
    unique_labels(pool.classes)
    require(not any(isinstance(each, Pooled) for each in pool.components), "has a pool as a component")
    require(pool.reduced is None or pool.reduced.reduced is None, "has a reduced pool that is reduced")


def _check_twin(twin: Twin) -> None:
    classes = len(twin.classes)
    unique_labels(twin.classes)
    require(
        len(set(twin.keys)) == len(twin.keys) == len(twin.labels) == len(twin.changes), "has other blocks than keys"
    )
    require(len(twin.biases) == classes, "does not have a bias for each class")
    for labels, changes in zip(twin.labels, twin.changes, strict=True):
        require(len(set(labels)) == len(labels), "has a word twice")
        require(changes.shape == (classes, len(labels)), "does not have a change for each class and word")


def _check_calibration(calibration: Calibration) -> None:
    unique_labels(calibration.classes)
    fitted, classes = calibration.map, len(calibration.classes)
    require(isinstance(fitted, (MAPS[calibration.method], Temperature)), "has a map of another method")
    for name in ("log_loss", "reliability"):
        require(set(getattr(calibration, name)) == {"before", "after"}, f"has {name} of another time")
    if isinstance(fitted, Vector):
        require(len(fitted.factors) == len(fitted.shifts) == classes, "does not have a factor for each class")
    if isinstance(fitted, Isotonic):
        require(len(fitted.log_odds) == len(fitted.shares) == classes, "does not have a function for each class")


def _check_isotonic(isotonic: Isotonic) -> None:
    for odds, shares in zip(isotonic.log_odds, isotonic.shares, strict=True):
        require(0 < len(odds) == len(shares) and (np.diff(odds) >= 0).all(), "has a function without knots in order")


def _check_reliability(bins: Reliability) -> None:
    require(len(bins.share) == len(bins.confidence) == len(bins.accuracy) > 0, "has arrays of different lengths")


def _check_linear_form(form: LinearForm) -> None:
    classes = len(form.classes)
    require(len(form.coefficients) == len(form.intercepts) == classes, "does not have coefficients for each class")


def _check_mixture(mixture: Mixture) -> None:
    arrays = mixture.statistic.arrays()
    shape, count = arrays["total" if "total" in arrays else "mean"].shape, len(mixture.log_shares)
    first: Any = getattr(mixture.parameters, fields(mixture.parameters)[0].name)
    require(0 < count == shape[0] and first.shape == shape, "does not have parameters for each component")
    require(len(mixture.trace) > 0, "has no likelihood")


def _same_shape(*names: str) -> Any:
    """Return the check that arrays have the same shape."""

    def check(value: Any) -> None:
        require(len({getattr(value, name).shape for name in names}) == 1, "has arrays of different shapes")

    return check


def _check_covariance(gaussian: MultivariateGaussian) -> None:
    classes, columns = gaussian.mean.shape
    shape = gaussian.covariance.shape
    require(shape[0] in (1, classes) and shape[1:] == (columns, columns), "has a covariance of a wrong shape")


def _check_low_rank(gaussian: LowRankGaussian) -> None:
    columns, axes = gaussian.mean.shape[1], len(gaussian.spread)
    require(np.broadcast_shapes(gaussian.scale.shape, (columns,)) == (columns,), "has scales of other columns")
    require(gaussian.axes.shape == (columns, axes), "has axes of other columns")


def _check_chain(chain: Chain) -> None:
    require(isinstance(chain.order, str) or len(set(chain.order)) == len(chain.order), "names a column twice")


_LOSSES = mapping(text, number())
_BACKOFF = {"backoff": either(_POSITIVE, choice("laplace"))}
_EDGES = sequence(sequence(column_name))
_SHRINKAGE = optional(either(number(0, 1), choice("oas", *LEDOIT_WOLF)))
_POSITIVE_ARRAY = doubles(1, 2, low=1e-300)
_BETWEEN_0_AND_1 = doubles(1, low=0.0, high=1.0)
_PRIORS = [kind for kind in vars(priors).values() if isinstance(kind, type) and issubclass(kind, priors.Prior)]


def _prior_fields(kind: type[Any]) -> dict[str, Check]:
    return {field.name: optional(_numbers) if field.default is None else _numbers for field in fields(kind)}


TUNING_KINDS = (
    *(StoredKind(kind, _prior_fields(kind)) for kind in _PRIORS if kind is not priors.Prior),
    *(StoredKind(kind, {}) for kind in (Naive, Joint)),
    StoredKind(Chain, {"order": either(text, sequence(label)), **_BACKOFF}, _check_chain),
    StoredKind(
        Tree,
        {"tree": text, **_BACKOFF, "required": _EDGES, "forbidden": _EDGES, "root": optional(column_name)},
    ),
    StoredKind(
        Averaged,
        {
            "frequency": number(0),
            "weights": text,
            "subsumption": optional(number()),
            **_BACKOFF,
            "numbers": instance(Full, Chain, Tree),
        },
    ),
    StoredKind(
        Full, {"shrinkage": _SHRINKAGE, "covariance": choice(*KINDS), "ddof": number(0), "reg_param": number(0, 1)}
    ),
    StoredKind(Trees, {"count": whole(1, MOST_TREES), "backoff": _POSITIVE}),
    StoredKind(Pooled, {"components": sequence(either(text, instance(Structure)))}),
    StoredKind(
        Twin,
        {
            "penalty": _POSITIVE,
            "classes": _LABELS,
            "keys": sequence(sequence(optional(label))),
            "labels": sequence(sequence(label)),
            "changes": sequence(doubles(2)),
            "biases": either(doubles(1), sequence(number())),
        },
        _check_twin,
    ),
    StoredKind(
        Pool,
        {
            "components": sequence(instance(Structure)),
            "weights": doubles(1, low=0.0),
            "classes": _LABELS,
            "biases": doubles(1),
            "rows": number(0),
            "log_loss": optional(_LOSSES),
            "reduced": optional(instance(Pool)),
        },
        _check_pool,
    ),
    StoredKind(Temperature, {"temperature": _POSITIVE}),
    StoredKind(Vector, {"factors": doubles(1), "shifts": doubles(1)}),
    StoredKind(
        Isotonic,
        {"log_odds": sequence(doubles(1)), "shares": sequence(doubles(1, low=1e-300, high=1.0))},
        _check_isotonic,
    ),
    StoredKind(Reliability, dict.fromkeys(("share", "confidence", "accuracy"), _BETWEEN_0_AND_1), _check_reliability),
    StoredKind(
        Calibration,
        {
            "method": choice(*MAPS),
            "classes": _LABELS,
            "map": instance(Temperature, Vector, Isotonic),
            "floor": number(high=0),
            "log_loss": _LOSSES,
            "reliability": mapping(text, instance(Reliability)),
        },
        _check_calibration,
    ),
    StoredKind(
        LinearForm,
        {
            "classes": class_labels,
            "coefficients": doubles(2),
            "intercepts": doubles(1),
            "lift": choice(*get_args(Lift), "one-hot"),
        },
        _check_linear_form,
    ),
    StoredKind(
        Mixture,
        {
            "log_shares": doubles(1, high=1e-9),
            "parameters": instance(Parameters),
            "statistic": instance(Statistic),
            "trace": sequence(number()),
            "converged": flag,
        },
        _check_mixture,
    ),
    StoredKind(
        BernoulliParameters,
        {**dict.fromkeys(("log_p", "log_q"), doubles(2, high=0.0, infinite=True)), "threshold": optional(number())},
        _same_shape("log_p", "log_q"),
    ),
    StoredKind(
        GaussianParameters,
        {
            "mean": doubles(2),
            "variance": _POSITIVE_ARRAY,
            "floor": either(number(0), doubles(0, 1, 2, low=0.0)),
            "tail": either(number(), doubles(0, 1, 2)),
        },
        _same_shape("mean", "variance"),
    ),
    StoredKind(MultivariateGaussian, {"mean": doubles(2), "covariance": doubles(3)}, _check_covariance),
    StoredKind(
        LowRankGaussian,
        {
            "mean": doubles(2),
            "scale": _POSITIVE_ARRAY,
            "axes": doubles(2),
            "spread": doubles(1, low=1e-300),
            "floor": number(0, 1),
        },
        _check_low_rank,
    ),
)
