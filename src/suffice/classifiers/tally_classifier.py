"""TallyClassifier: predictions, explanations and exports of a classifier whose learned state is a tally."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils._param_validation import StrOptions

from suffice import decision
from suffice.classifiers.concurrency import on_snapshot, one_at_a_time
from suffice.classifiers.sum_learner import SumLearner
from suffice.data import Sheet, check_table, split_frame
from suffice.decision.calibration import MAPS, Calibration
from suffice.decision.costs import choose_least_cost, cost_matrix, reject_uncertain
from suffice.families import FAMILIES
from suffice.logistic.forms import LinearForm
from suffice.pooled_model import PooledModel
from suffice.recipe import Recipe, Rule
from suffice.schema import Array, Plan
from suffice.settings import setting_text

if TYPE_CHECKING:
    from suffice.explain import Explanation
    from suffice.export import Style
    from suffice.folds.held_out import FitFunction
    from suffice.folds.hold_out import HeldOut

CalibrationMethod = Literal["temperature", "vector", "isotonic"]
FloatType = Literal["float32", "float64"]
InputType = Literal["float32", "float64", "int64", "bool", "string"]
Dialect = Literal["duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake", "mysql", "tsql", "clickhouse"]

# Intervals are computed from at most this many drawn probabilities at a time.
DRAWN_CELLS = 1 << 22


class TallyClassifier(ClassifierMixin, SumLearner):  # type: ignore[misc]
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
    target_cuts_: list[float]  # between the bins of a target of numbers, set by the command line

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        shared = {
            "missing": [StrOptions({"error", "skip"})],
            "plan": [Plan, None],
            "calibrate": [None, StrOptions(set(MAPS))],
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
        from suffice.classifiers.checkpoint import Checkpoint
        from suffice.classifiers.fit_table import learn_source
        from suffice.data.engines.open_source import open_source
        from suffice.data.files.table_file import training_hints

        table = open_source(source, training_hints(target, weight, getattr(self, "families", None)))
        if checkpoint is not None and (table is None or table.fingerprint is None):
            raise ValueError(
                "a checkpoint is for files, whose rows come again in the same order: leave out checkpoint=…"
            )
        if table is None:
            self.fit(*split_frame(source, target, weight, missing_target))
        else:
            check_table(table.names, target, weight, missing_target)
            file = None
            if checkpoint is not None:
                subject = {"settings": setting_text(self.get_params(deep=False)), "source": str(table.fingerprint)}
                subject["columns of labels and weights"] = repr((target, weight, missing_target))
                file = Checkpoint(checkpoint, type(self).__name__, subject)
            learned = learn_source(table, clone(self), target, weight, missing_target, file)
            checked = self._snapshot()
            checked._set_learned(learned.tally_, learned._learned_extras())
            checked._check_classes(checked.classes_)
            checked._check(checked.recipe(), checked.chosen_tally())
            checked._check_estimate(checked.recipe())
            self.__dict__ = checked.__dict__
            if file is not None:
                file.remove()
        self.target_name_ = target
        if weight is not None:
            self.weight_name_ = weight
        self.__dict__ |= {} if table is None else table.reading
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
            return classes[self.estimate_model().most_probable(self.read_rows(X).blocks)]
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

    @on_snapshot
    def predict_table(self, source: Any) -> Any:
        """Return a table with the prediction and the probability of each class as new columns.

        Parameters
        ----------
        source : data frame, path, or table of an engine
            As in ``fit_table``; columns that were not learned are passed through. Columns learned
            without names are called x0, x1, ….

        Returns
        -------
        table : of the same kind
            With ``prediction`` and ``p(label)`` of each class. No column of the table is overwritten: if it has a
            ``prediction``, the new column is ``prediction_1``. Tables of engines are computed lazily: the result is
            an Ibis table expression (for files, too), a Spark frame, a lazy polars frame, or a generator of batches.
            A database computes the SQL of ``to_sql``; DuckDB calls the model itself where there is no SQL for it.
        """
        self._fitted_tally()
        from suffice.classifiers.predict_table import predict_source

        return predict_source(self, source)

    @on_snapshot
    def score_samples(self, X: Any) -> Array:
        """Return log p(x), the log probability (density) of each row.

        A number in bins contributes log P(bin | class) + log p(number | bin). The second term is the same for all
        classes: the share of the number's cell among the rows of its bin (with 0.5 added to each cell) over the width
        of the cell, but at least a thousandth of the standard deviation wide. Below the first and above the last edge
        it is the density of a Gaussian with the column's mean and variance, given that the number lies there. So a
        number where no rows were learned has a low score. `predict_joint_log_proba` does not include this term. Of a
        pool, it is log p(x) of the first component that has one ("averaged" by default).

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.

        Returns
        -------
        log_p : ndarray of shape (n_samples,)
        """
        rows, model = self.read_rows(X), self.estimate_model()
        log_p = model.log_density(rows.blocks)
        if not isinstance(rows.opened, Sheet):
            return log_p
        schema = replace(rows.schema, blocks=model.density.columns)
        from suffice.choice import log_density_in_bins

        return log_p + log_density_in_bins(self.tally_, schema, rows.opened)

    @on_snapshot
    def sample(self, n_samples: int = 1, *, random_state: int | None = None) -> tuple[Array, Array]:
        """Return rows and labels drawn from the model; of a pool, from its first component that has p(x | class).

        Numbers of a table are drawn where numbers were learned, and are whole if all that were learned are whole. A
        number in a bin lies in one of the bin's cells, drawn by the counts of the row's class. Where in the cell it
        lies is such that the numbers of a class have the mean that was learned. A Gaussian number is mapped to the same
        quantile of the cells of its class, so that it has their distribution and depends on other columns as in the
        model; one that was not counted in cells (family "gaussian") is drawn as it is. An unknown level and a missing
        cell are None.

        Parameters
        ----------
        n_samples : int, default=1
            The number of rows.
        random_state : int or None, default=None
            The seed.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
        """
        if n_samples < 1:
            raise ValueError(f"n_samples must be 1 or more, not {n_samples!r}")
        rng = np.random.default_rng(random_state)
        model = self.estimate_model()
        blocks, codes = model.sample(n_samples, rng)
        schema = replace(self.chosen_tally().schema, blocks=model.density.columns)
        if schema.features is None:
            return blocks[0], schema.classes[codes]
        from suffice.choice import decode_rows

        return decode_rows(self.tally_, schema, blocks, codes, rng), schema.classes[codes]

    # -- the model in other forms ------------------------------------------------------------------

    @on_snapshot
    def explain(self, X: Any) -> "Explanation":
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

    @property
    def information_(self) -> dict[Any, float]:
        """The mutual information of each column and the class in nats, largest first; a text has the sum of its words.

        >>> from suffice import BernoulliNB
        >>> BernoulliNB().fit([[1, 0], [1, 1], [0, 0], [0, 1]], ["a", "a", "b", "b"]).information_
        {0: 0.6931471805599453, 1: 0.0}
        """
        tally = self.chosen_tally()
        found: dict[Any, float] = {}
        for columns, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
            nats = FAMILIES[columns.family].information(columns, statistic)
            if columns.codings is not None and len(nats) != columns.count:
                nats = nats.sum(keepdims=True)  # the words of a text
            # of a pool, the form in its first component
            found = dict(zip(columns.names or range(columns.count), nats.tolist(), strict=False)) | found
        names = set(tally.schema.feature_names or found)
        kept = {name: nats for name, nats in found.items() if name in names or tally.schema.feature_names is None}
        return dict(sorted(kept.items(), key=lambda pair: -pair[1]))

    @on_snapshot
    def to_sql(
        self,
        dialect: Dialect = "duckdb",
        *,
        table: str | Sequence[str] = "rows",
        columns: Sequence[str] | None = None,
        style: "Style" = "auto",
        prefix: str | Sequence[str] = "suffice_model",
        view: bool = True,
    ) -> str:
        """Return SQL that gives each row of a table its label and P(class | x), as ``predict_proba`` does.

        A small model is one SELECT. Others are a script, which creates tables of parameters and a view that joins
        them to the rows. Columns are found by name (x0, x1, … if they were learned without names) and must have the
        types that they were learned with. NULL and NaN are missing cells.

        Parameters
        ----------
        dialect : {"duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake", "mysql", "tsql", "clickhouse"}, \
                default="duckdb"
            The database.
        table : str or sequence of str, default="rows"
            The table's name, after its schema and catalogue, if any: "shop.orders" or ("shop", "orders").
        columns : sequence of str, default=None
            The columns of the table, if they are known: learned columns that are not among them count as missing, and
            no new column gets the name of one of them.
        style : {"auto", "select", "tables"}, default="auto"
            One SELECT that contains all numbers of the model, or a script with tables of parameters. "auto" is a
            SELECT for models of at most 4,000 numbers, if it gives every row a result.
        prefix : str or sequence of str, default="suffice_model"
            The name of the view of a script, and the beginning of the names of its tables; it may have a schema.
        view : bool, default=True
            Whether a script ends with CREATE VIEW, or with the SELECT of the view.

        Returns
        -------
        sql : str
            A query or a view of all columns of the table, ``prediction``, and ``p(label)`` of each class; with ``_1``
            after the name if a column has that name already.

        Examples
        --------
        >>> from suffice import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["low", "low", "high", "high"])
        >>> for line in model.to_sql("postgres", table="shop.orders").splitlines()[-4:]:
        ...     print(line)
        END AS "prediction",
        "suffice_w0" / "suffice_sum" AS "p(high)",
        "suffice_w1" / "suffice_sum" AS "p(low)"
        FROM "suffice_4" AS "suffice_4"
        """
        classes = self.classes_.tolist()
        calibration = self.fitted_calibration()
        from suffice.export import to_sql

        return to_sql(
            self.estimate_model(), classes, dialect, table, calibration, columns, style=style, prefix=prefix, view=view
        )

    @on_snapshot
    def to_onnx(self, dtype: FloatType = "float32", *, types: Mapping[str, InputType] | None = None) -> Any:
        """Return an ONNX model that gives each row its label and P(class | x), as ``predict_proba`` does.

        A model that was fitted to a table has one input of shape [rows, 1] for each column that it reads, by name: a
        string for texts, an int64 or bool for levels that are whole numbers or booleans, and ``dtype`` for other
        numbers and for columns in which a missing cell is a level. A model that was fitted to an array has one input,
        ``X``, with all columns. NaN and, unless it was learned as a level, the empty string are missing cells.

        Parameters
        ----------
        dtype : {"float32", "float64"}, default="float32"
            The type of numbers and of the probabilities. Both are computed in double precision.
        types : mapping of {str: str}, default=None
            The types of some columns, if they are to have others: "float32", "float64", "int64", "bool" or "string".
            The columns of an array are then inputs of their own, ``x0``, ``x1``, ….

        Returns
        -------
        model : onnx.ModelProto
            With the outputs ``label`` [rows] and ``probabilities`` [rows, classes], as scikit-learn's converters name
            them; with ``_1`` after the name if a column has that name already. ``SerializeToString()`` returns the
            content of a file.

        Examples
        --------
        >>> import onnxruntime
        >>> from suffice import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["low", "low", "high", "high"])
        >>> session = onnxruntime.InferenceSession(model.to_onnx("float64").SerializeToString())
        >>> labels, probabilities = session.run(None, {"X": [[1.5], [3.6]]})
        >>> labels.tolist(), probabilities.round(3).tolist()
        (['low', 'high'], [[0.0, 1.0], [0.832, 0.168]])
        """
        features = self.n_features_in_
        classes, calibration = self.classes_.tolist(), self.fitted_calibration()
        from suffice.export import to_onnx

        return to_onnx(self.estimate_model(), classes, calibration, dtype=dtype, types=types, features=features)

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

    # -- what was estimated ------------------------------------------------------------------------

    @property
    def posterior_(self) -> dict[str, Any]:
        """The posterior of each parameter: scipy.stats distributions of arrays [class, column].

        >>> from suffice import BernoulliNB
        >>> model = BernoulliNB().fit([[1], [1], [0]], ["a", "a", "b"])
        >>> lower, upper = model.posterior_["p"].interval(0.9)
        >>> lower.round(2).tolist(), upper.round(2).tolist()
        ([[0.37], [0.03]], [[0.98], [0.78]])
        """
        subject, hyperparameters = self.recipe().hyperparameters(self._checked_tally())[0]
        return subject.family.marginals(subject.columns, hyperparameters)

    @property
    def log_evidence_(self) -> float:
        """The log probability of X given the classes and the prior, with all parameters integrated out.

        Columns are treated as independent under every structure.
        """
        return self.recipe().log_evidence(self._checked_tally())

    @property
    def prior_(self) -> Any:
        """The prior in use: as set, or the pseudo-counts that ``"auto"`` chose."""
        return self.recipe().block_priors(self._checked_tally())[0]

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters of p(x | class), of all classes.

        >>> import numpy as np
        >>> from suffice import BernoulliNB
        >>> BernoulliNB().fit(np.eye(10, 784), range(10)).n_parameters_
        7840
        """
        return sum(parameters.n_parameters for parameters in self.estimate_model().parameters)

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

    def _checked_tally(self) -> Any:
        tally = self.chosen_tally()
        self._check(self.recipe(), tally)
        return tally

    def _is_additive(self) -> bool:
        return self.calibrate is None

    def _apply_calibration(self, log_posterior: Array) -> Array:
        found = self.fitted_calibration()
        return log_posterior if found is None else np.asarray(found(log_posterior))

    def _calibrate(
        self, recipe: Recipe, X: Any, y: Any, sample_weight: Any, held_out: "HeldOut | None"
    ) -> dict[str, Any]:
        if self.calibrate is None:
            return {}
        from suffice.folds.hold_out import hold_out

        if held_out is None:
            held_out = hold_out(self._learner_of_folds(recipe), recipe, X, y, sample_weight)
            held_out = held_out.weigh_classes(recipe.class_weight)
        return {"calibration_": Calibration.of(self.calibrate, **vars(held_out))}

    def _learner_of_folds(self, recipe: Recipe) -> "Recipe | FitFunction":
        """Return what is learned without a fold, to calibrate: sums, or a copy of this classifier."""
        plain = clone(self).set_params(calibrate=None)
        return plain.additive_recipe() or (lambda rows, labels, weights: clone(plain).fit(rows, labels, weights))
