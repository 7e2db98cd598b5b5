"""Kernels: inner loops that run as plain Python for small inputs and are compiled by Numba for large ones."""

import sys
from collections.abc import Callable, Set
from contextlib import suppress
from pathlib import Path
from pickle import UnpicklingError  # nosec B403
from types import FunctionType
from typing import Any

import numpy as np

# A kernel is compiled after this many uncompiled steps in all its calls. Loading Numba takes most of a second, and an
# uncompiled step a quarter of a microsecond.
PATIENCE = 200_000

# Once Numba is loaded, only the kernel's own code is read from disk, in about three milliseconds.
SHARE_IF_LOADED = 0.06

# Errors of reading a truncated file in Numba's cache.
DAMAGED_CACHE = (EOFError, UnpicklingError, AttributeError, ImportError, LookupError, ValueError)


class Kernel:
    """An inner loop over arrays. It is serial, and releases the interpreter lock once it is compiled.

    Kernels that learn give the same result to the bit, compiled or not: a product is rounded before it is added, as in
    Python. Only a sum into one number may be regrouped, so that it runs in vector registers. Kernels that learn have no
    such sum except the one that detects values that are not finite; NaN and infinity keep their meaning there.

    Parameters
    ----------
    source : callable
        A function of arrays and numbers that Numba can compile.

    Examples
    --------
    >>> @Kernel
    ... def add_up(x):
    ...     total = 0.0
    ...     for i in range(x.shape[0]):
    ...         total += x[i]
    ...     return total
    >>> add_up(np.arange(4.0), work=4)
    6.0
    """

    liberties: frozenset[str] = frozenset({"reassoc"})

    def __init__(self, source: Callable[..., Any]) -> None:
        self.source = source
        self.__name__ = source.__name__
        self.__doc__ = source.__doc__
        self._compiled: Any = None
        self._spent: dict[tuple[Any, ...], int] = {}

    def __call__(self, *arguments: Any, work: int) -> Any:
        """Run the kernel; ``work`` is the number of inner steps."""
        signature = tuple([getattr(argument, "dtype", None) for argument in arguments])
        spent = self._spent.get(signature, 0) + work
        if spent >= (PATIENCE * SHARE_IF_LOADED if "numba" in sys.modules else PATIENCE):
            self._spent[signature] = PATIENCE
            if self._compiled is None:
                self._compiled = compiled(self.source, self.liberties)
            try:
                return self._compiled(*arguments)
            except DAMAGED_CACHE:  # raised while the cache is read, before anything is computed
                _remove_cache(self._compiled, self.source)
                self._compiled = compiled(self.source, self.liberties, is_cached=False)
                return self._compiled(*arguments)
        self._spent[signature] = spent
        # The items of a memoryview are Python numbers: faster than NumPy scalars, and without overflow in eight bits.
        with np.errstate(all="ignore"):
            return self.source(*[a.data if isinstance(a, np.ndarray) else a for a in arguments])


class Exact(Kernel):
    """A kernel that regroups no sum, as one that also learns from sums into one number."""

    liberties: frozenset[str] = frozenset()


class Scorer(Kernel):
    """A kernel that may fuse a product and a sum, so that a compiled score may differ in its last bit."""

    liberties = frozenset({"reassoc", "contract"})


def compiled(source: Callable[..., Any], liberties: Set[str], is_cached: bool = True) -> Any:
    """Return the source compiled by Numba, or loaded from its cache on disk if ``is_cached``."""
    import numba
    from numba.extending import register_jitable

    sources = [source]
    for each in sources:
        helpers = [each.__globals__.get(name) for name in each.__code__.co_names]
        # functions that the source calls, directly or indirectly, are compiled with it
        sources += [register_jitable(inline="always")(helper) for helper in helpers if isinstance(helper, FunctionType)]
    options: dict[str, Any] = {"nogil": True, "fastmath": set(liberties), "error_model": "numpy"}
    try:
        return numba.njit(cache=is_cached, **options)(source)
    except RuntimeError:  # the cache cannot be written, as in a read-only container
        return numba.njit(**options)(source)


def _remove_cache(function: Any, source: Callable[..., Any]) -> None:
    """Remove the files of a function from Numba's cache, so that the next process writes them again."""
    for file in Path(function.stats.cache_path).glob(f"*.{source.__name__}-{source.__code__.co_firstlineno}.*.nb?"):
        with suppress(OSError):
            file.unlink()
