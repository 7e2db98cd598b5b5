"""Edge cases of input: unusual arrays, labels, weights and settings."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import suffice
from conftest import Case, each_of_five, every_case, example


@each_of_five
def test_settings_changed_after_the_fit_are_checked_before_use(case: Case, kernels: str) -> None:
    X, y = example(case)
    prior = "priors" if case.name == "GaussianNB" else "class_prior"
    model = case.ours().fit(X, y).set_params(**{prior: [1.0]})
    with pytest.raises(ValueError, match="Number of priors must match number of classes"):
        model.predict(X)
    model.set_params(**{prior: None})
    model.set_params(**({"var_smoothing": -1} if case.name == "GaussianNB" else {"alpha": -1}))
    with pytest.raises(ValueError, match=r"parameter of .* must be"):
        model.predict(X)


@pytest.mark.parametrize("prior", [[np.nan, 1], [0, 0], [-1, 2]], ids=str)
def test_class_priors_must_be_probabilities(prior: Any) -> None:
    with pytest.raises(
        ValueError, match=r"Priors must be non-negative|The sum of the priors should be 1|must be finite"
    ):
        suffice.MultinomialNB(class_prior=prior).fit([[1, 2], [2, 1]], [0, 1])


@pytest.mark.parametrize("alpha", [[np.nan, 1], [np.inf, 1], np.inf], ids=str)
def test_pseudo_counts_must_be_finite(alpha: Any) -> None:
    with pytest.raises(ValueError, match=r"finite|in the range"):
        suffice.MultinomialNB(alpha=alpha).fit([[1, 2], [2, 1]], [0, 1])


EMPTY_CELLS = {
    "polars": pl.DataFrame({"a": [1, None, 3], "b": [1, 2, 3]}),
    "polars, bytes": pl.DataFrame({"a": [1, None, 3], "b": [1, 2, 3]}).cast(pl.UInt8),
    "pandas": pd.DataFrame({"a": pd.array([1, None, 3], "Int64"), "b": [1, 2, 3]}),
    "pandas on arrow": pd.DataFrame({"a": pd.array([1, None, 3], "int64[pyarrow]"), "b": [1, 2, 3]}),
    "arrow": pa.table({"a": [1, None, 3], "b": [1, 2, 3]}),
    "booleans, pandas": pd.DataFrame({"a": pd.array([True, None, False], "boolean"), "b": [True, False, True]}),
    "booleans, polars": pl.DataFrame({"a": [True, None, False], "b": [True, False, True]}),
}


@pytest.mark.parametrize("kind", EMPTY_CELLS)
@each_of_five
def test_empty_cells_of_whole_numbers_are_no_numbers(case: Case, kind: str) -> None:
    frame = EMPTY_CELLS[kind]
    with pytest.raises(ValueError, match="Input X contains NaN: column 'a' is nan in row 1"):
        case.ours().fit(frame, [0, 1, 0])
    full = pd.DataFrame({"a": [1, 1, 0], "b": [1, 0, 1]})
    with pytest.raises(ValueError, match="Input X contains NaN: column 'a' is nan in row 1"):
        case.ours().fit(full, [0, 1, 0]).predict(frame)


def test_posteriors_sum_to_one_far_away_from_all_classes(kernels: str) -> None:
    model = suffice.GaussianNB().fit([[3.0, 0], [3.0, 1], [3.0, 5], [3.0, 6]], [0, 0, 1, 1])
    for rows in ([[1e5, 2]], [[1e150, 2]], [[-1e9, 1e9]]):
        np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1, rtol=1e-12)


def test_the_last_of_many_counts() -> None:
    model = suffice.MultinomialNB().fit([[2**40, 1], [1, 1]], [0, 0]).forget([[2**40, 1]], [0])
    assert model.feature_count_.tolist() == [[1, 1]]
    with pytest.raises(ValueError, match="lost in rounding"):
        suffice.GaussianNB().fit([[1.0], [2.0]], [0, 0], [1e13, 1]).forget([[1.0]], [0], [1e13])


def test_large_whole_labels_stay_apart() -> None:
    model = suffice.GaussianNB().fit([[0.0], [1.0]], np.array([2**60, 2**60 + 1]))
    model.partial_fit([[5.0], [6.0]], np.array([2**60 + 2, 2**60 + 3], np.uint64))
    assert model.classes_.tolist() == [2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3]
    largest = np.array([2**63 + 1, 2**63 + 2], np.uint64)
    assert suffice.GaussianNB().fit([[0.0], [1.0]], largest).predict([[1.0]]).tolist() == [2**63 + 2]
    spread = np.array([-128, 127], np.int8)
    assert suffice.GaussianNB().fit([[0.0], [1.0]], spread).classes_.tolist() == [-128, 127]


@every_case
def test_numbers_that_are_not_aligned_in_memory(case: Case, kernels: str) -> None:
    X, y = example(case)
    shifted = np.frombuffer(b"\0" + X.tobytes(), X.dtype, X.size, 1).reshape(X.shape)
    assert not shifted.flags.aligned
    assert case.ours().fit(shifted, y).tally_.isclose(case.ours().fit(X, y).tally_, 1e-12)


@each_of_five
def test_rows_of_no_weight_are_checked_too(case: Case, kernels: str) -> None:
    X, y = example(case)
    X = X.astype(float)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="column 1 is nan in row 3"):
        case.ours().fit(X, y, (np.arange(len(X)) != 3).astype(float))


def test_sums_that_overflow_are_named() -> None:
    with pytest.raises(ValueError, match="column 0 are so large that their sum overflows"):
        suffice.MultinomialNB().fit([[1e308, 1], [1e308, 2]], [0, 0])
    model = suffice.GaussianNB().fit([[1e200], [1e200]], [0, 0])
    with pytest.raises(ValueError, match="the sums of column 0 overflow"):
        model.partial_fit([[-1e200], [-1e200]], [0, 0])
    with pytest.raises(ValueError, match="the sum of `sample_weight` overflows"):
        suffice.BernoulliNB().fit([[1], [0]], [0, 1], [1e308, 1e308])
    with pytest.raises(ValueError, match="overflow"):
        model.tally_ * 1e308 * 1e308
    with pytest.raises(ValueError, match="column 0 are so large that their squares overflow"):
        suffice.GaussianNB().fit([[1e200], [-1e200]], [0, 1])


def test_thresholds_beyond_the_type() -> None:
    for X in (np.array([[1], [2]]), np.array([[1], [2]], np.uint64), np.array([[1], [2]], np.float32)):
        for threshold in (2.0**63, 2.0**64, 1e39):
            assert (suffice.BernoulliNB(binarize=threshold).fit(X, [0, 1]).feature_count_ == 0).all()


def test_a_column_may_have_any_name() -> None:
    names = ["column_names", "columns", "shape", "<script>", ""]
    frame = pd.DataFrame(np.eye(5), columns=names)
    assert suffice.GaussianNB().fit(frame, range(5)).feature_names_in_.tolist() == names


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), "column 'c' holds datetime64.* needs numbers; turn it into"),
        (pd.to_timedelta(["1D", "2D"]), "column 'c' holds timedelta64"),
        (np.array([1j, 2j]), "Complex data not supported: column 'c'"),
        (pd.array(["1", "two"], "string"), "column 'c' holds 'two' in row 1"),
        ([[1], [2]], "column 'c'"),
    ],
    ids=["dates", "spans", "complex", "words", "lists"],
)
def test_columns_that_are_no_numbers(column: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        suffice.GaussianNB().fit(pd.DataFrame({"a": [1.0, 2.0], "c": column}), [0, 1])


def test_numbers_written_as_words_are_read() -> None:
    frame = pd.DataFrame({"a": pd.array(["1", "2.5"], "string"), "b": pd.Categorical([3, 4])})
    assert suffice.GaussianNB().fit(frame, [0, 1]).theta_.tolist() == [[1, 3], [2.5, 4]]


def test_dates_in_an_array() -> None:
    with pytest.raises(ValueError, match="X holds datetime64"):
        suffice.GaussianNB().fit(np.array([["2020-01-01"], ["2020-01-02"]], "datetime64[D]"), [0, 1])


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (np.array([b"a", b"b"]), TypeError, "bytes"),
        (np.array(["a", pd.NA], object), ValueError, "1 missing labels, the first in row 1"),
        (np.array(["a", pd.NaT], object), ValueError, "1 missing labels"),
        (np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"), ValueError, "Unknown label type"),
    ],
    ids=["bytes", "NA", "NaT", "dates"],
)
def test_labels_that_are_none(y: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        suffice.GaussianNB().fit([[1.0], [2.0]], y)


def test_labels_of_new_string_types() -> None:
    y = np.array(["a", "b"], np.dtypes.StringDType())
    model = suffice.GaussianNB().fit([[1.0], [2.0]], y).partial_fit([[3.0]], ["c"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    objects = np.array([np.int32(1), np.int32(2)], object)
    assert suffice.GaussianNB().fit([[1.0], [2.0]], objects).classes_.tolist() == [1, 2]


def test_too_many_levels_for_the_memory_are_named() -> None:
    X = np.zeros((3000, 2), np.int64)
    X[7, 1] = 10_000_000
    with pytest.raises(ValueError, match="column 1 holds the level 10000000: counting so many levels in 3000 classes"):
        suffice.CategoricalNB().fit(X, np.arange(3000))


@each_of_five
def test_what_is_read_off_cannot_be_written_to(case: Case) -> None:
    X, y = example(case)
    model = pickle.loads(pickle.dumps(case.ours().fit(X, y)))
    names = {"GaussianNB": ["theta_", "var_"], "CategoricalNB": ["n_categories_"]}.get(case.name, ["feature_log_prob_"])
    for name in [*names, "class_count_", "classes_"]:
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[0] = 99


def test_an_outlier_first_does_not_spoil_what_remains_when_it_is_forgotten() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([[[1e6]], rng.normal(size=(100_000, 1))])
    y = np.zeros(len(X), int)
    model = suffice.GaussianNB().fit(X, y).forget(X[:1], y[:1])
    moments = model.tally_.statistics[0]
    np.testing.assert_allclose(moments.m2 / moments.n, X[1:].var(), rtol=1e-6)
