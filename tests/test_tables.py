"""Tables: every kind of frame, missing cells, and the order of rows, levels and columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import suffice
from conftest import assert_same_model, forgets
from suffice import BayesClassifier, Text
from suffice.families.categorical import CategoricalParameters

FAMILIES = {
    "height": "gaussian",
    "colour": "categorical",
    "smokes": "bernoulli",
    "visits": "poisson",
    "dose": "gaussian",
    "note": "text",
}
CELLS: dict[str, st.SearchStrategy[Any]] = {
    "height": st.floats(-100, 100, width=32),
    "colour": st.sampled_from(["red", "green", "blue", "", "ünï"]),
    "smokes": st.booleans(),
    "visits": st.integers(0, 9),
    "dose": st.integers(-5, 5),
    "note": st.lists(st.sampled_from(["good", "bad", "ugly", "ok"]), max_size=4).map(" ".join),
}


def table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """A frame of objects: every cell as it is, None where it is empty."""
    return pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=object) for name in FAMILIES})


@st.composite
def mixed(draw: st.DrawFn, min_rows: int = 3, max_rows: int = 14) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A table with a column of every kind and holes in it, labels, whole-number weights."""
    row = st.fixed_dictionaries({name: st.none() | cells for name, cells in CELLS.items()})
    rows = draw(st.lists(row, min_size=min_rows, max_size=max_rows))
    labels = draw(st.lists(st.sampled_from("abc"), min_size=len(rows), max_size=len(rows)))
    weights = draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    return table(rows), np.array(labels), np.array(weights)


