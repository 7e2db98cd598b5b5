"""The inner loops: plain Python sources that Numba compiles when the work is worth it."""
