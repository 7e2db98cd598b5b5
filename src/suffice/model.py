"""Model: the estimated joint distribution p(x, class), as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from suffice import decision
from suffice.blocks import Block
from suffice.data.engines import memory
from suffice.families.family import Parameters
from suffice.schema import Array, Columns
from suffice.score import Score


class BlockEvidence(NamedTuple):
    """What the columns of a block contribute to the scores of rows.

    ``contributions`` are [row, class, column]. ``columns`` and ``block`` are None if the names are all that is known.
    """

    names: tuple[Any, ...]
    contributions: Array
    columns: Columns | None
    block: Block | None


@dataclass(frozen=True)
class Model:
    """The log prior of the classes, and for each block of columns the parameters of p(x | class).

    Parameters
    ----------
    columns : tuple of Columns
        The blocks of columns.
    class_log_prior : array [class]
        log P(class).
    parameters : tuple of Parameters
        The parameters of each block.
    """

    columns: tuple[Columns, ...]
    class_log_prior: Array
    parameters: tuple[Parameters, ...]

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """The score of each block of columns; their sum with the log prior is log p(x, class)."""
        return tuple(parameters.score() for parameters in self.parameters)

    @cached_property
    def relative_scores(self) -> tuple[Score, ...]:
        """The scores up to a number that the classes of a row share, which is all that the posterior needs."""
        return tuple(score.relative for score in self.scores)

    def log_joint(self, blocks: tuple[Block, ...]) -> Array:
        """Return log p(x, class) for each row and class."""
        return self._by_row(blocks, self.scores, lambda log_joint: log_joint)

    def log_posterior(self, blocks: tuple[Block, ...]) -> Array:
        """Return log P(class | x) for each row and class."""
        return self._by_row(
            blocks, self.relative_scores, lambda scores: decision.log_posterior(scores, self.class_log_prior)
        )

    def most_probable(self, blocks: tuple[Block, ...]) -> Array:
        """Return the code of the most probable class of each row."""
        return self._by_row(
            blocks, self.relative_scores, lambda scores: decision.most_probable(scores, self.class_log_prior)
        )

    def log_density(self, blocks: tuple[Block, ...]) -> Array:
        """Return log p(x) of each row."""
        return np.asarray(logsumexp(self.log_joint(blocks), axis=1))

    def evidence(self, blocks: tuple[Block, ...]) -> Iterator[BlockEvidence]:
        """Yield what the columns of each block contribute; with `evidence_prior` they sum to `log_joint`."""
        for columns, block, score in zip(self.columns, blocks, self.scores, strict=True):
            found = score.contributions(block)
            names = columns.names or tuple(range(found.shape[-1]))
            yield BlockEvidence(names, found, columns, block)

    @property
    def evidence_prior(self) -> Array:
        """The part of the scores that does not depend on the row, [class]."""
        return self.class_log_prior

    @property
    def density(self) -> Model:
        """The model that has p(x | class): this one."""
        return self

    def with_class_prior(self, class_log_prior: Array) -> Model:
        """Return the model with another class prior."""
        return replace(self, class_log_prior=class_log_prior)

    def posterior_by_row(self, blocks: tuple[Block, ...], others: Sequence[Array] = ()) -> Array:
        """Return log P(class | x) if each row has its own prior and parameters, [row, class, …] (leave-one-out).

        ``others`` are the scores [row, class] of other blocks.
        """
        own = [score.contributions(block).sum(axis=-1) for block, score in zip(blocks, self.scores, strict=True)]
        found: list[Array] = [*others, *own]
        scores = np.array(np.broadcast_to(self.class_log_prior, found[0].shape))
        for part in found:
            # a row that is impossible by one block stays so, even if another block is infinitely certain
            scores = np.where((part == -np.inf) | (scores == -np.inf), -np.inf, scores + part)
        impossible = np.isneginf(scores).all(axis=1, keepdims=True)
        return decision.log_posterior(np.where(impossible, self.class_log_prior, scores), np.zeros(scores.shape[1]))

    def sample(self, count: int, rng: np.random.Generator) -> tuple[tuple[Array, ...], Array]:
        """Return rows drawn from the joint, block by block, and the code of each row's class."""
        shares = np.exp(self.class_log_prior)
        codes = rng.choice(len(shares), count, p=shares / shares.sum())
        sizes, places = np.bincount(codes).tolist(), np.argsort(np.argsort(codes, kind="stable"))

        def draw(parameters: Parameters) -> Array:
            by_class = [parameters.sample(k, size, rng) for k, size in enumerate(sizes) if size]
            return np.concatenate(by_class)[places]

        return tuple(map(draw, self.parameters)), codes

    def _by_row(self, blocks: tuple[Block, ...], scores: tuple[Score, ...], view: Callable[[Array], Array]) -> Array:
        """Return a function of the log prior and the scores of all rows, for a range of rows at a time."""
        classes = len(self.class_log_prior)

        def part(rows: slice) -> Array:
            total = np.repeat(self.class_log_prior[None], rows.stop - rows.start, axis=0)
            for block, score in zip(blocks, scores, strict=True):
                score.add(block, rows, total)
            return view(total)

        parts = memory.over_rows(blocks, classes, part)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
