"""The gamma distribution of positive numbers; `suffice.Gamma` is the prior."""

from typing import Any, NamedTuple

from scipy import stats

from suffice.distributions.several_parameters import SeveralParameters
from suffice.families import FAMILIES
from suffice.priors import check_positive


class GammaPosterior(NamedTuple):
    """Posterior distributions, or credible intervals, of the parameters of a gamma distribution.

    They are Gamma distributions with the mean and the variance of the exact posteriors, which have no name.

    Attributes
    ----------
    shape, rate : scipy.stats distribution
        Of the shape and of the rate.
    """

    shape: Any
    rate: Any


class GammaDistribution(SeveralParameters):
    """Gamma distribution: p(x) = β^α / Γ(α)·x^(α − 1)·e^(−βx) of a positive number x.

    The class `suffice.Gamma` is a prior, not this distribution. ``prior`` is `Flat`, or a number of pseudo-observations
    that are distributed like the data. There is no rule="predictive".

    Parameters
    ----------
    shape, rate : float
        The shape α and the rate β, more than 0.

    Attributes
    ----------
    shape, rate : float
        The shape α and the rate β; the mean is α/β.

    Examples
    --------
    >>> rain = GammaDistribution.tally([0.4, 2.0, 1.1, 5.2])
    >>> found = GammaDistribution.estimate(rain, rule="mle")
    >>> round(found.shape, 3), round(found.shape / found.rate, 3)
    (1.403, 2.175)
    """

    family = FAMILIES["gamma"]
    _shown = ("shape", "rate")
    _posterior_kind = GammaPosterior

    def __init__(self, shape: float, rate: float) -> None:
        self.shape, self.rate = (float(check_positive(each, what)) for each, what in ((shape, "shape"), (rate, "rate")))

    @property
    def _distribution(self) -> Any:
        return stats.gamma(self.shape, scale=1 / self.rate)
