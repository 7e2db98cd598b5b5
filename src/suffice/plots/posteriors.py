"""The prior and posterior densities of a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from suffice.plots import Array, axes_for, check_fitted, legend_beside, plain, style
from suffice.plots.column_kinds import total_is_modelled

if TYPE_CHECKING:
    from suffice.plots import Axes

POINTS = 400
LEVEL = 0.95
MANY = 12  # with more posteriors, the legend is beside the plot


def belief(
    believed: Any,
    tally: Any = None,
    prior: Any = None,
    *,
    column: Any = 0,
    level: Any = None,
    parameter: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the posterior density of a parameter, and its prior: posterior ∝ likelihood · prior.

    The 95 % credible interval is shaded. The prior is the posterior minus the counts of the data; the prior of
    Gaussian columns, which depends on all rows, is not drawn.

    Parameters
    ----------
    believed : distribution class, classifier or scipy.stats distribution
        A class such as `Bernoulli`, with ``tally`` and ``prior``; a fitted classifier, for the parameter of
        ``column`` in each class; or a frozen distribution of scipy.stats, with ``prior`` as another.
    tally : Counts, Moments or dict of str to these, default=None
        Sufficient statistics of the data, if ``believed`` is a distribution class; a dictionary draws several.
    prior : float, Prior or scipy.stats distribution, default=None
        The prior of a distribution class (1.0 by default), or the density to draw as the prior.
    column : object, default=0
        Name or place of the column of a classifier.
    level : object, default=None
        Level of the column, or its place.
    parameter : {"p", "rate", "mean", "variance"}, default=None
        The parameter, if there are several.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> from suffice import Bernoulli
    >>> ax = belief(Bernoulli, Bernoulli.tally([1, 1, 0]))
    >>> [line.get_label() for line in ax.lines]
    ['prior: Beta(1, 1)', 'posterior: Beta(3, 2)']
    """
    before, after, name = _find_curves(believed, tally, prior, column, level, parameter)
    every = [*([] if before is None else [before]), *after.values()]
    if not all(hasattr(each, "ppf") and np.ndim(each.mean()) == 0 for each in every):
        raise ValueError("the posterior is of several numbers at once, which one curve does not show; take one column")
    ax = axes_for(ax, (7 if len(after) <= MANY else 10, 4.2))
    grid = _grid(every)
    top, highest = 0.0, 0.0
    if before is not None:
        density = before.pdf(grid)
        ax.plot(grid, density, "--", color="0.5", linewidth=1.5, label=f"prior: {format_distribution(before)}")
        highest = float(np.max(density[np.isfinite(density)], initial=0.0))
    for k, (title, its) in enumerate(after.items()):
        colour, dashes = style(k)
        density = its.pdf(grid)
        ax.plot(
            grid, density, dashes, color=colour, linewidth=1.8, label=f"{plain(title, 40)}: {format_distribution(its)}"
        )
        low, high = its.interval(LEVEL)
        inside = (grid >= low) & (grid <= high)
        ax.fill_between(grid[inside], density[inside], color=colour, alpha=0.12, linewidth=0)
        # a density may be infinite at the ends of its range
        top = max(top, min(float(np.max(density[np.isfinite(density)], initial=0.0)), 2 * float(its.pdf(its.median()))))
    # a narrow or infinite prior must not flatten the posterior
    top = max(top, min(highest, 1.3 * top))
    ax.set_ylim(0, 1.08 * top if top > 0 else 1.0)
    ax.set_xlabel(plain(name, 60))
    ax.set_ylabel("density (shaded: 95 %)")
    if len(after) <= MANY:
        ax.legend(fontsize="small" if len(after) <= 6 else "x-small")
    else:
        legend_beside(ax)
    return ax


