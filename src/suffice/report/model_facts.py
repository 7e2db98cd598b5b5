"""The facts of a report that follow from the tally: the model, its columns in each class, and warnings."""

from typing import Any

from suffice.data.column_names import list_names
from suffice.families import FAMILIES
from suffice.model import Model
from suffice.report.inputs import Input, column_keys, column_title, mean_images, positions_by_key
from suffice.report.model_view import ModelView
from suffice.score import AveragedPairs, JointLookUp, LogSumExp, LowRank, PairLookUp, Term, TriangularSolve
from suffice.statistics import Tally

SHOWN_COLUMNS = 60
SMALLEST_PICTURE = 7  # pixels on a side; a smaller square may be a table
RARE_SHARE, RARE_ROWS = 0.05, 20

# How columns depend on each other, by the term that joins them.
DEPENDENCE: dict[type[Term], str] = {
    PairLookUp: "each column depends on the class and on one other column (a tree)",
    AveragedPairs: "each column in turn is the parent of all others, and the results are averaged",
    JointLookUp: "each combination of levels has a probability of its own",
    TriangularSolve: "numeric columns have a covariance matrix",
    LowRank: "numeric columns have a covariance matrix",
    LogSumExp: "each class is a mixture of components",
}


def describe_model(view: ModelView, inputs: list[Input]) -> dict[str, Any]:
    """Return the classifier, its classes, families, dependences and settings."""
    count = view.tally.class_count
    families: dict[str, list[str]] = {}
    for its in inputs:
        if its.input != "none":
            families.setdefault(its.family, []).append(its.name)
    return {
        "kind": view.classifier,
        "target": view.target,
        "rows": float(count.sum()),
        "classes": [
            {"name": name, "rows": float(n), "share": float(n / max(count.sum(), 1e-300))}
            for name, n in zip(view.class_names, count.tolist(), strict=True)
        ],
        "families": {family: list_names(names) for family, names in families.items()},
        "parameters": sum(parameters.n_parameters for parameters in view.model.parameters),
        "structure": _describe_dependence(view.model),
        "settings": {name: repr(value) for name, value in view.settings.items() if value is not None},
    }


def _describe_dependence(model: Model) -> str:
    """Return how the columns depend on each other given the class."""
    found = [DEPENDENCE[type(term)] for score in model.scores for term in score if type(term) in DEPENDENCE]
    return "; ".join(dict.fromkeys(found)) or "columns are independent given the class (naive)"


def describe_features(
    tally: Tally, inputs: list[Input], importance: dict[str, float], side: int | None
) -> dict[str, Any]:
    """Return what was counted for each column, the most important first; for images, their means."""
    if side is not None and side >= SMALLEST_PICTURE:
        means = mean_images(tally, inputs)
        return {"images": [[round(float(v), 4) for v in line] for line in means], "side": side, "features": []}
    positions, found = positions_by_key(inputs), []
    for columns, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        for j, key in enumerate(column_keys(columns)):
            if key in positions:
                its = inputs[positions[key]]
                entry = {"name": its.name, "family": its.family, "importance": importance.get(its.name)}
                found.append((positions[key], entry | FAMILIES[columns.family].summarize(columns, statistic, j)))
    found.sort(key=lambda placed: (-(placed[1]["importance"] or 0.0), placed[0]))
    entries = [entry for _, entry in found]
    return {"features": entries[:SHOWN_COLUMNS], "more": max(len(entries) - SHOWN_COLUMNS, 0)}


def find_model_warnings(view: ModelView) -> list[str]:
    """Return warnings that follow from the model and its tally."""
    found, reasons = [], dict[str, list[str]]()
    for key, reason in view.left_out.items():
        reasons.setdefault(reason, []).append(repr(column_title(key)))
    for reason, names in reasons.items():
        found.append(f"{list_names(names)} {'was' if len(names) == 1 else 'were'} left out: {reason}.")
    count = view.tally.class_count
    limit = RARE_SHARE / max(len(count) / 2, 1)
    for name, n, share in zip(view.class_names, count.tolist(), count / max(count.sum(), 1e-300), strict=True):
        if share < limit or n < RARE_ROWS:
            rows = f"{n:,.0f}" if float(n).is_integer() else f"{n:,.2f}"
            found.append(
                f"Class {name!r} is rare: {rows} rows, {100 * share:.1f} % of all. Its estimates are uncertain."
            )
    if len(count) == 1:
        found.append("There is only one class, so every row is predicted to belong to it.")
    if view.settings.get("estimate") == "mle":
        found.append('estimate="mle": a value that was never seen in a class has probability 0 there.')
    return found
