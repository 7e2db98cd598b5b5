"""Checkpoints: a fit that was killed continues where it was, with the same result, and leaves no file."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import suffice
from suffice import BayesClassifier, GaussianNB, MixtureClassifier, threads
from suffice.classifiers import checkpoint as checkpoints
from suffice.cli.app import app
from suffice.data.engines import batches

X, y = load_iris(return_X_y=True)


class Killed(KeyboardInterrupt):
    """Ends a fit where a kill would."""


@pytest.fixture
def killing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Kill fits after so many checkpoints, each of which is written."""
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)
    write = checkpoints.Checkpoint.write

    def kill_after(count: int) -> None:
        left = [count]

        def write_and_count(self: Any, *args: Any, **settings: Any) -> None:
            write(self, *args, **settings)
            left[0] -= 1
            if left[0] == 0:
                raise Killed

        monkeypatch.setattr(checkpoints.Checkpoint, "write", write_and_count)

    return kill_after


@pytest.fixture(params=["csv", "parquet", "jsonl"])
def table(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is larger than its sample, counted in several batches."""
    monkeypatch.setattr("suffice.classifiers.fit_table.SAMPLE", 500)
    monkeypatch.setattr("suffice.data.engines.duckdb_files.SAMPLE", 500)
    monkeypatch.setattr(batches, "ROWS", 300)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "x": rng.normal(size=2000),
            "k": rng.choice(["a", "b", "c"], 2000),
            "rare": [None] * 1990 + ["z", "w"] * 5,
            "y": rng.choice(["no", "yes"], 2000),
        }
    )
    path = tmp_path / f"rows.{request.param}"
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[request.param](path)
    return path


def test_a_killed_fit_of_a_file_continues(table: Path, tmp_path: Path, killing: Any) -> None:
    # decision trees are part of the plan, which is read from the checkpoint
    file, structure = tmp_path / "checkpoint", "trees" if table.suffix == ".csv" else "naive"
    whole = BayesClassifier(structure=structure).fit_table(table, "y", checkpoint=file)
    assert not file.exists()
    assert whole.class_count_.sum() == 2000
    plain = BayesClassifier(structure=structure).fit_table(table, "y")
    assert whole.tally_.isclose(plain.tally_)  # Parquet is counted by SQL without a checkpoint
    for count in (1, 3):  # after the plan, and after three batches
        killing(count)
        with pytest.raises(Killed):
            BayesClassifier(structure=structure).fit_table(table, "y", checkpoint=file)
        assert file.exists()
    killing(0)
    again = BayesClassifier(structure=structure).fit_table(table, "y", checkpoint=file)
    assert again.tally_.digest() == whole.tally_.digest()
    rows = pl.DataFrame({"x": [0.1, -1.0], "k": ["a", "c"], "rare": [None, "z"]})
    np.testing.assert_array_equal(again.predict_proba(rows), whole.predict_proba(rows))
    assert not file.exists()


def test_a_continued_fit_does_not_plan_or_count_again(
    table: Path, tmp_path: Path, killing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = [0]
    tally_batch = batches.tally_batch

    def count(batch: Any, request: Any) -> Any:
        counted[0] += batch.num_rows
        return tally_batch(batch, request)

    monkeypatch.setattr(batches, "tally_batch", count)
    killing(5)  # the plan, and four batches of 300 rows
    with pytest.raises(Killed), threads(1):  # other threads would have counted the next batches already
        GaussianNB(missing="skip").fit_table(slim(table), "y", checkpoint=tmp_path / "checkpoint")
    killing(0)
    monkeypatch.setattr(GaussianNB, "fit", None)
    model = GaussianNB(missing="skip").fit_table(slim(table), "y", checkpoint=tmp_path / "checkpoint")
    assert counted == [2000]
    assert model.class_count_.sum() == 2000


def slim(table: Path) -> Path:
    """Return the same file with numbers only."""
    path = table.with_name("numbers.csv")
    if not path.exists():
        rng = np.random.default_rng(1)
        pl.DataFrame({"x": rng.normal(size=2000), "y": rng.integers(0, 2, 2000)}).write_csv(path)
    return path


@pytest.mark.parametrize(
    "settings", [{}, {"family": "bernoulli", "binarize": 3.0, "n_init": 3}], ids=["gaussian", "bits"]
)
def test_a_killed_mixture_continues(tmp_path: Path, killing: Any, settings: dict[str, Any]) -> None:
    file, mixture = tmp_path / "checkpoint", MixtureClassifier(components=3, tol=1e-6, max_iter=500, **settings)
    whole = mixture.fit(X, y)
    for count in (2, 2, 1):
        killing(count)
        with pytest.raises(Killed), suffice.threads(1):
            MixtureClassifier(**mixture.get_params()).fit(X, y, checkpoint=file)
        assert file.exists()
    killing(0)
    again = MixtureClassifier(**mixture.get_params()).fit(X, y, checkpoint=file)
    assert pickle.dumps(again.trace_) == pickle.dumps(whole.trace_)
    np.testing.assert_array_equal(again.predict_proba(X), whole.predict_proba(X))
    assert not file.exists()


def test_a_checkpoint_of_another_fit_is_refused(tmp_path: Path, killing: Any, table: Path) -> None:
    file, mixture = tmp_path / "checkpoint", tmp_path / "mixture"
    killing(2)
    with pytest.raises(Killed):
        BayesClassifier().fit_table(table, "y", checkpoint=file)
    killing(2)
    with pytest.raises(Killed):
        MixtureClassifier().fit(X, y, checkpoint=mixture)
    killing(0)
    for fit, differs in (
        (lambda: BayesClassifier(prior=2.0).fit_table(table, "y", checkpoint=file), "settings"),
        (lambda: BayesClassifier().fit_table(slim(table), "y", checkpoint=file), "source"),
        (lambda: BayesClassifier().fit_table(table, "k", checkpoint=file), "labels"),
        (lambda: MixtureClassifier().fit(X, y, checkpoint=file), "classifier"),
        (lambda: MixtureClassifier().fit(X[::-1], y, checkpoint=mixture), "rows"),
    ):
        with pytest.raises(ValueError, match=f"checkpoint of another fit: the .*{differs}"):
            fit()
    table.touch()
    with pytest.raises(ValueError, match="checkpoint of another fit: the source"):
        BayesClassifier().fit_table(table, "y", checkpoint=file)
    model = GaussianNB().fit(X, y).save(tmp_path / "m.suffice")
    with pytest.raises(ValueError, match="is a model, not a checkpoint"):
        MixtureClassifier().fit(X, y, checkpoint=model)
    with pytest.raises(ValueError, match="a checkpoint is for files"):
        BayesClassifier().fit_table(pl.DataFrame({"a": ["u", "v"], "y": [0, 1]}), "y", checkpoint=file)
    suffice.load(model)


def test_the_command_line_continues(table: Path, tmp_path: Path, killing: Any) -> None:
    model, file = tmp_path / "m.suffice", tmp_path / "checkpoint"
    command = ["fit", str(table), "-t", "y", "-o", str(model), "--structure", "naive", "--checkpoint", str(file)]
    killing(2)
    assert CliRunner().invoke(app, command).exit_code == 130
    assert file.exists()
    assert not model.exists()
    killing(0)
    assert CliRunner().invoke(app, command).exit_code == 0
    assert suffice.load(model).class_count_.sum() == 2000
    assert not file.exists()
