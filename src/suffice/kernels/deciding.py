"""From the log joint of each row to its posterior or its most probable class, row by row in place."""

from __future__ import annotations

import math
from typing import Any

from suffice.kernels.compiling import Kernel

# A row that is impossible in every class says nothing about the class, so the prior stands in its
# place. Where classes are infinitely likely, they share the row.


@Kernel
def pick(scores: Any, class_log_prior: Any, codes: Any) -> None:
    """Write the code of the class with the highest score, the first of equals."""
    rows, classes = scores.shape
    for row in range(rows):
        best = 0
        for k in range(1, classes):
            if scores[row, k] > scores[row, best]:
                best = k
        if scores[row, best] == -math.inf:
            for k in range(1, classes):
                if class_log_prior[k] > class_log_prior[best]:
                    best = k
        codes[row] = best


@Kernel
def normalise(scores: Any, class_log_prior: Any) -> None:
    """Turn log p(x, class) into log P(class given x) = log p(x, class) − log Σ p(x, class)."""
    rows, classes = scores.shape
    for row in range(rows):
        highest = -math.inf
        for k in range(classes):
            highest = max(highest, scores[row, k])
        if highest == -math.inf:
            for k in range(classes):
                scores[row, k] = class_log_prior[k]
                highest = max(highest, scores[row, k])
        elif highest == math.inf:
            highest = 0.0
            for k in range(classes):
                scores[row, k] = 0.0 if scores[row, k] == math.inf else -math.inf
        total = 0.0
        for k in range(classes):
            total += math.exp(scores[row, k] - highest)
        # the highest first: beside a score of −1e300 the logarithm would vanish in the rounding
        for k in range(classes):
            scores[row, k] = (scores[row, k] - highest) - math.log(total)
