"""The commands that use a model: predict, evaluate, compare, explain, report, sql, info and verify; and the demo."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from suffice.cli import output as out
from suffice.cli.command import (
    Bins,
    Dates,
    Drop,
    Families,
    Json,
    Model,
    OtherTarget,
    Output,
    TableOutput,
    Target,
    Yes,
    command,
)
from suffice.cli.export_notes import announce_size, change_structure
from suffice.cli.model_files import load_model, model_file, save_model
from suffice.cli.option_values import parse_families
from suffice.cli.output import CommandError, check_output
from suffice.printable import signed

if TYPE_CHECKING:
    from suffice.data.files.table_file import TableFile


@command("suffice predict income.suffice new.csv -o out.csv")
def predict(
    model: Model,
    table: TableFile,
    output: TableOutput = "-",
    proba: Annotated[bool, typer.Option(help="Write the probability of each class.")] = True,
    keep: Annotated[bool, typer.Option(help="Write the columns of the file as well.")] = False,
    reject_below: Annotated[
        float | None, typer.Option(help="Leave the prediction empty when no class reaches this probability.")
    ] = None,
    safe_csv: Annotated[
        bool, typer.Option("--safe-csv", help="Put an apostrophe before text that a spreadsheet takes for a formula.")
    ] = False,
) -> None:
    """Predict the label of each row."""
    import polars as pl

    from suffice.cli.model_rows import names_of_parts, read_unlabelled, select_features
    from suffice.data import probability_name

    check_output(output or "-")
    learned = load_model(model)
    frame = read_unlabelled(learned, table)
    X = select_features(learned, frame)
    shares = [probability_name(label) for label in learned.classes_.tolist()] if proba else []
    if taken := [column for column in ("prediction", *shares) if keep and column in frame.columns]:
        raise CommandError(f"{table.shown} has a column {taken[0]!r} already: rename it, or leave out --keep")
    settings = {} if reject_below is None else {"reject_below": reject_below}
    with out.show_work(f"predicting {frame.height} rows"):
        columns: dict[str, Any] = {"prediction": learned.predict(X, **settings).tolist()}
        if proba:
            columns |= dict(zip(shares, learned.predict_proba(X).T, strict=True))
    predictions = pl.DataFrame(columns)
    predictions = frame.drop(names_of_parts(learned), strict=False).hstack(predictions) if keep else predictions
    out.write_table(out.quote_formulas(predictions, output or "-") if safe_csv else predictions, output or "-")


@command("suffice evaluate income.suffice test.csv")
def evaluate(
    model: Model, table: TableFile, target: OtherTarget = None, drop_unlabelled: Drop = False, json: Json = False
) -> None:
    """Measure how well a model predicts rows whose labels are known."""
    import numpy as np
    from sklearn.metrics import confusion_matrix

    from suffice.cli import measured_rows
    from suffice.cli.model_rows import read_labelled
    from suffice.data import label_text
    from suffice.folds.assessment import wilson_interval

    learned = load_model(model)
    X, y = read_labelled(learned, table, target, drop_unlabelled)
    classes, names = learned.classes_.tolist(), [label_text(label) for label in learned.classes_.tolist()]
    codes = np.array([classes.index(label) if label in classes else -1 for label in y])
    with out.show_work(f"predicting {len(codes)} rows"):
        log_proba = learned.predict_log_proba(X)
    predicted = log_proba.argmax(axis=1)
    found = measured_rows.measure_rows(learned, log_proba, codes)
    by_class = measured_rows.score_classes(classes, codes, predicted)
    counts = confusion_matrix(codes, predicted, labels=range(len(classes))).tolist()
    unknown = int((codes < 0).sum())
    if unknown:
        out.print_note(f"note: {unknown} rows have a label that the model does not know: they count as wrong")
    is_training = not unknown and _note_training_rows(learned, X, y)
    if json:
        values = {name: each["value"] for name, each in found.items()}
        interval = wilson_interval(float((predicted == codes).sum()), len(codes))
        values |= {"accuracy_interval": list(interval), "are_training_rows": bool(is_training)}
        baseline = {name: each["baseline"] for name, each in found.items()}
        confusion = {name: dict(zip(names, line, strict=True)) for name, line in zip(names, counts, strict=True)}
        parts = {"baseline": baseline, "classes": by_class, "confusion": confusion}
        out.print_json({"rows": len(codes), **values, **parts})
        return
    out.print_text(f"{model} on {table.shown}: {len(codes):,} rows")
    out.print_text("±: half of a 95 % interval; baseline: always predicts the class frequencies")
    out.print_table(("metric", "value", "baseline"), measured_rows.format_metrics(found))
    scores = ("recall", "precision", "f1")
    lines = [
        [name, f"{its['rows']:,}", *("" if its[key] != its[key] else f"{its[key]:.3f}" for key in scores)]
        for name, its in by_class.items()
    ]
    out.print_table(("class", "rows", "recall", "precision", "F1"), lines)
    out.print_table(*measured_rows.format_confusion(names, counts))


def _note_training_rows(model: Any, X: Any, y: Any) -> bool:
    """Return whether rows are those that a model was fitted to, and print a note if they are."""
    is_training = hasattr(model, "has_learned") and bool(model.has_learned(X, y))
    if is_training:
        out.print_note(
            "note: these are the rows that the model was fitted to, so all figures are too good: use other rows, or "
            "suffice compare, which holds rows out"
        )
    return is_training


@command("suffice compare train.csv --target income")
def compare(
    table: TableFile,
    target: Target,
    cv: Annotated[int, typer.Option(help="Number of folds of shuffled rows.")] = 10,
    repeats: Annotated[
        int, typer.Option(help="Number of times that the rows are shuffled and divided into folds.")
    ] = 1,
    scoring: Annotated[
        list[str] | None,
        typer.Option(help="Metric, such as neg_log_loss or roc_auc. May be repeated; the first one sorts the table."),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="Largest difference that does not matter; by default 0.01, and 0.005 for the Brier score."),
    ] = None,
    family: Families = None,
    bins: Bins = None,
    yes: Yes = False,
    dates: Dates = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="File for the best model.")] = None,
    drop_unlabelled: Drop = False,
    json: Json = False,
) -> None:
    """Compare structures, estimates and priors by cross-validation. The default pool is one of them."""
    from suffice.cli.model_rows import find_column, open_table, read_frame, remember_reading
    from suffice.cli.target_classes import check_several_classes, read_target
    from suffice.data import split_frame
    from suffice.data.engines.source import check_target_type
    from suffice.data.files.table_file import training_hints
    from suffice.evaluation.comparison import compare as compare_models

    check_output(output or "-")
    families = parse_families(family or [])
    source = open_table(table, training_hints(target, None, families), dates)
    column, frame = find_column(source, target), read_frame(source)
    check_target_type(column, frame[column].dtype)
    frame, cuts = read_target(source, column, frame, bins, yes)
    X, y, _ = split_frame(frame, column, None, "drop" if drop_unlabelled else "error")
    check_several_classes(sorted(set(y.tolist()), key=str), column)
    settings: dict[str, Any] = {"families": families or "auto", "scoring": scoring or None, "margin": margin}
    comparison = compare_models(X, y.tolist(), cv=cv, repeats=repeats, **settings)
    if output is not None:
        comparison.best_.target_name_ = column
        remember_reading(comparison.best_, source, cuts)
        if save_model(comparison.best_, output) is None:
            return
    if json:
        out.print_json([*comparison.table, comparison.baseline])
        return
    out.print_text(f"{table.shown}\n\n{comparison}")


@command("suffice explain income.suffice new.csv --row 3")
def explain(
    model: Model,
    table: TableFile,
    row: Annotated[int, typer.Option(help="Row number, counted from 0.")] = 0,
    label: Annotated[str | None, typer.Option(help="Label to explain; by default the most probable.")] = None,
    json: Json = False,
) -> None:
    """Show what each feature of a row contributes to the prediction."""
    import numpy as np

    from suffice.cli.model_rows import read_unlabelled, select_features
    from suffice.data import label_text
    from suffice.explain import CALIBRATION, PRIOR

    learned = load_model(model, "explain", "has no explanations")
    frame = read_unlabelled(learned, table)
    if not 0 <= row < frame.height:
        raise CommandError(f"there is no row {row}: {table.shown} has {frame.height}, counted from 0")
    explanation = learned.explain(select_features(learned, frame[row : row + 1]))
    names = [label_text(each) for each in explanation.classes]
    by_name = {text: each for each in explanation.classes for text in (str(each), label_text(each))}
    if label is not None and label not in by_name:
        raise CommandError(f"{label!r} is not a class; there are {', '.join(names)}")
    chosen = None if label is None else by_name[label]
    parts, sentence = explanation.log_odds(0, chosen), explanation.sentence(0, label=chosen)
    shares = dict(zip(names, np.exp(explanation.log_proba[0]).tolist(), strict=True))
    if json:
        listed = [dict(zip(("feature", "value", "nats"), part, strict=True)) for part in parts]
        out.print_json({"probabilities": shares, "contributions": listed, "sentence": sentence})
        return
    out.print_facts("", {"row": row, **{f"p({each})": f"{p:.4f}" for each, p in shares.items()}})
    cells = [("" if f in (PRIOR, CALIBRATION) else "(missing)") if v is None else v for f, v, _ in parts]
    lines = [[f, cell, signed(nats, 3)] for (f, _, nats), cell in zip(parts, cells, strict=True)]
    out.print_table(["feature", "value", "nats"], lines)
    out.print_text(fill(sentence, out.WIDTH))


@command("suffice report income.suffice --data test.csv -o report.html")
def report(
    models: Annotated[
        list[str],
        typer.Argument(help="A model file; of several, the first is described and all are compared.", metavar="MODEL"),
    ],
    data: Annotated[str | None, typer.Option(help="File of rows with labels, to measure the model on.")] = None,
    target: OtherTarget = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="HTML file to write; - is standard output.")
    ] = "report.html",
    drop_unlabelled: Drop = False,
) -> None:
    """Write an HTML report on a model. Several models are compared."""
    from suffice.cli.model_rows import read_labelled
    from suffice.report import render

    check_output(output)
    if len(models) > 1 and data is None:
        raise CommandError("several models are compared by their predictions of the same rows: name a file with --data")
    stems = [Path(name).stem for name in models]
    names = models if len(set(stems)) < len(stems) else stems
    learned, X, y = {name: load_model(model) for name, model in zip(names, models, strict=True)}, None, None
    if data is not None:
        first = learned[names[0]]
        X, y = read_labelled(first, cast("TableFile", data), target, drop_unlabelled)  # see `command`
        if set(y) <= set(first.classes_.tolist()):
            _note_training_rows(first, X, y)
    with out.show_work("writing the report"):
        page = render(learned, X, y)
    out.write_text(page, output)


@command("suffice sql income.suffice --dialect postgres --table people -o score.sql")
def sql(
    model: Model,
    dialect: Annotated[
        str,
        typer.Option(help="duckdb, postgres, sqlite, spark, bigquery, snowflake, mysql, tsql or clickhouse."),
    ] = "duckdb",
    scored: Annotated[str, typer.Option("--table", help="Table to score, such as people or shop.people.")] = "rows",
    style: Annotated[
        str,
        typer.Option(
            help="select: one SELECT; tables: a script with tables of parameters and a view; auto: select if small."
        ),
    ] = "auto",
    prefix: Annotated[
        str, typer.Option(help="Name of the view, and the beginning of the names of the tables of parameters.")
    ] = "suffice_model",
    view: Annotated[bool, typer.Option(help="End the script with CREATE VIEW, or with the SELECT itself.")] = True,
    structure: Annotated[
        str | None, typer.Option(help="Use the model as naive, tree or averaged, if its counts allow it.")
    ] = None,
    output: Output = "-",
) -> None:
    """Write a model as SQL that scores a table in a database."""
    check_output(output or "-")
    learned = load_model(model, "to_sql", "cannot be written as SQL; use suffice predict")
    change_structure(learned, structure, model)
    text = announce_size(
        lambda: str(learned.to_sql(dialect, table=scored, style=cast("Any", style), prefix=prefix, view=view)),
        learned,
        "the SQL" if output in (None, "-") else str(output),
    )
    out.write_text(text, output or "-")


@command("suffice info income.suffice")
def info(model: Model, json: Json = False) -> None:
    """Show what a model file holds."""
    from suffice.cli.model_summary import print_summary

    print_summary(load_model(model), model, json)


@command("suffice verify income.suffice")
def verify(
    model: Model,
    receipt: Annotated[
        str | None, typer.Option(help="Receipt of `suffice forget`: check that the model is the one after forgetting.")
    ] = None,
    json: Json = False,
) -> None:
    """Check the digest, the content and the counts of a model file. The exit code is 1 if something is wrong."""
    from suffice.classifiers.verification import verify_file

    with model_file(model) as path:
        found = verify_file(path, receipt)
    if json:
        out.print_json(found.to_dict())
    else:
        lines = [
            [check.what, "ok" if check.problem is None else "wrong", check.problem or ""] for check in found.checks
        ]
        out.print_table(["check", "result", "problem"], lines, f"{model}: {'ok' if found.is_ok else 'wrong'}")
    if not found.is_ok:
        raise typer.Exit(1)


@command("suffice demo")
def demo(
    output: Annotated[str, typer.Option("--output", "-o", help="HTML file to write.")] = "digits.html",
) -> None:
    """Fit models of handwritten digits. They go from naive to full dependence; the page recognises drawn digits."""
    from suffice.demo import main as run_demo

    run_demo(output)
