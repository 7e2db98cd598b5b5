"""Scan: counts the rows of a block with the kernel and the accumulators that suit its numbers."""

from suffice.statistics.scan_levels import coded, levels, pairs
from suffice.statistics.scan_moments import fourths, scatters, spreads
from suffice.statistics.scan_sums import bits, comparable, finite_check, functions, squares, sums

__all__ = [
    "bits",
    "coded",
    "comparable",
    "finite_check",
    "fourths",
    "functions",
    "levels",
    "pairs",
    "scatters",
    "spreads",
    "squares",
    "sums",
]
