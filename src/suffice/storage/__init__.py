"""Files on disk: written at once or not at all, and changed by one process at a time."""
