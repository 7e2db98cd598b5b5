"""Types of the names that `__init__.py` imports when they are first used."""

from suffice.score.columnwise import LogQuadratic as LogQuadratic
from suffice.score.columnwise import Quadratic as Quadratic
from suffice.score.columnwise import log_rising as log_rising
from suffice.score.gamma_terms import LogBinomial as LogBinomial
from suffice.score.gamma_terms import LogFactorial as LogFactorial
from suffice.score.gamma_terms import LogGamma as LogGamma
from suffice.score.gamma_terms import LogGammaOfRest as LogGammaOfRest
from suffice.score.gamma_terms import LogGammaOfTotal as LogGammaOfTotal
from suffice.score.linear import CompleteLinear as CompleteLinear
from suffice.score.linear import Linear as Linear
from suffice.score.look_up import AveragedPairs as AveragedPairs
from suffice.score.look_up import JointLookUp as JointLookUp
from suffice.score.look_up import LookUp as LookUp
from suffice.score.look_up import PairLookUp as PairLookUp
from suffice.score.mean_of_trees import MeanOfTrees as MeanOfTrees
from suffice.score.multivariate import LowRank as LowRank
from suffice.score.multivariate import TriangularSolve as TriangularSolve
from suffice.score.of_function import NegativeLog as NegativeLog
from suffice.score.of_function import OfFunction as OfFunction
from suffice.score.products import Products as Products
from suffice.score.term import LogSumExp as LogSumExp
from suffice.score.term import Score as Score
from suffice.score.term import SingularError as SingularError
from suffice.score.term import Term as Term
from suffice.score.term import as_doubles as as_doubles
