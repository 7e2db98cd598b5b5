"""Structures: which column depends on which. To add one, write a file and add a line to STRUCTURES."""

from typing import Any

from suffice.registry import Registry
from suffice.structures.structure import Naive, Structure, Subject

STRUCTURES: Registry[Structure] = Registry(
    "suffice.structures",
    {
        "auto": "averaged.Auto",
        "naive": "structure.Naive",
        "chain": "chain.Chain",
        "tree": "tree.Tree",
        "averaged": "averaged.Averaged",
        "full": "full.Full",
        "joint": "joint.Joint",
        "trees": "trees.Trees",
        "pooled": "pooled.Pooled",
    },
)


def as_structure(setting: Any) -> Structure:
    """Return a structure, which may be given by its name."""
    if isinstance(setting, Structure):
        return setting
    if not isinstance(setting, str) or setting not in STRUCTURES:
        raise ValueError(f"structure={setting!r} is not known; it is one of {', '.join(STRUCTURES)}")
    return STRUCTURES[setting]


__all__ = ["STRUCTURES", "Naive", "Structure", "Subject", "as_structure"]
