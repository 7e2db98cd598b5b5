"""The bytes of a model file: named arrays, and a header as JSON, in the safetensors format, with a digest of both.

A file is eight bytes (the length of a JSON table), the table, and the bytes of the arrays. The table has the type, the
shape and the position of each array, and under ``__metadata__`` two texts: the header, and since format 3 the digest, a
SHA-256 of the header and of the names, types, shapes and bytes of the arrays. In format 2 the digest is in the header,
and does not cover types and shapes; in format 1 it does not cover the header either.
"""

import hashlib
import json
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from suffice.schema import Array
from suffice.storage.field_checks import InvalidError, require

FORMAT = 3
TYPES = {
    "BOOL": "|b1",
    "I8": "|i1",
    "U8": "|u1",
    "I16": "<i2",
    "U16": "<u2",
    "F16": "<f2",
    "I32": "<i4",
    "U32": "<u4",
    "F32": "<f4",
    "I64": "<i8",
    "U64": "<u8",
    "F64": "<f8",
}
NAMES = {np.dtype(form).newbyteorder("="): name for name, form in TYPES.items()}
MOST_ARRAYS, MOST_DIMENSIONS = 100_000, 8


class ForeignError(InvalidError):
    """Raised if a file is not a model file at all, as far as can be seen."""


def pack(header: dict[str, Any], arrays: dict[str, Array]) -> bytes:
    """Return the bytes of a file with a header and arrays."""
    text = json.dumps(header)
    table: dict[str, Any] = {"__metadata__": {"suffice": text, "digest": digest(text, arrays)}}
    # the widest numbers first, so that all are aligned
    ordered, end = dict(sorted(arrays.items(), key=lambda pair: (-pair[1].itemsize, pair[0]))), 0
    for name, array in ordered.items():
        start, end = end, end + array.nbytes
        table[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [start, end]}
    head = json.dumps(table).encode()
    head += b" " * (-len(head) % 8)
    return b"".join([len(head).to_bytes(8, "little"), head, *(array.tobytes() for array in ordered.values())])


def unpack(content: bytearray) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays of a file, after comparing them with the digest."""
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > len(content) - 8:
        raise ForeignError("it does not begin as a model file does, or ends too early")
    try:
        table = _parse(content[8 : 8 + length])
    except InvalidError as error:
        raise ForeignError(str(error)) from None
    metadata = table.pop("__metadata__", None)
    text = metadata.get("suffice") if isinstance(metadata, dict) else None
    if type(text) is not str:
        raise ForeignError("it has no header of suffice")
    header = _parse(text)
    require(type(header.get("format")) is int and header["format"] >= 1, "its header names no format")
    if header["format"] > FORMAT:
        return header, {}
    arrays = dict(_arrays(table, content, 8 + length))
    if header["format"] == FORMAT:
        require(metadata.get("digest") == digest(text, arrays), "its content does not match its digest")
    else:
        require(header.pop("digest", None) == _former_digest(header, arrays), "its content does not match its digest")
        arrays.pop("nothing", None)  # in a file without arrays
    return header, arrays


def digest(text: str, arrays: dict[str, Array]) -> str:
    """Return the SHA-256 of a header and of the names, types, shapes and bytes of arrays."""
    hashed = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        hashed.update(json.dumps([name, NAMES[array.dtype], list(array.shape)]).encode())
        hashed.update(np.ascontiguousarray(array).data)
    hashed.update(json.dumps(text).encode())
    return hashed.hexdigest()


def _former_digest(header: dict[str, Any], arrays: dict[str, Array]) -> str:
    """Return the digest of formats 1 and 2."""
    hashed = hashlib.sha256()
    for name in sorted(name for name in arrays if name != "nothing"):
        hashed.update(name.encode(errors="surrogatepass"))
        hashed.update(arrays[name].tobytes())
    if header["format"] == 2:
        hashed.update(json.dumps(header, sort_keys=True).encode())
    return hashed.hexdigest()


def _parse(text: str | bytearray) -> dict[str, Any]:
    """Return an object of JSON; raise if it is none, or if a key occurs twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        require(len(found) == len(pairs), "a key of its header occurs twice")
        return found

    def refuse(name: str) -> None:
        raise InvalidError(f"its header holds {name}")

    try:
        text = text if isinstance(text, str) else text.decode()
        found = json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except RecursionError:
        raise InvalidError("its header is nested too deeply") from None
    except InvalidError:
        raise
    except ValueError as error:
        raise InvalidError(f"its header is not JSON ({error})") from None
    require(type(found) is dict, "its header is not an object of JSON")
    return found  # type: ignore[no-any-return]


def _arrays(table: dict[str, Any], content: bytearray, start: int) -> Iterator[tuple[str, Array]]:
    """Yield the names of the arrays and views of their bytes, which must follow one another up to the end."""
    require(len(table) <= MOST_ARRAYS, f"it has more than {MOST_ARRAYS:,} arrays")
    for name, entry in table.items():
        require(type(entry) is dict and set(entry) == {"dtype", "shape", "data_offsets"}, f"array {name!r} is no array")
        require(_are_sizes(entry["shape"], MOST_DIMENSIONS, len(content)), f"array {name!r} has no possible shape")
        require(_are_sizes(entry["data_offsets"], 2, len(content)), f"array {name!r} has no possible position")
        require(type(entry["dtype"]) is str and entry["dtype"] in TYPES, f"array {name!r} has an unknown type")
    end = 0
    for name, entry in sorted(table.items(), key=lambda pair: pair[1]["data_offsets"]):
        kind, shape, place = np.dtype(TYPES[entry["dtype"]]), entry["shape"], entry["data_offsets"]
        size = prod(shape)
        require(place == [end, end + size * kind.itemsize], f"array {name!r} has another size than its shape says")
        end = place[1]
        require(start + end <= len(content), f"array {name!r} ends after the file")
        array = np.frombuffer(content, kind, size, start + place[0]) if size else np.zeros(0, kind)
        if kind.kind == "b":
            require(not size or array.view(np.uint8).max() <= 1, f"array {name!r} holds neither true nor false")
        array = array if array.flags.aligned else array.copy()
        yield name, array.astype(kind.newbyteorder("="), copy=False).reshape(shape)
    require(start + end == len(content), "it has bytes that belong to no array")


def _are_sizes(value: Any, most: int, largest: int) -> bool:
    is_list = type(value) is list and len(value) <= most
    return is_list and all(type(each) is int and 0 <= each <= largest for each in value)
