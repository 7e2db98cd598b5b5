"""Matching: rows and labels of a file as the model takes them, by the names and the kinds that were learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suffice.cli.delimited import Hints
from suffice.cli.files import target_of, untitled
from suffice.cli.words import UserError, note
from suffice.data import spoken
from suffice.schema import Combinations, Levels, Words


def hints_of(model: Any, target: str | None = None, weight: str | None = None, labelled: bool = True) -> Hints:
    """Return what a model knows of the tables that it takes."""
    columns = names_of(model)
    others = tuple(filter(None, (target or target_name(model), weight or weight_name(model))))
    texts = {name for name, its in _codings(model).items() if isinstance(its, Words) or _of_text(its)}
    if all(isinstance(label, str) for label in model.classes_.tolist()):
        texts |= set(others[:1])
    return Hints((*columns, *others), columns, frozenset(texts), labelled)


def names_of(model: Any) -> tuple[str, ...]:
    """Return the names of the columns that were learned, if they have any."""
    return tuple(map(str, getattr(model, "feature_names_in_", ())))


def target_name(model: Any) -> str | None:
    """Return the column that had the labels, if it is known."""
    return getattr(model, "target_name_", None)


def weight_name(model: Any) -> str | None:
    """Return the column that had the weights, if there was one."""
    return getattr(model, "weight_name_", None)


def rows_for(model: Any, frame: Any, grow: bool = False) -> Any:
    """Return rows as the model takes them: its own columns, each of the kind that was learned.

    Rows to be learned or forgotten (``grow``) must be of that kind; of others, what cannot be is empty.
    """
    names = names_of(model)
    others = [name for name in (target_name(model), weight_name(model)) if name is not None and name not in names]
    frame = frame.drop(others, strict=False)
    if not names:
        return frame if hasattr(model, "families_") else frame.to_numpy()
    if not set(names) & set(frame.columns):
        raise UserError(
            f"the rows have none of the columns that were learned, {_some(names)}; they have {_some(frame.columns)}"
            + untitled(frame)
        )
    if hasattr(model, "families_"):
        return _cast(model, frame, grow)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise UserError(
            f"the rows have no column {missing[0]!r}, which the model needs; they have {_some(frame.columns)}"
        )
    return frame.select(names)


def split(model: Any, frame: Any, target: str | None, name: str, drop: bool) -> tuple[Any, Any]:
    """Return rows that have labels, and the column of the labels; it is the one learned, if no other is named."""
    asked = target or target_name(model)
    if asked is None:
        raise UserError("the model does not know which column has the labels: say --target")
    column = target_of(frame, asked, name)
    frame = labelled(frame, column, drop)
    return frame.drop(column), as_labels(frame[column], model.classes_.tolist())


def labelled(frame: Any, column: str, drop: bool) -> Any:
    """Return the rows that have a label, or say that some have none."""
    missing = frame[column].null_count()
    if missing == frame.height:
        raise UserError(f"column {column!r} has no label in any of {missing} rows")
    if missing and not drop:
        raise UserError(f"column {column!r} has no label in {missing} rows; leave them out with --drop-unlabelled")
    return frame.filter(frame[column].is_not_null()) if missing else frame


def check_labels(column: Any) -> None:
    """Raise if what a column holds can be no label: before it is learned."""
    kind = column.dtype
    if kind.is_temporal() or kind.is_nested() or str(kind) in ("Binary", "Object"):
        what = "dates or times" if kind.is_temporal() else str(kind)
        raise UserError(f"column {column.name!r} holds {what}, and labels are words or numbers; turn it into text")


def as_labels(column: Any, classes: Sequence[Any]) -> list[Any]:
    """Return labels, of the kind that was learned where they can be."""
    labels: list[Any] = column.to_list()
    if not all(isinstance(label, str) for label in labels) and all(isinstance(label, str) for label in classes):
        return [spoken(label) for label in labels]
    if all(isinstance(label, str) for label in labels):
        known = {spoken(label): label for label in classes}
        return [known.get(label.lower() if label.lower() in ("true", "false") else label, label) for label in labels]
    return labels


def check_known(labels: Sequence[Any], classes: Sequence[Any], target: str) -> None:
    """Raise if no label is known: then nothing can be measured, and a column was mistaken."""
    if not set(labels) & set(classes):
        met = list(dict.fromkeys(labels))
        raise UserError(
            f"no label of column {target!r} is known: it holds {_some(met)}; the model has {_some(classes)}"
        )


def weights_for(model: Any, frame: Any, weight: str | None, name: str, what: str) -> tuple[Any, Any]:
    """Return the frame, and the column of weights: the one that is named, or the one that was learned."""
    asked = weight or weight_name(model)
    if asked is None:
        return frame, None
    if weight is None and asked not in frame.columns:
        if what == "forget":
            raise UserError(
                f"the model was learned with weights, and {name} has no column {asked!r} to say how much each row "
                "counted; say which it is with --weight"
            )
        note(f"note: the model was learned with weights, and there is no column {asked!r}: each row counts as one")
        return frame, None
    column = target_of(frame, asked, name)
    if not frame[column].dtype.is_numeric() or frame[column].null_count():
        raise UserError(f"column {column!r} is to hold the weight of each row, and is not all numbers")
    return frame.drop(column), frame[column]


def _codings(model: Any) -> dict[str, Any]:
    """Return what each column of levels or of words knows."""
    blocks = model.tally_.schema.blocks if hasattr(model, "families_") else ()
    return {
        name: its
        for block in blocks
        for name, its in zip(block.names or (), block.codings or (), strict=False)
        if isinstance(its, (Levels, Words)) and not isinstance(its, Combinations)
    }


def _of_text(its: Any) -> bool:
    return bool(its.labels) and isinstance(its.labels[0], str)


def _cast(model: Any, frame: Any, grow: bool) -> Any:
    """Return a frame whose columns of levels are of the kind that was learned."""
    import polars as pl

    made = []
    for name, its in _codings(model).items():
        if name not in frame.columns:
            continue
        column, text = frame[name], isinstance(its, Words) or _of_text(its)
        if (text and column.dtype.is_numeric()) or (text and column.dtype == pl.Boolean):
            made.append(column.cast(pl.String))
        elif column.dtype == pl.String and not text and its.labels and not grow and column.null_count() < len(column):
            if isinstance(its.labels[0], bool):
                low = column.str.to_lowercase()
                cast = (low == "true").set(~low.is_in(["true", "false"]), None)
            else:
                cast = column.cast(pl.Float64, strict=False)
            lost = column.filter(cast.is_null() & column.is_not_null())
            if len(lost):
                note(
                    f"note: column {name!r} was learned with levels such as {spoken(its.labels[0])}: what is of "
                    f"another kind counts as empty, such as {lost[0]!r}, in {len(lost)} rows"
                )
            made.append(cast.alias(name))
    return frame.with_columns(made)


def _some(values: Sequence[Any]) -> str:
    return ", ".join(map(repr, values[:8])) + (", …" if len(values) > 8 else "")
