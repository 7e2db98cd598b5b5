"""The command line: commands, options, output and errors, through its entry point."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import save as packed
from scipy.stats import entropy
from sklearn.datasets import load_iris
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    recall_score,
    roc_auc_score,
)
from typer.testing import CliRunner

import suffice
from suffice.classifiers.tally_classifier import CalibrationMethod
from suffice.cli.app import app
from suffice.printable import signed


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


def told(*arguments: Any, given: bytes | None = None, code: int = 0) -> tuple[str, str]:
    """Run a command in this process, which takes no time to start; return what it says on both channels."""
    done = CliRunner().invoke(app, [*map(str, arguments)], input=given)
    assert done.exit_code == code, (done.exit_code, done.output, done.exception)
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


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
    told("fit", folder / name, "-t", "bought", "-o", tmp_path / "model.suffice")
    digests = [suffice.load(path / "model.suffice").tally_.digest() for path in (folder, tmp_path)]
    assert digests[0] == digests[1]


def test_a_file_without_titles_goes_by_places(folder: Path, tmp_path: Path) -> None:
    told("fit", folder / "bare.csv", "-t", "-1", "-o", tmp_path / "model.suffice")
    model = suffice.load(tmp_path / "model.suffice")
    assert model.target_name_ == "c3"
    assert list(model.families_) == ["c0", "c1", "c2"]
    out, _ = told("predict", tmp_path / "model.suffice", folder / "bare.csv", "--no-proba")
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
        told("predict", folder / "model.suffice", folder / "train.parquet", "-o", tmp_path / name, "--keep")
    np.testing.assert_allclose(pl.read_parquet(tmp_path / "out.parquet")["p(no)"], expected[:, 0])
    assert pl.read_csv(tmp_path / "out.csv.gz").columns == pl.read_ipc(tmp_path / "out.feather").columns
    unsure, _ = told("predict", folder / "model.suffice", folder / "train.csv", "--reject-below", "0.99", "--no-proba")
    assert unsure.splitlines().count("") > 0


def test_evaluate_explain_info_for_people_and_machines(folder: Path) -> None:
    model, frame = suffice.load(folder / "model.suffice"), table()
    out, _ = run("evaluate", folder / "model.suffice", folder / "train.csv", "--json")
    found = json.loads(out)
    X, y = frame.drop("bought"), frame["bought"].to_list()
    assert found["accuracy"] == pytest.approx(model.score(X, y))
    assert found["accuracy_interval"][0] < found["accuracy"] < found["accuracy_interval"][1]
    assert sum(sum(line.values()) for line in found["confusion"].values()) == 120
    predicted, p, is_yes = model.predict(X), model.predict_proba(X)[:, 1], np.array(y) == "yes"
    assert found["brier"] == pytest.approx(brier_score_loss(is_yes, p))
    assert found["roc_auc"] == pytest.approx(roc_auc_score(is_yes, p))
    assert found["average_precision"] == pytest.approx(average_precision_score(is_yes, p))
    assert found["f1"] == pytest.approx(f1_score(is_yes, predicted == "yes"))
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(is_yes, predicted == "yes"))
    assert found["classes"]["no"]["recall"] == pytest.approx(recall_score(~is_yes, predicted == "no"))
    assert found["baseline"]["accuracy"] == pytest.approx(max(is_yes.mean(), 1 - is_yes.mean()))
    assert found["are_training_rows"]
    out, errors = told("evaluate", folder / "model.suffice", folder / "train.csv")
    assert "accuracy" in out
    assert "these are the rows that the model was fitted to" in errors
    table(seed=1).write_csv(folder / "other.csv")
    _, errors = told("evaluate", folder / "model.suffice", folder / "other.csv")
    assert not errors
    out, _ = run("explain", folder / "model.suffice", folder / "train.csv", "--row", "3", "--json")
    said = json.loads(out)
    p = model.predict_proba(X[3:4])[0]
    total = sum(part["nats"] for part in said["contributions"])
    assert total == pytest.approx(abs(np.log(p[1] / p[0])), rel=1e-9)
    out, _ = told("explain", folder / "model.suffice", folder / "train.csv", "--row", "3")
    assert "Köln" in out or "Bonn" in out or "a, b" in out
    out, _ = run("info", folder / "model.suffice", "--json")
    assert json.loads(out)["digest"] == model.tally_.digest()
    pool, said = model.pool_, json.loads(out)["pool"]
    assert [part["weight"] for part in said["components"]] == pool.weights.tolist()
    assert {part["name"]: part["log_loss"] for part in said["components"]} | {"pool": said["log_loss"]} == pool.log_loss
    assert said["held_out_rows"] == 120
    out, _ = told("info", folder / "model.suffice")
    assert "bought" in out
    assert f"together {pool.log_loss['pool']:.4f}" in " ".join(out.split())


def test_compare_writes_the_best(folder: Path, tmp_path: Path) -> None:
    asked = ["compare", folder / "train.csv", "-t", "bought", "--cv", "3"]
    out, _ = run(*asked, "--json", "-o", tmp_path / "best.suffice")
    lines = json.loads(out)
    assert lines[0]["verdict"] == "best"
    assert lines[0]["log_loss"] <= lines[-1]["log_loss"]
    assert lines[-1]["model"] == "(baseline)"
    out, _ = told("predict", tmp_path / "best.suffice", folder / "train.csv")
    assert out.startswith("prediction")
    out, _ = told(*asked, "--repeats", "2", "--scoring", "accuracy", "--scoring", "roc_auc", "--margin", "0.5")
    assert "Sorted by accuracy" in out
    assert "practically equal" in out
    assert max(map(len, out.splitlines()[1:])) <= 80


def test_compare_takes_families(folder: Path, tmp_path: Path) -> None:
    run("compare", folder / "train.csv", "-t", "bought", "--cv", "3", "--family", "town=ignore", "-o", tmp_path / "m")
    assert "town" not in suffice.load(tmp_path / "m").families_
    _, errors = told("compare", folder / "train.csv", "-t", "bought", "--family", "town", code=1)
    assert "--family is COLUMN=FAMILY" in errors


def test_a_report_on_training_rows_says_so(folder: Path, tmp_path: Path) -> None:
    fitted = tmp_path / "model.suffice"
    run("fit", folder / "train.csv", "-t", "bought", "-o", fitted)
    _, errors = told("report", fitted, "--data", folder / "train.csv", "-o", tmp_path / "report.html")
    assert "the rows that the model was fitted to" in errors


@pytest.mark.parametrize(
    "options", [(), ("--structure", "tree"), ("--calibrate", "temperature", "--structure", "naive")], ids=str
)
def test_fit_says_how_good_the_model_is(folder: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    asked = ["fit", folder / "train.csv", "-t", "bought", "-o", tmp_path / "m.suffice", *options]
    found = json.loads(told(*asked, "--json")[0])
    quality, frame = found["quality"], table()
    share = (frame["bought"] == "yes").mean()
    assert quality["baseline"]["accuracy"] == pytest.approx(max(share, 1 - share))
    assert quality["baseline"]["log_loss"] == pytest.approx(entropy([share, 1 - share]))
    assert quality["baseline"]["log_loss"] > quality["log_loss"] > 0.2
    assert len(found["digest"]) == 64
    out, _ = told(*asked)
    assert found["digest"] not in out
    assert f"{quality['accuracy']:.3f}" in out
    assert "(chosen by auto)" in out or options


def test_a_target_that_is_a_quantity_or_has_one_class(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    frame = pl.DataFrame({"x": x, "price": (1000 + 300 * x + rng.normal(size=400)).round(2), "n": np.arange(400) // 3})
    frame.write_csv(tmp_path / "houses.csv")
    houses, model = tmp_path / "houses.csv", tmp_path / "m.suffice"
    for order in ("fit", "compare"):
        _, errors = told(order, houses, "-t", "price", code=1)
        assert "'price' looks like a quantity" in errors
        assert "--bins 3" in errors
    _, errors = told("fit", houses, "-t", "n", "-o", model, code=1)
    assert "or --yes" in errors
    told("fit", houses, "-t", "n", "-o", model, "--yes", "--structure", "naive")
    assert len(suffice.load(model).classes_) == 134
    told("fit", houses, "-t", "price", "-o", model, "--bins", "3", "--structure", "naive")
    counts = suffice.load(model).class_count_
    assert counts.sum() == 400
    assert counts.min() > 120
    found = json.loads(told("evaluate", model, houses, "--json")[0])
    assert found["accuracy"] > 0.8
    assert [name[:2] for name in found["classes"]] == ["1:", "2:", "3:"]
    told("learn", model, houses)
    assert suffice.load(model).class_count_.sum() == 800
    told("compare", houses, "-t", "price", "--bins", "2", "--cv", "2", "-o", tmp_path / "best.suffice")
    assert json.loads(told("evaluate", tmp_path / "best.suffice", houses, "--json")[0])["accuracy"] > 0.9
    _, errors = told("fit", houses, "-t", "price", "-o", model, "--bins", "1", code=1)
    assert "at least 2" in errors
    (tmp_path / "one.csv").write_text("a,y\n" + "1,p\n2,p\n" * 10)
    for order in ("fit", "compare"):
        _, errors = told(order, tmp_path / "one.csv", "-t", "y", code=1)
        assert "column 'y' has one class only, 'p'" in errors


def test_learn_forget_and_merge_are_exact(folder: Path, tmp_path: Path) -> None:
    frame = table()
    for name, part in (("first", frame[:70]), ("second", frame[70:])):
        part.write_csv(tmp_path / f"{name}.csv")
    options = ["-t", "bought", "--family", "age=categorical", "--structure", "naive"]
    for name in ("first", "second"):
        told("fit", tmp_path / f"{name}.csv", *options, "-o", tmp_path / f"{name}.suffice")
    told("fit", folder / "train.csv", *options, "-o", tmp_path / "whole.suffice")
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
    _, errors = told("forget", tmp_path / "more.suffice", tmp_path / "second.csv", code=1)
    assert "never learned" in errors or "only" in errors
    assert suffice.load(tmp_path / "more.suffice").tally_.digest() == first


def test_tables_fit_80_columns(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 26, 520)
    frame = pl.DataFrame({f"a rather long name of column {j}": codes + rng.normal(0, 3, 520) for j in range(30)})
    frame.with_columns(pl.Series("letter", [f"class {chr(65 + code)}" for code in codes])).write_csv(tmp_path / "t.csv")
    monkeypatch.chdir(tmp_path)
    shown = [told("fit", "t.csv", "-t", "letter", "--structure", "naive", "-o", "m.suffice", "--calibrate", "vector")]
    shown += [told(command, "m.suffice", "t.csv") for command in ("evaluate", "drift", "explain")]
    shown += [
        told("info", "m.suffice"),
        told("verify", "m.suffice"),
        told("merge", "m.suffice", "m.suffice", "-o", "n"),
    ]
    shown.append(told("compare", folder / "train.csv", "-t", "bought", "--cv", "2"))
    lines = [line for out, _ in shown for line in out.split("\n") if str(folder) not in line]
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith(" ") for line in lines)
    assert "the most frequent errors" in shown[1][0]


def test_report_and_demo_write_pages(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    out, _ = run("report", folder / "model.suffice", "--data", folder / "train.csv", "-o", page)
    assert str(page) in out
    assert "Bonn" in page.read_text()
    told("report", folder / "model.suffice", "-o", page)
    assert page.stat().st_size < 3e6
    naive = tmp_path / "naive.suffice"
    told("fit", folder / "train.csv", "-t", "bought", "-o", naive, "--structure", "naive")
    _, errors = told("report", folder / "model.suffice", naive, "-o", page, code=1)
    assert "with --data" in errors
    told("report", folder / "model.suffice", naive, "--data", folder / "train.csv", "-o", page)
    assert '"comparison":[{"name":"model"' in page.read_text()
    _, errors = told("report", folder / "model.suffice", "--data", tmp_path / "none.csv", "-o", page, code=1)
    assert "no file" in errors
    out, _ = run("demo", "-o", tmp_path / "digits.html")
    assert "full covariance" in out
    assert "open it in a browser" in out
    assert (tmp_path / "digits.html").stat().st_size < 3e6


def bad_files(path: Path) -> dict[str, bytes]:
    files = {
        "empty.csv": b"",
        "header.csv": b"age,town,bought\n",
        "ragged.csv": b"age,town,bought\n1,a,yes\n2,b,no,5\n",
        "short.csv": b"age,town,bought\n1,a,yes\n2,b\n",
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
        ("broken.parquet", "cannot be read as Parquet"),
        ("broken.csv.gz", "damaged gz"),
        ("broken.jsonl", "cannot be read as JSON lines"),
        ("unlabelled.csv", "--drop-unlabelled"),
    ],
)
def test_bad_files_are_named_in_one_line(tmp_path: Path, name: str, said: str) -> None:
    bad_files(tmp_path)
    _, errors = told("fit", tmp_path / name, "-t", "bought", "-o", tmp_path / "model.suffice", code=1)
    assert said in errors
    assert name in errors or name == "unlabelled.csv"
    assert len(errors.strip().splitlines()) == 1
    assert not (tmp_path / "model.suffice").exists()


def test_bad_words_and_models(folder: Path, tmp_path: Path) -> None:
    _, errors = run("fit", folder / "train.csv", "-t", "bougth", code=1)
    assert "did you mean 'bought'?" in errors
    _, errors = told("fit", folder / "train.csv", "-t", "bought", "--structure", "forest", "-o", tmp_path / "m", code=1)
    assert "'forest' is not known" in errors
    _, errors = told("fit", folder / "train.csv", "-t", "bought", "--family", "age", "-o", tmp_path / "m", code=1)
    assert "COLUMN=FAMILY" in errors
    _, errors = told("info", folder / "train.csv", code=1)
    assert "not a model file of suffice" in errors
    header = {"format": 99, "version": "9.9", "classifier": "GaussianNB", "state": {}, "digest": ""}
    (tmp_path / "new.suffice").write_bytes(packed({"a": np.zeros(1)}, {"suffice": json.dumps(header)}))
    _, errors = told("predict", tmp_path / "new.suffice", folder / "train.csv", code=1)
    assert "newer" in errors
    _, errors = told("explain", folder / "model.suffice", folder / "train.csv", "--row", "500", code=1)
    assert "no row 500" in errors
    nowhere = tmp_path / "no" / "x.csv"
    _, errors = told("predict", folder / "model.suffice", folder / "train.csv", "-o", nowhere, code=1)
    assert "no folder" in errors
    _, errors = told("fit", folder / "train.csv", code=2)
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
        "sql",
        "onnx",
        "learn",
        "forget",
        "merge",
        "info",
        "demo",
    ]
    for name in commands:
        assert f"\n  {name} " in out
    out, _ = told("fit", "--help")
    assert "suffice fit train.csv --target income" in out
    out, _ = told("--version")
    assert suffice.__version__ in out


def test_sql_scores_as_predict_does(folder: Path, tmp_path: Path) -> None:
    import duckdb

    model, written = tmp_path / "tree.suffice", tmp_path / "score.sql"
    told("fit", folder / "train.csv", "-t", "bought", "--structure", "tree", "-o", model)
    sql, _ = run("sql", model, "--table", "people")
    told("sql", model, "--table", "people", "-o", written)
    assert written.read_text(encoding="utf-8") == sql
    predicted = pl.read_csv(io.StringIO(told("predict", model, folder / "train.csv", "--keep")[0]))
    with duckdb.connect() as base:
        base.execute("CREATE TABLE people AS SELECT * FROM read_parquet(?)", [str(folder / "train.parquet")])
        done = base.execute(sql)
        names = [column[0] for column in done.description]
        said = pl.DataFrame(done.fetchall(), schema=names, orient="row")
    assert names == predicted.columns
    assert said["prediction"].to_list() == predicted["prediction"].to_list()
    for name in ("p(no)", "p(yes)"):
        assert np.abs(said[name].to_numpy() - predicted[name].to_numpy()).max() < 1e-6


def test_the_default_model_is_a_script_with_a_view(folder: Path, tmp_path: Path) -> None:
    import duckdb

    model, written = folder / "model.suffice", tmp_path / "score.sql"
    told("sql", model, "--table", "people", "--prefix", "bought", "-o", written)
    predicted = pl.read_csv(io.StringIO(told("predict", model, folder / "train.csv", "--keep")[0]))
    with duckdb.connect() as base:
        base.execute("CREATE TABLE people AS SELECT * FROM read_parquet(?)", [str(folder / "train.parquet")])
        base.execute(written.read_text(encoding="utf-8"))
        said = base.sql("SELECT * FROM bought").pl()
    assert said.columns == predicted.columns
    for name in ("p(no)", "p(yes)"):
        assert np.abs(said[name].sort().to_numpy() - predicted[name].sort().to_numpy()).max() < 1e-6


def test_a_large_script_is_announced(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.cli.output.LARGE_FILE", 1000)
    _, errors = told("sql", folder / "model.suffice", "-o", tmp_path / "score.sql")
    assert "MB" in errors
    assert "leaves of decision trees" in errors
    assert "--structure averaged writes it without trees, and suffice fit --trees 50 fits fewer" in errors


def test_sql_says_in_one_line_what_it_cannot_write(folder: Path) -> None:
    _, errors = told("sql", folder / "model.suffice", "--dialect", "sqlight", code=1)
    assert errors.count("\n") == 1
    assert "did you mean 'sqlite'?" in errors
    _, errors = told("sql", folder / "model.suffice", "--style", "select", code=1)
    assert errors.count("\n") == 1
    assert "use --style tables" in errors
    assert "python" not in errors.lower()
    _, errors = told("sql", folder / "model.suffice", "--style", "table", code=1)
    assert "--style is 'auto', 'select' or 'tables'" in errors
    for structure in ("tree", "naive"):
        assert "SELECT" in told("sql", folder / "model.suffice", "--structure", structure)[0]
    out, _ = told("sql", "--help")
    assert "suffice sql income.suffice --dialect postgres" in out


COLOURS = [["a", 1.5, "1", "red"], ["b", 3.5, "X", "green"], ["a", 1.0, "2", "red"], ["b", 4.0, "1", "green"]] * 10


@pytest.fixture(scope="module")
def colours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of a table whose levels may look like numbers."""
    path = tmp_path_factory.mktemp("colours")
    lines = ["y,v,code,col", *(",".join(map(str, line)) for line in COLOURS)]
    (path / "train.csv").write_text("\n".join(lines))
    told("fit", path / "train.csv", "-t", "y", "--structure", "naive", "-o", path / "m.suffice")
    return path


