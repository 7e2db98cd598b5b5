"""What all classifiers have in common: settings, the model they make of a tally, predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin

from suffice import decision
from suffice.classifiers.learner import Learner
from suffice.estimation import chosen, log_evidence, posterior
from suffice.families import Family
from suffice.families.together import SingularError
from suffice.logistic.forms import LinearForm
from suffice.model import Model
from suffice.priors import Prior, for_columns
from suffice.schema import Array, Columns
from suffice.structures import STRUCTURES, Structure, Subject
from suffice.tables import Block
from suffice.tallies import Tally

# How many probabilities are drawn at once for an interval: the rows are taken a few at a time.
DRAWN_CELLS = 1 << 22

# The model of each classifier, with the tally and the settings it was estimated from. Kept beside
# the classifiers, not in them: it is no state of theirs, only work not to be done twice.
_models: WeakKeyDictionary[TallyClassifier, tuple[Tally, tuple[Any, ...], Model]] = WeakKeyDictionary()
_valid_settings: WeakKeyDictionary[TallyClassifier, tuple[Any, ...]] = WeakKeyDictionary()


class TallyClassifier(ClassifierMixin, Learner):  # type: ignore[misc]
    """A classifier that reads a model off its tally whenever it is asked for something."""

    _setting_names: ClassVar[tuple[str, ...]] = ()

    estimate: str
    prior: Any
    class_prior: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._setting_names = tuple(cls._get_param_names())

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
        return tally.schema.classes[self._model().most_probable(self._blocks(X, tally))]

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
        return self._model().log_joint(self._blocks(X, self._learned()))

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
        return self._model().log_posterior(self._blocks(X, self._learned()))

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
            drawn = [np.exp(self._drawn(tally, subjects, priors, rng).log_posterior(rows)) for _ in range(draws)]
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

    @property
    def posterior_(self) -> dict[str, Any]:
        """What is believed of each parameter after the data: distributions of scipy.stats, [class, column].

        >>> from suffice import BernoulliNB
        >>> model = BernoulliNB().fit([[1], [1], [0]], ["a", "a", "b"])
        >>> lower, upper = model.posterior_["p"].interval(0.9)
        >>> lower.round(2).tolist(), upper.round(2).tolist()
        ([[0.37], [0.03]], [[0.98], [0.78]])
        """
        family, columns, statistic = self._subjects(self._learned())[0]
        return family.marginals(columns, posterior(family, columns, statistic, self.prior_))

    @property
    def log_evidence_(self) -> float:
        """The log probability of X given the classes and the prior, all parameters averaged out.

        Columns are taken one by one, whatever the structure.
        """
        tally = self._learned()
        self._check(tally)
        pairs = zip(self._subjects(tally), self._priors(tally), strict=True)
        return float(sum(log_evidence(*subject, prior).sum() for subject, prior in pairs))

    @property
    def prior_(self) -> Any:
        """The prior in use: as set, or the pseudo-counts that ``"auto"`` chose."""
        tally = self._learned()
        self._check(tally)
        return self._priors(tally)[0]

    @abstractmethod
    def _estimator(self, columns: Columns) -> Family:
        """Return the family of a block of columns as the settings have it."""

    def _structure(self) -> Structure:
        """Return which column depends on which: none on any."""
        return STRUCTURES["naive"]

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
            for family, columns, statistic in self._subjects(tally):
                family.believed(for_columns(self._prior_setting(columns), columns), columns, statistic)

    def _prior_setting(self, columns: Columns) -> Any:
        """Return what is set as the prior of a block of columns."""
        return self._default_prior() if self.prior is None else self.prior

    def _priors(self, tally: Tally) -> list[Any]:
        """Return the prior of each block of columns: as set, or as chosen by evidence."""
        return [chosen(self._prior_setting(subject[1]), *subject) for subject in self._subjects(tally)]

    def _estimated(self, tally: Tally) -> Model:
        """Return the model that the settings make of a tally."""
        subjects = self._subjects(tally)
        priors = [None] * len(subjects) if self.estimate == "mle" else self._priors(tally)
        shares = decision.class_prior(self._class_prior(), tally.schema.classes, tally.class_count)
        structure, pairs = self._structure(), zip(subjects, priors, strict=True)
        try:
            parameters = tuple(structure.parameters(self.estimate, subject, prior) for subject, prior in pairs)
        except SingularError as error:
            raise ValueError(self._about_singular(tally, error.place)) from None
        return Model(tuple(subject[1] for subject in subjects), self._scored(decision.log(shares)), parameters)

    def _about_singular(self, tally: Tally, place: int) -> str:
        """Return what to say of a covariance without an inverse."""
        label = tally.schema.classes.tolist()[place]
        return (
            f"the covariance of class {label!r} is singular: columns are constant or say the same, or rows are "
            'too few; use estimate="mean" with a prior, Full(shrinkage=0.1), or structure="naive"'
        )

    def _subjects(self, tally: Tally) -> list[Subject]:
        """Return what an estimate is made of, for each block: the family, its columns and their sums."""
        tally = self._laid_out(tally)
        blocks = zip(tally.schema.blocks, tally.statistics, strict=True)
        return [(self._estimator(columns), columns, statistic) for columns, statistic in blocks]

    def _blocks(self, X: Any, tally: Tally) -> tuple[Block, ...]:
        """Return X as blocks of the columns that were learned."""
        return (self._block(X, tally),)

    def _scored(self, class_log_prior: Array) -> Array:
        """Return the part of the log prior that enters the scores: all of it, but for complements."""
        return class_log_prior

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
            self._check_settings(tally)

    def _settings(self) -> tuple[Any, ...]:
        """Return the settings in a form that can be compared, arrays by their contents."""
        return tuple([_comparable(getattr(self, name)) for name in self._setting_names])


def _comparable(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Prior):
        return (type(value), *(_comparable(each) for each in vars(value).values()))
    if isinstance(value, Mapping):
        return tuple((key, _comparable(each)) for key, each in value.items())
    array = np.asarray(value)
    if array.dtype.kind != "O":
        return array.shape, array.tobytes()
    return tuple(_comparable(each) for each in array) if array.ndim else (type(value), id(value))
