"""What all classifiers have in common: learning, forgetting, merging, predicting."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from suffice import decision
from suffice.engines import memory
from suffice.estimation import RULES, chosen, log_evidence, posterior
from suffice.families import Family
from suffice.model import Model
from suffice.priors import Prior, for_columns
from suffice.schema import Array, Columns, merged_classes
from suffice.tables import Block, Table, as_block, as_labels
from suffice.tallies import Statistic, Tally

# The model of each classifier, with the tally and the settings it was estimated from. Kept beside
# the classifiers, not in them: it is no state of theirs, only work not to be done twice.
_models: WeakKeyDictionary[TallyClassifier, tuple[Tally, tuple[Any, ...], Model]] = WeakKeyDictionary()
_valid_settings: WeakKeyDictionary[TallyClassifier, tuple[Any, ...]] = WeakKeyDictionary()


class TallyClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose only learned state is ``tally_``; all else is read off it when asked for."""

    _family: ClassVar[str]
    _sparse: ClassVar[bool] = True
    _setting_names: ClassVar[tuple[str, ...]] = ()

    tally_: Tally

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._setting_names = tuple(cls._get_param_names())

    estimate: str
    prior: Any
    class_prior: Any

    @abstractmethod
    def _estimator(self) -> Family:
        """Return the family as the settings have it."""

    def _default_prior(self) -> Any:
        """Return the prior where none is set."""
        return 1.0

    def _class_prior(self) -> Any:
        """Return the setting of the class prior, by whatever names it goes."""
        return self.class_prior

    def _laid_out(self, tally: Tally) -> Tally:
        """Return the tally with room for all that the settings say there may be."""
        return tally

    def _check_settings(self, tally: Tally) -> None:
        """Raise what is wrong with the settings for this tally."""
        decision.class_prior(self._class_prior(), tally.schema.classes, tally.class_count)
        if self.estimate != "mle" and not isinstance(self.prior, str):
            columns, statistic = tally.schema.blocks[0], tally.statistics[0]
            self._estimator().believed(for_columns(self._prior_setting(), columns), columns, statistic)

    def _prior_setting(self) -> Any:
        return self._default_prior() if self.prior is None else self.prior

    def _estimated(self, tally: Tally) -> Model:
        """Return the model that the settings make of a tally."""
        tally = self._laid_out(tally)
        columns, statistic, family = tally.schema.blocks[0], tally.statistics[0], self._estimator()
        prior = None if self.estimate == "mle" else chosen(self._prior_setting(), family, columns, statistic)
        shares = decision.class_prior(self._class_prior(), tally.schema.classes, tally.class_count)
        parameters = RULES[self.estimate](family, columns, statistic, prior)
        return Model(columns, self._scored(decision.log(shares)), parameters)

    def _scored(self, class_log_prior: Array) -> Array:
        """Return the part of the log prior that enters the scores: all of it, but for complements."""
        return class_log_prior

    def _columns(self, block: Block) -> Columns:
        """Return how the columns of a block are to be counted."""
        return Columns(self._family, block.shape[1], block.names)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y, and from nothing else: what was known is forgotten.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row; a row of weight 2 counts as two rows.

        Returns
        -------
        self : object
        """
        return self._learn(None, X, y, None, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: any batches, in any order, give what ``fit`` gives on all of them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row. A label met for the first time is a new class.
        classes : array-like, default=None
            Labels to know from the start. Where given, y may hold no others.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row.

        Returns
        -------
        self : object
        """
        return self._learn(self.tally_ if self.__sklearn_is_fitted__() else None, X, y, classes, sample_weight)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: the model is as if it had never met them.

        A class whose last row goes is no longer a class. Rows that were never learned are an error,
        where the sums can tell, and leave the model as it was.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row, as it was learned.

        Returns
        -------
        self : object
        """
        known = self._learned()
        block = self._block(X, known)
        table = Table.of(block, y, sample_weight, known.schema.classes)
        left = known - memory.tally(table, self._columns(block))
        if len(left.class_count):
            self._check(left)
        self.tally_ = left
        return self

    def __add__(self, other: Self) -> Self:
        """Return a classifier with this one's settings that has learned what both have."""
        if type(other) is not type(self):
            return NotImplemented
        both: Self = clone(self)
        tally = self._learned() + other._learned()
        both._check(tally)
        both.tally_ = tally
        return both

    def __radd__(self, other: object) -> Self:
        # lets sum(models) start from its 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def predict(self, X: Any) -> Array:
        """Return the most probable label of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        tally = self._learned()
        return tally.schema.classes[self._model().most_probable(self._block(X, tally))]

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Return log p(x, class) = log P(class) + log p(x given class).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_joint : ndarray of shape (n_samples, n_classes)
        """
        return self._model().log_joint(self._block(X, self._learned()))

    def predict_log_proba(self, X: Any) -> Array:
        """Return log P(class given x).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        return self._model().log_posterior(self._block(X, self._learned()))

    def predict_proba(self, X: Any) -> Array:
        """Return P(class given x).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        log_posterior = self.predict_log_proba(X)
        return np.exp(log_posterior, out=log_posterior)

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
        tally = self._laid_out(self._learned())
        block = self._block(X, tally)
        self._check(tally)
        columns, statistic, family = tally.schema.blocks[0], tally.statistics[0], self._estimator()
        prior = chosen(self._prior_setting(), family, columns, statistic)
        beliefs = posterior(family, columns, statistic, prior)
        rng = np.random.default_rng(random_state)
        drawn = np.empty((draws, block.shape[0], len(tally.class_count)))
        for place in range(draws):
            shares = decision.drawn_class_prior(self._class_prior(), tally.schema.classes, tally.class_count, rng)
            model = Model(columns, self._scored(decision.log(shares)), family.draw(columns, beliefs, rng))
            drawn[place] = np.exp(model.log_posterior(block))
        lower, upper = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return lower, upper

    @property
    def log_evidence_(self) -> float:
        """Log p(X given the classes, prior), all parameters averaged out: what ``prior="auto"`` maximises."""
        tally = self._laid_out(self._learned())
        self._check(tally)
        columns, statistic, family = tally.schema.blocks[0], tally.statistics[0], self._estimator()
        prior = chosen(self._prior_setting(), family, columns, statistic)
        return float(log_evidence(family, columns, statistic, prior).sum())

    @property
    def prior_(self) -> Any:
        """The prior in use: as set, or the pseudo-counts that ``"auto"`` chose."""
        tally = self._laid_out(self._learned())
        return chosen(self._prior_setting(), self._estimator(), tally.schema.blocks[0], tally.statistics[0])

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        return self._learned().schema.classes

    @property
    def class_count_(self) -> Array:
        """The number of rows of each class, by weight."""
        return self._learned().class_count

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return self._learned().schema.blocks[0].count

    @property
    def feature_names_in_(self) -> Array:
        """The names of the columns; there only if they were learned from a frame with string names."""
        names = self._learned().schema.blocks[0].names
        if names is None:
            raise AttributeError(f"this {type(self).__name__} was fitted on columns without names")
        return np.array(names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tally_") and len(self.tally_.class_count) > 0

    def _learn(self, known: Tally | None, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        """Learn on top of what is known; nothing is changed before all of it has gone well."""
        self._check(None)
        block = self._block(X, known)
        labels = None if known is None else known.schema.classes
        if classes is not None:
            labels = self._declared(classes, labels)
        table = Table.of(block, y, sample_weight, labels)
        if classes is not None and labels is not None and len(table.classes) > len(labels):
            strange = np.setdiff1d(table.classes, labels)
            raise ValueError(f"The target label(s) {strange} in y do not exist in the initial classes {labels}")
        tally = memory.tally(table, self._columns(block))
        tally = tally if known is None else known + tally
        self._check(tally)
        self.tally_ = tally
        return self

    def _declared(self, classes: Any, known: Array | None) -> Array:
        """Return the labels that ``classes=`` allows."""
        declared = as_labels(classes, type(self).__name__)
        labels = np.unique(declared)
        if known is not None and (len(labels) < len(declared) or len(merged_classes(known, labels)) > len(labels)):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
        return labels

    def _block(self, X: Any, known: Tally | None) -> Block:
        """Return X as a block whose columns are those already known, if any are."""
        block = as_block(X, owner=type(self).__name__, sparse=self._sparse)
        if known is not None:
            columns = known.schema.blocks[0]
            if not (type(X) is np.ndarray and block.shape[1] == columns.count and columns.names is None):
                validate_data(self, X, reset=False, skip_check_array=True)
        return block

    def _learned(self) -> Tally:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. "
                "Call 'fit' with appropriate arguments before using this estimator."
            )
        return self.tally_

    def _model(self) -> Model:
        """Return the model of the tally under the settings as they are now."""
        tally, settings = self._learned(), self._settings()
        remembered = _models.get(self)
        if remembered is not None and remembered[0] is tally and remembered[1] == settings:
            return remembered[2]
        self._check(tally)
        model = self._estimated(tally)
        _models[self] = (tally, settings, model)
        return model

    def _check(self, tally: Tally | None) -> None:
        """Raise what is wrong with the settings, by themselves and for a tally: before they are used."""
        if _valid_settings.get(self) != (settings := self._settings()):
            self._validate_params()
            _valid_settings[self] = settings
        if tally is not None:
            self._check_settings(self._laid_out(tally))

    def _settings(self) -> tuple[Any, ...]:
        """Return the settings in a form that can be compared, arrays by their contents."""
        return tuple([_comparable(getattr(self, name)) for name in self._setting_names])

    @property
    def _statistic(self) -> Statistic:
        return self._learned().statistics[0]


def _comparable(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Prior):
        return (type(value), *(_comparable(each) for each in vars(value).values()))
    if isinstance(value, Mapping):
        return tuple((key, _comparable(each)) for key, each in value.items())
    array = np.asarray(value)
    return tuple(_comparable(each) for each in value) if array.dtype.kind == "O" else (array.shape, array.tobytes())
