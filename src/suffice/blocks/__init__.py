"""Rows in memory: blocks of columns that hand out their rows piece by piece."""

from suffice.blocks.block import Block, Coded, Dense, Gappy, Sparse, cells_of
from suffice.blocks.part import Part

__all__ = ["Block", "Coded", "Dense", "Gappy", "Part", "Sparse", "cells_of"]
