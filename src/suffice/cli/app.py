"""The commands, and how they end: 0 if all went well, 1 if files or data are wrong, 2 if the command is."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from suffice.cli.words import UserError, as_typed, note

app = typer.Typer(
    help="Generative classifiers on sufficient statistics: everything learned is a sum.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Model = Annotated[str, typer.Argument(help="A model file, as `suffice fit -o` writes it.", metavar="MODEL")]
Rows = Annotated[
    str, typer.Argument(help="CSV, Parquet, Feather or JSON lines (.gz too); - is standard input.", metavar="FILE")
]
Target = Annotated[
    str, typer.Option("--target", "-t", help="The column of labels: its name, or its place (0, 1, …, -1).")
]
Other = Annotated[str | None, typer.Option("--target", "-t", help="The column of labels, if not the one learned.")]
Output = Annotated[str | None, typer.Option("--output", "-o", help="Where to write to; - is standard output.")]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether a CSV names its columns (else: found out).")
]
Delimiter = Annotated[
    str | None, typer.Option(help="What separates the cells of a CSV: a character, or tab (else: found out).")
]
Weight = Annotated[str | None, typer.Option(help="A column with the weight of each row, if not the one learned.")]
Drop = Annotated[bool, typer.Option("--drop-unlabelled", help="Leave out rows without a label.")]
Json = Annotated[bool, typer.Option("--json", help="Say it as JSON, for machines.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where in the code an error comes from.", hidden=False)]


def command(example: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command, with an example in its help, whose errors are one line."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(*given: Any, debug: bool = False, **named: Any) -> None:
            try:
                with warnings.catch_warnings():
                    warnings.showwarning = lambda message, *_, **__: note(f"note: {as_typed(str(message))}")
                    # a command may ask the same twice, for labels and for probabilities: it is said once
                    warnings.simplefilter("once", UserWarning)
                    function(*given, debug=debug, **named)
                sys.stdout.flush()
            except BrokenPipeError:
                # whoever reads has had enough; what is left to say goes nowhere
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                raise typer.Exit(0) from None
            except (typer.Exit, typer.Abort):
                raise
            except Exception as error:
                if debug:
                    raise
                known = isinstance(error, (UserError, ValueError, OSError, TypeError, ImportError)) and str(error)
                strange = f"{type(error).__name__}: {error}; --debug shows where"
                note(f"error: {as_typed(str(error)) if known else strange}")
                raise typer.Exit(1) from None

        run.__doc__ = f"{function.__doc__}\n\n\b\nExample:\n  {example}"
        return app.command(name=function.__name__.strip("_"))(run)

    return register


@command("suffice fit train.csv --target income -o income.suffice")
def fit(
    file: Rows,
    target: Target,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The model file; - is standard output.")
    ] = "model.suffice",
    structure: Annotated[str, typer.Option(help="auto, naive, chain, tree, averaged, full or joint.")] = "auto",
    numeric: Annotated[str, typer.Option(help="Numbers: auto, gaussian, quantiles or mdl.")] = "auto",
    estimate: Annotated[str, typer.Option(help="mle, map, mean or predictive.")] = "mean",
    prior: Annotated[str, typer.Option(help="A pseudo-count, or auto.")] = "0.5",
    family: Annotated[
        list[str] | None, typer.Option(help="COLUMN=FAMILY, such as age=gaussian; may be repeated.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="A column with the weight of each row.")] = None,
    calibrate: Annotated[str | None, typer.Option(help="temperature, vector or isotonic.")] = None,
    drop_unlabelled: Drop = False,
    header: Header = None,
    delimiter: Delimiter = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Learn a table, and write the model to a file."""
    from suffice.cli import learning, opening

    settings = {"structure": structure, "numeric": numeric, "estimate": estimate, "calibrate": calibrate}
    settings |= {"prior": opening.as_prior(prior), "families": opening.as_families(family or [])}
    source = opening.Source(file, header, delimiter)
    learning.fit(source, target, output, settings, weight, drop_unlabelled, json)


@command("suffice predict income.suffice new.csv -o out.csv")
def predict(
    model: Model,
    file: Rows,
    output: Output = "-",
    proba: Annotated[bool, typer.Option(help="Write the probability of each class, too.")] = True,
    keep: Annotated[bool, typer.Option(help="Write the rows, too.")] = False,
    reject_below: Annotated[float | None, typer.Option(help="Say nothing where no class is as probable.")] = None,
    header: Header = None,
    delimiter: Delimiter = None,
    debug: Debug = False,
) -> None:
    """Predict the label of each row."""
    from suffice.cli import opening, telling

    telling.predict(model, opening.Source(file, header, delimiter), output or "-", proba, keep, reject_below)


