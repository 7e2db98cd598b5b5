"""The command that writes a model as ONNX."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from suffice.cli import output as out
from suffice.cli.command import Model, command
from suffice.cli.export_notes import announce_size, change_structure
from suffice.cli.model_files import load_model
from suffice.cli.output import CommandError, check_output


@command("suffice onnx income.suffice -o income.onnx")
def onnx(
    model: Model,
    output: Annotated[str, typer.Option("--output", "-o", help="ONNX file to write; - is standard output.")],
    dtype: Annotated[str, typer.Option(help="Type of numbers and probabilities: float32 or float64.")] = "float32",
    kinds: Annotated[
        list[str] | None,
        typer.Option("--type", help="Column and the type of its input, such as age=int64; may be repeated."),
    ] = None,
    structure: Annotated[
        str | None, typer.Option(help="Use the model with another structure, such as averaged, which has no trees.")
    ] = None,
) -> None:
    """Write a model as ONNX, for ONNX Runtime."""
    check_output(output)
    learned = load_model(model, "to_onnx", "cannot be written as ONNX; use suffice predict")
    change_structure(learned, structure, model)
    types = dict(_split_type(each) for each in kinds or ())
    with out.show_work("writing the model"):
        content = announce_size(
            lambda: learned.to_onnx(cast("Any", dtype), types=types).SerializeToString(), learned, output
        )
    if out.write_content(content, output) is not None:
        out.print_facts("", {"written to": output})


def _split_type(text: str) -> tuple[str, str]:
    """Return the column and the type of COLUMN=TYPE."""
    name, sign, kind = text.rpartition("=")
    if not sign:
        raise CommandError(f"--type {text} has no type: write COLUMN=TYPE, such as age=int64")
    return name, kind
