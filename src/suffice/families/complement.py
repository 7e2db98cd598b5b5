"""Complement: the multinomial's counts, each class judged by how little a row is like all others."""

from __future__ import annotations

import numpy as np

from suffice.families.family import log_ratio
from suffice.families.linear import Linear
from suffice.families.multinomial import Multinomial, MultinomialParameters
from suffice.schema import Array
from suffice.tallies import Counts


class Complement(Multinomial):
    """The score Σⱼ −log p̃ⱼ·xⱼ of Rennie et al. (2003), with p̃ the share in all other classes."""

    name = "complement"

    def estimate(self, counts: Counts, alpha: Array | float, norm: bool = False) -> MultinomialParameters:
        """Return −log p̃; with ``norm``, log p̃ divided by its sum over the columns."""
        others = counts.total.sum(axis=0) - counts.total + alpha
        logged = log_ratio(others, others.sum(axis=1, keepdims=True), 1 / others.shape[1])
        if not norm:
            return MultinomialParameters(-logged, Linear.of(-logged, limit=np.inf))
        whole = logged.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            # a column that no other class has takes all the weight there is
            share = np.where(
                np.isinf(whole),
                np.isinf(logged) / np.maximum(np.isinf(logged).sum(axis=1, keepdims=True), 1),
                logged / whole,
            )
        share = np.where(whole == 0, 0.0, share)
        return MultinomialParameters(share, Linear.of(share))
