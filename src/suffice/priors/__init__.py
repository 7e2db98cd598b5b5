"""Priors: what is believed about the parameters of a family before the data."""

from suffice.priors.by_column import list_priors, pseudo_counts, select_priors, unsupported_prior
from suffice.priors.conjugate import (
    LARGEST,
    Beta,
    Dirichlet,
    Flat,
    Gamma,
    MEstimate,
    NormalInverseGamma,
    NormalInverseWishart,
    Prior,
    broadcast_to_columns,
    check_numbers,
    check_positive,
    check_sums_to_one,
)

__all__ = [
    "Beta",
    "Dirichlet",
    "Flat",
    "Gamma",
    "LARGEST",
    "MEstimate",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "Prior",
    "broadcast_to_columns",
    "check_numbers",
    "check_positive",
    "check_sums_to_one",
    "list_priors",
    "pseudo_counts",
    "select_priors",
    "unsupported_prior",
]
