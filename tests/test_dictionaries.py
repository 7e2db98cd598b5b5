"""Rows as dictionaries: they are read as a frame with the same columns, and give the same errors."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from suffice import BayesClassifier, GaussianDiscriminant, GaussianNB, LogisticRegression
from suffice.data.dictionaries import read_dictionaries

NAMES = ("town", "age", "wage", "flag", "id")
CELLS = {
    "town": st.sampled_from(["Rome", "Oslo", "Ur", "", None]),
    "age": st.one_of(st.none(), st.integers(-9, 99)),
    "wage": st.one_of(st.none(), st.floats(-1e6, 1e6)),
    "flag": st.one_of(st.none(), st.booleans()),
    "id": st.sampled_from([2**60, 2**60 + 1]),
}
ROWS = st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=5)


def table(rows: int = 60) -> tuple[list[dict[str, Any]], list[str]]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    lines = [
        {
            "town": ["Rome", "Oslo", None][(k + rng.integers(2)) % 3],
            "age": int(rng.normal(30 + 9 * k, 9)) if rng.random() > 0.1 else None,
            "wage": float(rng.normal(1e3 * k, 1e3)),
            "flag": bool(rng.random() < 0.3 + 0.4 * k),
            "id": 2**60 + int(k),
        }
        for k in y
    ]
    return lines, [["no", "yes"][k] for k in y]


def said(ask: Callable[[], Any]) -> tuple[Any, str, list[str]]:
    """Return a result, the error, and the warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            return ask(), "", [str(each.message) for each in seen]
        except (TypeError, ValueError) as error:
            return None, f"{type(error).__name__}: {error}", [str(each.message) for each in seen]


def model() -> BayesClassifier:
    rows, y = table()
    families = {"town": "categorical", "id": "categorical"}
    return BayesClassifier(structure="naive", families=families).fit(pd.DataFrame(rows), y)


MODEL = model()


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, dropped=st.sets(st.sampled_from(NAMES), max_size=4), extra=st.booleans())
def test_dictionaries_are_read_as_a_frame_is(rows: list[dict[str, Any]], dropped: set[str], extra: bool) -> None:
    rows = [{name: row[name] for name in NAMES if name not in dropped} | ({"new": 1} if extra else {}) for row in rows]
    frame = pd.DataFrame(rows)
    expected, error, notes = said(lambda: MODEL.predict_log_proba(frame))
    for each in (rows, tuple(rows), {name: [row[name] for row in rows] for name in rows[0]}):
        found, its_error, its_notes = said(lambda each=each: MODEL.predict_log_proba(each))  # type: ignore[misc]
        assert its_error == error
        assert its_notes == notes
        np.testing.assert_array_equal(found, expected)


def test_learning_from_dictionaries_gives_the_sums_of_a_frame() -> None:
    rows, y = table()
    frame = pd.DataFrame(rows)
    batch = BayesClassifier().fit(rows, y)
    assert batch.tally_.digest() == BayesClassifier().fit(frame, y).tally_.digest()
    columns = {name: [row[name] for row in rows] for name in NAMES}
    assert BayesClassifier(calibrate="temperature").fit(columns, y).score(columns, y) > 0.8
    before = batch.tally_
    for row, label in zip(rows[:3], y, strict=False):
        batch.partial_fit(row, label)
    assert batch.class_count_.sum() == 63
    batch.forget(rows[0], [y[0]])
    receipt = batch.receipt(rows[1], y[1])
    assert receipt.rows == 1
    assert receipt.covers(batch, frame[1:2], y[1:2])
    batch.forget(rows[1:3], y[1:3])
    assert batch.tally_.isclose(before)


def test_a_dictionary_is_one_row() -> None:
    rows, _ = table(3)
    assert MODEL.predict(rows[0]).tolist() == MODEL.predict(rows)[:1].tolist()
    assert MODEL.predict_proba(rows[0]).shape == (1, 2)
    explanation = MODEL.explain(rows[0])
    assert explanation.contributions.shape == (1, 2, 5)
    np.testing.assert_array_equal(explanation.log_proba, MODEL.predict_log_proba(pd.DataFrame(rows[:1])))
    some = [{"town": "Rome", "age": 30}, {"town": "Oslo", "wage": 5.0}]  # missing keys are missing cells
    with pytest.warns(UserWarning, match="'flag', 'id'"):
        found = MODEL.predict_proba(some)
    with pytest.warns(UserWarning, match="'flag', 'id'"):
        np.testing.assert_array_equal(found, MODEL.predict_proba(pd.DataFrame(some)))


