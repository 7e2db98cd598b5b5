"""GaussianDiscriminant: one Gaussian for each class, with a covariance of a chosen form."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array

from suffice.classifiers import smoothing
from suffice.classifiers.class_covariances import check_estimator, estimate_by_class, explain_singular, warn_few_rows
from suffice.classifiers.concurrency import on_snapshot
from suffice.classifiers.constructor import with_constructor
from suffice.classifiers.svd_discriminant import check_svd, fit_subspace, svd_settings
from suffice.classifiers.tally_classifier import CalibrationMethod, TallyClassifier
from suffice.data import Target
from suffice.estimation import RULES
from suffice.families.gaussian import Gaussian
from suffice.families.low_rank_gaussian import LowRankGaussian
from suffice.families.multivariate_gaussian import MultivariateGaussian
from suffice.model import Model
from suffice.pooled_model import AnyModel
from suffice.recipe import Recipe, Rule
from suffice.schema import Array, Plan
from suffice.score.term import all_rows
from suffice.statistics import Tally
from suffice.structures.covariances import KINDS, LEDOIT_WOLF, PAIRED, CovarianceKind, n_parameters
from suffice.structures.full import Full, GivenCovariances


def _learns_sums(classifier: GaussianDiscriminant) -> bool:
    if not classifier._has_only_sums():
        setting = 'solver="svd"' if classifier.solver == "svd" else "covariance_estimator"
        raise AttributeError(f"{setting} needs all rows at once: it learns by fit only")
    return True


@with_constructor
class GaussianDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TallyClassifier):  # type: ignore[misc]
    """Gaussian classes, each with its mean and covariance: naive Bayes, quadratic and linear discriminants.

    p(x | class) = N(x; μ, Σ), where ``covariance`` sets the form of Σ.

    Parameters
    ----------
    covariance : {"spherical", "tied-diagonal", "diagonal", "chain", "tridiagonal", "tied-tridiagonal", "full", \
"shared"}, default="full"
        The form of Σ: "diagonal" is naive Bayes, "full" is QDA, "shared" is LDA, "chain" has a tridiagonal
        inverse (each column depends on the one before), "tridiagonal" is tridiagonal itself.
    shrinkage : float from 0 to 1, "oas", "ledoit-wolf", "auto" or None, default=None
        The weight of a multiple of the identity in Σ, or a formula that computes it from the data: "oas" is that of
        Chen et al., "ledoit-wolf" that of Ledoit and Wolf for each class, and "auto" the same for columns in standard
        units, as in scikit-learn's discriminants. The last two need fourth moments, which the same pass computes.
    reg_param : float from 0 to 1, default=0.0
        The weight r of the identity in (1 − r)·Σ + r·I, as in scikit-learn's QuadraticDiscriminantAnalysis, in place of
        ``shrinkage``. It depends on the units of the columns.
    estimate : {"mle", "map", "mean", "predictive"}, default="mean"
        How means and covariances are estimated; "predictive" integrates over them (Student's t).
    prior : number, NormalInverseWishart or Flat, default=1.0
        The prior of means and covariances. A number is a number of pseudo-rows with the mean and the variances of
        all rows, and with uncorrelated columns; "mle" does not use it.
    class_prior : "empirical", "uniform", array-like, dict {label: p}, number or Prior, default="empirical"
        The class probabilities.
    ddof : float, default=0
        Subtracted from the number of rows of each class in the maximum-likelihood Σ; 1 makes it unbiased.
    solver : {"moments", "svd"}, default="moments"
        "svd" computes covariance="shared" without forming the matrix, which helps if there are more columns than
        rows. The result is not computed from sums, so the model cannot learn in batches, forget or merge. It supports
        estimate="mle" and "mean", without shrinkage.
    covariance_estimator : object, default=None
        An object with ``fit(X)`` and ``covariance_``, such as those of ``sklearn.covariance``, which estimates the
        covariance of each class from its rows; with "shared", these are averaged, weighted by the rows. The result is
        not computed from sums, so the model cannot learn in batches, forget or merge.
    n_components : int, default=None
        The number of discriminant axes that ``transform`` returns; None returns all.
    missing : {"error", "skip"}, default="error"
        Whether NaN is an error, or a missing cell that is skipped in learning and in predictions.
    plan : Plan, default=None
        The plan that says what is counted (the names and the number of columns, and whether pairs of columns are
        counted), such as ``plan_`` of another model. By default it is made from the rows.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` calibrates probabilities on held-out predictions; by default it does not.

    Examples
    --------
    >>> from suffice import GaussianDiscriminant
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianDiscriminant().fit(X, y)
    >>> round(model.score(X, y), 2), model.n_parameters_
    (0.98, 42)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "covariance": [StrOptions(set(KINDS))],
        "shrinkage": [None, StrOptions({"oas", *LEDOIT_WOLF}), Interval(Real, 0, 1, closed="both")],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
        "estimate": [StrOptions(set(RULES))],
        "ddof": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions({"moments", "svd"})],
        "covariance_estimator": [HasMethods("fit"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    _extra_attributes = (*TallyClassifier._extra_attributes, "subspace_", "class_covariances_")

    covariance: CovarianceKind = "full"
    shrinkage: float | Literal["oas", "ledoit-wolf", "auto"] | None = None
    estimate: Rule = "mean"
    prior: Any = 1.0
    class_prior: Any = "empirical"
    ddof: float = 0
    solver: Literal["moments", "svd"] = "moments"
    reg_param: float = 0.0
    covariance_estimator: Any = None
    n_components: int | None = None
    missing: Literal["error", "skip"] = "error"
    plan: Plan | None = None
    calibrate: CalibrationMethod | None = None

    @property
    def means_(self) -> Array:
        """The mean of each class, [class, column]."""
        return np.asarray(self._parameters.mean)

    @property
    def covariance_(self) -> Array:
        """The covariance of each class, [class, column, column]; [column, column] for covariance="shared"."""
        found = self._covariances()
        return found[0] if self.covariance == "shared" else found

    def _covariances(self) -> Array:
        parameters = self._parameters
        if isinstance(parameters, LowRankGaussian):
            raise AttributeError('solver="svd" does not form a covariance')
        if isinstance(parameters, MultivariateGaussian):
            return np.asarray(parameters.covariance)
        return np.asarray(np.eye(parameters.mean.shape[1]) * parameters.variance[:, None, :])

    @property
    def variances_(self) -> Array:
        """The variance of each column by itself, [class, column]; one row for all classes if they share it."""
        parameters = self._parameters
        if isinstance(parameters, MultivariateGaussian):
            return np.asarray(np.diagonal(parameters.covariance, axis1=1, axis2=2))
        return np.asarray(parameters.variance)

    @property
    def coef_(self) -> Array:
        """The coefficients of the columns in `decision_function`; only if all classes share one covariance.

        [class, column], or [1, column] for two classes, as in scikit-learn's LinearDiscriminantAnalysis.
        """
        return self._linear_scores()[0]

    @property
    def intercept_(self) -> Array:
        """The intercepts of `decision_function`, [class] or [1]; only if all classes share one covariance."""
        return self._linear_scores()[1]

    def _linear_scores(self) -> tuple[Array, Array]:
        if self.covariance not in ("shared", "spherical") or self.estimate == "predictive" or self.calibrate:
            raise AttributeError(
                'coef_ and intercept_ are those of one covariance of all classes, covariance="shared", with known '
                "parameters and without calibration; as_linear() has the coefficients of products of columns"
            )
        coefficients, means = self.as_linear().coefficients, self.means_
        # without the determinant, which is the same for all classes
        intercepts = self.estimate_model().class_log_prior - 0.5 * (means * coefficients).sum(axis=1)
        if len(coefficients) == 2:
            return coefficients[1:] - coefficients[:1], intercepts[1:] - intercepts[:1]
        return coefficients, intercepts

    # The probability of each class.
    priors_ = smoothing.class_prior

    @property
    def xbar_(self) -> Array:
        """The mean of all rows, [column]."""
        counts = self._fitted_tally().class_count
        return np.asarray(counts / counts.sum() @ self.means_)

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters of p(x | class), of all classes."""
        tally = self._fitted_tally()
        return n_parameters(self.covariance, len(tally.class_count), tally.schema.blocks[0].count)

    @property
    def scalings_(self) -> Array:
        """The discriminant axes, [column, axis]; the first separates the classes best.

        They solve S_b·v = λ·Σ·v, with S_b the spread of the means and Σ the covariance within the classes.
        """
        return self._axes()[1]

    @property
    def explained_variance_ratio_(self) -> Array:
        """The share of the spread of the means along each discriminant axis."""
        spreads = self._axes()[0]
        return np.asarray(spreads / max(float(spreads.sum()), 1e-300))

    def transform(self, X: Any, n_components: int | None = None) -> Array:
        """Return the rows projected on the discriminant axes, of which there are at most n_classes − 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        n_components : int, default=None
            The number of axes; None is that of the settings.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
        """
        n_components = self.n_components if n_components is None else n_components
        tally = self._fitted_tally()
        rows = check_array(all_rows(self.recipe().open(X, tally.schema)), dtype=np.float64)
        return np.asarray((rows - self.xbar_) @ self.scalings_[:, :n_components])

    @on_snapshot
    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classes, or the log-odds of the second class if there are two.

        Scores are log p(x, class) plus a term that is the same for all classes. They equal those of scikit-learn:
        ``coef_``·x + ``intercept_`` for covariance="shared", as in LinearDiscriminantAnalysis, and otherwise
        log p(x, class) + n_features/2·log 2π, as in QuadraticDiscriminantAnalysis. The scores of a calibrated model are
        log P(class | x).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)

        Examples
        --------
        >>> from suffice import GaussianDiscriminant
        >>> model = GaussianDiscriminant().fit([[1.0], [2.0], [5.0], [7.0]], ["low", "low", "up", "up"])
        >>> model.decision_function([[1.0], [8.0]]).round(2).tolist()
        [-2.28, 4.09]
        """
        if self.calibrate is not None:
            scores = self.predict_log_proba(X)
        else:
            scores = self.predict_joint_log_proba(X) + 0.5 * self.n_features_in_ * np.log(2 * np.pi)
        if scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        if hasattr(self, "coef_"):
            rows = all_rows(self.recipe().open(X, self._fitted_tally().schema)).astype(np.float64, copy=False)
            return np.asarray(rows @ self.coef_.T + self.intercept_)
        return scores

    def _axes(self) -> tuple[Array, Array]:
        means, counts = self.means_, self._fitted_tally().class_count
        shares = counts / counts.sum()
        centred = means - shares @ means
        if isinstance(self._parameters, LowRankGaussian):
            whitening = self._parameters.whitening
            _, singular, turned = np.linalg.svd((centred * np.sqrt(shares)[:, None]) @ whitening, full_matrices=False)
            most = min(len(means) - 1, len(singular))
            return singular[:most] ** 2, whitening @ turned[:most].T
        covariances = self._covariances()
        within = np.tensordot(shares if len(covariances) > 1 else [1.0], covariances, 1)
        spreads, axes = eigh((centred * shares[:, None]).T @ centred, within)
        most = min(len(means) - 1, means.shape[1])
        return spreads[::-1][:most], axes[:, ::-1][:, :most]

    def _make_recipe(self) -> Recipe:
        family, covariance = Gaussian(0.0, self.ddof), self.covariance
        if self.solver == "svd":
            check_svd(self)
        if self.covariance_estimator is not None:
            check_estimator(self)
        pairs = covariance in PAIRED and self.solver == "moments"
        fourths = pairs and self.shrinkage in LEDOIT_WOLF
        return Recipe(
            smoothing.number_reader(self, "gaussian", accepts_sparse=False, pairs=pairs, fourths=fourths),
            self.estimate,
            self.prior,
            self.class_prior,
            Full(self.shrinkage, covariance, float(self.ddof), float(self.reg_param)),
            family_for=lambda columns: family,
            given_plan=self.plan,
            explain_singular=lambda tally, place: explain_singular(covariance, tally, place),
        )

    partial_fit = available_if(_learns_sums)(TallyClassifier.partial_fit)
    forget = available_if(_learns_sums)(TallyClassifier.forget)
    receipt = available_if(_learns_sums)(TallyClassifier.receipt)
    fit_table = available_if(_learns_sums)(TallyClassifier.fit_table)
    predict_interval = available_if(_learns_sums)(TallyClassifier.predict_interval)

    def __add__(self, other: Self) -> Self:
        """Return a classifier with the settings of this one that has learned the rows of both."""
        if not (self._has_only_sums() and other._has_only_sums()):
            raise TypeError('models of solver="svd" or with a covariance_estimator cannot be merged')
        merged: Self = super().__add__(other)
        return merged

    def _is_additive(self) -> bool:
        return self._has_only_sums() and super()._is_additive()

    def _has_only_sums(self) -> bool:
        return self.solver != "svd" and self.covariance_estimator is None

    def _learn_extras(
        self, recipe: Recipe, opened: Any, target: Target, tally: Tally, checkpoint: Any = None
    ) -> dict[str, Any]:
        if self.covariance_estimator is not None:
            return {"class_covariances_": estimate_by_class(self.covariance_estimator, opened, target)}
        if self.solver != "svd":
            return {}
        return {"subspace_": (svd_settings(self), fit_subspace(self, opened, target, tally))}

    def _check(self, recipe: Recipe, tally: Tally) -> None:
        classes, columns = len(tally.class_count), tally.schema.blocks[0].count
        if self.n_components is not None and self.n_components > min(classes - 1, columns):
            counted = "1 class" if classes == 1 else f"{classes} classes"
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1): there are {columns} columns and "
                f"{counted}, and it is {self.n_components}"
            )
        if self.shrinkage in LEDOIT_WOLF and not tally.schema.blocks[0].fourths:
            raise ValueError(
                f"shrinkage={self.shrinkage!r} needs fourth moments, but the model or its plan was made without them: "
                "fit it again, without plan="
            )
        if self.covariance in PAIRED:
            if self.solver == "moments" and not tally.schema.blocks[0].pairs:
                raise ValueError(
                    f'covariance="{self.covariance}" needs co-moments, but the model was fitted with '
                    'covariance="diagonal" or simpler: fit it again'
                )
            if isinstance(self.prior, str):
                raise ValueError(f'prior={self.prior!r} is for covariance="diagonal"; otherwise it is a number')
        super()._check(recipe, tally)

    def _estimate(self, recipe: Recipe, tally: Tally) -> AnyModel:
        if self.solver == "svd":
            settings, subspace = getattr(self, "subspace_", (None, None))
            if subspace is None or settings != svd_settings(self):
                raise ValueError('settings changed after fitting, and solver="svd" uses them only in fit: fit it again')
            return Model(tally.schema.blocks, recipe.class_log_prior(tally), (subspace,))
        if self.covariance_estimator is not None:
            matrices = getattr(self, "class_covariances_", None)
            if matrices is None or len(matrices) != len(tally.class_count):
                raise ValueError("covariance_estimator was set after fitting, and estimates in fit: fit it again")
            recipe = replace(recipe, structure=GivenCovariances(covariance=self.covariance, matrices=matrices))
        elif self.covariance == "full" and self.estimate != "mle" and self.shrinkage is None and not self.reg_param:
            warn_few_rows(tally)
        return super()._estimate(recipe, tally)

    @property
    def log_evidence_(self) -> float:
        """The log probability of X given the classes and the prior; only for covariance="diagonal"."""
        if self.covariance != "diagonal":
            raise AttributeError('log_evidence_ is defined for covariance="diagonal"')
        return super().log_evidence_

    @property
    def posterior_(self) -> dict[str, Any]:
        """The posterior of each mean and variance; only for covariance="diagonal"."""
        if self.covariance != "diagonal":
            raise AttributeError('posterior_ is defined for covariance="diagonal"')
        return super().posterior_

    @property
    def _n_features_out(self) -> int:
        return self.n_components or int(self.scalings_.shape[1])
