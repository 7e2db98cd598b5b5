"""Edge cases of tables: unusual types, names, levels and texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import suffice
from conftest import Case, assert_same_scores, each_of_five
from suffice import BayesClassifier, Text


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(columns)


@pytest.mark.parametrize("other", ["categorical", "multinomial"])
def test_what_is_impossible_and_what_is_certain_make_no_nan(other: str) -> None:
    X = frame(k=[0, 1, 1], j=[1, 0, 2], c1=[1, 0, 0], c2=[0, 1, 1])
    families = {"k": other, "j": other, "c1": "complement", "c2": "complement"}
    model = BayesClassifier(families=families, estimate="mle", structure="naive").fit(X, ["a", "b", "b"])
    new = frame(k=[1, 0], j=[1, 0], c1=[1, 0], c2=[0, 1])
    assert np.isfinite(model.predict_proba(new)).all()
    assert not np.isnan(model.predict_joint_log_proba(new)).any()


@pytest.mark.parametrize("estimate", ["mle", "map", "mean", "predictive"])
@pytest.mark.parametrize("text", [Text(), Text(complement=True), Text(stop_words=["the"])])
def test_a_text_without_words_says_nothing(text: Text, estimate: str) -> None:
    X = frame(t=["", None, "a", ""], x=[1.0, 2.0, 1.5, 2.5])
    families = {"t": text, "x": "gaussian"}
    model = BayesClassifier(families=families, estimate=estimate).partial_fit(X, ["a", "b", "a", "b"])
    without = BayesClassifier(families={"x": "gaussian"}, estimate=estimate).fit(X[["x"]], ["a", "b", "a", "b"])
    new = frame(t=["hello there", ""], x=[1.0, 2.0])
    np.testing.assert_allclose(model.predict_proba(new), without.predict_proba(new[["x"]]))
    assert np.isfinite(model.log_evidence_)
    model.partial_fit(frame(t=["hello there"], x=[1.0]), ["a"])
    assert model.predict(new).tolist() == ["a", "b"]


def test_many_classes_do_not_take_all_memory() -> None:
    rng = np.random.default_rng(0)
    X, y = frame(x=rng.normal(size=30_000)), rng.integers(0, 3000, 30_000)
    model = BayesClassifier().fit(X, y)
    assert len(model.classes_) > 2900
    assert model.predict(X.iloc[:10]).shape == (10,)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_dates_can_be_levels(make: Any) -> None:
    X = make({"a": list(pd.date_range("2020", periods=2)) * 5})
    model = BayesClassifier(families={"a": "categorical"}).fit(X, ["a", "b"] * 5)
    assert model.predict(X).tolist() == ["a", "b"] * 5
    other = BayesClassifier(families={"a": "categorical"}).fit(make({"a": ["x", "y"] * 5}), ["a", "b"] * 5)
    assert np.isfinite(other.predict_proba(X)).all()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, lambda d: np.array([d["a"]]).T])
def test_large_whole_numbers_are_told_apart(make: Any) -> None:
    X = make({"a": np.array([2**60, 2**60 + 1] * 20)})
    model = BayesClassifier().fit(X, ["a", "b"] * 20)
    assert model.predict(X).tolist() == ["a", "b"] * 20


def test_a_record_batch_has_names() -> None:
    columns = {"a": [1.5, 2.5, 3.5, 4.5] * 5, "x": [1.0, 9.0, 1.0, 8.0] * 5}
    y = [0, 1] * 10
    model = BayesClassifier().fit(pa.record_batch(columns), y)
    assert model.feature_names_in_.tolist() == ["a", "x"]
    swapped = pa.record_batch({"x": columns["x"], "a": columns["a"]})
    assert_same_scores(model.predict_proba(swapped), model.predict_proba(pa.table(columns)))


def test_a_single_number_is_not_left() -> None:
    """It has no variance, which cannot be told from rounding errors."""
    x, y = [np.nan, np.nan, np.nan, 3.625, 1.75, 2.625], ["b"] * 6
    model = BayesClassifier(families="gaussian").fit(frame(x=x), y)
    with pytest.raises(ValueError, match=r"column 'x' in class 'b' was forgotten .* lost in rounding"):
        model.forget(frame(x=x[4:]), y[4:])


def test_names_of_several_kinds() -> None:
    X = pd.DataFrame({1: [1.0, 2, 1, 2], "a": [3.0, 4, 3, 5]})
    one = BayesClassifier(families="gaussian").fit(X, [0, 1, 0, 1])
    other = BayesClassifier(families="gaussian").fit(X[["a", 1]], [0, 1, 0, 1])
    assert (one + other).class_count_.tolist() == [4, 4]
    with pytest.warns(UserWarning, match="empty: 1"):
        one.predict(X[["a"]])


@pytest.mark.parametrize(
    ("X", "families", "message"),
    [
        (frame(a=pd.Categorical([1, "a", 2.5, 1])), "auto", "column 'a' mixes"),
        (frame(a=pd.Series([10**400, 2, 3, 4], dtype=object)), "auto", "401 digits is too large"),
        (pd.DataFrame(index=range(4)), "auto", "X has no columns"),
    ],
)
def test_errors_say_what_to_do(X: Any, families: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        BayesClassifier(families=families).fit(X, [0, 1, 0, 1])


def test_lazy_frames_are_to_be_collected() -> None:
    with pytest.raises(TypeError, match=r"call X\.collect"):
        BayesClassifier().fit(pl.LazyFrame({"a": [1, 2]}), [0, 1])


def test_labels_of_mixed_kinds_are_not_made_strings() -> None:
    table = frame(x=[1.0, 2, 3], y=pd.Series([1, "a", True], dtype=object))
    with pytest.raises(ValueError, match="'y' mixes"):
        BayesClassifier().fit_table(table, "y")
    with pytest.raises(ValueError, match="column 'w' must hold the weight of each row, but does not hold numbers only"):
        BayesClassifier().fit_table(frame(x=[1.0, 2], y=["a", "b"], w=["1", "2"]), "y", weight="w")
    with pytest.raises(ValueError, match="no column to learn from besides 'y'"):
        BayesClassifier().fit_table(frame(y=["a", "b"]), "y")


def test_odd_types_of_numbers() -> None:
    for values in (
        pl.Series("a", [1, 2, 3, 4] * 5, dtype=pl.Int128),
        pl.Series("a", [1, 2, 3, 4] * 5).cast(pl.Decimal(10, 2)),
        pl.Series("a", [1, 2, None, 4] * 5, dtype=pl.UInt8),
    ):
        X = values.to_frame()
        model = BayesClassifier(families="gaussian").fit(X, [0, 1] * 10)
        assert np.isfinite(model.predict_proba(X)).all()
        assert np.isfinite(BayesClassifier(families="categorical").fit(X, [0, 1] * 10).predict_proba(X)).all()
    masked = np.ma.array([["a"], ["b"], ["a"], ["b"]], mask=[[0], [0], [1], [0]])
    assert BayesClassifier().fit(masked, [0, 1, 0, 1]).class_count_.tolist() == [2, 2]


def test_numbers_at_both_ends_of_the_range() -> None:
    X = frame(x=[1e308, -1e308, 1.0, 2.0] * 5)
    for numeric in ("quantiles", "mdl"):
        assert np.isfinite(BayesClassifier(numeric=numeric).fit(X, [0, 1] * 10).predict_proba(X)).all()


def test_an_empty_column_has_intervals() -> None:
    X = frame(x=[np.nan, np.nan, np.nan], z=[1.0, 2.0, 3.0])
    model = BayesClassifier(families="gaussian", prior="auto", structure="naive").fit(X, [0, 1, 1])
    lower, upper = model.predict_interval(X)
    assert (lower <= upper).all()


def test_a_weight_counts_in_the_choice_of_families() -> None:
    X = frame(k=[1, 2, 3] * 2)
    weighted = BayesClassifier().fit(X, [0, 1] * 3, np.full(6, 5))
    repeated = BayesClassifier().fit(pd.concat([X] * 5), [0, 1] * 15)
    assert weighted.families_ == repeated.families_ == {"k": "categorical"}


def test_patterns_and_stop_words_are_checked_when_set() -> None:
    assert Text(stop_words=np.array(["b", "a"])) == Text(stop_words=["a", "b"])
    with pytest.raises(ValueError, match="is not a regular expression"):
        Text(token_pattern="(")


@each_of_five
def test_whole_numbers_beside_yes_and_no(case: Case) -> None:
    frame = pd.get_dummies(pd.DataFrame({"age": [2, 3, 4, 5] * 3, "town": ["a", "b", "a", "b"] * 3}))
    assert set(frame.dtypes.astype(str)) == {"int64", "bool"}
    y = [0, 1, 1, 0] * 3
    model = case.ours().fit(frame, y)
    assert model.tally_ == case.ours().fit(frame.astype(float), y).tally_
    assert model.predict(frame).tolist() == case.ours().fit(frame.astype(int), y).predict(frame.astype(int)).tolist()
    nullable = frame.astype({"town_a": "boolean", "town_b": "boolean"})
    assert case.ours().fit(nullable, y).tally_ == model.tally_
    nullable.loc[1, "town_b"] = None
    with pytest.raises(ValueError, match="'town_b'"):
        case.ours().fit(nullable, y)


def test_a_dictionary_holds_more_than_its_cells() -> None:
    words = pa.array(["a", None, "never", "b"])
    columns = {
        "one": pa.DictionaryArray.from_arrays(pa.array([0, 0, 1, 0] * 5), words),
        "two": pa.DictionaryArray.from_arrays(pa.array([0, 3, None, 3] * 5, pa.uint8()), words),
    }
    plain = {name: pa.array(its.to_pylist()) for name, its in columns.items()}
    y = [0, 1, 1, 0] * 5
    with pytest.warns(UserWarning, match="one"):
        models = [BayesClassifier(structure="naive").fit(pa.table(its), y) for its in (columns, plain)]
    assert models[0].families_ == models[1].families_ == {"two": "bernoulli"}
    assert models[0].tally_ == models[1].tally_


def test_batches_of_a_sparse_matrix_in_any_order() -> None:
    ones, more = sp.csr_matrix([[1, 0], [0, 1]]), sp.csr_matrix([[3, 0], [0, 5]])
    for batches in ((ones, more), (more, ones)):
        model = BayesClassifier()
        for each in batches:
            model.partial_fit(each, [0, 1])
        assert model.tally_.statistics[0].total.tolist() == [[4.0, 0.0], [0.0, 6.0]]
    assert set(BayesClassifier().fit(ones, [0, 1]).families_.values()) == {"bernoulli"}
    dense = np.random.default_rng(0).normal(size=(40, 2))
    for numeric in ("gaussian", "quantiles"):
        model = BayesClassifier(numeric=numeric).fit(dense, np.arange(40) % 2)
        with pytest.raises(ValueError, match="toarray"):
            model.predict(sp.csr_matrix(dense))


def test_labels_that_pandas_would_round() -> None:
    X = np.arange(4.0)[:, None]
    large = pd.Series([2**53, 2**53 + 1] * 2, dtype="Int64")
    assert suffice.GaussianNB().fit(X, large).classes_.tolist() == [2**53, 2**53 + 1]
    assert suffice.GaussianNB().fit(X, pd.Series([True, False] * 2, dtype="boolean")).classes_.tolist() == [False, True]
    with pytest.raises(ValueError, match="NaN"):
        suffice.GaussianNB().fit(X, pd.Series([1, None] * 2, dtype="Int64"))
    pairs = np.empty(4, object)
    pairs[:] = [(1, 2), (3, 4)] * 2
    assert suffice.GaussianNB().fit(X, pairs).classes_.tolist() == [(1, 2), (3, 4)]
    with pytest.raises(ValueError, match="labels are numbers, strings or booleans"):
        suffice.GaussianNB().fit(X, [object(), object()] * 2)


def test_feature_names_can_be_removed_to_predict_arrays() -> None:
    """As shap does, before it passes arrays to a model that was fitted on a frame."""
    rng = np.random.default_rng(0)
    frame, y = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]), np.arange(60) % 2
    for model in (suffice.GaussianNB(), BayesClassifier()):
        expected = model.fit(frame, y).predict_proba(frame)
        model.feature_names_in_ = None
        assert_same_scores(model.predict_proba(frame.to_numpy()), expected)
        assert model.fit(frame, y).feature_names_in_.tolist() == ["a", "b"]
