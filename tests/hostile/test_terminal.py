"""Names and labels with control characters: they are escaped where a terminal or a spreadsheet would obey them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import suffice
from suffice.cli.app import app
from suffice.printable import escape_controls

CLEAR, RIGHT_TO_LEFT, C1 = "\x1b[2J", "\u202e", "\x9b31m"
NAME, LABEL, LEVEL = f"col{CLEAR}{RIGHT_TO_LEFT}", f"yes{CLEAR}{C1}", f"red{CLEAR}"
DANGEROUS = {"\x1b", "\u202e", "\x9b"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table and a model whose column, levels and classes have control characters."""
    place = tmp_path_factory.mktemp("terminal")
    table = pd.DataFrame({NAME: [LEVEL, "blue"] * 20, "size": [1.0, 2.0, 3.0, 4.0] * 10, "y": [LABEL, "no"] * 20})
    table.to_csv(place / "t.csv", index=False)
    suffice.BayesClassifier(structure="tree").fit_table(table, "y").save(place / "m.suffice")
    return place


def run(*arguments: Any) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize(
    "command",
    [
        ("info", "m.suffice"),
        ("info", "m.suffice", "--json"),
        ("verify", "m.suffice"),
        ("evaluate", "m.suffice", "t.csv"),
        ("evaluate", "m.suffice", "t.csv", "--json"),
        ("explain", "m.suffice", "t.csv"),
        ("explain", "m.suffice", "t.csv", "--json"),
        ("explain", "m.suffice", "t.csv", "--label", "maybe"),
        ("fit", "t.csv", "-t", "y", "-o", "new.suffice", "--structure", "naive"),
        ("fit", "t.csv", "-t", CLEAR, "-o", "new.suffice"),
        ("info", f"no{CLEAR}.suffice"),
    ],
    ids=" ".join,
)
def test_no_command_prints_control_characters(command: tuple[str, ...], folder: Path) -> None:
    code, said = run(*(folder / each if each.endswith((".csv", ".suffice")) else each for each in command))
    assert code in (0, 1)
    assert said
    assert not DANGEROUS & set(said)


def test_json_keeps_the_names(folder: Path) -> None:
    _, said = run("info", folder / "m.suffice", "--json")
    assert NAME in json.loads(said)["families"]
    assert LABEL in json.loads(said)["classes"]


def test_a_plan_and_a_model_print_no_control_characters(folder: Path) -> None:
    model: Any = suffice.load(folder / "m.suffice")
    for text in (
        str(model.plan_),
        repr(model),
        model.explain(pd.read_csv(folder / "t.csv")[:1].drop(columns="y")).sentence(),
    ):
        assert not DANGEROUS & set(text)


@given(st.text())
def test_escaped_text_can_be_printed(text: str) -> None:
    escaped = escape_controls(text)
    assert escaped.encode().decode() == escaped
    assert not [each for each in escaped if ord(each) < 32 or 127 <= ord(each) < 160]
    if text.isprintable():
        assert escaped == text


def test_formulas_are_quoted_if_asked(folder: Path, tmp_path: Path) -> None:
    table = pd.DataFrame({"=A1": ["=1+1", "@sum", "-2", "plain"] * 10, "n": [-1.5, 2, 3, 4] * 10})
    table.to_csv(tmp_path / "t.csv", index=False)
    labels = ["+cmd", "no", "+cmd", "no"] * 10
    suffice.BayesClassifier(structure="naive").fit(table, labels).save(tmp_path / "m.suffice")
    command = ("predict", tmp_path / "m.suffice", tmp_path / "t.csv", "--keep", "--no-proba")
    header, first, second, *_ = csv.reader(io.StringIO(run(*command)[1]))
    assert (header[0], first[0], first[2], second[0]) == ("=A1", "=1+1", "+cmd", "@sum")
    header, first, second, *_ = csv.reader(io.StringIO(run(*command, "--safe-csv")[1]))
    assert (header[0], first[0], first[2], second[0]) == ("'=A1", "'=1+1", "'+cmd", "'@sum")
    assert (first[1], second[2]) == ("-1.5", "no")
    code, said = run(*command, "--safe-csv", "-o", tmp_path / "out.parquet")
    assert code == 1
    assert "--safe-csv is for CSV" in said
