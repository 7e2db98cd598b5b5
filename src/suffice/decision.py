"""From log joint probabilities to a decision: class priors, posteriors, the most probable class."""

from __future__ import annotations

import numpy as np

from suffice.kernels import deciding
from suffice.schema import Array


def empirical_prior(class_count: Array) -> Array:
    """Return the share of each class; equal shares where nothing was counted yet.

    >>> empirical_prior(np.array([3.0, 1.0])).tolist()
    [0.75, 0.25]
    """
    total = class_count.sum()
    return class_count / total if total > 0 else np.full(len(class_count), 1 / len(class_count))


def log(probabilities: Array) -> Array:
    """Return logarithms, with log 0 = −∞ and no warning about it.

    >>> log(np.array([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def log_posterior(log_joint: Array, class_log_prior: Array) -> Array:
    """Turn log p(x, class) into log P(class given x), in place.

    A row that is impossible in every class says nothing, so the prior stands.

    >>> impossible = np.full((1, 2), -np.inf)
    >>> np.exp(log_posterior(impossible, np.log([0.75, 0.25]))).round(2).tolist()
    [[0.75, 0.25]]
    """
    deciding.normalise(log_joint, class_log_prior, work=4 * log_joint.size)
    return log_joint


def most_probable(log_joint: Array, class_log_prior: Array) -> Array:
    """Return the code of the most probable class of each row, the first of equals.

    >>> most_probable(np.log([[0.1, 0.2], [0.2, 0.1]]), np.log([0.5, 0.5])).tolist()
    [1, 0]
    """
    codes = np.empty(len(log_joint), np.intp)
    deciding.pick(log_joint, class_log_prior, codes, work=log_joint.size)
    return codes
