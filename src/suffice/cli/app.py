"""The commands and their options. Exit codes: 0 for success, 1 for wrong files or data, 2 for a wrong command."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from suffice.cli.output import CommandError, print_note, translate_settings

if TYPE_CHECKING:
    from suffice.data.files.table_file import TableFile

app = typer.Typer(
    help="Generative classifiers on sufficient statistics: everything learned is a sum.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Model = Annotated[str, typer.Argument(help="A model file, as `suffice fit -o` writes it.", metavar="MODEL")]
File = Annotated[
    str,
    typer.Argument(
        help="A file, folder or glob of CSV, Parquet, Arrow or JSON lines (.gz and .zst too); - is standard input.",
        metavar="FILE",
    ),
]
Target = Annotated[
    str, typer.Option("--target", "-t", help="Column of labels: its name, or its position (0, 1, …, -1).")
]
OtherTarget = Annotated[
    str | None, typer.Option("--target", "-t", help="Column of labels, if it is not the one of the model.")
]
Output = Annotated[str | None, typer.Option("--output", "-o", help="File to write; - is standard output.")]
ModelOutput = Annotated[str, typer.Option("--output", "-o", help="Model file to write; - is standard output.")]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether line 1 of a CSV file names the columns.")
]
Delimiter = Annotated[
    str | None, typer.Option(help="Character between the cells of a CSV file, or tab. By default it is detected.")
]
Weight = Annotated[str | None, typer.Option(help="Column of row weights; by default the one of the model, if any.")]
Drop = Annotated[bool, typer.Option("--drop-unlabelled", help="Leave out rows without a label.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

# A parameter `table` stands for the argument FILE and the options of CSV files; every command has --debug.
TABLE_OPTIONS = {"header": Header, "delimiter": Delimiter}


def command(example: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command: add shared options, put an example into its help, and print errors as one line."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(*, debug: bool, **given: Any) -> None:
            try:
                with warnings.catch_warnings():
                    warnings.showwarning = lambda message, *_, **__: print_note(
                        f"note: {translate_settings(str(message))}"
                    )
                    # a command may call the library twice, for labels and for probabilities
                    warnings.simplefilter("once", UserWarning)
                    function(**_with_table(given))
                sys.stdout.flush()
            except BrokenPipeError:
                # the reader of the output has closed it; discard the rest
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                raise typer.Exit(0) from None
            except (typer.Exit, typer.Abort):
                raise
            except Exception as error:
                if debug:
                    raise
                is_expected = isinstance(error, (CommandError, ValueError, OSError, TypeError, ImportError))
                message = translate_settings(str(error)) if is_expected and str(error) else _describe(error)
                print_note(f"error: {message}")
                raise typer.Exit(1) from None

        parameters = _expand_parameters(function)
        run.__signature__ = signature(run).replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        run.__doc__ = f"{function.__doc__}\n\n\b\nExample:\n  {example}"
        return app.command(name=function.__name__.strip("_"))(run)

    return register


def _expand_parameters(function: Callable[..., None]) -> list[Parameter]:
    """Return the parameters of a command, with the shared options."""
    hints = get_type_hints(function, {**globals(), "TableFile": str}, include_extras=True)
    parameters = []
    for parameter in signature(function).parameters.values():
        name, annotation = ("file", File) if parameter.name == "table" else (parameter.name, hints[parameter.name])
        parameters.append(parameter.replace(name=name, annotation=annotation, kind=Parameter.KEYWORD_ONLY))
    shared: dict[str, Any] = {"debug": (Debug, False)}
    if any(parameter.name == "file" for parameter in parameters):
        shared = {name: (annotation, None) for name, annotation in TABLE_OPTIONS.items()} | shared
    return parameters + [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
        for name, (annotation, default) in shared.items()
    ]


def _with_table(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a command with the file and its options as one value."""
    if "file" not in given:
        return given
    from suffice.data.files.table_file import TableFile

    rest = {name: value for name, value in given.items() if name not in ("file", *TABLE_OPTIONS)}
    return rest | {"table": TableFile(given["file"], given["header"], given["delimiter"])}


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}; --debug shows where"


