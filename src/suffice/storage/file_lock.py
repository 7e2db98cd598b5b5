"""Advisory locks: one process, or thread, at a time changes a file.

The lock is on the file itself, so nothing is left behind, and it ends with the process that holds it. A file that is
replaced by renaming is another file afterwards; a process that waited for the old one opens the new one.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from suffice.caller_warnings import warn_caller

# Seconds between two attempts, and before a warning says that a lock is awaited.
PAUSE, PATIENCE = 0.02, 1.0


def try_lock(descriptor: int) -> bool:
    """Lock an open file unless another descriptor has locked it; return whether it is locked now."""
    import fcntl  # which Windows lacks

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(descriptor: int) -> None:
    """Release a lock and close the file; a process that was forked meanwhile does not hold it either."""
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


@contextmanager
def lock_file(path: Path, timeout: float) -> Iterator[None]:
    """Hold the lock of a file; wait for others, with a warning, and raise `TimeoutError` after ``timeout`` seconds."""
    descriptor = _wait_for_lock(path, timeout)
    try:
        yield
    finally:
        unlock(descriptor)


def is_same_file(descriptor: int, path: Path) -> bool:
    """Return whether a path still names an open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _wait_for_lock(path: Path, timeout: float) -> int:
    """Return the descriptor of a locked file."""
    start, is_told = time.monotonic(), False
    while True:
        descriptor = _open(path)
        try:
            while not try_lock(descriptor):
                waited = time.monotonic() - start
                if waited >= timeout:
                    raise TimeoutError(
                        f"{path} is being changed by {_find_holder(descriptor)}, and was not released within "
                        f"{timeout:g} s; nothing was changed. Try again when that process has finished, or wait longer "
                        f"(timeout=…)"
                    )
                if waited >= PATIENCE and not is_told:
                    is_told = True
                    warn_caller(
                        f"waiting for {_find_holder(descriptor)}, which is changing {path}, for at most {timeout:g} s"
                    )
                time.sleep(PAUSE)
            if is_same_file(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the file was replaced meanwhile: lock the new one


def _open(path: Path) -> int:
    """Return the descriptor of an existing file; open for writing where possible, which locks on NFS need."""
    try:
        return os.open(path, os.O_RDWR | os.O_NONBLOCK)
    except PermissionError:
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK)


def _find_holder(descriptor: int) -> str:
    """Return which process has locked a file, as far as the system tells."""
    inode = str(os.fstat(descriptor).st_ino)
    try:
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:  # not Linux
        return "another process"
    for line in lines:  # such as "1: FLOCK  ADVISORY  WRITE 4321 08:01:131 0 EOF"
        fields = line.split()
        if fields[1] == "FLOCK" and fields[5].rpartition(":")[2] == inode:
            return f"process {fields[4]}"
    return "another process"
