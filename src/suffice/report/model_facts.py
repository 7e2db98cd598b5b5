"""The facts of a report that follow from the tally: the model, its columns in each class, and warnings."""

from typing import Any

import numpy as np

from suffice.data.column_names import list_names
from suffice.explain import column_keys, column_title
from suffice.families import FAMILIES
from suffice.pooled_model import AnyModel, Component, PooledModel
from suffice.report.column_counts import CountedColumn, count_columns
from suffice.report.drawing import measure_drawing
from suffice.report.inputs import Input, mean_images
from suffice.report.model_view import ModelView
from suffice.schema import Array
from suffice.score import (
    AveragedPairs,
    CompleteLinear,
    JointLookUp,
    LogSumExp,
    LowRank,
    MeanOfTrees,
    PairLookUp,
    Term,
    TriangularSolve,
)

SHOWN_LEVELS = 30
RARE_SHARE, RARE_ROWS = 0.05, 20

# How columns depend on each other, by the term that joins them.
DEPENDENCE: dict[type[Term], str] = {
    PairLookUp: "each column depends on the class and on one other column (a tree)",
    AveragedPairs: "each column in turn is the parent of all others, and the results are averaged",
    JointLookUp: "each combination of levels has a probability of its own",
    TriangularSolve: "numeric columns have a covariance matrix",
    LowRank: "numeric columns have a covariance matrix",
    LogSumExp: "each class is a mixture of components",
    MeanOfTrees: "decision trees",
    CompleteLinear: "the log-odds of the classes are linear in the columns (logistic regression)",
}


def describe_model(view: ModelView, inputs: dict[Any, Input]) -> dict[str, Any]:
    """Return the classifier, its classes, families, dependences and settings."""
    forms, families = _forms_in_components(view), dict[str, list[str]]()
    for key, its in inputs.items():
        if its.input != "none":
            families.setdefault(forms.get(key, its.family), []).append(its.name)
    return {
        "kind": view.classifier,
        "target": view.target,
        "rows": float(view.class_count.sum()),
        "classes": [{"name": name, "rows": n, "share": share} for name, n, share in view.class_shares],
        "families": {family: list_names(names) for family, names in families.items()},
        "parameters": sum(parameters.n_parameters for parameters in view.model.parameters),
        "structure": _describe_dependence(view.model),
        "components": [
            {"name": its.name, "weight": its.weight, "log_loss": its.log_loss, "model": _describe_component(its)}
            for its in view.components
        ],
        "pool_log_loss": (view.model.pool.log_loss or {}).get("pool") if isinstance(view.model, PooledModel) else None,
        "settings": {name: repr(value) for name, value in view.settings.items() if value is not None},
    }


def _forms_in_components(view: ModelView) -> dict[Any, str]:
    """Return the form of each column in the components of a pool; they are named if they have different forms."""
    found: dict[Any, dict[str, list[str]]] = {}
    for component in view.components:
        for columns in component.model.columns:
            for key, family in zip(column_keys(columns), columns.families, strict=True):
                found.setdefault(key, {}).setdefault(family, []).append(component.name)
    named = {key: [f"{form} ({list_names(its)})" for form, its in forms.items()] for key, forms in found.items()}
    return {key: next(iter(forms)) if len(forms) == 1 else ", ".join(named[key]) for key, forms in found.items()}


def _describe_dependence(model: AnyModel) -> str:
    """Return how the columns of a model depend on each other."""
    kinds = [type(term) for score in model.scores for term in score]
    found = dict.fromkeys(DEPENDENCE[kind] for kind in kinds if kind in DEPENDENCE)
    return "; ".join(found) or "columns are independent given the class (naive)"


def _describe_component(component: Component) -> str:
    """Return what a component of a pool is."""
    if component.forest is None:
        twin = ", with coefficients that are corrected as by logistic regression" if component.name == "twin" else ""
        return _describe_dependence(component.model) + twin
    return f"mean of {component.forest.count:,} decision trees with {component.forest.width:,} leaves"


