"""The commands that tell what a model says, how well it does, and what it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from suffice.cli import matching, words
from suffice.cli.delimited import Hints
from suffice.cli.facts import facts_of, shown
from suffice.cli.files import target_of, without_counter
from suffice.cli.formats import check_place, write_table
from suffice.cli.matching import rows_for
from suffice.cli.opening import Source, check_able, load, saved, split
from suffice.cli.words import UserError
from suffice.data import share_name, spoken


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
    from suffice.folds.assessment import assessed, wilson

    model = load(name)
    X, y = split(model, source, target, drop)
    known = model.classes_.tolist()
    codes = np.array([known.index(label) if label in known else -1 for label in y])
    with words.working(f"predicting {len(codes)} rows"):
        log_proba = model.predict_log_proba(rows_for(model, X))
    found = assessed(log_proba, codes)
    right, n = float(found.right.mean()), len(codes)
    low, high = wilson(float(found.right.sum()), n)
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
    from suffice.evaluation.comparison import compare as compared

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
    check_able(model, name, "explain", "takes no prediction apart")
    frame = source.read(matching.hints_of(model, labelled=False))
    if not 0 <= row < frame.height:
        raise UserError(f"there is no row {row}: {source.name} has {frame.height}, counted from 0")
    found = model.explain(rows_for(model, frame[row : row + 1]))
    named = {said: each for each in found.classes for said in (str(each), spoken(each))}
    if label is not None and label not in named:
        raise UserError(f"{label!r} is no class; there are {', '.join(map(spoken, found.classes))}")
    asked = None if label is None else named[label]
    parts, sentence = found.log_odds(0, asked), found.sentence(0, label=asked)
    shares = {spoken(each): float(p) for each, p in zip(found.classes, np.exp(found.log_proba[0]), strict=True)}
    if json:
        listed = [{"feature": feature, "value": value, "nats": nats} for feature, value, nats in parts]
        words.as_json({"probabilities": shares, "contributions": listed, "sentence": sentence})
        return
    words.facts("", {"row": row, **{f"p({each})": f"{p:.4f}" for each, p in shares.items()}})
    words.table(["feature", "value", "nats"], [[f, "" if v is None else v, f"{nats:+.3f}"] for f, v, nats in parts])
    words.facts("", {"": sentence})


def report(name: str, source: Source | None, target: str | None, output: str, drop: bool) -> None:
    """Write the page."""
    from suffice.report import render

    check_place(output)
    model = load(name)
    X, y = (None, None) if source is None else split(model, source, target, drop)
    with words.working("writing the page"):
        page = render(model, None if X is None else rows_for(model, X), y)
    if output == "-":
        sys.stdout.write(page)
        return
    Path(output).write_text(page, encoding="utf-8")
    words.facts("", {"written to": output})


def sql(name: str, dialect: str, table: str, structure: str | None, output: str) -> None:
    """Write the model as one SELECT."""
    check_place(output)
    model = load(name)
    if not hasattr(model, "to_sql"):
        raise UserError(f"{name} is a {type(model).__name__}, which has no form in SQL; use suffice predict")
    if structure is not None:
        if "structure" not in model.get_params():
            raise UserError(f"{name} is a {type(model).__name__}, which has one structure only: leave out --structure")
        model.set_params(structure=structure)
    statement = model.to_sql(dialect, table=table)
    if output == "-":
        sys.stdout.write(statement)
        return
    Path(output).write_text(statement, encoding="utf-8")
    words.facts("", {"written to": output})


def info(name: str, json: bool) -> None:
    """Say what a model is."""
    model = load(name)
    if json:
        words.as_json(facts_of(model))
    else:
        words.facts(name, shown(facts_of(model)))
