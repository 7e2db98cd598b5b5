"""Schema: the classes, the columns with their families, and the meaning of their codes. Everything is immutable."""

from suffice.schema.arrays import TIE, Array, Frozen, by_group, field_names, round_ties, starts_of
from suffice.schema.codings import (
    Coding,
    Combinations,
    Cuts,
    Levels,
    MissingLevel,
    Text,
    Words,
    join_places,
    recoding,
    recodings,
)
from suffice.schema.columns import Columns
from suffice.schema.forests import make_forest, places_in_forest, select_kept_trees, trees_of
from suffice.schema.partition import Partition, TreeInput
from suffice.schema.plan import Plan, check_plan_columns
from suffice.schema.schema import Features, Schema, merged_classes

__all__ = [
    "TIE",
    "Array",
    "Coding",
    "Columns",
    "Combinations",
    "Cuts",
    "Features",
    "Frozen",
    "Levels",
    "MissingLevel",
    "Partition",
    "Plan",
    "Schema",
    "Text",
    "TreeInput",
    "Words",
    "by_group",
    "check_plan_columns",
    "field_names",
    "join_places",
    "make_forest",
    "merged_classes",
    "places_in_forest",
    "recoding",
    "recodings",
    "round_ties",
    "select_kept_trees",
    "starts_of",
    "trees_of",
]
