"""Estimating: settings, and the model that they make of a tally."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from suffice import decision
from suffice.blocks import Block
from suffice.classifiers.learner import Learner, comparable
from suffice.data import Table, Target
from suffice.estimation import choose_prior, log_evidence, posterior_hyperparameters
from suffice.families import Family
from suffice.folds.leave_one_out import chunks, left_out
from suffice.model import Model
from suffice.parallel import spread
from suffice.schema import Array, Columns, Schema
from suffice.score import SingularError
from suffice.statistics import Tally
from suffice.structures import STRUCTURES, Naive, Structure, Subject

# The model of each classifier, with the tally and the settings it was estimated from. Kept beside
# the classifiers, not in them: it is no state of theirs, only work not to be done twice.
_models: WeakKeyDictionary[Estimator, tuple[Tally, tuple[Any, ...], Model]] = WeakKeyDictionary()
_valid_settings: WeakKeyDictionary[Estimator, tuple[tuple[Any, ...], Schema | None]] = WeakKeyDictionary()


class Estimator(Learner):
    """A learner that reads a model off its tally, under the settings as they are, whenever one is asked for."""

    estimate: str
    prior: Any
    class_prior: Any

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
        return family.marginals(columns, posterior_hyperparameters(family, columns, statistic, self.prior_))

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

    @property
    def n_parameters_(self) -> int:
        """How many free numbers p(x given class) of all classes has.

        >>> import numpy as np
        >>> from suffice import BernoulliNB
        >>> BernoulliNB().fit(np.eye(10, 784), range(10)).n_parameters_
        7840
        """
        return sum(parameters.n_parameters for parameters in self._model().parameters)

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
            for subject in self._subjects(tally):
                self._structure().check(subject, self._prior_setting(subject[1]))

    def _prior_setting(self, columns: Columns) -> Any:
        """Return what is set as the prior of a block of columns."""
        return self._default_prior() if self.prior is None else self.prior

    def _priors(self, tally: Tally) -> list[Any]:
        """Return the prior of each block of columns: as set, or as chosen by evidence."""
        return [choose_prior(self._prior_setting(subject[1]), *subject) for subject in self._subjects(tally)]

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
        return [Subject(self._estimator(columns), columns, statistic) for columns, statistic in blocks]

    def _one_left_out(self, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[slice, Array, Array]]:
        """Yield rows, log P(class given x) without the row itself, and for which of them that is known.

        In closed form, where columns are independent and how they are read does not depend on the rows.
        """
        opened = self._opened(X, None)
        target = Target.of(opened.shape[0], y, sample_weight, None, type(self).__name__)
        tally = self._tallied(opened, target, None, whole=True)
        self._check(tally)
        laid = self._laid_out(tally)
        table = Table(self._scorable(laid.schema.blocks, self._cells(opened, laid)), target)

        def predicted(rows: slice) -> tuple[slice, Array, Array]:
            some = left_out(laid, table, rows)
            return rows, self._estimated(some.tally).along(some.blocks), some.exact

        for some in chunks(laid, opened.shape[0]):
            yield from spread(predicted, some)

    @property
    def _closed_form(self) -> bool:
        """Whether what is left without one row has a closed form."""
        return self._adds_up and isinstance(self._structure(), Naive) and not isinstance(self.prior, str)

    def _cells(self, opened: Any, tally: Tally) -> tuple[Block, ...]:
        """Return what was opened as blocks of the columns that were learned."""
        return (opened,)

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
        settings = self._settings()
        valid, schema = _valid_settings.get(self, (None, None))
        if valid != settings:
            self._validate_params()
            _valid_settings[self] = (settings, None)
        elif tally is None or tally.schema is schema:
            return  # as they were, and for the same classes and columns
        if tally is not None:
            self._check_settings(tally)
            _valid_settings[self] = (settings, tally.schema)

    def _settings(self) -> tuple[Any, ...]:
        """Return the settings in a form that can be compared, arrays by their contents."""
        return tuple([comparable(getattr(self, name)) for name in self._setting_names])
