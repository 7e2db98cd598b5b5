"""Class priors, posterior probabilities and the most probable class."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from suffice.kernels import posterior
from suffice.priors import Prior, check_numbers, pseudo_counts
from suffice.schema import Array


def empirical_prior(class_count: Array) -> Array:
    """Return the relative frequency of each class; equal probabilities if there are no rows.

    >>> empirical_prior(np.array([3.0, 1.0])).tolist()
    [0.75, 0.25]
    """
    total = class_count.sum(axis=-1, keepdims=True)
    return np.where(total > 0, class_count / np.where(total > 0, total, 1.0), 1 / class_count.shape[-1])


def class_prior(setting: Any, classes: Array, class_count: Array) -> Array:
    """Return the prior probability of each class.

    Parameters
    ----------
    setting : {"empirical", "uniform"}, array, dict, number, Prior or None
        ``"empirical"`` (or None) takes the relative frequencies, ``"uniform"`` equal probabilities (the
        maximum-likelihood decision), an array or ``{label: p}`` is used as given, and a number or a Prior smooths the
        frequencies: (count + α) / Σ(count + α).
    classes : array
        The labels.
    class_count : array
        The total weight of the rows of each class.

    Returns
    -------
    array
        Probabilities that sum to 1, in the order of the classes.

    Examples
    --------
    >>> class_prior({"ham": 0.75, "spam": 0.25}, np.array(["ham", "spam"]), np.array([1.0, 1.0])).tolist()
    [0.75, 0.25]
    >>> class_prior(1, np.array(["ham", "spam"]), np.array([2.0, 0.0])).tolist()
    [0.75, 0.25]
    """
    if setting is None or (isinstance(setting, str) and setting == "empirical"):
        return empirical_prior(class_count)
    if isinstance(setting, (str, bool)):
        if setting == "uniform":
            return np.full(len(classes), 1 / len(classes))
        problem = "is not known" if isinstance(setting, str) else "is not a probability"
        raise ValueError(f"class_prior={setting!r} {problem}; use 'empirical', 'uniform', probabilities or a Prior")
    if isinstance(setting, (Real, Prior)):
        return empirical_prior(class_count + pseudo_counts(setting, np.array([len(classes)]), "class"))
    if isinstance(setting, Mapping):
        labels = classes.tolist()
        if set(setting) != set(labels):
            unmatched = next(iter(set(setting) ^ set(labels)))
            raise ValueError(
                f"class_prior={{label: p}} must name each class once: {unmatched!r} is missing, or not a class"
            )
        setting = [setting[label] for label in labels]
    prior = check_numbers(setting, "class_prior") if np.ndim(setting) else np.zeros(0)
    if prior.shape != (len(classes),):
        raise ValueError("Number of priors must match number of classes.")
    if not (prior >= 0).all():
        raise ValueError(f"Priors must be non-negative: they are {prior}.")
    total = prior.sum()
    if abs(total - 1) > 1e-8:
        raise ValueError(f"The sum of the priors should be 1. It is {total:g}.")
    return np.asarray(prior / total)


def draw_class_prior(setting: Any, classes: Array, class_count: Array, rng: np.random.Generator) -> Array:
    """Return class probabilities drawn from their posterior if they are estimated from counts, else as set."""
    smoothed = isinstance(setting, (Real, Prior))
    is_estimated = smoothed or setting is None or (isinstance(setting, str) and setting == "empirical")
    if not is_estimated:
        return class_prior(setting, classes, class_count)
    alpha = pseudo_counts(setting if smoothed else 1.0, np.array([len(classes)]), "class")
    return rng.dirichlet(class_count + np.maximum(alpha, np.finfo(float).tiny))


def log(probabilities: Array) -> Array:
    """Return the logarithms, with log 0 = −∞ and without a warning.

    >>> log(np.array([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def log_posterior(log_joint: Array, class_log_prior: Array) -> Array:
    """Turn log p(x, class) into log P(class | x), in place.

    A row that is impossible in every class gets the prior.

    >>> impossible = np.full((1, 2), -np.inf)
    >>> np.exp(log_posterior(impossible, np.log([0.75, 0.25]))).round(2).tolist()
    [[0.75, 0.25]]
    """
    posterior.normalise(log_joint, class_log_prior, work=4 * log_joint.size)
    return log_joint


def most_probable(log_joint: Array, class_log_prior: Array) -> Array:
    """Return the code of the most probable class of each row, the first one if several are equally probable.

    >>> most_probable(np.log([[0.1, 0.2], [0.2, 0.1]]), np.log([0.5, 0.5])).tolist()
    [1, 0]
    """
    codes = np.empty(len(log_joint), np.intp)
    posterior.pick(log_joint, codes, work=log_joint.size)
    is_open = codes < 0
    if is_open.any():
        codes[is_open] = first_of_highest(log_posterior(log_joint[is_open], class_log_prior))
    return codes


def first_of_highest(log_proba: Array) -> Array:
    """Return the code of the class with the highest probability; logarithms may differ where probabilities are equal.

    >>> first_of_highest(np.log([[0.25, 0.75], [0.5, 0.5]])).tolist()
    [1, 0]
    """
    return np.asarray(np.exp(log_proba).argmax(axis=1))
