"""Sufficient statistics: sums over rows, by class, that can be added, subtracted and weighted."""

from suffice.statistics.comoments import CoMoments
from suffice.statistics.counts import Counts
from suffice.statistics.fourth_moments import FourthMoments
from suffice.statistics.function_sums import FunctionSums
from suffice.statistics.grouped_tally import GroupedTally
from suffice.statistics.moments import Moments, two_sum
from suffice.statistics.pair_counts import PairCounts
from suffice.statistics.squared_counts import SquaredCounts
from suffice.statistics.statistic import OverdrawnError, Statistic, rest_of
from suffice.statistics.tally import Tally

__all__ = [
    "CoMoments",
    "Counts",
    "FourthMoments",
    "FunctionSums",
    "GroupedTally",
    "Moments",
    "OverdrawnError",
    "PairCounts",
    "SquaredCounts",
    "Statistic",
    "Tally",
    "rest_of",
    "two_sum",
]
