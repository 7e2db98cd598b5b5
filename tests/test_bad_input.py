"""Bad input: the type of the error is scikit-learn's, the message names the cell, and the model does not change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import suffice
from conftest import Case, each_of_five, example


def spoiled(X: Any, value: Any, row: int = 5, column: int = 2) -> Any:
    X = np.array(X, float)
    X[row, column] = value
    return X


def bad_tables(case: Case) -> list[tuple[str, Any, Any, dict[str, Any], type[Exception], str]]:
    X, y = example(case)
    names = [f"c{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    nullable = frame.convert_dtypes()
    nullable.loc[5, "c0"] = pd.NA
    rows = [
        ("NaN", spoiled(X, np.nan), y, {}, ValueError, "Input X contains NaN: column 2 is nan in row 5"),
        ("infinity", spoiled(X, np.inf), y, {}, ValueError, "contains infinity .*column 2 is inf in row 5"),
        ("minus infinity", spoiled(X, -np.inf), y, {}, ValueError, "contains infinity .*column 2 is -inf in row 5"),
        ("NaN, single", spoiled(X, np.nan).astype(np.float32), y, {}, ValueError, "column 2 is nan in row 5"),
        ("NaN, fortran", np.asfortranarray(spoiled(X, np.nan)), y, {}, ValueError, "column 2 is nan in row 5"),
        (
            "NaN, pandas",
            pd.DataFrame(spoiled(X, np.nan), columns=names),
            y,
            {},
            ValueError,
            "column 'c2' is nan in row 5",
        ),
        (
            "null, pandas",
            nullable,
            y,
            {},
            ValueError,
            "'c0' is nan in row 5",
        ),
        (
            "null, polars",
            pl.DataFrame({"a": [1.0, None], "b": [1.0, 2.0]}),
            [0, 1],
            {},
            ValueError,
            "column 'a' is nan in row 1",
        ),
        ("words", frame.assign(c3="Paris"), y, {}, ValueError, "column 'c3' holds 'Paris' in row 0"),
        ("words in an array", np.array([["x", "y"]] * len(y)), y, {}, ValueError, "could not convert|dtype='numeric'"),
        ("complex", X.astype(complex), y, {}, ValueError, "Complex data not supported"),
        ("one dimension", np.arange(4.0), [0, 1, 0, 1], {}, ValueError, "Expected 2D array, got 1D array instead"),
        ("three dimensions", np.zeros((2, 2, 2)), [0, 1], {}, ValueError, "dim 3"),
        ("no rows", np.empty((0, 3)), [], {}, ValueError, "0 sample"),
        ("no rows, frame", frame.iloc[:0], [], {}, ValueError, "0 sample"),
        ("no columns", np.empty((3, 0)), [0, 1, 0], {}, ValueError, "0 feature"),
        ("a label short", X, y[:-1], {}, ValueError, "inconsistent numbers of samples"),
        ("no labels", X, None, {}, ValueError, "requires y to be passed, but the target y is None"),
        ("continuous labels", X, y + 0.5, {}, ValueError, "Unknown label type: continuous"),
        ("NaN labels", X, np.where(y == 1, np.nan, y), {}, ValueError, "Input y contains NaN"),
        (
            "None labels",
            X,
            np.where(y == 1, None, "a"),
            {},
            ValueError,
            "Input y contains NaN or None: .* missing labels",
        ),
        ("mixed labels", X, np.array([1 if k == 1 else "b" for k in y], object), {}, ValueError, "y mixes"),
        ("two-column labels", X, np.c_[y, y], {}, ValueError, "y should be a 1d array"),
        ("a weight short", X, y, {"sample_weight": np.ones(len(y) - 1)}, ValueError, "sample_weight.shape"),
        (
            "NaN weight",
            X,
            y,
            {"sample_weight": spoiled(np.ones((len(y), 3)), np.nan)[:, 2]},
            ValueError,
            "sample_weight.*NaN",
        ),
        ("negative weight", X, y, {"sample_weight": -np.ones(len(y))}, ValueError, "sample_weight`: -1 in row 0"),
    ]
    if case.name in ("MultinomialNB", "ComplementNB", "CategoricalNB"):
        message = rf"Negative values in data passed to {case.name} \(input X\): column 2 is -1.* in row 5"
        rows.append(("negative", spoiled(X, -1), y, {}, ValueError, message))
        rows.append(("negative, whole", spoiled(X, -1).astype(int), y, {}, ValueError, message))
    if case.sparse:
        stored = sp.csr_array(spoiled(X, np.nan))
        rows.append(("NaN, sparse", stored, y, {}, ValueError, "column 2 is nan in row 5"))
    else:
        rows.append(
            ("sparse", sp.csr_array(X), y, {}, TypeError, "Sparse data was passed for X, but dense data is required")
        )
    if case.name == "CategoricalNB":
        rows.append(("an identifier", spoiled(X, 1e12), y, {}, ValueError, "column 2 holds the level 1000000000000.0"))
    return rows


@each_of_five
def test_fit_says_what_is_wrong(case: Case, kernels: str) -> None:
    for what, X, y, more, error, message in bad_tables(case):
        with pytest.raises(error, match=message):
            case.ours().fit(X, y, **more)
            pytest.fail(what)


# a warning of scikit-learn: some of the bad tables are frames
@pytest.mark.filterwarnings("ignore:X has feature names, but:UserWarning")
@each_of_five
def test_a_failure_leaves_the_model_as_it_was(case: Case) -> None:
    X, y = example(case)
    model = case.ours().fit(X, y)
    before, tally = dict(vars(model)), model.tally_
    arrays = {name: array.copy() for name, array in tally.arrays().items()}
    for what, bad_X, bad_y, more, error, _ in bad_tables(case):
        for method in (model.fit, model.partial_fit, model.forget):
            with pytest.raises(error):
                method(bad_X, bad_y, **more)
                pytest.fail(what)
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        model.partial_fit(X, y + 1, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="is not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="cannot forget"):
        model.forget(np.concatenate([X, X]), np.concatenate([y, y]))
    with pytest.raises(ValueError, match="only 0 were learned"):
        model.forget(X[:1], [17])
    assert model.tally_ is tally
    assert vars(model).keys() == before.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(tally.arrays()[name], array)


@each_of_five
def test_a_first_call_that_fails_leaves_nothing(case: Case) -> None:
    for what, X, y, more, error, _ in bad_tables(case):
        model = case.ours()
        with pytest.raises(error):
            model.partial_fit(X, y, **more)
            pytest.fail(what)
        assert not hasattr(model, "tally_")
        assert not hasattr(model, "n_features_in_")
        with pytest.raises(NotFittedError):
            model.predict([[1, 2, 3]])


@each_of_five
def test_predict_says_what_is_wrong(case: Case, kernels: str) -> None:
    X, y = example(case)
    model = case.ours().fit(X, y)
    for method in (model.predict, model.predict_proba, model.predict_joint_log_proba):
        with pytest.raises(ValueError, match="column 2 is nan in row 5"):
            method(spoiled(X, np.nan))
        with pytest.raises(ValueError, match="column 2 is inf in row 5"):
            method(spoiled(X, np.inf))
        with pytest.raises(ValueError, match=f"X has 6 features, but {case.name} is expecting 7 features as input"):
            method(X[:, :6])
        with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
            method(X[0])
        with pytest.raises(ValueError, match="0 sample"):
            method(X[:0])


def test_levels_below_zero_at_predict_time() -> None:
    model = suffice.CategoricalNB().fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(
        ValueError, match=r"Negative values in data passed to CategoricalNB \(input X\): column 1 is -3"
    ):
        model.predict([[0, -3]])


def test_levels_with_a_fraction_are_cut_and_said() -> None:
    with pytest.warns(UserWarning, match=r"column 1 is 2.5 in row 0: CategoricalNB takes levels as whole numbers"):
        model = suffice.CategoricalNB().fit([[0.0, 2.5], [1.0, 1.0]], [0, 1])
    assert model.tally_ == suffice.CategoricalNB().fit([[0, 2], [1, 1]], [0, 1]).tally_


def test_bits_that_are_none() -> None:
    with pytest.raises(ValueError, match=r"binarize=None takes 0s and 1s, but column 1 is 7 in row 1; set binarize"):
        suffice.BernoulliNB(binarize=None).fit([[0, 1], [1, 7]], [0, 1])


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("GaussianNB", {"priors": [0.5]}, "Number of priors must match number of classes"),
        ("GaussianNB", {"priors": [0.5, 0.7]}, "The sum of the priors should be 1. It is 1.2"),
        ("GaussianNB", {"priors": [-0.5, 1.5]}, "Priors must be non-negative"),
        ("GaussianNB", {"var_smoothing": -1}, "'var_smoothing' parameter of GaussianNB must be a float in the range"),
        ("MultinomialNB", {"alpha": -1}, "'alpha' parameter of MultinomialNB must be a float in the range"),
        ("MultinomialNB", {"alpha": [1.0, -1.0]}, "All values in alpha must be greater than 0"),
        ("MultinomialNB", {"alpha": [1.0]}, "When alpha is an array, it should contains `n_features`. Got 1 elements"),
        ("BernoulliNB", {"binarize": "yes"}, "'binarize' parameter of BernoulliNB must be"),
        ("ComplementNB", {"norm": 2}, "'norm' parameter of ComplementNB must be"),
        ("CategoricalNB", {"class_prior": [1.0]}, "Number of priors must match number of classes"),
        ("CategoricalNB", {"min_categories": [2.5, 2]}, "'min_categories' should have integral type"),
        ("CategoricalNB", {"min_categories": [2]}, "'min_categories' should have shape"),
    ],
    ids=str,
)
def test_settings_are_checked_before_anything_is_learned(name: str, parameters: dict[str, Any], message: str) -> None:
    model = getattr(suffice, name)(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit([[1, 0], [0, 1]], [0, 1])
    assert not hasattr(model, "tally_")


def test_forgetting_what_was_never_learned_names_it() -> None:
    frame = pd.DataFrame({"age": [1, 0], "sex": [0, 1]})
    model = suffice.CategoricalNB().fit(frame, ["no", "yes"])
    with pytest.raises(ValueError, match="class 'no', level 1 of column 'sex'"):
        model.forget(pd.DataFrame({"age": [1], "sex": [1]}), ["no"])


def test_forgetting_everything_leaves_an_unfitted_model() -> None:
    X, y = [[1.0], [2.0]], [0, 1]
    model = suffice.GaussianNB().fit(X, y).forget(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.partial_fit([[1.0, 2.0]], ["a"]).predict([[1.0, 2.0]]).tolist() == ["a"]


@pytest.mark.parametrize("count", [0, -1, "two", 1.5])
def test_a_number_of_threads_must_be_one(count: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if count != 1.5:
        with pytest.raises(ValueError, match="must be a whole number of threads, 1 or more"):
            suffice.set_threads(count)
    monkeypatch.setenv("SUFFICE_THREADS", str(count))
    with pytest.raises(ValueError, match="SUFFICE_THREADS must be a whole number of threads"):
        suffice.get_threads()