def example(rows: int = 200, seed: int = 0, holes: float = 0.2) -> tuple[pd.DataFrame, np.ndarray]:
    """A table in which the classes differ."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], rows)
    code = np.searchsorted(["a", "b", "c"], y)
    frame = pd.DataFrame(
        {
            "height": rng.normal(170 + 5 * code, 7),
            "colour": np.array(["red", "green", "blue", "grey"])[(code + rng.integers(0, 2, rows)) % 4],
            "smokes": rng.random(rows) < 0.2 + 0.3 * code,
            "visits": rng.poisson(1 + code),
            "dose": rng.integers(0, 100, rows),
            "note": [" ".join(rng.choice(["good", "bad", "ugly", "ok"], 4)) for _ in range(rows)],
        }
    ).astype(object)
    return frame.mask(rng.random(frame.shape) < holes, None), y


def naive(**settings: Any) -> BayesClassifier:
    return BayesClassifier(**{"structure": "naive", **settings})


def model(**settings: Any) -> BayesClassifier:
    return naive(**{"families": FAMILIES, **settings})


@given(data=st.data(), given_table=mixed())
def test_batches_equal_the_whole(data: st.DataObject, given_table: Any) -> None:
    X, y, _ = given_table
    cuts = sorted(data.draw(st.sets(st.integers(1, len(X) - 1), max_size=4)))
    parts = np.split(np.arange(len(X)), cuts)
    whole = model().fit(X, y)
    for order in (parts, parts[::-1]):
        learner = model()
        for rows in order:
            learner.partial_fit(X.iloc[rows], y[rows])
        assert_same_model(learner, whole, X)
        assert learner.tally_.schema.blocks[0].codings == whole.tally_.schema.blocks[0].codings


@given(data=st.data(), given_table=mixed())
def test_forgotten_is_never_learned(data: st.DataObject, given_table: Any) -> None:
    X, y, weights = given_table
    cut = data.draw(st.integers(1, len(X) - 1))
    left = model().fit(X, y, weights)
    if not forgets(left, X.iloc[cut:], y[cut:], weights[cut:]):
        return
    never = model().fit(X.iloc[:cut], y[:cut], weights[:cut])
    assert left.classes_.tolist() == never.classes_.tolist()
    for mine, theirs, block in zip(
        left.tally_.statistics, never.tally_.statistics, never.tally_.schema.blocks, strict=True
    ):
        if block.family == "gaussian":
            assert mine.isclose(theirs, 1e-8)
        else:
            assert mine == theirs
    assert [b.codings for b in left.tally_.schema.blocks] == [b.codings for b in never.tally_.schema.blocks]


@given(data=st.data(), given_table=mixed())
def test_merged_models_know_what_both_knew(data: st.DataObject, given_table: Any) -> None:
    X, y, _ = given_table
    cut = data.draw(st.integers(1, len(X) - 1))
    order = data.draw(st.permutations(list(X.columns)))
    first, second = model().fit(X.iloc[:cut], y[:cut]), model().fit(X.iloc[cut:][order], y[cut:])
    whole = model().fit(X, y)
    assert_same_model(first + second, whole, X)
    assert_same_model(second + first, whole, X)
    assert (first.tally_ + second.tally_).isclose(second.tally_ + first.tally_)


@given(given_table=mixed())
def test_a_weight_is_a_repetition(given_table: Any) -> None:
    X, y, weights = given_table
    rows = np.repeat(np.arange(len(X)), weights)
    assert_same_model(model().fit(X, y, weights), model().fit(X.iloc[rows], y[rows]), X)


@given(data=st.data(), given_table=mixed())
def test_the_order_of_rows_and_columns_does_not_matter(data: st.DataObject, given_table: Any) -> None:
    X, y, _ = given_table
    rows = np.array(data.draw(st.permutations(range(len(X)))))
    columns = data.draw(st.permutations(list(X.columns)))
    one, other = model().fit(X, y), model().fit(X.iloc[rows][columns], y[rows])
    assert_same_model(one, other, X)
    np.testing.assert_allclose(one.predict_proba(X[columns]), one.predict_proba(X), rtol=1e-12)


MAKERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda X: X.infer_objects(),
    "pandas, nullable": lambda X: X.convert_dtypes(),
    "pandas, arrow": lambda X: X.convert_dtypes(dtype_backend="pyarrow"),
    "pandas, categories": lambda X: X.assign(colour=X["colour"].astype("category")),
    "polars": lambda X: pl.DataFrame({name: X[name].to_list() for name in X}, strict=False),
    "polars, categories": lambda X: pl.DataFrame({name: X[name].to_list() for name in X}, strict=False).with_columns(
        pl.col("colour").cast(pl.Categorical)
    ),
    "polars, enum": lambda X: pl.DataFrame({name: X[name].to_list() for name in X}, strict=False).with_columns(
        pl.col("colour").cast(pl.Enum(["red", "green", "blue", "grey"]))
    ),
    "pyarrow": lambda X: pa.table({name: X[name].to_list() for name in X}),
    "pyarrow, in chunks": lambda X: pa.concat_tables(
        [pa.table({name: half[name].to_list() for name in X}) for half in (X.iloc[:90], X.iloc[90:])]
    ),
    "pyarrow, dictionary": lambda X: pa.table(
        {name: pa.array(X[name].to_list()).dictionary_encode() if name == "colour" else X[name].to_list() for name in X}
    ),
}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_the_maker_of_the_frame_does_not_matter(maker: str, holes: float) -> None:
    X, y = example(holes=holes)
    plain = model().fit(X, y)
    other = model().fit(MAKERS[maker](X), y)
    assert plain.tally_.isclose(other.tally_, 1e-12)
    np.testing.assert_allclose(
        plain.predict_joint_log_proba(X), other.predict_joint_log_proba(MAKERS[maker](X)), rtol=1e-12
    )
    np.testing.assert_allclose(
        plain.predict_joint_log_proba(MAKERS[maker](X)), other.predict_joint_log_proba(X), rtol=1e-12
    )
    by_itself = naive().fit(MAKERS[maker](X), y)
    assert by_itself.families_ == naive().fit(X, y).families_


def test_arrays_of_objects_and_lists_are_tables_without_names() -> None:
    X, y = example()
    by_place = dict(enumerate(FAMILIES.values()))
    named = model().fit(X, y)
    for form in (X.to_numpy(), X.to_numpy().tolist()):
        plain = naive(families=by_place).fit(form, y)
        np.testing.assert_allclose(plain.predict_proba(form), named.predict_proba(X), rtol=1e-12)
        assert list(plain.families_) == list(range(6))
    numbers = pd.DataFrame({"a": [1.5, np.nan, 3.5, 9.0], "b": [2.0, 1.0, 7.0, np.nan]})
    masked = np.ma.masked_invalid(numbers.to_numpy())
    for form in (masked, numbers.to_numpy(), numbers.to_numpy().tolist()):
        assert (
            naive(families="gaussian")
            .fit(form, [0, 0, 1, 1])
            .tally_.isclose(naive(families="gaussian").fit(numbers.to_numpy(), [0, 0, 1, 1]).tally_)
        )


@pytest.mark.parametrize("estimate", ["mle", "map", "mean", "predictive"])
@pytest.mark.parametrize("name", FAMILIES)
def test_an_empty_cell_is_marginalised(name: str, estimate: str, kernels: str) -> None:
    """A model that does not see a column says what a model says that never had it."""
    X, y = example()
    whole = model(estimate=estimate).fit(X, y)
    without = naive(families={n: f for n, f in FAMILIES.items() if n != name}, estimate=estimate)
    without.fit(X.drop(columns=name), y)
    emptied = X.assign(**{name: None})
    np.testing.assert_allclose(
        whole.predict_log_proba(emptied), without.predict_log_proba(X.drop(columns=name)), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("estimate", ["mle", "map", "mean", "predictive"])
def test_a_row_of_empty_cells_leaves_the_prior(estimate: str) -> None:
    X, y = example()
    fitted = model(estimate=estimate).fit(X, y)
    nothing = pd.DataFrame([dict.fromkeys(FAMILIES)])
    np.testing.assert_allclose(
        fitted.predict_proba(nothing)[0], fitted.class_count_ / fitted.class_count_.sum(), rtol=1e-9
    )


def test_numbers_are_learned_from_the_cells_that_are_there() -> None:
    X, y = example()
    fitted = model().fit(X, y)
    moments = fitted.tally_.statistics[1]
    counts = fitted.tally_.statistics[2]
    for k, label in enumerate("abc"):
        height = X.loc[y == label, "height"].dropna().astype(float)
        assert moments.n[k, 0] == len(height)
        np.testing.assert_allclose(moments.mean[k, 0], height.mean())
        np.testing.assert_allclose(moments.m2[k, 0], height.var(ddof=0) * len(height))
        visits = X.loc[y == label, "visits"].dropna()
        assert (counts.n[k, 0], counts.total[k, 0]) == (len(visits), visits.sum())


def test_large_means_with_holes_keep_their_variance(kernels: str) -> None:
    rng = np.random.default_rng(0)
    x = 1e9 + rng.normal(size=(4000, 3))
    x[rng.random(x.shape) < 0.3] = np.nan
    y = rng.integers(0, 2, 4000)
    whole = naive(families="gaussian").fit(x, y)
    parts = naive(families="gaussian")
    for rows in np.array_split(np.arange(4000), 13):
        parts.partial_fit(x[rows], y[rows])
    for fitted in (whole, parts):
        moments = fitted.tally_.statistics[0]
        for k in (0, 1):
            near = x[y == k] - 1e9
            np.testing.assert_allclose(moments.m2[k], np.nansum((near - np.nanmean(near, 0)) ** 2, 0), rtol=1e-9)


def test_threads_do_not_matter() -> None:
    X, y = example(rows=30_000, seed=1)
    wide = pd.concat([X.drop(columns="note").add_suffix(str(i)) for i in range(12)], axis=1).infer_objects()
    said = []
    for count in (1, 3):
        with suffice.threads(count):
            fitted = naive().fit(wide, y)
            said.append((fitted.tally_, fitted.predict_proba(wide)))
    assert said[0][0] == said[1][0]
    np.testing.assert_array_equal(said[0][1], said[1][1])


@pytest.mark.parametrize("estimate", ["map", "mean", "predictive"])
@pytest.mark.parametrize("prior", [0.5, 1.0, 3.0])
def test_levels_and_any_other_level_share_the_whole(estimate: str, prior: float) -> None:
    """(count + α) / (n + α·(L + 1)) for each level, α / (n + α·(L + 1)) for any other: together 1."""
    X, y = example()
    fitted = model(estimate=estimate, prior=prior).fit(X[list(FAMILIES)], y)
    parameters, columns = fitted.estimate_model().parameters[0], fitted.tally_.schema.blocks[0]
    assert isinstance(parameters, CategoricalParameters)
    assert columns.names == ("colour", "smokes")
    colour, smokes = parameters.by_column
    np.testing.assert_allclose(np.exp(colour).sum(1) + np.exp(parameters.log_unseen[:, 0]), 1.0)
    np.testing.assert_allclose(np.exp(smokes).sum(1), 1.0)
    if estimate == "mean":
        counts = fitted.tally_.statistics[0]
        n = counts.n[:, 0]
        np.testing.assert_allclose(np.exp(parameters.log_unseen[:, 0]), prior / (n + 5 * prior))
        np.testing.assert_allclose(np.exp(colour), (counts.total[:, :4] + prior) / (n + 5 * prior)[:, None])


@pytest.mark.parametrize("estimate", ["mle", "map", "mean", "predictive"])
def test_what_was_never_met_never_breaks_a_prediction(estimate: str) -> None:
    X, y = example()
    fitted = model(estimate=estimate).fit(X, y)
    strange = pd.DataFrame(
        {
            "height": [1e6],
            "colour": ["mauve"],
            "smokes": ["perhaps"],
            "visits": [10**6],
            "dose": [-1e9],
            "note": ["zzz"],
        }
    )
    with pytest.warns(UserWarning, match="'smokes' holds 'perhaps'"):
        probabilities = fitted.predict_proba(strange)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(), 1.0)
    only = strange.assign(height=None, visits=None, dose=None)
    with pytest.warns(UserWarning, match="'smokes'"):
        assert np.isfinite(fitted.predict_log_proba(only)).all()


def test_new_levels_classes_and_words_are_learned_later() -> None:
    first = pd.DataFrame({"town": ["Rome", "Oslo"], "note": ["sun and sea", "snow and sea"]})
    later = pd.DataFrame({"town": ["Kyiv", "Oslo"], "note": ["river and sun", "fjord"]})
    families = {"town": "categorical", "note": Text(ngram_range=(1, 1))}
    learner = naive(families=families).partial_fit(first, ["warm", "cold"])
    learner.partial_fit(later, ["mild", "cold"])
    whole = naive(families=families).fit(pd.concat([first, later]), ["warm", "cold", "mild", "cold"])
    assert learner.classes_.tolist() == ["cold", "mild", "warm"]
    assert learner.tally_ == whole.tally_
    assert learner.tally_.schema.blocks[0].codings[0].labels == ("Kyiv", "Oslo", "Rome")
    assert learner.tally_.schema.blocks[1].codings[0].labels == ("and", "fjord", "river", "sea", "snow", "sun")


def test_a_third_value_makes_a_column_of_two_a_column_of_levels() -> None:
    X = pd.DataFrame({"answer": ["yes", "no", "yes", "no"]})
    learner = naive().fit(X, [0, 1, 0, 1])
    assert learner.families_ == {"answer": "bernoulli"}
    learner.partial_fit(pd.DataFrame({"answer": ["perhaps"]}), [1])
    assert learner.families_ == {"answer": "categorical"}
    learner.forget(pd.DataFrame({"answer": ["perhaps"]}), [1])
    assert learner.families_ == {"answer": "bernoulli"}
    explicit = naive(families={"answer": "bernoulli"}).fit(X, [0, 1, 0, 1])
    before = explicit.tally_
    with pytest.raises(ValueError, match="'answer' is bernoulli, but has more than two values: 'no', 'perhaps', 'yes'"):
        explicit.partial_fit(pd.DataFrame({"answer": ["perhaps"]}), [1])
    assert explicit.tally_ is before


def test_whole_numbers_are_the_same_level_in_every_type() -> None:
    learner = naive(families={"class": "categorical"})
    learner.fit(pd.DataFrame({"class": [1, 2, 3, 1]}), [0, 1, 1, 0])
    for form in (pd.Series([1.0, np.nan]), pd.Series([1, None], dtype="Int64"), pd.Series([True, None], dtype=object)):
        said = learner.predict_proba(pd.DataFrame({"class": form}))
        np.testing.assert_allclose(said[0], learner.predict_proba(pd.DataFrame({"class": [1]}))[0])
        np.testing.assert_allclose(said[1], [0.5, 0.5])


def test_one_family_for_all_is_the_classifier_of_that_family() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    numbers, counts = rng.normal(size=(200, 5)) + y[:, None], rng.poisson(2 + y[:, None], (200, 5))
    bits = (counts > 2).astype(int)
    pairs: list[tuple[Any, Any, Any]] = [
        ("gaussian", suffice.GaussianNB(estimate="mean", prior=0.5, var_smoothing=0), numbers),
        ("poisson", suffice.PoissonNB(prior=0.5), counts),
        ("multinomial", suffice.MultinomialNB(alpha=0.5), counts),
        ("bernoulli", suffice.BernoulliNB(alpha=0.5), bits),
    ]
    for family, single, X in pairs:
        single.fit(X, y)
        forms = [X] if family == "gaussian" else [X, sp.csr_array(X)]
        for form in forms:
            ours = naive(families=family).fit(form, y)
            np.testing.assert_allclose(ours.predict_proba(form), single.predict_proba(X), rtol=1e-9)
            np.testing.assert_allclose(ours.predict_proba(X), single.predict_proba(X), rtol=1e-9)
    complement = suffice.ComplementNB(alpha=0.5).fit(counts, y)
    ours = naive(families="complement", class_prior="uniform").fit(counts, y)
    np.testing.assert_array_equal(ours.predict(counts), complement.predict(counts))


def test_a_sparse_matrix_is_bits_or_counts() -> None:
    counts = sp.csr_array(np.array([[0, 2, 1], [1, 0, 0], [3, 0, 1], [0, 1, 0]]))
    assert set(naive().fit(counts, [0, 1, 1, 0]).families_.values()) == {"multinomial"}
    assert set(naive().fit(counts.minimum(1), [0, 1, 1, 0]).families_.values()) == {"bernoulli"}
    with pytest.raises(ValueError, match="a sparse matrix has one family"):
        naive(families="gaussian").fit(counts, [0, 1, 1, 0])


def test_priors_by_column_and_by_family() -> None:
    X, y = example()
    prior = {"gaussian": suffice.NormalInverseGamma(170, 1, 1, 50), "smokes": suffice.Beta(2, 3), "note": 0.1}
    fitted = model(prior=prior).fit(X, y)
    columns, counts = fitted.tally_.schema.blocks[0], fitted.tally_.statistics[0]
    place = columns.names.index("smokes")
    smokes = fitted.estimate_model().parameters[0].by_column[place]
    ones = counts.total[:, columns.starts[place] + 1]
    np.testing.assert_allclose(np.exp(smokes[:, 1]), (ones + 2) / (counts.n[:, place] + 5))
    posterior = fitted.posterior_
    assert set(posterior) == set(FAMILIES)
    assert posterior["height"]["mean"].mean().shape == (3, 1)
    assert posterior["colour"]["p"].mean().shape == (3, 4)
    np.testing.assert_allclose(
        posterior["visits"]["rate"].mean()[:, 0], fitted.estimate_model().parameters[2].rate[:, 0]
    )
    chosen = model(prior="auto-by-column").fit(X, y)
    assert set(chosen.prior_) == set(FAMILIES)
    assert chosen.log_evidence_ >= model(prior=1.0).fit(X, y).log_evidence_
    with pytest.raises(ValueError, match="does not suit gaussian columns"):
        model(prior=suffice.Dirichlet(1)).fit(X, y)
    with pytest.raises(ValueError, match=r"prior=.*'hieght'.*did you mean 'height'"):
        model(prior={"hieght": 1.0}).fit(X, y)


def test_intervals_hold_the_probabilities() -> None:
    X, y = example(rows=400)
    fitted = model().fit(X, y)
    lower, upper = fitted.predict_interval(X.iloc[:50], 0.95)
    said = fitted.predict_proba(X.iloc[:50])
    assert ((lower <= said + 0.02) & (said <= upper + 0.02)).mean() > 0.95


def test_score_samples_is_the_density_of_the_row() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 1)), rng.integers(0, 2, 50)
    fitted = naive(families="gaussian").fit(x, y)
    parameters = fitted.estimate_model().parameters[0]
    shares = fitted.class_count_ / 50
    by_hand = sum(
        shares[k] * stats.norm(parameters.mean[k, 0], np.sqrt(parameters.variance[k, 0])).pdf(x[:, 0]) for k in (0, 1)
    )
    np.testing.assert_allclose(fitted.score_samples(x), np.log(by_hand), rtol=1e-12)


def test_texts_are_counted_as_scikit_learn_counts_them() -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import ComplementNB, MultinomialNB

    rng = np.random.default_rng(0)
    words = np.array(["alpha", "beta", "gamma", "delta", "the", "Epsilon", "a"])
    texts = pd.DataFrame({"note": [" ".join(rng.choice(words, rng.integers(0, 9))) for _ in range(80)]})
    y = rng.integers(0, 3, 80)
    settings: list[dict[str, Any]] = [
        {},
        {"ngram_range": (1, 1)},
        {"stop_words": "english", "lowercase": False},
        {"tokenizer": str.split, "token_pattern": None},
        {"analyzer": "char", "ngram_range": (2, 3)},
        {"binary": False},
    ]
    for each in settings:
        vectorizer = CountVectorizer(**{"ngram_range": (1, 2), "binary": True, **each})
        counts = vectorizer.fit_transform(texts["note"])
        theirs = MultinomialNB(alpha=0.5).fit(counts, y)
        ours = naive(families={"note": Text(**each)}).fit(texts, y)
        assert ours.tally_.schema.blocks[0].codings[0].labels == tuple(vectorizer.get_feature_names_out())
        np.testing.assert_allclose(ours.predict_proba(texts), theirs.predict_proba(counts), rtol=1e-9)
        batches = naive(families={"note": Text(**each)})
        for rows in np.array_split(np.arange(80), 7):
            batches.partial_fit(texts.iloc[rows], y[rows])
        assert batches.tally_ == ours.tally_
    counts = CountVectorizer(ngram_range=(1, 2), binary=True).fit_transform(texts["note"])
    ours = naive(families={"note": Text(complement=True)}, class_prior="uniform").fit(texts, y)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(texts) - np.log(1 / 3),
        ComplementNB(alpha=0.5).fit(counts, y).predict_joint_log_proba(counts),
        rtol=1e-9,
    )


def test_texts_read_differently_do_not_merge() -> None:
    texts = pd.DataFrame({"note": ["one two three", "four five six"]})
    one = naive(families={"note": "text"}).fit(texts, [0, 1])
    other = naive(families={"note": Text(ngram_range=(1, 3))}).fit(texts, [0, 1])
    with pytest.raises(ValueError, match=r"column 'note' is read as Text.* on one side and with other settings"):
        one + other


def test_warnings_show_the_line_of_the_caller() -> None:
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "same": ["u"] * 4})
    with pytest.warns(UserWarning, match="columns left out: 'same'") as found:
        BayesClassifier(structure="naive").fit(table, ["a", "b", "a", "b"])
    assert {warning.filename for warning in found} == {__file__}


def test_columns_of_many_phrases_are_pointed_out() -> None:
    rng = np.random.default_rng(0)
    notes = [f"{a} call{b}" for a, b in rng.integers(0, 12, (300, 2)).tolist()]
    table, y = pd.DataFrame({"note": notes, "x": rng.normal(size=300)}), rng.choice(["a", "b"], 300)
    with pytest.warns(UserWarning, match=r"many different phrases .* families=\{'note': 'text'\}"):
        BayesClassifier(structure="naive").fit(table, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BayesClassifier(structure="naive", families={"note": "text"}).fit(table, y)


def test_strings_that_look_like_numbers_or_dates_are_pointed_out() -> None:
    rng = np.random.default_rng(0)
    price = [f"{euros}.{rest:03d},50 €" for euros, rest in rng.integers(1, 999, (300, 2)).tolist()]
    day = [f"{day}.{month}.2026" for day, month in rng.integers(1, 13, (300, 2)).tolist()]
    code = [f"0{code}" for code in rng.integers(1000, 1200, 300).tolist()]
    table, y = pd.DataFrame({"price": price, "day": day, "code": code}), rng.choice(["a", "b"], 300)
    table.loc[0, "price"] = price[1]  # two are alike, so the column is not left out as an identifier
    with pytest.warns(
        UserWarning, match="look like numbers or dates are learned as levels: 'price', 'day'; convert"
    ) as found:
        BayesClassifier(structure="naive").fit(table, y)
    assert len(found) == 1  # 'code' has digits only, and the others are not phrases
