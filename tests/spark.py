"""Spark for the tests: a local session, and a standalone cluster of two worker processes."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conftest import in_ci

# A JVM that lives for seconds compiles its code more cheaply with its first compiler alone.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"


def needed() -> None:
    """Skip where there is no Java, but not in CI."""
    if shutil.which("java") is None:
        if in_ci():
            pytest.fail("Java is not installed")
        pytest.skip("needs Java for Spark (Debian: apt install default-jre-headless)")


@cache
def warehouse() -> tempfile.TemporaryDirectory[str]:
    """Return the folder of the tables of this process, which is removed at its end."""
    return tempfile.TemporaryDirectory(prefix="suffice-spark-", ignore_cleanup_errors=True)


def session() -> Any:
    """Return Spark in this process with two threads: the one that runs, or a new one where it was stopped."""
    needed()
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": JAVA_OPTIONS,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.sql.warehouse.dir": warehouse().name,
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@dataclass(frozen=True)
class Cluster:
    """A standalone cluster: its address, and its workers, each the leader of a group with its executors."""

    url: str
    workers: list[subprocess.Popen[bytes]]

    def kill(self, place: int) -> None:
        """Kill a worker with all that it has started."""
        os.killpg(self.workers[place].pid, signal.SIGKILL)


@contextmanager
def cluster(folder: Path, count: int = 2) -> Iterator[Cluster]:
    """Start a master and so many workers, and stop them."""
    needed()
    import pyspark

    home = Path(pyspark.__file__).parent
    port = _free_port()
    surroundings = {
        **os.environ,
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_JAVA_OPTS": JAVA_OPTIONS,
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
    }

    def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with open(folder / f"{name}.log", "wb") as said:
            return subprocess.Popen(
                [str(home / "bin" / "spark-class"), *arguments],
                env=surroundings,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    where = ("--host", "127.0.0.1", "--webui-port", "0")
    master = start("master", "org.apache.spark.deploy.master.Master", *where, "--port", str(port))
    workers: list[subprocess.Popen[bytes]] = []
    try:
        wait_for(lambda: _listens(port), folder / "master.log")
        url = f"spark://127.0.0.1:{port}"
        for place in range(count):
            small = ("--cores", "1", "--memory", "1g")
            workers.append(start(f"worker {place}", "org.apache.spark.deploy.worker.Worker", *where, *small, url))
        registered = "Registering worker"
        wait_for(lambda: (folder / "master.log").read_text().count(registered) >= count, folder / "master.log")
        yield Cluster(url, workers)
    finally:
        for process in (*workers, master):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(ready: Callable[[], bool], log: Path, seconds: float = 90) -> None:
    """Wait until something is so; what a log says where it does not become so is the reason."""
    until = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < until, log.read_text()[-2000:]
        time.sleep(0.2)
