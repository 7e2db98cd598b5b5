"""Multinomial: how often each of many things occurred in a row, such as the words of a text."""

from __future__ import annotations

from dataclasses import dataclass

from suffice import scans
from suffice.families.family import Family, log_ratio
from suffice.families.linear import Linear
from suffice.schema import Array, Columns, Frozen
from suffice.tables import Block, Part
from suffice.tallies import Counts


@dataclass(frozen=True)
class MultinomialParameters(Frozen):
    """The logarithm of each column's share, [class, column]."""

    log_p: Array
    linear: Linear


class Multinomial(Family):
    """p(x given class) ∝ Πⱼ pⱼ^xⱼ, with Σⱼ pⱼ = 1."""

    name = "multinomial"
    statistic = Counts

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        return columns, Counts(part.class_count[:, None], scans.sums(part))

    def estimate(self, counts: Counts, alpha: Array | float) -> MultinomialParameters:
        """Return pⱼ = (countⱼ + α) / Σᵢ (countᵢ + α), the posterior mean under a Dirichlet(α)."""
        smoothed = counts.total + alpha
        log_p = log_ratio(smoothed, smoothed.sum(axis=1, keepdims=True), 1 / smoothed.shape[1])
        return MultinomialParameters(log_p, Linear.of(log_p))

    def add_log_likelihood(
        self, parameters: MultinomialParameters, columns: Columns, block: Block, rows: slice, scores: Array
    ) -> None:
        parameters.linear.add(block, rows, None, scores)
