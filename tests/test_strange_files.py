"""Strange files through ``fit``, ``predict``, ``evaluate`` and ``report``: the right result, or one line of advice.

Every file holds the same 60 rows, written as people and programs write them. A file that is understood gives the model
of the plain file, or, where its cells differ, the figures that are listed beside it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import suffice
from suffice import BayesClassifier
from suffice.cli.app import app
from suffice.data.files.table_file import TableFile
from suffice.schema import Levels

Row = tuple[float, str, int, str]
ROWS: list[Row] = [(n % 7 + n % 4 / 4 + 1000, "xyz"[n % 3], n % 5 * 20, "ab"[n % 2 ^ (n % 9 == 0)]) for n in range(60)]
NAMES = ["v", "k", "w", "y"]
FRAME = pl.DataFrame(ROWS, NAMES, orient="row")


def csv(
    v: Callable[[int, float], str] = lambda n, v: f"{v}",
    w: Callable[[int, int], str] = lambda n, w: f"{w}",
    k: Callable[[int, str], str] = lambda n, k: k,
    header: str | None = "v,k,w,y",
    delimiter: str = ",",
) -> str:
    lines = [] if header is None else [header.replace(",", delimiter)]
    lines += [delimiter.join((v(n, a), k(n, b), w(n, c), d)) for n, (a, b, c, d) in enumerate(ROWS)]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    return f'"{text}"'


def excel(frame: pl.DataFrame) -> bytes:
    made = io.BytesIO()
    frame.write_excel(made)
    return made.getvalue()


# A file: its content, the options that are needed, and a part of the note. All give the model of the plain file.
SAME: dict[str, tuple[str | bytes, list[str], str]] = {
    "plain.csv": (csv(), [], ""),
    "thousands.csv": (csv(v=lambda n, v: quoted(f"{v:,}")), [], "separators of thousands are read as numbers: 'v'"),
    "dollars.csv": (csv(v=lambda n, v: quoted(f"${v:,.2f}")), [], "currency"),
    "euros after.csv": (csv(v=lambda n, v: f"{v} €"), [], "currency"),
    "pounds.csv": (csv(v=lambda n, v: f"£ {v}"), [], "currency"),
    "decimal commas and euros.csv": (
        csv(v=lambda n, v: f"{v:,.2f} €".translate(str.maketrans(",.", ".,")), delimiter=";"),
        [],
        "decimal commas are read as numbers: 'v'",
    ),
    "quoted decimal commas.csv": (
        csv(v=lambda n, v: quoted(f"{v:.2f}".replace(".", ","))),
        [],
        "decimal commas are read as numbers: 'v'",
    ),
    "percent.csv": (csv(w=lambda n, w: f"{w}%"), [], "percent signs"),
    "blanks in numbers.csv": (csv(v=lambda n, v: f"{v:,}".replace(",", " ")), [], "thousands"),
    "narrow blanks.csv": (csv(v=lambda n, v: f"{v:,}".replace(",", "\u202f")), [], "thousands"),
    "padded numbers.csv": (csv(v=lambda n, v: f"  {v} "), [], ""),
    "title lines.csv": ("Report of May\nmade by hand\n" + csv(), ["--skip-rows", "2"], ""),
    "cp1252.csv": (csv().encode("cp1252"), ["--encoding", "cp1252"], ""),
    "utf-16.csv": (csv().encode("utf-16"), [], "was read as utf-16"),
    "one more column.csv": (
        csv(header="v,k,w,y").replace("\n", ",9\n").replace("y,9", "y,extra"),
        ["--ignore", "extra"],
        "",
    ),
    "one more column by place.csv": (
        csv(header="v,k,w,y").replace("\n", ",9\n").replace("y,9", "y,extra"),
        ["--ignore", "-1"],
        "",
    ),
    "sheet.xlsx": (excel(FRAME), [], ""),
    "array.json": (FRAME.write_json(), [], ""),
    "quoted everything.csv": (csv(v=lambda n, v: quoted(f"{v}"), k=lambda n, k: quoted(k)), [], ""),
}

# Files with cells that are missing: each equals the plain file with these cells empty.
MISSING: dict[str, tuple[str, str, list[str], str]] = {
    "one n.d.csv": (
        csv(w=lambda n, w: "n.d." if n == 7 else f"{w}"),
        csv(w=lambda n, w: "" if n == 7 else f"{w}"),
        [],
        "cells that are not numbers as missing: 'w' ('n.d.' in 1 row)",
    ),
    "two words among numbers.csv": (
        csv(v=lambda n, v: "see below" if n in (7, 9) else f"{v}"),
        csv(v=lambda n, v: "" if n in (7, 9) else f"{v}"),
        [],
        "'v' ('see below' in 2 rows)",
    ),
    "many dashes.csv": (
        csv(w=lambda n, w: "-" if n % 3 else f"{w}"),
        csv(w=lambda n, w: "" if n % 3 else f"{w}"),
        [],
        "'w' ('-' in 40 rows)",
    ),
    "question marks.csv": (
        csv(v=lambda n, v: "?" if n % 3 else f"{v}", k=lambda n, k: "N/A" if n % 4 == 0 else k),
        csv(v=lambda n, v: "" if n % 3 else f"{v}", k=lambda n, k: "" if n % 4 == 0 else k),
        [],
        "",
    ),
    "dollars and dashes.csv": (
        csv(v=lambda n, v: "$ -" if n == 3 else quoted(f"${v:,.2f}")),
        csv(v=lambda n, v: "" if n == 3 else f"{v}"),
        [],
        "'v' ('$ -' in 1 row)",
    ),
    "minus 999.csv": (
        csv(w=lambda n, w: "-999" if n % 6 == 0 else f"{w}"),
        csv(w=lambda n, w: "" if n % 6 == 0 else f"{w}"),
        ["--na-values", "-999"],
        "",
    ),
}

# Files whose result differs from the plain file: the options, the classes with their rows, and a part of what is said.
OTHER: dict[str, tuple[str | bytes, list[str], dict[str, int], str]] = {
    "no header.csv": (csv(header=None), [], {"a": 29, "b": 31}, "line 1 was read as data"),
    "no header, only words.csv": (
        "\n".join(f"'{k}','{'pq'[n % 2]}','{w}','{y}'" for n, (_, k, w, y) in enumerate(ROWS)),
        [],
        {"'a'": 29, "'b'": 31},
        "the columns are called c0 to c3",
    ),
    "header above words.csv": (
        "letter,sign,y\n" + "\n".join(f"{k},{'pq'[n % 2]},{y}" for n, (_, k, _, y) in enumerate(ROWS)),
        [],
        {"a": 29, "b": 31},
        "",
    ),
    "dashes among words.csv": (csv(k=lambda n, k: "-" if n % 4 == 0 else k), [], {"a": 29, "b": 31}, ""),
    "names twice.csv": (csv(header="v,v,v,y"), [], {"a": 29, "b": 31}, "which are numbered: 'v_2', 'v_3'"),
    "names by capitals.csv": (csv(header="v,V,w,y"), [], {"a": 29, "b": 31}, "which are numbered: 'V_2'"),
    "windows.csv": (csv(k=lambda n, k: f"{k}€").encode("cp1252"), [], {"a": 29, "b": 31}, "was read as cp1252"),
    "labels in percent.csv": (
        csv().replace(",a\n", ",10%\n").replace(",b\n", ",20%\n"),
        [],
        {"10%": 29, "20%": 31},
        "",
    ),
    "dates.csv": (csv(k=lambda n, k: f"2024-01-{n % 28 + 1:02}"), [], {"a": 29, "b": 31}, "'k' (a date or time)"),
    "dates.parquet": (b"", [], {"a": 29, "b": 31}, "'k' (a date or time)"),
}

# Files that cannot be used, and what the one line of advice says.
REFUSED: dict[str, tuple[str | bytes, list[str], str]] = {
    "uneven.csv": (csv() + "1,x\n", [], "line 62 has 2 cells"),
    "wrong encoding.csv": (csv(k=lambda n, k: f"{k}é").encode("cp1252"), ["--encoding", "ascii"], "with --encoding"),
    "no encoding.csv": (csv(), ["--encoding", "klingon"], "there is no encoding 'klingon'"),
    "no column.csv": (csv(), ["--ignore", "wv"], "there is no column 'wv'"),
    "all ignored.csv": (csv(), ["--ignore", "v", "--ignore", "k", "--ignore", "w"], "no column to learn from"),
    "too few lines.csv": (csv(), ["--skip-rows", "99"], "use --skip-rows with fewer"),
    "no sheet.xlsx": (b"PK\x03\x04" + bytes(50), [], "save the table as CSV"),
    "empty cells.csv": (csv().replace(",a\n", ",\n"), [], "--drop-unlabelled"),
    "test of all.csv": (csv(), ["--test-size", "1.5"], "--test-size is a share between 0 and 1"),
    "prior of a stranger.csv": (csv(), ["--class-prior", "a=0.5,c=0.5"], "--class-prior LABEL=P must name each class"),
    "prior without numbers.csv": (csv(), ["--class-prior", "a=half,b=half"], "such as yes=0.3,no=0.7"),
    "encoding of parquet.parquet": (b"", ["--encoding", "cp1252"], "--encoding is for files of CSV"),
}


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    if name.endswith(".parquet"):
        day = pl.date(2024, 1, 1) + pl.duration(days=pl.int_range(60) % 28)
        FRAME.with_columns(day.alias("k")).write_parquet(path)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def run(*arguments: Any, code: int = 0, given: bytes | None = None) -> tuple[str, str]:
    done = CliRunner().invoke(app, [*map(str, arguments)], input=given)
    assert done.exit_code == code, (done.output, done.stderr, done.exception)
    return done.stdout, done.stderr


def check_commands(path: Path, folder: Path, target: str, options: list[str]) -> tuple[Any, str]:
    """Run the commands over a file; return the model, and what ``fit`` says."""
    model, page, rows = folder / "m.suffice", folder / "page.html", folder / "rows.json"
    naive = ["--structure", "naive", "--numeric", "gaussian"]
    _, notes = run("fit", path, "-t", target, "-o", model, *naive, *options)
    kept = [each for each in options if each not in ("--na-values", "-999")]  # the model knows them
    run("predict", model, path, "-o", rows, *kept)
    found = json.loads(run("evaluate", model, path, "--json", *kept)[0])
    predicted = json.loads(rows.read_text())
    assert found["rows"] == len(predicted) == 60
    assert found["accuracy"] > 0.5
    right = sum(count for label, line in found["confusion"].items() for other, count in line.items() if label == other)
    assert right == round(found["accuracy"] * 60)
    run("report", model, "--data", path, "-o", page, *kept)
    assert page.stat().st_size > 10_000
    return suffice.load(model), notes


@pytest.fixture(scope="module")
def plain() -> Any:
    return BayesClassifier(structure="naive", numeric="gaussian").fit_table(FRAME, "y")


@pytest.mark.parametrize("name", SAME)
def test_the_model_is_that_of_the_plain_file(name: str, plain: Any, tmp_path: Path) -> None:
    content, options, note = SAME[name]
    model, notes = check_commands(write(tmp_path, name, content), tmp_path, "y", options)
    assert model.tally_.digest() == plain.tally_.digest()
    assert note in notes
    assert len(notes.splitlines()) == bool(note)


@pytest.mark.parametrize("name", MISSING)
def test_cells_that_are_missing_are_so(name: str, tmp_path: Path) -> None:
    content, emptied, options, note = MISSING[name]
    model, notes = check_commands(write(tmp_path, name, content), tmp_path, "y", options)
    path = write(tmp_path, "emptied.csv", emptied)
    expected = BayesClassifier(structure="naive", numeric="gaussian").fit_table(path, "y")
    assert model.tally_.digest() == expected.tally_.digest()
    assert note in notes


@pytest.mark.parametrize("name", OTHER)
def test_what_is_decided_is_said(name: str, tmp_path: Path) -> None:
    content, options, classes, note = OTHER[name]
    model, notes = check_commands(write(tmp_path, name, content), tmp_path, "-1", options)
    assert dict(zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True)) == classes
    assert note in notes
    assert bool(note) == bool(notes)


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_used_is_one_line_of_advice(name: str, tmp_path: Path) -> None:
    content, options, advice = REFUSED[name]
    path, model = write(tmp_path, name, content), tmp_path / "m.suffice"
    _, errors = run("fit", path, "-t", "y", "-o", model, "--structure", "naive", *options, code=1)
    assert advice in errors.splitlines()[-1]
    assert sum("error" in line for line in errors.splitlines()) == 1
    assert "TableFile" not in errors
    assert not model.exists()


def test_text_of_windows_keeps_its_signs(tmp_path: Path) -> None:
    path = write(tmp_path, "windows.csv", csv(k=lambda n, k: f"{k}€“").encode("cp1252"))
    with pytest.warns(UserWarning, match="was read as cp1252"):
        model = BayesClassifier(structure="naive").fit_table(path, "y")
    codings = [coding for block in model.tally_.schema.blocks for coding in block.codings or ()]
    assert ("x€“", "y€“", "z€“") in [coding.labels for coding in codings if isinstance(coding, Levels)]
    late = csv().encode() + csv(header=None).encode() * 100 + "1000,ü,3,a\n".encode("cp1252")
    with pytest.warns(UserWarning, match="was read as cp1252"):
        BayesClassifier(structure="naive").fit_table(write(tmp_path, "late.csv", late), "y")


def test_new_rows_are_read_as_the_model_was_fitted(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", csv(w=lambda n, w: f"{w}%", v=lambda n, v: "n.d." if n == 5 else f"{v}"))
    model = tmp_path / "m.suffice"
    run("fit", path, "-t", "y", "-o", model, "--structure", "naive", "--na-values", "none", "--na-values", "")
    assert suffice.load(model).na_values_ == ["none", ""]
    plain, _ = run("predict", model, "-", given=b"v,k,w\n1001,x,20\n,y,40\n1002,,20\n")
    marked, notes = run("predict", model, "-", given=b'v,k,w\n"1,001",x,20%\nunknown,y,40 %\n1002,none,20\n')
    assert marked == plain
    assert "'v' ('unknown' in 1 row)" in notes
    with pytest.warns(UserWarning, match="as missing: 'v'"):
        table = suffice.load(model).predict_table(write(tmp_path, "new.csv", 'v,k,w\n"1,001",x,20%\nunknown,y,40 %\n'))
    assert table.to_pandas()["p(a)"].tolist() == pytest.approx(pl.read_csv(io.StringIO(plain))["p(a)"].to_list()[:2])


def test_the_prior_and_the_test_rows(tmp_path: Path) -> None:
    path, model = write(tmp_path, "t.csv", csv()), tmp_path / "m.suffice"
    out, _ = run("fit", path, "-t", "y", "-o", model, "--structure", "naive", "--test-size", "0.2", "--json")
    assert json.loads(out)["quality"]["rows"] == 11
    assert json.loads(out)["rows"] == 49
    run("fit", path, "-t", "y", "-o", model, "--structure", "naive", "--class-prior", "a=0.9,b=0.1")
    assert suffice.load(model).class_prior == {"a": 0.9, "b": 0.1}
    numbers = write(tmp_path, "n.csv", csv().replace(",a\n", ",1\n").replace(",b\n", ",2\n"))
    run("fit", numbers, "-t", "y", "-o", model, "--structure", "naive", "--class-prior", "1=0.9,2=0.1")
    assert suffice.load(model).class_prior == {1: 0.9, 2: 0.1}


def test_predictions_are_written_in_every_format(tmp_path: Path) -> None:
    path, model = write(tmp_path, "t.csv", csv()), tmp_path / "m.suffice"
    run("fit", path, "-t", "y", "-o", model, "--structure", "naive")
    read = {"csv": pl.read_csv, "json": pl.read_json, "jsonl": pl.read_ndjson, "xlsx": pl.read_excel}
    for ending, reader in read.items():
        run("predict", model, path, "-o", tmp_path / f"out.{ending}")
        assert reader(tmp_path / f"out.{ending}")["prediction"].len() == 60  # type: ignore[operator]
    assert (tmp_path / "out.json").read_text().startswith("[")
    assert (tmp_path / "out.jsonl").read_text().count("\n") == 60
    _, errors = run("predict", model, path, "-o", tmp_path / "out.xls", code=1)
    assert "only .xlsx can be written" in errors
    assert '"rows": 60' in run("info", "-", "--json", given=model.read_bytes())[0]
    assert "ok" in run("verify", "-", given=model.read_bytes())[0]


def test_many_columns_that_are_left_out_are_one_line(tmp_path: Path) -> None:
    frame = FRAME.with_columns(pl.lit(7).alias(f"constant {n}") for n in range(312))
    frame.write_csv(tmp_path / "wide.csv")
    out, notes = run("fit", tmp_path / "wide.csv", "-t", "y", "-o", tmp_path / "m.suffice", "--structure", "naive")
    assert "312 constant ('constant 0'," in notes
    assert len(notes.splitlines()) == 1
    assert len(out.splitlines()) < 30


def test_settings_in_python_are_the_options(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "by hand\n" + csv(w=lambda n, w: "-999" if n % 6 == 0 else f"{w}"))
    settings: dict[str, Any] = {"skip_rows": 1, "na_values": ("-999",), "ignore": ("k",), "encoding": "utf-8"}
    options = ["--skip-rows", "1", "--na-values", "-999", "--ignore", "k", "--encoding", "utf-8"]
    model = tmp_path / "m.suffice"
    run("fit", path, "-t", "y", "-o", model, "--structure", "naive", *options)
    fitted = BayesClassifier(structure="naive").fit_table(TableFile(path, **settings), "y")
    assert fitted.tally_.digest() == suffice.load(model).tally_.digest()
    assert fitted.na_values_ == suffice.load(model).na_values_ == ["-999"]


def dated(delimiter: str = ",") -> str:
    """Return the rows with a column of dates, of which one is not known."""
    day = [f"2024-0{n % 3 + 1}-{n % 27 + 1:02d}" for n in range(60)]
    return csv(k=lambda n, k: "" if n == 7 else day[n], header="v,sold,w,y", delimiter=delimiter)


def test_parts_of_dates_are_the_same_from_every_format(tmp_path: Path) -> None:
    text = write(tmp_path, "t.csv", dated())
    frame = pl.read_csv(text, try_parse_dates=True)
    frame.write_parquet(tmp_path / "t.parquet")
    frame.cast({"sold": pl.Datetime("ms")}).write_parquet(tmp_path / "times.parquet")
    digests = set()
    for name in ("t.csv", "t.parquet", "times.parquet"):
        model = tmp_path / f"{name}.suffice"
        run("fit", tmp_path / name, "-t", "y", "-o", model, "--structure", "naive", "--dates", "parts")
        fitted = suffice.load(model)
        assert fitted.date_parts_ == {"sold": ["year", "month", "weekday"]}
        assert fitted.left_out_ == {"sold_year": "constant"}
        digests.add(fitted.tally_.digest())
        out, _ = run("predict", model, "-", "--keep", given=b"v,sold,w\n1001,2024-02-03 12:00,20\n")
        assert out.startswith("v,sold,w,prediction,p(a),p(b)\n")
    assert len(digests) == 1
    made = frame.with_columns(frame["sold"].dt.month().alias("sold_month"), pl.lit("Saturday").alias("sold_weekday"))
    one = made.filter((made["sold_month"] == 2) & (made["w"] == 20)).head(1).with_columns(pl.lit(1001.0).alias("v"))
    expected = fitted.predict_proba(one.select("v", "w", pl.lit(2024).alias("sold_year"), "sold_month", "sold_weekday"))
    assert [float(cell) for cell in out.split("\n")[1].split(",")[-2:]] == pytest.approx(expected[0].tolist())
    with pytest.warns(UserWarning, match="constant"):
        other = BayesClassifier(structure="naive").fit_table(TableFile(text, dates="parts"), "y")
    assert other.tally_.digest() in digests
    assert (other + fitted).date_parts_ == fitted.date_parts_
    spaced = write(tmp_path, "spaced.csv", dated().replace("sold", "date sold", 1))
    _, notes = run("fit", spaced, "-t", "y", "-o", model, "--structure", "naive")
    assert (
        "'date sold' (a date or time); --dates parts uses the year, month, weekday and hour of dates in a file" in notes
    )
    assert "dt.month" not in notes  # advice for data frames


def test_dates_have_hours_if_they_have_times(tmp_path: Path) -> None:
    lines = [f"2024-01-{n % 28 + 1:02d} {n % 3 + 10}:00;{'ab'[n % 2]}" for n in range(60)]
    path, model = write(tmp_path, "t.csv", "at;y\n" + "\n".join(lines)), tmp_path / "m.suffice"
    run("fit", path, "-t", "y", "-o", model, "--dates", "parts", "--structure", "naive")
    assert suffice.load(model).date_parts_ == {"at": ["year", "month", "weekday", "hour"]}
    _, notes = run("predict", model, "-", given=b"at\nsoon\n")
    assert "not dates as missing: 'at' ('soon' in 1 row)" in notes
    _, errors = run("fit", path, "-t", "y", "-o", model, "--dates", "day", code=1)
    assert "--dates is parts" in errors
    taken = write(tmp_path, "taken.csv", "at;at_year;y\n2024-01-01;3;a\n2024-01-02;4;b\n")
    _, errors = run("fit", taken, "-t", "y", "-o", model, "--dates", "parts", code=1)
    assert "'at_year' would be a part of a date" in errors


def test_the_model_knows_how_numbers_are_written(tmp_path: Path) -> None:
    comma, point, model = csv(v=lambda n, v: f"{v:.3f}".replace(".", ","), delimiter=";"), csv(), tmp_path / "m.suffice"
    fitted = {}
    for name, content in (("comma", comma), ("point", point)):
        run("fit", write(tmp_path, f"{name}.csv", content), "-t", "y", "-o", model, "--structure", "naive")
        fitted[name] = suffice.load(model)
    run("fit", tmp_path / "comma.csv", "-t", "y", "-o", model, "--structure", "naive")
    assert fitted["comma"].decimal_marks_ == {"v": ","}
    assert not hasattr(fitted["point"], "decimal_marks_")
    # one row: the mark of the model decides, not the cell
    german, _ = run("predict", model, "-", given=b"v;k;w\n1.003;x;20\n")
    plain, _ = run("predict", model, "-", given=b"v;k;w\n1003;x;20\n")
    assert german == plain
    for point, comma in ((b"1.003", b"1,003"), (b"1003.5", b"1003,5")):
        english, _ = run("predict", model, "-", given=b"v,k,w\n" + point + b",x,20\n")
        assert english == run("predict", model, "-", given=b"v;k;w\n" + comma + b";x;20\n")[0]
    english, _ = run("predict", model, "-", given=b"v,k,w\n1003.5,x,20\n")
    written, _ = run("predict", model, "-", given=b"v;k;w\n1003,5;x;20\n")
    assert english == written
    # a cell that is marked as missing is missing, also if it is the only one
    empty, _ = run("predict", model, "-", given=b"v;k;w\n;x;20\n")
    marked, notes = run("predict", model, "-", given=b"v;k;w\nn.d.;x;20\n")
    assert marked == empty
    assert "'v' ('n.d.' in 1 row)" in notes


def test_merged_models_read_files_as_their_parts(tmp_path: Path) -> None:
    path, plain = write(tmp_path, "t.csv", csv(k=lambda n, k: "none" if n == 3 else k)), tmp_path / "plain.suffice"
    marked, merged = tmp_path / "marked.suffice", tmp_path / "merged.suffice"
    run("fit", path, "-t", "y", "-o", marked, "--structure", "naive", "--na-values", "none")
    run("fit", path, "-t", "y", "-o", plain, "--structure", "naive")
    for parts in ((marked, plain), (plain, marked)):
        run("merge", *parts, "-o", merged)
        assert suffice.load(merged).na_values_ == ["none"]


@pytest.mark.parametrize(
    ("written", "order"),
    [
        ("{d:02d}.{m:02d}.2024", "day"),
        ("{d}/{m}/2024 10:30", "day"),
        ("{m}/{d}/2024", "month"),
        ("{m}-{d}-2024", "month"),
    ],
)
def test_dates_that_are_not_iso_dates_have_parts(written: str, order: str, tmp_path: Path) -> None:
    days = [(n % 3 + 1, n % 27 + 1) for n in range(60)]

    def table(name: str, write_day: Any) -> Path:
        rows = "\n".join(f"{n};{write_day(m, d)};{'ab'[n % 2]}" for n, (m, d) in enumerate(days))
        return write(tmp_path, name, f"v;sold;y\n{rows}\n")

    time = " 10:30" if ":30" in written else ""
    iso, other = (
        table("iso.csv", lambda m, d: f"2024-{m:02d}-{d:02d}{time}"),
        table("t.csv", lambda m, d: written.format(m=m, d=d)),
    )
    models = []
    for path in (iso, other):
        model = tmp_path / f"{path.stem}.suffice"
        run("fit", path, "-t", "y", "-o", model, "--structure", "naive", "--dates", "parts")
        models.append(suffice.load(model))
    assert models[0].tally_.digest() == models[1].tally_.digest()
    assert models[1].date_orders_ == {"sold": order}
    # a file with a single date is read in the order of the model
    shown = [run("predict", tmp_path / f"{name}.suffice", "-", given=f"v;sold\n3;{cell}\n".encode())[0]
             for name, cell in (("iso", f"2024-02-03{time}"), ("t", written.format(m=2, d=3)))]  # fmt: skip
    assert shown[0] == shown[1]
    _, notes = run("fit", other, "-t", "y", "-o", tmp_path / "m.suffice", "--structure", "naive")
    assert "'sold' (a date or time)" in notes


def test_dates_of_unclear_order_stay_text(tmp_path: Path) -> None:
    rows = "\n".join(f"{n};0{n % 3 + 1}/0{n % 2 + 4}/2024;{'ab'[n % 2]}" for n in range(60))
    path = write(tmp_path, "t.csv", f"v;sold;y\n{rows}\n")
    _, notes = run("fit", path, "-t", "y", "-o", tmp_path / "m.suffice", "--structure", "naive", "--dates", "parts")
    assert "columns hold dates that cannot be read, and are learned as text: 'sold'" in notes
    assert suffice.load(tmp_path / "m.suffice").families_["sold"] == "categorical"
