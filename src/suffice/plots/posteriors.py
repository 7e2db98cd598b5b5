"""The prior and posterior densities of a parameter."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from suffice.estimation import choose_prior, posterior_hyperparameters, prior_hyperparameters
from suffice.families import Family
from suffice.plots.canvas import Axes, axes_for, check_fitted, finish, legend_beside, plain, style
from suffice.plots.model_columns import find_column
from suffice.schema import Array, Columns
from suffice.structures import Subject

POINTS = 400
LEVEL = 0.95
MANY = 12  # with more posteriors, the legend is beside the plot
SEVERAL = "the posterior is of several numbers at once, which one curve does not show; take one column"

Curves = tuple[Any, dict[str, Any], str]  # the prior (or None), the posteriors by title, and the name of the parameter


def posterior(
    source: Any,
    tally: Any = None,
    prior: Any = None,
    *,
    column: Any = 0,
    level: Any = None,
    parameter: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the posterior density of a parameter, and its prior: posterior ∝ likelihood · prior.

    The 95 % credible interval is shaded. A prior that depends on the data is not drawn, such as a number
    of pseudo-rows for Gaussian columns.

    Parameters
    ----------
    source : distribution class, classifier or scipy.stats distribution
        A class such as `Bernoulli`, with ``tally`` and ``prior``; a fitted classifier, for the parameter of
        ``column`` in each class; or a frozen distribution of scipy.stats, with ``prior`` as another.
    tally : Counts, Moments or dict of str to these, default=None
        Sufficient statistics of the data, if ``source`` is a distribution class; a dictionary draws several.
    prior : float, Prior or scipy.stats distribution, default=None
        The prior of a distribution class (1.0 by default), or the density to draw as the prior.
    column : object, default=0
        Name or position of the column of a classifier.
    level : object, default=None
        Level of the column, or its position.
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
    >>> ax = posterior(Bernoulli, Bernoulli.tally([1, 1, 0]))
    >>> [line.get_label() for line in ax.lines]
    ['prior: Beta(1, 1)', 'posterior: Beta(3, 2)']
    """
    before, after, name = _find_curves(source, tally, prior, column, level, parameter)
    every = [each for each in (before, *after.values()) if each is not None]
    if not all(hasattr(each, "ppf") and np.ndim(each.mean()) == 0 for each in every):
        raise ValueError(SEVERAL)
    ax = axes_for(ax, (7 if len(after) <= MANY else 10, 4.2))
    grid, top, highest = _grid(every), 0.0, 0.0
    if before is not None:
        density = before.pdf(grid)
        ax.plot(grid, density, "--", color="0.5", linewidth=1.5, label=f"prior: {format_distribution(before)}")
        highest = _find_maximum(density)
    for k, (title, its) in enumerate(after.items()):
        (colour, dashes), density = style(k), its.pdf(grid)
        label = f"{plain(title, 40)}: {format_distribution(its)}"
        ax.plot(grid, density, dashes, color=colour, linewidth=1.8, label=label)
        low, high = its.interval(LEVEL)
        inside = (grid >= low) & (grid <= high)
        ax.fill_between(grid[inside], density[inside], color=colour, alpha=0.12, linewidth=0)
        top = max(top, min(_find_maximum(density), 2 * float(its.pdf(its.median()))))
    # a narrow or infinite prior must not flatten the posterior
    top = max(top, min(highest, 1.3 * top))
    ax.set_ylim(0, 1.08 * top if top > 0 else 1.0)
    finish(ax, plain(name, 60), "density (shaded: 95 %)")
    if len(after) <= MANY:
        ax.legend(fontsize="small" if len(after) <= 6 else "x-small")
    else:
        legend_beside(ax)
    return ax


def _find_maximum(density: Array) -> float:
    """Return the largest finite value of a density, which may be infinite at the ends of its range."""
    return float(np.max(density[np.isfinite(density)], initial=0.0))


def format_distribution(distribution: Any) -> str:
    """Return a distribution of scipy.stats as text.

    >>> from scipy import stats
    >>> format_distribution(stats.beta(3, 2)), format_distribution(stats.gamma(2, scale=0.5))
    ('Beta(3, 2)', 'Gamma(2, 2)')
    >>> format_distribution(stats.t(108, loc=5.0))
    'Student-t, 108 df'
    """
    name, args = distribution.dist.name, [float(each) for each in distribution.args]
    if name == "t":
        df = args[0] if args else float(distribution.kwds["df"])
        return f"Student-t, {df:.4g} df"
    scale = float(distribution.kwds.get("scale", 1.0))
    args += {"gamma": [1 / scale], "invgamma": [scale]}.get(name, [])
    written = {"beta": "Beta", "gamma": "Gamma", "invgamma": "InverseGamma", "norm": "N"}.get(name, name)
    return f"{written}({', '.join(f'{each:.4g}' for each in args)})"


