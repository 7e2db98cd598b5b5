"""What the plots read from a fitted classifier besides its public attributes."""

from __future__ import annotations

from typing import Any


def counts_share_total(columns: Any) -> bool:
    """Return whether the columns are counts of one total, so that a column has a share and no density of its own."""
    return columns.family in ("multinomial", "complement", "text")
