"""Settings of a table file before it is read: its path, its layout and the columns it may have."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

Path = str | os.PathLike[str]

# The setting that corrects a wrong guess about line 1; the command line prints its option instead.
AS_ROW, AS_NAMES = "TableFile(…, header=False)", "TableFile(…, header=True)"


@dataclass(frozen=True)
class TableFile:
    """A file, a folder, a glob or a list of these, with settings for CSV that are otherwise detected.

    Parameters
    ----------
    path : str, path or sequence of these
        The files; ``"-"`` is standard input.
    header : bool, default=None
        Whether the first line of a CSV file names the columns; None detects it.
    delimiter : str, default=None
        The character between the cells of a CSV file, or "tab", "comma", "semicolon", "space", "pipe"; None
        detects it.
    """

    path: Path | Sequence[Path]
    header: bool | None = None
    delimiter: str | None = None


@dataclass(frozen=True)
class ColumnHints:
    """What the caller knows about the columns of a file before it is read.

    ``named`` are columns that the caller refers to, ``learned`` are the columns of a model, and ``texts`` are columns
    that stay text even if all their cells look like numbers. ``has_labels`` is False if the target may be absent.
    """

    named: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    texts: frozenset[str] = frozenset()
    has_labels: bool = True

    @property
    def is_headerless(self) -> bool:
        """Whether the model was fitted to a file without column names."""
        return bool(self.learned) and all(map(is_position, self.learned))


def is_position(name: str) -> bool:
    """Return whether a name is one that a column without a name gets: c0, c1 and so on."""
    return re.fullmatch(r"c\d+", name) is not None


def show_path(path: str) -> str:
    """Return the name of a file in messages."""
    return "standard input" if path == "-" else repr(path)
