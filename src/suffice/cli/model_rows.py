"""Rows and labels of a file, with the columns of a model and the types that it was fitted to."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from suffice.classifiers.predict_table import learned_reading
from suffice.cli.output import CommandError, print_note, show_work
from suffice.cli.target_classes import label_bin
from suffice.data import label_text, missing_labels_error
from suffice.data.column_names import quote_names
from suffice.data.engines.database_urls import UrlSource
from suffice.data.engines.duckdb_files import FilesSource
from suffice.data.engines.ibis_tables import SqlSource
from suffice.data.engines.source import check_target_type
from suffice.data.files.date_parts import part_name, undo_parts
from suffice.data.files.table_file import ColumnHints, TableFile, learned_kinds, resolve_column
from suffice.data.labelled_table import header_hint, missing_column
from suffice.schema import Combinations, Levels, Words


def open_table(table: TableFile, hints: ColumnHints, dates: str | None = None) -> SqlSource:
    """Return the files of a table, or a table of a database, ready to be read; ``dates`` is the option of this name."""
    if dates not in (None, "parts"):
        raise CommandError(f"--dates is parts, or left out, not {dates!r}")
    engine: type[SqlSource] = UrlSource if UrlSource.accepts(table) else FilesSource
    return engine.open(replace(table, dates=cast("Literal['parts'] | None", dates)), hints)


def remember_reading(model: Any, source: SqlSource, cuts: list[float] | None) -> None:
    """Keep in a model how the cells of files were read, and where a target of numbers was divided."""
    model.__dict__ |= source.reading | ({} if cuts is None else {"target_cuts_": cuts})


def read_frame(source: SqlSource) -> Any:
    """Return all rows of a table as a polars frame."""
    import polars as pl

    with show_work("reading rows"):
        return pl.from_arrow(source.read_rows())


def find_column(source: SqlSource, wanted: str) -> str:
    """Return the name of a column, which is given by its name or by its position in the file: 0, 1, …, −1."""
    name = resolve_column(wanted, source.all_columns)
    if name not in source.names:
        raise missing_column(name, source.names)
    return name


def hints_from(model: Any, target: str | None = None, weight: str | None = None, labels: bool = True) -> ColumnHints:
    """Return what a model knows about the tables that it reads."""
    reading = learned_reading(model)
    columns = undo_parts(feature_names(model), reading["date_parts"])
    others = tuple(filter(None, (target or target_name(model), weight or weight_name(model))))
    kinds = learned_kinds(model.tally_.schema) if hasattr(model, "tally_") else {}
    texts = set(kinds.get("texts", ()))
    if all(isinstance(label, str) for label in model.classes_.tolist()) and not hasattr(model, "target_cuts_"):
        texts |= set(others[:1])
    return ColumnHints(
        (*columns, *others),
        columns,
        texts=frozenset(texts),
        numbers=frozenset(kinds.get("numbers", columns)),
        exact=frozenset(others),
        has_labels=labels,
        **reading,
    )


def feature_names(model: Any) -> tuple[str, ...]:
    """Return the names of the columns that a model was fitted to; none if it was fitted to an array."""
    return tuple(map(str, getattr(model, "feature_names_in_", ())))


def names_of_parts(model: Any) -> list[str]:
    """Return the columns that are parts of dates, and not columns of a file."""
    return [part_name(name, part) for name, its in learned_reading(model)["date_parts"].items() for part in its]


def target_name(model: Any) -> str | None:
    """Return the column of labels that a model was fitted to, if it is known."""
    return getattr(model, "target_name_", None)


def weight_name(model: Any) -> str | None:
    """Return the column of weights that a model was fitted to, if there was one."""
    return getattr(model, "weight_name_", None)


def select_features(model: Any, frame: Any, grow: bool = False) -> Any:
    """Return the columns of a model, each with the type that it was fitted to.

    Rows to be learned or forgotten (``grow``) must have that type; in rows to predict, other values count as empty.
    """
    names = feature_names(model)
    beside = (target_name(model), weight_name(model), *learned_reading(model)["date_parts"])
    others = [name for name in beside if name is not None and name not in names]
    frame = frame.drop(others, strict=False)
    if not names:
        return frame if hasattr(model, "families_") else frame.to_numpy()
    if not set(names) & set(frame.columns):
        raise CommandError(
            f"the rows have none of the columns of the model, {quote_names(names, 8)}; they have "
            f"{quote_names(frame.columns, 8)}{header_hint(frame.columns)}"
        )
    if hasattr(model, "families_"):
        return _cast_levels(model, frame, grow)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise CommandError(
            f"the rows have no column {missing[0]!r}, which the model needs; they have {quote_names(frame.columns, 8)}"
        )
    return frame.select(names)


def split_labels(model: Any, source: SqlSource, target: str | None, drop: bool) -> tuple[Any, list[Any]]:
    """Return the rows that have a label, and their labels; the default target is the one of the model."""
    wanted = target or target_name(model)
    if wanted is None:
        raise CommandError("the model does not know which column has the labels: use --target")
    column, frame = find_column(source, wanted), read_frame(source)
    check_target_type(column, frame[column].dtype)
    missing = frame[column].null_count()
    if missing == frame.height or (missing and not drop):
        raise missing_labels_error(column, missing, frame.height)
    frame = frame.filter(frame[column].is_not_null())
    return frame.drop(column), list_labels(model, frame[column])


def list_labels(model: Any, column: Any) -> list[Any]:
    """Return the labels in a column without empty cells, as the model writes them."""
    labels = column.to_list()
    if hasattr(model, "target_cuts_") and column.dtype.is_numeric():
        labels = [label_bin(value, model.target_cuts_) for value in labels]
    return _convert_labels(labels, model.classes_.tolist())


def read_unlabelled(model: Any, table: TableFile) -> Any:
    """Return the rows of a table, which may lack the target of the model."""
    return read_frame(open_table(table, hints_from(model, labels=False)))


def read_labelled(model: Any, table: TableFile, target: str | None, drop: bool) -> tuple[Any, list[Any]]:
    """Return the rows of a table and their labels, of which the model must know at least one."""
    X, y = split_labels(model, open_table(table, hints_from(model, target)), target, drop)
    classes = model.classes_.tolist()
    if not set(y) & set(classes):
        raise CommandError(
            f"no label of column {target or target_name(model)!r} is known: it holds "
            f"{quote_names(list(dict.fromkeys(y)), 8)}; the model has {quote_names(classes, 8)}"
        )
    return select_features(model, X), y


def split_weights(
    model: Any, source: SqlSource, frame: Any, weight: str | None, is_forgetting: bool
) -> tuple[Any, Any]:
    """Return the frame without its weights, and the column of weights: the named one, or the one of the model."""
    wanted = weight or weight_name(model)
    if wanted is None:
        return frame, None
    if weight is None and wanted not in frame.columns:
        if is_forgetting:
            raise CommandError(
                f"the model was fitted with weights, but the rows have no column {wanted!r} of weights; name it with "
                "--weight"
            )
        print_note(
            f"note: the model was fitted with weights, but there is no column {wanted!r}: each row counts as one"
        )
        return frame, None
    column = find_column(source, wanted)
    if not frame[column].dtype.is_numeric() or frame[column].null_count():
        raise CommandError(f"column {column!r} must hold the weight of each row, but does not hold numbers only")
    return frame.drop(column), frame[column]


def _convert_labels(labels: list[Any], classes: Sequence[Any]) -> list[Any]:
    """Return labels with the type of the classes, where that is possible."""
    are_texts = all(isinstance(label, str) for label in labels)
    if not are_texts and all(isinstance(label, str) for label in classes):
        return [label_text(label) for label in labels]
    if are_texts:
        known = {label_text(label): label for label in classes}
        return [known.get(label.lower() if label.lower() in ("true", "false") else label, label) for label in labels]
    return labels


def _codings(model: Any) -> dict[str, Any]:
    """Return the levels or words of each column that has them."""
    blocks = model.tally_.schema.blocks if hasattr(model, "families_") else ()
    return {
        name: coding
        for block in blocks
        for name, coding in zip(block.names or (), block.codings or (), strict=False)
        if isinstance(coding, (Levels, Words)) and not isinstance(coding, Combinations)
    }


def _is_text(coding: Any) -> bool:
    return isinstance(coding, Words) or (bool(coding.labels) and isinstance(coding.labels[0], str))


def _cast_levels(model: Any, frame: Any, grow: bool) -> Any:
    """Return a frame whose columns of levels have the type of the levels of the model."""
    import polars as pl

    made = []
    for name, coding in _codings(model).items():
        if name not in frame.columns:
            continue
        column = frame[name]
        if _is_text(coding):
            if column.dtype.is_numeric() or column.dtype == pl.Boolean:
                made.append(column.cast(pl.String))
        elif column.dtype == pl.String and coding.labels and not grow and column.null_count() < len(column):
            if isinstance(coding.labels[0], bool):
                low = column.str.to_lowercase()
                cast = (low == "true").set(~low.is_in(["true", "false"]), None)
            else:
                cast = column.cast(pl.Float64, strict=False)
            lost = column.filter(cast.is_null() & column.is_not_null())
            if len(lost):
                print_note(
                    f"note: column {name!r} has levels such as {label_text(coding.labels[0])} in the model: values of "
                    f"another type count as empty, such as {lost[0]!r}, in {len(lost)} rows"
                )
            made.append(cast.alias(name))
    return frame.with_columns(made)