def _parse_prior(text: str) -> float | str:
    """Return a prior: a number, or a word."""
    try:
        return float(text)
    except ValueError:
        return text


def _parse_families(texts: list[str]) -> Any:
    """Return {column: family} from COLUMN=FAMILY."""
    pairs = [each.rpartition("=") for each in texts]
    for column, _, family in pairs:
        if not column or not family:
            raise CommandError(f"--family is COLUMN=FAMILY, such as age=gaussian, not {(column or family)!r}")
    return {column: family for column, _, family in pairs} or "auto"


@command("suffice fit train.csv --target income -o income.suffice")
def fit(
    table: TableFile,
    target: Target,
    output: ModelOutput = "model.suffice",
    structure: Annotated[str, typer.Option(help="auto, naive, chain, tree, averaged, full or joint.")] = "auto",
    numeric: Annotated[str, typer.Option(help="Model of numbers: auto, gaussian, quantiles or mdl.")] = "auto",
    estimate: Annotated[str, typer.Option(help="mle, map, mean or predictive.")] = "mean",
    prior: Annotated[str, typer.Option(help="A pseudo-count, or auto.")] = "0.5",
    family: Annotated[
        list[str] | None, typer.Option(help="COLUMN=FAMILY, such as age=gaussian; may be repeated.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    calibrate: Annotated[str | None, typer.Option(help="temperature, vector or isotonic.")] = None,
    unseen: Annotated[str, typer.Option(help="Levels never met: share (of probability) or ignore.")] = "share",
    drop_unlabelled: Drop = False,
    json: Json = False,
) -> None:
    """Fit a model to a table and write it to a file."""
    from suffice.cli import train_commands

    settings: dict[str, Any] = {"structure": structure, "numeric": numeric, "estimate": estimate, "unseen": unseen}
    settings |= {"prior": _parse_prior(prior), "families": _parse_families(family or []), "calibrate": calibrate}
    train_commands.fit(table, target, output, settings, weight, drop_unlabelled, json)


@command("suffice predict income.suffice new.csv -o out.csv")
def predict(
    model: Model,
    table: TableFile,
    output: Output = "-",
    proba: Annotated[bool, typer.Option(help="Write the probability of each class.")] = True,
    keep: Annotated[bool, typer.Option(help="Write the columns of the file, too.")] = False,
    reject_below: Annotated[
        float | None, typer.Option(help="Leave the prediction empty when no class reaches this probability.")
    ] = None,
) -> None:
    """Predict the label of each row."""
    from suffice.cli import predict_commands

    predict_commands.predict(model, table, output or "-", proba, keep, reject_below)


@command("suffice evaluate income.suffice test.csv")
def evaluate(
    model: Model, table: TableFile, target: OtherTarget = None, drop_unlabelled: Drop = False, json: Json = False
) -> None:
    """Measure how well a model predicts rows whose labels are known."""
    from suffice.cli import predict_commands

    predict_commands.evaluate(model, table, target, drop_unlabelled, json)


@command("suffice compare train.csv --target income")
def compare(
    table: TableFile,
    target: Target,
    cv: Annotated[int, typer.Option(help="Number of folds.")] = 10,
    output: Annotated[str | None, typer.Option("--output", "-o", help="File for the best model.")] = None,
    drop_unlabelled: Drop = False,
    json: Json = False,
) -> None:
    """Compare structures, estimates and priors by cross-validation."""
    from suffice.cli import predict_commands

    predict_commands.compare(table, target, cv, output, drop_unlabelled, json)


@command("suffice explain income.suffice new.csv --row 3")
def explain(
    model: Model,
    table: TableFile,
    row: Annotated[int, typer.Option(help="Row number, counted from 0.")] = 0,
    label: Annotated[str | None, typer.Option(help="Label to explain; by default the most probable.")] = None,
    json: Json = False,
) -> None:
    """Show what each feature of a row contributes to the prediction."""
    from suffice.cli import predict_commands

    predict_commands.explain(model, table, row, label, json)


@command("suffice report income.suffice --data test.csv -o report.html")
def report(
    model: Model,
    data: Annotated[str | None, typer.Option(help="File of rows with labels, to measure the model on.")] = None,
    target: OtherTarget = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="HTML file to write; - is standard output.")
    ] = "report.html",
    drop_unlabelled: Drop = False,
    header: Header = None,
    delimiter: Delimiter = None,
) -> None:
    """Write an interactive HTML report about a model."""
    from suffice.cli import predict_commands
    from suffice.data.files.table_file import TableFile

    table = None if data is None else TableFile(data, header, delimiter)
    predict_commands.report(model, table, target, output, drop_unlabelled)


