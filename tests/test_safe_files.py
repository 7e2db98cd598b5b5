"""Files and threads: updates are not lost, failures leave the old file, and only regular files are written."""

from __future__ import annotations

import copy
import os
import pickle
import resource
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import suffice
from conftest import Case, every_case, example
from suffice import (
    BayesClassifier,
    BernoulliNB,
    GaussianDiscriminant,
    GaussianNB,
    LogisticRegression,
    Receipt,
    report,
)
from suffice.cli.app import app
from suffice.storage import file_lock
from suffice.storage.atomic_write import replace_file
from suffice.storage.file_update import update_file


def run(*arguments: Any, code: int = 0) -> str:
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == code, (done.output, done.exception)
    return done.stderr


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"a": rng.choice(["u", "v"], 40), "b": rng.choice(["u", "v"], 40), "y": rng.choice([0, 1], 40)}
    )
    frame.write_csv(tmp_path / "rows.csv")
    return tmp_path / "rows.csv"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "files").mkdir()
    return tmp_path / "files"


@pytest.fixture
def file(rows: Path, folder: Path) -> Path:
    run("fit", rows, "-t", "y", "-o", folder / "m.suffice", "--structure", "naive")
    return folder / "m.suffice"


# -- updates -------------------------------------------------------------------------------------------


def test_an_update_is_saved_at_the_end_of_the_block(file: Path) -> None:
    with suffice.open(file) as model:
        model.partial_fit(pl.DataFrame({"a": ["u"], "b": ["v"]}), [1])
        assert suffice.load(file).class_count_.sum() == 40  # reading needs no lock
    assert suffice.load(file).class_count_.sum() == 41
    assert list(file.parent.iterdir()) == [file]


def test_an_exception_leaves_the_file_as_it_was(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(KeyError), suffice.open(file) as model:
        model.partial_fit(pl.DataFrame({"a": ["u"], "b": ["v"]}), [1])
        raise KeyError
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_threads_that_update_a_file_wait_for_each_other(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lock, "PATIENCE", 60)

    def learn() -> None:
        for _ in range(5):
            with suffice.open(file) as model:
                model.partial_fit(pl.DataFrame({"a": ["u"], "b": ["v"]}), [1])

    in_threads([learn] * 4)
    assert suffice.load(file).class_count_.sum() == 60


def test_waiting_ends(file: Path, rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lock, "PATIENCE", 0.05)
    before = file.read_bytes()
    with update_file(file):
        with (
            pytest.warns(UserWarning, match=f"waiting for process {os.getpid()}, which is changing"),
            pytest.raises(TimeoutError, match=f"is being changed by process {os.getpid()}.*timeout="),
            suffice.open(file, timeout=0.1),
        ):
            pass
        for command in (["learn", file, rows], ["forget", file, rows], ["merge", file, file, "-o", file]):
            said = run(*command, "--wait", 0.1, code=1)
            assert "note: waiting for process" in said
            assert "--wait SECONDS" in said
        run("learn", file, rows, "-o", file.with_name("other"))  # changes another file
    assert file.read_bytes() == before


@pytest.mark.parametrize("change", [lambda file: file.unlink(), lambda file: file.write_bytes(b"other")])
def test_a_change_by_another_program_is_not_overwritten(file: Path, change: Callable[[Path], Any]) -> None:
    with pytest.raises(OSError, match="changed by another program"), suffice.open(file):
        change(file)
    assert not file.exists() or file.read_bytes() == b"other"


def test_a_receipt_tells_whether_a_killed_command_has_forgotten(file: Path, rows: Path, folder: Path) -> None:
    """It is written before the model: a command that is killed between the two can be run again."""
    part, receipt = folder / "part.csv", folder / "receipt.json"
    pl.read_csv(rows).head(3).write_csv(part)
    before = file.read_bytes()
    run("forget", file, part, "--receipt", receipt)
    after = suffice.load(file).tally_.digest()
    file.write_bytes(before)  # as if it had been killed before the model was written
    run("forget", file, part, "--receipt", receipt)
    assert suffice.load(file).tally_.digest() == after == Receipt.from_json(receipt.read_text()).digest_after
    assert "forgotten already" in run("forget", file, part, "--receipt", receipt)
    assert suffice.load(file).tally_.digest() == after
    run("learn", file, part)
    run("learn", file, part)
    assert "another model" in run("forget", file, part, "--receipt", receipt, code=1)


# -- a model that cannot predict replaces none ---------------------------------------------------------


def test_maximum_likelihood_of_a_singular_covariance_fails_in_fit(file: Path, folder: Path) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=60), rng.choice(["no", "yes"], 60)
    frame, before = pl.DataFrame({"x": x, "twice": 2 * x, "y": y}), file.read_bytes()
    frame.write_csv(folder / "collinear.csv")
    settings = ["--structure", "full", "--numeric", "gaussian", "--estimate", "mle"]
    assert "singular" in run("fit", folder / "collinear.csv", "-t", "y", "-o", file, *settings, code=1)
    assert file.read_bytes() == before
    table = frame.drop("y")
    bayes = BayesClassifier(structure="full", numeric="gaussian", estimate="mle")
    for fit in (bayes.fit, GaussianDiscriminant(estimate="mle").fit, lambda *_: bayes.fit_table(frame, "y")):
        with pytest.raises(ValueError, match="singular"):
            fit(table, y)
    assert not hasattr(bayes, "tally_")
    known = GaussianDiscriminant(estimate="mean").fit(table, y).set_params(estimate="mle")
    with pytest.raises(ValueError, match="singular"):
        known.save(file)
    assert file.read_bytes() == before


