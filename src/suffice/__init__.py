"""Naive Bayes and related classifiers, fitted to sums that can be added, subtracted and merged.

>>> from suffice import GaussianNB
>>> monday = GaussianNB().fit([[1.0], [5.0]], ["low", "high"])
>>> tuesday = GaussianNB().fit([[2.0], [6.0]], ["low", "high"])
>>> (monday + tuesday).theta_.tolist()
[[5.5], [1.5]]
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from suffice.registry import import_late as _import_late

__version__ = "0.1.0"

# Where each public name lives. A name is imported when it is first used, so that `import suffice` alone loads neither
# scikit-learn nor pandas.
_HOMES = {
    "suffice.classifiers.bayes": "BayesClassifier",
    "suffice.classifiers.bernoulli": "BernoulliNB",
    "suffice.classifiers.categorical": "CategoricalNB",
    "suffice.classifiers.discriminant": "GaussianDiscriminant",
    "suffice.classifiers.gaussian": "GaussianNB",
    "suffice.classifiers.logistic": "LogisticRegression",
    "suffice.classifiers.mixture": "MixtureClassifier",
    "suffice.classifiers.mlflow_autolog": "mlflow_autolog",
    "suffice.classifiers.multinomial": "ComplementNB MultinomialNB",
    "suffice.classifiers.poisson": "PoissonNB",
    "suffice.classifiers.receipt": "Receipt",
    "suffice.classifiers.saved_models": "load open",
    "suffice.classifiers.skl2onnx_converters": "register_skl2onnx",
    "suffice.classifiers.trusted_types": "trusted_types",
    "suffice.data.files.table_file": "TableFile",
    "suffice.distributions.bernoulli": "Bernoulli",
    "suffice.distributions.binomial": "Binomial",
    "suffice.distributions.categorical": "Categorical",
    "suffice.distributions.exponential": "Exponential",
    "suffice.distributions.gamma": "GammaDistribution",
    "suffice.distributions.gaussian": "Gaussian",
    "suffice.distributions.geometric": "Geometric",
    "suffice.distributions.kernel": "KernelDensity",
    "suffice.distributions.log_normal": "LogNormal",
    "suffice.distributions.multinomial": "Multinomial",
    "suffice.distributions.negative_binomial": "NegativeBinomial",
    "suffice.distributions.poisson": "Poisson",
    "suffice.distributions.von_mises": "VonMises",
    "suffice.evaluation.comparison": "compare",
    "suffice.evaluation.cross_validation": "cross_validate",
    "suffice.evaluation.streams": "Window batches prequential",
    "suffice.monitoring.drift_table": "Drift",
    "suffice.monitoring.measure_drift": "drift",
    "suffice.parallel": "get_threads set_threads threads",
    "suffice.priors": "Beta Dirichlet Flat Gamma MEstimate NormalInverseGamma NormalInverseWishart Prior",
    "suffice.schema": "Plan Text",
    "suffice.statistics": "CoMoments Counts FunctionSums Moments PairCounts SquaredCounts Tally",
    "suffice.storage": "StoreError",
    "suffice.structures.averaged": "Averaged",
    "suffice.structures.chain": "Chain",
    "suffice.structures.full": "Full",
    "suffice.structures.joint": "Joint",
    "suffice.structures.pooled": "Pooled",
    "suffice.structures.tree": "Tree",
    "suffice.structures.trees": "Trees",
    "suffice.structures.twin": "Twin",
}
__all__, _find = _import_late(__name__, _HOMES)
_MODULES = ("images", "plots", "report")

# Former public names -> what replaces them, and the version that removes them (docs/project/versions.md).
_DEPRECATED: dict[str, tuple[str, str]] = {}


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"suffice.{name}")
    if name in _DEPRECATED:
        return _replace_deprecated(name)
    return _find(name)


def _replace_deprecated(name: str) -> _Any:
    """Return what replaces a former public name, with a warning."""
    from warnings import warn

    replacement, version = _DEPRECATED[name]
    message = f"suffice.{name} is deprecated and will be removed in version {version}: use suffice.{replacement}"
    warn(message, FutureWarning, stacklevel=3)
    return __getattr__(replacement)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
