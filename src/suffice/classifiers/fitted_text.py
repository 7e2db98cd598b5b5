"""The summary of a fitted `BayesClassifier` that its ``repr`` shows."""

from typing import Any

from suffice.data.column_names import list_names
from suffice.printable import escape_controls


def describe(model: Any) -> str:
    """Return a summary of a few lines: the classes, the structure, and the columns by family."""
    shares = model.class_count_ / model.class_count_.sum()
    classes = [
        f"{label} {100 * share:.1f} %" for label, share in zip(model.classes_.tolist(), shares.tolist(), strict=True)
    ]
    lines = [f"{model.class_count_.sum():g} rows, {len(classes)} classes: {list_names(classes)}"]
    by_family: dict[str, list[str]] = {}
    for name, family in model.families_.items():
        by_family.setdefault(family, []).append(str(name))
    blocks = model._chosen_layout().schema.blocks
    name = model._recipe_for(model.__dict__.get("chosen_")).structure.name
    structure = ("averaged" if any(block.pairs for block in blocks) else "naive") if name == "auto" else name
    pool = model.pool_ if "pool_" in model.__dict__ and model.recipe().is_pooled else None
    structure = structure if pool is None else f"pool of {pool}"
    trees = [f"{block.count:,} with {block.width:,} leaves" for block in blocks if block.is_forest]
    losses = [] if pool is None else [f"{name} {loss:.3f}" for name, loss in (pool.log_loss or {}).items()]
    by_family = {"structure": [structure], "trees": trees, "held-out log-loss": losses, **by_family}
    by_family |= {"left out": [f"{name} ({reason})" for name, reason in model.left_out_.items()]}
    width = max(len(family) for family, names in by_family.items() if names)
    lines += [f"{family:<{width}}  {list_names(names)}" for family, names in by_family.items() if names]
    return "\n".join(f"  {escape_controls(line)}" for line in lines)
