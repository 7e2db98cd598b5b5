"""Comparison: the result of comparing models, with one line for each model and one for the baseline."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import Any

from suffice.evaluation.metrics import Metric
from suffice.printable import signed
from suffice.records import Records

WIDTH = 80
MARKS = {"best": "*", "practically equal": "=", "undecided": "?", "worse": "−", "better": "+"}


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`: a table with one line for each model, the best first.

    Attributes
    ----------
    table : list of dict
        One dictionary for each model, with these keys for each metric, such as ``log_loss``: ``log_loss`` itself,
        ``log_loss_half_width`` (half its 95 % interval), ``log_loss_difference`` to the best model in this metric,
        ``log_loss_difference_half_width`` (half its interval; these intervals hold for all models at once with 95 %),
        and ``log_loss_verdict``: "best", "practically equal" (the interval of the difference lies within the margin),
        "worse" (it does not contain 0) or "undecided". ``verdict`` is the one in the metric that sorts. Other keys are
        ``parameters``, ``fit_time``, ``predict_time`` (for a fold), and ``refitted``, whether the model was fitted
        again for each fold.
    baseline : dict
        The same for a model that always predicts the class frequencies. Its verdict may also be "better".
    best_ : classifier
        The best model, fitted on all rows.
    metrics : list of Metric
        The metrics. The first one sorts the table.
    margins : dict
        The margin of each metric.
    folds : str
        How rows were held out.
    """

    table: list[dict[str, Any]]
    baseline: dict[str, Any]
    best_: Any = field(repr=False)
    metrics: list[Metric] = field(repr=False)
    margins: dict[str, float]
    folds: str

    @property
    def best_name_(self) -> str:
        """The name of the best model."""
        return str(self.table[0]["model"])

    def to_frame(self) -> Any:
        """Return the table and the baseline as a pandas frame.

        Returns
        -------
        frame : pandas.DataFrame
            With one row for each model, and the baseline in the last row.
        """
        return self._records().to_frame()

    def plot(self, ax: Any = None) -> Any:
        """Plot the metric that sorts, with 95 % intervals, and the accuracy of each model; return the Axes."""
        from suffice.plots import comparison

        metric = self.metrics[0]
        return comparison(self.table, ax, metric=metric.name, title=metric.title)

    def _records(self) -> Records:
        return Records([*self.table, self.baseline])

    def _repr_html_(self) -> str:
        return self._records()._repr_html_() + "".join(f"<p>{escape(line)}</p>" for line in self._notes())

    def __str__(self) -> str:
        notes = [part for line in self._notes() for part in wrap(line, WIDTH)]
        return "\n".join([*self._first_table(), *self._other_tables(), "", *notes])

    def _first_table(self) -> Iterator[str]:
        """Yield the lines of the metric that sorts: value, difference to the best, and verdict."""
        metric = self.metrics[0]
        lines = []
        for line in self._records():
            difference = _with_half_width(line, f"{metric.name}_difference", signed)
            verdict = line[f"{metric.name}_verdict"]
            difference = "" if verdict == "best" else difference
            lines.append([line["model"], _with_half_width(line, metric.name), difference, verdict])
        yield from _align(["model", metric.title, "difference", "verdict"], lines)

    def _other_tables(self) -> Iterator[str]:
        """Yield the lines of the other metrics, three side by side: value, and a mark for the verdict."""
        others = self.metrics[1:]
        for first in range(0, len(others), 3):
            shown = others[first : first + 3]
            lines = [
                [
                    line["model"],
                    *(f"{_with_half_width(line, each.name)} {MARKS[line[each.name + '_verdict']]}" for each in shown),
                ]
                for line in self._records()
            ]
            yield ""
            yield from _align(["model", *(each.title for each in shown)], lines)

    def _notes(self) -> Iterator[str]:
        """Yield what the tables mean."""
        metric = self.metrics[0]
        better = "lower" if metric.is_loss else "higher"
        yield f"{self.folds}. Sorted by {metric.title}: {better} is better."
        yield "±: half of a 95 % interval; those of differences hold for all models at once."
        margins = ", ".join(f"{each.title} {self.margins[each.name]:g}" for each in self.metrics)
        yield f"practically equal: the interval of the difference is within the margin ({margins})."
        if any(line["verdict"] == "undecided" for line in self.table):
            yield "undecided: these rows do not tell which is better; take the simpler model, or compare on more rows."
        yield f"{self.baseline['model']}: always predicts the class frequencies."
        if len(self.metrics) > 1:
            yield ", ".join(f"{mark} {name}" for name, mark in MARKS.items()) + "."
        if any(line["refitted"] for line in self.table):
            names = [str(line["model"]) for line in self.table if line["refitted"]]
            listed = "all" if len(names) == len(self.table) else ", ".join(names)
            yield f"Models that were fitted again for each fold: {listed}."
        if self.baseline["verdict"] != "worse":
            yield f"No model is clearly better than the baseline in {metric.title}."


def _with_half_width(
    line: dict[str, Any], name: str, write: Callable[[float, int], str] = lambda value, digits: f"{value:.{digits}f}"
) -> str:
    return f"{write(line[name], 3)} ± {line[name + '_half_width']:.3f}"


def _align(head: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table; a name that is too long for its column has a line of its own."""
    widths = [max(len(line[place]) for line in (head, *lines)) for place in range(len(head))]
    widths[0] = min(widths[0], WIDTH - sum(width + 2 for width in widths[1:]))
    for name, *cells in (head, *lines):
        if len(name) > widths[0]:
            yield name if len(name) <= WIDTH else name[: WIDTH - 1] + "…"
            name = ""
        shown = [f"{cell:<{width}}" for cell, width in zip(cells, widths[1:], strict=True)]
        yield "  ".join([f"{name:<{widths[0]}}", *shown]).rstrip()
