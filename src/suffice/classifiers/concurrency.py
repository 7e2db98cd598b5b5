"""Classifiers that threads share: changes come one after another, and predictions see none of them half done."""

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])
Object = TypeVar("Object")


def one_at_a_time(method: Method) -> Method:
    """Make a method wait while another thread is in such a method of the same object."""

    @wraps(method)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self.__dict__.setdefault("_change_lock", RLock()):
            return method(self, *args, **kwargs)

    return cast(Method, run)


def on_snapshot(method: Method) -> Method:
    """Call a method with a snapshot of its object, which no other thread changes."""

    @wraps(method)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(self._snapshot(), *args, **kwargs)

    return cast(Method, run)


def take_snapshot(of: Object) -> Object:
    """Return an object as it is now: attributes that are set in the one do not change the other."""
    other = object.__new__(type(of))
    other.__dict__ = dict(of.__dict__)
    return other
