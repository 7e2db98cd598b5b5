"""What all commands share: the application, options that several commands have, and how errors are printed."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, get_type_hints

import typer

from suffice.cli.interrupts import interrupts
from suffice.cli.output import CommandError, print_note, translate_settings

app = typer.Typer(
    help="Naive Bayes and its relatives for messy tables: fit, explain, update, merge and export models.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

FILE_HELP = (
    "A file, folder or glob of CSV, Parquet, Arrow, JSON or Excel (.gz and .zst too); - is standard input. Or a "
    "table of a database, such as postgresql://user@host/base#table."
)
File = Annotated[str, typer.Argument(help=FILE_HELP, metavar="FILE")]
Model = Annotated[
    str, typer.Argument(help="A model file, as `suffice fit -o` writes it; - is standard input.", metavar="MODEL")
]
TARGET_HELP = "Column of labels: its name, or its position (0, 1, …, -1)."
Target = Annotated[str, typer.Option("--target", "-t", help=TARGET_HELP)]
OTHER_TARGET_HELP = "Column of labels; by default the target of the model."
OtherTarget = Annotated[str | None, typer.Option("--target", "-t", help=OTHER_TARGET_HELP)]
TABLE_OUTPUT_HELP = (
    "File to write: .csv, .parquet, .arrow, .jsonl (a row per line), .json (one array) or .xlsx; - is standard output."
)
TableOutput = Annotated[str | None, typer.Option("--output", "-o", help=TABLE_OUTPUT_HELP)]
Output = Annotated[str | None, typer.Option("--output", "-o", help="File to write; - is standard output.")]
UPDATED_HELP = "File to write; by default the model file itself. - is standard output."
UpdatedOutput = Annotated[str | None, typer.Option("--output", "-o", help=UPDATED_HELP)]
ModelOutput = Annotated[str, typer.Option("--output", "-o", help="Model file to write; - is standard output.")]
HEADER_HELP = "Whether line 1 of a CSV file names the columns."
Header = Annotated[bool | None, typer.Option("--header/--no-header", help=HEADER_HELP)]
DELIMITER_HELP = "Character between the cells of a CSV file, or tab. By default it is detected."
Delimiter = Annotated[str | None, typer.Option(help=DELIMITER_HELP)]
ENCODING_HELP = "Encoding of a CSV file. By default UTF-8, or cp1252 if it is not UTF-8."
Encoding = Annotated[str | None, typer.Option(help=ENCODING_HELP)]
SKIP_HELP = "Lines of a CSV file before the table. By default comments and blank lines are skipped."
SkipRows = Annotated[int | None, typer.Option(help=SKIP_HELP, min=0)]
NA_HELP = (
    "Text that stands for a missing cell, instead of ? NA N/A n/a #N/A <NA> NaN nan null NULL; may be repeated. An "
    "empty cell is always missing. In a column of numbers, - n.d. none and the like are missing, too."
)
NaValues = Annotated[list[str] | None, typer.Option(help=NA_HELP)]
IGNORE_HELP = "Column that is not read: its name or its position; may be repeated."
DATES_HELP = "parts: use the year, month, weekday and hour of dates. By default dates are left out."
Dates = Annotated[str | None, typer.Option(help=DATES_HELP)]
Ignore = Annotated[list[str] | None, typer.Option(help=IGNORE_HELP)]
Weight = Annotated[
    str | None, typer.Option(help="Column of row weights; by default the one that the model was fitted with, if any.")
]
Drop = Annotated[bool, typer.Option("--drop-unlabelled", help="Leave out rows without a label.")]
WAIT_HELP = "Seconds to wait while another process changes the model."
Wait = Annotated[float, typer.Option(help=WAIT_HELP, min=0)]
FAMILIES_HELP = "COLUMN=FAMILY, such as age=gaussian or note=text; may be repeated."
Families = Annotated[list[str] | None, typer.Option(help=FAMILIES_HELP)]
BINS_HELP = "Divide a target of numbers into this many ranges with about the same number of rows."
Bins = Annotated[int | None, typer.Option(help=BINS_HELP)]
Yes = Annotated[bool, typer.Option("--yes", help="Accept a target of many different numbers; each is a class.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

# A parameter `table` of a command stands for the argument FILE and these options, and `data` for an option and these.
TABLE_OPTIONS = {
    "header": Header,
    "delimiter": Delimiter,
    "encoding": Encoding,
    "skip_rows": SkipRows,
    "na_values": NaValues,
    "ignore": Ignore,
}


def command(example: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command: add shared options, put an example into its help, and print errors as one line."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(*, debug: bool, **given: Any) -> None:
            interrupts.is_late = False
            try:
                with warnings.catch_warnings():
                    warnings.showwarning = _warning_printer()
                    warnings.simplefilter("always", UserWarning)
                    function(**_with_table(given))
                sys.stdout.flush()
            except BrokenPipeError:
                # the reader of the output has closed it; discard the rest
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                raise typer.Exit(0) from None
            except (typer.Exit, typer.Abort):
                raise
            except (Exception, KeyboardInterrupt) as error:
                code = interrupts.code(error)
                if code is not None:
                    print_note("interrupted: no file was changed")
                    raise typer.Exit(code) from None
                if debug:
                    raise
                is_expected = isinstance(error, (CommandError, ValueError, OSError, TypeError, ImportError))
                unexpected = f"{type(error).__name__}: {error}; --debug shows where"
                print_note(f"error: {translate_settings(str(error)) if is_expected and str(error) else unexpected}")
                raise typer.Exit(1) from None

        parameters = _expand_parameters(function)
        run.__signature__ = signature(run).replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        run.__doc__ = f"{function.__doc__}\n\n\b\nExample:\n  {example}"
        app.command(name=function.__name__)(run)
        return function

    return register


def _warning_printer() -> Callable[..., None]:
    """Return a function that prints each warning once, wherever in the library it comes from."""
    printed = set[str]()

    def print_warning(message: Any, *_: Any, **__: Any) -> None:
        text = translate_settings(str(message))
        if text not in printed:
            print_note(f"note: {text}")
        printed.add(text)

    return print_warning


def _expand_parameters(function: Callable[..., None]) -> list[Parameter]:
    """Return the parameters of a command, with the shared options."""
    hints = get_type_hints(function, localns={"TableFile": str}, include_extras=True)
    options: dict[str, Any] = {}
    for name, parameter in signature(function).parameters.items():
        options |= {"file": (File, Parameter.empty)} if name == "table" else {name: (hints[name], parameter.default)}
    if "file" in options or "data" in options:
        options |= {name: (annotation, None) for name, annotation in TABLE_OPTIONS.items()}
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
        for name, (annotation, default) in (options | {"debug": (Debug, False)}).items()
    ]


def _with_table(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a command with the file and its options as one value."""
    role = next((name for name in ("file", "data") if name in given), None)
    if role is None:
        return given
    from suffice.data.files.table_file import TableFile

    settings = {name: given[name] for name in TABLE_OPTIONS} | {"ignore": tuple(given["ignore"] or ())}
    table = None if given[role] is None else TableFile(given[role], **settings)
    rest = {name: value for name, value in given.items() if name not in ("file", *TABLE_OPTIONS)}
    return rest | {"table" if role == "file" else role: table}
