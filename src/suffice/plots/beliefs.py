"""What is believed of a parameter: before the data, and after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from suffice.families import FAMILIES
from suffice.plots import Array, axes_for, check_fitted, legend_beside, plain, style

if TYPE_CHECKING:
    from suffice.plots import Axes

POINTS = 400
LEVEL = 0.95
MANY = 12  # distributions that are described on the picture itself


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
    """Draw what was believed of a parameter, and what is believed after the data: posterior ∝ likelihood · prior.

    ``believed`` is one of

    - a distribution, such as `Bernoulli`, with a ``tally`` or {name: tally}, and a ``prior`` (1.0 by default);
    - a fitted classifier: the parameter of a ``column`` in each class (``level``: its place, or of a table the
      number of its cell; ``parameter``: "p", "rate", "mean" or "variance");
    - a distribution of scipy.stats, with ``prior`` as another.

    Shaded is the interval that holds 95 %. The prior is what is left when the sums of the data are taken out again;
    that of Gaussian columns, which is made of all rows, is not drawn.

    >>> from suffice import Bernoulli
    >>> ax = belief(Bernoulli, Bernoulli.tally([1, 1, 0]))
    >>> [line.get_label() for line in ax.lines]
    ['before: Beta(1, 1)', 'after: Beta(3, 2)']
    """
    before, after, name = _curves(believed, tally, prior, column, level, parameter)
    if not all(hasattr(each, "ppf") and np.ndim(each.mean()) == 0 for each in _all_of(before, after)):
        raise ValueError("this is believed of several numbers at once, which one curve does not show; take one column")
    ax = axes_for(ax, (7 if len(after) <= MANY else 10, 4.2))
    grid = _grid(_all_of(before, after))
    top, highest = 0.0, 0.0
    if before is not None:
        density = before.pdf(grid)
        ax.plot(grid, density, "--", color="0.5", linewidth=1.5, label=f"before: {described(before)}")
        highest = float(np.max(density[np.isfinite(density)], initial=0.0))
    for k, (title, its) in enumerate(after.items()):
        colour, dashes = style(k)
        density = its.pdf(grid)
        ax.plot(grid, density, dashes, color=colour, linewidth=1.8, label=f"{plain(title, 40)}: {described(its)}")
        low, high = its.interval(LEVEL)
        inside = (grid >= low) & (grid <= high)
        ax.fill_between(grid[inside], density[inside], color=colour, alpha=0.12, linewidth=0)
        # a density may be infinite at the ends: what is drawn ends not far above the middle
        top = max(top, min(float(np.max(density[np.isfinite(density)], initial=0.0)), 2 * float(its.pdf(its.median()))))
    # nor may the prior press all else to the ground
    top = max(top, min(highest, 1.3 * top))
    ax.set_ylim(0, 1.08 * top if top > 0 else 1.0)
    ax.set_xlabel(plain(name, 60))
    ax.set_ylabel("density (shaded: 95 %)")
    if len(after) <= MANY:
        ax.legend(fontsize="small" if len(after) <= 6 else "x-small")
    else:
        legend_beside(ax)
    return ax


def _all_of(before: Any, after: Mapping[str, Any]) -> list[Any]:
    """Return all distributions that are drawn."""
    return [*([] if before is None else [before]), *after.values()]


def described(distribution: Any) -> str:
    """Return a distribution as it is written.

    >>> described(stats.beta(3, 2)), described(stats.gamma(2, scale=0.5))
    ('Beta(3, 2)', 'Gamma(2, 2)')
    """
    name, args = distribution.dist.name, [float(np.asarray(each)) for each in distribution.args]
    if name == "gamma":
        args = [*args, 1 / float(np.asarray(distribution.kwds.get("scale", 1.0)))]
    if name == "invgamma":
        args = [*args, float(np.asarray(distribution.kwds.get("scale", 1.0)))]
    written = {"beta": "Beta", "gamma": "Gamma", "t": "t", "invgamma": "InverseGamma", "norm": "N"}.get(name, name)
    return f"{written}({', '.join(f'{each:.4g}' for each in args)})"


def _curves(
    believed: Any, tally: Any, prior: Any, column: Any, level: Any, parameter: str | None
) -> tuple[Any, dict[str, Any], str]:
    """Return the distribution before, those after by title, and what they are about."""
    if hasattr(believed, "pdf"):
        return prior, {"after": believed}, parameter or "parameter"
    check_fitted(believed)
    if hasattr(believed, "classes_"):
        return _of_model(believed, column, level, parameter)
    if not hasattr(believed, "posterior"):
        raise TypeError(
            "belief is drawn of a distribution such as Bernoulli with its tally, of a fitted classifier, or of a "
            f"distribution of scipy.stats, not of {type(believed).__name__}"
        )
    kind: Any = believed if isinstance(believed, type) else type(believed)
    if tally is None:
        raise ValueError(f"there are no data: pass belief({kind.__name__}, {kind.__name__}.tally(x))")
    tallies = tally if isinstance(tally, Mapping) else {"after": tally}
    given = 1.0 if prior is None else prior
    after, before = {}, None
    for title, sums in tallies.items():
        its = kind.posterior(sums, given)
        if hasattr(its, "alpha"):  # Dirichlet: the share of one level is a Beta
            place = 0 if level is None else int(level)
            alpha = np.ravel(its.alpha)
            if not 0 <= place < len(alpha):
                raise ValueError(f"level={level!r} is not among the {len(alpha)} levels: a number from 0")
            after[str(title)] = stats.beta(alpha[place], alpha.sum() - alpha[place])
            count = np.ravel(sums.total)
            before = _less(after[str(title)], count[place], count.sum())
        elif hasattr(its, "pdf"):
            after[str(title)] = its
            before = _less(its, float(np.ravel(sums.total)[0]), float(np.ravel(sums.n)[0]))
        else:  # a Gaussian's mean and variance
            after[str(title)] = getattr(its, parameter or "mean")
    names = {"Bernoulli": "p, the probability of a 1", "Poisson": "rate", "Gaussian": parameter or "mean"}
    return before, after, names.get(kind.__name__, f"share of level {0 if level is None else level}")


def _of_model(model: Any, column: Any, level: Any, parameter: str | None) -> tuple[Any, dict[str, Any], str]:
    """Return what is believed of a column's parameter in each class; the prior, where it is the same in all."""
    try:
        believed = model.posterior_
    except AttributeError as error:
        raise ValueError(f"nothing to draw of {type(model).__name__}: {error}") from None
    schema = model.tally_.schema
    if schema.features is not None:
        if column not in believed:
            names = list(believed)
            if not (isinstance(column, int) and 0 <= column < len(names)):
                raise ValueError(f"column={column!r} was not learned; there are {', '.join(map(repr, names[:8]))}")
            column = names[column]
        its = believed[column]
        number, block = next((n, block) for n, block in enumerate(schema.blocks) if column in (block.names or ()))
        j = list(block.names).index(column)
    else:
        number, block, its = 0, schema.blocks[0], believed
        names = list(range(block.count)) if block.names is None else list(block.names)
        j = names.index(column) if column in names else column
        if not (isinstance(j, (int, np.integer)) and 0 <= j < block.count):
            raise ValueError(f"column={column!r} was not learned; there are {', '.join(map(repr, names[:8]))}")
    what = parameter or next(iter(its))
    if what not in its:
        raise ValueError(f"parameter={parameter!r} is not known of this column; there is {', '.join(map(repr, its))}")
    levels = 1 if block.sizes is None else int(block.sizes[j])
    place = _level(block, j, level, levels)
    cell = int(block.starts[j]) + place
    at = place if schema.features is not None else cell
    after, before = {}, None
    statistic = model.tally_.statistics[number]
    for k, label in enumerate(model.classes_.tolist()):
        args = [np.broadcast_to(each, its[what].mean().shape)[k, at] for each in its[what].args]
        kwds = {key: np.broadcast_to(each, its[what].mean().shape)[k, at] for key, each in its[what].kwds.items()}
        after[str(label)] = its[what].dist(*args, **kwds)
        if hasattr(statistic, "total"):
            count = float(statistic.total[k, cell])
            family = FAMILIES[block.family]
            shared = family.is_compositional and family.generative is family
            whole = float(
                statistic.total[k].sum()
                if shared
                else np.broadcast_to(statistic.n, (statistic.n.shape[0], block.count))[k, j]
            )
            before = _less(after[str(label)], count, whole)
    title = f"column {column}" if isinstance(column, (int, np.integer)) else str(column)
    named = f" of level {block.codings[j].label(place)}" if block.codings is not None and levels > 1 else ""
    if block.codings is None and levels > 1:
        named = f" of level {place}"
    return before, after, f"{what}{named}, {title}"


