"""Types of the names that `__init__.py` imports when they are first used."""

from suffice.statistics.comoments import CoMoments as CoMoments
from suffice.statistics.counts import Counts as Counts
from suffice.statistics.fourth_moments import FourthMoments as FourthMoments
from suffice.statistics.function_sums import FunctionSums as FunctionSums
from suffice.statistics.grouped_tally import GroupedTally as GroupedTally
from suffice.statistics.moments import Moments as Moments
from suffice.statistics.moments import two_sum as two_sum
from suffice.statistics.pair_counts import PairCounts as PairCounts
from suffice.statistics.squared_counts import SquaredCounts as SquaredCounts
from suffice.statistics.statistic import OverdrawnError as OverdrawnError
from suffice.statistics.statistic import Statistic as Statistic
from suffice.statistics.statistic import rest_of as rest_of
from suffice.statistics.tally import Tally as Tally
