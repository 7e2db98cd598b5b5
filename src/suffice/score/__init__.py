"""Score primitives: what a model computes, as a sum of terms that every export can translate.

| term | log p(x given class) |
|---|---|
| `LookUp` | Σⱼ table[class, code of xⱼ] |
| `Linear` | Σⱼ bias + weight·xⱼ, with impossible cells; optionally of bits xⱼ > threshold |
| `Quadratic` | Σⱼ peak − scale·(xⱼ − centre)² |
| `LogQuadratic` | Σⱼ peak − exponent·log(1 + scale·(xⱼ − centre)²) |
| `LogGamma` | weight·Σⱼ (log Γ(a + xⱼ) − log Γ(a)) |
| `LogGammaOfTotal` | log Γ(a) − log Γ(a + Σⱼ xⱼ) |
| `LogFactorial` | −Σⱼ log xⱼ!, the same for all classes |
| `PairLookUp` | Σⱼ table[class, code of xⱼ, code of its parent] |
| `AveragedPairs` | log of the mean over parents of pair look-ups |
| `JointLookUp` | table[class, code of the combination of all columns] |
| `TriangularSolve` | multivariate Gaussian or Student's t |
| `LowRank` | multivariate Gaussian whose shared covariance is never formed |
| `LogSumExp` | log of a weighted sum of the exponentials of other scores |

A `Score` is a sum of terms. Families and structures return one by ``Parameters.score()``.
"""

from suffice.score.averaged_pairs import AveragedPairs
from suffice.score.joint_look_up import JointLookUp
from suffice.score.linear import Linear
from suffice.score.log_gamma import LogFactorial, LogGamma, LogGammaOfTotal, log_rising
from suffice.score.log_sum_exp import LogSumExp
from suffice.score.look_up import LookUp
from suffice.score.low_rank import LowRank
from suffice.score.pair_look_up import PairLookUp
from suffice.score.quadratic import LogQuadratic, Quadratic
from suffice.score.term import Score, Term, as_doubles
from suffice.score.triangular_solve import SingularError, TriangularSolve

__all__ = [
    "AveragedPairs",
    "JointLookUp",
    "Linear",
    "LogFactorial",
    "LogGamma",
    "LogGammaOfTotal",
    "LogQuadratic",
    "LogSumExp",
    "LookUp",
    "LowRank",
    "PairLookUp",
    "Quadratic",
    "Score",
    "SingularError",
    "Term",
    "TriangularSolve",
    "as_doubles",
    "log_rising",
]
