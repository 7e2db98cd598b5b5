"""The commands that use a model: predict, evaluate, compare, explain, report, sql and info."""

from typing import Any

import numpy as np

from suffice.cli.model_rows import find_column, hints_from, open_table, read_frame, read_labelled, select_features
from suffice.cli.model_summary import format_summary, summarize_model
from suffice.cli.output import (
    CommandError,
    check_output,
    print_facts,
    print_json,
    print_note,
    print_table,
    show_work,
    write_table,
    write_text,
)
from suffice.cli.train_commands import load_model, require_method, save_model
from suffice.data import label_text, probability_name, split_frame
from suffice.data.engines.source import check_target_type
from suffice.data.files.table_file import ColumnHints, TableFile


def predict(name: str, table: TableFile, output: str, proba: bool, keep: bool, reject_below: float | None) -> None:
    """Write the label and the class probabilities of each row."""
    import polars as pl

    check_output(output)
    model = load_model(name)
    frame = read_frame(open_table(table, hints_from(model, labels=False)))
    X = select_features(model, frame)
    shares = [probability_name(label) for label in model.classes_.tolist()] if proba else []
    if taken := [column for column in ("prediction", *shares) if keep and column in frame.columns]:
        raise CommandError(f"{table.path} has a column {taken[0]!r} already: rename it, or leave out --keep")
    settings = {} if reject_below is None else {"reject_below": reject_below}
    with show_work(f"predicting {frame.height} rows"):
        columns: dict[str, Any] = {"prediction": model.predict(X, **settings).tolist()}
        if proba:
            columns |= dict(zip(shares, model.predict_proba(X).T, strict=True))
    predictions = pl.DataFrame(columns)
    write_table(frame.hstack(predictions) if keep else predictions, output)


def evaluate(name: str, table: TableFile, target: str | None, drop: bool, json: bool) -> None:
    """Print how well a model predicts rows with known labels."""
    from suffice.decision.reliability import Reliability
    from suffice.folds.assessment import assess_predictions, wilson_interval

    model = load_model(name)
    X, y = read_labelled(model, table, target, drop)
    classes = model.classes_.tolist()
    codes = np.array([classes.index(label) if label in classes else -1 for label in y])
    with show_work(f"predicting {len(codes)} rows"):
        log_proba = model.predict_log_proba(X)
    assessment = assess_predictions(log_proba, codes)
    accuracy, n = float(assessment.right.mean()), len(codes)
    low, high = wilson_interval(float(assessment.right.sum()), n)
    measures = {
        "rows": n,
        "accuracy": accuracy,
        "accuracy_interval": [low, high],
        "log_loss": float(assessment.log_loss.mean()),
        "brier": float(assessment.brier.mean()),
        "calibration_error": float(Reliability.of(assessment.confidence, assessment.right).error),
    }
    predicted = log_proba.argmax(axis=1)
    confusion = {
        label_text(label): {
            label_text(other): int(((codes == k) & (predicted == j)).sum()) for j, other in enumerate(classes)
        }
        for k, label in enumerate(classes)
    }
    if (codes < 0).any():
        print_note(
            f"note: {int((codes < 0).sum())} rows have a label that the model does not know: they count as wrong"
        )
    if json:
        print_json(measures | {"confusion": confusion})
        return
    shown = dict(measures) | {"accuracy": f"{accuracy:.4f} (95 %: {low:.4f} to {high:.4f})"}
    shown.pop("accuracy_interval")
    print_facts(f"{name} on {table.path}", shown)
    lines = [[label, *counts.values()] for label, counts in confusion.items()]
    print_table(["true \\ predicted", *map(label_text, classes)], lines)


def compare(table: TableFile, target: str, cv: int, output: str | None, drop: bool, json: bool) -> None:
    """Print which structure, estimate and prior predicts best."""
    from suffice.evaluation.comparison import compare as compare_models

    check_output(output or "-")
    source = open_table(table, ColumnHints((target,)))
    column, frame = find_column(source, target), read_frame(source)
    check_target_type(column, frame[column].dtype)
    X, y, _ = split_frame(frame, column, None, "drop" if drop else "error")
    comparison = compare_models(X, y.tolist(), cv=cv)
    if output is not None:
        comparison.best_.target_name_ = column
        if save_model(comparison.best_, output) is None:
            return
    if json:
        print_json(comparison.table)
        return
    lines = []
    for place, line in enumerate(comparison.table):
        cells = [f"{line[name]:.3f} ± {line[name + '_se']:.3f}" for name in ("accuracy", "log_loss")]
        against = "best" if not place else "worse" if line["worse"] else "as good"
        lines.append([line["model"], *cells, f"{line['calibration_error']:.3f}", line["parameters"], against])
    title = f"{table.path}: {len(y)} rows, {cv} folds (as good: no significant difference from the best)"
    print_table(("model", "accuracy", "log-loss", "ECE", "params", ""), lines, title)


def explain(name: str, table: TableFile, row: int, label: str | None, json: bool) -> None:
    """Print what each feature of a row contributes to the prediction."""
    model = load_model(name)
    require_method(model, name, "explain", "has no explanations")
    frame = read_frame(open_table(table, hints_from(model, labels=False)))
    if not 0 <= row < frame.height:
        raise CommandError(f"there is no row {row}: {table.path} has {frame.height}, counted from 0")
    explanation = model.explain(select_features(model, frame[row : row + 1]))
    by_name = {text: each for each in explanation.classes for text in (str(each), label_text(each))}
    if label is not None and label not in by_name:
        raise CommandError(f"{label!r} is not a class; there are {', '.join(map(label_text, explanation.classes))}")
    chosen = None if label is None else by_name[label]
    parts, sentence = explanation.log_odds(0, chosen), explanation.sentence(0, label=chosen)
    probabilities = np.exp(explanation.log_proba[0])
    shares = {label_text(each): float(p) for each, p in zip(explanation.classes, probabilities, strict=True)}
    if json:
        listed = [{"feature": feature, "value": value, "nats": nats} for feature, value, nats in parts]
        print_json({"probabilities": shares, "contributions": listed, "sentence": sentence})
        return
    print_facts("", {"row": row, **{f"p({each})": f"{p:.4f}" for each, p in shares.items()}})
    print_table(["feature", "value", "nats"], [[f, "" if v is None else v, f"{nats:+.3f}"] for f, v, nats in parts])
    print_facts("", {"": sentence})


def report(name: str, table: TableFile | None, target: str | None, output: str, drop: bool) -> None:
    """Write the HTML report of a model."""
    from suffice.report import render

    check_output(output)
    model = load_model(name)
    X, y = (None, None) if table is None else read_labelled(model, table, target, drop)
    with show_work("writing the report"):
        page = render(model, X, y)
    write_text(page, output)


def sql(name: str, dialect: str, table: str, structure: str | None, output: str) -> None:
    """Write a model as one SELECT statement."""
    check_output(output)
    model = load_model(name)
    require_method(model, name, "to_sql", "cannot be written as SQL; use suffice predict")
    if structure is not None:
        if "structure" not in model.get_params():
            raise CommandError(
                f"{name} is a {type(model).__name__}, which has one structure only: leave out --structure"
            )
        model.set_params(structure=structure)
    write_text(model.to_sql(dialect, table=table), output)


def info(name: str, json: bool) -> None:
    """Print the summary of a model."""
    summary = summarize_model(load_model(name))
    if json:
        print_json(summary)
    else:
        print_facts(name, format_summary(summary))
