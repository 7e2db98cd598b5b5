"""Engines, which tally a table where it is stored. Each is one file, the only one that imports the engine's library."""
