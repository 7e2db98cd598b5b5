"""The plan: the family of each column, the bins of numbers, and columns that appear or disappear."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from conftest import assert_same_scores
from suffice import BayesClassifier
from suffice.data.choose_families import choose_family
from suffice.data.column_facts import Facts

ROWS = 120


def columns() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    words = np.array(["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog"])
    return pd.DataFrame(
        {
            "id": np.arange(ROWS)[::-1],
            "key": [f"k{i:04}" for i in range(ROWS)],
            "one": 7,
            "none": [None] * ROWS,
            "born": pd.date_range("2000-01-01", periods=ROWS),
            "took": pd.to_timedelta(np.arange(ROWS), unit="s"),
            "flag": rng.random(ROWS) < 0.5,
            "sex": rng.choice(["f", "m"], ROWS),
            "two": rng.choice([1.5, 2.5], ROWS),
            "grade": rng.integers(1, 6, ROWS),
            "floors": rng.choice([1.0, 2.0, 3.0, np.nan], ROWS),
            "city": rng.choice(["Rome", "Oslo", "Kyiv"], ROWS),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], ROWS)),
            "weight": rng.normal(size=ROWS),
            "price": rng.integers(0, 60, ROWS),
            "note": [" ".join(rng.choice(words, 6)) for _ in range(ROWS)],
        }
    )


EXPECTED = {
    "flag": "bernoulli",
    "sex": "bernoulli",
    "two": "bernoulli",
    "grade": "categorical",
    "floors": "categorical",
    "city": "categorical",
    "size": "categorical",
    "weight": "gaussian",
    "price": "gaussian",
    "note": "text",
}


def test_each_kind_of_column_gets_its_family() -> None:
    X, y = columns(), np.arange(ROWS) % 2
    with pytest.warns(UserWarning, match=r"columns left out: 'id' .no two alike, an identifier., 'key'") as caught:
        model = BayesClassifier(numeric="gaussian").fit(X, y)
    assert model.families_ == EXPECTED
    assert model.left_out_ == {
        "id": "no two alike, an identifier",
        "key": "no two alike, an identifier",
        "one": "constant",
        "none": "empty",
        "born": "a date or time",
        "took": "a date or time",
    }
    assert "families=" in str(caught[0].message)
    said = repr(model)
    for part in ("120 rows, 2 classes: 0 50.0 %, 1 50.0 %", "bernoulli", "flag, sex, two", "one (constant)"):
        assert part in said
    assert model.n_features_in_ == X.shape[1]
    assert model.feature_names_in_.tolist() == list(X.columns)


def test_families_can_be_set_one_by_one_or_all_at_once() -> None:
    X, y = columns()[["price", "weight", "grade", "one"]], np.arange(ROWS) % 2
    model = BayesClassifier(families={"price": "poisson", "grade": "gaussian", "one": "categorical"}, numeric="mdl")
    model.fit(X, y)
    assert model.families_ == {"price": "poisson", "weight": "mdl", "grade": "gaussian", "one": "categorical"}
    ignored = BayesClassifier(families={"price": "ignore", "one": "ignore"}, numeric="quantiles").fit(X, y)
    assert ignored.families_ == {"weight": "quantiles", "grade": "categorical"}
    assert ignored.left_out_ == {"price": "as asked", "one": "as asked"}
    assert set(BayesClassifier(families="gaussian").fit(X, y).families_.values()) == {"gaussian"}


@pytest.mark.parametrize(
    ("facts", "family"),
    [
        (Facts("number", 1000, 20, whole=True), "categorical"),
        (Facts("number", 1000, 21, whole=True), "number"),
        (Facts("number", 99, 20, whole=True), "number"),
        (Facts("number", 1000, 20, whole=False), "number"),
        (Facts("number", 99, 99, whole=True), "number"),
        (Facts("number", 100, 100, whole=True), "ignore"),
        (Facts("number", 100, 100, whole=False), "number"),
        (Facts("string", 19, 19), "categorical"),
        (Facts("string", 20, 20), "ignore"),
        (Facts("string", 20, 20, words=3.0), "text"),
        (Facts("string", 20, 10, words=3.0), "categorical"),
        (Facts("string", 20, 2, words=9.0), "bernoulli"),
        (Facts("boolean", 20, 2), "bernoulli"),
        (Facts("boolean", 20, 1), "ignore"),
        (Facts("number", 20, 1), "ignore"),
        (Facts("date", 0, 0), "ignore"),
        (Facts("empty", 0, 0), "ignore"),
    ],
)
def test_the_rule(facts: Facts, family: str) -> None:
    assert choose_family(facts)[0] == family


def test_a_first_batch_is_not_the_whole() -> None:
    """A stream that starts with one row does not take its columns for constants."""
    X = pd.DataFrame({"colour": ["red", "blue"], "height": [1.5, 2.5], "flag": [True, False]})
    model = BayesClassifier(numeric="gaussian")
    for row in range(2):
        model.partial_fit(X.iloc[[row]], [row])
    assert model.families_ == {"colour": "categorical", "height": "gaussian", "flag": "bernoulli"}
    assert model.predict(X).tolist() == [0, 1]


def test_a_table_of_constants_says_nothing_and_breaks_nothing() -> None:
    X = pd.DataFrame({"a": [1, 1, 1], "b": ["x", "x", "x"]})
    model = BayesClassifier().fit(X, [0, 0, 1])
    np.testing.assert_allclose(model.predict_proba(X)[:, 0], 2 / 3, atol=0.2)
    with pytest.raises(ValueError, match=r"no column to learn from: 'when' .a date or time."):
        BayesClassifier().fit(pd.DataFrame({"when": [dt.date(2020, 1, 1)] * 3}), [0, 0, 1])


def test_rows_without_weight_have_no_say() -> None:
    X = pd.DataFrame({"c": ["x", "y", "z", "x"] * 30, "d": [1.0, 2.0, 1.0, 2.0] * 30, "e": np.arange(120.0)})
    y, weights = np.arange(120) % 2, np.where(np.arange(120) % 4 == 2, 0.0, 1.0)
    heavy = weights > 0
    for numeric in ("mdl", "quantiles", "auto"):
        one = BayesClassifier(numeric=numeric).fit(X, y, weights)
        other = BayesClassifier(numeric=numeric).fit(X[heavy], y[heavy])
        assert one.families_ == other.families_
        assert one.tally_ == other.tally_


def test_columns_are_found_by_name() -> None:
    X, y = columns()[["city", "weight", "grade", "price"]], np.arange(ROWS) % 2
    model = BayesClassifier().fit(X, y)
    said = model.predict_proba(X)
    assert_same_scores(model.predict_proba(X[["price", "grade", "weight", "city"]]), said)
    with pytest.warns(UserWarning, match="columns that the model does not have are ignored: 'moon', 'sun'"):
        assert_same_scores(model.predict_proba(X.assign(moon=1, sun=2)), said)
    with pytest.warns(UserWarning, match="missing, and all their cells count as empty: 'weight'"):
        missing = model.predict_proba(X.drop(columns="weight"))
    np.testing.assert_allclose(missing, model.predict_proba(X.assign(weight=np.nan)))
    with pytest.warns(UserWarning, match="'city'"):
        model.predict(X.drop(columns="city"))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X.add_prefix("new "))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert_same_scores(model.predict_proba(X.to_numpy()), said)
    with (
        pytest.warns(UserWarning, match="does not have valid feature names"),
        pytest.raises(ValueError, match="X has 3 features, but BayesClassifier is expecting 4"),
    ):
        model.predict(X.to_numpy()[:, 1:])


def test_columns_left_out_may_be_left_out_later_without_a_word(recwarn: pytest.WarningsRecorder) -> None:
    X = columns()[["city", "one", "weight"]]
    model = BayesClassifier().fit(X, np.arange(ROWS) % 2)
    recwarn.clear()
    model.predict(X.drop(columns="one"))
    model.predict(X)
    assert not recwarn.list


def test_models_merge_if_they_count_the_same_of_each_column() -> None:
    X, y = columns()[["city", "grade"]], np.arange(ROWS) % 2
    levels = BayesClassifier(structure="averaged").fit(X, y)
    numbers = BayesClassifier(structure="averaged", families={"grade": "gaussian"}).fit(X, y)
    with pytest.raises(ValueError, match="column 'grade' is categorical on one side and gaussian on the other"):
        levels + numbers
    without = BayesClassifier(structure="averaged", families={"grade": "ignore"}).fit(X, y)
    with pytest.raises(ValueError, match="column 'grade' is categorical on one side and left out on the other"):
        levels + without
    weight = columns()[["weight"]]
    one = BayesClassifier(structure="averaged", numeric="quantiles").fit(weight, y)
    other = BayesClassifier(structure="averaged", numeric="quantiles").fit(weight + 0.5, y)
    both = one + other
    edges = [set(model.tally_.schema.blocks[0].codings[0].edges) for model in (one, other, both)]
    assert edges[2] == edges[0] & edges[1]
    assert len(edges[2]) > 5
    assert (both.tally_ - other.tally_).isclose(one.tally_)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e9, 1e150])
@pytest.mark.parametrize("numeric", ["gaussian", "quantiles", "mdl", "auto"])
def test_numbers_of_any_size_are_cut(numeric: str, scale: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    x = pd.DataFrame({"x": (rng.normal(size=300) + 3 * y) * scale})
    model = BayesClassifier(numeric=numeric).fit(x, y)
    assert model.score(x, y) > 0.9
    assert np.isfinite(model.predict_log_proba(x)).all()


def test_numbers_next_to_each_other_can_be_cut() -> None:
    low, high = 1.0, np.nextafter(1.0, 2.0)
    x, y = np.array([[low]] * 30 + [[high]] * 30 + [[2.0]] * 30), [0] * 30 + [1] * 60
    assert BayesClassifier(numeric="mdl").fit(x, y).score(x, y) == 1.0


def test_a_wide_table_is_cut_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    import suffice.data.plan_columns as plan

    monkeypatch.setattr(plan, "SAMPLE", 500)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5000, 1)), rng.integers(0, 2, 5000)
    one, other = (BayesClassifier(numeric="quantiles").fit(x, y) for _ in range(2))
    assert one.tally_ == other.tally_
    assert one.class_count_.sum() == 5000
    counts = one.chosen_tally().statistics[0].total.sum(axis=0)
    assert counts.min() > 100


def test_fit_table_takes_the_labels_from_the_table() -> None:
    X = columns()[["city", "weight"]]
    y = np.where(np.arange(ROWS) % 3 == 0, "yes", "no")
    for frame in (X.assign(bought=y, w=2.0), pl.DataFrame(X.assign(bought=y, w=2.0))):
        model = BayesClassifier().fit_table(frame, target="bought", weight="w")
        assert model.tally_ == BayesClassifier().fit(X, y, np.full(ROWS, 2.0)).tally_
    holes = X.assign(bought=np.where(np.arange(ROWS) % 5 == 1, None, y))
    there = np.arange(ROWS) % 5 != 1
    with pytest.raises(ValueError, match="'bought', the target, is empty in 24 of 120 rows, the first of them 1;"):
        BayesClassifier().fit_table(holes, target="bought")
    dropped = BayesClassifier().fit_table(holes, target="bought", missing_target="drop")
    assert dropped.tally_ == BayesClassifier().fit(X[there], y[there]).tally_
    with pytest.raises(ValueError, match="no column 'bougth'; did you mean 'bought'"):
        BayesClassifier().fit_table(holes, target="bougth")


def bad(name: str, values: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"ok": ["a", "b"] * (len(values) // 2), name: pd.Series(values, dtype=object)})


@pytest.mark.parametrize(
    ("frame", "families", "message"),
    [
        (bad("mix", [1, "two", 3, 4.5]), "auto", "column 'mix' mixes 1 and 'two'"),
        (bad("nest", [[1], [2], [3], [4]]), "auto", "column 'nest' holds .1., which is nested"),
        (bad("map", [{"a": 1}, None, None, None]), "auto", "column 'map' holds .*nested"),
        (bad("n", [1, -3, 2, 2]), {"n": "poisson"}, "column 'n' is -3.* in row 1"),
        (bad("n", [1, 2, 3, 3]), {"n": "bernoulli"}, "column 'n' is bernoulli, but has more than two values: 1, 2, 3"),
        (bad("n", [1, 2, 3, 3]), {"n": "gama"}, "sets 'gama' for column 'n', which is not a family"),
        (bad("n", [1, 2, 3, 3]), "gama", "sets 'gama' for column 'ok', which is not a family"),
        (bad("age", [1, 2, 3, 3]), {"agee": "poisson"}, "names column 'agee', which is not there; did you mean 'age'"),
        (
            bad("n", ["x", "y", "x", "y"]),
            {"n": "gaussian"},
            "column 'n' is gaussian, but holds 'x', which is not a number",
        ),
        (
            bad("n", ["x", "y", "x", "y"]),
            {"n": "mdl"},
            "column 'n' cannot be cut into bins: it does not hold numbers",
        ),
        (bad("n", [1, 2, 3, 4]), {"n": "text"}, "column 'n' is text, but holds 1 in row 0"),
        (bad("n", [1.0, np.inf, 3, 4]), "auto", "Input X contains infinity: column 'n' is inf in row 1"),
        (bad("n", [1.0, np.inf, 3, 4]), {"n": "gaussian"}, "infinity.*column 'n' is inf in row 1"),
        (bad("n", [1j, 2, 3, 4]), "auto", "Complex data not supported"),
    ],
)
def test_bad_columns_are_named_and_nothing_is_learned(frame: pd.DataFrame, families: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        BayesClassifier(families=families).fit(frame, [0, 1, 0, 1])
    good = pd.DataFrame({"ok": ["a", "b", "a", "b"], frame.columns[1]: [1, 0, 1, 0]})
    model = BayesClassifier().fit(good, [0, 1, 0, 1])
    before = model.tally_
    with pytest.raises((ValueError, TypeError), match=message):
        model.set_params(families=families).fit(frame, [0, 1, 0, 1])
    assert model.tally_ is before


def test_missing_labels_are_counted() -> None:
    X = columns()[["city"]]
    y = np.where(np.arange(ROWS) % 10 == 3, None, "a")
    with pytest.raises(ValueError, match="12 missing labels, the first in row 3"):
        BayesClassifier().fit(X, y)


def test_text_where_numbers_were_learned_is_an_error() -> None:
    X = columns()[["weight", "price", "grade", "city"]]
    for numeric in ("gaussian", "mdl"):
        model = BayesClassifier(numeric=numeric).fit(X, np.arange(ROWS) % 2)
        with pytest.raises(ValueError, match=r"column 'weight' .* holds 'heavy', which is no"):
            model.predict(X.assign(weight="heavy"))
        with pytest.raises(ValueError, match="column 'grade' was learned with levels such as 1 and now holds 'A'"):
            model.partial_fit(X.assign(grade="A"), np.arange(ROWS) % 2)
        with pytest.warns(UserWarning, match="column 'city' holds 3, but was learned with levels such as 'Kyiv'"):
            model.predict(X.assign(city=3))


def test_rows_never_learned_are_not_forgotten() -> None:
    X = columns()[["city", "weight"]]
    model = BayesClassifier().fit(X, np.arange(ROWS) % 2)
    before = model.tally_
    with pytest.raises(ValueError, match="level 'Bonn' of column 'city', the rows hold 1 and the model 0"):
        model.forget(pd.DataFrame({"city": ["Bonn"], "weight": [0.0]}), [0])
    assert model.tally_ is before


def test_it_works_inside_scikit_learn() -> None:
    from sklearn.base import clone
    from sklearn.compose import ColumnTransformer
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    X, y = columns()[["city", "weight", "grade", "price"]], np.arange(ROWS) % 3
    assert cross_val_score(BayesClassifier(), X, y, cv=3).shape == (3,)
    grid = GridSearchCV(BayesClassifier(), {"numeric": ["mdl", "gaussian"], "prior": [0.1, 1.0]}, cv=3).fit(X, y)
    assert set(grid.best_params_) == {"numeric", "prior"}
    pipeline = make_pipeline(FunctionTransformer(), BayesClassifier()).fit(X, y)
    np.testing.assert_array_equal(pipeline.predict(X), BayesClassifier().fit(X, y).predict(X))
    assert "BayesClassifier" in repr(pipeline)
    for threshold in (0.0, 1.0):
        encoded = ColumnTransformer(
            [("levels", OneHotEncoder(), ["city", "grade"])], remainder="drop", sparse_threshold=threshold
        )
        assert make_pipeline(encoded, BayesClassifier()).fit(X, y).predict(X).shape == (ROWS,)
    numbers = ColumnTransformer([("n", StandardScaler(), ["weight", "price"])], remainder="passthrough")
    assert make_pipeline(numbers.set_output(transform="pandas"), BayesClassifier()).fit(X, y).score(X, y) > 0
    copy = clone(BayesClassifier(families={"city": "categorical"}))
    assert copy.families == {"city": "categorical"}
