"""A temporary PostgreSQL server for the tests."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import in_ci

# Debian keeps the server's programs out of the path, one folder a version.
INSTALLED = "/usr/lib/postgresql"
USER = "postgres"


def programs() -> Path | None:
    """Return the folder with the server's programs, of the newest version; None if there is none."""
    on_path = shutil.which("initdb")
    if on_path is not None:
        return Path(on_path).resolve().parent
    found = [path.parent for path in Path(INSTALLED).glob("*/bin/initdb")]
    return max(found, key=lambda path: float(path.parent.name), default=None)


@contextmanager
def start() -> Iterator[str]:
    """Start a server, yield its URL (postgresql://…), and stop it; skip where none is installed, but not in CI."""
    folder = programs()
    if folder is None:
        if in_ci():
            pytest.fail("PostgreSQL's server is not installed")
        pytest.skip("needs PostgreSQL's server (Debian: apt install postgresql)")
    user = _user()
    with tempfile.TemporaryDirectory(prefix="suffice-pg-", ignore_cleanup_errors=True) as home:
        if user is not None:  # the server does not run as root, so its folder is another's
            shutil.chown(home, user)
        data, port = f"{home}/data", _free_port()
        _run(folder / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync", user=user)
        settings = f"-p {port} -k {home} -c listen_addresses=127.0.0.1 -c fsync=off -c shared_buffers=32MB"
        _run(folder / "pg_ctl", "-D", data, "-l", f"{home}/log", "-w", "-o", settings, "start", user=user)
        try:
            yield f"postgresql://{USER}@127.0.0.1:{port}/postgres"
        finally:
            _run(folder / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop", user=user)


def _user() -> str | None:
    """Return as whom to run the server: as oneself, unless that is root."""
    if os.getuid() != 0:
        return None
    try:
        return pwd.getpwnam(USER).pw_name
    except KeyError:
        if in_ci():
            raise
        pytest.skip("PostgreSQL's server does not run as root, and there is no user 'postgres'")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _run(*command: object, user: str | None) -> None:
    """Run a program; what it says goes to a file, as a server that it leaves behind would hold a pipe open."""
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=said, stderr=said, user=user, cwd="/", timeout=60
        )
        said.seek(0)
        assert done.returncode == 0, said.read().decode(errors="replace")
