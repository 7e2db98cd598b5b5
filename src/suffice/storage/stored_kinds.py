"""The classes whose objects a model file may hold, each with the checks of its fields.

Loading makes objects of these classes and of no others, so it runs no code from the file.
"""

from suffice.storage.schema_fields import SCHEMA_KINDS
from suffice.storage.stored_kind import StoredKind
from suffice.storage.sum_fields import SUM_KINDS
from suffice.storage.tuning_fields import TUNING_KINDS

STORED: dict[str, StoredKind] = {each.kind.__name__: each for each in (*SCHEMA_KINDS, *SUM_KINDS, *TUNING_KINDS)}

# Files of earlier versions contain these former names of classes.
FORMER_NAMES = {"GaussianTogether": "MultivariateGaussian", "Subspace": "LowRankGaussian"}
