"""`suffice verify`: files that are whole pass, and sums that do not add up are found."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import suffice
from cases import every_family, every_structure, family_model, family_table
from suffice import storage
from suffice.classifiers.verification import verify_file
from suffice.cli.app import app

FOLDER = Path(__file__).parent / "model_files"
FILES = sorted(FOLDER.glob("*.suffice"))


def run(*arguments: Any) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_whole_files_pass(file: Path) -> None:
    assert verify_file(file).is_ok, verify_file(file).checks


@every_family
def test_every_family_passes(family: str, tmp_path: Path) -> None:
    table, labels = family_table(family, missing=0.1)
    weights = np.random.default_rng(0).random(len(labels))
    model = family_model(family).fit(table, labels, weights).forget(table[:20], labels[:20], weights[:20])
    found = verify_file(model.save(tmp_path / "model.suffice"))
    assert found.is_ok, found.checks


@every_structure
def test_every_structure_passes(structure: Any, tmp_path: Path) -> None:
    table, labels = family_table("categorical")
    found = verify_file(
        family_model("categorical", structure=structure).fit(table, labels).save(tmp_path / "m.suffice")
    )
    assert found.is_ok, found.checks


def altered(name: str, place: int, array: str, tmp_path: Path) -> Path:
    """Return a file in which one count of a statistic is larger than it can be."""
    model: Any = suffice.load(FOLDER / name)
    statistic = model.tally_.statistics[place]
    values = getattr(statistic, array).copy()
    values.flat[0] += 1
    statistics = list(model.tally_.statistics)
    statistics[place] = replace(statistic, **{array: values})
    state = model.__getstate__() | {"tally_": replace(model.tally_, statistics=tuple(statistics))}
    return storage.save(type(model).__name__, state, tmp_path / "altered.suffice")


@pytest.mark.parametrize(
    ("name", "place", "array", "problem"),
    [
        ("categorical_format_2.suffice", 0, "total", "the levels of column 0 count"),
        ("default_format_2.suffice", 0, "total", "the levels of column 'age' count"),
        ("default_format_2.suffice", 0, "pairs", "together with"),
        ("default_format_2.suffice", 0, "n", "count"),
        ("default_format_2.suffice", 3, "total", "the leaves of tree 0 count"),
        ("default_format_2.suffice", 1, "n", "column 'age' has"),
        ("gaussian_format_2.suffice", 0, "n", "cells of its columns would be left in"),
    ],
)
def test_counts_that_do_not_add_up_are_found(name: str, place: int, array: str, problem: str, tmp_path: Path) -> None:
    file = altered(name, place, array, tmp_path)
    code, said = run("verify", file, "--json")
    found = json.loads(said)
    assert code == 1
    assert not found["ok"]
    assert any(problem in (check["problem"] or "") for check in found["checks"]), found["checks"]


def test_what_is_printed(tmp_path: Path) -> None:
    code, said = run("verify", FOLDER / "default_format_2.suffice")
    assert code == 0
    assert "10 trees: leaves add up to classes" in said
    (tmp_path / "cut.suffice").write_bytes((FOLDER / "default_format_2.suffice").read_bytes()[:-1])
    code, said = run("verify", tmp_path / "cut.suffice")
    assert code == 1
    assert "wrong" in said


def test_receipts_are_checked(tmp_path: Path) -> None:
    table, labels = family_table("categorical")
    model = family_model("categorical").fit(table, labels)
    receipt = tmp_path / "receipt.json"
    receipt.write_text(model.receipt(table[:3], labels[:3]).to_json())
    before = model.save(tmp_path / "before.suffice")
    after = model.forget(table[:3], labels[:3]).save(tmp_path / "after.suffice")
    other = model.forget(table[3:5], labels[3:5]).save(tmp_path / "other.suffice")
    problems = {after: None, before: "the model still contains the rows", other: "the model is another one, or has"}
    for path, problem in problems.items():
        code, out = run("verify", path, "--receipt", receipt, "--json")
        check = json.loads(out)["checks"][-1]
        assert check["check"].startswith("receipt of 3 forgotten rows")
        assert (check["problem"] or "").startswith(problem or "")
        assert (check["problem"] is None) == (code == 0) == (problem is None)
    receipt.write_text("{}")
    code, out = run("verify", after, "--receipt", receipt)
    assert code == 1
    assert "this is not a receipt of suffice" in out
