"""Multivariate distributions of scipy.stats, evaluated in standardized units."""

from typing import Any

import numpy as np

from suffice.schema import Array


class Standardized:
    """A multivariate distribution of scipy.stats that is evaluated in units of each column's standard deviation.

    In the original units scipy.stats treats a column as constant if its deviation is 1e-5 of another's.
    """

    def __init__(self, kind: Any, mean: Array, matrix: Array, **settings: Any) -> None:
        deviations = np.sqrt(np.diag(matrix))
        self.mean, self.deviations = mean, np.where(deviations > 0, deviations, 1.0)
        correlations = matrix / np.multiply.outer(self.deviations, self.deviations)
        self.standard = kind(np.zeros(len(mean)), correlations, **settings)

    def logpdf(self, x: Any) -> Array:
        standard = self.standard.logpdf((np.asarray(x, np.float64) - self.mean) / self.deviations)
        return np.asarray(standard - np.log(self.deviations).sum())

    def rvs(self, size: int, random_state: Any = None) -> Array:
        drawn = np.reshape(self.standard.rvs(size, random_state=random_state), (size, -1))
        return np.asarray(self.mean + self.deviations * drawn)
