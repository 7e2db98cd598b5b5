"""Structures: which column depends on which. To add one: a file, and a line here."""

from suffice.structures.averaged import Auto, Averaged
from suffice.structures.chain import Chain
from suffice.structures.full import Full
from suffice.structures.joint import Joint, backed_off, without_combinations
from suffice.structures.structure import Naive, Structure, Subject
from suffice.structures.tree import Tree

STRUCTURES: dict[str, Structure] = {
    structure.name: structure for structure in (Auto(), Naive(), Chain(), Tree(), Averaged(), Full(), Joint())
}

__all__ = [
    "STRUCTURES",
    "Auto",
    "Averaged",
    "Chain",
    "Full",
    "Joint",
    "Naive",
    "Structure",
    "Subject",
    "Tree",
    "backed_off",
    "without_combinations",
]
