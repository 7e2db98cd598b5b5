"""Structures: which column depends on which. To add one, write a file and add a line here."""

from typing import Any

from suffice.structures.averaged import Auto, Averaged
from suffice.structures.chain import Chain
from suffice.structures.full import Full
from suffice.structures.joint import Joint
from suffice.structures.pooled import Pooled
from suffice.structures.structure import Naive, Structure, Subject
from suffice.structures.tree import Tree
from suffice.structures.trees import Trees
from suffice.structures.twin import Twin

STRUCTURES: dict[str, Structure] = {
    structure.name: structure
    for structure in (Auto(), Naive(), Chain(), Tree(), Averaged(), Full(), Joint(), Trees(), Pooled())
}


def as_structure(setting: Any) -> Structure:
    """Return a structure, which may be given by its name."""
    if isinstance(setting, Structure):
        return setting
    if not isinstance(setting, str) or setting not in STRUCTURES:
        raise ValueError(f"structure={setting!r} is not known; it is one of {', '.join(STRUCTURES)}")
    return STRUCTURES[setting]


__all__ = [
    "STRUCTURES",
    "Auto",
    "Averaged",
    "Chain",
    "Full",
    "Joint",
    "Naive",
    "Pooled",
    "Structure",
    "Subject",
    "Tree",
    "Trees",
    "Twin",
    "as_structure",
]
