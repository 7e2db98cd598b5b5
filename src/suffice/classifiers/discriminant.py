"""GaussianDiscriminant: Gaussian classes whose columns vary together as much as one lets them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array

from suffice import decision
from suffice.blocks import Block, Dense
from suffice.classifiers.base import TallyClassifier
from suffice.classifiers.settled import settled
from suffice.data import Target
from suffice.estimation import RULES
from suffice.families.gaussian import Gaussian, ddof_error
from suffice.families.low_rank_gaussian import LowRankGaussian
from suffice.families.multivariate_gaussian import MultivariateGaussian
from suffice.model import Model
from suffice.priors import positive
from suffice.schema import Array, Columns
from suffice.statistics import CoMoments, Moments, Tally
from suffice.structures import Full
from suffice.structures.covariances import KINDS, PAIRED, check_prior, n_parameters


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
    solver : {"moments", "svd"}, default="moments"
        "svd" never forms a covariance, for a shared one of more columns than rows; its result is no sum,
        so that it cannot learn in batches, forget or merge. It is for estimate="mle" and "mean", without shrinkage.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` makes probabilities honest, by predictions for rows held out; None leaves them as they are.

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
        "solver": [StrOptions({"moments", "svd"})],
    }

    subspace_: tuple[tuple[Any, ...], LowRankGaussian]

    def __init__(
        self,
        *,
        covariance: str = "full",
        shrinkage: float | str | None = None,
        estimate: str = "mean",
        prior: Any = 1.0,
        class_prior: Any = "empirical",
        ddof: float = 0,
        solver: str = "moments",
        calibrate: str | None = None,
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.estimate = estimate
        self.prior = prior
        self.class_prior = class_prior
        self.ddof = ddof
        self.solver = solver
        self.calibrate = calibrate

    @property
    def means_(self) -> Array:
        """The mean of each class, [class, column]."""
        return np.asarray(self._together.mean)

    @property
    def covariance_(self) -> Array:
        """The covariance of each class, [class, column, column]; one for all where it is shared."""
        together = self._together
        if isinstance(together, LowRankGaussian):
            raise AttributeError('solver="svd" does not form a covariance')
        if isinstance(together, MultivariateGaussian):
            return np.asarray(together.covariance)
        return np.asarray(np.eye(together.mean.shape[1]) * together.variance[:, None, :])

    @property
    def variances_(self) -> Array:
        """The variance of each column by itself, [class, column]; one line for all classes where it is shared."""
        together = self._together
        if isinstance(together, MultivariateGaussian):
            return np.asarray(np.diagonal(together.covariance, axis1=1, axis2=2))
        return np.asarray(together.variance)

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
        return np.asarray(spreads / max(float(spreads.sum()), 1e-300))

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
        means, counts = self.means_, self._learned().class_count
        shares = counts / counts.sum()
        away = means - shares @ means
        if isinstance(self._together, LowRankGaussian):
            whitening = self._together.whitening
            _, singular, turned = np.linalg.svd((away * np.sqrt(shares)[:, None]) @ whitening, full_matrices=False)
            most = min(len(means) - 1, len(singular))
            return singular[:most] ** 2, whitening @ turned[:most].T
        covariance = self.covariance_
        within = covariance[0] if len(covariance) == 1 else np.tensordot(shares, covariance, 1)
        spreads, axes = eigh((away * shares[:, None]).T @ away, within)
        most = min(len(means) - 1, means.shape[1])
        return spreads[::-1][:most], axes[:, ::-1][:, :most]

    def _columns(self, block: Block) -> Columns:
        return replace(super()._columns(block), pairs=self.covariance in PAIRED and self.solver == "moments")

    def _tallied(self, opened: Dense, target: Target, known: Tally | None, whole: bool) -> Tally:
        tally = super()._tallied(opened, target, known, whole)
        if self.solver == "svd":
            if not whole:
                raise ValueError('solver="svd" can only be fitted: it cannot learn in batches or forget')
            self._check(tally)
            self._found = (self._svd_settings(), self._svd(opened, target, tally))
        return tally

    def _learn(self, *arguments: Any, whole: bool) -> Self:
        learned = super()._learn(*arguments, whole=whole)
        self.__dict__.pop("subspace_", None)  # of the rows of an earlier fit
        if "_found" in self.__dict__:
            self.subspace_ = self.__dict__.pop("_found")
        return learned

    def __add__(self, other: Self) -> Self:
        """Return a classifier with this one's settings that has learned what both have."""
        if self.solver == "svd":
            raise TypeError('models of solver="svd" cannot be merged')
        merged: Self = super().__add__(other)
        return merged

    def _reads_for(self, other: Any) -> bool:
        pairs = type(other) is type(self) and (self.covariance in PAIRED or other.covariance not in PAIRED)
        return pairs and self._adds_up and other._adds_up

    @property
    def _adds_up(self) -> bool:
        return self.solver != "svd" and super()._adds_up

    def _svd_settings(self) -> tuple[Any, ...]:
        return tuple(settled(getattr(self, name)) for name in ("estimate", "ddof", "prior"))

    def _svd(self, block: Dense, target: Target, tally: Tally) -> LowRankGaussian:
        """Return the shared covariance from the rows themselves, centred by their class."""
        moments = tally.statistics[0]
        assert isinstance(moments, Moments)
        x = np.concatenate([piece for _, piece in block.pieces(0, block.shape[0])]).astype(np.float64)
        weights = np.ones(len(x)) if target.weights is None else target.weights
        n, pooled = tally.class_count, moments.pooled()
        middle, mean = pooled.mean[0], np.where(n[:, None] > 0, moments.mean, pooled.mean)
        centred = (x - mean[target.codes]) * np.sqrt(weights)[:, None]
        if self.estimate == "mle":
            within = np.sqrt(moments.m2.sum(axis=0) / n.sum())
            scale, rows = np.where(within > 0, within, 1.0), n.sum() - self.ddof * (n > 0).sum()
            if rows <= 0:
                raise ddof_error(self.ddof)
            return LowRankGaussian.of(centred, mean, scale, rows=rows, pseudo=0.0)
        pseudo = float(self.prior)
        variance = pooled.m2[0] / pooled.n.max()
        scale = np.sqrt(np.where(variance > 0, variance, max(float(variance.max()), 1e-300)))
        pull = np.sqrt(pseudo * n / (pseudo + n))[:, None] * (mean - middle)
        posterior = middle + (mean - middle) * (n / (pseudo + n))[:, None]
        stacked = np.vstack([centred, pull])
        return LowRankGaussian.of(stacked, posterior, scale, rows=n.sum(), pseudo=pseudo)

    def _structure(self) -> Full:
        return Full(self.shrinkage, self.covariance, float(self.ddof))

    def _estimator(self, columns: Columns) -> Gaussian:
        return Gaussian(0.0, self.ddof)

    def _check_svd(self) -> None:
        """Raise what singular values cannot do: their rows are scaled by column, and make no Student's t."""
        if self.covariance != "shared":
            raise ValueError(f'solver="svd" is for covariance="shared", not {self.covariance!r}')
        if self.estimate not in ("mle", "mean"):
            raise ValueError(
                f'solver="svd" is for estimate="mle" or "mean", not {self.estimate!r}; use solver="moments"'
            )
        if self.shrinkage not in (None, 0):
            raise ValueError(
                f'solver="svd" has no shrinkage, and it is {self.shrinkage!r}; set it to None, or use solver="moments"'
            )
        if self.estimate == "mean":
            if not isinstance(self.prior, Real):
                raise ValueError(f'solver="svd" takes a number as prior, not {self.prior!r}; use solver="moments"')
            positive(self.prior, "prior")

    def _check_settings(self, tally: Tally) -> None:
        if self.solver == "svd":
            self._check_svd()
        if self.covariance not in PAIRED:
            super()._check_settings(tally)
            return
        decision.class_prior(self._class_prior(), tally.schema.classes, tally.class_count)
        statistic = tally.statistics[0]
        if isinstance(self.prior, str):
            raise ValueError(f'prior={self.prior!r} is for covariance="diagonal"; for others it is a number')
        if self.estimate != "mle" and isinstance(statistic, CoMoments):
            check_prior(self._prior_setting(tally.schema.blocks[0]), statistic)

    def _estimated(self, tally: Tally) -> Model:
        """Return the model, with a word about classes of which there is too little to see how columns vary."""
        if self.solver == "svd":
            settings, subspace = getattr(self, "subspace_", (None, None))
            if subspace is None or settings != self._svd_settings():
                raise ValueError('with solver="svd" settings take effect when it is fitted: fit it again')
            shares = decision.class_prior(self._class_prior(), tally.schema.classes, tally.class_count)
            return Model(tally.schema.blocks, decision.log(shares), (subspace,))
        columns, statistic = tally.schema.blocks[0], tally.statistics[0]
        if self.covariance in PAIRED and not columns.pairs and self.solver == "moments":
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
        return super()._estimated(tally)

    def _about_singular(self, tally: Tally, place: int) -> str:
        shared, columns = self.covariance == "shared", tally.schema.blocks[0].count
        whose = "the classes" if shared else f"class {tally.schema.classes.tolist()[place]!r}"
        rows = tally.class_count.sum() if shared else tally.class_count[place]
        return (
            f"the covariance of {whose} is singular ({rows:g} rows, {columns} columns, which may be constant or say "
            'the same): it has no most likely value; use estimate="mean" with a prior, shrinkage=0.1 or "oas", or '
            'covariance="diagonal"'
        )

    @property
    def log_evidence_(self) -> float:
        """The log probability of X given the classes and the prior, of independent columns."""
        if self.covariance != "diagonal":
            raise AttributeError('log_evidence_ is there for covariance="diagonal"')
        return super().log_evidence_

    @property
    def posterior_(self) -> dict[str, Any]:
        """What is believed of each mean and variance, of independent columns."""
        if self.covariance != "diagonal":
            raise AttributeError('posterior_ is there for covariance="diagonal"')
        return super().posterior_

    @property
    def _n_features_out(self) -> int:
        return int(self.scalings_.shape[1])

    @property
    def _together(self) -> Any:
        return self._model().parameters[0]
