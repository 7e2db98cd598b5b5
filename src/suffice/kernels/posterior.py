"""The posterior, the most probable class and the quality of predictions, from the log joint of each row."""

import math
from typing import Any

import numpy as np

from suffice.kernels.compiler import Scorer

# The posterior of a row that all classes exclude is the prior. Classes with an infinite score share the row.


@Scorer
def pick(scores: Any, class_log_prior: Any, codes: Any) -> None:
    """Write the code of the class with the highest score to ``codes``; the first of equal ones."""
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


@Scorer
def normalise(scores: Any, class_log_prior: Any) -> None:
    """Turn log p(x, class) into log P(class | x) = log p(x, class) − log Σ p(x, class)."""
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
        # the highest score is subtracted first: added to a score of −1e300, the logarithm would be lost in rounding
        for k in range(classes):
            scores[row, k] = (scores[row, k] - highest) - math.log(total)


@Scorer
def assess(scores: Any, first: int, class_log_prior: Any, codes: Any, least: float, found: Any) -> None:
    """Write four numbers of each row to ``found``: log-loss, Brier score, highest P, and 1 if the prediction is right.

    P is the posterior of the scores from column ``first`` on, as in `normalise`; log-loss is −log P(own class), at most
    −``least``, and the Brier score is Σ (P − 1 for the own class)². A code of −1 is a class that was not learned.
    """
    rows, classes = scores.shape[0], len(class_log_prior)
    line = np.zeros(classes)
    for row in range(rows):
        best = 0
        for k in range(classes):
            line[k] = scores[row, first + k]
            if line[k] > line[best]:
                best = k
        highest = line[best]
        if highest == -math.inf:
            best = 0
            for k in range(classes):
                line[k] = class_log_prior[k]
                if line[k] > line[best]:
                    best = k
            highest = line[best]
        elif highest == math.inf:
            highest = 0.0
            for k in range(classes):
                line[k] = 0.0 if line[k] == math.inf else -math.inf
        truth = codes[row]
        right = line[truth] - highest if truth >= 0 else -math.inf
        total = 0.0
        squares = 0.0
        for k in range(classes):
            p = math.exp(line[k] - highest)
            total += p
            squares += p * p
        found[row, 0] = -max(right - math.log(total), least)
        found[row, 1] = 1.0 + squares / (total * total) - 2 * math.exp(right) / total
        found[row, 2] = 1.0 / total
        found[row, 3] = 1.0 if best == truth else 0.0
