"""The command that teaches the others, step by step."""

from __future__ import annotations

import code
import contextlib
import shlex
import sys
import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.cli.command import app, command
from suffice.cli.output import WIDTH, CommandError
from suffice.cli.tutorial_steps import STEPS, Step, write_tables


@command("suffice tutorial")
def tutorial(
    folder: Annotated[
        str, typer.Option(help="Folder for the files of the tutorial; it is made if there is none.")
    ] = "suffice-tutorial",
    yes: Annotated[bool, typer.Option("--yes", help="Do not wait for Enter after each step.")] = False,
) -> None:
    """Show the first ten minutes with suffice. Each step runs real commands on small tables that come with it."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise CommandError(f"{folder} is a file; name another folder with --folder")
    place.mkdir(parents=True, exist_ok=True)
    write_tables(place)
    waits = not yes and sys.stdin.isatty() and sys.stdout.isatty()
    console = code.InteractiveConsole({"__name__": "__console__"})
    typer.echo(f"The files of this tutorial are in {place.resolve()}.")
    with contextlib.chdir(place):
        for number, step in enumerate(STEPS, 1):
            _show(number, step, console)
            if waits and number < len(STEPS) and _is_stopped():
                return
    typer.echo(f"\nThat is all. Open {place.resolve() / 'flowers.html'} in a browser; then try a table of your own:")
    typer.echo("\n  suffice fit your.csv --target COLUMN -o your.suffice\n  suffice --help")


def _show(number: int, step: Step, console: code.InteractiveConsole) -> None:
    """Print a step and run its lines."""
    typer.echo(f"\n{number}. {step.title}\n")
    typer.echo(textwrap.fill(step.text, WIDTH))
    was_python = False
    for line in step.lines:
        is_python = not line.startswith("suffice ")
        if not (is_python and was_python):
            typer.echo()
        typer.echo(f"{'>>>' if is_python else '$'} {line}")
        if is_python:
            console.push(line)
        else:
            _run(shlex.split(line)[1:])
        was_python = is_python


def _run(arguments: list[str]) -> None:
    """Run another command of the command line in this process."""
    sys.stdout.flush()
    result: Any = app(arguments, prog_name="suffice", standalone_mode=False)
    if result:  # an exit code; the command has printed its error
        raise typer.Exit(int(result))


def _is_stopped() -> bool:
    """Wait for Enter; return whether the user wants to stop."""
    try:
        return input("\nPress Enter to go on, or q and Enter to stop: ").strip().lower().startswith("q")
    except EOFError:
        return True
