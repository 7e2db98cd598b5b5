"""Values in a model file: settings and learned objects as JSON, whose arrays are stored apart under their names."""

from dataclasses import fields
from typing import Any

import numpy as np

from suffice.schema import Array
from suffice.storage.field_checks import InvalidError, require
from suffice.storage.stored_kinds import FORMER_NAMES, STORED

MOST_NESTED = 64


def encode(value: Any, arrays: dict[str, Array], place: str) -> Any:
    """Return a value in JSON form; its arrays are added to ``arrays``. ``place`` names the value in errors."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"kind": "float", "of": repr(value)}
    if isinstance(value, np.generic):
        return encode(value.item(), arrays, place)
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, place)
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"kind": kind, "of": [encode(item, arrays, place) for item in value]}
    if isinstance(value, dict):
        pairs = [[encode(key, arrays, place), encode(item, arrays, place)] for key, item in value.items()]
        return {"kind": "dict", "of": pairs}
    stored = STORED.get(type(value).__name__)
    if stored is not None and stored.kind is type(value):
        named = {field.name: encode(getattr(value, field.name), arrays, field.name) for field in fields(value)}
        return {"kind": type(value).__name__, "of": named}
    raise InvalidError(
        f"{place}={value!r} cannot be saved: files hold numbers, text and objects of suffice, but no code"
    )


def _encode_array(value: Array, arrays: dict[str, Array], place: str) -> Any:
    if value.dtype.kind in "OU":
        of = [encode(item, arrays, place) for item in value.tolist()]
        return {"kind": "labels", "of": of, "as": value.dtype.kind}
    if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
        raise InvalidError(f"{place} holds {value.dtype}, which files cannot hold; turn it into float64 or text")
    name = f"{len(arrays)}.{place}"
    arrays[name] = np.ascontiguousarray(value, value.dtype.newbyteorder("="))
    return {"kind": "array", "of": name}


class Decoder:
    """Turns JSON and arrays into values again, and checks each object.

    Each array is used once, so that little more memory is needed than the file is long.
    """

    def __init__(self, arrays: dict[str, Array]) -> None:
        self.unused = dict(arrays)

    def decode(self, value: Any, depth: int = 0) -> Any:
        """Return the value that `encode` turned into JSON; raise `InvalidError` if it is none."""
        require(depth <= MOST_NESTED, "its header is nested too deeply")
        if type(value) is not dict:
            require(type(value) is not list, "a list of its header is not marked as one")
            if type(value) is str and not value.isascii():
                _require_unicode(value)
            return value
        kind: Any = value.get("kind")
        of: Any = value.get("of")
        require(type(kind) is str and set(value) <= {"kind", "of", "as"}, "a value of its header has no kind")
        if kind == "array":
            require(type(of) is str and of in self.unused, f"array {of!r} does not exist, or is used twice")
            return self.unused.pop(of)
        if kind == "float":
            require(of in ("inf", "-inf", "nan"), f"{of!r} is not a special number")
            return float(of)
        if kind in ("tuple", "list", "labels", "dict"):
            require(type(of) is list, f"a {kind} of its header has no items")
            return self._decode_items(kind, of, value.get("as"), depth)
        return self._decode_object(FORMER_NAMES.get(kind, kind), of, depth)

    def _decode_items(self, kind: str, of: list[Any], dtype: Any, depth: int) -> Any:
        if kind == "dict":
            require(all(type(pair) is list and len(pair) == 2 for pair in of), "a dict of its header has no pairs")
            pairs = [(self.decode(key, depth + 1), self.decode(item, depth + 1)) for key, item in of]
            try:
                found = dict(pairs)
            except TypeError:
                raise InvalidError("a key of a dict is a list or an array") from None
            require(len(found) == len(pairs), "a dict of its header has a key twice")
            return found
        items = [self.decode(item, depth + 1) for item in of]
        if kind != "labels":
            return tuple(items) if kind == "tuple" else items
        require(dtype in ("O", "U"), "labels of its header have no type")
        require(all(type(item) is str for item in items) or dtype == "O", "labels of its header are not text")
        labels = np.empty(len(items), object)
        labels[:] = items
        return labels if dtype == "O" else labels.astype(str) if items else np.empty(0, "U1")

    def _decode_object(self, kind: str, of: Any, depth: int) -> Any:
        require(kind in STORED, f"{kind[:40]!r} is not an object of suffice")
        require(type(of) is dict, f"{kind} has no fields")
        stored = STORED[kind]
        unknown = [name for name in of if name not in stored.fields]
        require(not unknown, f"{kind} has no field {unknown[0][:40]!r}" if unknown else "")
        named = {name: self.decode(item, depth + 1) for name, item in of.items()}
        try:
            return stored.make(named)
        except InvalidError:
            raise
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError) as error:
            raise InvalidError(f"{kind} is not possible: {error}") from None


def _require_unicode(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidError("a text of its header is not valid Unicode") from None
