"""GaussianDiscriminant: Gaussian classes whose columns vary together as much as one lets them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array

from suffice import decision
from suffice.classifiers.base import TallyClassifier
from suffice.estimation import RULES
from suffice.families.gaussian import Gaussian
from suffice.families.together import GaussianTogether, SingularError
from suffice.model import Model
from suffice.schema import Array, Columns
from suffice.structures import Full
from suffice.structures.covariances import KINDS, PAIRED, estimated, n_parameters
from suffice.tables import Block
from suffice.tallies import CoMoments, Tally


class GaussianDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TallyClassifier):  # type: ignore[misc]
    """Gaussian classes with a mean and a covariance each: from naive Bayes to quadratic and linear discriminants.

    p(x given class) = N(x; μ, Σ), with Σ of the kind that ``covariance`` says.

    Parameters
    ----------
    covariance : {"spherical", "tied-diagonal", "diagonal", "chain", "tridiagonal", "tied-tridiagonal", "full", \
"shared"}, default="full"
        How the columns vary together: "diagonal" is naive Bayes, "full" is QDA, "shared" is LDA, "chain"
        has an inverse of three diagonals (each column depends on the one before), "tridiagonal" has
        three diagonals itself.
    shrinkage : float from 0 to 1, "oas" or None, default=None
        How far Σ is drawn towards a multiple of the identity.
    estimate : {"mle", "map", "mean", "predictive"}, default="mean"
        How means and covariances are read off the data; "predictive" averages over them (Student's t).
    prior : number, NormalInverseWishart or Flat, default=1.0
        What was believed of them: a number stands for that many rows like those of all classes together,
        columns uncorrelated. "mle" has no use for it.
    class_prior : "empirical", "uniform", array-like, dict {label: p}, number or Prior, default="empirical"
        The probabilities of the classes.
    ddof : float, default=0
        What is taken off each class's number of rows in the most likely Σ; 1 makes it unbiased.

    Examples
    --------
    >>> from suffice import GaussianDiscriminant
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianDiscriminant().fit(X, y)
    >>> round(model.score(X, y), 2), model.n_parameters_
    (0.98, 42)
    """

    _family = "gaussian"
    _sparse = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "covariance": [StrOptions(set(KINDS))],
        "shrinkage": [None, StrOptions({"oas"}), Interval(Real, 0, 1, closed="both")],
        "estimate": [StrOptions(set(RULES))],
        "ddof": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        covariance: str = "full",
        shrinkage: float | str | None = None,
        estimate: str = "mean",
        prior: Any = 1.0,
        class_prior: Any = "empirical",
        ddof: float = 0,
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.estimate = estimate
        self.prior = prior
        self.class_prior = class_prior
        self.ddof = ddof

    @property
    def means_(self) -> Array:
        """The mean of each class, [class, column]."""
        return np.asarray(self._together.mean)

    @property
    def covariance_(self) -> Array:
        """The covariance of each class, [class, column, column]; one for all where it is shared."""
        together = self._together
        if isinstance(together, GaussianTogether):
            return np.asarray(together.covariance)
        return np.asarray(np.eye(together.mean.shape[1]) * together.variance[:, None, :])

    @property
    def n_parameters_(self) -> int:
        """How many numbers p(x given class) of all classes has."""
        tally = self._learned()
        return n_parameters(self.covariance, len(tally.class_count), tally.schema.blocks[0].count)

    @property
    def scalings_(self) -> Array:
        """The discriminant axes, [column, axis], the one that tells the classes apart best first.

        They solve S_b·v = λ·Σ·v, with S_b the spread of the means and Σ the covariance within the classes.
        """
        return self._axes()[1]

    @property
    def explained_variance_ratio_(self) -> Array:
        """The share of the spread of the means along each discriminant axis."""
        spreads = self._axes()[0]
        return np.asarray(spreads / spreads.sum())

    def transform(self, X: Any, n_components: int | None = None) -> Array:
        """Return the rows along the discriminant axes, at most one fewer than there are classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        n_components : int, default=None
            How many axes; all, if None.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
        """
        tally = self._learned()
        self._block(X, tally)
        rows = check_array(X, dtype=np.float64)
        shares = tally.class_count / tally.class_count.sum()
        return np.asarray((rows - shares @ self.means_) @ self.scalings_[:, :n_components])

    def _axes(self) -> tuple[Array, Array]:
        covariance, means = self.covariance_, self.means_
        counts = self._learned().class_count
        shares = counts / counts.sum()
        within = covariance[0] if len(covariance) == 1 else np.tensordot(shares, covariance, 1)
        away = means - shares @ means
        spreads, axes = eigh((away * shares[:, None]).T @ away, within)
        most = min(len(means) - 1, means.shape[1])
        return spreads[::-1][:most], axes[:, ::-1][:, :most]

    def _columns(self, block: Block) -> Columns:
        return replace(super()._columns(block), pairs=self.covariance in PAIRED)

    def _structure(self) -> Full:
        return Full(self.shrinkage, self.covariance, float(self.ddof))

    def _estimator(self, columns: Columns) -> Gaussian:
        return Gaussian(0.0, self.ddof)

    def _check_settings(self, tally: Tally) -> None:
        if self.covariance not in PAIRED:
            super()._check_settings(tally)
            return
        decision.class_prior(self._class_prior(), tally.schema.classes, tally.class_count)
        statistic = tally.statistics[0]
        if self.estimate != "mle" and isinstance(statistic, CoMoments):
            estimated("map", statistic, self._prior_setting(tally.schema.blocks[0]))

    def _estimated(self, tally: Tally) -> Model:
        """Return the model, with a word about classes of which there is too little to see how columns vary."""
        columns, statistic = tally.schema.blocks[0], tally.statistics[0]
        if self.covariance in PAIRED and not columns.pairs:
            raise ValueError(
                f'covariance="{self.covariance}" needs co-moments, and this was learned with covariance="diagonal" or '
                "simpler: fit it again"
            )
        labels = tally.schema.classes.tolist()
        if isinstance(statistic, CoMoments) and self.covariance == "full" and self.estimate != "mle":
            few = [k for k in range(len(labels)) if statistic.n[k, 0] <= columns.count]
            if few and self.shrinkage is None:
                warnings.warn(
                    f"class {labels[few[0]]!r} has {statistic.n[few[0], 0]:g} rows for {columns.count} columns: "
                    'much of its covariance is the prior\'s; consider shrinkage="oas", or covariance="shared"',
                    UserWarning,
                    stacklevel=4,
                )
        try:
            return super()._estimated(tally)
        except SingularError as error:
            whose = "the classes" if self.covariance == "shared" else f"class {labels[error.place]!r}"
            rows = tally.class_count.sum() if self.covariance == "shared" else tally.class_count[error.place]
            raise ValueError(
                f"the covariance of {whose} is singular ({rows:g} rows, {columns.count} columns, which may be constant "
                'or say the same): it has no most likely value; use estimate="mean" with a prior, shrinkage=0.1 or '
                '"oas", or covariance="diagonal"'
            ) from None

    @property
    def _n_features_out(self) -> int:
        return int(self.scalings_.shape[1])

    @property
    def _together(self) -> Any:
        return self._model().parameters[0]
