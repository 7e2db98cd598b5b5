"""Drift: how the columns of the rows differ from those of the training rows, as the page shows it."""

from typing import Any

from suffice.monitoring.measure_drift import measure_columns

DETAILED = 50  # columns whose shares are listed


def describe_drift(classifier: Any, X: Any) -> list[dict[str, Any]]:
    """Return a line for each column that is counted in levels or intervals, significant differences first."""
    table = [line for line in measure_columns(classifier, X).table if line["labels"]]
    table.sort(key=lambda line: (not line["is_significant"], -line["distance"]))
    found = [
        {"name": line["column"], "unknown": int(line["new_level_rows"])}
        | {key: line[key] for key in ("distance", "is_significant", "form")}
        for line in table
    ]
    for its, line in zip(found[:DETAILED], table, strict=False):
        if line["form"] == "words":
            continue  # there are too many
        its["labels"] = line["labels"]
        its |= {side: [round(share, 5) for share in line[side]] for side in ("before", "after")}
    return found