def said(out: str, column: str = "prediction") -> list[Any]:
    return pl.read_csv(io.StringIO(out))[column].to_list()


def test_a_row_goes_in_and_a_row_comes_out(colours: Path, tmp_path: Path) -> None:
    model = colours / "m.suffice"
    out, _ = told("predict", model, "-", given=b"v,code,col\n1,X,red\n,,\n\n2,1,green\n")
    assert len(said(out)) == 3
    assert said(out, "p(a)")[1] == 0.5
    (tmp_path / "words.csv").write_text("y,text\nspam,win cash now\nham,see you at noon\nspam,win a prize\n")
    told("fit", tmp_path / "words.csv", "-t", "y", "--family", "text=text", "-o", tmp_path / "w.suffice")
    out, _ = told("predict", tmp_path / "w.suffice", "-", given=b'text\nwin cash\n""\n\nat noon\n')
    assert len(said(out)) == 4
    assert said(out, "p(ham)")[1:3] == pytest.approx([1 / 3] * 2)


def test_columns_and_labels_are_of_the_kind_that_was_learned(colours: Path, tmp_path: Path) -> None:
    model = suffice.load(colours / "m.suffice")
    rows = [[1.0, "1", "red"], [2.0, "2", "green"]]
    expected = model.predict_proba(pl.DataFrame(rows, ["v", "code", "col"], orient="row"))[:, 0]
    out, errors = told("predict", colours / "m.suffice", "-", given=b"v,code,col\n1,1,red\n2,2,green\n")
    np.testing.assert_allclose(said(out, "p(a)"), expected)
    assert errors == ""
    pl.DataFrame({"v": [1.0, 2.0], "code": [1, 2], "col": ["red", "green"]}).write_parquet(tmp_path / "x.parquet")
    np.testing.assert_allclose(
        said(told("predict", colours / "m.suffice", tmp_path / "x.parquet")[0], "p(a)"), expected
    )
    codes = ["1", "2", "X"] * 20
    (tmp_path / "t.csv").write_text("y,v\n" + "\n".join(f"{code},{n % 3}" for n, code in enumerate(codes)))
    told("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "t.suffice")
    out, _ = told("evaluate", tmp_path / "t.suffice", "-", "--json", given=b"y,v\n1,0\n2,1\n")
    assert json.loads(out)["accuracy"] == 1.0
    told("learn", tmp_path / "t.suffice", "-", "-o", tmp_path / "more.suffice", given=b"y,v\n1,0\n2,1\n")
    assert suffice.load(tmp_path / "more.suffice").class_count_.tolist() == [21.0, 21.0, 20.0]
    _, errors = told("evaluate", tmp_path / "t.suffice", "-", given=b"y,v\nno,0\nyes,1\n", code=1)
    assert "'no', 'yes'" in errors
    assert "'1', '2', 'X'" in errors
    (tmp_path / "n.csv").write_text("y,k\n" + "\n".join(f"{'ab'[n % 2]},{n % 3}" for n in range(60)))
    told("fit", tmp_path / "n.csv", "-t", "y", "-o", tmp_path / "n.suffice")
    out, errors = told("predict", tmp_path / "n.suffice", "-", given=b"k\n1\nX\n")
    assert "cells that are not numbers as missing: 'k' ('X' in 1 row)" in errors
    assert len(said(out)) == 2


def test_other_classifiers_go_by_names_too(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    frame = pl.DataFrame(X, ["a", "b", "c", "d"]).with_columns(y=y)
    frame.select("d", "y", "b", "c", "a").write_csv(tmp_path / "other.csv")
    for model in (suffice.GaussianNB(), suffice.LogisticRegression()):
        fitted = model.fit(frame.drop("y"), y)
        fitted.save(tmp_path / "m.suffice")
        out, _ = told("predict", tmp_path / "m.suffice", tmp_path / "other.csv")
        np.testing.assert_allclose(said(out, "p(1)"), fitted.predict_proba(frame.drop("y"))[:, 1], rtol=1e-9)
    _, errors = told("learn", tmp_path / "m.suffice", tmp_path / "other.csv", "-t", "y", code=1)
    assert "is a LogisticRegression, which" in errors
    out, _ = told("explain", tmp_path / "m.suffice", tmp_path / "other.csv")
    assert "Main reasons: c = 1.4" in " ".join(out.split())
    told("report", tmp_path / "m.suffice", "--data", tmp_path / "other.csv", "-t", "y", "-o", tmp_path / "page.html")
    assert "LogisticRegression" in (tmp_path / "page.html").read_text()
    out, _ = told("sql", tmp_path / "m.suffice", "--dialect", "sqlite", "--table", "flowers")
    assert out.strip() == fitted.to_sql("sqlite", table="flowers").strip()
    _, errors = told("sql", tmp_path / "m.suffice", "--structure", "naive", code=1)
    assert "leave out --structure" in errors
    suffice.GaussianNB().fit(frame.drop("y"), y).save(tmp_path / "g.suffice")
    out, _ = told("explain", tmp_path / "g.suffice", tmp_path / "other.csv")
    assert "0.2" in out
    _, errors = told("predict", tmp_path / "g.suffice", "-", given=b"a,b,c\n1,2,3\n", code=1)
    assert "no column 'd'" in errors


def test_weights_are_learned_and_forgotten(tmp_path: Path) -> None:
    rows = ["y,k,w", *(f"{'ab'[n % 2]},{'xyz'[n % 3]},{1 + n % 4}" for n in range(60))]
    for name, lines in (("all", rows), ("first", rows[:31]), ("last", [rows[0], *rows[31:]])):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    options = ["-t", "y", "--structure", "naive", "--weight", "w"]
    for name in ("all", "first"):
        told("fit", tmp_path / f"{name}.csv", *options, "-o", tmp_path / f"{name}.suffice")
    whole, first = (suffice.load(tmp_path / f"{name}.suffice").tally_.digest() for name in ("all", "first"))
    left = tmp_path / "left.suffice"
    told("forget", tmp_path / "all.suffice", tmp_path / "last.csv", "-o", left)
    assert suffice.load(left).tally_.digest() == first
    told("learn", left, tmp_path / "last.csv", "--weight", "w")
    assert suffice.load(left).tally_.digest() == whole
    bare = "\n".join(line.rpartition(",")[0] for line in rows).encode()
    _, errors = told("forget", left, "-", given=bare, code=1)
    assert "--weight" in errors
    _, errors = told("learn", left, "-", given=bare)
    assert "each row counts as one" in errors
    _, errors = told("predict", left, tmp_path / "last.csv")
    assert errors == ""
    rows = "\n".join(rows).encode()
    plain = tmp_path / "plain.suffice"
    told("fit", tmp_path / "all.csv", "-t", "y", "--structure", "naive", "--family", "w=ignore", "-o", plain)
    told("learn", plain, "-", "--weight", "-1", given=rows)
    assert suffice.load(plain).weight_name_ == "w"
    told("merge", left, tmp_path / "first.suffice", "-o", tmp_path / "sum.suffice")
    assert "weight" in told("info", tmp_path / "sum.suffice")[0]


def test_the_first_line_is_what_the_target_or_the_model_says(colours: Path, tmp_path: Path) -> None:
    body = "\n".join(f"{n},{'ab'[n % 2]},{n % 5}.5,{'xyz'[n % 3]}" for n in range(40))
    for title in ("", "2019", "x" * 80):
        (tmp_path / "t.csv").write_text(f"{title},y,v,k\n{body}")
        told("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "t.suffice")
        model = suffice.load(tmp_path / "t.suffice")
        assert model.class_count_.sum() == 40
        assert list(model.families_)[-2:] == ["v", "k"]
        assert len(said(told("predict", tmp_path / "t.suffice", "-", given=f"{title},v,k\n1,2.5,x".encode())[0])) == 1
    (tmp_path / "pandas.csv").write_text(f",y,v,k\n{body}")
    _, errors = told("fit", tmp_path / "pandas.csv", "-t", "1", "-o", tmp_path / "t.suffice")
    assert "counts the rows" in errors
    assert suffice.load(tmp_path / "t.suffice").target_name_ == "y"
    _, errors = told("fit", "-", "-t", "y", given=b"1,a\n2,b\n", code=1)
    assert "use --header" in errors
    _, errors = told("fit", "-", "-t", "y", "-o", tmp_path / "t.suffice", given=b"v,v,y\n1,2,a\n2,1,b\n")
    assert "which are numbered: 'v_2'" in errors
    _, errors = told("predict", colours / "m.suffice", "-", given=b"1,X,red\n", code=1)
    assert "use --header" in errors


def test_what_was_learned_without_titles_has_none(tmp_path: Path) -> None:
    rows = [f"{'ab'[n % 2]},{'xyz'[n % 3]},{'pq'[n % 2]}" for n in range(60)]
    for target in (0, 2):
        told("fit", "-", "-t", target, "--no-header", "-o", tmp_path / "m.suffice", given="\n".join(rows).encode())
        whole, _ = told("predict", tmp_path / "m.suffice", "-", given="\n".join(rows[:5]).encode())
        cut = [",".join(cell for place, cell in enumerate(row.split(",")) if place != target) for row in rows[:5]]
        fewer, errors = told("predict", tmp_path / "m.suffice", "-", given="\n".join(cut).encode())
        assert whole == fewer
        assert len(said(whole)) == 5
        assert errors == ""
    out, _ = told("predict", tmp_path / "m.suffice", "-", given=b"c1,c0\nx,a\n")
    assert len(said(out)) == 1


def test_decimal_commas_are_numbers_and_dates_are_called_so(tmp_path: Path) -> None:
    lines = [f"{'ab'[n % 2]};{n % 7},{n % 10};1.{100 + n},5;{1 + n % 28:02}.02.2020" for n in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["y;v;pay;day", *lines]))
    _, errors = told("fit", tmp_path / "t.csv", "-t", "y", "--numeric", "gaussian", "-o", tmp_path / "m.suffice")
    assert "decimal commas are read as numbers: 'v', 'pay'" in errors
    assert "columns left out: 'day' (a date or time)" in errors
    model = suffice.load(tmp_path / "m.suffice")
    assert model.families_["pay"] == "gaussian"
    numbers = next(its for its in model.tally_.statistics if hasattr(its, "mean"))
    assert numbers.mean[:, -1] == pytest.approx([1129.5, 1130.5])
    _, errors = told("predict", tmp_path / "m.suffice", "-", given=b"v;pay\n1,5;abc\n", code=1)
    assert "'abc'" in errors


def test_every_error_is_one_line(colours: Path, tmp_path: Path) -> None:
    model, row = colours / "m.suffice", b"v,code,col,prediction\n1,X,red,a\n"
    _, errors = told("predict", model, "-", "--keep", given=row, code=1)
    assert "has a column 'prediction' already" in errors
    assert len(said(told("predict", model, "-", given=b"v,code,col\n1,X," + b"r" * 200_000)[0])) == 1
    assert len(said(told("predict", model, "-", given=b"v,code,col\r1,X,red\r2,1,red\r")[0])) == 2
    assert len(said(told("predict", model, "-", given=b'v,code,col\n1,X,"r\n\n,"\n')[0])) == 1
    for content, word in (
        (b"v,code\n\0\1\2,3\n", "bytes that are not text"),
        (model.read_bytes(), "is a model file"),
        (b"PK\x03\x04" + b"x" * 50, "spreadsheet"),
    ):
        (tmp_path / "odd.csv").write_bytes(content)
        _, errors = told("predict", model, tmp_path / "odd.csv", code=1)
        assert word in errors
        assert len(errors.splitlines()) == 1
    for order in (["demo"], ["report", model], ["fit", colours / "train.csv", "-t", "y"]):
        _, errors = told(*order, "-o", tmp_path / "no" / "x", code=1)
        assert "there is no folder" in errors


@pytest.mark.parametrize(
    ("option", "value", "said", "code"),
    [
        ("--numeric", "high", "'--numeric': Value error, 'high' is not one of 'auto', 'gaussian'", 2),
        ("--missing", "high", "'high' is not one of 'auto', 'skip', 'level'", 2),
        ("--unseen", "high", "'high' is not one of 'share', 'ignore'", 2),
        ("--calibrate", "high", "'high' is not one of 'temperature', 'vector', 'isotonic'", 2),
        ("--estimate", "high", "--estimate is mle, map, mean or predictive, not 'high'", 1),
        ("--estimate", "categorical=mle,age=high", "--estimate is mle, map, mean or predictive, not 'high'", 1),
        ("--class-weight", "high", "--class-weight is balanced or LABEL=WEIGHT, such as yes=2,no=1, not 'high'", 1),
        ("--class-weight", "2", "--class-weight is balanced or LABEL=WEIGHT, such as yes=2,no=1, not '2'", 1),
    ],
)
def test_unknown_choices_name_the_option(
    folder: Path, tmp_path: Path, option: str, value: str, said: str, code: int
) -> None:
    arguments = ("fit", folder / "train.csv", "-t", "bought", "-o", tmp_path / "m.suffice", option, value)
    _, errors = told(*arguments, code=code)
    assert said in " ".join(errors.split())
    assert not (tmp_path / "m.suffice").exists()


def test_choices_of_fit_are_those_of_the_classifier() -> None:
    from suffice.cli import fit_command, option_values

    hints = get_type_hints(suffice.BayesClassifier.__init__)
    assert set(get_args(fit_command.Numeric)) == set(get_args(hints["numeric"]))
    assert set(get_args(fit_command.Missing)) == set(get_args(hints["missing"]))
    assert set(get_args(fit_command.Unseen)) == set(get_args(hints["unseen"]))
    assert set(option_values.RULES) == set(get_args(get_args(hints["estimate"])[0]))
    assert set(get_args(fit_command.Calibration)) == set(get_args(CalibrationMethod))


def test_what_is_strange_is_one_line_too(monkeypatch: pytest.MonkeyPatch, colours: Path) -> None:
    monkeypatch.setattr("suffice.cli.predict_commands.load_model", lambda *given: {}["gone"])
    _, errors = told("info", colours / "m.suffice", code=1)
    assert errors == "suffice: error: KeyError: 'gone'; --debug shows where\n"
    assert isinstance(CliRunner().invoke(app, ["info", "m", "--debug"]).exception, KeyError)


def test_models_and_pages_to_standard_output(colours: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["fit", str(colours / "train.csv"), "-t", "y", "-o", "-"])
    (tmp_path / "m.suffice").write_bytes(done.stdout_bytes)
    digest = suffice.load(tmp_path / "m.suffice").tally_.digest()
    done = CliRunner().invoke(
        app, ["learn", str(colours / "m.suffice"), str(colours / "train.csv"), "-o", "-", "--json"]
    )
    (tmp_path / "more.suffice").write_bytes(done.stdout_bytes)
    assert suffice.load(tmp_path / "more.suffice").class_count_.sum() == 80
    assert len(digest) == 64
    assert told("report", colours / "m.suffice", "-o", "-")[0].startswith("<!doctype html>")
    assert not Path("-").exists()


def test_forms_are_found_by_how_files_begin(folder: Path, tmp_path: Path) -> None:
    expected, _ = told("predict", folder / "model.suffice", folder / "train.parquet")
    for name in ("train.parquet", "train.feather", "train.jsonl"):
        assert told("predict", folder / "model.suffice", "-", given=(folder / name).read_bytes())[0] == expected
    (tmp_path / "train.jsonl.gz").write_bytes(gzip.compress((folder / "train.jsonl").read_bytes()))
    assert told("predict", folder / "model.suffice", tmp_path / "train.jsonl.gz")[0] == expected
    told("predict", folder / "model.suffice", folder / "train.csv", "-o", tmp_path / "out.jsonl.gz")
    lines = gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()).splitlines()
    assert set(json.loads(lines[0])) == {"prediction", "p(no)", "p(yes)"}


def test_machines_get_numbers_and_objects(folder: Path, tmp_path: Path) -> None:
    found = json.loads(told("info", folder / "model.suffice", "--json")[0])
    assert found["rows"] == 120
    assert sum(found["classes"].values()) == 120
    assert found["families"]["flag"] == "bernoulli"
    assert found["settings"]["prior"] == 0.5
    assert isinstance(found["parameters"], int)
    lines = "\n".join(f"{'ab'[n % 2]},{'ab'[n % 2]}" for n in range(60))
    options = ["-t", "y", "--estimate", "mle", "-o", tmp_path / "m.suffice"]
    told("fit", "-", *options, given=f"y,k\n{lines}".encode())
    out, _ = told("explain", tmp_path / "m.suffice", "-", "--json", given=b"k\na\n")
    whole = json.loads(out, parse_constant=lambda word: pytest.fail(word))
    assert whole["contributions"][1]["nats"] == "inf"
    many = suffice.load(tmp_path / "m.suffice")
    many.tally_ = many.tally_ * (1234567 / 60)
    many.save(tmp_path / "many.suffice")
    assert "1,234,567" in told("info", tmp_path / "many.suffice")[0]


def test_truth_is_written_as_in_files(tmp_path: Path) -> None:
    lines = "\n".join(f"{'true' if n % 2 else 'false'},{n % 2}.5" for n in range(60))
    told("fit", "-", "-t", "y", "-o", tmp_path / "m.suffice", given=f"y,v\n{lines}".encode())
    out, _ = told("predict", tmp_path / "m.suffice", "-", given=b"v\n1.5\n")
    assert out.splitlines()[0] == "prediction,p(false),p(true)"
    assert out.splitlines()[1].startswith("true,")
    for label in ("true", "True"):
        assert "p(true)" in told("explain", tmp_path / "m.suffice", "-", "--label", label, given=b"v\n1.5\n")[0]
    out, _ = told("evaluate", tmp_path / "m.suffice", "-", "--json", given=b"y,v\nTrue,1.5\nFalse,0.5\n")
    assert json.loads(out)["accuracy"] == 1.0


def test_small_print(colours: Path, tmp_path: Path) -> None:
    model = colours / "m.suffice"
    _, errors = told("predict", model, "-", given=b"v,code\n1,X\n")
    assert errors.count("are missing, and all their cells") == 1
    _, errors = told("fit", "-", "-t", "y", "-o", tmp_path / "m", given=b"y,k,one\n" + b"a,x,1\nb,z,1\n" * 9)
    assert "set its family: --family" in errors
    for word in ("\\t", "tab"):
        rows = b"v\tcode\tcol\n1\tX\tred\n"
        assert len(said(told("predict", model, "-", "--delimiter", word, given=rows)[0])) == 1
    unlabelled = b"y,v,code,col\na,1.5,1,red\n,3,X,red\n"
    for order in ("evaluate", "learn", "forget"):
        more = [] if order == "evaluate" else ["-o", tmp_path / "x.suffice"]
        _, errors = told(order, model, "-", *more, given=unlabelled, code=1)
        assert "--drop-unlabelled" in errors
        told(order, model, "-", *more, "--drop-unlabelled", given=unlabelled)
    _, errors = told("fit", "-", "-t", "y", "--drop-unlabelled", given=b"y,v\n,1\n,2\n", code=1)
    assert "'y', the target, is empty in all 2 rows" in errors
    days = pl.DataFrame({"y": pl.Series(["2020-01-01", "2020-01-02"]).str.to_date(), "v": [1, 2]})
    days.write_parquet(tmp_path / "days.parquet")
    _, errors = told("fit", tmp_path / "days.parquet", "-t", "y", code=1)
    assert "make it text" in errors
    names = b"\n".join(b"ab"[n % 2 : n % 2 + 1] + b",%d" % (10**45 + n % 3) for n in range(60))
    told("fit", "-", "-t", "y", "-o", tmp_path / "long.suffice", given=b"y,id\n" + names)
    assert suffice.load(tmp_path / "long.suffice").families_ == {"id": "categorical"}
    assert len(said(told("predict", tmp_path / "long.suffice", "-", given=b"id\n%d\n" % 10**45)[0])) == 1
    (tmp_path / "q.csv").write_text('y,"a ""q"" b"\na,x\nb,z\n')
    told("fit", tmp_path / "q.csv", "-t", "y", "--family", 'a "q" b=categorical', "-o", tmp_path / "q.suffice")
    command = f"{sys.executable} -m suffice info {model} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_folders_and_globs_are_learned_where_they_are(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"v": [1.5, 2.5, 7.0, None] * 30, "k": ["x", "y", "y", "z"] * 30, "y": ["a", "a", "b", "b"] * 30}
    )
    (tmp_path / "rows").mkdir()
    for part in range(3):
        frame[part * 40 : part * 40 + 40].write_parquet(tmp_path / "rows" / f"{part}.parquet")
    whole = tmp_path / "whole.csv"
    frame.write_csv(whole)
    told("fit", whole, "-t", "y", "-o", tmp_path / "near.suffice")
    for source in (tmp_path / "rows", tmp_path / "rows" / "*.parquet"):
        out, _ = told("fit", source, "-t", "y", "-o", tmp_path / "far.suffice", "--json")
        assert json.loads(out)["rows"] == 120
        assert suffice.load(tmp_path / "far.suffice").tally_ == suffice.load(tmp_path / "near.suffice").tally_
    _, errors = told("fit", tmp_path / "rows", "-t", "z", code=1)
    assert "there is no column 'z'" in errors
    (tmp_path / "rows" / "1.parquet").write_bytes(b"not a file of columns")
    _, errors = told("fit", tmp_path / "rows", "-t", "y", code=1)
    assert "1.parquet" in errors
    assert "Traceback" not in errors


