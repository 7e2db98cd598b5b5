"""The one way to write a file: completely under another name, then renamed.

A full disk, an error or a killed process leaves the old file as it was. The temporary file of a killed process is
deleted by the next write of the same file.
"""

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from suffice.storage.file_lock import is_same_file, try_lock

TOKEN = 8  # bytes in the name of a temporary file


def check_output_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file to write; raise if it cannot be written, so that no work is wasted."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    return _require_regular(path)


def check_input_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file to read; raise if there is none, or if reading it might never end."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    return _require_regular(path)


def replace_file(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write to a temporary file in the same folder, and rename it when it is on the disk; return the path.

    If the path is a symbolic link, its target is replaced. The new file has the permissions of the old one.
    """
    path = check_output_path(path)
    place = path.resolve()
    try:
        _sweep(place)
        _write_and_rename(place, content)
    except OSError as error:
        was = "as it was" if place.exists() else "not there"
        raise OSError(f"{path} could not be written ({error.strerror or error}); it is {was}") from error
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return path


def _write_and_rename(place: Path, content: bytes) -> None:
    descriptor, temporary = _open_temporary(place)
    try:
        with open(descriptor, "wb") as file:
            if place.exists():
                temporary.chmod(stat.S_IMODE(place.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            # still open, and so still locked: nobody takes it for the file of a killed process
            os.replace(temporary, place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _require_regular(path: Path) -> Path:
    """Return a path that names a regular file, or a symbolic link to one, or nothing yet."""
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is a device, a pipe or a socket; name a regular file")
    return path


def _open_temporary(place: Path) -> tuple[int, Path]:
    """Return a locked new file beside a place, open for writing."""
    while True:
        temporary = place.with_name(f".{place.name}.{secrets.token_hex(TOKEN)}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        # between these two lines another process may lock the file and delete it: then make another one
        if try_lock(descriptor) and is_same_file(descriptor, temporary):
            return descriptor, temporary
        os.close(descriptor)


def _sweep(place: Path) -> None:
    """Delete the temporary files of killed processes: those that nobody has locked."""
    name = re.compile(rf"\.{re.escape(place.name)}\.[0-9a-f]{{{2 * TOKEN}}}\.tmp")
    for found in [entry.path for entry in os.scandir(place.parent) if name.fullmatch(entry.name)]:
        with suppress(OSError):  # deleted meanwhile, or not ours to delete
            descriptor = os.open(found, os.O_RDONLY)
            try:
                if try_lock(descriptor):
                    os.unlink(found)
            finally:
                os.close(descriptor)
