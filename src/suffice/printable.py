"""Text that can be printed: names without control characters, which a terminal obeys, and numbers with a sign."""

import re

# Control characters, overrides of the direction of text, line separators, and halves of characters.
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_controls(text: str) -> str:
    r"""Return a text whose control characters are written as in Python.

    >>> escape_controls("red\x1b[2J")
    'red\\x1b[2J'
    """
    return CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def signed(value: float, digits: int = 2) -> str:
    """Return a number with its sign, as contributions and differences are written.

    >>> signed(0.5), signed(-0.25), signed(-0.001), signed(-1.0, 3)
    ('+0.50', '−0.25', '+0.00', '−1.000')
    """
    return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", "−")  # + 0.0: no −0.00
