"""Drift: the result of a comparison of new rows, or of another model, with the rows of a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from suffice import plots
from suffice.records import Records

SIGNIFICANCE = 0.01  # divided by the number of comparisons
SHOWN = ("column", "distance", "distance_low", "distance_high", "distance_by_chance", "psi", "is_drift")


@dataclass(frozen=True)
class Drift:
    """How the distribution of each column differs from that of the rows that a model was fitted to.

    `suffice.drift` returns it.

    Attributes
    ----------
    table : list of dict
        A line for each column, drifted columns first, then by distance. Its keys are

        - ``column``, and ``form``: "levels", "intervals", "words" or "moments";
        - ``distance``: the Jensen-Shannon distance, from 0 to 1; ``psi``: the population stability index;
        - ``…_low`` and ``…_high``: the 95 % interval; ``…_by_chance``: the value that 95 % of samples without drift
          do not exceed;
        - ``p_value``, of a test that nothing has changed; ``is_significant``, if it is less than 0.01 divided by the
          number of comparisons; ``is_drift``, if moreover ``distance`` is larger than the threshold;
        - ``missing_before`` and ``missing_after``: the shares of missing cells;
        - ``new_levels``, and ``new_level_rows``, the number of rows that have them;
        - ``mean_shift``, the difference of the means in standard deviations, and ``variance_ratio``, of numbers;
        - ``labels``, ``before`` and ``after``: the share of each level or interval.
    classes : dict or None
        The same for the classes; None if the new rows have no labels.
    rows_before, rows_after : float
        The number of rows, by weight.
    log_density : dict or None
        How probable the new rows are: the ``mean`` of log p(x), that of rows which are drawn from the model
        (``expected``), and ``improbable``, the share of rows less probable than 99 % of these. None if two models
        are compared, or if the model has texts or word counts, whose length has no distribution.
    not_compared : dict
        Columns that cannot be compared, with the reason.
    threshold : float
        The distance above which a significant difference is drift.

    Examples
    --------
    >>> from suffice import CategoricalNB, drift
    >>> model = CategoricalNB().fit([[0]] * 50 + [[1]] * 50, ["a", "b"] * 50)
    >>> found = drift(model, [[0]] * 90 + [[1]] * 10)
    >>> found.is_drift, found.drifted, round(found.table[0]["distance"], 3)
    (True, ['column 0'], 0.383)
    """

    table: list[dict[str, Any]]
    classes: dict[str, Any] | None
    rows_before: float
    rows_after: float
    log_density: dict[str, float] | None = None
    not_compared: Mapping[str, str] = field(default_factory=dict)
    threshold: float = 0.1

    @property
    def drifted(self) -> list[str]:
        """The names of the columns that drifted, the largest distance first."""
        return [line["column"] for line in self.table if line["is_drift"]]

    @property
    def is_drift(self) -> bool:
        """Whether a column or the classes drifted."""
        return bool(self.drifted) or (self.classes is not None and self.classes["is_drift"])

    def to_frame(self) -> Any:
        """Return the table as a pandas frame, without the shares of levels and intervals.

        Returns
        -------
        frame : pandas.DataFrame
        """
        return self._records().to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dictionary that can be written as JSON.

        Returns
        -------
        dict
        """
        return {"is_drift": self.is_drift, "drifted": self.drifted} | vars(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the distance of each column with its interval, and what chance explains.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return plots.drift(self.table, ax, threshold=self.threshold)

    def notes(self) -> list[str]:
        """Return sentences about the rows as a whole.

        Returns
        -------
        list of str
        """
        count = len(self.drifted)
        subject = f"{count or 'No'} of {len(self.table)} columns" if count else "No column"
        lines = [
            f"{subject} drifted: {self.rows_after:,.0f} new rows against {self.rows_before:,.0f} of the model. Drift: "
            f"distance above {self.threshold:g}, p below {SIGNIFICANCE:g} / number of comparisons."
        ]
        if self.classes is not None:
            its = self.classes
            lines.append(
                f"Classes: distance {its['distance']:.3f}, PSI {its['psi']:.3f}, "
                f"{'drift' if its['is_drift'] else 'no drift'}."
            )
        if self.log_density is not None:
            its = self.log_density
            lines.append(
                f"Mean log p(x) {its['mean']:.2f}, expected {its['expected']:.2f}; {100 * its['improbable']:.1f} % of "
                "the new rows are less probable than 99 % of rows drawn from the model."
            )
        if self.not_compared:
            listed = "; ".join(f"{name}: {reason}" for name, reason in list(self.not_compared.items())[:5])
            more = f"; and {len(self.not_compared) - 5} more" if len(self.not_compared) > 5 else ""
            lines.append(f"Not compared: {listed}{more}.")
        return lines

    def __str__(self) -> str:
        lines = [f"{'column':24} distance  95 % interval  by chance    PSI  drift"]
        for line in self.table:
            interval = f"{line['distance_low']:.3f} – {line['distance_high']:.3f}"
            lines.append(
                f"{line['column'][:24]:24} {line['distance']:8.3f}  {interval}  {line['distance_by_chance']:9.3f}  "
                f"{line['psi']:5.3f}  {'yes' if line['is_drift'] else 'no'}"
            )
        return "\n".join([*lines, "", *self.notes()])

    def _records(self) -> Records:
        shares = ("labels", "before", "after")
        return Records({key: value for key, value in line.items() if key not in shares} for line in self.table)

    def _repr_html_(self) -> str:
        shown = Records({key: line[key] for key in SHOWN} for line in self.table)
        return shown._repr_html_() + "".join(f"<p>{escape(line)}</p>" for line in self.notes())