@command("suffice sql income.suffice --dialect postgres --table people -o score.sql")
def sql(
    model: Model,
    dialect: Annotated[str, typer.Option(help="duckdb, postgres, sqlite, spark, bigquery or snowflake.")] = "duckdb",
    scored: Annotated[str, typer.Option("--table", help="Table to score, such as people or shop.people.")] = "rows",
    structure: Annotated[
        str | None, typer.Option(help="Use the model as tree or naive: an averaged model has no SQL.")
    ] = None,
    output: Output = "-",
) -> None:
    """Write a model as SQL that scores a table in a database."""
    from suffice.cli import predict_commands

    predict_commands.sql(model, dialect, scored, structure, output or "-")


@command("suffice learn income.suffice more.csv")
def learn(
    model: Model,
    table: TableFile,
    target: OtherTarget = None,
    output: Output = None,
    decay: Annotated[
        float | None, typer.Option(help="Factor from 0 to 1 for the rows learned before; by default 1.")
    ] = None,
    weight: Weight = None,
    drop_unlabelled: Drop = False,
    json: Json = False,
) -> None:
    """Add rows to a model."""
    from suffice.cli import train_commands

    train_commands.learn(model, table, target, output, json, weight, drop_unlabelled, decay)


@command("suffice forget income.suffice deleted.csv")
def forget(
    model: Model,
    table: TableFile,
    target: OtherTarget = None,
    output: Output = None,
    receipt: Annotated[str | None, typer.Option(help="JSON file to write: digests of the model and the rows.")] = None,
    weight: Weight = None,
    drop_unlabelled: Drop = False,
    json: Json = False,
) -> None:
    """Remove rows from a model."""
    from suffice.cli import train_commands

    train_commands.forget(model, table, target, output, json, weight, drop_unlabelled, receipt)


@command("suffice merge monday.suffice tuesday.suffice -o week.suffice")
def merge(
    models: Annotated[list[str], typer.Argument(help="Two model files or more.", metavar="MODEL...")],
    output: ModelOutput,
    json: Json = False,
) -> None:
    """Merge models into the model of all their rows."""
    from suffice.cli import train_commands

    train_commands.merge(models, output, json)


@command("suffice info income.suffice")
def info(model: Model, json: Json = False) -> None:
    """Show what a model file holds."""
    from suffice.cli import predict_commands

    predict_commands.info(model, json)


@command("suffice demo")
def demo(
    output: Annotated[str, typer.Option("--output", "-o", help="HTML file to write.")] = "digits.html",
) -> None:
    """Fit models of handwritten digits, from naive to full dependence, and write a page to draw on."""
    from suffice.demo import main as run_demo

    run_demo(output)


def _print_version(asked: bool) -> None:
    if asked:
        from suffice import __version__

        typer.echo(f"suffice {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Generative classifiers on sufficient statistics: everything learned is a sum."""


def main() -> None:
    """Run the command line."""
    app(prog_name="suffice")