def describe_features(
    view: ModelView,
    inputs: dict[Any, Input],
    importance: dict[str, float],
    counted_rows: dict[Any, CountedColumn],
    words: dict[str, list[tuple[str, float]]],
) -> dict[str, Any]:
    """Return what was counted for each column, the most important first.

    The importance of a column is its mean absolute contribution, if it was measured, else the information that it has
    by itself on the class. A feature has a ``kind``: "counts" has labels and the training rows [class, label],
    "numbers" has the mean and spread of each class, "words" has the words of each class, and in ``weights`` the
    importance of words, ``words``, if it was measured. A number whose training rows
    were not counted in intervals has the counts of new rows, ``counted_rows``, if there are any.
    """
    information = {} if importance else _measure_information(view)
    counted, found = count_columns(view.binned), dict[Any, dict[str, Any]]()
    for columns, statistic in view.counted_blocks:
        for j, key in enumerate(column_keys(columns)):
            if key in counted and key in inputs:
                found[key] = _describe_counts(counted[key])
            elif key in inputs and key in counted_rows:
                found[key] = _describe_counts(counted_rows[key]) | {"of_new_rows": True}
            elif key in inputs:
                found[key] = _describe_summary(FAMILIES[columns.family].summarize(columns, statistic, j))
    places = {key: place for place, key in enumerate(inputs)}
    entries: list[dict[str, Any]] = [
        {
            "name": inputs[key].name,
            "place": places[key],
            "family": inputs[key].family,
            "importance": importance.get(inputs[key].name, information.get(key, 0.0)),
        }
        | its
        | ({"weights": words[inputs[key].name]} if inputs[key].name in words else {})
        for key, its in found.items()
    ]
    entries.sort(key=lambda entry: (-entry["importance"], entry["place"]))
    return {"features": entries, "measure": "contribution" if importance else "information"}


def _measure_information(view: ModelView) -> dict[Any, float]:
    """Return the mutual information of each column and the class in nats, each column by itself."""
    found: dict[Any, float] = {}
    for columns, statistic in view.counted_blocks:
        values = FAMILIES[columns.family].information(columns, statistic)
        if len(values) == columns.count:
            found |= dict(zip(column_keys(columns), np.nan_to_num(values).tolist(), strict=True))
    return found


def _describe_counts(column: CountedColumn) -> dict[str, Any]:
    """Return the training rows at each label; of many levels, the most common ones and the sum of all others."""
    labels, values, counts = column.labels, column.values, np.asarray(column.counts)
    filled = np.flatnonzero(counts.sum(axis=0) > 0) if column.edges is None else np.arange(len(labels))
    if column.edges is None and len(filled) > SHOWN_LEVELS:
        order = np.argsort(-counts.sum(axis=0), kind="stable")
        shown = np.sort(order[: SHOWN_LEVELS - 1])
        rest = np.delete(counts, shown, axis=1).sum(axis=1, keepdims=True)
        counts = np.concatenate([counts[:, shown], rest], axis=1)
        labels = [*(labels[place] for place in shown), f"({len(filled) - len(shown):,} other levels)"]
        values = [values[place] for place in shown]
    else:
        counts, labels, values = counts[:, filled], *([each[place] for place in filled] for each in (labels, values))
    found = {"kind": "counts", "labels": labels, "edges": column.edges, "values": values}
    return found | {"counts": [_short(line) for line in counts]}


def _short(counts: Any) -> list[float]:
    """Return numbers with at most two decimals, whole ones without."""
    return [int(count) if count == int(count) else round(float(count), 2) for count in counts.tolist()]


def _describe_summary(its: dict[str, Any]) -> dict[str, Any]:
    """Return the summary of a family that does not count levels."""
    if its["shows"] == "levels":  # shares, of which the counts are not known
        return {"kind": "shares", "labels": its["labels"], "shares": its["shares"]}
    return {"kind": its["shows"]} | {name: value for name, value in its.items() if name != "shows"}


def describe_images(
    view: ModelView, inputs: dict[Any, Input], importance: dict[str, float], images: Array | None
) -> dict[str, Any]:
    """Return the mean image of each class, the importance of each pixel, and how images are drawn."""
    means = mean_images(view.counted_blocks, inputs, len(view.classes))
    information = {} if importance else _measure_information(view)
    weights = [importance.get(its.name, information.get(key, 0.0)) for key, its in inputs.items()]
    return {
        "means": means.round(4).tolist(),
        "importance": np.round(weights, 5).tolist(),
        "measure": "contribution" if importance else "information",
        "drawing": measure_drawing(means if images is None else images),
    }


def find_model_warnings(view: ModelView) -> list[str]:
    """Return warnings that follow from the model and its tally."""
    found, reasons = [], dict[str, list[str]]()
    for key, reason in view.left_out.items():
        reasons.setdefault(reason, []).append(repr(column_title(key)))
    for reason, names in reasons.items():
        found.append(f"{list_names(names)} {'was' if len(names) == 1 else 'were'} left out: {reason}.")
    for name, n, share in view.class_shares:
        if share < RARE_SHARE / max(len(view.classes) / 2, 1) or n < RARE_ROWS:
            rows = f"{n:,.0f}" if n.is_integer() else f"{n:,.2f}"
            found.append(
                f"Class {name!r} is rare: {rows} rows, {100 * share:.1f} % of all. Its estimates are uncertain."
            )
    if len(view.classes) == 1:
        found.append("There is only one class, so every row is predicted to belong to it.")
    if view.settings.get("estimate") == "mle" and any(columns.sizes is not None for columns in view.model.columns):
        found.append(
            'With maximum likelihood (estimate="mle"), a value that was never seen in a class has probability 0 there.'
        )
    return found
