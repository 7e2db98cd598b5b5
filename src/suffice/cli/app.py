"""The command line.

Exit codes: 0 for success, 1 for wrong files or data, 2 for a wrong command, 3 for drift (`suffice drift`), 130 after
Ctrl-C and 143 after SIGTERM.
"""

from typing import Annotated

import typer

# They register their commands, in the order of the help.
# isort: off
from suffice.cli import fit_command, update_commands, predict_commands, drift_command, onnx_command, tutorial_command  # noqa: F401

# isort: on
from suffice.cli.command import app as app
from suffice.cli.entry import main as main


def _print_version(asked: bool) -> None:
    if asked:
        from suffice import __version__

        typer.echo(f"suffice {__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")]


@app.callback()
def _global_options(version: Version = False) -> None:
    """Naive Bayes and its relatives for messy tables: fit, explain, update, merge and export models."""