def _find_curves(source: Any, tally: Any, prior: Any, column: Any, level: Any, parameter: str | None) -> Curves:
    """Return the curves of a distribution, of a distribution class with its data, or of a classifier."""
    if hasattr(source, "pdf"):
        return prior, {"posterior": source}, parameter or "parameter"
    check_fitted(source)
    if hasattr(source, "classes_"):
        return _classifier_curves(source, column, level, parameter)
    if not hasattr(source, "posterior"):
        raise TypeError(
            "posterior needs a distribution such as Bernoulli with its tally, a fitted classifier, or a "
            f"distribution of scipy.stats, not {type(source).__name__}"
        )
    kind: Any = source if isinstance(source, type) else type(source)
    if tally is None:
        raise ValueError(f"there are no data: pass posterior({kind.__name__}, {kind.__name__}.tally(x))")
    tallies = tally if isinstance(tally, Mapping) else {"posterior": tally}
    return _distribution_curves(kind.family, tallies, 1.0 if prior is None else prior, level, parameter)


def _distribution_curves(
    family: Family, tallies: Mapping[Any, Any], prior: Any, level: Any, parameter: str | None
) -> Curves:
    """Return the curves of a distribution, one posterior for each tally."""
    before, after, name = None, {}, ""
    for title, sums in tallies.items():
        width, has_levels = family.location(sums)[0].shape[1], family.cells == "levels"
        if width > 1 and not (has_levels or family.is_compositional):
            raise ValueError(SEVERAL)
        columns = Columns(family.name, 1, sizes=np.array([width])) if has_levels else Columns(family.name, width)
        cell, subject = _find_level([], level, width), Subject(family, columns, sums)
        chosen = choose_prior(prior, *subject.parts)
        name, before, (after[str(title)],) = _find_marginals(subject, chosen, parameter, cell)
        if has_levels or family.is_compositional:
            name += f" of level {cell}"
        elif family.cells == "bits":
            name += ", the probability of a 1"
    return before, after, name


def _classifier_curves(model: Any, column: Any, level: Any, parameter: str | None) -> Curves:
    """Return the curves of a column's parameter, one posterior for each class."""
    try:
        _ = model.posterior_
    except AttributeError as error:
        raise ValueError(f"{type(model).__name__} has no posterior to draw: {error}") from None
    found, recipe, tally = find_column(model, column), model.recipe(), model.chosen_tally()
    subject, prior = recipe.subjects(tally)[found.block], recipe.block_priors(tally)[found.block]
    columns = subject.columns
    coding = None if columns.codings is None else columns.codings[found.j]
    levels = 1 if columns.sizes is None else int(columns.sizes[found.j])
    place = _find_level(list(getattr(coding, "labels", ())), level, levels)
    what, before, posteriors = _find_marginals(subject, prior, parameter, int(columns.starts[found.j]) + place)
    if levels > 1:
        what += f" of level {place if coding is None else coding.label(place)}"
    titles = map(str, model.classes_.tolist())
    return before, dict(zip(titles, posteriors, strict=True)), f"{what}, {found.title}"


def _find_level(labels: list[Any], level: Any, levels: int) -> int:
    """Return the place of a level, which is given by its label or its place."""
    if level is None:
        return 1 if levels == 2 and labels else 0  # the second of two levels is the positive one: yes, True
    if level in labels:
        return labels.index(level)
    if isinstance(level, (int, np.integer)) and 0 <= level < levels:
        return int(level)
    known = ", ".join(map(repr, labels[:8] or range(levels)))
    raise ValueError(f"level={level!r} is not a level of this column; there are {known}")


def _find_marginals(subject: Subject, prior: Any, parameter: str | None, cell: int) -> tuple[str, Any, list[Any]]:
    """Return the name of a parameter, its prior, and its posterior in each class.

    The prior is None if it is improper, or if it depends on the data and so changes when the statistic is empty.
    """
    family, columns, statistic = subject.parts
    after = family.marginals(columns, posterior_hyperparameters(*subject.parts, prior))
    what = parameter or next(iter(after))
    if what not in after:
        known = ", ".join(map(repr, after))
        raise ValueError(f"parameter={parameter!r} is not a parameter of this column; there is {known}")
    fixed, without_data = (prior_hyperparameters(family, columns, each, prior) for each in (statistic, statistic * 0))
    before = None
    if all(map(np.array_equal, fixed, without_data)):
        with suppress(ValueError):  # an improper prior has no density
            before = _take(family.marginals(columns, fixed)[what], 0, cell)
    return what, before, [_take(after[what], k, cell) for k in range(len(statistic.n))]


def _take(distributions: Any, k: int, cell: int) -> Any:
    """Return one distribution of a frozen array of distributions, [class, cell]."""
    shape = distributions.mean().shape
    args = [np.broadcast_to(each, shape)[k, cell] for each in distributions.args]
    kwds = {key: np.broadcast_to(each, shape)[k, cell] for key, each in distributions.kwds.items()}
    return distributions.dist(*args, **kwds)


def _grid(every: list[Any]) -> Array:
    """Return the points of the x-axis: from 0 to 1 for probabilities, unless all densities are narrow."""
    ranges = [each.ppf([1e-4, 1 - 1e-4]) for each in every]
    low, high = np.min(ranges), np.max(ranges)
    if all(each.support() == (0, 1) for each in every):
        # a density may be infinite at 0 and 1
        low, high = (1e-6, 1 - 1e-6) if high - low > 0.2 else (max(low, 1e-6), min(high, 1 - 1e-6))
    elif every[0].dist.name == "gamma":
        low, high = max(low, 1e-9), max(each.ppf(0.995) for each in every[1:] or every)
    whole = np.unique([np.linspace(start, end, POINTS) for start, end in [(low, high), *ranges]])
    return np.asarray(whole[(whole >= low) & (whole <= high)])
