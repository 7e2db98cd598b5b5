"""Edits of model files, as someone might make them who wants a program to fail."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from suffice.storage.file_bytes import pack, unpack

# Values that are of a wrong type, too large, not finite, or of a wrong kind.
NASTY: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 7, 10**9, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, -1e308, 5e-324, 1e16),
    *(
        "",
        "a",
        "naive",
        "gaussian",
        "text",
        "\x1b[2J",
        "=1+1",
        "\udc80",
        "é" * 99,
        [],
        {},
        [[]],
        ["a"],
        {"kind": "list"},
    ),
    {"kind": "tuple", "of": []},
    {"kind": "list", "of": ["a", "a"]},
    {"kind": "tuple", "of": [1, "a", None]},
    {"kind": "dict", "of": [["a", 1], ["a", 2]]},
    {"kind": "labels", "of": ["b", "a"], "as": "U"},
    {"kind": "labels", "of": [1, 2], "as": "O"},
    *({"kind": "float", "of": of} for of in ("nan", "inf", "-inf", "1e999", [])),
    {"kind": "Naive", "of": {}},
    {"kind": "Trees", "of": {"count": 10**9, "backoff": 1.0}},
    {"kind": "Beta", "of": {"a": 1e99, "b": 1e-99}},
    {"kind": "Levels", "of": {"labels": {"kind": "tuple", "of": ["x"]}, "binary": True}},
    {"kind": "Columns", "of": {"family": "gaussian", "count": 10**9}},
    {"kind": "array", "of": "0.classes"},
]
NUMBERS = [np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1e-300, 5e-324, 1e16, 1e154, 1e308, -1e308]


def split_file(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the table of a file, with the header as text, and the bytes of the arrays."""
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def join_file(table: dict[str, Any], data: bytes) -> bytes:
    """Return the file with a table and the bytes of the arrays; the digest stays as it is."""
    head = json.dumps(table).encode()
    return len(head).to_bytes(8, "little") + head + data


def flip(content: bytes, draw: random.Random) -> bytes:
    """Return a file with one bit flipped."""
    changed = bytearray(content)
    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def cut(content: bytes, draw: random.Random) -> bytes:
    """Return a file that ends too early, goes on too long, or lacks a part."""
    first, last = sorted(draw.choices(range(len(content) + 1), k=2))
    return draw.choice([content[:first], content + content[:first], content[:first] + content[last:], content[first:]])


def edit_table(content: bytes, draw: random.Random) -> bytes:
    """Return a file with another type, shape, position or name of an array; the digest stays as it is."""
    table, data = split_file(content)
    name = draw.choice(list(table))
    entry = table[name]
    if name == "__metadata__":
        entry[draw.choice(["suffice", "digest", "other"])] = draw.choice(
            ["", "x", "{}", "[" * 5000, "null", "1", '{"format": 3}']
        )
    else:
        key = draw.choice(["dtype", "shape", "data_offsets", "name", "key"])
        if key == "name":
            table[draw.choice([*table, "", "é", "__metadata__"])] = table.pop(name)
        elif key == "key":
            entry[draw.choice(["dtype", "other"])] = draw.choice([None, [], {}, 1])
        elif key == "dtype":
            entry[key] = draw.choice(["F64", "I64", "U64", "F32", "I8", "U8", "BOOL", "F8_E4M3", "", None, 3])
        else:
            nasty = [[], [-1], [0], [10**9], [2**62, 4], [2**63], [0, 2**40], [1.5], "3", None, [True], [1] * 40]
            entry[key] = draw.choice([*nasty, entry[key][::-1], [*entry[key], 1]])
    return join_file(table, data)


def edit_header(content: bytes, draw: random.Random) -> bytes:
    """Return a file with one to three values of the header changed, and a right digest."""
    header, arrays = unpack(bytearray(content))
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        places = list(_places(header))
        parent, key = draw.choice(places)
        change = draw.randrange(8)
        if change < 4:
            parent[key] = copy.deepcopy(_near(parent[key], draw) if change < 2 else draw.choice(NASTY))
        elif change == 4:
            del parent[key]
        elif change == 5:
            other, place = draw.choice(places)
            parent[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(parent[key])
        elif change == 6 and isinstance(parent, list):
            parent.append(copy.deepcopy(parent[key]))
        else:
            for _ in range(draw.choice([1, 3, 70])):
                parent[key] = {"kind": draw.choice(["tuple", "list"]), "of": [parent[key]]}
    if draw.random() < 0.5:  # arrays that are no longer used would be reason enough to refuse it
        arrays = {name: arrays[name] for name in arrays if f'"{name}"' in json.dumps(header)}
    header["format"] = header.get("format") if header.get("format") not in (1, 2) else 3
    return pack(header, arrays)


def _near(value: Any, draw: random.Random) -> Any:
    """Return a value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return draw.choice([value + 1, value - 1, -value, value * 1000, 0, 0.0, 1e308, 10**9])
    if isinstance(value, str):
        near = ["mle", "map", "predictive", "auto", "level", "skip", "error", "uniform", "tree", "joint", "pooled"]
        return draw.choice(
            [*near, value + "x", value.upper(), "Counts", "PairCounts", "Moments", "CoMoments", "Levels"]
        )
    if isinstance(value, list):
        return draw.choice([value[::-1], value[1:], value + value, value[:1] * 3])
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def edit_arrays(content: bytes, draw: random.Random) -> bytes:
    """Return a file with other numbers, types or shapes in its arrays, and a right digest."""
    header, arrays = unpack(bytearray(content))
    arrays = {name: array.copy() for name, array in arrays.items()}
    for _ in range(draw.choice([1, 1, 2, 4])):
        name = draw.choice(list(arrays))
        array = arrays[name]
        change = draw.randrange(8)
        if change < 4 and array.size:
            with np.errstate(all="ignore"):
                value = np.array(draw.choice(NUMBERS)).astype(array.dtype)
            array.flat[draw.randrange(array.size) if change else slice(None)] = value
        elif change == 4:
            arrays[name] = array.astype(draw.choice(["f8", "f4", "f2", "i8", "i4", "u8", "u1", "?"]), casting="unsafe")
        elif change == 5:
            shapes = [array.T, array.ravel(), array[None], array[..., None], array[:1], array[1:], array[..., :0]]
            arrays[name] = np.ascontiguousarray(draw.choice(shapes))
        elif change == 6:
            other = draw.choice(list(arrays))
            arrays[name], arrays[other] = arrays[other], arrays[name]
        else:
            arrays[name] = np.concatenate([array, array]) if draw.random() < 0.5 else array[::-1].copy()
    header["format"] = 3
    with np.errstate(all="ignore"):
        return pack(header, arrays)


EDITS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    each.__name__: each for each in (flip, cut, edit_table, edit_header, edit_arrays)
}
