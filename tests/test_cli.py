"""The command line through its real entry point: good files and bad ones, people and machines."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import save as packed

import suffice


def run(*arguments: Any, given: bytes | None = None, code: int = 0) -> tuple[str, str]:
    """Run a command in a process of its own; return what it says on both channels."""
    done = subprocess.run(
        [sys.executable, "-m", "suffice", *map(str, arguments)],
        input=given,
        capture_output=True,
        env={**os.environ, "NO_COLOR": "1"},
        timeout=120,
    )
    out, errors = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == code, (done.returncode, out, errors)
    assert "Traceback" not in errors
    return out, errors


def table(rows: int = 120, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], rows)
    return pl.DataFrame(
        {
            "age": rng.normal(np.where(y == "yes", 50, 35), 8).round(1),
            "town": rng.choice(["Bonn", "Köln", "a, b"], rows),
            "flag": rng.random(rows) < np.where(y == "yes", 0.8, 0.3),
            "bought": y,
        }
    ).with_columns(pl.when(pl.col("age") > 65).then(None).otherwise(pl.col("age")).alias("age"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table in every form, and a model of it."""
    path = tmp_path_factory.mktemp("cli")
    frame = table()
    frame.write_csv(path / "train.csv")
    frame.write_csv(path / "semicolons.csv", separator=";")
    frame.write_csv(path / "tabs.tsv", separator="\t")
    frame.write_csv(path / "bare.csv", include_header=False)
    (path / "train.csv.gz").write_bytes(gzip.compress(frame.write_csv().encode()))
    frame.write_parquet(path / "train.parquet")
    frame.write_ipc(path / "train.feather")
    frame.write_ndjson(path / "train.jsonl")
    run("fit", path / "train.csv", "--target", "bought", "-o", path / "model.suffice")
    return path


@pytest.mark.parametrize(
    "name", ["semicolons.csv", "tabs.tsv", "train.csv.gz", "train.parquet", "train.feather", "train.jsonl"]
)
def test_every_form_gives_the_same_model(folder: Path, name: str, tmp_path: Path) -> None:
    run("fit", folder / name, "-t", "bought", "-o", tmp_path / "model.suffice")
    digests = [suffice.load(path / "model.suffice").tally_.digest() for path in (folder, tmp_path)]
    assert digests[0] == digests[1]


def test_a_file_without_titles_goes_by_places(folder: Path, tmp_path: Path) -> None:
    run("fit", folder / "bare.csv", "-t", "-1", "-o", tmp_path / "model.suffice")
    model = suffice.load(tmp_path / "model.suffice")
    assert model.target_name_ == "c3"
    assert list(model.families_) == ["c0", "c1", "c2"]
    out, _ = run("predict", tmp_path / "model.suffice", folder / "bare.csv", "--no-proba")
    assert len(out.splitlines()) == 121


def test_predictions_are_those_of_the_library_and_pipe(folder: Path, tmp_path: Path) -> None:
    model, frame = suffice.load(folder / "model.suffice"), table()
    expected = model.predict_proba(frame.drop("bought"))
    out, _ = run("predict", folder / "model.suffice", "-", given=(folder / "train.csv").read_bytes())
    found = pl.read_csv(io.StringIO(out))
    assert found.columns == ["prediction", "p(no)", "p(yes)"]
    np.testing.assert_allclose(found["p(yes)"], expected[:, 1], rtol=1e-12)
    assert found["prediction"].to_list() == model.predict(frame.drop("bought")).tolist()
    for name in ("out.csv", "out.parquet", "out.feather", "out.jsonl", "out.csv.gz"):
        run("predict", folder / "model.suffice", folder / "train.parquet", "-o", tmp_path / name, "--keep")
    np.testing.assert_allclose(pl.read_parquet(tmp_path / "out.parquet")["p(no)"], expected[:, 0])
    assert pl.read_csv(tmp_path / "out.csv.gz").columns == pl.read_ipc(tmp_path / "out.feather").columns
    unsure, _ = run("predict", folder / "model.suffice", folder / "train.csv", "--reject-below", "0.99", "--no-proba")
    assert unsure.splitlines().count("") > 0


