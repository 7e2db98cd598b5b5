"""The von Mises distribution of angles."""

from typing import Any, NamedTuple

from scipy import stats

from suffice.distributions.several_parameters import SeveralParameters
from suffice.families import FAMILIES
from suffice.priors import check_numbers, check_positive


class VonMisesPosterior(NamedTuple):
    """Posterior distributions, or credible intervals, of the parameters of a von Mises distribution.

    They are approximations with the same mean direction and spread as the exact posteriors, which have no name.

    Attributes
    ----------
    direction : scipy.stats distribution
        Of the direction: von Mises.
    concentration : scipy.stats distribution
        Of the concentration: Gamma.
    """

    direction: Any
    concentration: Any


class VonMises(SeveralParameters):
    """Von Mises distribution: p(x) = e^(κ·cos(x − μ)) / (2π·I₀(κ)) of an angle x in radians.

    ``prior`` is `Flat`, or a number of pseudo-observations that are distributed like the data. There is no
    rule="predictive". Convert angles in degrees with ``numpy.radians``.

    Parameters
    ----------
    direction : float
        The direction μ, in radians.
    concentration : float
        The concentration κ, more than 0.

    Attributes
    ----------
    direction, concentration : float
        The direction μ and the concentration κ.

    Examples
    --------
    >>> wind = VonMises.tally([0.3, 0.1, -0.2, 0.2])
    >>> round(VonMises.estimate(wind, rule="mle").direction, 3)
    0.101
    """

    family = FAMILIES["von-mises"]
    _shown = ("direction", "concentration")
    _posterior_kind = VonMisesPosterior

    def __init__(self, direction: float, concentration: float) -> None:
        self.direction = float(check_numbers(direction, "direction"))
        self.concentration = float(check_positive(concentration, "concentration"))

    @property
    def _distribution(self) -> Any:
        return stats.vonmises(self.concentration, loc=self.direction)
