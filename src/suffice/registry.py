"""Registry: interchangeable parts by name, each imported when it is first looked up."""

from collections import UserDict
from collections.abc import Mapping
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
