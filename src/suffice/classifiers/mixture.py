"""MixtureClassifier: each class is a mixture of several components."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import field
from numbers import Integral, Real
from threading import Event
from typing import Any, ClassVar, Literal, NoReturn, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from suffice import decision
from suffice.blocks import Dense
from suffice.caller_warnings import warn_caller
from suffice.classifiers.checkpoint import Checkpoint
from suffice.classifiers.constructor import with_constructor
from suffice.classifiers.tally_classifier import CalibrationMethod, TallyClassifier
from suffice.data import Target
from suffice.data.reader import NumberReader
from suffice.mixtures import Bernoullis, Gaussians, Kind, Mixture, MixtureParameters, mixture, rows_of
from suffice.model import Model
from suffice.parallel import map_threads, one_blas_thread
from suffice.progress import Progress
from suffice.recipe import Recipe, Rule
from suffice.schema import Array, Columns
from suffice.score import SingularError
from suffice.settings import setting_text
from suffice.statistics import Tally
from suffice.structures.covariances import KINDS, CovarianceKind


def _unavailable(reason: str) -> Any:
    """Return an attribute of `TallyClassifier` that a mixture does not have; access raises with the reason."""

    def access(classifier: Any) -> NoReturn:
        raise AttributeError(reason)

    return property(access, doc=f"Not available: {reason}.")


@with_constructor
class MixtureClassifier(TallyClassifier):
    """Classifier whose classes are mixtures of Gaussian or Bernoulli distributions.

    p(x | class) = Σ over components of share·p(x | component), fitted by expectation-maximisation. A mixture is not
    computed from sums, so it cannot learn in batches, forget or merge.

    Parameters
    ----------
    components : int or dict {label: int}, default=2
        The number of components of each class.
    family : {"gaussian", "bernoulli"}, default="gaussian"
        The distribution of a component.
    covariance : {"spherical", "tied-diagonal", "diagonal", "chain", "tridiagonal", "tied-tridiagonal", "full", \
"shared"}, default="full"
        The form of the covariance of a Gaussian component, as in `GaussianDiscriminant`; "shared" is shared by the
        components of a class.
    shrinkage : float from 0 to 1, "oas" or None, default=None
        The weight of a multiple of the identity in Σ; "oas" computes it from the rows of the component.
    binarize : float, default=0.5
        Values above this count as 1, others as 0 (bernoulli).
    estimate : {"mle", "map", "mean"}, default="mean"
        How the parameters of a component are estimated; with a prior, no component collapses on a single row.
    prior : number or Prior, default=1.0
        The prior of these parameters; a number is a number of pseudo-rows like those of the whole class.
    class_prior : "empirical", "uniform", array-like, dict {label: p}, number or Prior, default="empirical"
        The class probabilities.
    n_init : int, default=1
        The number of random starts; the one with the highest likelihood is kept.
    max_iter : int, default=100
        The maximum number of steps of a start.
    tol : float, default=1e-3
        A start ends when the mean log-likelihood of a row increases by less than this.
    random_state : int, RandomState or None, default=0
        The seed.
    progress : bool, default=True
        Whether to show progress on a terminal when fitting takes longer than a second.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` calibrates probabilities on held-out predictions; by default it does not.

    Examples
    --------
    >>> from suffice import MixtureClassifier
    >>> X, y = [[0.0], [0.1], [5.0], [5.1], [2.4], [2.5], [2.6]], ["out"] * 4 + ["in"] * 3
    >>> MixtureClassifier(components={"out": 2, "in": 1}).fit(X, y).predict([[0.2], [2.4], [4.9]]).tolist()
    ['out', 'in', 'out']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "components": [Interval(Integral, 1, None, closed="left"), Mapping],
        "family": [StrOptions({"gaussian", "bernoulli"})],
        "covariance": [StrOptions(set(KINDS))],
        "shrinkage": [None, StrOptions({"oas"}), Interval(Real, 0, 1, closed="both")],
        "binarize": [Interval(Real, None, None, closed="neither")],
        "estimate": [StrOptions({"mle", "map", "mean"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "progress": ["boolean"],
    }

    _extra_attributes = (*TallyClassifier._extra_attributes, "mixtures_", "fitted_with_")
    mixtures_: tuple[Mixture, ...] = field(init=False)
    fitted_with_: tuple[Any, ...] = field(init=False)

    components: int | Mapping[Any, int] = 2
    family: Literal["gaussian", "bernoulli"] = "gaussian"
    covariance: CovarianceKind = "full"
    shrinkage: float | Literal["oas"] | None = None
    binarize: float = 0.5
    estimate: Rule = "mean"
    prior: Any = 1.0
    class_prior: Any = "empirical"
    n_init: int = 1
    max_iter: int = 100
    tol: float = 1e-3
    random_state: Any = 0
    progress: bool = True
    calibrate: CalibrationMethod | None = None

    partial_fit = _unavailable("a mixture cannot learn in batches: fit it on all rows")
    fit_table = _unavailable("a mixture is fitted to rows in memory: use fit")
    forget = _unavailable("a mixture cannot forget: fit it without the rows")
    predict_interval = _unavailable("a mixture has no intervals: the posterior of its components has no closed form")
    posterior_ = log_evidence_ = _unavailable("a mixture has no posterior in closed form")

    receipt = forget

    def __add__(self, other: Any) -> NoReturn:
        raise TypeError("mixtures cannot be merged: fit one on the rows of both")

    @property
    def trace_(self) -> dict[Any, Array]:
        """The mean log-likelihood of a row after each step, by class."""
        return {label: np.array(each.trace) for label, each in self._by_class()}

    @property
    def component_shares_(self) -> dict[Any, Array]:
        """The share of each component in its class."""
        return {label: np.exp(each.log_shares) for label, each in self._by_class()}

    @property
    def n_iter_(self) -> int:
        """The largest number of steps of any class."""
        return max(len(each.trace) for _, each in self._by_class())

    @property
    def converged_(self) -> bool:
        """Whether all classes converged within ``max_iter`` steps."""
        return all(each.converged for _, each in self._by_class())

    def _is_additive(self) -> bool:
        return False

    def _fit_settings(self) -> tuple[Any, ...]:
        """Return the settings that `fit` uses; changing them later has no effect."""
        names = ("components", "family", "covariance", "shrinkage", "binarize", "estimate", "prior")
        return tuple(setting_text(getattr(self, name)) for name in names)

    def _by_class(self) -> list[tuple[Any, Mixture]]:
        return list(zip(self._fitted_tally().schema.classes.tolist(), self.mixtures_, strict=True))

    def _make_recipe(self) -> Recipe:
        threshold = float(self.binarize) if self.family == "bernoulli" else None
        reader = NumberReader(type(self).__name__, self.family, accepts_sparse=False, threshold=threshold)
        return Recipe(reader, self.estimate, self.prior, self.class_prior)

    def _kind(self) -> Kind:
        if self.family == "bernoulli":
            return Bernoullis(self.estimate, self.prior, float(self.binarize))
        return Gaussians(self.estimate, self.prior, self.covariance, self.shrinkage)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, checkpoint: str | os.PathLike[str] | None = None
    ) -> Self:
        """Learn from rows X with labels y; everything that was learned before is discarded.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row; a row of weight 2 counts as two rows.
        checkpoint : str or path, default=None
            A file for the steps that were done, written every 30 seconds and deleted at the end. If the process is
            killed, the same call continues from it, with the same result.

        Returns
        -------
        self : object
        """
        return self._fit(X, y, sample_weight, checkpoint)

    def _learn_extras(
        self,
        recipe: Recipe,
        opened: Any,
        target: Target,
        tally: Tally,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> dict[str, Any]:
        mixtures = self._fit_mixtures(opened, tally.schema.blocks[0], target, checkpoint)
        return {"mixtures_": mixtures, "fitted_with_": self._fit_settings()}

    def _fit_mixtures(
        self, block: Dense, columns: Columns, target: Target, checkpoint: str | os.PathLike[str] | None
    ) -> tuple[Mixture, ...]:
        """Return the mixture of each class: the best of several starts."""
        labels, rows = target.classes.tolist(), rows_of(block, columns, 0, block.shape[0])
        weights = np.ones(len(rows)) if target.weights is None else target.weights
        members = [(target.codes == k) & (weights > 0) for k in range(len(labels))]
        counts = [self._count(label, int(each.sum())) for label, each in zip(labels, members, strict=True)]
        random = check_random_state(self.random_state)
        seeds = [int(random.randint(2**31)) for _ in range(len(labels) * self.n_init)]
        mixtures: list[Mixture | None] = [None] * len(seeds)
        file = None if checkpoint is None else self._checkpoint(checkpoint, rows, target)
        if file is not None and (done_before := file.read()) is not None:
            seeds, mixtures = done_before["seeds"], done_before["mixtures"]
        kind, done, interrupted = self._kind(), [0], Event()
        with Progress("mixtures", len(seeds), self.progress) as progress:

            def fitted(place: int) -> Mixture:
                k = place // self.n_init
                # a class of weight 0 gets the mixture of all rows; it is never predicted
                own = members[k] if members[k].any() else np.ones(len(rows), bool)
                own_weights = weights[own] if weights.any() else np.ones(len(rows))
                rng = np.random.default_rng(seeds[place])

                def say(detail: str) -> None:
                    progress.say(done[0], f"class {labels[k]!r}, {detail}")

                def keep(found: Mixture) -> None:
                    if interrupted.is_set():  # this thread was left behind by Ctrl-C
                        raise KeyboardInterrupt
                    mixtures[place] = found
                    if file is not None:
                        file.write({"seeds": seeds, "mixtures": list(mixtures)})

                given = (rows[own], own_weights, counts[k], kind, rng, self.max_iter, self.tol, say)
                try:
                    found = mixture(*given, mixtures[place], keep)
                except SingularError:
                    raise ValueError(
                        f"a component of class {labels[k]!r} has collapsed on so few rows that its covariance is "
                        'singular; use estimate="map", fewer components, or shrinkage'
                    ) from None
                done[0] += 1
                return found

            # one thread for each start: the matrix products within a start are too small for several threads
            with one_blas_thread():
                try:
                    tried = map_threads(fitted, range(len(seeds)))
                except KeyboardInterrupt:
                    interrupted.set()
                    raise
        if file is not None:
            file.remove()
        best = []
        for k, label in enumerate(labels):
            best.append(max(tried[k * self.n_init : (k + 1) * self.n_init], key=lambda each: each.trace[-1]))
            if not best[-1].converged:
                gained = best[-1].trace[-1] - best[-1].trace[-2]
                warn_caller(
                    f"the mixture of class {label!r} has not converged after {self.max_iter} steps: its mean "
                    f"log-likelihood still changes by {gained:.2g} a step; increase max_iter, or tol",
                    ConvergenceWarning,
                )
        return tuple(best)

    def _checkpoint(self, path: str | os.PathLike[str], rows: Array, target: Target) -> Checkpoint:
        """Return the checkpoint of a fit of these rows."""
        hashed = hashlib.sha256(rows.tobytes())
        for part in (target.codes, np.ones(0) if target.weights is None else target.weights):
            hashed.update(part.tobytes())
        settings = {**self.get_params(deep=False), "progress": None}
        return Checkpoint(path, type(self).__name__, {"settings": setting_text(settings), "rows": hashed.hexdigest()})

    def _count(self, label: Any, rows: int) -> int:
        count = int(self.components.get(label, 1) if isinstance(self.components, Mapping) else self.components)
        if count > rows:
            warn_caller(f"class {label!r} has only {rows} rows, too few for {count} components: it gets {max(rows, 1)}")
        return max(min(count, rows), 1)

    def _estimate(self, recipe: Recipe, tally: Tally) -> Model:
        if self.fitted_with_ != self._fit_settings():
            raise ValueError("settings changed after fitting, and a mixture uses them only in fit: fit it again")
        parameters = MixtureParameters(self.mixtures_, self._kind())
        return Model(tally.schema.blocks, recipe.class_log_prior(tally), (parameters,))

    def _check(self, recipe: Recipe, tally: Tally) -> None:
        decision.class_prior(self.class_prior, tally.schema.classes, tally.class_count)
        for label, count in self.components.items() if isinstance(self.components, Mapping) else ():
            if label not in tally.schema.classes.tolist():
                raise ValueError(f"components={{…}} names {label!r}, which is not a class")
            if isinstance(count, bool) or not isinstance(count, Integral) or int(count) < 1:
                raise ValueError(
                    f"components={{…}} gives class {label!r} {count!r} components; it must be a whole number, 1 or more"
                )
