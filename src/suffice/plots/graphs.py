"""The learned tree, and Newton's steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import BLUE, ORANGE, RED, Array, axes_for, check_fitted, plain

if TYPE_CHECKING:
    from suffice.plots import Axes

UNCORRELATED = 1e-7  # partial correlations below this are rounding: there is no edge


def tree(model: Any, label: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw which column depends on which: p(x given class) = Πᵢ p(xᵢ given its parent and the class).

    Of BayesClassifier with structure="tree" or "chain". Where each class has a tree of its own, that of ``label``
    is drawn; numbers form a tree of their own (orange), and columns that depend on the class alone stand apart.
    """
    forest = parents_of(model, label)
    names, parents, numbers = list(forest), [its[0] for its in forest.values()], [its[1] for its in forest.values()]
    children: dict[Any, list[Any]] = {}
    for name, parent in zip(names, parents, strict=True):
        children.setdefault(parent, []).append(name)
    place = _laid_out(children)
    deepest = max(down for down, _ in place.values())
    lines = max(across for _, across in place.values()) + 1
    ax = axes_for(ax, (min(2.2 + 1.75 * (deepest + 1), 18), 0.8 + 0.36 * lines))
    small = 8.5 if deepest < 8 else 7
    boxes = {}
    for name, number in zip(names, numbers, strict=True):
        x, y = place[name]
        edge = {"boxstyle": "round,pad=0.25", "facecolor": "w", "edgecolor": ORANGE if number else BLUE}
        word = plain(name, 18 if deepest < 8 else 12)
        boxes[name] = ax.text(x, -y, word, ha="center", va="center", fontsize=small, bbox=edge, zorder=3)
    arrow = {"arrowstyle": "-|>", "color": "0.5", "shrinkA": 3, "shrinkB": 3, "linewidth": 1}
    for name, parent in zip(names, parents, strict=True):
        if parent is not None:  # from the right of the parent's box to the left of the child's, wherever these end
            ax.annotate(
                "", (0, 0.5), (1, 0.5), xycoords=boxes[name], textcoords=boxes[parent], arrowprops=arrow, zorder=2
            )
    ax.set_xlim(-0.6, deepest + 0.6)
    ax.set_ylim(-lines + 0.4, 0.6)
    ax.axis("off")
    of = "every class" if label is None else f"class {plain(label)}"
    ax.set_title(f"from parent to child, in {of} (blue: levels, orange: numbers)", fontsize="small", loc="left")
    return ax


def parents_of(model: Any, label: Any = None) -> dict[Any, tuple[Any, bool]]:
    """Return the parent of each column (None: it has none), and whether it is one of Gaussian numbers."""
    check_fitted(model)
    if not hasattr(model, "structure") or not hasattr(model, "tally_"):
        raise TypeError(
            f'a tree is drawn of a fitted BayesClassifier(structure="tree" or "chain"), not of {type(model).__name__}'
        )
    classes = model.classes_.tolist()
    if label is not None and label not in classes:
        raise ValueError(f"{label!r} is no class; there are {', '.join(map(repr, classes))}")
    found: dict[Any, tuple[Any, bool]] = {}
    edges = False
    # what the estimated model has of edges no public attribute tells yet
    estimated = model.estimate_model()
    for columns, parameters in zip(estimated.columns, estimated.parameters, strict=True):
        lines: Array | None = getattr(parameters, "parents", None)
        numbers = columns.family == "gaussian"
        covariance = getattr(parameters, "covariance", None)
        if lines is None and numbers and covariance is not None:
            lines = np.array([_rooted(_edges(sigma)) for sigma in covariance])
        edges = edges or lines is not None
        if lines is None:
            lines = np.full((1, columns.count), -1)
        if label is None and not (lines == lines[0]).all():
            raise ValueError(f"each class has a tree of its own; name one: label={classes[0]!r}")
        line = lines[classes.index(label) if label is not None and len(lines) == len(classes) else 0].tolist()
        for name, parent in zip(columns.names, line, strict=True):
            found[name] = (columns.names[parent] if parent >= 0 else None, numbers)
    if not edges:
        raise ValueError('this model has no tree; fit BayesClassifier(structure="tree") or structure="chain"')
    return found


def newton(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the steps of Newton-Raphson: how far the loss is from its least, and the largest entry of the gradient.

    Near the end each step doubles the number of right digits: the lines fall ever more steeply.
    """
    check_fitted(model)
    trace = getattr(model, "trace_", None)
    if not isinstance(trace, tuple) or not trace or "objective" not in trace[0]:
        raise TypeError(f"Newton's steps are those of a fitted LogisticRegression, not of {type(model).__name__}")
    objective = np.array([line["objective"] for line in trace])
    gradient = np.array([line["gradient"] for line in trace])
    short = np.array([0 < line["step"] < 1 for line in trace])
    ax = axes_for(ax, (6, 4))
    steps = np.arange(len(trace))
    above = objective - objective.min()
    # what rounding leaves of the loss has no logarithm
    shown = above > 4 * np.finfo(np.float64).eps * np.abs(objective).max()
    ax.semilogy(steps, gradient, "o-", color=BLUE, label="largest entry of the gradient")
    ax.semilogy(steps[shown], above[shown], "s--", color=RED, label="loss above its least")
    if short.any():
        ax.semilogy(
            steps[short], gradient[short], "o", color="w", markeredgecolor=BLUE, label="from here a part of a step"
        )
    ax.set_xticks(steps if len(steps) <= 15 else steps[:: len(steps) // 10])
    ax.set_xlabel("step")
    ax.set_title(f"{len(trace) - 1} steps to a loss of {objective[-1]:.6g}", fontsize="small", loc="left")
    ax.legend(fontsize="small")
    ax.grid(alpha=0.3)
    return ax


def _edges(covariance: Array) -> Array:
    """Return which columns depend on each other given all others: where Σ⁻¹ is not 0."""
    deviation = np.sqrt(np.diagonal(covariance))
    precision = np.linalg.inv(covariance / np.multiply.outer(deviation, deviation))
    scale = np.sqrt(np.diagonal(precision))
    partial = np.abs(precision / np.multiply.outer(scale, scale))
    np.fill_diagonal(partial, 0.0)
    return np.asarray(partial > UNCORRELATED)


def _rooted(edges: Array) -> list[int]:
    """Return the parent of each column, each tree rooted at its first column."""
    parents = [-2] * len(edges)
    if edges.sum() // 2 >= len(edges) > 1:
        raise ValueError('numbers do not form a tree here; fit BayesClassifier(structure="tree") or structure="chain"')
    for root in range(len(edges)):
        if parents[root] != -2:
            continue
        parents[root], todo = -1, [root]
        while todo:
            here = todo.pop()
            for other in np.flatnonzero(edges[here]).tolist():
                if parents[other] == -2:
                    parents[other] = here
                    todo.append(other)
    return parents


def _laid_out(children: dict[Any, list[Any]]) -> dict[Any, tuple[float, float]]:
    """Return (depth, line) of each column: leaves on lines of their own, parents in the middle of their children."""
    place: dict[Any, tuple[float, float]] = {}
    line = 0
    # without recursion: a chain of columns may be longer than Python lets functions call themselves
    todo = [(root, 0, False) for root in reversed(children.get(None, []))]
    while todo:
        name, depth, done = todo.pop()
        below = children.get(name, [])
        if done:
            place[name] = (depth, float(np.mean([place[child][1] for child in below])))
        elif below:
            todo.append((name, depth, True))
            todo += [(child, depth + 1, False) for child in reversed(below)]
        else:
            place[name] = (depth, float(line))
            line += 1
    return place
