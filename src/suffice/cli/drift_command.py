"""The command drift: whether new rows are like the rows that a model was fitted to."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli import output as out
from suffice.cli.command import Json, Model, OtherTarget, command
from suffice.cli.model_files import load_model

if TYPE_CHECKING:
    from suffice.data.files.table_file import TableFile

DRIFTED = 3  # the exit code
WIDEST_NAME = 18


@command("suffice drift income.suffice new.csv")
def drift(
    model: Model,
    table: TableFile,
    target: OtherTarget = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Distance above which a significant difference is drift.")
    ] = 0.1,
    json: Json = False,
) -> None:
    """Compare new rows, or those of a second model, with the rows of a model. Exit code 3 means drift."""
    from suffice.monitoring.measure_drift import drift as measure_drift

    learned = load_model(model, "tally_", "keeps no sums that new rows could be compared with")
    with out.show_work("comparing columns"):
        found = measure_drift(learned, *_read_new(learned, table, target), threshold=threshold)
    if json:
        out.print_json(found.to_dict())
    else:
        _print_drift(found, f"{model} and {table.shown}")
    if found.is_drift:
        raise typer.Exit(DRIFTED)


def _read_new(model: Any, table: TableFile, target: str | None) -> tuple[Any, list[Any] | None]:
    """Return the rows of a file and their labels, if it has any; or the model that the file holds."""
    from suffice.cli.model_rows import (
        find_column,
        hints_from,
        list_labels,
        open_table,
        read_frame,
        select_features,
        target_name,
    )

    path = str(table.path)
    if path.endswith(".suffice"):
        if target is not None:
            raise out.CommandError(f"{path} is a model, which knows its classes: leave out --target")
        return load_model(path, "tally_", "keeps no sums that could be compared"), None
    source = open_table(table, hints_from(model, target, labels=False))
    frame, known = read_frame(source), target_name(model)
    column = find_column(source, target) if target is not None else known if known in source.names else None
    if column is None:
        return select_features(model, frame), None
    is_held = frame[column].is_not_null().to_list()
    labels = iter(list_labels(model, frame[column].drop_nulls()))
    y = [next(labels) if held else None for held in is_held] if any(is_held) else None
    return select_features(model, frame.drop(column)), y


def _print_drift(found: Any, title: str) -> None:
    out.print_text(title)
    lines = []
    for line in found.table:
        name, before, after = line["column"], line["missing_before"], line["missing_after"]
        missing = "" if before is None or not (before or after) else f"{100 * before:.0f} → {100 * after:.0f} %"
        lines.append(
            [
                name if len(name) <= WIDEST_NAME else f"{name[: WIDEST_NAME - 1]}…",
                f"{line['distance']:.3f} ({line['distance_low']:.2f}–{line['distance_high']:.2f})",
                f"{line['distance_by_chance']:.3f}",
                f"{line['psi']:.3f}",
                missing,
                f"{line['new_level_rows']:.0f}" if line["new_level_rows"] else "",
                "yes" if line["is_drift"] else "no",
            ]
        )
    out.print_table(("column", "distance (95 %)", "by chance", "PSI", "missing", "new", "drift"), lines)
    out.print_text("new: rows with unknown levels; by chance: 95 % of distances without drift")
    for note in found.notes():
        out.print_text(fill(note, 80))
