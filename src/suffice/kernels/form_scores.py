"""Scores of forms: log-likelihoods of the classes given a bin or a Gaussian, each row without itself."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

from suffice.kernels.compiler import Exact

# The least probability of a cell, and the least divisors.
LEAST_PROBABILITY, LEAST, LEAST_PRODUCT = math.exp(-700.0), 1e-300, 1e-320

ROOT = math.sqrt(0.5)


def score_level(sums, pseudo_count, classes):
    """Return Σ counts·log P(class | level), where each row is scored without itself.

    ``sums`` holds the counts of the level by class, and the factors of the pseudo-counts of all rows and without a row.
    """
    highest = LEAST_PRODUCT
    every = 0.0
    for k in range(classes):
        highest = max(highest, (sums[0, k] + pseudo_count) * sums[1, k])
    for k in range(classes):
        every += (sums[0, k] + pseudo_count) * sums[1, k] / highest
    score = 0.0
    for k in range(classes):
        if sums[0, k] != 0.0:
            mine = (max(sums[0, k] - 1.0, 0.0) + pseudo_count) * sums[2, k] / highest
            rest = max(every - (sums[0, k] + pseudo_count) * sums[1, k] / highest, 0.0)
            score += sums[0, k] * math.log(max(mine / max(mine + rest, LEAST), LEAST))
    return score


@Exact
def score_bins(counts, starts, sizes, is_end, missing, has_missing, shares, pseudo_count, sums, scores):
    """Write Σ counts·log P(class | bin) of each column to ``scores``; each row is scored without itself.

    ``missing`` [column, class] is the weight of one more level if ``has_missing``, and ``shares`` [column, class] the
    weight of each class in all rows. ``sums`` is a buffer of four numbers of each class.
    """
    classes = counts.shape[1]
    for j in range(starts.shape[0]):
        first = starts[j]
        last = first + sizes[j] - 1
        levels = 1.0 if has_missing else 0.0
        for k in range(classes):
            sums[0, k] = 0.0
            sums[3, k] = missing[j, k] if has_missing else 0.0
        for cell in range(first, last + 1):
            levels += 1.0 if is_end[cell] or cell == last else 0.0
            for k in range(classes):
                sums[3, k] += counts[cell, k]
        for k in range(classes):
            share = max(shares[j, k], LEAST)
            sums[1, k] = share / max(sums[3, k] + pseudo_count * levels, LEAST)
            sums[2, k] = share / max(max(sums[3, k] - 1.0, 0.0) + pseudo_count * levels, LEAST)
        score = 0.0
        for cell in range(first, last + (2 if has_missing else 1)):
            for k in range(classes):
                sums[0, k] += counts[cell, k] if cell <= last else missing[j, k]
            if cell >= last or is_end[cell]:
                score += score_level(sums, pseudo_count, classes)
                for k in range(classes):
                    sums[0, k] = 0.0
        scores[j] = score


def tail(z):
    """Return the probability of a standard normal number beyond ±z, on the side of its sign."""
    return 0.5 * math.erfc(abs(z) * ROOT)


@Exact
def score_gaussians(
    counts, starts, sizes, upper, n, mean, squares, shares, pseudo_count, far, open_end, own, ends, scores
):
    """Write Σ counts·log P(class | x) of each column to ``scores``; each row is scored without itself.

    Parameters
    ----------
    counts : array [cell, class]
        The weight of each class in each cell; the last cell of a column has no upper end.
    starts, sizes : arrays [column]
        The first cell of each column, and their number.
    upper : array [cell]
        The upper edge of each cell.
    n, mean, squares : arrays [column, class]
        The weight, the mean and the squared deviations.
    shares : array [column, class]
        The weight of each class in all rows.
    pseudo_count : float
        The number of pseudo-rows with the moments of all rows that each class gets.
    far, open_end : float
        The most standard deviations between the mean and an edge, and between the mean and the open end of a cell of
        which a row is left out, which is taken to lie in the middle.
    own, ends : arrays [4, class], [2, class]
        Buffers.
    scores : array [column]
        The result.
    """
    classes = counts.shape[1]
    for j in range(starts.shape[0]):
        total = 0.0
        centre = 0.0
        for k in range(classes):
            total += n[j, k]
            centre += n[j, k] * mean[j, k]
        total = max(total, LEAST)
        centre = centre / total
        pooled = 0.0
        for k in range(classes):
            distance = mean[j, k] - centre
            pooled += squares[j, k] + n[j, k] * (distance * distance)
        pooled = max(pooled / total, LEAST)
        deviation = math.sqrt(pooled)
        # standardised, so that the numbers below are of order 1
        for k in range(classes):
            own[0, k] = (mean[j, k] - centre) / deviation if n[j, k] > 0.0 else 0.0
            own[1, k] = squares[j, k] / pooled
            own[2, k] = math.sqrt((own[1, k] + pseudo_count) / (n[j, k] + pseudo_count))
            ends[0, k] = -math.inf
            ends[1, k] = 0.0
        low = -math.inf
        score = 0.0
        for cell in range(starts[j], starts[j] + sizes[j]):
            high = math.inf
            if cell < starts[j] + sizes[j] - 1:
                high = min(max((upper[cell] - centre) / deviation, -far), far)
            highest = LEAST_PRODUCT
            for k in range(classes):
                z = (high - own[0, k]) / own[2, k]
                beyond = tail(z)
                inside = 1.0 - ends[1, k] - beyond
                if ends[0, k] > 0.0:  # differences of the smaller tails keep their digits
                    inside = ends[1, k] - beyond
                elif z <= 0.0:
                    inside = beyond - ends[1, k]
                own[3, k] = max(shares[j, k], LEAST) * max(inside, LEAST_PROBABILITY)
                highest = max(highest, own[3, k])
                ends[0, k] = z
                ends[1, k] = beyond
            every = 0.0
            for k in range(classes):
                every += own[3, k] / highest
            x = (max(low, -open_end) + min(high, open_end)) / 2.0
            for k in range(classes):
                if counts[cell, k] == 0.0:
                    continue
                rest = max(n[j, k] - 1.0, 0.0)
                centre_of_rest = 0.0
                squares_of_rest = 0.0
                if rest > 0.0:
                    distance = x - own[0, k]
                    centre_of_rest = own[0, k] - distance / rest
                    squares_of_rest = max(own[1, k] - distance * distance * (n[j, k] / rest), 0.0)
                width = math.sqrt((squares_of_rest + pseudo_count) / (rest + pseudo_count))
                start = (low - centre_of_rest) / width
                stop = (high - centre_of_rest) / width
                start_tail = tail(start)
                stop_tail = tail(stop)
                inside = 1.0 - start_tail - stop_tail
                if start > 0.0:
                    inside = start_tail - stop_tail
                elif stop <= 0.0:
                    inside = stop_tail - start_tail
                mine = max(shares[j, k], LEAST) * max(inside, LEAST_PROBABILITY) / highest
                others = max(every - own[3, k] / highest, 0.0)
                score += counts[cell, k] * math.log(max(mine / max(mine + others, LEAST), LEAST))
            low = high
        scores[j] = score
