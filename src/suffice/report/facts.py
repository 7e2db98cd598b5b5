"""What a report says of a model: what it is, and what it learned of each feature, from its sums alone."""

from __future__ import annotations

from typing import Any

from suffice.data.column_names import few
from suffice.families import FAMILIES
from suffice.report.inputs import Feature, averages, places_of, title_of
from suffice.statistics import Tally

SHOWN_FEATURES = 60
SURELY_IMAGE = 7  # a side; fewer columns may be a table that happens to be a square
RARE_SHARE, RARE_ROWS = 0.05, 20


def about(model: Any, tally: Tally, features: list[Feature]) -> dict[str, Any]:
    """Return what the model is."""
    count = tally.class_count
    estimated = model._model()
    families: dict[str, list[str]] = {}
    for feature in features:
        if feature.input != "none":
            families.setdefault(feature.family, []).append(feature.name)
    settings = {name: repr(value) for name, value in model.get_params(deep=False).items() if value is not None}
    return {
        "kind": type(model).__name__,
        "target": getattr(model, "target_name_", None),
        "rows": float(count.sum()),
        "classes": [
            {"name": str(label), "rows": float(n), "share": float(n / max(count.sum(), 1e-300))}
            for label, n in zip(tally.schema.classes.tolist(), count.tolist(), strict=True)
        ],
        "families": {family: few(names) for family, names in families.items()},
        "parameters": sum(its.n_parameters for its in estimated.parameters),
        "structure": _structure(estimated.parameters),
        "settings": settings,
    }


def _structure(parameters: tuple[Any, ...]) -> str:
    """Say which columns depend on which."""
    words = {
        "TreeParameters": "each level depends on one other column (a tree)",
        "AveragedParameters": "every column in turn is the parent of all others, averaged",
        "JointParameters": "all levels together",
        "MultivariateGaussian": "numbers vary together (covariance)",
        "MultivariateStudentT": "numbers vary together (covariance)",
        "LowRankGaussian": "numbers vary together (covariance)",
        "MixtureParameters": "each class is a mixture of components",
    }
    found = [words[name] for name in dict.fromkeys(type(its).__name__ for its in parameters) if name in words]
    return "; ".join(found) or "columns are independent given the class (naive)"


def learned(tally: Tally, features: list[Feature], importance: dict[str, float], side: int | None) -> dict[str, Any]:
    """Return what was learned of each feature, the most important first; of images their averages."""
    if side is not None and side >= SURELY_IMAGE:
        means = averages(tally, features)
        return {"images": [[round(float(v), 4) for v in line] for line in means], "side": side, "features": []}
    place, found = places_of(features), []
    for columns, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        for j in range(columns.count):
            name = j if columns.names is None else columns.names[j]
            if name in place:
                feature = features[place[name]]
                weight = importance.get(feature.name)
                entry = {"name": feature.name, "family": feature.family, "importance": weight, "place": place[name]}
                found.append(entry | FAMILIES[columns.family].summarize(columns, statistic, j))
    found.sort(key=lambda entry: (-(entry["importance"] or 0.0), entry["place"]))
    return {"features": found[:SHOWN_FEATURES], "more": max(len(found) - SHOWN_FEATURES, 0)}


def warnings_of(model: Any, tally: Tally) -> list[str]:
    """Return what to be careful about, by the model alone."""
    found, reasons = [], dict[str, list[str]]()
    for name, reason in getattr(model, "left_out_", {}).items():
        reasons.setdefault(reason, []).append(repr(title_of(name)))
    for reason, names in reasons.items():
        found.append(f"{few(names)} {'was' if len(names) == 1 else 'were'} left out: {reason}.")
    count, labels = tally.class_count, tally.schema.classes.tolist()
    share = count / max(count.sum(), 1e-300)
    for label, n, part in zip(labels, count.tolist(), share.tolist(), strict=True):
        if part < RARE_SHARE / max(len(labels) / 2, 1) or n < RARE_ROWS:
            found.append(
                f"Class {str(label)!r} is rare: {_count(n)} rows, {100 * part:.1f} % of all. "
                "What is said of it is uncertain."
            )
    if len(labels) == 1:
        found.append("There is only one class, so there is nothing to tell apart.")
    if getattr(model, "estimate", None) == "mle":
        found.append('estimate="mle": what was never seen in a class is held to be impossible there.')
    return found


def _count(n: float) -> str:
    """Return a number of rows as the page writes it, in groups of three digits."""
    return f"{n:,.0f}" if float(n).is_integer() else f"{n:,.2f}"
