"""Settings of a table file before it is read: its path, its layout and the columns it may have."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from suffice.schema import Levels, MissingLevel, Schema, Words

Path = str | os.PathLike[str]

# The setting that corrects a wrong guess about line 1; the command line prints its option instead.
AS_ROW, AS_NAMES = "TableFile(…, header=False)", "TableFile(…, header=True)"


@dataclass(frozen=True)
class TableFile:
    r"""Files with settings of how they are read, for `fit_table` and `predict_table`.

    By default, the settings are detected. ``ignore`` and ``dates`` apply to files of every format, ``header``,
    ``skip_rows`` and ``na_values`` to CSV and Excel files, and the others to CSV files only.

    Parameters
    ----------
    path : str, path or sequence of these
        A file, a folder, a glob or a list of these; ``"-"`` is standard input.
    header : bool, default=None
        Whether the first line contains the names of the columns; by default it is detected.
    delimiter : str, default=None
        The character between the cells of a CSV file, or "tab", "comma", "semicolon", "space", "pipe"; by
        default it is detected.
    encoding : str, default=None
        The encoding of the text, such as "cp1252"; by default UTF-8, UTF-16 with a byte order mark, or else cp1252.
    skip_rows : int, default=None
        The number of lines before the table; by default, comments and blank lines are skipped.
    na_values : sequence of str, default=None
        The texts that stand for a missing cell in every column, besides the empty text; by default "?", "NA", "N/A",
        "n/a", "#N/A", "<NA>", "NaN", "nan", "null" and "NULL".
    ignore : sequence of str, default=()
        Columns that are not read, by name or by position in the file: "0", "1", …, "-1".
    dates : "parts", default=None
        "parts" replaces each column of dates by its year, month, weekday and, if it has times of day, hour, as
        columns such as ``sold_month``. By default dates stay as they are, and `BayesClassifier` leaves them out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from suffice import BayesClassifier, TableFile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sales.csv"
    >>> _ = path.write_text("15;red;yes\n25;blue;no\n35;red;no\n")
    >>> model = BayesClassifier(structure="naive").fit_table(TableFile(path, header=False, delimiter=";"), target="c2")
    >>> list(model.families_)
    ['c0', 'c1']
    """

    path: Path | Sequence[Path]
    header: bool | None = None
    delimiter: str | None = None
    encoding: str | None = None
    skip_rows: int | None = None
    na_values: Sequence[str] | None = None
    ignore: Sequence[str] = ()
    dates: Literal["parts"] | None = None

    @property
    def shown(self) -> str:
        """The path in messages: a URL without its password."""
        return hide_password(str(self.path))


@dataclass(frozen=True)
class ColumnHints:
    """What the caller knows about the columns of a file before it is read.

    ``named`` are columns that the caller refers to, and ``learned`` are the columns of a model. ``texts`` are columns
    that stay text even if all their cells look like numbers; ``numbers`` are columns of which cells that are not
    numbers are missing; ``exact`` are columns, by name or position, that are numbers only if every cell is one.
    ``na_values``, ``decimal_marks`` (of columns of numbers), ``date_parts`` and ``date_orders`` (of columns of dates)
    are those that a model was fitted with. ``has_labels`` is False if the target may be absent.
    """

    named: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    texts: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset()
    na_values: tuple[str, ...] | None = None
    decimal_marks: Mapping[str, str] = field(default_factory=dict)
    date_parts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    date_orders: Mapping[str, str] = field(default_factory=dict)
    has_labels: bool = True

    @property
    def is_headerless(self) -> bool:
        """Whether the model was fitted to a file without column names."""
        return bool(self.learned) and all(map(is_position, self.learned))


def training_hints(target: Any, weight: Any, families: Any) -> ColumnHints:
    """Return what is known about a table to learn from: its target, its weights and the families of columns."""
    families = families if isinstance(families, Mapping) else {}
    as_levels = (name for name, family in families.items() if family == "categorical")
    named = (name for name in (target, weight, *families) if isinstance(name, str))
    exact = (name for name in (target, weight, *as_levels) if isinstance(name, str))
    return ColumnHints(tuple(named), exact=frozenset(exact))


def learned_kinds(schema: Schema) -> dict[str, frozenset[str]]:
    """Return which learned columns hold texts and which hold numbers, as fields of `ColumnHints`."""
    texts, numbers = set(), set()
    for block in (block for block in schema.blocks if not block.is_forest):
        names = block.names or ()
        for name, coding in zip(names, block.codings or (None,) * len(names), strict=False):
            coding = coding.values if isinstance(coding, MissingLevel) else coding
            first = next(iter(coding.labels), True) if isinstance(coding, Levels) else 0
            if isinstance(coding, Words) or isinstance(first, str):
                texts.add(name)
            elif not isinstance(first, (bool, tuple)):
                numbers.add(name)
    return {"texts": frozenset(texts), "numbers": frozenset(numbers)}


def resolve_column(wanted: str, names: Sequence[str]) -> str:
    """Return the name of a column, which is given by its name or by its position: 0, 1, …, −1.

    >>> resolve_column("-1", ["age", "town"]), resolve_column("age", ["age", "town"])
    ('town', 'age')
    """
    digits = wanted.removeprefix("-")
    is_place = digits.isascii() and digits.isdecimal() and -len(names) <= int(wanted) < len(names)
    return names[int(wanted)] if is_place and wanted not in names else wanted


def is_position(name: str) -> bool:
    """Return whether a name is one that a column without a name gets: c0, c1 and so on."""
    return re.fullmatch(r"c\d+", name) is not None


def hide_password(text: str) -> str:
    """Return a text in which URLs have no passwords.

    >>> hide_password("postgresql://ann:secret@host/base#table and mysql://host/base?password=secret&x=1")
    'postgresql://ann:***@host/base#table and mysql://host/base?password=***&x=1'
    """
    text = re.sub(r"(://[^\s:/@]*):[^\s/]*@", r"\1:***@", text)
    return re.sub(r"(?i)\b(passw\w*|pwd)=[^\s&#]*", r"\1=***", text)


def show_path(path: str) -> str:
    """Return the name of a file in messages."""
    return "standard input" if path == "-" else repr(path)
