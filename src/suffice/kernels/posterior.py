"""The posterior, the most probable class and the quality of predictions, from the log joint of each row."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np

from suffice.kernels.compiler import Scorer

# Scores that differ by less may have the same probability.
NEARLY_EQUAL = 1e-9


def resolve_row(scores, row, class_log_prior):
    """Return the highest score of a row, whose scores are changed in place if it is infinite.

    If all classes exclude the row, its scores are the prior. Classes with an infinite score share the row.
    """
    highest = -math.inf
    for k in range(scores.shape[1]):
        highest = max(highest, scores[row, k])
    if highest == -math.inf:
        for k in range(scores.shape[1]):
            scores[row, k] = class_log_prior[k]
            highest = max(highest, scores[row, k])
    elif highest == math.inf:
        highest = 0.0
        for k in range(scores.shape[1]):
            scores[row, k] = 0.0 if scores[row, k] == math.inf else -math.inf
    return highest


@Scorer
def pick(scores, codes):
    """Write the code of the class with the highest score to ``codes``, or −1 where the posterior has to decide.

    Scores that are nearly equal may have equal probabilities, and a row may be impossible in every class.
    """
    rows, classes = scores.shape
    for row in range(rows):
        best = 0
        first = scores[row, 0]
        second = -math.inf
        for k in range(1, classes):  # without a branch: which class is higher cannot be foreseen
            score = scores[row, k]
            second = max(second, min(first, score))
            best = k if score > first else best
            first = max(first, score)
        codes[row] = best if first - NEARLY_EQUAL > second else -1


@Scorer
def normalise(scores, class_log_prior):
    """Turn log p(x, class) into log P(class | x) = log p(x, class) − log Σ p(x, class)."""
    for row in range(scores.shape[0]):
        highest = resolve_row(scores, row, class_log_prior)
        total = 0.0
        for k in range(scores.shape[1]):
            total += math.exp(scores[row, k] - highest)
        # the highest score is subtracted first: added to a score of −1e300, the logarithm would be lost in rounding
        for k in range(scores.shape[1]):
            scores[row, k] = (scores[row, k] - highest) - math.log(total)


@Scorer
def assess(scores, first, class_log_prior, codes, least, found):
    """Write four numbers of each row to ``found``: log-loss, Brier score, highest P, and 1 if the prediction is right.

    P is the posterior of the scores from column ``first`` on, as in `normalise`; log-loss is −log P(own class), at most
    −``least``, and the Brier score is Σ (P − 1 for the own class)². A code of −1 is a class that was not learned.
    """
    classes = class_log_prior.shape[0]
    line = np.zeros((1, classes))
    for row in range(scores.shape[0]):
        for k in range(classes):
            line[0, k] = scores[row, first + k]
        highest = resolve_row(line, 0, class_log_prior)
        truth = codes[row]
        right = line[0, truth] - highest if truth >= 0 else -math.inf
        best = -1
        total = 0.0
        squares = 0.0
        for k in range(classes):
            if best < 0 and line[0, k] == highest:
                best = k
            p = math.exp(line[0, k] - highest)
            total += p
            squares += p * p
        found[row, 0] = -max(right - math.log(total), least)
        found[row, 1] = 1.0 + squares / (total * total) - 2 * math.exp(right) / total
        found[row, 2] = 1.0 / total
        found[row, 3] = 1.0 if best == truth else 0.0