def format_distribution(distribution: Any) -> str:
    """Return a distribution of scipy.stats as text.

    >>> format_distribution(stats.beta(3, 2)), format_distribution(stats.gamma(2, scale=0.5))
    ('Beta(3, 2)', 'Gamma(2, 2)')
    """
    name, args = distribution.dist.name, [float(np.asarray(each)) for each in distribution.args]
    if name == "gamma":
        args = [*args, 1 / float(np.asarray(distribution.kwds.get("scale", 1.0)))]
    if name == "invgamma":
        args = [*args, float(np.asarray(distribution.kwds.get("scale", 1.0)))]
    written = {"beta": "Beta", "gamma": "Gamma", "t": "t", "invgamma": "InverseGamma", "norm": "N"}.get(name, name)
    return f"{written}({', '.join(f'{each:.4g}' for each in args)})"


def _find_curves(
    believed: Any, tally: Any, prior: Any, column: Any, level: Any, parameter: str | None
) -> tuple[Any, dict[str, Any], str]:
    """Return the prior (or None), the posteriors by title, and the label of the x-axis."""
    if hasattr(believed, "pdf"):
        return prior, {"posterior": believed}, parameter or "parameter"
    check_fitted(believed)
    if hasattr(believed, "classes_"):
        return _classifier_curves(believed, column, level, parameter)
    if not hasattr(believed, "posterior"):
        raise TypeError(
            "belief is drawn of a distribution such as Bernoulli with its tally, of a fitted classifier, or of a "
            f"distribution of scipy.stats, not of {type(believed).__name__}"
        )
    kind: Any = believed if isinstance(believed, type) else type(believed)
    if tally is None:
        raise ValueError(f"there are no data: pass belief({kind.__name__}, {kind.__name__}.tally(x))")
    tallies = tally if isinstance(tally, Mapping) else {"posterior": tally}
    return _distribution_curves(kind, tallies, 1.0 if prior is None else prior, level, parameter)


def _distribution_curves(
    kind: Any, tallies: Mapping[Any, Any], prior: Any, level: Any, parameter: str | None
) -> tuple[Any, dict[str, Any], str]:
    """Return the curves of a distribution class, one posterior for each tally."""
    after, before = {}, None
    name = {"Bernoulli": "p, the probability of a 1", "Poisson": "rate"}.get(kind.__name__, parameter or "mean")
    for title, sums in tallies.items():
        its = kind.posterior(sums, prior)
        if hasattr(its, "alpha"):  # the marginal of a Dirichlet is a Beta
            place = 0 if level is None else int(level)
            alpha, name = np.ravel(its.alpha), f"share of level {place}"
            if not 0 <= place < len(alpha):
                raise ValueError(f"level={level!r} is not among the {len(alpha)} levels: a number from 0")
            after[str(title)] = stats.beta(alpha[place], alpha.sum() - alpha[place])
            count = np.ravel(sums.total)
            before = _subtract_data(after[str(title)], count[place], count.sum())
        elif hasattr(its, "pdf"):
            after[str(title)] = its
            before = _subtract_data(its, float(np.ravel(sums.total)[0]), float(np.ravel(sums.n)[0]))
        else:  # mean and variance of a Gaussian
            after[str(title)] = getattr(its, parameter or "mean")
    return before, after, name


def _classifier_curves(model: Any, column: Any, level: Any, parameter: str | None) -> tuple[Any, dict[str, Any], str]:
    """Return the curves of a column's parameter, one posterior for each class."""
    try:
        posterior = model.posterior_
    except AttributeError as error:
        raise ValueError(f"{type(model).__name__} has no posterior to draw: {error}") from None
    number, j, column = _find_column(model, column)
    schema = model.chosen_tally().schema
    block, has_table = schema.blocks[number], schema.features is not None
    marginals = posterior[column] if has_table else posterior
    what = parameter or next(iter(marginals))
    if what not in marginals:
        known = ", ".join(map(repr, marginals))
        raise ValueError(f"parameter={parameter!r} is not known of this column; there is {known}")
    levels = 1 if block.sizes is None else int(block.sizes[j])
    place = _find_level(block, j, level, levels)
    cell = int(block.starts[j]) + place
    after, before = {}, None
    for k, label in enumerate(model.classes_.tolist()):
        after[str(label)] = _take(marginals[what], k, place if has_table else cell)
        counts = _data_counts(model.chosen_tally().statistics[number], block, k, j, cell)
        before = None if counts is None else _subtract_data(after[str(label)], *counts)
    title = f"column {column}" if isinstance(column, (int, np.integer)) else str(column)
    shown = "" if levels == 1 else f" of level {place if block.codings is None else block.codings[j].label(place)}"
    return before, after, f"{what}{shown}, {title}"


