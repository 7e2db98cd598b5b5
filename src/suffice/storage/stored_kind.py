"""StoredKind: a class whose objects a model file may hold, and what must be true of their fields."""

from dataclasses import MISSING, dataclass, fields
from typing import Any

from suffice.storage.field_checks import Check, InvalidError, anything


@dataclass(frozen=True)
class StoredKind:
    """A dataclass, a check for each of its fields, and a check of the whole object.

    Attributes
    ----------
    kind : type
        The class.
    fields : dict
        The check of each field.
    check : callable
        The check of an object whose fields are right one by one.
    """

    kind: type[Any]
    fields: dict[str, Check]
    check: Check = anything

    def make(self, named: dict[str, Any]) -> Any:
        """Return the object with these fields; raise `InvalidError` if it is none. Defaults may be missing."""
        name = self.kind.__name__
        for field in fields(self.kind):
            if field.name in named:
                with_context(self.fields[field.name], f"{name}.{field.name}", named[field.name])
            elif field.default is MISSING and field.default_factory is MISSING:
                raise InvalidError(f"{name}.{field.name} is missing")
        made = self.kind(**named)
        with_context(self.check, name, made)
        return made


def with_context(check: Check, place: str, value: Any) -> None:
    """Check a value; an error names its place."""
    try:
        check(value)
    except InvalidError as error:
        raise InvalidError(f"{place} {error}") from None