@command("suffice evaluate income.suffice test.csv")
def evaluate(
    model: Model,
    file: Rows,
    target: Other = None,
    drop_unlabelled: Drop = False,
    header: Header = None,
    delimiter: Delimiter = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Say how well a model predicts rows whose labels are known."""
    from suffice.cli import opening, telling

    telling.evaluate(model, opening.Source(file, header, delimiter), target, drop_unlabelled, json)


@command("suffice compare train.csv --target income")
def compare(
    file: Rows,
    target: Target,
    cv: Annotated[int, typer.Option(help="The number of folds.")] = 10,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Where to write the best model to.")] = None,
    drop_unlabelled: Drop = False,
    header: Header = None,
    delimiter: Delimiter = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Set structures, rules and priors side by side, on rows not learned."""
    from suffice.cli import opening, telling

    telling.compare(opening.Source(file, header, delimiter), target, cv, output, drop_unlabelled, json)


@command("suffice explain income.suffice new.csv --row 3")
def explain(
    model: Model,
    file: Rows,
    row: Annotated[int, typer.Option(help="Which row, from 0.")] = 0,
    label: Annotated[str | None, typer.Option(help="For which label (else: the most probable).")] = None,
    header: Header = None,
    delimiter: Delimiter = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what each feature of a row adds to the prediction."""
    from suffice.cli import opening, telling

    telling.explain(model, opening.Source(file, header, delimiter), row, label, json)


@command("suffice report income.suffice --data test.csv -o report.html")
def report(
    model: Model,
    data: Annotated[str | None, typer.Option(help="Rows with labels, to measure it on.")] = None,
    target: Other = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The page to write; - is standard output.")
    ] = "report.html",
    drop_unlabelled: Drop = False,
    header: Header = None,
    delimiter: Delimiter = None,
    debug: Debug = False,
) -> None:
    """Write a page about a model, to look at and to play with."""
    from suffice.cli import opening, telling

    source = None if data is None else opening.Source(data, header, delimiter)
    telling.report(model, source, target, output, drop_unlabelled)


@command("suffice sql income.suffice --dialect postgres --table people -o score.sql")
def sql(
    model: Model,
    dialect: Annotated[str, typer.Option(help="duckdb, postgres, sqlite, spark, bigquery or snowflake.")] = "duckdb",
    table: Annotated[str, typer.Option(help="The table to score, such as people or shop.people.")] = "rows",
    structure: Annotated[
        str | None, typer.Option(help="Read the model as tree or naive: an average has no form in SQL.")
    ] = None,
    output: Output = "-",
    debug: Debug = False,
) -> None:
    """Write a model as SQL, to predict where the rows are."""
    from suffice.cli import telling

    telling.sql(model, dialect, table, structure, output or "-")


@command("suffice learn income.suffice more.csv")
def learn(
    model: Model,
    file: Rows,
    target: Other = None,
    output: Output = None,
    decay: Annotated[float | None, typer.Option(help="What is known still counts this much, from 0 to 1.")] = None,
    weight: Weight = None,
    drop_unlabelled: Drop = False,
    header: Header = None,
    delimiter: Delimiter = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Learn more rows, on top of what the model knows."""
    from suffice.cli import learning, opening

    source = opening.Source(file, header, delimiter)
    learning.change("learn", model, source, target, output, decay, json, weight=weight, drop=drop_unlabelled)


@command("suffice forget income.suffice deleted.csv")
def forget(
    model: Model,
    file: Rows,
    target: Other = None,
    output: Output = None,
    weight: Weight = None,
    drop_unlabelled: Drop = False,
    header: Header = None,
    delimiter: Delimiter = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Unlearn rows: the model is as if it had never met them."""
    from suffice.cli import learning, opening

    source = opening.Source(file, header, delimiter)
    learning.change("forget", model, source, target, output, None, json, weight=weight, drop=drop_unlabelled)


@command("suffice merge monday.suffice tuesday.suffice -o week.suffice")
def merge(
    models: Annotated[list[str], typer.Argument(help="Two model files or more.", metavar="MODEL...")],
    output: Annotated[str, typer.Option("--output", "-o", help="The model of all of them; - is standard output.")],
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Add models up: the model of all their rows."""
    from suffice.cli import learning

    learning.merge(models, output, json)


@command("suffice info income.suffice")
def info(model: Model, json: Json = False, debug: Debug = False) -> None:
    """Say what a model file holds."""
    from suffice.cli import telling

    telling.info(model, json)


@command("suffice demo")
def demo(
    output: Annotated[str, typer.Option("--output", "-o", help="The page to write.")] = "digits.html",
    debug: Debug = False,
) -> None:
    """Learn handwritten digits from naive to full dependence, and write a page to draw on."""
    from suffice.demo import main as shown

    shown(output)


def _version(asked: bool) -> None:
    if asked:
        from suffice import __version__

        typer.echo(f"suffice {__version__}")
        raise typer.Exit


@app.callback()
def everything(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Which this is.")
    ] = False,
) -> None:
    """Generative classifiers on sufficient statistics: everything learned is a sum."""


def main() -> None:
    """Run the command line."""
    app(prog_name="suffice")
