"""Families: p(x | class) of one kind of column each. To add one, write a file and add a line to FAMILIES."""

import re
from dataclasses import replace
from typing import Any

from suffice.families.bernoulli import Bernoulli
from suffice.families.binomial import Binomial
from suffice.families.categorical import Categorical
from suffice.families.complement import Complement
from suffice.families.exponential import Exponential
from suffice.families.family import Family, Parameters
from suffice.families.gamma import Gamma
from suffice.families.gaussian import Gaussian
from suffice.families.geometric import Geometric
from suffice.families.kernel import Kernel
from suffice.families.log_normal import LogNormal
from suffice.families.multinomial import Multinomial, WordCounts
from suffice.families.negative_binomial import NegativeBinomial
from suffice.families.poisson import Poisson
from suffice.families.von_mises import VonMises


class Registry(dict[str, Family]):
    """Families by name. A name with a number, such as "binomial(10)", is the family with its setting set to it.

    >>> FAMILIES["binomial(10)"].trials
    10.0
    >>> "binomial(10)" in FAMILIES, "poisson(10)" in FAMILIES
    (True, False)
    """

    def __missing__(self, name: Any) -> Family:
        parts = re.fullmatch(r"(.+)\(([^()]+)\)", name) if isinstance(name, str) else None
        known: Any = None if parts is None else self.get(parts[1])
        if parts is None or known is None or known.setting is None:
            raise KeyError(name)
        try:
            number = float(parts[2])
        except ValueError:
            raise ValueError(f"the {known.setting} of {known.name} is a number, not {parts[2]!r}") from None
        return replace(known, **{known.setting: number})  # type: ignore[no-any-return]

    def __contains__(self, name: object) -> bool:
        try:
            return super().__contains__(name) or bool(self[name])  # type: ignore[index]
        except (KeyError, ValueError):
            return False


FAMILIES = Registry(
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
            Geometric(),
            NegativeBinomial(),
            Binomial(),
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
