"""Forgetting: what sums can tell about rows that were never learned, and receipts of what was forgotten."""

from __future__ import annotations

import json
from copy import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import suffice
from cases import every_family, every_structure, family_model, family_table
from conftest import Case, every_case, forgets, tables
from suffice import BayesClassifier, BernoulliNB, CategoricalNB, GaussianDiscriminant, GaussianNB, PoissonNB, Receipt
from suffice.cli.app import app


def mixed(rows: int = 120, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return levels, numbers and missing cells, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    table = pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue"])[(y + rng.integers(0, 2, rows)) % 3],
            "shape": np.array(["round", "flat", "long"])[rng.integers(0, 3, rows)],
            "age": rng.normal(30 + 8 * y, 10),
            "wage": rng.normal(1e9 + y, 1.0),
        }
    ).astype(object)
    return table.mask(rng.random(table.shape) < 0.1, None), y


# -- what was learned can be forgotten --------------------------------------------------------------


@every_case
@given(data=st.data())
def test_whatever_was_learned_is_forgotten_in_any_order(case: Case, data: st.DataObject) -> None:
    X, y, whole = data.draw(tables(case))
    weights = whole * data.draw(st.sampled_from([1.0, 0.1, 1 / 3]))
    order = np.array(data.draw(st.permutations(range(len(X)))))
    model = case.ours().fit(X, y, weights)
    for rows in np.array_split(order, min(data.draw(st.integers(1, 4)), len(X))):
        if not forgets(model, X[rows], y[rows], weights[rows]):
            return
    assert not len(model.tally_.class_count)


@every_structure
@pytest.mark.parametrize("numeric", ["gaussian", "quantiles"])
def test_rows_with_missing_cells_are_forgotten_in_any_order(structure: Any, numeric: str) -> None:
    X, y = mixed()
    rng = np.random.default_rng(1)
    for weights in (np.ones(len(y)), rng.uniform(0.1, 3.0, len(y))):
        model = BayesClassifier(structure=structure, numeric=numeric).fit(X, y, weights)
        for rows in np.array_split(rng.permutation(len(y)), 25):
            model.forget(X.iloc[rows], y[rows], weights[rows])
        assert not len(model.tally_.class_count)


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal"])
def test_wild_numbers_are_forgotten(covariance: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_cauchy(size=(200, 4)) * 1e6 + 1e9, rng.integers(0, 2, 200)
    X[:, 3] = X[:, 2] * 2  # no variance in one direction
    model = GaussianDiscriminant(covariance=covariance, shrinkage=0.1).fit(X, y)
    for rows in np.array_split(np.argsort(-np.abs(X[:, 0])), 40)[:-1]:
        model.forget(X[rows], y[rows])


# -- what cannot have been learned is refused -------------------------------------------------------


def refuse(model: Any, X: Any, y: Any, match: str, *, only_strict: bool = True) -> None:
    """Check that a row is refused and that the model stays as it was; if ``only_strict``, by strict checks alone."""
    before = model.tally_
    for act in (model.forget, model.receipt, model.tally_without):
        with pytest.raises(ValueError, match=match):
            act(X, y)
    assert model.tally_ is before
    if only_strict:
        model.forget(X, y, strict=False)
    else:
        with pytest.raises(ValueError, match=match):
            model.forget(X, y, strict=False)


def test_more_zeros_than_were_learned() -> None:
    refuse(BernoulliNB().fit([[1], [1], [0]], [0, 0, 1]), [[0]], [0], "2 ones of column 0 would be left in 1 cells")


@pytest.mark.parametrize("model", [PoissonNB(), suffice.MultinomialNB(), suffice.ComplementNB()], ids=str)
def test_the_last_row_with_other_counts(model: Any) -> None:
    refuse(model.fit([[5, 1], [2, 2]], [0, 1]), [[0, 1]], [0], "class 0, column 0, the rows hold 0", only_strict=False)


def test_more_missing_cells_than_were_learned() -> None:
    X = pd.DataFrame({"one": ["a", "a", "b", "b"], "two": ["x", "y", "x", "y"]})
    missing = pd.DataFrame({"one": [None], "two": ["x"]})
    for structure in ("naive", "tree"):
        model = BayesClassifier(structure=structure, families="categorical").fit(X, [0, 0, 0, 1])
        refuse(model, missing, [0], "3 cells of column 'one' would be left in 2 rows")


def test_more_cells_than_rows_of_a_number() -> None:
    X = pd.DataFrame({"one": [1.0, 2.0, 4.0, 5.0], "two": [3.0, 1.0, 2.0, 2.5]})
    for structure in ("naive", "full"):
        model = BayesClassifier(structure=structure, families="gaussian").fit(X, [0, 0, 0, 1])
        refuse(model, pd.DataFrame({"one": [None], "two": [2.0]}, dtype=float), [0], "3 cells of column 'one'")


def test_more_pairs_than_rows_of_a_level() -> None:
    X = pd.DataFrame({"one": ["a", "a", "b", None, "b"], "two": ["x", "y", "x", "y", None]})
    model = BayesClassifier(structure="tree", families="categorical").fit(X, [0, 0, 0, 0, 0])
    refuse(model, pd.DataFrame({"one": ["a"], "two": [None]}), [0], "2 rows with level 'a' of column 'one' would have")


def test_more_rows_with_either_column_than_rows() -> None:
    X = pd.DataFrame({"one": ["a", "a", "b", None], "two": ["x", "y", None, "y"]})
    model = BayesClassifier(structure="tree", families="categorical").fit(X, [0, 0, 0, 0])
    empty = pd.DataFrame({"one": [None], "two": [None]})
    refuse(model, empty, [0], "4 rows would have a value of column 'one' or column 'two', but 3 rows would be left")


def test_a_correlation_that_no_rows_have() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 1))
    X = np.hstack([x, x + 1e-3 * rng.normal(size=(40, 1))])
    model = GaussianDiscriminant().fit(X, [0] * 20 + [1] * 20)
    refuse(model, [[1.0, -1.0]], [0], "column 0 together with column 1", only_strict=False)


