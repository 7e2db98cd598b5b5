"""A temporary MariaDB server for the tests."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from conftest import in_ci

USER = "mysql"


@contextmanager
def start() -> Iterator[str]:
    """Start a server, yield the path of its socket, and stop it; skip where none is installed, but not in CI."""
    server, install = shutil.which("mariadbd", path=_path()), shutil.which("mariadb-install-db", path=_path())
    if server is None or install is None:
        if in_ci():
            pytest.fail("MariaDB's server is not installed")
        pytest.skip("needs MariaDB's server (Debian: apt install mariadb-server)")
    user = pwd.getpwnam(USER).pw_name if os.getuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="suffice-maria-", ignore_cleanup_errors=True) as home:
        if user is not None:  # the server does not run as root, so its folder is another's
            shutil.chown(home, user)
        data, socket = f"{home}/data", f"{home}/socket"
        own = ["--no-defaults", f"--datadir={data}"]
        subprocess.run(
            [install, *own, "--auth-root-authentication-method=normal", "--skip-test-db"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, cwd="/", timeout=120,
        )  # fmt: skip
        settings = [
            "--skip-networking",
            f"--socket={socket}",
            f"--pid-file={home}/pid",
            f"--tmpdir={home}",  # a server that starts deletes the temporary tables of every server in its tmpdir
            "--innodb-buffer-pool-size=64M",
        ]
        with open(f"{home}/log", "wb") as log:
            process = subprocess.Popen([server, *own, *settings], stdout=log, stderr=log, user=user, cwd="/")
        try:
            _wait(socket, process)
            yield socket
        finally:
            process.kill()
            process.wait()


def connect(socket: str) -> Any:
    """Return a connection to the server, in a database of its own."""
    import pymysql

    base = pymysql.connect(unix_socket=socket, user="root", charset="utf8mb4", autocommit=True)
    with base.cursor() as cursor:
        cursor.execute("CREATE DATABASE IF NOT EXISTS tests CHARACTER SET utf8mb4")
        cursor.execute("USE tests")
    return base


def _path() -> str:
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])


def _wait(socket: str, process: subprocess.Popen[bytes]) -> None:
    import pymysql

    until = time.monotonic() + 90
    while True:
        assert process.poll() is None, "the server stopped"
        try:
            connect(socket).close()
            return
        except pymysql.err.OperationalError:
            assert time.monotonic() < until, "the server does not answer"
            time.sleep(0.2)
