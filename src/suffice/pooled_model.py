"""PooledModel: several models of the same rows, whose predictions are pooled."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax, logsumexp

from suffice import decision
from suffice.blocks import Block, Coded
from suffice.decision.pooling import FLOOR, Pool, floor_of
from suffice.families.family import Parameters
from suffice.model import BlockEvidence, Model
from suffice.schema import Array, Columns, Partition
from suffice.score import Score

# The least share of a class in a tree that is explained; a class without rows has a share of 0.
LEAST = float(np.exp(FLOOR))


class Component(NamedTuple):
    """A member of a pool: its structure, its weight, its log-loss on held-out rows if it is known, and its model."""

    name: str
    weight: float
    log_loss: float | None
    model: Model

    @property
    def forest(self) -> Columns | None:
        """The block of trees, if the member is one."""
        return next((columns for columns in self.model.columns if columns.is_forest), None)


@dataclass(frozen=True)
class PooledModel:
    """log P(class | x) = Σₘ wₘ·max(log Pₘ(class | x), floor) + b of the class, up to a constant.

    Parameters
    ----------
    members : tuple of Model
        The models. Each reads its own blocks; the blocks of all follow one another.
    pool : Pool
        The components that the members are models of, and their weights wₘ.
    biases : array [class]
        b, and the change of the class prior, if there is one.
    class_log_prior : array [class]
        log P(class).
    """

    members: tuple[Model, ...]
    pool: Pool
    biases: Array
    class_log_prior: Array

    @property
    def weights(self) -> Array:
        """The weight of each member."""
        return self.pool.weights

    @property
    def floor(self) -> float:
        """What the log probabilities of the members are raised to."""
        return floor_of(self.pool.components)

    @property
    def components(self) -> tuple[Component, ...]:
        """The members with their names, weights and held-out log-losses."""
        losses = self.pool.log_loss or {}
        triples = zip(self.pool.names, self.weights.tolist(), self.members, strict=True)
        return tuple(Component(name, weight, losses.get(name), member) for name, weight, member in triples)

    @property
    def columns(self) -> tuple[Columns, ...]:
        """The blocks of columns of all members."""
        return tuple(columns for member in self.members for columns in member.columns)

    @property
    def parameters(self) -> tuple[Parameters, ...]:
        """The parameters of all blocks."""
        return tuple(parameters for member in self.members for parameters in member.parameters)

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """The scores of all blocks."""
        return tuple(score for member in self.members for score in member.scores)

    @property
    def density(self) -> Model:
        """The first member that has p(x | class); samples and densities come from it."""
        found = next((member for member in self.members if not _is_conditional(member) and not _is_twin(member)), None)
        if found is None:
            raise ValueError("trees give P(class | x) only: no rows can be drawn, and x has no density")
        return found

    def with_class_prior(self, class_log_prior: Array) -> "PooledModel":
        """Return the model with another class prior."""
        learned = np.maximum(self.class_log_prior, np.log(np.finfo(np.float64).tiny))
        return replace(self, biases=self.biases + class_log_prior - learned, class_log_prior=class_log_prior)

    def log_joint(self, blocks: tuple[Block, ...]) -> Array:
        """Return the pooled scores, Σₘ wₘ·(max(log Pₘ(class | x), floor) + log pₘ(x)) + b, [row, class]."""
        return self._sum(
            blocks, lambda member, own: _raised_joint(member.log_joint(own), member.class_log_prior, self.floor)
        )

    def log_posterior(self, blocks: tuple[Block, ...]) -> Array:
        """Return log P(class | x) for each row and class."""
        total = self._sum(blocks, lambda member, own: np.maximum(member.log_posterior(own), self.floor))
        return np.asarray(log_softmax(total, axis=1))

    def _sum(self, blocks: tuple[Block, ...], score: Callable[[Model, tuple[Block, ...]], Array]) -> Array:
        """Return the weighted sum of a score of the members, and the biases, [row, class]."""
        total = np.tile(self.biases, (blocks[0].shape[0], 1))
        for weight, member, own in self._members_of(blocks):
            if weight:
                total += weight * score(member, own)
        return total

    def most_probable(self, blocks: tuple[Block, ...]) -> Array:
        """Return the code of the most probable class of each row."""
        return decision.first_of_highest(self.log_posterior(blocks))

    def log_density(self, blocks: tuple[Block, ...]) -> Array:
        """Return log p(x) of the first member that has it."""
        own = next(own for _, member, own in self._members_of(blocks) if member is self.density)
        return self.density.log_density(own)

    def sample(self, count: int, rng: np.random.Generator) -> tuple[tuple[Array, ...], Array]:
        """Return rows drawn from the first member that has p(x | class)."""
        return self.density.sample(count, rng)

    def evidence(self, blocks: tuple[Block, ...]) -> Iterator[BlockEvidence]:
        """Yield what the columns of each block contribute; with `evidence_prior` they sum to `log_joint`.

        What the floor adds to a member's score is divided among its columns by the size of their contributions, and
        among those that are infinite if there are any. A tree's contributions are those of the columns on the
        path of the row.
        """
        for weight, member, own in self._members_of(blocks):
            score = _raised_joint(member.log_joint(own), member.class_log_prior, self.floor)
            parts = list(_tree_evidence(member, own) if _is_conditional(member) else member.evidence(own))
            yield from _spread(parts, score - _member_prior(member, self.floor), weight)

    @property
    def evidence_prior(self) -> Array:
        """The scores of a row without evidence, [class]."""
        return np.asarray(self.biases + self.weights @ self.member_priors)

    @property
    def member_priors(self) -> Array:
        """The score of each member for a row without evidence, [member, class]."""
        return np.array([_member_prior(member, self.floor) for member in self.members])

    def _members_of(self, blocks: tuple[Block, ...]) -> Iterator[tuple[float, Model, tuple[Block, ...]]]:
        """Yield the weight of each member, the member, and its blocks."""
        first = 0
        for weight, member in zip(self.weights.tolist(), self.members, strict=True):
            last = first + len(member.columns)
            yield weight, member, blocks[first:last]
            first = last


def _is_conditional(member: Model) -> bool:
    return any(parameters.is_conditional for parameters in member.parameters)


def _is_twin(member: Model) -> bool:
    return any(parameters.is_correction for parameters in member.parameters)


def _raised_joint(joint: Array, class_log_prior: Array, floor: float) -> Array:
    """Return max(log P(class | x), floor) + log p(x), from log p(x, class), [row, class]."""
    log_p = logsumexp(joint, axis=1, keepdims=True)
    posterior = decision.log_posterior(joint.copy(), class_log_prior)
    return np.asarray(np.maximum(posterior, floor) + np.where(np.isfinite(log_p), log_p, 0.0))


def _member_prior(member: Model, floor: float) -> Array:
    """Return the score of a member for a row without evidence, [class]."""
    prior = member.class_log_prior + _base_of(member)
    return np.asarray(_raised_joint(prior[None], prior, floor)[0])


def _spread(parts: list[BlockEvidence], score: Array, weight: float) -> Iterator[BlockEvidence]:
    """Yield contributions times a weight, which are made to sum to ``score`` [row, class]."""
    found = np.concatenate([part.contributions for part in parts], axis=-1)
    is_infinite = ~np.isfinite(found)
    finite = np.where(is_infinite, 0.0, found)
    sizes = np.where(is_infinite.any(axis=-1, keepdims=True), is_infinite, np.abs(finite))
    total, rest = sizes.sum(axis=-1), score - finite.sum(axis=-1)
    factor = np.divide(rest, total, out=np.zeros(rest.shape), where=total > 0)
    ends = np.cumsum([part.contributions.shape[-1] for part in parts])[:-1]
    for part, own in zip(parts, np.split(weight * (finite + factor[..., None] * sizes), ends, axis=-1), strict=True):
        yield part._replace(contributions=own)


def _base_of(member: Model) -> Array | float:
    """Return the logarithm of the shares in the roots of trees, [class]; 0 for other models."""
    if not _is_conditional(member):
        return 0.0
    shares = np.mean([path.shares[path.root] for path in _paths(member)], axis=0)
    return np.asarray(np.log(np.maximum(shares, LEAST)))


@dataclass(frozen=True)
class _Paths:
    """A tree, its root among the nodes of all trees, and the shares of these nodes, [node, class]."""

    tree: Partition
    root: int
    shares: Array


def _paths(member: Model) -> Iterator[_Paths]:
    (columns,) = member.columns
    trees: Any = member.parameters[0]
    root = 0
    for tree in columns.codings or ():
        assert isinstance(tree, Partition)
        yield _Paths(tree, root, trees.nodes)
        root += len(tree.column)


def _tree_evidence(member: Model, blocks: tuple[Block, ...]) -> Iterator[BlockEvidence]:
    """Yield what each column adds to log P(class | x) by trees.

    On the path of a row, each split changes the class shares; the change belongs to the column of the split. The sum
    of all changes is P − P in the root, and each column gets its share of log P − log P in the root.
    """
    (block,), (columns,) = blocks, member.columns
    assert columns.is_forest
    assert isinstance(block, Coded)
    rows, paths = block.shape[0], list(_paths(member))
    inputs, classes = paths[0].tree.inputs, paths[0].shares.shape[1]
    changes = np.zeros((rows, len(inputs), classes))
    base = np.zeros(classes)
    for place, path in enumerate(paths):
        tree, every = path.tree, np.arange(rows)
        node = np.flatnonzero(tree.column < 0)[block.array[:, place]]
        base += path.shares[path.root] / len(paths)
        while (node > 0).any():
            every, node = every[node > 0], node[node > 0]
            above = tree.parent[node]
            change = path.shares[path.root + node] - path.shares[path.root + above]
            np.add.at(changes, (every, tree.column[above]), change / len(paths))
            node = above
    base = np.maximum(base, LEAST)
    p = np.maximum(base + changes.sum(axis=1), LEAST)
    away = p - base
    # (log p − log base) / (p − base), which is 1 / base where both are equal
    ratio = np.where(away == 0, 1 / base, np.log1p(away / base) / np.where(away == 0, 1.0, away))
    names = tuple(each.name for each in inputs)
    yield BlockEvidence(names, np.moveaxis(changes * ratio[:, None], 1, 2), None, None)


AnyModel = Model | PooledModel
