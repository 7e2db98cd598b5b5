"""The web service of the documentation: it predicts, explains, learns and forgets, and loses no row."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

import suffice

CODE = Path(__file__).resolve().parents[1] / "docs" / "recipes" / "service.py"


@pytest.fixture(scope="module")
def create_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Any]]:
    """The function of the page's code, which is imported from a file as a reader would."""
    folder = tmp_path_factory.mktemp("service")
    (folder / "service.py").write_text(CODE.read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MODEL", raising=False)
        patch.syspath_prepend(folder)
        yield import_module("service").create_app
        sys.modules.pop("service")


def rows_of(count: int, seed: int = 0) -> tuple[list[dict[str, Any]], list[str]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, count)
    rows = [{"age": int(30 + 9 * k + rng.integers(9)), "town": ["Rome", "Oslo"][(k + rng.integers(2)) % 2]} for k in y]
    return rows, [["no", "yes"][k] for k in y]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows, y = rows_of(60)
    return suffice.BayesClassifier(structure="naive").fit(rows, y).save(tmp_path / "model.suffice")


def test_it_predicts_and_explains(create_app: Callable[[str], Any], path: Path) -> None:
    model, client = suffice.load(path), TestClient(create_app(str(path)))
    rows, _ = rows_of(3, 1)
    found = client.post("/predict", json=rows).json()
    assert [each["label"] for each in found] == model.predict(rows).tolist()
    np.testing.assert_allclose([each["p"]["yes"] for each in found], model.predict_proba(rows)[:, 1], rtol=1e-12)
    found = client.post("/explain", json={"town": "Rome", "age": None}).json()
    assert found["sentence"] == model.explain({"town": "Rome", "age": None}).sentence(0)
    assert {part["feature"] for part in found["contributions"]} >= {"town", "age"}


def test_a_change_is_kept_and_a_failed_one_is_not(create_app: Callable[[str], Any], path: Path) -> None:
    client = TestClient(create_app(str(path)))
    rows, y = rows_of(5, 1)
    body = {"rows": rows, "labels": y}
    before = suffice.load(path).tally_
    assert client.post("/learn", json=body).json() == {"rows": 65.0}
    again = TestClient(create_app(str(path)))  # a restart
    assert again.post("/predict", json=rows).json() == client.post("/predict", json=rows).json()
    assert again.post("/forget", json=body).json() == {"rows": 60.0}
    assert suffice.load(path).tally_.isclose(before)
    content = path.read_bytes()
    for where, wrong in (
        ("learn", {"rows": [{"age": "old", "town": "Rome"}], "labels": ["no"]}),
        ("learn", {"rows": rows, "labels": ["no"]}),
        ("forget", {"rows": [{"age": 31, "town": "Bonn"}], "labels": ["no"]}),
    ):
        answer = client.post(f"/{where}", json=wrong)
        assert answer.status_code == 422
        assert answer.json()["detail"]
    assert path.read_bytes() == content


def test_writers_at_the_same_time_lose_no_row(create_app: Callable[[str], Any], path: Path) -> None:
    clients = [TestClient(create_app(str(path))) for _ in range(2)]
    rows, y = rows_of(12, 2)

    def send(place: int) -> int:
        body = {"rows": rows[place : place + 1], "labels": y[place : place + 1]}
        return clients[place % 2].post("/learn", json=body).status_code

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(send, range(12))) == {200}
    first, second = rows_of(60)
    whole = suffice.load(path)
    assert whole.tally_.isclose(
        suffice.BayesClassifier(structure="naive").fit(first, second).partial_fit(rows, y).tally_
    )
    assert {str(client.post("/predict", json=rows).json()) for client in clients} == {
        str(
            [
                {"label": label, "p": {"no": p[0], "yes": p[1]}}
                for label, p in zip(whole.predict(rows).tolist(), whole.predict_proba(rows).tolist(), strict=True)
            ]
        )
    }
