"""What else can be asked of a classifier: why, how likely a row is at all, and its model in other forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp

from suffice import decision
from suffice.classifiers.predicting import Predictor
from suffice.classifiers.scoring import predicted_at
from suffice.explain import Explanation, explained, information
from suffice.export import to_sql
from suffice.logistic.forms import LinearForm
from suffice.model import Model
from suffice.schema import Array
from suffice.score import as_doubles
from suffice.statistics import Tally
from suffice.structures import Subject

# How many probabilities are drawn at once for an interval: the rows are taken a few at a time.
DRAWN_CELLS = 1 << 22


class TallyClassifier(Predictor):
    """A classifier that asks the model of its tally."""

    def explain(self, X: Any) -> Explanation:
        """Return what the prior and each feature add to log p(x, class) of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows: a few, because all that is said of each is kept.

        Returns
        -------
        explanation : Explanation
            With ``contributions`` [row, class, feature], ``log_odds(row)`` and ``sentence(row)``.
        """
        tally, model = self._learned(), self._model()
        blocks = self._blocks(X, tally)
        names, values = self._held(X, tally)
        features, held, contributions = explained(model, blocks, names, values)
        log_joint = model.log_joint(blocks)
        log_proba = self._calibrated(model.log_posterior(blocks))
        classes = tally.schema.classes.tolist()
        return Explanation(classes, features, held, model.class_log_prior, contributions, log_joint, log_proba)

    @property
    def information_(self) -> dict[Any, float]:
        """How much each column tells of the class by itself, in nats, the most first; of a text, all its words.

        >>> from suffice import BernoulliNB
        >>> BernoulliNB().fit([[1, 0], [1, 1], [0, 0], [0, 1]], ["a", "a", "b", "b"]).information_
        {0: 0.6931471805599453, 1: 0.0}
        """
        tally = self._learned()
        told: dict[Any, float] = {}
        for columns, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
            found = information(columns, statistic)
            if columns.codings is not None and len(found) != columns.count:
                found = found.sum(keepdims=True)  # the words of a text
            told |= dict(zip(columns.names or range(columns.count), found.tolist(), strict=False))
        names = set(tally.schema.feature_names or told)
        kept = {name: nats for name, nats in told.items() if name in names or tally.schema.feature_names is None}
        return dict(sorted(kept.items(), key=lambda pair: -pair[1]))

    def _held(self, X: Any, tally: Tally) -> tuple[Sequence[Any], list[list[Any]]]:
        """Return the names of the columns, and what the rows hold of each."""
        block = self._block(X, tally)
        names = range(block.shape[1]) if tally.schema.feature_names is None else tally.schema.feature_names
        return names, [list(line) for line in as_doubles(block)[0][:, 0].tolist()]

    def score_samples(self, X: Any) -> Array:
        """Return log p(x), the log probability (density) of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_p : ndarray of shape (n_samples,)
        """
        return np.asarray(logsumexp(self.predict_joint_log_proba(X), axis=1))

    def sample(self, n_samples: int = 1, *, random_state: int | None = None) -> tuple[Array, Array]:
        """Return rows and labels drawn from the model.

        Parameters
        ----------
        n_samples : int, default=1
            How many rows.
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
        blocks, codes = self._model().sample(n_samples, rng)
        tally = self._learned()
        return self._decoded(tally, blocks, rng), tally.schema.classes[codes]

    def to_sql(self, dialect: str = "duckdb", *, table: str | Sequence[str] = "rows") -> str:
        """Return one SELECT that gives each row of a table its label and P(class given x), as ``predict_proba`` has it.

        Naive, chain, tree and Gaussian models can be written. Columns are found by name (x0, x1, … where they were
        learned without names) and have the types that they were learned with. NULL and NaN are empty cells. Of more
        than six Gaussian columns that vary together, rows of which some cells are empty have no probabilities: NULL.

        Parameters
        ----------
        dialect : {"duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake"}, default="duckdb"
            For which database.
        table : str or sequence of str, default="rows"
            The table's name, after its schema's and its catalogue's, if any: "shop.orders" or ("shop", "orders").

        Returns
        -------
        sql : str
            A query for all columns of the table, ``prediction``, and ``p(label)`` of each class; with ``_1`` after
            the name if a column of the model has it already. Of the table's other columns nothing is known here.

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
        return self._sql(dialect, table)

    def _sql(self, dialect: str, table: str | Sequence[str], present: Sequence[str] | None = None) -> str:
        """Return the statement; ``present`` are the columns of the table, where they are known."""
        tally, model = self._learned(), self._model()
        return to_sql(model, tally.schema.classes.tolist(), dialect, table, self._map(), present)

    def predict_table(self, source: Any) -> Any:
        """Return a table with two things beside it: ``prediction``, and ``p(label)`` of each class.

        Parameters
        ----------
        source : data frame, path, or table of an engine
            As in ``BayesClassifier.fit_table``; columns that were not learned are only handed on. Those learned
            without names go by x0, x1, ….

        Returns
        -------
        table : of the same kind
            No column of the table is written over: if it has a ``prediction``, the new column is ``prediction_1``,
            and so on. Where rows are far, nothing is computed before it is asked for: a table expression of Ibis (of
            files, too), a frame of Spark, a lazy frame of polars, a generator of batches. At a database the model is
            the SQL of ``to_sql``; where it cannot be written, DuckDB calls the model itself.
        """
        self._learned()
        return predicted_at(self, source)

    def as_linear(self) -> LinearForm:
        """Return the coefficients of the softmax that this model is.

        Naive Bayes of bits, counts and levels, and Gaussians with one covariance, are linear in their columns
        (levels one-hot, numbers above a threshold as bits); other Gaussians are linear in the columns and all
        products of two.

        Returns
        -------
        form : LinearForm
            With exactly this model's posteriors.
        """
        model = self._model()
        if self.calibrate is not None:
            raise ValueError("calibrated probabilities have no linear form; set calibrate=None")
        if len(model.parameters) != 1:
            raise ValueError("columns of several families have no linear form together")
        with np.errstate(invalid="ignore", divide="ignore"):
            lift, coefficients, biases = model.parameters[0].as_linear()
        if not (np.isfinite(coefficients).all() and np.isfinite(biases).all()):
            raise ValueError(
                "something has a probability of 0, which no finite coefficient of a linear form gives; "
                'use estimate="mean" with a prior of more than 0'
            )
        return LinearForm(self.classes_, coefficients, biases + model.class_log_prior, lift)

    def _decoded(self, tally: Tally, blocks: tuple[Array, ...], rng: np.random.Generator) -> Array:
        """Return drawn cells as a user would have passed them."""
        return blocks[0]

    def predict_interval(
        self, X: Any, level: float = 0.9, *, draws: int = 200, random_state: int | None = 0
    ) -> tuple[Array, Array]:
        """Return bounds between which P(class given x) lies with probability ``level``.

        The parameters are drawn many times from their posterior, the shares of the classes with them
        where these were counted, and each draw gives a P(class given x) of its own.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        level : float, default=0.9
            The probability that the interval holds the true P(class given x), if the model is right.
        draws : int, default=200
            How many times the parameters are drawn.
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
        tally = self._learned()
        blocks = self._blocks(X, tally)
        subjects = self._subjects(tally)
        priors = self._priors(tally)
        quantiles = [(1 - level) / 2, (1 + level) / 2]
        seed = np.random.SeedSequence(random_state)
        step = max(DRAWN_CELLS // (draws * len(tally.class_count)), 1)
        bounds = []
        for first in range(0, blocks[0].shape[0], step):
            last, rng = min(first + step, blocks[0].shape[0]), np.random.default_rng(seed)
            rows = tuple(block.between(first, last) for block in blocks)
            models = (self._drawn(tally, subjects, priors, rng) for _ in range(draws))
            drawn = [np.exp(self._calibrated(model.log_posterior(rows))) for model in models]
            bounds.append(np.quantile(drawn, quantiles, axis=0))
        lower, upper = np.concatenate(bounds, axis=1)
        return lower, upper

    def _drawn(
        self, tally: Tally, subjects: Sequence[Subject], priors: Sequence[Any], rng: np.random.Generator
    ) -> Model:
        """Return a model drawn from what is believed of the parameters."""
        shares = decision.drawn_class_prior(self._class_prior(), tally.schema.classes, tally.class_count, rng)
        structure, pairs = self._structure(), zip(subjects, priors, strict=True)
        parameters = tuple(structure.drawn(subject, prior, rng) for subject, prior in pairs)
        return Model(tuple(subject[1] for subject in subjects), self._scored(decision.log(shares)), parameters)