def test_a_variance_that_no_rows_have() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    X = np.column_stack([X, X.sum(axis=1)])  # each two columns are independent enough, all three are not
    model = GaussianDiscriminant(shrinkage=0.1).fit(X, [0] * 20 + [1] * 20)
    refuse(model, [[0.5, 0.5, -0.5]], [0], "column 0 to column 2 would have a negative variance")


def test_more_complete_rows_than_cells() -> None:
    X = pd.DataFrame({"one": [1.0, 2.0, 4.0, 5.0, 9.0, 3.0], "two": [3.0, 1.0, 2.0, 2.5, None, 1.0]})
    model = BayesClassifier(structure="full", families="gaussian").fit(X, [0] * 6)
    row = pd.DataFrame({"one": [3.0], "two": [None]}, dtype=float)
    refuse(model.forget(X[4:5], [0]), row, [0], "5 cells of column 'two' would be left in 4 rows")


def test_a_row_that_is_the_last_of_its_values_is_not_forgotten_twice() -> None:
    X, y = mixed()
    X["colour"] = X["colour"].mask(np.arange(len(X)) == 7, "violet")
    model = BayesClassifier().fit(X, y).forget(X[7:8], y[7:8])
    with pytest.raises(ValueError, match="violet"):
        model.forget(X[7:8], y[7:8])


def test_what_sums_cannot_tell() -> None:
    """The same row twice: other rows have its values, so the sums are possible. A receipt tells."""
    X = pd.DataFrame({"one": ["a", "a", "b", "b"] * 5, "two": ["x", "y"] * 10})
    y = [0] * 20
    model = BayesClassifier(structure="tree").fit(X, y)
    receipt = model.receipt(X[:1], y[:1])
    model.forget(X[:1], y[:1])
    assert receipt.verify(model)
    assert receipt.covers(model, X[:1], y[:1])
    model.forget(X[:1], y[:1])
    assert not receipt.verify(model)


