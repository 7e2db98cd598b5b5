"""Checkpoints: how far a long fit has come, in a file that the next fit of the same rows continues from."""

import os
import time
from collections.abc import Mapping
from threading import Lock
from typing import Any

from suffice import storage
from suffice.storage.atomic_write import check_output_path

EVERY = 30.0  # seconds between two checkpoints


class Checkpoint:
    """The progress of one fit; ``subject`` says of what: the classifier, its settings and the rows, each as text."""

    def __init__(self, path: str | os.PathLike[str], classifier: str, subject: Mapping[str, str]) -> None:
        self.path, self.classifier, self.subject = check_output_path(path), classifier, dict(subject)
        self.time, self.lock = time.monotonic(), Lock()

    def read(self) -> dict[str, Any] | None:
        """Return the progress; None if there is no file. Raise if it is that of another fit."""
        if not self.path.exists():
            return None
        classifier, state, *_ = storage.read(self.path)
        found = state.get("fit")
        if not isinstance(found, dict):
            raise ValueError(f"{self.path} is a model, not a checkpoint: name another file")
        known = {"classifier": classifier, **found}
        for name, wanted in {"classifier": self.classifier, **self.subject}.items():
            if known.get(name) != wanted:
                raise ValueError(
                    f"{self.path} is the checkpoint of another fit: the {name} was {known.get(name)}, and is {wanted}; "
                    "delete it, or name another file"
                )
        return dict(state["progress"])

    def write(self, progress: Mapping[str, Any], *, at_once: bool = False) -> None:
        """Write the progress, unless it was written less than `EVERY` seconds ago."""
        with self.lock:
            if at_once or time.monotonic() - self.time >= EVERY:
                storage.save(self.classifier, {"fit": self.subject, "progress": dict(progress)}, self.path)
                self.time = time.monotonic()

    def remove(self) -> None:
        """Delete the file: the fit has ended."""
        self.path.unlink(missing_ok=True)
