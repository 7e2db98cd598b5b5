"""The families: p(x given class) of one kind of column each. To add one: a file, and a line here."""

from suffice.families.bernoulli import Bernoulli
from suffice.families.categorical import Categorical
from suffice.families.complement import Complement
from suffice.families.family import Family
from suffice.families.gaussian import Gaussian
from suffice.families.multinomial import Multinomial
from suffice.families.poisson import Poisson
from suffice.families.text import WordCounts

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (Bernoulli(), Categorical(), Complement(), Gaussian(), Multinomial(), Poisson(), WordCounts())
}

__all__ = ["FAMILIES", "Family"]
