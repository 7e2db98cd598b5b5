"""An extension of griffe, which reads the sources for the API pages: classes whose constructor is generated get one."""

from __future__ import annotations

from typing import Any

import griffe


class Constructors(griffe.Extension):
    """Give classes with ``@with_constructor`` the constructor that it writes: a keyword for each annotated setting."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Add the constructor, and take the settings, which are its parameters, out of the attributes."""
        if not any(str(each.value).endswith("with_constructor") for each in cls.decorators):
            return
        settings = [
            each
            for each in cls.members.values()
            if each.is_attribute and each.annotation is not None and not str(each.annotation).startswith("ClassVar")
        ]
        parameters = [griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)]
        for each in settings:
            kind = griffe.ParameterKind.keyword_only
            parameters.append(griffe.Parameter(each.name, annotation=each.annotation, kind=kind, default=each.value))
            cls.del_member(each.name)
        cls.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(*parameters), parent=cls))