# -- devices, pipes and links --------------------------------------------------------------------------


def test_only_regular_files_are_written_and_read(file: Path, rows: Path, folder: Path) -> None:
    pipe, model = folder / "pipe", suffice.load(file)
    os.mkfifo(pipe)
    for write in (model.save, lambda path: report.write(model, path), lambda path: replace_file(path, b"")):
        with pytest.raises(OSError, match="regular file"):
            write(pipe)
    for command in (
        ["fit", rows, "-t", "y", "-o", pipe],
        ["predict", file, rows, "-o", pipe],
        ["sql", file, "-o", pipe],
        ["report", file, "-o", pipe],
        ["info", pipe],
        ["learn", pipe, rows],
        ["merge", file, pipe, "-o", file],
    ):
        assert "regular file" in run(*command, code=1)
    assert pipe.is_fifo()
    with pytest.raises(OSError, match="regular file"):
        model.save("/dev/null")
    with pytest.raises(suffice.StoreError, match="regular file"):
        suffice.load("/dev/zero")


def test_symbolic_links_stay(file: Path, rows: Path, folder: Path) -> None:
    link = folder / "link"
    link.symlink_to(file)
    run("learn", link, rows)
    with suffice.open(link) as model:
        model.partial_fit(pl.DataFrame({"a": ["u"], "b": ["v"]}), [1])
    assert link.is_symlink()
    assert suffice.load(file).class_count_.sum() == 81
    assert sorted(folder.iterdir()) == [link, file]


# -- a full disk, and files of killed processes --------------------------------------------------------


@contextmanager
def full_disk(size: int = 100) -> Iterator[None]:
    """No file can grow beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("command", ["fit", "learn", "forget", "merge", "predict", "report", "sql"])
def test_a_full_disk_leaves_the_old_file(file: Path, rows: Path, folder: Path, command: str) -> None:
    part = folder / "part.csv"
    pl.read_csv(rows).head(3).write_csv(part)
    output = file if command in ("learn", "forget", "merge") else folder / "out.csv"
    output.touch()
    before, names = output.read_bytes(), sorted(folder.iterdir())
    arguments = {
        "fit": [rows, "-t", "y"],
        "learn": [file, part],
        "forget": [file, part],
        "merge": [file, file],
        "predict": [file, rows],
        "report": [file],
        "sql": [file],
    }[command]
    with full_disk():
        said = run(command, *arguments, "-o", output, code=1)
    assert f"{output} could not be written (File too large); it is as it was" in said
    assert output.read_bytes() == before
    assert sorted(folder.iterdir()) == names


def test_files_of_killed_processes_are_deleted_and_those_of_others_are_not(folder: Path) -> None:
    dead, alive, other = (folder / f".m.{name * 16}.tmp" for name in "abc")
    strange = [folder / name for name in (".m.tmp", f".m2.{'a' * 16}.tmp", f".m.{'z' * 16}.tmp")]
    for path in (dead, alive, *strange):
        path.touch()
    other.mkdir()
    descriptor = os.open(alive, os.O_RDONLY)
    assert file_lock.try_lock(descriptor)  # as a process that is writing holds it
    replace_file(folder / "m", b"new")
    assert sorted(folder.iterdir()) == sorted([folder / "m", alive, other, *strange])
    file_lock.unlock(descriptor)


def test_a_write_keeps_the_permissions(folder: Path) -> None:
    (folder / "m").touch(0o600)
    replace_file(folder / "m", b"new")
    assert (folder / "m").stat().st_mode & 0o777 == 0o600


# -- threads -------------------------------------------------------------------------------------------


@contextmanager
def frequent_switches() -> Iterator[None]:
    """Let threads take turns a thousand times more often than by default."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(interval / 1000)
    yield
    sys.setswitchinterval(interval)


