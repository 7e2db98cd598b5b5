"""What the data say: sums by class that can be added, subtracted and weighed."""

from suffice.tallies.comoments import CoMoments
from suffice.tallies.counts import Counts
from suffice.tallies.moments import Moments, rounded
from suffice.tallies.pairs import PairCounts
from suffice.tallies.statistic import OverdrawnError, Statistic
from suffice.tallies.tally import Tally

__all__ = ["CoMoments", "Counts", "Moments", "OverdrawnError", "PairCounts", "Statistic", "Tally", "rounded"]
