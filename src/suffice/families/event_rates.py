"""EventRate: families with a rate of events, whose conjugate prior is a gamma distribution."""

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import gammaln

from suffice.blocks import Part
from suffice.families.family import Family, Hyperparameters, check_proper, fields_by_column
from suffice.priors import Flat, Gamma, Prior, broadcast_to_columns, check_positive, unsupported_prior
from suffice.schema import Array, Columns
from suffice.statistics import Counts, scan


class EventRate(Family):
    """A family with a rate for each column; hyperparameters are the shape and the rate of Gamma(shape, rate)."""

    sql_sums = "totals"

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        return columns, scan.sums(part)

    @abstractmethod
    def pseudo_rows(self, count: Array, statistic: Any) -> Hyperparameters:
        """Return the prior that is equal to a number of rows, for each column."""

    def prior_hyperparameters(self, prior: Any, columns: Columns, statistic: Any) -> Hyperparameters:
        if isinstance(prior, Flat):
            return np.ones((1, columns.count)), np.zeros((1, columns.count))
        if isinstance(prior, Gamma):
            return fields_by_column(prior, columns.count)
        if isinstance(prior, Prior):
            raise unsupported_prior(prior, self.name, "a number, Gamma or Flat")
        count = broadcast_to_columns(check_positive(prior, "prior"), columns.count, "prior")[None]
        return self.pseudo_rows(count, statistic)

    def log_partition(self, columns: Columns, hyperparameters: Hyperparameters) -> Array:
        shape, rate = hyperparameters
        check_proper((rate,), "the flat prior of a rate has no evidence: it does not add up to 1; use Gamma")
        return np.asarray(gammaln(shape) - shape * np.log(rate))

    def marginals(self, columns: Columns, hyperparameters: Hyperparameters) -> dict[str, Any]:
        shape, rate = np.broadcast_arrays(*check_proper(hyperparameters))
        return {"rate": stats.gamma(shape, scale=1 / rate)}