def in_threads(functions: list[Callable[[], None]]) -> None:
    """Call functions at the same time; raise what they raise."""
    errors: list[BaseException] = []

    def call(function: Callable[[], None]) -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_threads_that_learn_and_forget_lose_no_row() -> None:
    model = BernoulliNB().fit([[1, 0], [0, 1]], [0, 1])

    def learn() -> None:
        for _ in range(100):
            model.partial_fit([[1, 1], [0, 1]], [0, 1])
            model.partial_fit([[1, 1]], [2])
            model.forget([[1, 1]], [2])

    in_threads([learn] * 8)
    assert model.class_count_.tolist() == [801.0, 801.0]
    assert (
        model.tally_.digest()
        == BernoulliNB().fit([[1, 0], [0, 1], [1, 1], [0, 1]], [0, 1, 0, 1], [1, 1, 800, 800]).tally_.digest()
    )


def test_eight_threads_learn_five_hundred_batches_each() -> None:
    X, y = np.array([[1.0, 2.0], [4.0, 3.0]]), [0, 1]
    model = GaussianNB().fit(X, y)

    def learn() -> None:
        for _ in range(500):
            model.partial_fit(X, y)

    in_threads([learn] * 8)
    assert model.class_count_.sum() == 8002
    assert model.tally_.isclose(GaussianNB().fit(X, y, [4001, 4001]).tally_)


def test_threads_that_fit_a_logistic_regression_leave_one_of_their_models() -> None:
    """The tables have 2 to 6 columns and as many classes, so attributes of different fits do not go together."""
    rng = np.random.default_rng(0)
    tables = {size: (rng.normal(size=(40, size)), np.arange(40) % size) for size in range(2, 7)}
    expected = {size: LogisticRegression().fit(*table).predict_proba(table[0]) for size, table in tables.items()}
    model, ended = LogisticRegression().fit(*tables[2]), list[int]()

    def fit(size: int) -> None:
        for _ in range(40):
            model.fit(*tables[size])
        ended.append(size)

    def predict() -> None:
        while len(ended) < len(tables):
            form, now = model.as_linear(), pickle.loads(pickle.dumps(model))
            assert form.coefficients.shape == (len(form.classes), len(form.classes))
            np.testing.assert_allclose(now.predict_proba(tables[now.n_features_in_][0]), expected[now.n_features_in_])
            for size, (rows, labels) in tables.items():
                with suppress(ValueError):  # the model has another number of columns
                    assert set(model.predict(rows)) <= set(labels)
                    np.testing.assert_allclose(model.predict_proba(rows), expected[size])

    with frequent_switches():
        in_threads([*(partial(fit, size) for size in tables), predict])
    np.testing.assert_allclose(model.predict_proba(tables[model.n_features_in_][0]), expected[model.n_features_in_])


@every_case
def test_a_prediction_sees_a_change_as_a_whole_or_not_at_all(case: Case) -> None:
    """Each batch brings a new class, so labels, parameters and columns of different states do not fit together."""
    rows, _ = example(case, rows=10)
    batches = [(rows, [label] * 10) for label in range(30)]
    model, states = case.ours().fit(*batches[0]), []
    sequential = case.ours()
    for batch in batches:
        sequential.partial_fit(*batch)
        states.append((sequential.predict(rows).tolist(), sequential.predict_joint_log_proba(rows)))
    seen: list[int] = []

    def learn() -> None:
        for batch in batches[1:]:
            model.partial_fit(*batch)

    def predict() -> None:
        while not seen or seen[-1] < len(batches):
            joint = model.predict_joint_log_proba(rows)
            seen.append(joint.shape[1])
            np.testing.assert_allclose(joint, states[joint.shape[1] - 1][1], rtol=1e-9, atol=1e-9)
            assert model.predict(rows).tolist() in [labels for labels, _ in states]
            assert len(pickle.loads(pickle.dumps(model)).classes_) >= joint.shape[1]

    in_threads([learn, predict, predict])
    assert seen[-1] == len(batches)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_have_no_lock(duplicate: Callable[[Any], Any]) -> None:
    model = BernoulliNB().fit([[1], [0]], [0, 1]).partial_fit([[1]], [1])
    other = duplicate(model)
    other.partial_fit([[1]], [1])
    assert (model.class_count_.sum(), other.class_count_.sum()) == (3, 4)
    assert not any("lock" in type(value).__name__.lower() for value in model.__getstate__().values())


def test_a_wait_is_not_told_if_it_is_short(file: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with suffice.open(file):
            pass
