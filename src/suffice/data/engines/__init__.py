"""Where a tally is taken. To add an engine: a file, which alone imports that engine's library."""