# -- receipts ---------------------------------------------------------------------------------------


@every_case
@given(data=st.data())
def test_forgetting_leads_to_the_digest_of_the_receipt(case: Case, data: st.DataObject) -> None:
    X, y, weights = data.draw(tables(case))
    cut = data.draw(st.integers(1, len(X) - 1))
    model = case.ours().fit(X, y, weights)
    tally = model.tally_
    if not forgets(copy(model), X[cut:], y[cut:], weights[cut:]):
        return
    receipt = model.receipt(X[cut:], y[cut:], weights[cut:])
    assert model.tally_ is tally
    assert (receipt.digest_before, receipt.rows) == (tally.digest(), len(X) - cut)
    assert not receipt.verify(model)
    model.forget(X[cut:], y[cut:], weights[cut:])
    assert receipt.verify(model)
    assert model.tally_.digest() == receipt.digest_after
    back = np.arange(len(X) - 1, cut - 1, -1)
    assert receipt.covers(model, X[back], y[back], weights[back])
    assert not receipt.covers(model, X[cut:], y[cut:], weights[cut:] + 1)
    if case.exact:
        assert receipt.digest_after == case.ours().fit(X[:cut], y[:cut], weights[:cut]).tally_.digest()


@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["complete", "missing cells"])
@every_family
def test_every_family_has_receipts(family: str, missing: float) -> None:
    X, y = family_table(family, missing=missing)
    model = family_model(family).fit(X, y)
    receipt = model.receipt(X[40:], y[40:])
    assert receipt.verify(model.forget(X[40:], y[40:]))
    assert model.partial_fit(X[40:], y[40:]).receipt(X[40:], y[40:]).rows_digest == receipt.rows_digest


@every_structure
def test_every_structure_has_receipts(structure: Any, tmp_path: Path) -> None:
    X, y = mixed()
    model = BayesClassifier(structure=structure).fit(X, y)
    receipt = model.receipt(X[100:], y[100:])
    assert receipt.verify(suffice.load(model.forget(X[100:], y[100:]).save(tmp_path / "model.suffice")))


def test_a_receipt_of_all_rows() -> None:
    model = GaussianNB().fit([[1.0], [2.0]], ["a", "b"])
    receipt = model.receipt([[1.0], [2.0]], ["a", "b"])
    assert receipt.verify(model.forget([[1.0], [2.0]], ["a", "b"]))


def test_the_digest_of_rows_depends_on_their_values_alone() -> None:
    frame = pd.DataFrame({"n": [1.0, 2.5, np.nan], "level": ["a", None, "b"], "flag": [True, False, True]})
    y = np.array([1, 2, 1])
    settings: Any = {"families": {"n": "gaussian", "level": "categorical", "flag": "bernoulli"}, "structure": "naive"}
    model = BayesClassifier(**settings).fit(frame, y)
    digest = model.receipt(frame, y).rows_digest
    same = [
        (frame[::-1], y[::-1]),
        (frame[["flag", "n", "level"]], y.astype(float)),
        (pl.from_pandas(frame), y),
    ]
    for rows, labels in same:
        assert model.receipt(rows, labels).rows_digest == digest
    with pytest.warns(UserWarning, match="unread"):
        assert model.receipt(frame.assign(unread="x"), y).rows_digest == digest
    other = pd.concat([frame[:2], frame[:1].assign(level="b")])
    later = BayesClassifier(**settings).fit(pd.concat([frame, other]), [*y, *y])
    assert later.receipt(other, y).rows_digest != digest
    X = np.array([[1, 0], [0, 3]])
    counts = PoissonNB().fit(X, [0, 1])
    assert counts.receipt(sp.csr_matrix(X), [0, 1]).rows_digest == counts.receipt(X.astype(float), [0, 1]).rows_digest


