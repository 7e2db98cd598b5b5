"""Scan: counts the rows of a block with the kernel and the accumulators that suit its numbers."""

from suffice.registry import import_late

__all__, __getattr__ = import_late(
    __name__,
    {
        "suffice.statistics.scan_levels": "coded levels pairs",
        "suffice.statistics.scan_moments": "fourths scatters spreads",
        "suffice.statistics.scan_sums": "bits functions squares sums",
    },
)
