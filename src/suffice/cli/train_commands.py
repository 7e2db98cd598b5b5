"""The commands that write a model: fit, learn, forget and merge."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from suffice.cli import model_rows as rows
from suffice.cli.model_summary import format_summary, summarize_model
from suffice.cli.output import CommandError, as_whole, check_output, format_number, print_facts, print_json, print_note
from suffice.data.files.table_file import ColumnHints, TableFile


def load_model(name: str) -> Any:
    """Return the model in a file."""
    from suffice import load

    return load(name)


def save_model(model: Any, output: str) -> Path | None:
    """Write a model to a file; return None if it went to standard output, where nothing else may be printed."""
    from suffice import store

    if output != "-":
        return Path(model.save(output))
    sys.stdout.buffer.write(store.file_content(type(model).__name__, model.__getstate__()))
    sys.stdout.buffer.flush()
    return None


def require_method(model: Any, name: str, method: str, otherwise: str) -> None:
    """Raise an error if a kind of model lacks the method that a command needs."""
    if not hasattr(model, method):
        raise CommandError(f"{name} is a {type(model).__name__}, which {otherwise}")


def fit(
    table: TableFile, target: str, output: str, settings: dict[str, Any], weight: str | None, drop: bool, json: bool
) -> None:
    """Fit a model to a table and write it."""
    from suffice.classifiers.bayes import BayesClassifier

    check_output(output)
    families = settings["families"] if isinstance(settings["families"], dict) else {}
    source = rows.open_table(table, ColumnHints(tuple(filter(None, (target, weight, *families)))))
    column = rows.find_column(source, target)
    weights = None if weight is None else rows.find_column(source, weight)
    model: Any = BayesClassifier(**settings)
    model.fit_table(source, column, weight=weights, missing_target="drop" if drop else "error")
    written = save_model(model, output)
    if written is None:
        return
    if json:
        print_json(summarize_model(model) | {"file": str(written)})
    else:
        print_facts(f"fitted to {table.path}, written to {written}", format_summary(summarize_model(model)))


def learn(
    name: str,
    table: TableFile,
    target: str | None,
    output: str | None,
    json: bool,
    weight: str | None,
    drop: bool,
    decay: float | None,
) -> None:
    """Learn rows, and write the model back."""
    check_output(output or name)
    model, X, y, weights = _read_labelled(name, table, target, weight, drop, is_forgetting=False)
    before = float(model.class_count_.sum())
    model.partial_fit(X, y, sample_weight=None if weights is None else weights.to_numpy(), decay=decay)
    if weights is not None and not hasattr(model, "weight_name_"):
        model.weight_name_ = weights.name
    _save_and_report(model, output or name, json, before)


def forget(
    name: str,
    table: TableFile,
    target: str | None,
    output: str | None,
    json: bool,
    weight: str | None,
    drop: bool,
    receipt: str | None,
) -> None:
    """Forget rows, write the model back, and then the receipt."""
    from suffice import store

    check_output(output or name)
    if receipt == "-":
        raise CommandError("--receipt is the name of a file")
    check_output(receipt or "-")
    model, X, y, weights = _read_labelled(name, table, target, weight, drop, is_forgetting=True)
    before = float(model.class_count_.sum())
    gone = (X, y, None if weights is None else weights.to_numpy())
    if receipt is not None and Path(receipt).exists():
        _check_receipt(Path(receipt), model, gone)
        print_note(f"note: {receipt} shows that these rows are forgotten already: {name} is left as it is")
        return
    record = None if receipt is None else model.receipt(*gone)
    model.forget(*gone)
    if not len(model.tally_.class_count):
        raise CommandError("these are all rows of the model, so none would be left; delete the file instead")
    facts = {} if receipt is None else {"receipt": receipt}
    _save_and_report(model, output or name, json, before, facts)
    if receipt is not None and record is not None:
        store.replace_file(receipt, record.to_json().encode())


def _check_receipt(path: Path, model: Any, gone: tuple[Any, Any, Any]) -> None:
    """Raise an error unless a receipt shows that a model has forgotten these rows."""
    from suffice import Receipt

    receipt = Receipt.from_json(path.read_text(encoding="utf-8"))
    if not (receipt.verify(model) and receipt.covers(model, *gone)):
        raise CommandError(f"{path} is the receipt of another model or of other rows: name another file")


def _read_labelled(
    name: str, table: TableFile, target: str | None, weight: str | None, drop: bool, *, is_forgetting: bool
) -> tuple[Any, Any, list[Any], Any]:
    """Return a model, and the rows, labels and weights of a table as it learned them."""
    model = load_model(name)
    require_method(model, name, "forget", "cannot learn or forget rows: fit it again")
    source = rows.open_table(table, rows.hints_from(model, target, weight))
    X, y = rows.split_labels(model, source, target, drop)
    X, weights = rows.split_weights(model, source, X, weight, is_forgetting)
    return model, rows.select_features(model, X, grow=True), y, weights


def merge(names: list[str], output: str, json: bool) -> None:
    """Merge models into one and write it."""
    if len(names) < 2:
        raise CommandError("merge needs two models or more")
    check_output(output)
    total = load_model(names[0])
    require_method(total, names[0], "__add__", "cannot be added")
    for name in names[1:]:
        other = load_model(name)
        if type(other) is not type(total):
            raise CommandError(
                f"{names[0]} is a {type(total).__name__} and {name} a {type(other).__name__}: they cannot be added"
            )
        total = total + other
    _save_and_report(total, output, json)


def _save_and_report(
    model: Any, output: str, json: bool, before: float | None = None, facts: Mapping[str, str] | None = None
) -> None:
    """Write a model, and print its number of rows, before and after if it changed, its digest, and other facts."""
    written = save_model(model, output)
    if written is None:
        return
    after, digest = float(model.class_count_.sum()), model.tally_.digest()
    if json:
        counts = (
            {"rows": as_whole(after)} if before is None else {"rows_before": as_whole(before), "rows": as_whole(after)}
        )
        print_json({**counts, "digest": digest, "file": str(written), **(facts or {})})
    else:
        change = "" if before is None else f"{format_number(before)} -> "
        shown = {"rows": change + format_number(after), "digest": digest, "written to": written}
        print_facts("", {**shown, **(facts or {})})
