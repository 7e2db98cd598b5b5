"""Families: p(x | class) of one kind of column each. To add one, write a file and add a line to FAMILIES."""

from suffice.families.bernoulli import Bernoulli
from suffice.families.categorical import Categorical
from suffice.families.complement import Complement
from suffice.families.exponential import Exponential
from suffice.families.family import Family, Parameters
from suffice.families.gamma import Gamma
from suffice.families.gaussian import Gaussian
from suffice.families.kernel import Kernel
from suffice.families.log_normal import LogNormal
from suffice.families.multinomial import Multinomial, WordCounts
from suffice.families.poisson import Poisson
from suffice.families.registry import Registry
from suffice.families.von_mises import VonMises

FAMILIES: dict[str, Family] = Registry(
    {
        family.name: family
        for family in (
            Bernoulli(),
            Categorical(),
            Complement(),
            Gaussian(),
            Multinomial(),
            Poisson(),
            WordCounts(),
            Exponential(),
            Gamma(),
            LogNormal(),
            VonMises(),
            Kernel(),
        )
    }
)


def register(family: Family) -> Family:
    """Make a family available by its name, as in ``BayesClassifier(families={"x": name})``.

    Parameters
    ----------
    family : Family
        An instance of the new family. One of the same class may be registered again, for example with other settings.

    Returns
    -------
    family : Family
        The same family.
    """
    known = FAMILIES.get(family.name)
    if known is not None and type(known) is not type(family):
        raise ValueError(f"there is a family named {family.name!r} already; give {type(family).__name__} another name")
    FAMILIES[family.name] = family
    return family


__all__ = ["FAMILIES", "Family", "Parameters", "register"]
