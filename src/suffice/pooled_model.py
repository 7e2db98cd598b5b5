"""PooledModel: several models of the same rows, whose predictions are pooled."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import log_softmax, logsumexp

from suffice.blocks import Block, Coded
from suffice.decision.pooling import FLOOR
from suffice.families.family import Parameters
from suffice.model import BlockEvidence, Model
from suffice.schema import Array, Columns, Partition
from suffice.score import Score
from suffice.structures.trees import TreesParameters
from suffice.structures.twin import TwinParameters


@dataclass(frozen=True)
class PooledModel:
    """log P(class | x) = Σₘ wₘ·max(log Pₘ(class | x), floor) + b of the class, up to a constant.

    Parameters
    ----------
    members : tuple of Model
        The models. Each reads its own blocks; the blocks of all follow one another.
    weights : array [member]
        wₘ.
    biases : array [class]
        b, and the change of the class prior, if there is one.
    class_log_prior : array [class]
        log P(class).
    floor : float
        The floor.
    """

    members: tuple[Model, ...]
    weights: Array
    biases: Array
    class_log_prior: Array
    floor: float = FLOOR

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
        total = np.tile(self.biases, (blocks[0].shape[0], 1))
        for weight, member, own in self._members_of(blocks):
            if weight:
                joint = member.log_joint(own)
                raised, log_p = _raise(joint, self.floor)
                total += weight * (raised + log_p)
        return total

    def log_posterior(self, blocks: tuple[Block, ...]) -> Array:
        """Return log P(class | x) for each row and class."""
        total = np.tile(self.biases, (blocks[0].shape[0], 1))
        for weight, member, own in self._members_of(blocks):
            if weight:
                total += weight * np.maximum(member.log_posterior(own), self.floor)
        return np.asarray(log_softmax(total, axis=1))

    def most_probable(self, blocks: tuple[Block, ...]) -> Array:
        """Return the code of the most probable class of each row."""
        return np.asarray(self.log_posterior(blocks).argmax(axis=1))

    def log_density(self, blocks: tuple[Block, ...]) -> Array:
        """Return log p(x) of the first member that has it."""
        own = next(own for _, member, own in self._members_of(blocks) if member is self.density)
        return self.density.log_density(own)

    def sample(self, count: int, rng: np.random.Generator) -> tuple[tuple[Array, ...], Array]:
        """Return rows drawn from the first member that has p(x | class)."""
        return self.density.sample(count, rng)

    def evidence(self, blocks: tuple[Block, ...]) -> Iterator[BlockEvidence]:
        """Yield what the columns of each block contribute; with the biases and priors they sum to `log_joint`.

        What the floor adds to a member's score is divided among its columns by the size of their contributions. A
        tree's contributions are those of the columns on the path of the row.
        """
        for weight, member, own in self._members_of(blocks):
            joint = member.log_joint(own)
            raised, log_p = _raise(joint, self.floor)
            parts = list(_tree_evidence(member, own) if _is_conditional(member) else member.evidence(own))
            with np.errstate(invalid="ignore"):
                missing = raised + log_p - joint
            yield from _spread(parts, np.where(np.isfinite(missing), missing, 0.0), weight)

    @property
    def evidence_prior(self) -> Array:
        """The part of the scores that does not depend on the row, [class]."""
        priors = [member.class_log_prior + _base_of(member) for member in self.members]
        return np.asarray(self.biases + sum(w * p for w, p in zip(self.weights, priors, strict=True)))

    def _members_of(self, blocks: tuple[Block, ...]) -> Iterator[tuple[float, Model, tuple[Block, ...]]]:
        """Yield the weight of each member, the member, and its blocks."""
        first = 0
        for weight, member in zip(self.weights.tolist(), self.members, strict=True):
            last = first + len(member.columns)
            yield weight, member, blocks[first:last]
            first = last


def _is_conditional(member: Model) -> bool:
    return any(isinstance(parameters, TreesParameters) for parameters in member.parameters)


def _is_twin(member: Model) -> bool:
    return any(isinstance(parameters, TwinParameters) for parameters in member.parameters)


def _raise(joint: Array, floor: float) -> tuple[Array, Array]:
    """Return log P(class | x), raised to the floor, and log p(x), from log p(x, class)."""
    log_p = logsumexp(joint, axis=1, keepdims=True)
    log_p = np.where(np.isfinite(log_p), log_p, 0.0)
    return np.maximum(joint - log_p, floor), log_p


def _spread(parts: list[BlockEvidence], missing: Array, weight: float) -> Iterator[BlockEvidence]:
    """Yield contributions times a weight; ``missing`` [row, class] is divided by the size of the contributions."""
    sizes = [np.where(np.isfinite(part.contributions), np.abs(part.contributions), 0.0) for part in parts]
    total = sum(size.sum(axis=-1) for size in sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(total > 0, missing / total, 0.0)[..., None]
    for part, size in zip(parts, sizes, strict=True):
        yield part._replace(contributions=weight * (part.contributions + factor * size))


def _base_of(member: Model) -> Array | float:
    """Return the logarithm of the shares in the roots of trees, [class]; 0 for other models."""
    if not _is_conditional(member):
        return 0.0
    return np.asarray(np.log(np.mean([path.shares[path.root] for path in _paths(member)], axis=0)))


@dataclass(frozen=True)
class _Paths:
    """A tree, its root among the nodes of all trees, and the shares of these nodes, [node, class]."""

    tree: Partition
    root: int
    shares: Array


def _paths(member: Model) -> Iterator[_Paths]:
    (columns,), (parameters,) = member.columns, member.parameters
    assert isinstance(parameters, TreesParameters)
    root = 0
    for tree in columns.codings or ():
        assert isinstance(tree, Partition)
        yield _Paths(tree, root, parameters.nodes)
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
    p = base + changes.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(np.abs(p - base) > 1e-12, (np.log(p) - np.log(base)) / (p - base), 1 / base)
    names = tuple(each.name for each in inputs)
    yield BlockEvidence(names, np.moveaxis(changes * ratio[:, None], 1, 2), None, None)


AnyModel = Model | PooledModel
