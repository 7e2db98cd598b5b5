"""Scores of rows by the moments of all other rows, for leave-one-out."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np

from suffice.kernels.compiler import Scorer

# A product of variances is between 1e-300 and 1e300, so that one logarithm serves for many of them.
MOST_DIGITS = 300.0


def remove_row(line, weight, code, n, mean, tail, m2, ddof, least_rows, least_left, deviations, variances):
    """Write deviations from the mean and variances without the row, first of all classes, then of its own.

    Without x of weight w, Σw·(x − mean)² is smaller by w·(x − mean)²·n / (n − w), and x − mean is n / (n − w) as large.
    Return the number of cells where no rows, or too few digits, are left.
    """
    lost = 0.0
    for which in range(2):
        place = code if which == 1 else n.shape[0] - 1
        fewer = ddof if which == 1 else 0.0
        for j in range(line.shape[0]):
            deviation = (line[j] - mean[place, j]) - tail[place, j]
            taken = weight if deviation == deviation else 0.0  # a missing cell has no weight
            rest = n[place, j] - taken
            ratio = n[place, j] / (rest if rest > 0.0 else 1.0)
            removed = deviation * deviation * (ratio * taken)
            square = m2[place, j] - (removed if deviation == deviation else 0.0)
            lost += 1.0 if rest <= least_rows * n[place, j] or square < least_left * m2[place, j] else 0.0
            deviations[which, j] = deviation * ratio
            variances[which, j] = square / (rest - fewer if rest > fewer else 1.0)
    return lost


def count_factors(low, high):
    """Return how many numbers between two limits have a product that is neither 0 nor infinite."""
    return max(int(MOST_DIGITS / max(abs(math.log10(low)), abs(math.log10(high)), 1.0)), 1)


def add_up(line, mean, tail, k, deviations, is_own, variances, place, floor, least, width):
    """Return Σⱼ d² / s + log s over the cells that are not missing, with s = variance + floor, and at least ``least``.

    One logarithm is taken of the product of ``width`` of them.
    """
    total = 0.0
    for first in range(0, line.shape[0], width):
        product = 1.0
        for j in range(first, min(first + width, line.shape[0])):
            deviation = deviations[1, j] if is_own else (line[j] - mean[k, j]) - tail[k, j]
            spread = variances[place, j] + floor
            spread = spread if spread > least else least
            square = deviation * deviation / spread
            total += square if deviation == deviation else 0.0
            product *= spread if deviation == deviation else 1.0
        total += math.log(product)
    return total


def add_up_nearby(line, mean, tail, k, inverse, change):
    """Return Σⱼ d² / (s + change) up to the square of the change, given 1 / s."""
    total = 0.0
    slope = 0.0
    for j in range(line.shape[0]):
        deviation = (line[j] - mean[k, j]) - tail[k, j]
        square = deviation * deviation * inverse[k, j]
        total += square
        slope += square * inverse[k, j]
    return total - change * slope


@Scorer
def add_gaussians(x, codes, weights, n, mean, tail, m2, variance, inverse, constants, settings, limits, scores, exact):
    """Add −½ Σⱼ (x − mean)² / s + log s of each class, all without the row, and write which rows are exact.

    Here s is a variance and the floor of all, var_smoothing times the largest variance of all classes. The last line of
    n, mean, tail and m2 has the moments of all classes. With all rows, ``variance`` [class, column] has no floor,
    ``inverse`` is 1 / s, and ``constants`` [2, class] are Σ log s and Σ 1 / s. ``settings`` are var_smoothing, ddof,
    the least s, and the shares of n and m2 of which more has to be left. ``limits`` are the least and the highest
    variance, the floor with all rows, and the most by which it may change for ``inverse`` to be of use.
    """
    columns = x.shape[1]
    line, deviations, left = np.zeros(columns), np.zeros((2, columns)), np.zeros((2, columns))
    for row in range(x.shape[0]):
        for j in range(columns):
            line[j] = x[row, j]
        code = codes[row]
        weight = 1.0 if weights is None else weights[row]
        lost = remove_row(
            line, weight, code, n, mean, tail, m2, settings[1], settings[3], settings[4], deviations, left
        )
        exact[row] = lost == 0.0
        if lost > 0.0:
            continue
        largest, low, high = 0.0, math.inf, 0.0
        for j in range(columns):
            largest = left[0, j] if left[0, j] > largest else largest
            low = left[1, j] if left[1, j] < low else low
            high = left[1, j] if left[1, j] > high else high
        floor = settings[0] * largest
        change = floor - limits[2]
        is_near = abs(change) <= limits[3]
        own_width = count_factors(max(low + floor, settings[2]), max(high + floor, settings[2]))
        width = count_factors(max(limits[0] + floor, settings[2]), max(limits[1] + floor, settings[2]))
        for k in range(scores.shape[1]):
            is_own = k == code
            if is_near and not is_own:
                total = add_up_nearby(line, mean, tail, k, inverse, change) + constants[0, k] + change * constants[1, k]
            else:
                variances, place, factors = (left, 1, own_width) if is_own else (variance, k, width)
                total = add_up(line, mean, tail, k, deviations, is_own, variances, place, floor, settings[2], factors)
            scores[row, k] -= 0.5 * total
