"""Score primitives: what a model computes, as a sum of terms that every export can translate.

| term | log p(x given class) |
|---|---|
| `LookUp` | Σⱼ table[class, code of xⱼ] |
| `Linear` | Σⱼ bias + weight·xⱼ, with impossible cells; optionally of bits xⱼ > threshold |
| `CompleteLinear` | the same, without a value for a row that has a missing cell |
| `Quadratic` | Σⱼ peak − scale·(xⱼ − centre − tail)² |
| `LogQuadratic` | Σⱼ peak − exponent·log(1 + scale·(xⱼ − centre − tail)²) |
| `LogGamma` | weight·Σⱼ (log Γ(a + xⱼ) − log Γ(a)) |
| `LogGammaOfTotal` | log Γ(a) − log Γ(a + Σⱼ xⱼ) |
| `LogGammaOfRest` | Σⱼ (log Γ(a + trials − xⱼ) − log Γ(a + trials)) |
| `LogBinomial` | Σⱼ log C(trials, xⱼ), the same for all classes |
| `LogFactorial` | −Σⱼ log xⱼ!, the same for all classes |
| `OfFunction` | another term, of log xⱼ, √xⱼ, cos xⱼ or sin xⱼ in place of xⱼ |
| `NegativeLog` | −Σⱼ log xⱼ, the same for all classes |
| `PairLookUp` | Σⱼ table[class, code of xⱼ, code of its parent] |
| `AveragedPairs` | log of the mean over parents of pair look-ups |
| `JointLookUp` | table[class, code of the combination of all columns] |
| `TriangularSolve` | multivariate Gaussian or Student's t |
| `LowRank` | multivariate Gaussian whose shared covariance is never formed |
| `MeanOfTrees` | log of the mean over decision trees of the class shares of a leaf |
| `LogSumExp` | log of a weighted sum of the exponentials of other scores |

A `Score` is a sum of terms. Families and structures return one by ``Parameters.score()``.
"""

from suffice.score.columnwise import (
    LogBinomial,
    LogFactorial,
    LogGamma,
    LogGammaOfRest,
    LogGammaOfTotal,
    LogQuadratic,
    Quadratic,
    log_rising,
)
from suffice.score.linear import CompleteLinear, Linear
from suffice.score.look_up import AveragedPairs, JointLookUp, LookUp, PairLookUp
from suffice.score.mean_of_trees import MeanOfTrees
from suffice.score.multivariate import LowRank, SingularError, TriangularSolve
from suffice.score.of_function import NegativeLog, OfFunction
from suffice.score.term import LogSumExp, Score, Term, as_doubles

__all__ = ["LogSumExp", "Score", "Term", "as_doubles"]
__all__ += ["CompleteLinear", "Linear"]
__all__ += ["LogFactorial", "LogGamma", "LogGammaOfTotal", "LogQuadratic", "Quadratic", "log_rising"]
__all__ += ["LogBinomial", "LogGammaOfRest"]
__all__ += ["AveragedPairs", "JointLookUp", "LookUp", "MeanOfTrees", "PairLookUp"]
__all__ += ["NegativeLog", "OfFunction"]
__all__ += ["LowRank", "SingularError", "TriangularSolve"]
