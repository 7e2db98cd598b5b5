"""What the commands do, once their words are read."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from suffice.cli import matching, words
from suffice.cli.delimited import Hints
from suffice.cli.facts import facts_of, shown, whole
from suffice.cli.files import read_table, stays_where_it_is, target_of, tell_of_dates, without_counter
from suffice.cli.formats import check_place, write_table
from suffice.cli.matching import rows_for
from suffice.cli.words import UserError
from suffice.tables import share_name, spoken


@dataclass(frozen=True)
class Source:
    """A file of rows, and how it is to be read."""

    name: str
    header: bool | None = None
    delimiter: str | None = None

    def read(self, hints: Hints | None = None) -> Any:
        """Return the rows as a frame, read by what is known of them."""
        with words.working(f"reading {self.name}"):
            return read_table(self.name, self.header, self.delimiter, hints)


def load(name: str) -> Any:
    """Return the model in a file; what loads models is loaded when one is asked for, not before files are read."""
    from suffice import store

    return store.load(name)


def saved(model: Any, output: str) -> Path | None:
    """Write a model to a file; to standard output, if that is asked for: then nothing else may be said there."""
    from suffice import store

    if output != "-":
        return Path(model.save(output))
    sys.stdout.buffer.write(store.packed_up(model))
    sys.stdout.buffer.flush()
    return None


def as_prior(said: str) -> Any:
    """Return a prior as it is typed: a number, or a word."""
    try:
        return float(said)
    except ValueError:
        return said


def as_families(said: list[str]) -> Any:
    """Return {column: family} from COLUMN=FAMILY."""
    pairs = [each.rpartition("=") for each in said]
    for column, _, family in pairs:
        if not column or not family:
            raise UserError(f"--family is COLUMN=FAMILY, such as age=gaussian, not {(column or family)!r}")
    return {column: family for column, _, family in pairs} or "auto"


def fit(
    source: Source, target: str, output: str, settings: dict[str, Any], weight: str | None, drop: bool, json: bool
) -> None:
    """Learn a table and write the model."""
    from suffice.classifiers.bayes import BayesClassifier

    check_place(output)
    if stays_where_it_is(source.name):
        model: Any = BayesClassifier(**settings)
        model.fit_table(source.name, target, weight=weight, missing_target="drop" if drop else "error")
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
    matching.check_labels(frame[column])
    frame = matching.labelled(without_counter(frame, column), column, drop)
    tell_of_dates(frame.drop([column, *families], strict=False), column)
    model: Any = BayesClassifier(**settings)
    with words.working(f"learning {frame.height} rows"):
        model.fit_table(frame, column, weight=weighed)
    return model


def predict(name: str, source: Source, output: str, proba: bool, keep: bool, reject_below: float | None) -> None:
    """Write the label and the probabilities of each row."""
    import polars as pl

    check_place(output)
    model = load(name)
    frame = source.read(matching.hints_of(model, labelled=False))
    rows = rows_for(model, frame)
    columns: dict[str, Any] = {}
    settings = {} if reject_below is None else {"reject_below": reject_below}
    shares = [share_name(label) for label in model.classes_.tolist()] if proba else []
    if taken := [its for its in ("prediction", *shares) if keep and its in frame.columns]:
        raise UserError(f"{source.name} has a column {taken[0]!r} already: rename it, or leave out --keep")
    with words.working(f"predicting {frame.height} rows"):
        columns["prediction"] = model.predict(rows, **settings).tolist()
        found = model.predict_proba(rows) if proba else None
    if found is not None:
        columns |= {share: found[:, k] for k, share in enumerate(shares)}
    said = pl.DataFrame(columns)
    write_table(frame.hstack(said) if keep else said, output)


def evaluate(name: str, source: Source, target: str | None, drop: bool, json: bool) -> None:
    """Say how good a model is on rows with labels."""
    from suffice.decision.reliability import Reliability
    from suffice.validation.assessing import assessed

    model = load(name)
    X, y = _split(model, source, target, drop)
    known = model.classes_.tolist()
    codes = np.array([known.index(label) if label in known else -1 for label in y])
    with words.working(f"predicting {len(codes)} rows"):
        log_proba = model.predict_log_proba(rows_for(model, X))
    found = assessed(log_proba, codes)
    right, n = float(found.right.mean()), len(codes)
    low, high = _wilson(right, n)
    measured = {
        "rows": n,
        "accuracy": right,
        "accuracy_interval": [low, high],
        "log_loss": float(found.log_loss.mean()),
        "brier": float(found.brier.mean()),
        "calibration_error": float(Reliability.of(found.confidence, found.right).error),
    }
    said = log_proba.argmax(axis=1)
    confusion = {
        spoken(label): {spoken(other): int(((codes == k) & (said == j)).sum()) for j, other in enumerate(known)}
        for k, label in enumerate(known)
    }
    if (codes < 0).any():
        words.note(
            f"note: {int((codes < 0).sum())} rows have a label that the model has never met: they count as wrong"
        )
    if json:
        words.as_json(measured | {"confusion": confusion})
        return
    said_of = dict(measured) | {"accuracy": f"{right:.4f} (95 %: {low:.4f} to {high:.4f})"}
    said_of.pop("accuracy_interval")
    words.facts(f"{name} on {source.name}", said_of)
    lines = [[label, *counts.values()] for label, counts in confusion.items()]
    words.table(["true \\ said", *map(spoken, known)], lines)


def compare(source: Source, target: str, cv: int, output: str | None, drop: bool, json: bool) -> None:
    """Say which structure, rule and prior predicts best."""
    from suffice.selection.comparison import compare as compared

    check_place(output or "-")
    frame = source.read(Hints((target,)))
    column = target_of(frame, target, source.name)
    matching.check_labels(frame[column])
    frame = matching.labelled(without_counter(frame, column), column, drop)
    found = compared(frame.drop(column), frame[column].to_list(), cv=cv)
    if output is not None:
        found.best_.target_name_ = column
        if saved(found.best_, output) is None:
            return
    if json:
        words.as_json(found.table)
        return
    lines = []
    for place, line in enumerate(found.table):
        cells = [f"{line[name]:.3f} ± {line[name + '_se']:.3f}" for name in ("accuracy", "log_loss")]
        against = "best" if not place else "worse" if line["worse"] else "as good"
        lines.append([line["model"], *cells, f"{line['calibration_error']:.3f}", line["parameters"], against])
    title = f"{source.name}: {frame.height} rows, {cv} folds (as good: no real difference from the best)"
    words.table(("model", "accuracy", "log-loss", "ECE", "params", ""), lines, title)


def explain(name: str, source: Source, row: int, label: str | None, json: bool) -> None:
    """Say what each feature of a row adds."""
    model = load(name)
    _check_able(model, name, "explain", "takes no prediction apart")
    frame = source.read(matching.hints_of(model, labelled=False))
    if not 0 <= row < frame.height:
        raise UserError(f"there is no row {row}: {source.name} has {frame.height}, counted from 0")
    found = model.explain(rows_for(model, frame[row : row + 1]))
    named = {said: each for each in found.classes for said in (str(each), spoken(each))}
    if label is not None and label not in named:
        raise UserError(f"{label!r} is no class; there are {', '.join(map(spoken, found.classes))}")
    parts = found.log_odds(0, None if label is None else named[label])
    shares = {spoken(each): float(p) for each, p in zip(found.classes, np.exp(found.log_proba[0]), strict=True)}
    if json:
        listed = [{"feature": feature, "value": value, "nats": nats} for feature, value, nats in parts]
        words.as_json({"probabilities": shares, "contributions": listed, "sentence": found.sentence(0)})
        return
    words.facts("", {"row": row, **{f"p({each})": f"{p:.4f}" for each, p in shares.items()}})
    words.table(["feature", "value", "nats"], [[f, "" if v is None else v, f"{nats:+.3f}"] for f, v, nats in parts])
    words.facts("", {"": found.sentence(0)})


def report(name: str, source: Source | None, target: str | None, output: str, drop: bool) -> None:
    """Write the page."""
    from suffice.report import render

    check_place(output)
    model = load(name)
    X, y = (None, None) if source is None else _split(model, source, target, drop)
    with words.working("writing the page"):
        page = render(model, None if X is None else rows_for(model, X), y)
    if output == "-":
        sys.stdout.write(page)
        return
    Path(output).write_text(page, encoding="utf-8")
    words.facts("", {"written to": output})


def sql(name: str, dialect: str, table: str, output: str) -> None:
    """Write the model as one SELECT."""
    check_place(output)
    model = load(name)
    if not hasattr(model, "to_sql"):
        raise UserError(f"{name} is a {type(model).__name__}, which has no form in SQL; use suffice predict")
    statement = model.to_sql(dialect, table=table)
    if output == "-":
        sys.stdout.write(statement)
        return
    Path(output).write_text(statement, encoding="utf-8")
    words.facts("", {"written to": output})


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
    _check_able(model, name, "forget", f"cannot {what} rows: it is fitted anew")
    frame = source.read(matching.hints_of(model, target, weight))
    X, y = matching.split(model, frame, target, source.name, drop)
    X, weights = matching.weights_for(model, X, weight, source.name, what)
    rows, before = rows_for(model, X, grow=True), float(model.class_count_.sum())
    if what == "learn":
        model.partial_fit(rows, y, sample_weight=weights, decay=decay)
        if weight is not None and not hasattr(model, "weight_name_"):
            model.weight_name_ = weight
    else:
        model.forget(rows, y, sample_weight=weights)
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
    _check_able(total, names[0], "__add__", "has no sum")
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


def info(name: str, json: bool) -> None:
    """Say what a model is."""
    model = load(name)
    if json:
        words.as_json(facts_of(model))
    else:
        words.facts(name, shown(facts_of(model)))


def _check_able(model: Any, name: str, method: str, otherwise: str) -> None:
    """Raise if this kind of model cannot do what is asked."""
    if not hasattr(model, method):
        raise UserError(f"{name} is a {type(model).__name__}, which {otherwise}")


def _split(model: Any, source: Source, target: str | None, drop: bool) -> tuple[Any, list[Any]]:
    """Return rows and labels, of which some must be known."""
    frame = source.read(matching.hints_of(model, target))
    X, y = matching.split(model, frame, target, source.name, drop)
    matching.check_known(y, model.classes_.tolist(), target or str(matching.target_name(model)))
    return X, y


def _wilson(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    return max(middle - half, 0.0), min(middle + half, 1.0)
