"""Blocks: columns in memory. Rows are read piece by piece, and never copied as a whole."""

from suffice.blocks.block import Block, Coded, Dense, Gappy, Sparse, cells_of
from suffice.blocks.column_arrays import ByColumn
from suffice.blocks.mapped import Function, Mapped
from suffice.blocks.part import Part

__all__ = ["Block", "ByColumn", "Coded", "Dense", "Function", "Gappy", "Mapped", "Part", "Sparse", "cells_of"]
