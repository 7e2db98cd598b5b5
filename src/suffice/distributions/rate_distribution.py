"""RateDistribution: distributions with a rate, whose conjugate prior is a gamma distribution."""

from typing import Any, Self

from scipy import stats

from suffice.distributions.distribution import Distribution
from suffice.families.family import Hyperparameters
from suffice.schema import Array


class RateDistribution(Distribution):
    """A distribution of numbers from 0 up, with a rate."""

    rate: float
    _shown = ("rate",)
    _takes = "numbers"

    @classmethod
    def _check_values(cls, values: Array) -> Array:
        if (values < 0).any():
            raise ValueError(f"{cls.__name__} takes {cls._takes} from 0 up, not {values.min():g}")
        return values

    @classmethod
    def _from_parameters(cls, parameters: Any) -> Self:
        return cls(parameters.rate.item())  # type: ignore[call-arg]

    @classmethod
    def _posterior_of(cls, hyperparameters: Hyperparameters) -> Any:
        shape, rate = (each.item() for each in hyperparameters)
        if not (shape > 0 and rate > 0):
            raise ValueError(f"Gamma({shape:g}, {rate:g}) is not a distribution; use a prior of more than 0")
        return stats.gamma(shape, scale=1 / rate)
