"""Registry: interchangeable parts by name, and names of packages, imported when they are first looked up."""

import sys
from collections import UserDict
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

Part = TypeVar("Part")


class Registry(UserDict[str, Part]):
    """Parts by name. A model needs few of them, so those of the package are imported when they are first looked up.

    Parameters
    ----------
    package : str
        The package that has the parts.
    homes : mapping of str to str
        The file and the class of each part.

    Examples
    --------
    >>> parts = Registry("suffice.structures", {"chain": "chain.Chain", "tree": "tree.Tree"})
    >>> list(parts), parts["tree"].name
    (['chain', 'tree'], 'tree')
    """

    def __init__(self, package: str, homes: Mapping[str, str]) -> None:
        super().__init__()
        self.data: dict[str, Any] = dict(homes)
        self._package = package

    def __getitem__(self, name: str) -> Part:
        part = super().__getitem__(name)
        if isinstance(part, str):
            file, kind = part.split(".")
            part = self.data[name] = getattr(import_module(f"{self._package}.{file}"), kind)()
        return part


def import_late(module: str, homes: Mapping[str, str]) -> tuple[list[str], Callable[[str], Any]]:
    """Return ``__all__`` and ``__getattr__`` of a module whose names are imported when they are first used.

    A first call needs few of the names that a package collects, and importing the rest would take longer than the
    call. Type checkers read the stub beside the module, which a test compares with ``homes``.

    Parameters
    ----------
    module : str
        The name of the module.
    homes : mapping of str to str
        The names that come from each file, separated by spaces.

    Examples
    --------
    >>> names, find = import_late("suffice.registry", {"suffice.printable": "signed"})
    >>> names, find("signed")(0.5)
    (['signed'], '+0.50')
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return sorted(home_of), find
