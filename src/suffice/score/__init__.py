"""Score primitives: what a model computes, as a sum of terms that every export can translate.

| term | log p(x given class) |
|---|---|
| `LookUp` | Σⱼ table[class, code of xⱼ] |
| `Linear` | Σⱼ bias + weight·xⱼ, with impossible cells; optionally of bits xⱼ > threshold |
| `CompleteLinear` | the same, without a value for a row that has a missing cell |
| `Products` | Σᵢⱼ weight·xᵢ·xⱼ, without a value for a row that has a missing cell |
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

from suffice.registry import import_late

__all__, __getattr__ = import_late(
    __name__,
    {
        "suffice.score.columnwise": "LogQuadratic Quadratic log_rising",
        "suffice.score.gamma_terms": "LogBinomial LogFactorial LogGamma LogGammaOfRest LogGammaOfTotal",
        "suffice.score.linear": "CompleteLinear Linear",
        "suffice.score.look_up": "AveragedPairs JointLookUp LookUp PairLookUp",
        "suffice.score.mean_of_trees": "MeanOfTrees",
        "suffice.score.multivariate": "LowRank TriangularSolve",
        "suffice.score.of_function": "NegativeLog OfFunction",
        "suffice.score.products": "Products",
        "suffice.score.term": "LogSumExp Score SingularError Term as_doubles",
    },
)
