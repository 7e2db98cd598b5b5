"""scikit-learn's own tests of its logistic regression, with ours in its place."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn import linear_model as theirs

import suffice
from sklearn_suites import Adapter, collect, differences, global_random_seed, load_suite  # noqa: F401


class LogisticRegression(Adapter):
    """The parameters of scikit-learn's class as settings of ours. There is one solver, with a tolerance of its own."""

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty, self.C, self.l1_ratio, self.dual, self.tol = penalty, C, l1_ratio, dual, tol
        self.fit_intercept, self.intercept_scaling, self.class_weight = fit_intercept, intercept_scaling, class_weight
        self.random_state, self.solver, self.max_iter, self.verbose = random_state, solver, max_iter, verbose
        self.warm_start, self.n_jobs = warm_start, n_jobs

    def make(self) -> suffice.LogisticRegression:
        shares = {"l1": 1.0, "l2": 0.0}
        return suffice.LogisticRegression(
            C=None if self.penalty is None else self.C,
            l1_ratio=shares.get(self.penalty, self.l1_ratio),
            fit_intercept=self.fit_intercept,
            class_weight=self.class_weight,
            max_iter=self.max_iter,
            warm_start=self.warm_start,
        )


NO_SOLVERS = "there is one solver, so no combination of solver, penalty and dual is an error"
NO_PENALTY = "there is no parameter penalty: l1_ratio and C say the same, as scikit-learn recommends since 1.8"
NO_CALLBACKS = "the callbacks of scikit-learn are not called"

# Tests that fail on purpose, each with what differs. docs/guides/discriminants.md lists them for users.
DIFFERENCES = {
    "test_check_solver_option[LogisticRegression]": NO_SOLVERS,
    "test_liblinear_dual_random_state": NO_SOLVERS,
    "test_liblinear_multiclass_raises[LogisticRegression]": NO_SOLVERS,
    "test_l1_ratio_non_elasticnet": NO_PENALTY,
    "test_penalty_none": NO_PENALTY,
    "test_penalty_deprecated[LogisticRegression]": NO_PENALTY,
    "test_lr_penalty_l1ratio_incompatible": NO_PENALTY,
    "test_l1_ratio_None_deprecated": "l1_ratio=None is an error",
    "test_logisticregression_warns_with_n_jobs": "there is no parameter n_jobs",
    "test_sparsify": "coef_ is always a dense array",
    "test_logreg_predict_proba_multinomial": "calls a private method of scikit-learn",
    "test_newton_cholesky_fallback_to_lbfgs": "separated classes with a penalty of 1e-30 are reported",
    "test_max_iter": "the warning names no solver, and Newton's method may need fewer steps",
    "test_zero_max_iter": "max_iter is 1 or more, and the first step starts at linear discriminants",
    "test_liblinear_with_large_values": "columns of 1e100 are fitted",
    **{
        f"test_dtype_match[{layout}-{intercept}-liblinear]": "single precision is kept, which liblinear does not"
        for layout in ("csr_matrix", "csr_array")
        for intercept in (False, True)
    },
    **{
        f"test_large_sparse_matrix[{layout}-{solver}]": "sparse matrices with 64-bit indices are accepted"
        for layout in ("csr_matrix", "csr_array")
        for solver in ("liblinear", "sag", "saga")
    },
    # Without a penalty the Hessian of iris is singular but for rounding: one class is separated from the others, so two
    # directions have no most likely value. The first step is centred by 8e-13 before the second starts, and the second
    # Newton step then differs by 8e-4 along these directions. Both fits end after two steps, as max_iter says.
    **{
        f"test_warm_start_newton_solver[inf-True-{solver}]": "a step along directions without a minimum is rounding"
        for solver in ("newton-cholesky", "newton-cg")
    },
    "test_logistic_regression_callback_support": NO_CALLBACKS,
    "test_logistic_regression_callback_fitted_estimator": NO_CALLBACKS,
    "test_logistic_regression_callback_support_warning": NO_CALLBACKS,
}

CROSS_VALIDATION = "tests LogisticRegressionCV, which is scikit-learn's own here"
PATH = "tests a private function of scikit-learn"
ARRAYS = "tests arrays of other libraries, which need an environment variable and are skipped without it"

# Tests of something else.
LEFT_OUT = {
    "test_logistic_cv": CROSS_VALIDATION,
    "test_logistic_cv_refit_false_non_elasticnet": CROSS_VALIDATION,
    "test_logistic_cv_mock_scorer": CROSS_VALIDATION,
    "test_logistic_cv_multinomial_score": CROSS_VALIDATION,
    "test_multinomial_cv_iris": CROSS_VALIDATION,
    "test_logistic_cv_folds_with_classes_missing": CROSS_VALIDATION,
    "test_logistic_cv_sparse": CROSS_VALIDATION,
    "test_logistic_regressioncv_class_weights": CROSS_VALIDATION,
    "test_logistic_regression_cv_refit": CROSS_VALIDATION,
    "test_LogisticRegressionCV_GridSearchCV_elastic_net": CROSS_VALIDATION,
    "test_LogisticRegressionCV_no_refit": CROSS_VALIDATION,
    "test_LogisticRegressionCV_elasticnet_attribute_shapes": CROSS_VALIDATION,
    "test_LogisticRegressionCV_on_folds": CROSS_VALIDATION,
    "test_scores_attribute_layout_elasticnet": CROSS_VALIDATION,
    "test_lr_cv_scores_differ_when_sample_weight_is_requested": CROSS_VALIDATION,
    "test_lr_cv_scores_without_enabling_metadata_routing": CROSS_VALIDATION,
    "test_passing_params_without_enabling_metadata_routing": CROSS_VALIDATION,
    "test_logisticregressioncv_warns_with_use_legacy_attributes": CROSS_VALIDATION,
    "test_lr_scoring_warns": CROSS_VALIDATION,
    "test_get_default_scorer": CROSS_VALIDATION,
    "test_logistic_regression_path_convergence_fail": PATH,
    "test_logistic_regression_path_coefs_multinomial": PATH,
    "test_logistic_regression_path_init_coefs": PATH,
    "test_logistic_regression_array_api_compliance": ARRAYS,
    "test_logistic_regression_array_api_warm_start": ARRAYS,
}

pytestmark = pytest.mark.filterwarnings("ignore")
SUITE = load_suite("linear_model/tests/test_logistic.py", {(theirs, "LogisticRegression"): LogisticRegression})
globals().update(collect(SUITE, DIFFERENCES, LEFT_OUT))
