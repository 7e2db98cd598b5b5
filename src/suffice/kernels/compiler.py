"""When an inner loop is compiled, and when its source runs as it is."""

from __future__ import annotations

from collections.abc import Callable, Set
from types import FunctionType
from typing import Any

import numpy as np

# Loading Numba takes most of a second, an uncompiled step a quarter of a microsecond. So a source
# runs as it is until it has cost about as much as a person notices; a loop of many small calls
# earns the compiler as surely as one large call.
PATIENCE = 200_000


class Kernel:
    """An inner loop over arrays, serial and free of the interpreter's lock once compiled.

    >>> @Kernel
    ... def add_up(x):
    ...     total = 0.0
    ...     for i in range(x.shape[0]):
    ...         total += x[i]
    ...     return total
    >>> add_up(np.arange(4.0), work=4)
    6.0

    What is learned is the same to the bit, compiled or not: a product is rounded before it is added, as Python
    does it. Only a sum into one number may be regrouped, which is what lets it run in vector registers; what
    learns has no such sum but the one that a bad value poisons. NaN and infinity keep their meaning there.
    """

    liberties = frozenset({"reassoc"})

    def __init__(self, source: Callable[..., Any]) -> None:
        self.source = source
        self.__name__ = source.__name__
        self.__doc__ = source.__doc__
        self._compiled: Callable[..., Any] | None = None
        self._spent: dict[tuple[Any, ...], int] = {}

    def __call__(self, *arguments: Any, work: int) -> Any:
        """Run over the arguments; ``work`` is the number of inner steps it will take."""
        signature = tuple([getattr(argument, "dtype", None) for argument in arguments])
        spent = self._spent.get(signature, 0) + work
        if spent >= PATIENCE:
            self._spent[signature] = PATIENCE
            if self._compiled is None:
                self._compiled = compiled(self.source, self.liberties)
            return self._compiled(*arguments)
        self._spent[signature] = spent
        # A memoryview hands out Python's own numbers: faster one by one than NumPy's scalars, and
        # without their overflow in eight bits.
        with np.errstate(all="ignore"):
            return self.source(*[a.data if isinstance(a, np.ndarray) else a for a in arguments])


class Scorer(Kernel):
    """A kernel that may also round a product and a sum at once: a score may differ in its last bit once compiled."""

    liberties = frozenset({"reassoc", "contract"})


def compiled(source: Callable[..., Any], liberties: Set[str]) -> Any:
    """Return the source compiled by Numba, from its cache on disk where there is one."""
    import numba
    from numba.extending import register_jitable

    sources = [source]
    for each in sources:
        helpers = [each.__globals__.get(name) for name in each.__code__.co_names]
        # a plain function that the source calls is compiled with it, and those that it calls in turn
        sources += [register_jitable(inline="always")(helper) for helper in helpers if isinstance(helper, FunctionType)]
    options: dict[str, Any] = {"nogil": True, "fastmath": set(liberties), "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(source)
    except RuntimeError:  # nowhere to write the cache, as in a read-only container
        return numba.njit(**options)(source)
