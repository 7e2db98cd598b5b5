"""The posterior, the most probable class and the quality of predictions, from the log joint of each row."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np

from suffice.kernels.compiler import Scorer


def read_line(scores, row, first, class_log_prior, line):
    """Copy the scores of a row to ``line``; return the class with the highest, the first of equal ones.

    If all classes exclude the row, its scores are the prior. Classes with an infinite score share the row.
    """
    best = 0
    for k in range(line.shape[0]):
        line[k] = scores[row, first + k]
        if line[k] > line[best]:
            best = k
    if line[best] == -math.inf:
        for k in range(line.shape[0]):
            line[k] = class_log_prior[k]
            if line[k] > line[best]:
                best = k
    elif line[best] == math.inf:
        for k in range(line.shape[0]):
            line[k] = 0.0 if line[k] == math.inf else -math.inf
    return best


@Scorer
def pick(scores, class_log_prior, codes):
    """Write the code of the class with the highest score to ``codes``."""
    line = np.zeros(scores.shape[1])
    for row in range(scores.shape[0]):
        codes[row] = read_line(scores, row, 0, class_log_prior, line)


@Scorer
def normalise(scores, class_log_prior):
    """Turn log p(x, class) into log P(class | x) = log p(x, class) − log Σ p(x, class)."""
    line = np.zeros(scores.shape[1])
    for row in range(scores.shape[0]):
        highest = line[read_line(scores, row, 0, class_log_prior, line)]
        total = 0.0
        for k in range(line.shape[0]):
            total += math.exp(line[k] - highest)
        # the highest score is subtracted first: added to a score of −1e300, the logarithm would be lost in rounding
        for k in range(line.shape[0]):
            scores[row, k] = (line[k] - highest) - math.log(total)


@Scorer
def assess(scores, first, class_log_prior, codes, least, found):
    """Write four numbers of each row to ``found``: log-loss, Brier score, highest P, and 1 if the prediction is right.

    P is the posterior of the scores from column ``first`` on, as in `normalise`; log-loss is −log P(own class), at most
    −``least``, and the Brier score is Σ (P − 1 for the own class)². A code of −1 is a class that was not learned.
    """
    line = np.zeros(class_log_prior.shape[0])
    for row in range(scores.shape[0]):
        best = read_line(scores, row, first, class_log_prior, line)
        truth = codes[row]
        right = line[truth] - line[best] if truth >= 0 else -math.inf
        total = 0.0
        squares = 0.0
        for k in range(line.shape[0]):
            p = math.exp(line[k] - line[best])
            total += p
            squares += p * p
        found[row, 0] = -max(right - math.log(total), least)
        found[row, 1] = 1.0 + squares / (total * total) - 2 * math.exp(right) / total
        found[row, 2] = 1.0 / total
        found[row, 3] = 1.0 if best == truth else 0.0
