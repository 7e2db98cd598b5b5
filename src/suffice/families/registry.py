"""The registry of families: by name, or by the name and a setting in parentheses."""

from __future__ import annotations

import re

from suffice.families.family import Family


class Registry(dict[str, Family]):
    """Families by name. A name with a setting, such as "von-mises(360)", is found without being registered."""

    def __missing__(self, name: str) -> Family:
        parts = re.fullmatch(r"([^()]+)\(([^()]*)\)", str(name))
        if parts is None or not dict.__contains__(self, parts[1]):
            raise KeyError(name)
        return self[parts[1]].with_setting(parts[2])

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] is not None
        except (KeyError, ValueError):
            return False
