"""Families of two parameters whose prior is the likelihood of pseudo-rows, and whose statistics are two sums."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from suffice.blocks import Part
from suffice.families.family import Family, Hyperparameters, Parameters
from suffice.families.quadrature import Averages
from suffice.priors import Flat, Prior, broadcast_to_columns, check_positive, unsupported_prior
from suffice.schema import Array, Columns
from suffice.statistics import FunctionSums, scan


@dataclass(frozen=True)
class PseudoRowFamily(Family):
    """A family with sums of two functions of x, such as x and log x; hyperparameters are rows and these two sums.

    The mode is the maximum likelihood of the rows and the pseudo-rows together. The mean and the evidence are computed
    by quadrature, and the predictive distribution has no form as a sum of terms.
    """

    sql_sums = "functions"
    rules = ("mle", "map", "mean")

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, FunctionSums]:
        return columns, scan.functions(part, self.functions)  # type: ignore[arg-type]

    def prior_hyperparameters(self, prior: Any, columns: Columns, statistic: Any) -> Hyperparameters:
        if isinstance(prior, Flat):
            return (np.zeros((1, columns.count)),) * 3
        if isinstance(prior, Prior):
            raise unsupported_prior(prior, self.full_name, "a number or Flat")
        rows = broadcast_to_columns(check_positive(prior, "prior"), columns.count, "prior")[None]
        pooled = statistic.pooled()
        some = np.where(pooled.n > 0, pooled.n, 1.0)
        return rows, rows * (pooled.first / some), rows * (pooled.second / some)

    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: FunctionSums) -> Hyperparameters:
        rows, first, second = hyperparameters
        return (
            np.broadcast_to(rows + statistic.n, statistic.first.shape),
            first + statistic.first,
            second + statistic.second,
        )

    def maximum_likelihood(self, columns: Columns, statistic: Any) -> Any:
        return self.mode(columns, with_unseen_pooled(statistic))

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        raise ValueError(
            f"{self.full_name} columns have no predictive distribution in closed form; set another rule for them, such "
            f'as estimate={{"{self.full_name}": "mean", …}}, with "predictive" for other columns or families by name'
        )


def with_unseen_pooled(statistic: FunctionSums) -> Hyperparameters:
    """Return n and the two sums, [class, column]; a class without rows has those of all classes pooled."""
    pooled, n = statistic.pooled(), np.broadcast_to(statistic.n, statistic.first.shape)
    return (
        np.where(n > 0, n, pooled.n),
        np.where(n > 0, statistic.first, pooled.first),
        np.where(n > 0, statistic.second, pooled.second),
    )


def match_gamma(found: Averages, mean: Array, variance: Array) -> Any:
    """Return a Gamma distribution with the same mean and variance; both are given the parameter at the nodes."""
    centre = found.mean(mean)
    spread = found.mean(np.broadcast_to(variance + (mean - centre) ** 2, mean.shape))
    return stats.gamma(centre**2 / np.maximum(spread, 1e-300), scale=spread / centre)