@pytest.mark.parametrize("kind", [GaussianNB, GaussianDiscriminant, LogisticRegression])
def test_columns_of_numbers_are_found_by_name(kind: Any) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = list("abcd")
    model = kind().fit(X, y)
    rows = X[::30].to_dict("records")
    backwards = [dict(reversed(row.items())) for row in rows]
    for each in (rows, backwards, X[::30].to_dict("list")):
        np.testing.assert_array_equal(model.predict_log_proba(each), model.predict_log_proba(X[::30]))
    if hasattr(model, "decision_function"):
        np.testing.assert_array_equal(model.decision_function(rows[0]), model.decision_function(X[:1]))
    if hasattr(model, "transform"):
        np.testing.assert_array_equal(model.transform(backwards), model.transform(X[::30]))
    wrong = [rows[0] | {"e": 1.0}, {"a": 1.0}, rows[0] | {"b": "x"}, rows[0] | {"b": None}, rows[0] | {"b": [1]}]
    for row in wrong[:4]:
        _, error, _ = said(lambda row=row: model.predict(row))  # type: ignore[misc]
        assert error
        assert error == said(lambda row=row: model.predict(pd.DataFrame([row])))[1]  # type: ignore[misc]
    with pytest.raises(ValueError, match="'b' holds several values, but 'a' holds 5"):
        model.predict(wrong[4])
    with pytest.raises(ValueError, match="a number of 401 digits is too large"):
        model.predict(rows[0] | {"b": 10**400})
    assert kind().fit(rows * 3, y[::30].tolist() * 3).feature_names_in_.tolist() == list("abcd")


def test_a_model_without_names_takes_dictionaries_by_position_and_warns() -> None:
    for kind in (GaussianNB, LogisticRegression, BayesClassifier):
        model = kind().fit([[1.0], [2.0], [5.0], [6.0]] * 3, [0, 0, 1, 1] * 3)
        with pytest.warns(UserWarning, match="was fitted without feature names"):
            assert model.predict({"a": 5.5}).tolist() == [1]


def test_what_is_no_row() -> None:
    for wrong, message in (
        ([{"town": "Rome"}, ["Rome"]], "row 1 is a list, but row 0 is a dictionary"),
        ({"town": ["a", "b"], "age": [1]}, "same length.*'town': 2, 'age': 1"),
        ({"town": [1, 2], "age": 3}, "'town' holds several values, but 'age' holds 3"),
        ({}, r"0 feature\(s\)"),
        ([{}], r"0 feature\(s\)"),
        ({"town": []}, r"0 sample\(s\)"),
        ({"town": {"name": "Rome"}}, "nested"),
        ([{"town": ["Rome", "Oslo"]}], "nested"),
        ({"town": "Rome", "wage": 10**400}, "a number of 401 digits is too large"),
        ([{"town": "Rome", "age": 3}, {"town": 7, "age": 4}], "column 'town' mixes 'Rome' and 7"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises((TypeError, ValueError), match=message):
                MODEL.predict(wrong)
    with pytest.raises(ValueError, match="y should be a 1d array"):
        MODEL.receipt(table(2)[0], "no")


def test_other_inputs_are_left_alone() -> None:
    cells = sp.dok_array(np.eye(3))
    for X in (cells, [], [[1, 2]], np.eye(2), pd.DataFrame({"a": [1]})):
        assert read_dictionaries(X) is X


def test_dictionaries_need_no_library_of_frames() -> None:
    code = """
import sys
class NotInstalled:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("pandas", "polars", "pyarrow"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NotInstalled())
from suffice import BayesClassifier, GaussianNB
rows = [{"town": "Rome", "age": 30}, {"town": "Oslo", "age": 20}] * 9
for model in (BayesClassifier(), GaussianNB()):
    rows = rows if isinstance(model, BayesClassifier) else [{"age": row["age"]} for row in rows]
    model.fit(rows, ["a", "b"] * 9).partial_fit(rows[0], "a").explain(rows[0])
    print(model.predict(rows[1]), model.receipt(rows[0], "a").rows)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['b'] 1\n" * 2
