"""Writing of files: under another name, synced to the disk and then renamed, so that the old file stays until then."""

import os
import secrets
import stat
from pathlib import Path


def check_output_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file to write; raise if it cannot be written, so that no work is wasted."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    return path


def replace_file(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write to a temporary file in the same folder, and rename it when it is on the disk; return the path.

    If the path is a symbolic link, its target is replaced. The new file has the permissions of the old one.
    """
    path = check_output_path(path)
    place = path.resolve()
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            if place.exists():
                temporary.chmod(stat.S_IMODE(place.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return path