def test_evaluate_explain_info_for_people_and_machines(folder: Path) -> None:
    model, frame = suffice.load(folder / "model.suffice"), table()
    out, _ = run("evaluate", folder / "model.suffice", folder / "train.csv", "--json")
    found = json.loads(out)
    X, y = frame.drop("bought"), frame["bought"].to_list()
    assert found["accuracy"] == pytest.approx(model.score(X, y))
    assert found["accuracy_interval"][0] < found["accuracy"] < found["accuracy_interval"][1]
    assert sum(sum(line.values()) for line in found["confusion"].values()) == 120
    out, _ = run("evaluate", folder / "model.suffice", folder / "train.csv")
    assert "accuracy" in out
    out, _ = run("explain", folder / "model.suffice", folder / "train.csv", "--row", "3", "--json")
    said = json.loads(out)
    p = model.predict_proba(X[3:4])[0]
    total = sum(part["nats"] for part in said["contributions"])
    assert total == pytest.approx(abs(np.log(p[1] / p[0])), rel=1e-9)
    out, _ = run("explain", folder / "model.suffice", folder / "train.csv", "--row", "3")
    assert "Köln" in out or "Bonn" in out or "a, b" in out
    out, _ = run("info", folder / "model.suffice", "--json")
    assert json.loads(out)["digest"] == model.tally_.digest()
    out, _ = run("info", folder / "model.suffice")
    assert "bought" in out


def test_compare_writes_the_best(folder: Path, tmp_path: Path) -> None:
    asked = ["compare", folder / "train.csv", "-t", "bought", "--cv", "3"]
    out, _ = run(*asked, "--json", "-o", tmp_path / "best.suffice")
    lines = json.loads(out)
    assert lines[0]["p"] == 1.0
    assert lines[0]["log_loss"] <= lines[-1]["log_loss"]
    out, _ = run("predict", tmp_path / "best.suffice", folder / "train.csv")
    assert out.startswith("prediction")
    out, _ = run(*asked)
    assert "as good" in out


def test_learn_forget_and_merge_are_exact(folder: Path, tmp_path: Path) -> None:
    frame = table()
    for name, part in (("first", frame[:70]), ("second", frame[70:])):
        part.write_csv(tmp_path / f"{name}.csv")
    options = ["-t", "bought", "--family", "age=categorical", "--structure", "naive"]
    for name in ("first", "second"):
        run("fit", tmp_path / f"{name}.csv", *options, "-o", tmp_path / f"{name}.suffice")
    run("fit", folder / "train.csv", *options, "-o", tmp_path / "whole.suffice")
    digest = suffice.load(tmp_path / "whole.suffice").tally_.digest()
    both = [tmp_path / "first.suffice", tmp_path / "second.suffice"]
    out, _ = run("merge", *both, "-o", tmp_path / "both.suffice", "--json")
    assert json.loads(out)["digest"] == digest
    assert suffice.load(tmp_path / "both.suffice").tally_.digest() == digest
    out, _ = run("learn", tmp_path / "first.suffice", tmp_path / "second.csv", "-o", tmp_path / "more.suffice")
    assert digest in out
    out, _ = run("forget", tmp_path / "more.suffice", tmp_path / "second.csv", "--json")
    assert json.loads(out)["rows"] == 70
    first = suffice.load(tmp_path / "first.suffice").tally_.digest()
    assert suffice.load(tmp_path / "more.suffice").tally_.digest() == first
    _, errors = run("forget", tmp_path / "more.suffice", tmp_path / "second.csv", code=1)
    assert "never learned" in errors or "only" in errors
    assert suffice.load(tmp_path / "more.suffice").tally_.digest() == first


