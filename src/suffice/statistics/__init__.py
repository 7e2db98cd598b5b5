"""Sufficient statistics: sums over rows, by class, that can be added, subtracted and weighted."""

from suffice.registry import import_late

__all__, __getattr__ = import_late(
    __name__,
    {
        "suffice.statistics.comoments": "CoMoments",
        "suffice.statistics.counts": "Counts",
        "suffice.statistics.fourth_moments": "FourthMoments",
        "suffice.statistics.function_sums": "FunctionSums",
        "suffice.statistics.grouped_tally": "GroupedTally",
        "suffice.statistics.moments": "Moments two_sum",
        "suffice.statistics.pair_counts": "PairCounts",
        "suffice.statistics.squared_counts": "SquaredCounts",
        "suffice.statistics.statistic": "OverdrawnError Statistic rest_of",
        "suffice.statistics.tally": "Tally",
    },
)
