"""The commands that learn: each writes a model."""

from __future__ import annotations

from typing import Any

from suffice.cli import matching, words
from suffice.cli.delimited import Hints
from suffice.cli.facts import facts_of, shown, whole
from suffice.cli.files import name_at, stays_where_it_is, target_of, tell_of_dates, without_counter
from suffice.cli.formats import check_place
from suffice.cli.matching import rows_for
from suffice.cli.opening import Source, check_able, load, saved
from suffice.cli.words import UserError


def fit(
    source: Source, target: str, output: str, settings: dict[str, Any], weight: str | None, drop: bool, json: bool
) -> None:
    """Learn a table and write the model."""
    from suffice.classifiers.bayes import BayesClassifier

    check_place(output)
    if stays_where_it_is(source.name):
        if source.header is not None or source.delimiter is not None:
            raise UserError(f"{source.name} is read where it is: --header and --delimiter are for one file of CSV")
        model: Any = BayesClassifier(**settings)
        weight, column = None if weight is None else name_at(weight, source.name), name_at(target, source.name)
        _check_apart(column, weight)
        rest = {"weight": weight, "missing_target": "drop" if drop else "error"}
        model.fit_table(source.name, column, **rest)
    else:
        model = _fitted(source, target, settings, weight, drop)
    written = saved(model, output)
    if written is None:
        return
    if json:
        words.as_json(facts_of(model) | {"file": str(written)})
    else:
        words.facts(f"learned {source.name}, written to {written}", shown(facts_of(model)))


def _fitted(source: Source, target: str, settings: dict[str, Any], weight: str | None, drop: bool) -> Any:
    """Return the model of a table that is read as a whole."""
    from suffice.classifiers.bayes import BayesClassifier

    families = settings["families"] if isinstance(settings["families"], dict) else {}
    frame = source.read(Hints(tuple(filter(None, (target, weight, *families)))))
    column = target_of(frame, target, source.name)
    weighed = None if weight is None else target_of(frame, weight, source.name)
    _check_apart(column, weighed)
    matching.check_labels(frame[column])
    frame = matching.labelled(without_counter(frame, column), column, drop)
    tell_of_dates(frame.drop([column, *families], strict=False), column)
    model: Any = BayesClassifier(**settings)
    with words.working(f"learning {frame.height} rows"):
        model.fit_table(frame, column, weight=weighed)
    return model


def _check_apart(target: str, weight: str | None) -> None:
    """Raise if one column is to hold the labels and the weights."""
    if target == weight:
        raise UserError(f"column {target!r} has the labels, and cannot be the weight of each row; name another column")


def change(
    what: str,
    name: str,
    source: Source,
    target: str | None,
    output: str | None,
    decay: float | None,
    json: bool,
    *,
    weight: str | None = None,
    drop: bool = False,
) -> None:
    """Learn or forget rows, and write the model back."""
    check_place(output or name)
    model = load(name)
    check_able(model, name, "forget", f"cannot {what} rows: it is fitted anew")
    frame = source.read(matching.hints_of(model, target, weight))
    X, y = matching.split(model, frame, target, source.name, drop)
    X, weights = matching.weights_for(model, X, weight, source.name, what)
    rows, before = rows_for(model, X, grow=True), float(model.class_count_.sum())
    each = None if weights is None else weights.to_numpy()
    if what == "learn":
        model.partial_fit(rows, y, sample_weight=each, decay=decay)
        if weights is not None and not hasattr(model, "weight_name_"):
            model.weight_name_ = weights.name
    else:
        model.forget(rows, y, sample_weight=each)
        if not len(model.tally_.class_count):
            raise UserError(
                "these are all rows that the model has learned: nothing would be left; delete the file instead"
            )
    written = saved(model, output or name)
    after, digest = float(model.class_count_.sum()), model.tally_.digest()
    if written is None:
        return
    if json:
        rows_of = {"rows_before": whole(before), "rows": whole(after)}
        words.as_json(rows_of | {"digest": digest, "file": str(written)})
    else:
        said = f"{words.number(before)} -> {words.number(after)}"
        words.facts("", {"rows": said, "digest": digest, "written to": written})


def merge(names: list[str], output: str, json: bool) -> None:
    """Add models up."""
    if len(names) < 2:
        raise UserError("there must be two models or more to merge")
    check_place(output)
    total = load(names[0])
    check_able(total, names[0], "__add__", "has no sum")
    for name in names[1:]:
        other = load(name)
        if type(other) is not type(total):
            raise UserError(
                f"{names[0]} is a {type(total).__name__} and {name} a {type(other).__name__}: they have no sum"
            )
        total = total + other
    written = saved(total, output)
    rows, digest = float(total.class_count_.sum()), total.tally_.digest()
    if written is None:
        return
    if json:
        words.as_json({"rows": whole(rows), "digest": digest, "file": str(written)})
    else:
        words.facts("", {"rows": words.number(rows), "digest": digest, "written to": written})
