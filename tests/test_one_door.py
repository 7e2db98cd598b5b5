"""The command line and ``fit_table`` read every file with the same code: same digest, or same error."""

from __future__ import annotations

import gc
import gzip
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import suffice
from suffice import BayesClassifier
from suffice.cli.app import app
from suffice.cli.output import translate_settings
from suffice.data.files.table_file import TableFile

ROWS = [(n % 7 + n % 4 / 4, "xyz"[n % 3], n % 5, "ab"[n % 2 ^ (n % 9 == 0)]) for n in range(60)]
FRAME = pl.DataFrame(ROWS, ["v", "k", "w", "y"], orient="row")


def csv(separator: str = ",", end: str = "\n", header: str | None = "v,k,w,y", rows: Any = ROWS, tail: str = "") -> str:
    lines = [] if header is None else [header.replace(",", separator)]
    lines += [separator.join(map(str, row)) for row in rows]
    return end.join(line + tail for line in lines) + end


def numbered(first: str, places: Any) -> str:
    return "\n".join([first, *(f"{place},{','.join(map(str, row))}" for place, row in zip(places, ROWS, strict=True))])


def zstd(text: str) -> bytes:
    return pa.compress(text.encode(), codec="zstd", asbytes=True)


def written(write: Callable[[Path], Any], name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        write(folder / name)
        return folder / name

    return make


COMMAS = [(f"{v:.2f}".replace(".", ","), k, f"1.{100 + w},5", y) for v, k, w, y in ROWS]
QUOTED = [(v, f'"{k}, ""{k}"";\n{k}"', w, y) for v, k, w, y in ROWS]
LATE = [(v, k, w if n < 55 else "many", y) for n, (v, k, w, y) in enumerate(ROWS)]
MARKS = [("?" if n % 9 == 1 else v, ["NA", "", k, k, k][n % 5], w, y) for n, (v, k, w, y) in enumerate(ROWS)]

# name of the file -> its content, or a function that writes it
FILES: dict[str, str | bytes | Callable[[Path], Path]] = {
    "plain.csv": csv(),
    "decimal commas.csv": csv(";", rows=COMMAS),
    "comment.csv": "# exported, by hand, today, and, again\n# twice\n" + csv(),
    "name with a sharp.csv": csv(header="#v,k,w,y"),
    "row counter.csv": numbered(",v,k,w,y", range(60)),
    "row counter from one.csv": numbered(",v,k,w,y", range(1, 61)),
    "unnamed column.csv": numbered(",v,k,w,y", range(90, 30, -1)),
    "semicolons.csv": csv(";"),
    "semicolons and a comma in a name.csv": csv(";", rows=COMMAS).replace("v;", "value, in euros;", 1),
    "tabs.tsv": csv("\t"),
    "pipes.txt": csv("|"),
    "spaces after commas.csv": csv(", "),
    "uneven spaces.csv": csv(", ") + csv(header=None),
    "quotes.csv": csv(rows=QUOTED),
    "stray quotes.csv": csv(rows=[(v, f'"{k}" inch', w, y) for v, k, w, y in ROWS]),
    "open quote.csv": csv(rows=[(v, f'"{k} inch', w, y) for v, k, w, y in ROWS]),
    "byte order mark.csv": b"\xef\xbb\xbf" + csv().encode(),
    "latin 1.csv": csv().replace("x", "é").encode("latin1"),
    "cp1252.csv": csv().replace("x", "“").encode("cp1252"),
    "utf-16.csv": csv().encode("utf-16"),
    "accents.csv": csv().replace("x", "é"),
    "blank lines.csv": "\n\n" + csv(end="\n\n") + "   \n",
    "trailing delimiters.csv": csv(tail=","),
    "missing markers.csv": csv(rows=MARKS),
    "without a header.csv": csv(header=None),
    "carriage returns.csv": csv(end="\r\n"),
    "old carriage returns.csv": csv(end="\r"),
    "mixed line ends.csv": csv(rows=ROWS[:30]) + csv(header=None, rows=ROWS[30:], end="\r\n"),
    "packed.csv.gz": gzip.compress(csv().encode()),
    "packed.csv": gzip.compress(csv().encode()),
    "packed.csv.zst": zstd(csv()),
    "cut short.csv.gz": gzip.compress(csv().encode())[:-9],
    "rows.parquet": written(FRAME.write_parquet, "rows.parquet"),
    "rows.feather": written(FRAME.write_ipc, "rows.feather"),
    "rows.arrow": written(FRAME.write_ipc, "rows.arrow"),
    "rows.jsonl": written(FRAME.write_ndjson, "rows.jsonl"),
    "rows.jsonl.gz": gzip.compress(FRAME.write_ndjson().encode()),
    "an array.json": '[{"v": 1, "y": "a"}, {"v": 2, "y": "b"}]',
    "no ending": csv(),
    "unknown ending.dat": csv(),
    "parquet by another name": written(FRAME.write_parquet, "parquet by another name"),
    "yes and no.csv": csv(rows=[(v, ["yes", "no"][w % 2], w, y) for v, _, w, y in ROWS]),
    "booleans.csv": csv(rows=[(v, ["true", "False"][w % 2], w, y) for v, _, w, y in ROWS]),
    "thousands.csv": csv(rows=[(v, k, f'"{w + 1},{100 + w}"', y) for v, k, w, y in ROWS]),
    "long numbers.csv": csv(rows=[(v, k, 10**30 + w, y) for v, k, w, y in ROWS]),
    "dates.csv": csv(rows=[(v, f"2024-01-{w + 1:02}", f"{w + 1:02}.02.2024", y) for v, _, w, y in ROWS]),
    "times.csv": csv(rows=[(v, f"2024-01-01 12:{w:02}:00", w, y) for v, _, w, y in ROWS]),
    "two of a name.csv": csv(header="v,v,w,y"),
    "capitals.csv": csv(header="v,V,w,y"),
    "late words.csv": csv(rows=LATE),
    "numbers as names.csv": csv(header="2019,2020,w,y"),
    "header only.csv": csv(rows=[]),
    "nothing.csv": "",
    "uneven rows.csv": csv() + "1,x\n",
    "no target.csv": csv(header="v,k,w,z"),
    "unlabelled rows.csv": csv() + "1.5,x,2,\n",
    "no labels.csv": csv(rows=[(v, k, w, "") for v, k, w, _ in ROWS]),
    "zip.csv": b"PK\x03\x04" + bytes(50),
    "broken.parquet": b"PAR1 and nothing else",
    "broken.jsonl": FRAME.write_ndjson() + '{"v": \n',
    "infinite.csv": csv() + "inf,x,2,a\n",
    "a folder": lambda folder: _write_parts(folder, ["a.csv", "b.csv"]),
    "a folder of two types": lambda folder: _write_parts(folder, ["a.csv", "b.csv"], LATE),
}


def _write_parts(folder: Path, names: list[str], rows: Any = ROWS) -> Path:
    (folder / "parts").mkdir()
    for name, part in zip(names, (rows[:50], rows[50:]), strict=True):
        (folder / "parts" / name).write_text(csv(rows=part))
    return folder / "parts"


def write(folder: Path, name: str) -> Path:
    content = FILES[name]
    if callable(content):
        return content(folder)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / name


def fit_by_command(path: Any, folder: Path, target: str = "y", *options: str, given: bytes | None = None) -> str:
    """Return the digest of the model that ``suffice fit`` writes, or its error."""
    model = folder / "model.suffice"
    model.unlink(missing_ok=True)
    done = CliRunner().invoke(app, ["fit", str(path), "-t", target, "-o", str(model), *options], input=given)
    if done.exit_code == 0:
        return suffice.load(model).tally_.digest()
    assert not model.exists()
    return str(done.stderr.strip().splitlines()[-1])


def fit_in_python(source: Any, target: str = "y") -> str:
    """Return the digest of the model of ``fit_table``, or its error as the command line prints it."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "columns (left out|with|are read|hold dates)", UserWarning)
            warnings.filterwarnings("ignore", "line 1 was read|.* (was read as|which are numbered)", UserWarning)
            warnings.filterwarnings("ignore", "the first column has no name and counts the rows", UserWarning)
            return BayesClassifier().fit_table(source, target).tally_.digest()
    except Exception as error:
        return f"suffice: error: {' '.join(translate_settings(str(error)).split())}"


PLAIN = [
    "comment.csv",
    "row counter.csv",
    "row counter from one.csv",
    "semicolons.csv",
    "tabs.tsv",
    "pipes.txt",
    "spaces after commas.csv",
    "byte order mark.csv",
    "blank lines.csv",
    "carriage returns.csv",
    "old carriage returns.csv",
    "mixed line ends.csv",
    "packed.csv.gz",
    "packed.csv",
    "packed.csv.zst",
    "rows.parquet",
    "rows.feather",
    "rows.jsonl",
    "rows.jsonl.gz",
    "no ending",
    "unknown ending.dat",
    "parquet by another name",
    "a folder",
]


@pytest.mark.parametrize("name", FILES)
def test_both_read_a_file_alike(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, name)
    target = "c3" if name == "without a header.csv" else "y"
    assert fit_by_command(path, tmp_path, target) == fit_in_python(path, target)


def test_layouts_of_one_table_give_one_model(tmp_path: Path) -> None:
    expected = BayesClassifier().fit_table(FRAME, "y").tally_.digest()
    assert len(expected) == 64
    for name in PLAIN:
        assert fit_in_python(write(tmp_path, name)) == expected, name


def test_standard_input_is_read_alike(tmp_path: Path) -> None:
    for name in ("plain.csv", "decimal commas.csv", "row counter.csv", "packed.csv.zst", "rows.parquet", "rows.jsonl"):
        path = write(tmp_path, name)
        assert fit_by_command("-", tmp_path, given=path.read_bytes()) == fit_in_python(path), name


def test_settings_of_csv_are_the_options_of_the_command_line(tmp_path: Path) -> None:
    path = write(tmp_path, "numbers as names.csv")
    for option, setting in ((["--header"], {"header": True}), (["--no-header"], {"header": False})):
        target = "y" if setting["header"] else "c3"
        found = fit_in_python(TableFile(path, **setting), target)
        assert fit_by_command(path, tmp_path, target, *option) == found
        assert len(found) == 64
    path = write(tmp_path, "pipes.txt")
    for word in ("|", "pipe", "comma", "||"):
        assert fit_by_command(path, tmp_path, "y", "--delimiter", word) == fit_in_python(
            TableFile(path, delimiter=word)
        )
    path = write(tmp_path, "rows.parquet")
    assert fit_by_command(path, tmp_path, "y", "--header") == fit_in_python(TableFile(path, header=True))


def test_a_repaired_file_is_there_when_a_lazy_prediction_is_computed(tmp_path: Path) -> None:
    path = write(tmp_path, "mixed line ends.csv")
    model = BayesClassifier(structure="naive").fit_table(path, "y")
    predicted = model.predict_table(path)
    gc.collect()
    assert predicted.to_pandas()["prediction"].tolist() == model.predict(FRAME.drop("y")).tolist()


def test_folders_that_name_a_column_are_read_after_a_repair(tmp_path: Path) -> None:
    for year, end in ((2023, "\n"), (2024, "\r\n")):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        (folder / "rows.csv").write_bytes((csv(rows=ROWS[:30]) + csv(header=None, rows=ROWS[30:], end=end)).encode())
    model = BayesClassifier().fit_table(tmp_path, "y")
    assert model.families_["year"] == "bernoulli"
    assert model.class_count_.sum() == 120


def test_decimal_commas_and_text_are_what_they_look_like(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="decimal commas are read as numbers: 'v', 'w'"):
        model = BayesClassifier(structure="naive", numeric="gaussian", families={"w": "gaussian"}).fit_table(
            write(tmp_path, "decimal commas.csv"), "y"
        )
    assert model.families_ == {"v": "gaussian", "k": "categorical", "w": "gaussian"}
    model = BayesClassifier().fit_table(write(tmp_path, "late words.csv"), "y")
    assert model.families_["w"] == "categorical"
    with pytest.warns(UserWarning, match="left out: 'k' .*, 'w' "):
        model = BayesClassifier().fit_table(write(tmp_path, "dates.csv"), "y")
    assert model.left_out_ == {"k": "a date or time", "w": "a date or time"}
    model = BayesClassifier().fit_table(write(tmp_path, "quotes.csv"), "y")
    labels = next(its for its in model.tally_.schema.blocks if its.codings).codings[1].labels
    assert 'x, "x";\nx' in labels


def test_files_are_read_in_a_notebook(tmp_path: Path) -> None:
    """In Jupyter without ipywidgets, DuckDB refuses the settings of its progress bar."""
    client, formats = pytest.importorskip("nbclient"), pytest.importorskip("nbformat.v4")
    (tmp_path / "rows.csv").write_text("x,y\n" + "".join(f"{k},{'ab'[k % 2]}\n" for k in range(40)))
    code = "from suffice import BayesClassifier\nlen(BayesClassifier().fit_table('rows.csv', 'y').classes_)"
    notebook = formats.new_notebook(cells=[formats.new_code_cell(code)])
    source = str(Path(suffice.__file__).parents[1])
    client.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": tmp_path}}).execute(
        env=os.environ | {"PYTHONPATH": source}
    )
    assert notebook.cells[0].outputs[-1]["data"]["text/plain"] == "2"
