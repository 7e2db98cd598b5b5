"""Summary of a model: what it was fitted to, its classes, its columns and its settings."""

from pathlib import Path
from typing import Any

from suffice.cli.measured_rows import format_fit
from suffice.cli.model_rows import target_name, weight_name
from suffice.cli.output import as_whole, format_number, print_facts, print_json
from suffice.data import label_text
from suffice.data.column_names import list_names
from suffice.pooled_model import AnyModel, PooledModel

CALIBRATION_MEASURES = (("log-loss", "log_loss"), ("calibration error", "error"))


def summarize_model(model: Any) -> dict[str, Any]:
    """Return the summary of a model as values, for JSON."""
    summary: dict[str, Any] = {"classifier": type(model).__name__, "target": target_name(model)}
    if weight_name(model) is not None:
        summary["weight"] = weight_name(model)
    if hasattr(model, "tally_"):
        counts = zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True)
        summary["rows"] = as_whole(float(model.class_count_.sum()))
        summary["classes"] = {label_text(label): as_whole(count) for label, count in counts}
        summary |= {"parameters": int(model.n_parameters_), "digest": model.tally_.digest()}
        summary |= _summarize_pool(model.estimate_model())
        if "structure" in model.get_params():
            summary["structure"] = _name_structure(model)
        if hasattr(model, "chosen_"):
            summary["chosen_prior"] = model.chosen_["prior"]
    if hasattr(model, "families_"):
        summary["families"] = {str(column): family for column, family in model.families_.items()}
        summary["left_out"] = {str(column): reason for column, reason in model.left_out_.items()}
    if getattr(model, "calibrate", None) is not None:
        fitted = model.calibration_
        summary["calibration"] = {"method": fitted.method, "log_loss": fitted.log_loss, "error": fitted.error}
    settings = {name: value for name, value in model.get_params(deep=False).items() if value is not None}
    plain = (bool, int, float, str, dict, list)
    return summary | {"settings": {name: v if isinstance(v, plain) else repr(v) for name, v in settings.items()}}


def _name_structure(model: Any) -> str:
    """Return the structure that is used: as it was set, or as "auto" chose it."""
    name = model.recipe().structure.name
    if name != "auto":
        return str(name)
    if isinstance(model.estimate_model(), PooledModel):
        return "pool (chosen by auto)"
    has_pairs = any(block.pairs for block in model.chosen_tally().schema.blocks)
    return f"{'averaged' if has_pairs else 'naive'} (chosen by auto)"


def _summarize_pool(model: AnyModel) -> dict[str, Any]:
    """Return the components of a pool with their weights and their log-losses on held-out rows."""
    if not isinstance(model, PooledModel):
        return {}
    components = []
    for each in model.components:
        trees = {} if each.forest is None else {"trees": each.forest.count, "leaves": each.forest.width}
        components.append({"name": each.name, "weight": each.weight, "log_loss": each.log_loss} | trees)
    found = {"components": components, "held_out_rows": as_whole(model.pool.rows)}
    return {"pool": found | {"log_loss": (model.pool.log_loss or {}).get("pool")}}


def _format_pool(pool: dict[str, Any]) -> str:
    """Return a pool as text."""
    parts = []
    for each in pool["components"]:
        trees = f"{each['trees']:,} trees with {each['leaves']:,} leaves" if "trees" in each else ""
        loss = "" if each["log_loss"] is None else f"log-loss {each['log_loss']:.4f}"
        inside = ", ".join(filter(None, (trees, loss)))
        parts.append(f"{each['name']} {each['weight']:.2f}" + (f" ({inside})" if inside else ""))
    together = "" if pool["log_loss"] is None else f"; together {pool['log_loss']:.4f} on held-out rows"
    return ", ".join(parts) + together


def format_summary(summary: dict[str, Any]) -> dict[str, Any]:
    """Return a summary as text, for people."""
    shown = {name: value for name, value in summary.items() if not (value is None or isinstance(value, dict))}
    if "rows" in summary:
        total = max(sum(summary["classes"].values()), 1e-300)
        shares = [f"{label} {100 * count / total:.1f} %" for label, count in summary["classes"].items()]
        shown |= {"rows": format_number(summary["rows"]), "parameters": format_number(summary["parameters"])}
        shown["classes"] = ", ".join(shares)
    if "pool" in summary:
        shown["pool"] = _format_pool(summary["pool"])
    by_family: dict[str, list[str]] = {}
    for column, family in summary.get("families", {}).items():
        by_family.setdefault(family, []).append(column)
    shown |= {family: list_names(columns) for family, columns in by_family.items()}
    by_reason: dict[str, list[str]] = {}
    for column, reason in summary.get("left_out", {}).items():
        by_reason.setdefault(reason, []).append(column)
    shown |= {f"left out: {reason}": list_names(columns) for reason, columns in by_reason.items()}
    if "calibration" in summary:
        map_ = summary["calibration"]
        figures = [f"{name} {map_[key]['before']:.4f} → {map_[key]['after']:.4f}" for name, key in CALIBRATION_MEASURES]
        shown["calibration"] = f"{map_['method']}: {', '.join(figures)}"
    return shown | {"settings": ", ".join(f"{name}={value!r}" for name, value in summary["settings"].items())}


def print_fit(model: Any, title: str, json: bool, file: Path, quality: dict[str, Any] | None) -> None:
    """Print what a fit has learned and chosen, and how well the model predicts held-out rows."""
    summary = summarize_model(model)
    if json:
        print_json(summary | {"file": str(file), "quality": quality})
        return
    shown = format_summary(summary)
    hidden = ("digest", "settings", "classifier")
    print_facts(title, {name: value for name, value in shown.items() if name not in hidden} | format_fit(quality))


def print_summary(model: Any, title: str, json: bool) -> None:
    """Print the summary of a model: as text with a title, or as JSON."""
    summary = summarize_model(model)
    if json:
        print_json(summary)
    else:
        print_facts(title, format_summary(summary))
