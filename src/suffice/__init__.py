"""Generative classifiers on sufficient statistics: everything learned is a sum.

>>> from suffice import GaussianNB
>>> monday = GaussianNB().fit([[1.0], [5.0]], ["low", "high"])
>>> tuesday = GaussianNB().fit([[2.0], [6.0]], ["low", "high"])
>>> (monday + tuesday).theta_.tolist()
[[5.5], [1.5]]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.classifiers.bayes import BayesClassifier
    from suffice.classifiers.bernoulli import BernoulliNB
    from suffice.classifiers.categorical import CategoricalNB
    from suffice.classifiers.discriminant import GaussianDiscriminant
    from suffice.classifiers.gaussian import GaussianNB
    from suffice.classifiers.logistic import LogisticRegression
    from suffice.classifiers.mixture import MixtureClassifier
    from suffice.classifiers.multinomial import ComplementNB, MultinomialNB
    from suffice.classifiers.poisson import PoissonNB
    from suffice.classifiers.saved_models import load
    from suffice.distributions.bernoulli import Bernoulli
    from suffice.distributions.categorical import Categorical
    from suffice.distributions.gaussian import Gaussian
    from suffice.distributions.multinomial import Multinomial
    from suffice.distributions.poisson import Poisson
    from suffice.evaluation.comparison import compare
    from suffice.evaluation.cross_validation import cross_validate
    from suffice.evaluation.streams import Window, batches, prequential
    from suffice.parallel import get_threads, set_threads, threads
    from suffice.priors import Beta, Dirichlet, Flat, Gamma, MEstimate, NormalInverseGamma, NormalInverseWishart, Prior
    from suffice.schema import Text
    from suffice.statistics import CoMoments, Counts, Moments, PairCounts, Tally
    from suffice.structures import Averaged, Chain, Full, Joint, Tree

__version__ = "0.1.0"

__all__ = [
    "Averaged",
    "BayesClassifier",
    "Bernoulli",
    "BernoulliNB",
    "Beta",
    "Categorical",
    "CategoricalNB",
    "Chain",
    "ComplementNB",
    "CoMoments",
    "Counts",
    "Dirichlet",
    "Flat",
    "Full",
    "Gamma",
    "Gaussian",
    "GaussianDiscriminant",
    "GaussianNB",
    "Joint",
    "LogisticRegression",
    "MEstimate",
    "MixtureClassifier",
    "Moments",
    "Multinomial",
    "MultinomialNB",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "PairCounts",
    "Poisson",
    "PoissonNB",
    "Prior",
    "Tally",
    "Text",
    "Tree",
    "Window",
    "batches",
    "compare",
    "cross_validate",
    "get_threads",
    "load",
    "prequential",
    "set_threads",
    "threads",
]

# Each name is imported when it is first used, so that `import suffice` alone loads neither scikit-learn nor pandas.
_HOMES = {
    "suffice.classifiers.bayes": ("BayesClassifier",),
    "suffice.classifiers.bernoulli": ("BernoulliNB",),
    "suffice.classifiers.categorical": ("CategoricalNB",),
    "suffice.classifiers.discriminant": ("GaussianDiscriminant",),
    "suffice.classifiers.gaussian": ("GaussianNB",),
    "suffice.classifiers.logistic": ("LogisticRegression",),
    "suffice.classifiers.mixture": ("MixtureClassifier",),
    "suffice.classifiers.multinomial": ("ComplementNB", "MultinomialNB"),
    "suffice.classifiers.poisson": ("PoissonNB",),
    "suffice.distributions.bernoulli": ("Bernoulli",),
    "suffice.distributions.categorical": ("Categorical",),
    "suffice.distributions.gaussian": ("Gaussian",),
    "suffice.distributions.multinomial": ("Multinomial",),
    "suffice.distributions.poisson": ("Poisson",),
    "suffice.parallel": ("get_threads", "set_threads", "threads"),
    "suffice.priors": (
        "Beta",
        "Dirichlet",
        "Flat",
        "Gamma",
        "MEstimate",
        "NormalInverseGamma",
        "NormalInverseWishart",
        "Prior",
    ),
    "suffice.schema": ("Text",),
    "suffice.evaluation.comparison": ("compare",),
    "suffice.evaluation.cross_validation": ("cross_validate",),
    "suffice.evaluation.streams": ("Window", "batches", "prequential"),
    "suffice.classifiers.saved_models": ("load",),
    "suffice.structures": ("Averaged", "Chain", "Full", "Joint", "Tree"),
    "suffice.statistics": ("CoMoments", "Counts", "Moments", "PairCounts", "Tally"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
_MODULES = ("plots", "report")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"suffice.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'suffice' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
