"""What was believed before the data."""

from suffice.priors.checks import LARGEST, checked_sums, numbers, per_column, positive
from suffice.priors.priors import (
    Beta,
    Dirichlet,
    Flat,
    Gamma,
    MEstimate,
    NormalInverseGamma,
    NormalInverseWishart,
    Prior,
)
from suffice.priors.reading import by_name, for_columns, pseudo_counts, refused

__all__ = [
    "LARGEST",
    "Beta",
    "Dirichlet",
    "Flat",
    "Gamma",
    "MEstimate",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "Prior",
    "by_name",
    "checked_sums",
    "for_columns",
    "numbers",
    "per_column",
    "positive",
    "pseudo_counts",
    "refused",
]