def test_folders_go_by_places_too(folder: Path, tmp_path: Path) -> None:
    frame = table()
    (tmp_path / "parts").mkdir()
    for place in range(2):
        frame[place::2].write_parquet(tmp_path / "parts" / f"{place}.parquet")
    told("fit", tmp_path / "parts", "-t", "-1", "-o", tmp_path / "model.suffice")
    assert suffice.load(tmp_path / "model.suffice").target_name_ == "bought"
    _, errors = told("fit", tmp_path / "parts", "-t", "9", "-o", tmp_path / "model.suffice", code=1)
    assert "there is no column '9'" in errors
    _, errors = told("fit", tmp_path / "parts", "-t", "bought", "--no-header", "-o", tmp_path / "m", code=1)
    assert "--no-header is for files of CSV" in errors


def test_titles_that_are_numbers_or_empty(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{a:.2f},{b:.2f},{label}" for a, b, label in zip(*rng.normal(size=(2, 60)), ["a", "b"] * 30, strict=True)]

    def fitted(first: str, *options: str) -> tuple[dict[str, Any], str]:
        (tmp_path / "rows.csv").write_text("\n".join([first, *rows]) + "\n")
        out, errors = told("fit", tmp_path / "rows.csv", "-t", "-1", "-o", tmp_path / "m", "--json", *options)
        return json.loads(out), errors

    for first in ("length,2020,class", "length,,class"):
        found, errors = fitted(first)
        assert found["rows"] == 60
        assert "line 1 was read as column names; if it is a row, use --no-header" in errors
    found, errors = fitted("2019,2020,class")
    assert found["rows"] == 61
    assert "line 1 was read as data, and the columns are called c0 to c2; if it names the columns, use --head" in errors
    assert fitted("2019,2020,class", "--header")[0]["rows"] == 60
    assert "line 1" not in fitted("2019,2020,class", "--no-header")[1]
    found, errors = fitted("1.5,?,a")
    assert found["rows"] == 61
    assert "line 1 was read as data" in errors


def test_doubled_quotes_do_not_mislead(tmp_path: Path) -> None:
    lines = ["class,text", *['spam,"win; ""cash""; now"', 'ham,"see; ""you""; soon"'] * 10]
    (tmp_path / "texts.csv").write_text("\n".join(lines) + "\n")
    out, _ = told("fit", tmp_path / "texts.csv", "-t", "class", "-o", tmp_path / "m", "--json")
    assert json.loads(out)["rows"] == 20
    (tmp_path / "uneven.csv").write_text("a,b\n1,2\n1,2,3\n")
    assert "--delimiter" in told("fit", tmp_path / "uneven.csv", "-t", "a", code=1)[1]


def test_an_explanation_is_of_the_label_that_is_asked_for(tmp_path: Path) -> None:
    long = "a column whose name is " + "long " * 40
    pl.DataFrame({long: [1.0, 2.0, 3.0, 7.0, 8.0, 9.0] * 5, "y": (["a"] * 3 + ["b"] * 3) * 5}).write_csv(tmp_path / "r")
    told("fit", tmp_path / "r", "-t", "y", "-o", tmp_path / "m", "--family", f"{long.strip()}=gaussian")
    asked = ("explain", tmp_path / "m", tmp_path / "r", "--label", "b")
    said = json.loads(told(*asked, "--json")[0])
    assert said["sentence"].startswith("'b' (")
    out, _ = told(*asked)
    assert "'b' (" in out
    assert signed(said["contributions"][1]["nats"], 3) in out


def test_columns_that_cannot_be_what_they_are_asked_to_be(folder: Path, tmp_path: Path) -> None:
    _, errors = told("fit", folder / "train.csv", "-t", "bought", "--weight", "bought", "-o", tmp_path / "m", code=1)
    assert "column 'bought' holds the labels" in errors
    _, errors = told("fit", folder / "train.csv", "-t", "²", "-o", tmp_path / "m", code=1)
    assert "there is no column '²'" in errors
    (tmp_path / "one.csv").write_text("a,y\n" + "1,p\n2,q\n" * 10 + "3,r\n")
    out, errors = told("compare", tmp_path / "one.csv", "-t", "y")
    assert "fewer rows than --cv 10 folds: 'r' (1)" in errors
    assert "(baseline)" in out
    (tmp_path / "few.csv").write_text("a,y\n" + "1,p\n2,q\n" * 3)
    _, errors = told("compare", tmp_path / "few.csv", "-t", "y", code=1)
    assert "the largest has 3, so use --cv 3, or get more rows" in errors
    (tmp_path / "rows.json").write_text('[{"a": 1, "y": "p"},\n {"a": 2, "y": "q"}]\n')
    told("fit", tmp_path / "rows.json", "-t", "y", "-o", tmp_path / "m")
    assert suffice.load(tmp_path / "m").class_count_.tolist() == [1.0, 1.0]
