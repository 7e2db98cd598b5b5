"""Inner loops in plain Python that Numba compiles for large inputs.

Their arguments are not annotated: they are arrays of any number type, memoryviews of them, numbers, or None.
"""