def _find_column(model: Any, column: Any) -> tuple[int, int, Any]:
    """Return the number of the block of a column, its place in the block, and its name."""
    schema = model.chosen_tally().schema
    found = [
        (number, j, j if block.names is None else block.names[j])
        for number, block in enumerate(schema.blocks)
        for j in range(block.count)
    ]
    order = list(model.posterior_) if schema.features is not None else [name for _, _, name in found]
    if column not in order:
        if not (isinstance(column, (int, np.integer)) and 0 <= column < len(order)):
            raise ValueError(f"column={column!r} was not learned; there are {', '.join(map(repr, order[:8]))}")
        column = order[column]
    return next(each for each in found if each[2] == column)


def _find_level(block: Any, j: int, level: Any, levels: int) -> int:
    """Return the place of a level, which is given by its label or its place."""
    labels = list(getattr(block.codings[j], "labels", ())) if block.codings is not None else []
    if level is None:
        return 1 if levels == 2 and labels else 0  # the second of two levels is the positive one: yes, True
    if level in labels:
        return labels.index(level)
    if isinstance(level, (int, np.integer)) and 0 <= level < levels:
        return int(level)
    known = ", ".join(map(repr, labels[:8] or range(levels)))
    raise ValueError(f"level={level!r} is not known of this column; there are {known}")


def _take(distributions: Any, k: int, at: int) -> Any:
    """Return one distribution of a frozen array of distributions, [class, column or level]."""
    shape = distributions.mean().shape
    args = [np.broadcast_to(each, shape)[k, at] for each in distributions.args]
    kwds = {key: np.broadcast_to(each, shape)[k, at] for key, each in distributions.kwds.items()}
    return distributions.dist(*args, **kwds)


def _data_counts(statistic: Any, block: Any, k: int, j: int, cell: int) -> tuple[float, float] | None:
    """Return the count of a cell in a class, and the total it is a part of; None for moments."""
    if not hasattr(statistic, "total"):
        return None
    rows = np.broadcast_to(statistic.n, (statistic.n.shape[0], block.count))[k, j]
    whole = statistic.total[k].sum() if total_is_modelled(block) else rows
    return float(statistic.total[k, cell]), float(whole)


def _subtract_data(after: Any, count: float, whole: float) -> Any:
    """Return the prior: a Beta or Gamma posterior minus the counts of the data; None if there is none."""
    if after.dist.name == "beta":
        a, b = float(after.args[0]) - count, float(after.args[1]) - (whole - count)
        return stats.beta(a, b) if min(a, b) > 1e-9 else None
    if after.dist.name == "gamma":
        shape, rate = float(after.args[0]) - count, 1 / float(after.kwds["scale"]) - whole
        return stats.gamma(shape, scale=1 / rate) if min(shape, rate) > 1e-9 else None
    return None


def _grid(every: list[Any]) -> Array:
    """Return the points of the x-axis: from 0 to 1 for probabilities, unless all densities are narrow."""
    low = min(float(each.ppf(1e-4)) for each in every)
    high = max(float(each.ppf(1 - 1e-4)) for each in every)
    if all(each.dist.name == "beta" for each in every):
        # a density may be infinite at 0 and 1
        low, high = (1e-6, 1 - 1e-6) if high - low > 0.2 else (max(low, 1e-6), min(high, 1 - 1e-6))
    elif every[0].dist.name == "gamma":
        low, high = max(low, 1e-9), max(float(each.ppf(0.995)) for each in every[1:] or every)
    fine = [np.linspace(float(each.ppf(1e-4)), float(each.ppf(1 - 1e-4)), POINTS) for each in every]
    whole = np.unique(np.concatenate([np.linspace(low, high, POINTS), *fine]))
    return np.asarray(whole[(whole >= low) & (whole <= high)])
