"""scikit-learn's own tests of its discriminants, with GaussianDiscriminant in their place."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn import discriminant_analysis as theirs

from sklearn_suites import Adapter, collect, differences, global_random_seed, load_suite  # noqa: F401
from suffice import GaussianDiscriminant


class LinearDiscriminantAnalysis(Adapter):
    """The parameters of scikit-learn's class as settings of ours."""

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver, self.shrinkage, self.priors, self.tol = solver, shrinkage, priors, tol
        self.n_components, self.store_covariance = n_components, store_covariance
        self.covariance_estimator = covariance_estimator

    def make(self) -> GaussianDiscriminant:
        return GaussianDiscriminant(
            covariance="shared",
            estimate="mle",
            solver="svd" if self.solver == "svd" and not self.store_covariance else "moments",
            shrinkage=self.shrinkage,
            class_prior="empirical" if self.priors is None else self.priors,
            n_components=self.n_components,
            covariance_estimator=self.covariance_estimator,
        )


class QuadraticDiscriminantAnalysis(Adapter):
    """The parameters of scikit-learn's class as settings of ours."""

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver, self.shrinkage, self.priors, self.tol = solver, shrinkage, priors, tol
        self.reg_param, self.store_covariance = reg_param, store_covariance
        self.covariance_estimator = covariance_estimator

    def make(self) -> GaussianDiscriminant:
        return GaussianDiscriminant(
            estimate="mle",
            shrinkage=self.shrinkage,
            reg_param=self.reg_param,
            class_prior="empirical" if self.priors is None else self.priors,
            covariance_estimator=self.covariance_estimator,
        )


# Tests that fail on purpose, each with what differs. docs/guides/discriminants.md lists them for users.
DIFFERENCES = {
    "test_lda_predict": 'solver="svd" with shrinkage is a ValueError, not a NotImplementedError',
    "test_lda_priors": "class probabilities that do not sum to 1 are an error, not a warning",
    "test_lda_transform": "every solver has transform, also that of lsqr",
    "test_lda_dtype_match[float32-float32]": "sums and what is computed from them are doubles, whatever X is",
    "test_qda_covariance_estimator": "full covariances have one solver, which takes any shrinkage or estimator",
    "test_qda_coefs": "covariance_ is kept, not its eigenvectors and eigenvalues (rotations_, scalings_)",
    "test_qda_prior_copy": "settings are read when the model is estimated, not copied by fit",
    "test_qda_store_covariance": "covariance_ is always there: store_covariance is not needed",
    "test_qda_regularization[svd]": "reg_param regularizes a class that has fewer rows than columns, too",
    "test_get_feature_names_out": "names begin with the name of our class",
}

pytestmark = pytest.mark.filterwarnings("ignore")
globals().update(
    collect(
        load_suite(
            "tests/test_discriminant_analysis.py",
            {(theirs, kind.__name__): kind for kind in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis)},
        ),
        DIFFERENCES,
    )
)
