"""Families: p(x | class) of one kind of column each. To add one, write a file and add a line to FAMILIES."""

import re
from dataclasses import replace
from typing import Any

from suffice.families.family import Family, Parameters
from suffice.registry import Registry


class FamilyRegistry(Registry[Family]):
    """Families by name. A name with a number, such as "binomial(10)", is the family with its setting set to it.

    >>> FAMILIES["binomial(10)"].trials
    10.0
    >>> "binomial(10)" in FAMILIES, "poisson(10)" in FAMILIES
    (True, False)
    """

    def __missing__(self, name: Any) -> Family:
        parts = re.fullmatch(r"(.+)\(([^()]+)\)", name) if isinstance(name, str) else None
        known: Any = self[parts[1]] if parts and parts[1] in self.data else None
        if parts is None or known is None or known.setting is None:
            raise KeyError(name)
        try:
            number = float(parts[2])
        except ValueError:
            raise ValueError(f"the {known.setting} of {known.name} is a number, not {parts[2]!r}") from None
        return replace(known, **{known.setting: number})  # type: ignore[no-any-return]

    def __contains__(self, name: Any) -> bool:
        try:
            return name in self.data or bool(self[name])
        except (KeyError, ValueError):
            return False


FAMILIES = FamilyRegistry(
    "suffice.families",
    {
        "bernoulli": "bernoulli.Bernoulli",
        "categorical": "categorical.Categorical",
        "complement": "complement.Complement",
        "gaussian": "gaussian.Gaussian",
        "multinomial": "multinomial.Multinomial",
        "poisson": "poisson.Poisson",
        "text": "multinomial.WordCounts",
        "exponential": "exponential.Exponential",
        "gamma": "gamma.Gamma",
        "log-normal": "log_normal.LogNormal",
        "von-mises": "von_mises.VonMises",
        "kernel": "kernel.Kernel",
        "geometric": "geometric.Geometric",
        "negative-binomial": "negative_binomial.NegativeBinomial",
        "binomial": "binomial.Binomial",
    },
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
