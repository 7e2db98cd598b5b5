"""Notes of the command line on the size of exported models."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from suffice.cli import output as out

Content = TypeVar("Content", str, bytes)


def change_structure(learned: Any, structure: str | None, name: str) -> None:
    """Set the structure of the model of a file, if one is given; raise an error if its kind has only one."""
    if structure is None:
        return
    if "structure" not in learned.get_params():
        kind = f"{name} is a {type(learned).__name__}"
        raise out.CommandError(f"{kind}, which has one structure only: leave out --structure")
    learned.set_params(structure=structure)


def announce_size(write: Callable[[], Content], learned: Any, output: str) -> Content:
    """Return what ``write`` returns; print a note if it is larger than `output.LARGE_FILE`, with the way out."""
    from suffice.export import LargeExportWarning
    from suffice.export.export_size import describe_size

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeExportWarning)  # which names parameters of Python
        content = write()
    if len(content) > out.LARGE_FILE:
        reason, has_trees = describe_size(learned.exported_model()[0])
        remedy = (
            "--structure averaged writes it without trees, and suffice fit --trees 50 fits fewer"
            if has_trees
            else "--structure naive or fewer columns make it smaller"
        )
        out.print_note(f"note: {output} will have {len(content) / 1e6:,.1f} MB: {reason}; {remedy}")
    return content
