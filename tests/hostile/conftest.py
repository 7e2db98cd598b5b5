"""Fixtures of the hostile tests: a server of commands, and how much of the tests is run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command_server import CommandServer


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandServer]:
    """A server of commands; when all are done, their temporary folder is empty."""
    folder = tmp_path_factory.mktemp("temporary")
    with CommandServer(folder) as server:
        yield server
    assert [path for path in folder.rglob("*") if path.is_file()] == []


@pytest.fixture
def is_hostile(request: pytest.FixtureRequest) -> bool:
    """Whether all cases are run, not only a share of them."""
    return bool(request.config.getoption("--hostile"))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """An empty folder for files that are written."""
    folder = tmp_path / "files"
    folder.mkdir()
    return folder
