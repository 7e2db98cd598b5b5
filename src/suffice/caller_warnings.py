"""Warnings that show the line of the caller, not a line of suffice."""

import sys
import warnings


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the first line outside suffice that led here.

    Python shows a warning once for each line. So a warning that several folds or columns give is shown once.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "suffice":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
