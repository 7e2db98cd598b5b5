"""Blocks: columns in memory, of which rows are read piece by piece without a copy of the whole."""

from suffice.blocks.block import Block, Coded, Dense, Gappy, Sparse, cells_of
from suffice.blocks.part import Part

__all__ = ["Block", "Coded", "Dense", "Gappy", "Part", "Sparse", "cells_of"]
