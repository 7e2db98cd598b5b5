"""The one door for data. Everything a user passes in is checked here, and nowhere else."""

from suffice.tables.blocks import Block, Dense, Sparse, cells_of
from suffice.tables.door import Table, as_block
from suffice.tables.labels import as_labels
from suffice.tables.parts import Part

__all__ = ["Block", "Dense", "Part", "Sparse", "Table", "as_block", "as_labels", "cells_of"]
