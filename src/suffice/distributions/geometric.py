"""The geometric distribution."""

from typing import Any, Self

from scipy import stats

from suffice.distributions.beta_distribution import BetaDistribution, check_probability, probability_of
from suffice.families import FAMILIES


class Geometric(BetaDistribution):
    """Geometric distribution: P(x) = p·(1 − p)^x, of the number x = 0, 1, 2, … of failures before the first success.

    NumPy and SciPy count trials including the success, so x ≥ 1 there; subtract 1 from such observations. The conjugate
    prior is `Beta`: the posterior is Beta(a + n, b + Σx).

    Parameters
    ----------
    p : float
        Probability of success, from 0 to 1.

    Attributes
    ----------
    p : float
        Probability of success.
    averaged : bool
        Whether it was estimated with rule="predictive".

    Examples
    --------
    >>> misses = Geometric.tally([2, 0, 4])
    >>> Geometric.estimate(misses, rule="mle").p
    0.3333333333333333
    >>> Geometric.posterior(misses).args
    (4.0, 7.0)
    """

    family = FAMILIES["geometric"]
    _shown = ("p",)
    _takes = "numbers of failures: 0, 1, 2, …"

    def __init__(self, p: float) -> None:
        self.p = check_probability(p)

    @classmethod
    def _from_parameters(cls, parameters: Any) -> Self:
        if hasattr(parameters, "log_p"):
            return cls(probability_of(parameters.log_p, parameters.log_q))
        return cls((parameters.a / (parameters.a + parameters.b)).item())

    @property
    def _distribution(self) -> Any:
        if not self.averaged:
            return stats.geom(self.p, loc=-1)
        return stats.betanbinom(1, *(each.item() for each in self._hyperparameters()))