def test_report_and_demo_write_pages(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    out, _ = run("report", folder / "model.suffice", "--data", folder / "train.csv", "-o", page)
    assert str(page) in out.replace("\n", "")
    assert "Bonn" in page.read_text()
    run("report", folder / "model.suffice", "-o", page)
    assert page.stat().st_size < 3e6
    _, errors = run("report", folder / "model.suffice", "--data", tmp_path / "none.csv", "-o", page, code=1)
    assert "no file" in errors
    out, _ = run("demo", "-o", tmp_path / "digits.html")
    assert "full covariance" in out
    assert (tmp_path / "digits.html").stat().st_size < 3e6


def bad_files(path: Path) -> dict[str, bytes]:
    files = {
        "empty.csv": b"",
        "header.csv": b"age,town,bought\n",
        "ragged.csv": b"age,town,bought\n1,a,yes\n2,b,no,5\n",
        "short.csv": b"age,town,bought\n1,a,yes\n2,b\n",
        "latin.csv": "age,bought\n1,été\n".encode("latin1"),
        "twice.csv": b"age,age,bought\n1,2,yes\n",
        "broken.parquet": b"PAR1 and nothing else",
        "broken.csv.gz": gzip.compress(b"a,b\n1,2\n")[:-6],
        "broken.jsonl": b'{"a": 1}\n{"a": \n',
        "unlabelled.csv": b"age,bought\n1,yes\n2,\n3,no\n",
    }
    for name, content in files.items():
        (path / name).write_bytes(content)
    return files


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere.csv", "there is no file"),
        ("empty.csv", "is empty"),
        ("header.csv", "a header and no rows"),
        ("ragged.csv", "line 3 has 4 cells"),
        ("short.csv", "line 3 has 2 cells"),
        ("latin.csv", "not in UTF-8 (line 2)"),
        ("twice.csv", "two columns called 'age'"),
        ("broken.parquet", "cannot be read as parquet"),
        ("broken.csv.gz", "damaged gz"),
        ("broken.jsonl", "cannot be read as jsonl"),
        ("unlabelled.csv", "--drop-unlabelled"),
    ],
)
def test_bad_files_are_named_in_one_line(tmp_path: Path, name: str, said: str) -> None:
    bad_files(tmp_path)
    titled = ["--header"] if name == "twice.csv" else []
    _, errors = run("fit", tmp_path / name, "-t", "bought", "-o", tmp_path / "model.suffice", *titled, code=1)
    assert said in errors
    assert name in errors or name == "unlabelled.csv"
    assert len(errors.strip().splitlines()) == 1
    assert not (tmp_path / "model.suffice").exists()


def test_bad_words_and_models(folder: Path, tmp_path: Path) -> None:
    _, errors = run("fit", folder / "train.csv", "-t", "bougth", code=1)
    assert "did you mean 'bought'?" in errors
    _, errors = run("fit", folder / "train.csv", "-t", "bought", "--structure", "forest", "-o", tmp_path / "m", code=1)
    assert "'forest' is not known" in errors
    _, errors = run("fit", folder / "train.csv", "-t", "bought", "--family", "age", "-o", tmp_path / "m", code=1)
    assert "COLUMN=FAMILY" in errors
    _, errors = run("info", folder / "train.csv", code=1)
    assert "no model of suffice" in errors
    header = {"format": 99, "version": "9.9", "classifier": "GaussianNB", "state": {}, "digest": ""}
    (tmp_path / "new.suffice").write_bytes(packed({"a": np.zeros(1)}, {"suffice": json.dumps(header)}))
    _, errors = run("predict", tmp_path / "new.suffice", folder / "train.csv", code=1)
    assert "newer" in errors
    _, errors = run("explain", folder / "model.suffice", folder / "train.csv", "--row", "500", code=1)
    assert "no row 500" in errors
    nowhere = tmp_path / "no" / "x.csv"
    _, errors = run("predict", folder / "model.suffice", folder / "train.csv", "-o", nowhere, code=1)
    assert "no folder" in errors
    _, errors = run("fit", folder / "train.csv", code=2)
    assert "--target" in errors
    run("frobnicate", code=2)


def test_a_traceback_only_when_asked(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "suffice", "info", tmp_path / "none", "--debug"], capture_output=True, timeout=60
    )
    assert done.returncode == 1
    assert b"Traceback" in done.stderr


def test_every_command_explains_itself_by_example() -> None:
    out, _ = run("--help")
    commands = [
        "fit",
        "predict",
        "evaluate",
        "compare",
        "explain",
        "report",
        "learn",
        "forget",
        "merge",
        "info",
        "demo",
    ]
    for name in commands:
        assert f"\n  {name} " in out
    out, _ = run("fit", "--help")
    assert "suffice fit train.csv --target income" in out
    out, _ = run("--version")
    assert suffice.__version__ in out
