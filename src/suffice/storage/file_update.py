"""Changes of a file: it is read, changed and replaced by one process at a time."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from suffice.storage.atomic_write import check_input_path, replace_file
from suffice.storage.file_lock import lock_file

TIMEOUT = 60.0  # seconds to wait for a lock


@dataclass(frozen=True)
class FileUpdate:
    """A locked file, and the SHA-256 of its content when it was locked."""

    path: Path
    digest: str

    def replace(self, content: bytes) -> Path:
        """Replace the content; raise if a program that takes no lock has changed it meanwhile."""
        if _digest(self.path) != self.digest:
            raise OSError(f"{self.path} was changed by another program meanwhile; it is left as it is: try again")
        return replace_file(self.path, content)


@contextmanager
def update_file(path: str | os.PathLike[str], timeout: float = TIMEOUT) -> Iterator[FileUpdate]:
    """Lock a file while it is read, changed and replaced."""
    path = check_input_path(path)
    with lock_file(path, timeout):
        yield FileUpdate(path, _digest(path))


def _digest(path: Path) -> str:
    """Return the SHA-256 of the content of a file; it is empty if the file was deleted."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""
