"""Extensions of griffe, which reads the sources for the API pages: generated constructors, and docstrings."""

from __future__ import annotations

import re
from typing import Any

import griffe

CHOICES = re.compile(r"^(\s*[*\w, ]+ : )\{([^{}]+)\}", re.M)
WORDS = re.compile(r'^(\s*[*\w, ]+ : )(?=.*(?:"|-like))', re.M)
INVISIBLE = "\u200b"
EXAMPLE = re.compile(r"\n\n(?=>>> )")
HEADINGS = ("Examples\n---", "Parameters\n---", "Returns\n---")


class Constructors(griffe.Extension):
    """Give classes with ``@with_constructor`` the constructor that it writes: a keyword for each annotated setting."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Add the constructor, and take the settings, which are its parameters, out of the attributes."""
        if not any(str(each.value).endswith("with_constructor") for each in cls.decorators):
            return
        settings = [each for each in cls.members.values() if is_setting(each)]
        parameters = [griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)]
        for each in settings:
            kind = griffe.ParameterKind.keyword_only
            parameters.append(griffe.Parameter(each.name, annotation=each.annotation, kind=kind, default=each.value))
            cls.del_member(each.name)
        cls.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(*parameters), parent=cls))


class Docstrings(griffe.Extension):
    """Write docstrings as griffe's parser understands them."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change what the parser would show wrongly."""
        if obj.docstring is None:
            return
        # of choices in braces, it takes the first one for the default, and does not read default=
        text = CHOICES.sub(r"\1\2", obj.docstring.value)
        # "array-like" and lists of strings are valid Python: it would print "array - like", and strings without quotes
        text = WORDS.sub(rf"\1{INVISIBLE}", text)
        # an example without a heading would become a quotation
        if not any(heading in text for heading in HEADINGS):
            text = EXAMPLE.sub("\n\nExamples\n--------\n", text, count=1)
        obj.docstring.value = text


def is_setting(member: Any) -> bool:
    """Return whether an attribute of a class is a parameter of its constructor, and not a constant or a property."""
    return (
        member.is_attribute
        and member.annotation is not None
        and "property" not in member.labels
        and not member.name.startswith("_")
        and not str(member.annotation).startswith("ClassVar")
    )
