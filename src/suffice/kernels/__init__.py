"""Inner loops in plain Python that Numba compiles for large inputs."""