def test_a_receipt_can_be_filed_and_read() -> None:
    model = CategoricalNB().fit([[0], [1], [1]], ["a", "b", "b"])
    receipt = model.receipt([[1]], ["b"])
    found = json.loads(receipt.to_json())
    assert Receipt.from_json(receipt.to_json()) == receipt
    assert found["version"] == suffice.__version__
    assert datetime.now(UTC).timestamp() - datetime.fromisoformat(found["time"]).timestamp() < 60
    assert found["time"].endswith("+00:00")
    for text in (receipt.digest_before, receipt.digest_after, receipt.rows_digest, receipt.time, "1 row to forget"):
        assert text in str(receipt)
    with pytest.raises(AttributeError):
        receipt.rows = 2  # type: ignore[misc]
    for text in ("", "[]", "{}", "3", json.dumps({"format": 1})):
        with pytest.raises(ValueError, match="not a receipt"):
            Receipt.from_json(text)
    with pytest.raises(ValueError, match="upgrade suffice"):
        Receipt.from_json(json.dumps(found | {"format": 2}))


def test_models_that_cannot_forget_have_no_receipt() -> None:
    assert not hasattr(suffice.MixtureClassifier(), "receipt")
    assert not hasattr(GaussianDiscriminant(covariance="shared", solver="svd"), "receipt")
    assert not hasattr(suffice.LogisticRegression(), "receipt")


# -- the command line -------------------------------------------------------------------------------


def told(*arguments: Any, code: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == code, (done.exit_code, done.output, done.exception)
    return done.stdout, done.stderr


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a model and two files of rows to forget."""
    X, y = mixed()
    rows = X.assign(label=np.array(["a", "b", "c"])[y])
    rows.to_csv(tmp_path / "all.csv", index=False)
    rows[100:].to_csv(tmp_path / "gone.csv", index=False)
    rows[90:100].to_csv(tmp_path / "others.csv", index=False)
    told("fit", tmp_path / "all.csv", "-t", "label", "-o", tmp_path / "model.suffice")
    return tmp_path


def test_the_command_line_writes_receipts(files: Path) -> None:
    model, receipt = files / "model.suffice", files / "receipt.json"
    before = suffice.load(model).tally_.digest()  # type: ignore[union-attr]
    out, _ = told("forget", model, files / "gone.csv", "--receipt", receipt, "--json")
    found = Receipt.from_json(receipt.read_text())
    assert json.loads(out)["digest"] == found.digest_after
    assert json.loads(out)["receipt"] == str(receipt)
    assert (found.digest_before, found.rows) == (before, 20)
    assert found.verify(suffice.load(model))


def test_a_job_that_is_tried_again_forgets_once(files: Path) -> None:
    model, receipt = files / "model.suffice", files / "receipt.json"
    told("forget", model, files / "gone.csv", "--receipt", receipt)
    content, filed = model.read_bytes(), receipt.read_bytes()
    _, errors = told("forget", model, files / "gone.csv", "--receipt", receipt)
    assert "forgotten already" in errors
    assert (model.read_bytes(), receipt.read_bytes()) == (content, filed)
    _, errors = told("forget", model, files / "others.csv", "--receipt", receipt, code=1)
    assert "another file" in errors
    assert (model.read_bytes(), receipt.read_bytes()) == (content, filed)
    told("forget", model, files / "others.csv", "--receipt", files / "second.json")
    assert model.read_bytes() != content


def test_a_receipt_is_written_only_if_rows_are_forgotten(files: Path) -> None:
    model, receipt = files / "model.suffice", files / "receipt.json"
    content = model.read_bytes()
    (files / "never.csv").write_text("colour,shape,age,wage,label\nviolet,round,3,1e9,a\n")
    told("forget", model, files / "never.csv", "--receipt", receipt, code=1)
    told("forget", model, files / "gone.csv", "--receipt", files / "nowhere" / "receipt.json", code=1)
    told("forget", model, files / "gone.csv", "--receipt", "-", code=1)
    receipt.write_text("something else")
    told("forget", model, files / "gone.csv", "--receipt", receipt, code=1)
    assert receipt.read_text() == "something else"
    assert model.read_bytes() == content
