"""Records: a list of dictionaries that is shown as a table in a notebook and becomes a data frame."""

from html import escape
from importlib import import_module
from typing import Any


class Records(list[dict[str, Any]]):
    """A list of dictionaries, one for each line of a table.

    Examples
    --------
    >>> lines = Records([{"feature": "age", "estimate": 0.5}])
    >>> lines[0]["estimate"]
    0.5
    >>> lines.to_frame().columns.tolist()
    ['feature', 'estimate']
    """

    def to_frame(self) -> Any:
        """Return the lines as a pandas frame.

        Returns
        -------
        frame : pandas.DataFrame
            With one row for each line.
        """
        return import_module("pandas").DataFrame(list(self))

    def _repr_html_(self) -> str:
        columns = list(dict.fromkeys(name for line in self for name in line))
        head = "".join(f"<th>{escape(str(name))}</th>" for name in columns)
        lines = ["".join(f"<td>{escape(_cell(line.get(name)))}</td>" for name in columns) for line in self]
        body = "".join(f"<tr>{cells}</tr>" for cells in lines)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