def _level(block: Any, j: int, level: Any, levels: int) -> int:
    """Return the place of a level, which may be given by its label."""
    labels = list(getattr(block.codings[j], "labels", ())) if block.codings is not None else []
    if level is None:
        # of yes and no, what is asked about is yes
        return 1 if levels == 2 and labels else 0
    if level in labels:
        return labels.index(level)
    if isinstance(level, (int, np.integer)) and 0 <= level < levels:
        return int(level)
    known = ", ".join(map(repr, labels[:8] or range(levels)))
    raise ValueError(f"level={level!r} is not known of this column; there are {known}")


def _less(after: Any, count: float, whole: float) -> Any:
    """Return a Beta or a Gamma with the data taken out again: what was believed before is after − data."""
    if after.dist.name == "beta":
        a, b = float(after.args[0]) - count, float(after.args[1]) - (whole - count)
        return stats.beta(a, b) if min(a, b) > 1e-9 else None
    if after.dist.name == "gamma":
        shape, rate = float(after.args[0]) - count, 1 / float(after.kwds["scale"]) - whole
        return stats.gamma(shape, scale=1 / rate) if min(shape, rate) > 1e-9 else None
    return None


def _grid(every: list[Any]) -> Array:
    """Return numbers at which to draw: all of 0 to 1 for a probability, unless all that is believed is narrow."""
    low = min(float(each.ppf(1e-4)) for each in every)
    high = max(float(each.ppf(1 - 1e-4)) for each in every)
    if all(each.dist.name == "beta" for each in every):
        # the ends are left out: there a density may be infinite
        low, high = (1e-6, 1 - 1e-6) if high - low > 0.2 else (max(low, 1e-6), min(high, 1 - 1e-6))
    elif every[0].dist.name == "gamma":
        low, high = max(low, 1e-9), max(float(each.ppf(0.995)) for each in every[1:] or every)
    fine = [np.linspace(float(each.ppf(1e-4)), float(each.ppf(1 - 1e-4)), POINTS) for each in every]
    whole = np.unique(np.concatenate([np.linspace(low, high, POINTS), *fine]))
    return np.asarray(whole[(whole >= low) & (whole <= high)])
