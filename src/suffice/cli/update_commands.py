"""The commands that change the sums of a model: learn, forget and merge."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.command import Drop, Json, Model, ModelOutput, OtherTarget, UpdatedOutput, Wait, Weight, command
from suffice.cli.model_files import load_model, open_update
from suffice.cli.output import (
    CommandError,
    as_whole,
    check_output,
    format_number,
    print_facts,
    print_json,
    print_note,
    write_file,
)
from suffice.storage.file_update import TIMEOUT

if TYPE_CHECKING:
    from suffice.data.files.table_file import TableFile


@command("suffice learn income.suffice more.csv")
def learn(
    model: Model,
    table: TableFile,
    target: OtherTarget = None,
    output: UpdatedOutput = None,
    decay: Annotated[
        float | None, typer.Option(help="Factor from 0 to 1 for the weight of the rows learned before; by default 1.")
    ] = None,
    weight: Weight = None,
    drop_unlabelled: Drop = False,
    wait: Wait = TIMEOUT,
    json: Json = False,
) -> None:
    """Add rows to a model."""
    with open_update(output or model, [model], wait) as save:
        learned, X, y, weights = _read_update(model, table, target, weight, drop_unlabelled)
        before = float(learned.class_count_.sum())
        learned.partial_fit(X, y, sample_weight=None if weights is None else weights.to_numpy(), decay=decay)
        if weights is not None and not hasattr(learned, "weight_name_"):
            learned.weight_name_ = weights.name
        written = save(learned)
    _report_update(learned, written, json, before)


@command("suffice forget income.suffice deleted.csv")
def forget(
    model: Model,
    table: TableFile,
    target: OtherTarget = None,
    output: UpdatedOutput = None,
    receipt: Annotated[str | None, typer.Option(help="JSON file to write: digests of the model and the rows.")] = None,
    weight: Weight = None,
    drop_unlabelled: Drop = False,
    wait: Wait = TIMEOUT,
    json: Json = False,
) -> None:
    """Remove rows from a model."""
    if receipt == "-":
        raise CommandError("--receipt is the name of a file")
    check_output(receipt or "-")
    with open_update(output or model, [model], wait) as save:
        learned, X, y, weights = _read_update(model, table, target, weight, drop_unlabelled, is_forgetting=True)
        before = float(learned.class_count_.sum())
        gone = (X, y, None if weights is None else weights.to_numpy())
        record = None
        if receipt is not None and not Path(receipt).exists():
            record = learned.receipt(*gone).to_json()
        elif receipt is not None and _is_forgotten(Path(receipt), learned, gone):
            print_note(f"note: {receipt} shows that these rows are forgotten already: {model} is left as it is")
            return
        learned.forget(*gone)
        if not len(learned.tally_.class_count):
            raise CommandError("these are all rows of the model, so none would be left; delete the file instead")
        # The receipt is written first. If the process is killed before the model is written, the receipt tells the next
        # call that the rows are still to be forgotten; without it, they could be subtracted twice.
        if receipt is not None and record is not None:
            write_file(receipt, record.encode())
        written = save(learned)
    _report_update(learned, written, json, before, {} if receipt is None else {"receipt": receipt})


def _is_forgotten(path: Path, model: Any, gone: tuple[Any, Any, Any]) -> bool:
    """Return whether a receipt shows that a model has forgotten these rows, or that it is still to forget them."""
    from suffice import Receipt

    receipt = Receipt.from_json(path.read_text(encoding="utf-8"))
    digest = model.tally_.digest()
    if digest not in (receipt.digest_before, receipt.digest_after) or not receipt.covers(model, *gone):
        raise CommandError(f"{path} is the receipt of another model or of other rows: name another file")
    return bool(digest == receipt.digest_after)


def _read_update(
    name: str,
    table: TableFile,
    target: str | None,
    weight: str | None,
    drop: bool,
    is_forgetting: bool = False,
) -> tuple[Any, Any, list[Any], Any]:
    """Return a model, and the rows, labels and weights that it is to learn or to forget."""
    from suffice.cli import model_rows as rows

    model = load_model(name, "forget", "cannot learn or forget rows: fit it again")
    source = rows.open_table(table, rows.hints_from(model, target, weight))
    frame, y = rows.split_labels(model, source, target, drop)
    frame, weights = rows.split_weights(model, source, frame, weight, is_forgetting)
    return model, rows.select_features(model, frame, grow=True), y, weights


@command("suffice merge monday.suffice tuesday.suffice -o week.suffice")
def merge(
    models: Annotated[list[str], typer.Argument(help="Two model files or more.", metavar="MODEL")],
    output: ModelOutput,
    wait: Wait = TIMEOUT,
    json: Json = False,
) -> None:
    """Merge models into the model of all their rows."""
    if len(models) < 2:
        raise CommandError("merge needs two models or more")
    with open_update(output, models, wait) as save:
        total = load_model(models[0], "__add__", "cannot be added")
        for name in models[1:]:
            other = load_model(name)
            if type(other) is not type(total):
                kinds = f"{models[0]} is a {type(total).__name__} and {name} a {type(other).__name__}"
                raise CommandError(f"{kinds}: they cannot be added")
            total = total + other
        written = save(total)
    _report_update(total, written, json)


def _report_update(
    model: Any, written: Path | None, json: bool, before: float | None = None, facts: Mapping[str, str] | None = None
) -> None:
    """Print the number of rows of a model, before and after if it changed, its digest, and other facts."""
    if written is None:
        return
    after, digest = float(model.class_count_.sum()), model.tally_.digest()
    if json:
        counts = {"rows_before": before, "rows": after}
        whole = {name: as_whole(count) for name, count in counts.items() if count is not None}
        print_json({**whole, "digest": digest, "file": str(written), **(facts or {})})
    else:
        change = "" if before is None else f"{format_number(before)} → "
        shown = {"rows": change + format_number(after), "digest": digest, "written to": written}
        print_facts("", {**shown, **(facts or {})})
