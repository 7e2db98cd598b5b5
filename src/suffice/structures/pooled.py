"""Pooled: several structures, whose predictions are pooled."""

from dataclasses import dataclass
from typing import Any

from suffice.schema import Columns
from suffice.structures.averaged import Averaged
from suffice.structures.chain import Chain
from suffice.structures.full import Full
from suffice.structures.structure import Naive, Structure
from suffice.structures.tree import Tree
from suffice.structures.trees import Trees
from suffice.structures.twin import Twin

COMPONENTS: dict[str, Structure] = {
    structure.name: structure for structure in (Naive(), Chain(), Tree(), Averaged(), Full(), Trees(), Twin())
}


@dataclass(frozen=True)
class Pooled(Structure):
    """log P(class | x) = Σₘ wₘ·log Pₘ(class | x) + b of the class, up to a constant, over the components m.

    ``fit`` chooses the weights wₘ ≥ 0 and the biases b by the predictions of held-out rows, so the probabilities are
    calibrated. They belong to the plan: learning and forgetting rows keeps them.

    Parameters
    ----------
    components : tuple of str or Structure, default=("averaged", "full", "trees")
        The structures. With ``numeric="auto"``, "averaged" has all numbers in bins, and "full" has Gaussian numbers.
        "twin" corrects the coefficients of words and counts, for which the others are fitted first.

    Examples
    --------
    >>> Pooled(("naive", Trees(50))).components
    (Naive(), Trees(count=50, backoff=1.0))
    """

    components: tuple[Any, ...] = ("averaged", "full", "trees")

    name = "pooled"
    shares_counts = False

    def __post_init__(self) -> None:
        if isinstance(self.components, (str, Structure)) or not len(self.components):
            raise ValueError(
                f"components are a tuple of structures, such as ('averaged', 'trees'), not {self.components!r}"
            )
        members = []
        for each in self.components:
            member = COMPONENTS.get(each) if isinstance(each, str) else each
            if not isinstance(member, Structure) or member.name not in COMPONENTS:
                raise ValueError(f"{each!r} cannot be a component of a pool; components are {', '.join(COMPONENTS)}")
            members.append(member)
        object.__setattr__(self, "components", tuple(members))
        are_sums = [not each.is_correction and not each.grows_trees for each in members]
        if any(each.is_correction for each in members) and not any(are_sums):
            raise ValueError('"twin" corrects the coefficients of other components; add one, such as ("naive", "twin")')

    @property
    def members(self) -> tuple[Structure, ...]:
        return self.components

    @property
    def grows_trees(self) -> bool:  # type: ignore[override]
        return any(each.grows_trees for each in self.components)

    def counts_for(self, other: Structure) -> bool:
        return other == self or any(each.counts_for(other) for each in self.components)

    def pairs(self, columns: Columns, classes: int, complete: float) -> bool:
        return any(each.pairs(columns, classes, complete) for each in self.components)

    @property
    def needs_fourths(self) -> bool:
        return any(each.needs_fourths for each in self.components)
