"""Spanning trees: the tree of highest total weight, with edges that are required or forbidden and a chosen root."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.schema import Array, round_ties

Edges = tuple[tuple[Any, Any], ...]


def check_edges(setting: str, edges: Any) -> Edges:
    """Return edges as pairs of names; raise if one is not a pair of two columns."""
    is_sequence = isinstance(edges, Sequence) and not isinstance(edges, str)
    for edge in edges if is_sequence else [edges]:
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2 or edge[0] == edge[1]:
            raise ValueError(f"Tree({setting}=…) is a list of pairs of columns, such as [('a', 'b')], not {edge!r}")
    return tuple((first, second) for first, second in edges)


def check_acyclic(required: Edges, forbidden: Edges) -> None:
    """Raise if required edges close a cycle, or are forbidden, too."""
    denied = {frozenset(edge) for edge in forbidden}
    tree: dict[Any, Any] = {}  # the representative of each column's connected part

    def find(name: Any) -> Any:
        while name in tree:
            name = tree[name]
        return name

    for first, second in {frozenset(edge): edge for edge in required}.values():
        if frozenset((first, second)) in denied:
            raise ValueError(f"the edge {first!r} – {second!r} is both required and forbidden; leave one of them out")
        a, b = find(first), find(second)
        if a == b:
            raise ValueError(
                f"the required edge {first!r} – {second!r} closes a cycle with the other required edges; a tree has no "
                "cycle, so leave out one of them"
            )
        tree[a] = b


def edge_bounds(names: Sequence[Any], required: Edges, forbidden: Edges) -> Array:
    """Return a matrix [column, column] to add to weights: +∞ for required edges, −∞ for forbidden ones, 0 for others.

    >>> edge_bounds(("a", "b", "c"), (("a", "b"),), (("c", "b"),)).tolist()
    [[0.0, inf, 0.0], [inf, 0.0, -inf], [0.0, -inf, 0.0]]
    """
    places, bounds = {name: place for place, name in enumerate(names)}, np.zeros((len(names), len(names)))
    for edges, bound in ((required, np.inf), (forbidden, -np.inf)):
        for first, second in edges:
            if first in places and second in places:
                a, b = places[first], places[second]
                bounds[a, b] = bounds[b, a] = bound
    return bounds


def spanning_trees(weights: Array, root: int | None = None, bounds: Array | float = 0.0) -> Array:
    """Return the tree of each class, [class, column], all with the same root."""
    root = _heaviest(weights.sum(axis=0)) if root is None else root
    return np.array([spanning_tree(class_weights, root, bounds) for class_weights in weights])


def spanning_tree(weights: Array, root: int | None = None, bounds: Array | float = 0.0) -> Array:
    """Return the parents in the spanning tree of highest total weight (Prim's algorithm).

    The root is the column of highest weight, so that the result does not depend on the order of the columns; of equal
    weights, the first is taken. Where all edges to the tree are forbidden, another tree begins, whose root is chosen
    in the same way.

    Parameters
    ----------
    weights : array [column, column]
        The weight of each edge.
    root : int, default=None
        The root.
    bounds : array [column, column], default=0.0
        +∞ for required edges, −∞ for forbidden ones, 0 for others.

    >>> spanning_tree(np.array([[0, 1, 5], [1, 0, 4], [5, 4, 0.0]])).tolist()
    [2, 2, -1]
    """
    count, totals = len(weights), _totals(weights)
    new = int(np.argmax(totals)) if root is None else root
    weights = round_ties(weights) + bounds
    parents, best, is_left = np.full(count, -1, np.intp), np.full(count, -np.inf), np.ones(count, bool)
    for _ in range(count - 1):
        is_left[new] = False
        closer = is_left & (weights[new] > best)
        best[closer], parents[closer] = weights[new][closer], new
        reachable = np.where(is_left, best, -np.inf)
        new = int(np.argmax(reachable))
        if reachable[new] == -np.inf:
            new = int(np.argmax(np.where(is_left, totals, -np.inf)))
    return parents


def _totals(weights: Array) -> Array:
    return round_ties(weights.sum(axis=0) - np.diagonal(weights))


def _heaviest(weights: Array) -> int:
    return int(np.argmax(_totals(weights)))
