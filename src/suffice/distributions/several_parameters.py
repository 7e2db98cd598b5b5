"""The base class of distributions with two parameters whose posterior is given by its marginal distributions."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from suffice.distributions.distribution import DRAWS, Distribution
from suffice.families.family import Hyperparameters
from suffice.schema import Array, Columns
from suffice.statistics import FunctionSums, Statistic


class SeveralParameters(Distribution):
    """A distribution whose parameters the family estimates under the names in ``_shown``."""

    _posterior_kind: ClassVar[Any]  # a named tuple with an entry for each parameter

    @classmethod
    def _sums(cls, values: Array, weights: Array) -> Statistic:
        sums = ((weights * (values if mapping is None else mapping(values))).sum() for mapping in cls.family.functions)
        return FunctionSums(*(np.array([[each]]) for each in (weights.sum(), *sums)))

    @classmethod
    def _check_values(cls, values: Array) -> Array:
        domain = cls.family.domain
        outside = domain.excludes(values)
        if outside.any():
            place = int(np.argmax(outside))
            raise ValueError(f"observation {place} is {values[place]:g}, but {cls.__name__} takes {domain.text}")
        return values

    @classmethod
    def _from_parameters(cls, parameters: Any) -> Self:
        return cls(*(getattr(parameters, name).item() for name in cls._shown))

    @classmethod
    def _posterior_of(cls, hyperparameters: Hyperparameters) -> Any:
        marginals = cls.family.marginals(Columns(cls.family.name, 1), hyperparameters)
        return cls._posterior_kind(*(_as_scalars(marginals[name]) for name in cls._shown))

    def _interval(self, level: float) -> Any:
        posterior = self._posterior_of(self._hyperparameters())
        return self._posterior_kind(*(each.interval(level) for each in posterior))

    def expect(self, f: Callable[..., Any]) -> float:
        shape, rng = (1, DRAWS // 10), np.random.default_rng(0)
        hyperparameters = tuple(np.broadcast_to(each, shape) for each in self._hyperparameters())
        drawn: Any = self.family.draw(Columns(self.family.name, shape[1]), hyperparameters, rng)
        return float(
            np.mean([f(*each) for each in zip(*(getattr(drawn, name)[0] for name in self._shown), strict=True)])
        )


def _as_scalars(distribution: Any) -> Any:
    """Return a frozen distribution of numbers in place of one of arrays of one number."""
    arguments = [np.ravel(each)[0] for each in distribution.args]
    return distribution.dist(*arguments, **{key: np.ravel(each)[0] for key, each in distribution.kwds.items()})
