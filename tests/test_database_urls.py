"""Tables named by the URL of a database: the sums of memory, errors that help, and passwords that stay secret."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import mariadb
import postgres
import suffice
from odd_texts import TEXT_MODELS, text_table
from suffice import BayesClassifier, Pooled, Trees
from suffice.cli.app import app
from test_engines import collected

pytestmark = pytest.mark.usefixtures("engine_counts")
NAIVE: dict[str, Any] = {"structure": "naive", "numeric": "gaussian"}


def rows_of(count: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], count)
    return pd.DataFrame(
        {"a number": rng.normal(size=count) + (y == "yes"), "level": rng.choice(["a", "A", "á", "b"], count), "y": y}
    )


def write_sqlite(path: Path) -> None:
    base = sqlite3.connect(path)
    rows_of().to_sql("rows to learn", base, index=False)
    base.execute("CREATE TABLE other (x INTEGER)")
    base.close()


def assert_fits(url: str) -> None:
    frame = rows_of()
    near, far = (BayesClassifier(**NAIVE).fit_table(source, "y") for source in (frame, url))
    assert far.tally_.isclose(near.tally_)
    places = [place for place, block in enumerate(near.tally_.schema.blocks) if block.family == "categorical"]
    assert places
    assert all(far.tally_.statistics[place] == near.tally_.statistics[place] for place in places)
    said = collected(far.predict_table(url)).sort_values("a number")
    own = near.predict_table(frame).sort_values("a number")
    assert said["prediction"].tolist() == own["prediction"].tolist()
    np.testing.assert_allclose(said["p(yes)"], own["p(yes)"], atol=1e-9)


@pytest.mark.parametrize("form", ["sqlite:///{}#rows to learn", "sqlite://{}#rows%20to%20learn"])
def test_a_file_of_sqlite(tmp_path: Path, form: str) -> None:
    write_sqlite(tmp_path / "base.db")
    assert_fits(form.format(tmp_path / "base.db"))


def test_a_relative_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sqlite(tmp_path / "base.db")
    monkeypatch.chdir(tmp_path)
    assert_fits("sqlite:///base.db#rows to learn")


def pooled_and_rows() -> tuple[BayesClassifier, pd.DataFrame]:
    """Return a model that has no SELECT, and rows with missing and unseen cells."""
    frame = rows_of().assign(more=lambda rows: rows["level"].str.upper())
    model = BayesClassifier(structure=Pooled(("averaged", Trees(3)))).fit_table(frame, "y")
    rows = frame.drop(columns="y").assign(row=range(len(frame)))
    rows.loc[::3, "more"] = None
    rows.loc[1::3, "level"] = "never seen"
    return model, rows


def test_texts_run_in_a_file_of_sqlite(tmp_path: Path) -> None:
    # Ibis drops MATERIALIZED from statements; without fences, SQLite then expands one column to thousands of terms
    model = TEXT_MODELS["default"].fit(*text_table(300, 0))
    rows = text_table(100, 1, new=True)[0].astype({"size": float}).assign(row=range(100))
    with closing(sqlite3.connect(tmp_path / "base.db")) as base:
        rows.to_sql("rows", base, index=False)
    found = model.predict_table(f"sqlite:///{tmp_path}/base.db#rows")
    assert isinstance(found, ibis.Table)
    said = found.to_pandas().sort_values("row")
    proba = model.predict_proba(rows.drop(columns="row"))
    np.testing.assert_allclose(said[["p(0)", "p(1)", "p(2)"]], proba, rtol=0, atol=1e-9)


def assert_scored_there(model: BayesClassifier, found: Any, rows: pd.DataFrame) -> None:
    """Check that a lazy table of the database has the probabilities of a frame in memory."""
    assert isinstance(found, ibis.Table)
    said = found.to_pandas().sort_values("row")
    expected = model.predict_table(rows)
    np.testing.assert_allclose(said["p(yes)"], expected["p(yes)"], rtol=0, atol=1e-9)
    assert said["prediction"].tolist() == expected["prediction"].tolist()


def test_a_model_without_a_select_runs_in_the_database(tmp_path: Path) -> None:
    model, rows = pooled_and_rows()
    base = sqlite3.connect(tmp_path / "base.db")
    rows.to_sql("rows", base, index=False)
    before = base.execute("SELECT name FROM sqlite_master").fetchall()
    assert_scored_there(model, model.predict_table(f"sqlite:///{tmp_path}/base.db#rows"), rows)
    backend = ibis.sqlite.connect(tmp_path / "base.db")
    some = backend.table("rows").filter(ibis._.row > 5)
    assert_scored_there(model, model.predict_table(some), rows[rows["row"] > 5])
    backend.disconnect()
    assert base.execute("SELECT name FROM sqlite_master").fetchall() == before  # the tables are temporary
    base.close()


@pytest.mark.server
def test_a_model_without_a_select_runs_in_postgres() -> None:
    model, rows = pooled_and_rows()
    with postgres.start() as url:
        connection = ibis.connect(url)
        connection.create_table("rows", pa.Table.from_pandas(rows))
        connection.con.commit()
        assert_scored_there(model, model.predict_table(f"{url}#rows"), rows)
        assert_scored_there(model, model.predict_table(connection.table("rows")), rows)
        connection.disconnect()
        again = ibis.connect(url)
        assert again.list_tables() == ["rows"]
        again.disconnect()


@pytest.mark.server
@pytest.mark.filterwarnings("ignore:Unable to set session timezone")
def test_a_model_without_a_select_reads_batches_of_mariadb() -> None:
    model, rows = pooled_and_rows()
    with mariadb.start() as socket:
        base = mariadb.connect(socket)
        with base.cursor() as cursor:
            cursor.execute("CREATE TABLE rowed (`a number` DOUBLE, level VARCHAR(20), more VARCHAR(9), `row` INT)")
            cells = rows[["a number", "level", "more", "row"]].astype(object).to_numpy().tolist()
            cursor.executemany(
                "INSERT INTO rowed VALUES (%s, %s, %s, %s)",
                [[None if cell is None or cell != cell else cell for cell in row] for row in cells],
            )
        base.close()
        found = collected(model.predict_table(f"mysql://root@localhost/tests?unix_socket={socket}#rowed"))
        np.testing.assert_allclose(found["p(yes)"], model.predict_table(rows)["p(yes)"], rtol=0, atol=1e-9)


@pytest.mark.server
def test_postgres(tmp_path: Path) -> None:
    with postgres.start() as url:
        connection = ibis.connect(url)
        connection.create_table("rows", pa.Table.from_pandas(rows_of()))
        connection.raw_sql("CREATE SCHEMA other; CREATE TABLE other.rows AS SELECT * FROM rows").close()
        connection.con.commit()
        assert_fits(f"{url}#rows")
        assert_fits(f"{url}#other.rows")
        with pytest.raises(ValueError, match="there is no table 'row'; did you mean 'rows'"):
            BayesClassifier().fit_table(f"{url}#row", "y")
        secret = url.replace("postgres@", "postgres:s3cret@")
        model = BayesClassifier().fit_table(f"{secret}#rows", "y")
        assert b"s3cret" not in model.save(tmp_path / "model.suffice").read_bytes()
        assert_secret(f"{secret}#rows", tmp_path)
        connection.disconnect()


@pytest.mark.server
@pytest.mark.filterwarnings("ignore:Unable to set session timezone")  # Ibis; a new server knows no time zones
def test_mariadb() -> None:
    with mariadb.start() as socket:
        base = mariadb.connect(socket)
        with base.cursor() as cursor:
            cursor.execute("CREATE TABLE `some rows` (`a number` DOUBLE, level VARCHAR(9), y VARCHAR(9))")
            cursor.executemany("INSERT INTO `some rows` VALUES (%s, %s, %s)", rows_of().to_numpy().tolist())
        base.close()
        for scheme in ("mysql", "mariadb"):
            assert_fits(f"{scheme}://root@localhost/tests?unix_socket={socket}#some rows")
        assert_fits(f"mysql://root@localhost/tests?unix_socket={socket}#tests.some rows")
        with pytest.raises(ValueError, match="there is no table 'none'; there are 'some rows'"):
            BayesClassifier().fit_table(f"mysql://root@localhost/tests?unix_socket={socket}#none", "y")


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sqlite(tmp_path / "base.db")
    url = f"sqlite:///{tmp_path}/base.db"
    (tmp_path / "broken.duckdb").write_text("this is no database")
    for source, problem in {
        f"{url}": "must end in # and the name of a table; there are 'other', 'rows to learn'",
        f"{url}#row to learn": "there is no table 'row to learn'; did you mean 'rows to learn'",
        f"{url}#zzz": "there is no table 'zzz'; there are 'other', 'rows to learn'",
        f"duckdb://{tmp_path}/broken.duckdb#t": "cannot open duckdb://",
    }.items():
        with pytest.raises(ValueError, match=problem):
            BayesClassifier().fit_table(source, "y")
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none.db"):
        BayesClassifier().fit_table(f"sqlite:///{tmp_path}/none.db#rows", "y")
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(ValueError, match=r"header=….* is for files"):
        BayesClassifier().fit_table(suffice.data.files.table_file.TableFile(f"{url}#other", header=True), "y")
    for scheme, driver, extra in (("postgresql", "psycopg", "postgres"), ("mysql", "pymysql", "mysql")):
        for name in (driver, f"ibis.backends.{extra}", "MySQLdb"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setitem(sys.modules, driver, None)
        with pytest.raises(ImportError, match=rf"{driver} is needed to read {scheme}://.*suffice\[{extra}\]"):
            BayesClassifier().fit_table(f"{scheme}://host/base#rows", "y")


def assert_secret(url: str, folder: Path) -> None:
    """Whatever a command says of a URL, its password is not in it."""
    for command in (
        ["fit", url, "-t", "y", "-o", str(folder / "m.suffice")],
        ["fit", url, "-t", "none", "-o", str(folder / "m.suffice")],
        ["fit", url + "x", "-t", "y"],
        ["evaluate", str(folder / "m.suffice"), url],
    ):
        assert "s3cret" not in CliRunner().invoke(app, command).output


def test_passwords_are_not_shown(tmp_path: Path) -> None:
    url = "postgresql://ann:s3cret@127.0.0.1:1/base#rows"
    with pytest.raises(ValueError, match=r"cannot connect to postgresql://ann:\*\*\*@127.0.0.1:1/base") as caught:
        BayesClassifier().fit_table(url, "y")
    assert "s3cret" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert_secret(url, tmp_path)


def test_the_command_line_reads_urls(tmp_path: Path) -> None:
    write_sqlite(tmp_path / "base.db")
    url, model = f"sqlite:///{tmp_path}/base.db#rows to learn", str(tmp_path / "m.suffice")
    for command in (
        ["fit", url, "--target", "y", "--ignore", "level", "-o", model],
        ["evaluate", model, url],
        ["predict", model, url, "-o", str(tmp_path / "said.csv")],
        ["learn", model, url],
    ):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    assert len(pd.read_csv(tmp_path / "said.csv")) == 200
    learned = suffice.load(model)
    assert learned.class_count_.sum() == 400
    assert list(learned.families_) == ["a number"]


def test_a_url_of_another_kind_names_the_kinds() -> None:
    with pytest.raises(
        FileNotFoundError, match=r"oracle://ann:\*\*\*@host/base#t cannot be read: URLs .* duckdb, sqlite"
    ):
        BayesClassifier().fit_table("oracle://ann:secret@host/base#t", target="y")
