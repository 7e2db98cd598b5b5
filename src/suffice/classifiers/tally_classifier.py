"""TallyClassifier: predictions, explanations and exports of a classifier whose learned state is a tally."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils._param_validation import StrOptions

from suffice import decision
from suffice.classifiers.concurrency import on_snapshot, one_at_a_time
from suffice.classifiers.deployable import Deployable
from suffice.classifiers.generative_model import GenerativeModel
from suffice.classifiers.sum_learner import SumLearner
from suffice.recipe import Recipe, Rule
from suffice.schema import Array, Plan

if TYPE_CHECKING:
    from suffice.decision.calibration import Calibration
    from suffice.explain import Explanation
    from suffice.folds.held_out import FitFunction
    from suffice.folds.hold_out import HeldOut
    from suffice.logistic.forms import LinearForm
    from suffice.pooled_model import AnyModel

CalibrationMethod = Literal["temperature", "vector", "isotonic"]

# Intervals are computed from at most this many drawn probabilities at a time.
DRAWN_CELLS = 1 << 22


class TallyClassifier(Deployable, ClassifierMixin, SumLearner, GenerativeModel):  # type: ignore[misc]
    """A classifier that predicts with the model estimated from its tally."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    estimate: Rule | Mapping[Any, Rule]
    prior: Any
    class_prior: Any
    missing: str = "error"  # a setting where the sums can skip a missing cell
    plan: Plan | None = None
    calibrate: CalibrationMethod | None
    calibration_: Calibration
    target_name_: str
    weight_name_: str
    na_values_: list[str]  # texts that stand for a missing cell in files, if they are not the default
    decimal_marks_: dict[str, str]  # "," or "." of columns of files that have signs or separators in their numbers
    date_parts_: dict[str, list[str]]  # the parts of each column of dates in files, such as ["year", "month"]
    date_orders_: dict[str, str]  # whether the day or the month is first in dates of files that are not ISO dates
    target_cuts_: list[float]  # between the bins of a target of numbers, set by the command line

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        shared = {
            "missing": [StrOptions({"error", "skip"})],
            "plan": [Plan, None],
            "calibrate": [None, StrOptions(set(get_args(CalibrationMethod)))],
        }
        cls._parameter_constraints = {**shared, **cls._parameter_constraints}

    # -- learning from tables ------------------------------------------------------------------------

    @one_at_a_time
    def fit_table(
        self,
        source: Any,
        target: str,
        *,
        weight: str | None = None,
        missing_target: Literal["error", "drop"] = "error",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn from a table that has the labels in one of its columns.

        Parameters
        ----------
        source : data frame, path, or table of an engine
            The table: a frame of pandas, polars or pyarrow; a file, a glob, a folder or several of them (CSV,
            Parquet, JSON lines, Arrow); the URL of a table of a database, such as
            ``postgresql://user@host/base#table``; a table expression of Ibis on any backend; a relation of DuckDB; a
            frame of Spark or dask; a lazy polars frame; or an iterable of frames or record batches. Rows of frames are
            in memory; all others stay where they are: columns are planned from a sample of up to 100,000 rows, and
            one scan takes the sums. All columns but the target and the weights are learned.
        target : str
            The name of the column with the labels.
        weight : str, default=None
            The name of a column with the weight of each row.
        missing_target : {"error", "drop"}, default="error"
            Whether rows without a label are an error or are dropped.
        checkpoint : str or path, default=None
            A file for what was learned of the sample (the plan, trees, weights of a pool) and then, every 30 seconds,
            for the sums of the rows that were counted. It is deleted at the end. If the process is killed, the same
            call continues from it, with the same result. Only for sources that are files, which must not change.

        Returns
        -------
        self : object
        """
        # here and below, what fit and predict do not need is imported late: an import takes most of a first fit
        from suffice.classifiers.fit_table import learn_table

        reading = learn_table(self, source, target, weight, missing_target, checkpoint)
        self.target_name_ = target
        if weight is not None:
            self.weight_name_ = weight
        self.__dict__ |= reading
        return self

    # -- predictions -------------------------------------------------------------------------------

    @on_snapshot
    def predict(
        self,
        X: Any,
        *,
        costs: Any = None,
        reject_below: float | None = None,
        reject_label: Any = None,
        class_prior: Any = None,
    ) -> Array:
        """Return the most probable label of each row, or the label of least expected cost.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.
        costs : array-like of shape (n_classes, n_classes) or dict {(true, predicted): cost}, default=None
            The cost of predicting one class where another is true; the label of least expected cost is returned.
        reject_below : float, default=None
            Where no class reaches this probability, ``reject_label`` is returned.
        reject_label : object, default=None
            Label to use when no class reaches the threshold.
        class_prior : as in the constructor, default=None
            Class probabilities of the population that the rows come from, in place of those that were learned.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        classes = self._fitted_tally().schema.classes
        if costs is None and reject_below is None and class_prior is None and self.calibrate is None:
            return classes.take(self.estimate_model().most_probable(self.read_rows(X).blocks))
        from suffice.decision.costs import choose_least_cost, cost_matrix, reject_uncertain

        matrix = None if costs is None else cost_matrix(costs, classes)
        log_posterior = self.predict_log_proba(X, class_prior=class_prior)
        codes = decision.first_of_highest(log_posterior) if matrix is None else choose_least_cost(log_posterior, matrix)
        labels = classes[codes]
        return labels if reject_below is None else reject_uncertain(labels, log_posterior, reject_below, reject_label)

    @on_snapshot
    def predict_joint_log_proba(self, X: Any) -> Array:
        """Return log p(x, class) = log P(class) + log p(x | class); of a pool, its scores before they are normalised.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.

        Returns
        -------
        log_joint : ndarray of shape (n_samples, n_classes)
        """
        return self.estimate_model().log_joint(self.read_rows(X).blocks)

    @on_snapshot
    def predict_log_proba(self, X: Any, *, class_prior: Any = None) -> Array:
        """Return log P(class | x).

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.
        class_prior : as in the constructor, default=None
            Class probabilities of the population that the rows come from, in place of those that were learned.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        model, tally = self.estimate_model(), self.chosen_tally()
        if class_prior is None:
            return self._apply_calibration(model.log_posterior(self.read_rows(X).blocks))
        prior = decision.log(decision.class_prior(class_prior, tally.schema.classes, tally.class_count))
        if not np.array_equal(self.recipe().scored_prior(prior), prior):
            raise ValueError(f"{type(self).__name__} does not use class probabilities")
        blocks = self.read_rows(X).blocks
        if self.calibrate is None:
            return model.with_class_prior(prior).log_posterior(blocks)
        # the calibration was fitted under the learned prior: divide that prior out, and multiply the new one in
        learned = np.maximum(model.class_log_prior, np.log(np.finfo(np.float64).tiny))
        shifted = self._apply_calibration(model.log_posterior(blocks)) + (prior - learned)
        return decision.log_posterior(shifted, prior)

    def predict_proba(self, X: Any, *, class_prior: Any = None) -> Array:
        """Return P(class | x).

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.
        class_prior : as in the constructor, default=None
            Class probabilities of the population that the rows come from, in place of those that were learned.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        log_posterior = self.predict_log_proba(X, class_prior=class_prior)
        return np.exp(log_posterior, out=log_posterior)

    @on_snapshot
    def predict_interval(
        self, X: Any, level: float = 0.9, *, draws: int = 200, random_state: int | None = 0
    ) -> tuple[Array, Array]:
        """Return bounds between which P(class | x) lies with probability ``level``.

        The parameters are drawn many times from their posterior, together with the class probabilities where these
        were counted, and each draw gives its own P(class | x).

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.
        level : float, default=0.9
            The probability that the interval contains the true P(class | x), if the model is right.
        draws : int, default=200
            The number of draws of the parameters.
        random_state : int or None, default=0
            The seed.

        Returns
        -------
        lower, upper : ndarrays of shape (n_samples, n_classes)
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not be {level!r}")
        if draws < 2:
            raise ValueError(f"draws must be 2 or more, not {draws!r}")
        tally, recipe, blocks = self.chosen_tally(), self.recipe(), self.read_rows(X).blocks
        quantiles = [(1 - level) / 2, (1 + level) / 2]
        seed = np.random.SeedSequence(random_state)
        step = max(DRAWN_CELLS // (draws * len(tally.class_count)), 1)
        bounds = []
        for first in range(0, blocks[0].shape[0], step):
            last, rng = min(first + step, blocks[0].shape[0]), np.random.default_rng(seed)
            rows = tuple(block.between(first, last) for block in blocks)
            models = recipe.draw_models(tally, draws, rng)
            drawn = [np.exp(self._apply_calibration(model.log_posterior(rows))) for model in models]
            bounds.append(np.quantile(drawn, quantiles, axis=0))
        lower, upper = np.concatenate(bounds, axis=1)
        return lower, upper

    # -- the model in other forms ------------------------------------------------------------------

    @on_snapshot
    def explain(self, X: Any) -> Explanation:
        """Return what the prior and each feature contribute to log p(x, class) of each row.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows. All contributions are kept in memory, so pass a few.

        Returns
        -------
        explanation : Explanation
            With ``contributions`` [row, class, feature], ``log_odds(row)``, ``sentence(row)`` and ``to_frame()``. If
            the model is calibrated, ``log_odds`` are those of the calibrated probabilities.
        """
        model, rows = self.estimate_model(), self.read_rows(X)
        log_proba, calibration = self._apply_calibration(model.log_posterior(rows.blocks)), self.fitted_calibration()
        slope = 1.0 if calibration is None else calibration.slope
        from suffice.explain import explain_rows

        return explain_rows(model, self.classes_.tolist(), rows.blocks, rows.names, rows.values, log_proba, slope)

    @on_snapshot
    def as_linear(self) -> LinearForm:
        """Return the coefficients of the softmax regression that this model is equal to.

        Naive Bayes of bits, counts and levels, and Gaussians with one covariance, are linear in their columns
        (levels one-hot, numbers above a threshold as bits); other Gaussians are linear in the columns and all
        products of two.

        Returns
        -------
        form : LinearForm
            With exactly this model's posteriors.
        """
        from suffice.logistic.forms import LinearForm
        from suffice.pooled_model import PooledModel

        model = self.estimate_model()
        if self.calibrate is not None:
            raise ValueError("calibrated probabilities have no linear form; set calibrate=None")
        if isinstance(model, PooledModel):
            raise ValueError('a pool has no linear form; set one structure, such as structure="naive"')
        if len(model.parameters) != 1:
            raise ValueError("a model with columns of several families has no linear form")
        with np.errstate(invalid="ignore", divide="ignore"):
            lift, coefficients, biases = model.parameters[0].as_linear()
        if not (np.isfinite(coefficients).all() and np.isfinite(biases).all()):
            raise ValueError(
                "the model contains a probability of 0, which no finite coefficient can express; "
                'use estimate="mean" with a prior of more than 0'
            )
        return LinearForm(self.classes_, coefficients, biases + model.class_log_prior, lift)

    def fitted_calibration(self) -> Calibration | None:
        """Return the calibration that `fit` learned; None without ``calibrate``.

        Returns
        -------
        calibration : Calibration or None
        """
        if self.calibrate is None:
            return None
        found = self.__dict__.get("calibration_")
        if found is None or found.method != self.calibrate or found.classes != self.classes_.tolist():
            raise ValueError(
                f"calibrate={self.calibrate!r} is learned by fit, and this model was fitted without it, or has learned "
                "or forgotten classes since; fit again, or set calibrate=None"
            )
        return found  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "skip"
        return tags

    def exported_model(self) -> tuple[AnyModel, Calibration | None]:
        """Return the model that exports translate, and its calibration; raise if it is not fitted.

        Returns
        -------
        model : Model or PooledModel
        calibration : Calibration or None
        """
        self._fitted_tally()
        return self.estimate_model(), self.fitted_calibration()

    def _checked_state(self) -> dict[str, Any]:
        self.estimate_model()
        return self.__getstate__()

    def _is_additive(self) -> bool:
        return self.calibrate is None

    def _apply_calibration(self, log_posterior: Array) -> Array:
        found = self.fitted_calibration()
        return log_posterior if found is None else np.asarray(found(log_posterior))

    def _calibrate(
        self, recipe: Recipe, X: Any, y: Any, sample_weight: Any, held_out: HeldOut | None
    ) -> dict[str, Any]:
        if self.calibrate is None:
            return {}
        from suffice.decision.calibration import Calibration
        from suffice.folds.hold_out import hold_out

        if held_out is None:
            held_out = hold_out(self._learner_of_folds(recipe), recipe, X, y, sample_weight)
            held_out = held_out.weigh_classes(recipe.class_weight)
        return {"calibration_": Calibration.of(self.calibrate, **vars(held_out))}

    def _learner_of_folds(self, recipe: Recipe) -> Recipe | FitFunction:
        """Return what is learned without a fold, to calibrate: sums, or a copy of this classifier."""
        plain = clone(self).set_params(calibrate=None)
        return plain.additive_recipe() or (lambda rows, labels, weights: clone(plain).fit(rows, labels, weights))
