"""GenerativeModel: what a classifier has estimated of p(x | class), and rows drawn from it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.classifiers.concurrency import on_snapshot
from suffice.classifiers.read_rows import Rows
from suffice.data import Sheet
from suffice.families import FAMILIES
from suffice.recipe import Recipe
from suffice.schema import Array
from suffice.statistics import Tally

if TYPE_CHECKING:
    from suffice.pooled_model import AnyModel


class GenerativeModel:
    """A classifier whose model is a distribution of rows in each class; it comes after `SumLearner` in the bases."""

    tally_: Tally

    @abstractmethod
    def recipe(self) -> Recipe: ...

    @abstractmethod
    def estimate_model(self) -> AnyModel: ...

    @abstractmethod
    def chosen_tally(self) -> Tally: ...

    @abstractmethod
    def read_rows(self, X: Any) -> Rows: ...

    @abstractmethod
    def _check(self, recipe: Recipe, tally: Tally) -> None: ...

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

    @property
    def _parameters(self) -> Any:
        """The parameters of the only block, or of the first."""
        return self.estimate_model().parameters[0]

    def _checked_tally(self) -> Any:
        tally = self.chosen_tally()
        self._check(self.recipe(), tally)
        return tally
