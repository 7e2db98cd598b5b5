"""What a tally is about: classes, columns with their family, and what their codes stand for."""

from suffice.schema.arrays import Array, Frozen, by_group, field_names, starts_of
from suffice.schema.codings import Coding, Combinations, Cuts, Levels, Text, Words
from suffice.schema.columns import Columns
from suffice.schema.schema import Features, Schema, merged_classes

__all__ = [
    "Array",
    "Coding",
    "Columns",
    "Combinations",
    "Cuts",
    "Features",
    "Frozen",
    "Levels",
    "Schema",
    "Text",
    "Words",
    "by_group",
    "field_names",
    "merged_classes",
    "starts_of",
]
