"""The tree of dependences between columns."""

from typing import Any

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, connected_components

from suffice.plots.canvas import BLUE, ORANGE, Axes, axes_for, check_fitted, finish, plain
from suffice.pooled_model import PooledModel
from suffice.schema import Array
from suffice.statistics import PairCounts
from suffice.structures.conditionals import mutual_information

THINNEST, WIDEST = 0.6, 5.0  # arrows, in points
UNCORRELATED = 1e-7  # smaller partial correlations are rounding


def tree(model: Any, label: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw which column depends on which: p(x | class) = Πᵢ p(xᵢ | parent of xᵢ, class).

    Numeric columns (orange) form a tree of their own. Columns that depend on the class only have no arrow. The width of
    an arrow is the mutual information of its columns given the class, or within the class that is drawn.

    Parameters
    ----------
    model : BayesClassifier
        A fitted model with structure="tree" or "chain".
    label : object, default=None
        The class whose tree is drawn, if each class has its own.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import BayesClassifier
    >>> model = BayesClassifier(structure="chain", numeric="gaussian").fit(*load_iris(return_X_y=True))
    >>> len(tree(model).texts)  # four boxes and three arrows
    7
    """
    forest = parents_of(model, label)
    children: dict[Any, list[Any]] = {}
    for name, (parent, _) in forest.items():
        children.setdefault(parent, []).append(name)
    place = lay_out(children)
    deepest = max(down for down, _ in place.values())
    lines = max(across for _, across in place.values()) + 1
    ax = axes_for(ax, (min(2.2 + 1.75 * (deepest + 1), 18), 0.8 + 0.36 * lines))
    letters, small = (18, 8.5) if deepest < 8 else (12, 7)
    boxes = {}
    for name, (_, is_number) in forest.items():
        (x, y), word = place[name], plain(name, letters)
        box = {"boxstyle": "round,pad=0.25", "facecolor": "w", "edgecolor": ORANGE if is_number else BLUE}
        boxes[name] = ax.text(x, -y, word, ha="center", va="center", fontsize=small, bbox=box, zorder=3)
    nats = edge_information(model, forest, label)
    most = max(nats.values(), default=0.0)
    for name, (parent, _) in forest.items():
        if parent is not None:  # an arrow from the right of the parent's box to the left of the child's
            wide = THINNEST + (WIDEST - THINNEST) * nats[name] / max(most, 1e-300)
            arrow = {"arrowstyle": "-|>", "color": "0.5", "shrinkA": 3, "shrinkB": 3, "linewidth": wide}
            ends: dict[str, Any] = {"xycoords": boxes[name], "textcoords": boxes[parent]}
            ax.annotate("", (0, 0.5), (1, 0.5), arrowprops=arrow, zorder=2, **ends)
    ax.set(xlim=(-0.6, deepest + 0.6), ylim=(-lines + 0.4, 0.6))
    ax.axis("off")
    of = "every class" if label is None else f"class {plain(label)}"
    width = f"; width: mutual information, at most {most:.2g} nats" if nats else ""
    return finish(ax, title=f"from parent to child, in {of} (blue: levels, orange: numbers{width})")


def parents_of(model: Any, label: Any = None) -> dict[Any, tuple[Any, bool]]:
    """Return the parent of each column (or None), and whether the column holds numbers, not levels."""
    check_fitted(model)
    if not hasattr(model, "structure") or not hasattr(model, "tally_"):
        raise TypeError(f'tree needs a fitted BayesClassifier(structure="tree" or "chain"), not {type(model).__name__}')
    classes = model.classes_.tolist()
    if label is not None and label not in classes:
        raise ValueError(f"{label!r} is not a class; there are {', '.join(map(repr, classes))}")
    estimated = model.estimate_model()
    trees = [_parents_by_class(parameters) for parameters in estimated.parameters]
    if isinstance(estimated, PooledModel) or all(edges is None for edges in trees):
        raise ValueError('this model has no tree; fit BayesClassifier(structure="tree") or structure="chain"')
    found: dict[Any, tuple[Any, bool]] = {}
    for columns, edges in zip(estimated.columns, trees, strict=True):
        by_class = np.full((1, columns.count), -1) if edges is None else edges
        if label is None and not (by_class == by_class[0]).all():
            raise ValueError(f"each class has a tree of its own; name one: label={classes[0]!r}")
        line = by_class[classes.index(label) if label is not None and len(by_class) == len(classes) else 0].tolist()
        for name, parent in zip(columns.names, line, strict=True):
            found[name] = (columns.names[parent] if parent >= 0 else None, columns.codings is None)
    return found


def edge_information(model: Any, forest: dict[Any, tuple[Any, bool]], label: Any = None) -> dict[Any, float]:
    """Return the mutual information of each column and its parent, given the class or within one class, in nats."""
    tally, found = model.chosen_tally(), dict[Any, float]()
    shares = tally.class_count / max(float(tally.class_count.sum()), 1e-300)
    k = None if label is None else model.classes_.tolist().index(label)
    subjects, estimated = model.recipe().subjects(tally), model.estimate_model()
    for subject, parameters in zip(subjects, estimated.parameters, strict=True):
        if hasattr(parameters, "covariance"):
            variance = np.diagonal(parameters.covariance, axis1=1, axis2=2)
            squared = parameters.covariance**2 / (variance[:, :, None] * variance[:, None, :])
            by_class = -0.5 * np.log1p(-np.minimum(squared, 1 - 1e-15))
            weights = shares if k is None else np.eye(len(shares))[k]
            nats = by_class[0] if len(by_class) == 1 else np.tensordot(weights, by_class, 1)
        elif isinstance(subject.statistic, PairCounts):
            whole = mutual_information(subject.columns, subject.statistic, by_class=k is not None)
            nats = whole if k is None else whole[k]
        else:
            continue
        place = {name: j for j, name in enumerate(subject.columns.names or ())}
        for name, j in place.items():
            parent = forest[name][0]
            if parent is not None:
                found[name] = float(nats[j, place[parent]])
    return found


def _parents_by_class(parameters: Any) -> Array | None:
    """Return the place of the parent of each column, −1 if it has none, [class, column]; None if there are no edges."""
    if hasattr(parameters, "parents"):
        return np.asarray(parameters.parents)
    return (
        np.array([_root_trees(sigma) for sigma in parameters.covariance]) if hasattr(parameters, "covariance") else None
    )


def _root_trees(covariance: Array) -> Array:
    """Return the parent of each column, −1 for the first column of each tree.

    Columns depend on each other given all others where Σ⁻¹ is not 0.
    """
    deviation = np.sqrt(np.diagonal(covariance))
    precision = np.linalg.inv(covariance / np.multiply.outer(deviation, deviation))
    scale = np.sqrt(np.diagonal(precision))
    edges = np.triu(np.abs(precision / np.multiply.outer(scale, scale)) > UNCORRELATED, 1)
    if edges.sum() >= len(edges) > 1:
        raise ValueError(
            'the numeric columns do not form a tree; fit BayesClassifier(structure="tree") or structure="chain"'
        )
    parents = np.full(len(edges), -1)
    for root in np.unique(connected_components(edges, directed=False)[1], return_index=True)[1]:
        parents = np.maximum(parents, breadth_first_order(edges, root, directed=False)[1])
    return parents


def lay_out(children: dict[Any, list[Any]]) -> dict[Any, tuple[float, float]]:
    """Return (depth, line) of each column: leaves on lines of their own, parents centred on their children."""
    order: list[tuple[Any, int]] = []  # each column before its children
    # no recursion: a chain may have more columns than the recursion limit
    todo = [(root, 0) for root in reversed(children[None])]
    while todo:
        name, depth = todo.pop()
        order.append((name, depth))
        todo += [(child, depth + 1) for child in reversed(children.get(name, []))]
    leaves = [name for name, _ in order if name not in children]
    line = {name: float(place) for place, name in enumerate(leaves)}
    for name, _ in reversed(order):
        if name in children:
            line[name] = float(np.mean([line[child] for child in children[name]]))
    return {name: (depth, line[name]) for name, depth in order}
