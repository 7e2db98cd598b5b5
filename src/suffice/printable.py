"""Text that can be printed: names and labels come from files of others, and a terminal obeys control characters."""

import re

# Control characters, overrides of the direction of text, line separators, and halves of characters.
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_controls(text: str) -> str:
    r"""Return a text whose control characters are written as in Python.

    >>> escape_controls("red\x1b[2J")
    'red\\x1b[2J'
    """
    return CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
