"""Arrays as the page unpacks them: compressed bytes in base 64, with the type and the shape of the array."""

import base64
import zlib
from typing import Any

import numpy as np

MAX_CHARACTERS = 10_000_000  # of the arrays of a model in a page
MAX_BYTES = 1 << 28  # of an array before compression; the page holds it in memory
SMALLER = "a naive model takes less space"
MIN_COMPRESSED = 256  # bytes; shorter arrays stay as they are


class NotLiveError(ValueError):
    """The reason why a page cannot compute a model."""


def check_size(characters: float) -> None:
    """Raise if the arrays of a model would make a page so long that it is slow to open."""
    if characters > MAX_CHARACTERS:
        raise NotLiveError(
            f"its tables and trees would take {characters / 1e6:.1f} MB or more of this page, and the limit is "
            f"{MAX_CHARACTERS / 1e6:.1f} MB; {SMALLER}"
        )


def pack_array(array: Any) -> dict[str, Any]:
    """Return an array of doubles with all digits, and infinite numbers.

    >>> pack_array(np.array([[1.0]]))
    {'f64': 'AAAAAAAA8D8=', 'shape': [1, 1]}
    """
    return _pack("f64", np.asarray(array, "<f8"))


def pack_value(value: Any) -> Any:
    """Return a float or an array of floats with all digits, and whole numbers and other values as they are."""
    if np.asarray(value).dtype.kind == "f":
        return pack_array(value)
    return value.tolist() if isinstance(value, np.ndarray) else value


def pack_whole(array: Any) -> dict[str, Any]:
    """Return an array of numbers; whole ones have the smallest type that holds them all.

    >>> pack_whole([1, 2]), pack_whole([1, 300]), pack_whole([0.5])
    ({'u8': 'AQI=', 'shape': [2]}, {'u16': 'AQAsAQ==', 'shape': [2]}, {'f64': 'AAAAAAAA4D8=', 'shape': [1]})
    """
    array = np.asarray(array)
    if array.size and array.min() >= 0 and array.max() < 1 << 32 and (array % 1 == 0).all():
        whole = array.astype(np.min_scalar_type(int(array.max())).newbyteorder("<"))
        return _pack(f"u{8 * whole.itemsize}", whole)
    return pack_array(array)


def _pack(kind: str, array: Any) -> dict[str, Any]:
    if array.nbytes > MAX_BYTES:
        raise NotLiveError(
            f"one of its tables has {array.nbytes / 1e6:,.0f} MB, and the limit is {MAX_BYTES / 1e6:,.0f} MB; {SMALLER}"
        )
    content = array.tobytes()
    short = zlib.compress(content) if len(content) >= MIN_COMPRESSED else content
    packed = {kind: base64.b64encode(min(short, content, key=len)).decode(), "shape": list(array.shape)}
    check_size(len(packed[kind]))
    return packed | ({"compressed": True} if len(short) < len(content) else {})
