"""Kinds of columns, as the plots tell them apart."""

from typing import Any

from suffice.families import FAMILIES


def counts_share_total(columns: Any) -> bool:
    """Return whether the columns are counts of one total, so that a column has a share and no density of its own."""
    return FAMILIES[columns.family].is_compositional


def total_is_modelled(columns: Any) -> bool:
    """Return whether the parameter of a column is its share of the total count, and not of the rows."""
    family = FAMILIES[columns.family]
    return family.is_compositional and family.generative is family


def is_text(columns: Any) -> bool:
    """Return whether the cells of the columns are words."""
    return FAMILIES[columns.family].cells == "words"
