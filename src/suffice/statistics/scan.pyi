"""Types of the names that `scan.py` imports when they are first used."""

from suffice.statistics.scan_levels import coded as coded
from suffice.statistics.scan_levels import levels as levels
from suffice.statistics.scan_levels import pairs as pairs
from suffice.statistics.scan_moments import fourths as fourths
from suffice.statistics.scan_moments import scatters as scatters
from suffice.statistics.scan_moments import spreads as spreads
from suffice.statistics.scan_sums import bits as bits
from suffice.statistics.scan_sums import functions as functions
from suffice.statistics.scan_sums import squares as squares
from suffice.statistics.scan_sums import sums as sums
