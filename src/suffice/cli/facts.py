"""What a model says of itself: as machines take it, and as people read it."""

from __future__ import annotations

from typing import Any

from suffice.cli import words
from suffice.cli.matching import target_name, weight_name
from suffice.data import spoken

CALIBRATED = (("log-loss", "log_loss"), ("calibration error", "error"))


def facts_of(model: Any) -> dict[str, Any]:
    """Return what a model says of itself, as machines take it."""
    found: dict[str, Any] = {"classifier": type(model).__name__, "target": target_name(model)}
    if weight_name(model) is not None:
        found["weight"] = weight_name(model)
    if hasattr(model, "tally_"):
        counts = zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True)
        found["rows"] = whole(float(model.class_count_.sum()))
        found["classes"] = {spoken(label): whole(count) for label, count in counts}
        found |= {"parameters": int(model.n_parameters_), "digest": model.tally_.digest()}
    if hasattr(model, "families_"):
        found["families"] = {str(column): family for column, family in model.families_.items()}
        found["left_out"] = {str(column): reason for column, reason in model.left_out_.items()}
    if getattr(model, "calibrate", None) is not None:
        its = model.calibration_
        found["calibration"] = {"method": its.method, "log_loss": its.log_loss, "error": its.error}
    said = {name: value for name, value in model.get_params(deep=False).items() if value is not None}
    plain = (bool, int, float, str, dict, list)
    return found | {"settings": {name: v if isinstance(v, plain) else repr(v) for name, v in said.items()}}


def shown(facts: dict[str, Any]) -> dict[str, Any]:
    """Return what a model says of itself, as people read it."""
    found = {name: value for name, value in facts.items() if not (value is None or isinstance(value, dict))}
    if "rows" in facts:
        whole = max(sum(facts["classes"].values()), 1e-300)
        shares = [f"{label} {100 * count / whole:.1f} %" for label, count in facts["classes"].items()]
        found |= {"rows": words.number(facts["rows"]), "parameters": words.number(facts["parameters"])}
        found["classes"] = ", ".join(shares)
    by_family: dict[str, list[str]] = {}
    for column, family in facts.get("families", {}).items():
        by_family.setdefault(family, []).append(column)
    found |= {family: ", ".join(columns) for family, columns in by_family.items()}
    found |= {f"left out: {column}": reason for column, reason in facts.get("left_out", {}).items()}
    if "calibration" in facts:
        its = facts["calibration"]
        figures = [f"{what} {its[key]['before']:.4f} -> {its[key]['after']:.4f}" for what, key in CALIBRATED]
        found["calibration"] = f"{its['method']}: {', '.join(figures)}"
    return found | {"settings": ", ".join(f"{name}={value!r}" for name, value in facts["settings"].items())}


def whole(count: float) -> float:
    """Return a count as a whole number, if it is one."""
    return int(count) if float(count).is_integer() else count
