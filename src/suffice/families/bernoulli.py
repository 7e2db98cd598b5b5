"""Bernoulli: yes or no, 1 or 0, above the threshold or not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice import scans
from suffice.families.family import Family, log_ratio
from suffice.families.linear import Linear
from suffice.kernels import scoring
from suffice.schema import Array, Columns, Frozen
from suffice.tables import Block, Dense, Part
from suffice.tallies import Counts

# Sums over eight columns are looked up where their table fits the cache, and where there are rows
# enough to be worth making it.
LARGEST_TABLE = 1 << 19
ROWS_WORTH_A_TABLE = 1 << 12
LANES = 4


@dataclass(frozen=True)
class BernoulliParameters(Frozen):
    """The logarithms of p, the probability of a 1, and of 1 − p, [class, column]."""

    log_p: Array
    log_q: Array
    linear: Linear

    @cached_property
    def octets(self) -> Array | None:
        """Σⱼ weights·xⱼ for all 256 patterns of each eight columns, [octet, pattern, class]."""
        classes, columns = self.linear.weights.shape
        count, lanes = -(-columns // 8), -(-classes // LANES) * LANES
        if self.linear.veto is not None or count * 256 * lanes > LARGEST_TABLE:
            return None
        weights = np.zeros((8 * count, lanes))
        weights[:columns, :classes] = self.linear.weights.T
        patterns = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
        return np.asarray(patterns.astype(np.float64) @ weights.reshape(count, 8, lanes))


class Bernoulli(Family):
    """p(x given class) = Πⱼ pⱼ^xⱼ·(1 − pⱼ)^(1 − xⱼ)."""

    name = "bernoulli"
    statistic = Counts

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        return columns, Counts(part.class_count[:, None], scans.bits(part, columns.threshold))

    def estimate(self, counts: Counts, alpha: Array | float) -> BernoulliParameters:
        """Return p = (ones + α) / (n + 2α), the posterior mean under Beta(α, α)."""
        whole = counts.n + 2 * np.asarray(alpha)
        log_p = log_ratio(counts.total + alpha, whole, 0.5)
        log_q = log_ratio(counts.n - counts.total + alpha, whole, 0.5)
        return BernoulliParameters(log_p, log_q, _linear(log_p, log_q))

    def add_log_likelihood(
        self, parameters: BernoulliParameters, columns: Columns, block: Block, rows: slice, scores: Array
    ) -> None:
        many = isinstance(block, Dense) and block.shape[0] >= ROWS_WORTH_A_TABLE and columns.threshold is not None
        if many and parameters.octets is not None:
            _add_octets(parameters.octets, parameters.linear.bias, columns, block, rows, scores)
        else:
            parameters.linear.add(block, rows, columns.threshold, scores)


def _linear(log_p: Array, log_q: Array) -> Linear:
    """Σⱼ xⱼ·log p + (1 − xⱼ)·log q  =  Σⱼ log q + Σⱼ xⱼ·(log p − log q)."""
    never, always = np.isinf(log_p), np.isinf(log_q)
    if not (never.any() or always.any()):
        return Linear(log_p - log_q, log_q.sum(axis=1))
    # where p is 0 a one is impossible, where p is 1 a zero is
    veto = Linear(never.astype(np.float64) - always, always.sum(axis=1).astype(np.float64))
    certain = never | always
    weights = np.where(certain, 0.0, np.where(never, 0.0, log_p) - np.where(always, 0.0, log_q))
    return Linear(weights, np.where(certain, 0.0, log_q).sum(axis=1), veto)


def _add_octets(table: Array, bias: Array, columns: Columns, block: Block, rows: slice, scores: Array) -> None:
    assert isinstance(block, Dense)
    assert columns.threshold is not None
    scores += bias
    limit, check = scans.comparable(columns.threshold, block.dtype), scans.finite_check(block)
    for place, x in block.pieces(rows.start, rows.stop):
        part = scores[place.start - rows.start : place.stop - rows.start]
        if scoring.add_octets(x, limit, check, table, part, work=x.size * table.shape[2] // 8) != 0:
            block.reject_if_not_finite(rows)
