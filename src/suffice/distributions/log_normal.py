"""The log-normal distribution."""

from typing import Any, Self

import numpy as np
from scipy import stats

from suffice.distributions.gaussian import GaussianPosterior
from suffice.distributions.several_parameters import SeveralParameters
from suffice.families import FAMILIES
from suffice.families.gaussian import StudentT
from suffice.priors import check_numbers, check_positive
from suffice.schema import Array
from suffice.statistics import Moments


class LogNormal(SeveralParameters):
    """Log-normal distribution: log x is Gaussian, p(x) = N(log x; mean, variance) / x.

    The conjugate prior is `NormalInverseGamma`, of the mean and the variance of log x. Estimated with
    rule="predictive", log x has a Student's t distribution with this mean and variance.

    Parameters
    ----------
    mean : float
        Mean of log x.
    variance : float
        Variance of log x, more than 0.

    Attributes
    ----------
    mean, variance : float
        Mean and variance of log x.
    averaged : bool
        Whether it was estimated with rule="predictive".

    Examples
    --------
    >>> incomes = LogNormal.tally([1.0, 10.0, 100.0])
    >>> round(LogNormal.estimate(incomes, rule="mle").mean, 3)
    2.303
    """

    family = FAMILIES["log-normal"]
    _shown = ("mean", "variance")
    _posterior_kind = GaussianPosterior

    def __init__(self, mean: float, variance: float) -> None:
        self.mean = float(check_numbers(mean, "mean"))
        self.variance = float(check_positive(variance, "variance"))
        self._student_t: Any = None

    @classmethod
    def _sums(cls, values: Array, weights: Array) -> Moments:
        return Moments.of(np.log(values)[:, None], weights)

    @classmethod
    def _from_parameters(cls, parameters: Any) -> Self:
        made = super()._from_parameters(parameters)
        if isinstance(parameters, StudentT):
            made._student_t = stats.t(parameters.dof.item(), made.mean, np.sqrt(parameters.squared_scale.item()))
        return made

    @property
    def _distribution(self) -> Any:
        if self._student_t is not None:
            return _LogStudentT(self._student_t)
        return stats.lognorm(np.sqrt(self.variance), scale=np.exp(self.mean))


class _LogStudentT:
    """The distribution of e^t, where t has a Student's t distribution."""

    def __init__(self, of_log: Any) -> None:
        self.of_log = of_log

    def logpdf(self, x: Any) -> Array:
        """Return the log density; −∞ for numbers that are not positive."""
        x = np.asarray(x, np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.of_log.logpdf(np.log(x)) - np.log(x)
        return np.where(x > 0, found, -np.inf)

    def rvs(self, size: int, random_state: Any = None) -> Array:
        """Return random numbers."""
        return np.asarray(np.exp(self.of_log.rvs(size, random_state=random_state)))
