"""Laws of sums: batches, order, forgetting, merging and weights, for every classifier and every family."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import suffice
from cases import WITH_MOMENTS, every_family, every_family_and_rule, family_model, family_table
from conftest import CASES, Case, assert_same_model, assert_same_scores, every_case, example, forgets, tables
from suffice.data import Table
from suffice.folds.held_out import open_rows
from suffice.folds.leave_one_out import predict_left_out
from suffice.kernels import compiler


@every_case
@given(data=st.data())
def test_batches_equal_the_whole(case: Case, data: st.DataObject) -> None:
    X, y, _ = data.draw(tables(case))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(X) - 1), max_size=5)))
    model = case.ours()
    for rows in np.split(np.arange(len(X)), cuts):
        model.partial_fit(X[rows], y[rows])
    whole = case.ours().fit(X, y)
    assert_same_model(model, whole, X, 1e-12)
    if case.exact:
        assert model.tally_ == whole.tally_


@every_case
@given(data=st.data())
def test_order_does_not_matter(case: Case, data: st.DataObject) -> None:
    X, y, weights = data.draw(tables(case))
    order = np.array(data.draw(st.permutations(range(len(X)))))
    one, other = case.ours().fit(X, y, weights), case.ours().fit(X[order], y[order], weights[order])
    assert_same_model(one, other, X)


@every_case
@given(data=st.data())
def test_forgotten_is_never_learned(case: Case, data: st.DataObject) -> None:
    X, y, weights = data.draw(tables(case))
    cut = data.draw(st.integers(1, len(X) - 1))
    model = case.ours().fit(X, y, weights)
    if not forgets(model, X[cut:], y[cut:], weights[cut:]):
        return
    never = case.ours().fit(X[:cut], y[:cut], weights[:cut])
    assert model.classes_.tolist() == never.classes_.tolist()
    if case.exact:
        assert model.tally_ == never.tally_
        assert_same_scores(model.predict_proba(X[:cut]), never.predict_proba(X[:cut]))
    else:
        # what is left of a spread is rounded by the size of what it was taken from
        scale = case.ours().fit(X, y, weights).tally_.statistics[0].pooled().m2.max()
        left, right = model.tally_.statistics[0], never.tally_.statistics[0]
        np.testing.assert_allclose(left.mean, right.mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(left.m2, right.m2, rtol=1e-9, atol=1e-9 * max(scale, 1.0))


@every_case
@given(data=st.data())
def test_merged_models_know_what_both_knew(case: Case, data: st.DataObject) -> None:
    X, y, _ = data.draw(tables(case))
    cut = data.draw(st.integers(1, len(X) - 1))
    halves = [case.ours().fit(X[:cut], y[:cut]), case.ours().fit(X[cut:], y[cut:])]
    both = case.ours().fit(X, y)
    assert_same_model(halves[0] + halves[1], both, X, 1e-12)
    assert_same_model(halves[1] + halves[0], both, X, 1e-12)
    assert_same_model(sum(halves), both, X, 1e-12)


@every_case
@given(data=st.data())
def test_a_weight_is_a_repetition(case: Case, data: st.DataObject) -> None:
    X, y, weights = data.draw(tables(case))
    weighted = case.ours().fit(X, y, weights)
    repeated = case.ours().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_same_model(weighted, repeated, X, 1e-10)
    doubled = case.ours().fit(X, y, 2 * weights)
    assert doubled.tally_.isclose(weighted.tally_ * 2, 1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["complete", "missing cells"])
@every_family
def test_laws_hold_for_every_family_in_a_table(family: str, missing: float) -> None:
    X, y = family_table(family, missing=missing)
    whole = family_model(family).fit(X, y)
    parts = [X[:17], X[17:40], X[40:]], [y[:17], y[17:40], y[40:]]
    batches = family_model(family)
    for rows, labels in zip(*parts, strict=True):
        batches.partial_fit(rows, labels)
    merged = sum(family_model(family).fit(rows, labels) for rows, labels in zip(*parts, strict=True))
    order = np.random.default_rng(1).permutation(len(X))
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    repeated = np.repeat(np.arange(len(X)), weights)
    forgotten = family_model(family).fit(X, y).forget(X[40:], y[40:])
    for model, same in (
        (batches, whole),
        (merged, whole),
        (family_model(family).fit(X.iloc[order], y[order]), whole),
        (forgotten, family_model(family).fit(X[:40], y[:40])),
        (family_model(family).fit(X, y, weights), family_model(family).fit(X.iloc[repeated], y[repeated])),
    ):
        assert_same_model(model, same, X)
        assert model.tally_ == same.tally_ or family in WITH_MOMENTS
        assert (model.tally_ * 2).isclose(model.tally_ + model.tally_, 1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["complete", "missing cells"])
@every_family_and_rule
def test_leave_one_out_of_every_family_equals_as_many_refits(family: str, rule: str, missing: float) -> None:
    X, y = family_table(family, rows=24, missing=missing)
    y[5] = 7  # the last row of its class
    model = suffice.BayesClassifier(families=family, structure="naive", estimate=rule, missing="skip")
    recipe = model.recipe()
    assert recipe.has_closed_leave_one_out == (family != "kernel")  # its cells depend on the rows
    if family == "kernel":
        return
    opened, target = open_rows(recipe, X, y, None)
    tally = recipe.lay_out(recipe.tally(opened, target))
    table = Table(recipe.read_for_scoring(opened, tally.schema), target)
    left, are_exact = recipe.leave_out(tally, table, slice(0, len(y)))
    by_row = left.posterior_by_row(table.blocks)
    found, exact = (
        np.concatenate(parts) for parts in list(zip(*predict_left_out(recipe, X, y, None), strict=True))[1:]
    )
    np.testing.assert_allclose(np.exp(found[are_exact]), np.exp(by_row[are_exact]), rtol=1e-9, atol=1e-9)
    assert (exact == are_exact).all()
    assert not exact[5]
    assert exact.mean() > (0.4 if family == "text" else 0.7)  # most pairs of words are in few texts
    for row in np.flatnonzero(exact):
        rest = np.arange(len(y)) != row
        expected = model.fit(X[rest], y[rest]).predict_proba(X[row : row + 1])
        np.testing.assert_allclose(np.exp(found[row : row + 1]), expected, rtol=1e-9, atol=1e-9)


@every_family_and_rule
def test_every_rule_gives_probabilities_that_sum_to_one(family: str, rule: str) -> None:
    X, y = family_table(family, missing=0.2)
    model = family_model(family, estimate=rule).fit(X, y)
    probabilities = model.predict_proba(X)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(X)).all()


@every_family_and_rule
def test_the_explanation_of_every_family_sums_to_the_log_joint(family: str, rule: str) -> None:
    X, y = family_table(family, missing=0.2)
    model = family_model(family, estimate=rule, prior=2.0).fit(X, y)
    explained = model.explain(X)
    joint = explained.prior + explained.contributions.sum(axis=2)
    np.testing.assert_allclose(joint, model.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9)


@every_case
def test_a_weight_of_zero_is_no_row(case: Case) -> None:
    X, y = example(case, rows=40)
    weights = np.ones(40)
    weights[::3] = 0
    assert_same_model(case.ours().fit(X, y, weights), case.ours().fit(X[weights > 0], y[weights > 0]), X, 1e-12)


@every_case
def test_threads_do_not_matter(case: Case) -> None:
    X, y = example(case, rows=60_000, columns=80)
    models = []
    for count in (1, 2, 3, 7):
        with suffice.threads(count):
            model = case.ours().fit(X, y)
            models.append((model.tally_, model.predict_joint_log_proba(X), model.predict(X)))
    for tally, joint, labels in models[1:]:
        assert tally == models[0][0]
        np.testing.assert_array_equal(joint, models[0][1])
        np.testing.assert_array_equal(labels, models[0][2])


@every_case
def test_compiled_equals_uncompiled(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = example(case)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X))
    for sample_weight in (None, weights):
        said = []
        for patience in (0, 10**18):
            monkeypatch.setattr(compiler, "PATIENCE", patience)
            model = case.ours().fit(X, y, sample_weight)
            said.append((model.tally_, model.predict_joint_log_proba(X), model.predict_log_proba(X), model.predict(X)))
        assert said[0][0] == said[1][0]
        for one, other in zip(said[0][1:], said[1][1:], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


KINDS = {
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda X: X[::-1, ::-1][::-1, ::-1],
    "read-only": lambda X: _locked(X.copy()),
    "float32": lambda X: X.astype(np.float32),
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "list": lambda X: X.tolist(),
    "object": lambda X: X.astype(object),
    "pandas": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
    "pandas, a block a column": lambda X: pd.DataFrame({f"c{j}": X[:, j].copy() for j in range(X.shape[1])}),
    "pandas, nullable": lambda X: pd.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])}).convert_dtypes(),
    "polars": lambda X: pl.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])}),
    "pyarrow": lambda X: pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}),
}
WHOLE = [
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "longdouble",
]


def _locked(X: np.ndarray) -> np.ndarray:
    X.flags.writeable = False
    return X


@pytest.mark.parametrize("kind", KINDS)
@every_case
def test_the_form_of_the_data_does_not_matter(case: Case, kind: str, kernels: str) -> None:
    X, y = example(case, rows=200)
    if kind == "float32":
        X = X.astype(np.float32).astype(X.dtype)
    plain, other = case.ours().fit(X, y), case.ours().fit(KINDS[kind](X), y)
    assert plain.tally_.isclose(other.tally_, 1e-12)
    assert plain.tally_ == other.tally_ or not case.exact
    np.testing.assert_allclose(
        plain.predict_joint_log_proba(X), other.predict_joint_log_proba(KINDS[kind](X)), rtol=1e-12
    )


@pytest.mark.parametrize("dtype", WHOLE)
@every_case
def test_the_type_of_the_numbers_does_not_matter(case: Case, dtype: str, kernels: str) -> None:
    X, y = example(case, rows=200)
    X = np.round(X).clip(0, 100).astype(dtype)
    for weights in (None, np.arange(len(X)) % 3 + 1):
        plain, other = case.ours().fit(X.astype(np.float64), y, weights), case.ours().fit(X, y, weights)
        assert plain.tally_.isclose(other.tally_, 1e-12)
        np.testing.assert_allclose(
            plain.predict_joint_log_proba(X.astype(np.float64)), other.predict_joint_log_proba(X), rtol=1e-11
        )


@pytest.mark.parametrize("form", ["csr_array", "csr_matrix", "csc_array", "coo_array", "lil_array"])
@pytest.mark.parametrize("case", [case for case in CASES if case.sparse], ids=str)
def test_sparse_equals_dense(case: Case, form: str, kernels: str) -> None:
    X, y = example(case, rows=200)
    stored = getattr(sp, form)(X)
    for weights in (None, np.arange(len(X)) % 3 + 1):
        dense, sparse = case.ours().fit(X, y, weights), case.ours().fit(stored, y, weights)
        assert dense.tally_ == sparse.tally_
        np.testing.assert_allclose(dense.predict_joint_log_proba(X), sparse.predict_joint_log_proba(stored), rtol=1e-12)


def test_cells_stored_twice_are_added() -> None:
    twice = sp.coo_array((np.array([1.0, 1.0, 3.0]), (np.array([0, 0, 1]), np.array([0, 0, 1]))), shape=(2, 2))
    stored = sp.csr_array((twice.data, twice.col, np.array([0, 2, 3])), shape=(2, 2))
    for name in ("BernoulliNB", "MultinomialNB"):
        model = getattr(suffice, name)().fit(stored, [0, 1])
        assert model.tally_ == getattr(suffice, name)().fit(stored.toarray(), [0, 1]).tally_
    assert stored.nnz == 3  # the user's matrix is not tidied up behind their back


def test_narrow_sums_do_not_overflow() -> None:
    """Accumulators of 8, 16 and 32 bits are emptied in time: 70,000 rows of the largest byte."""
    rows = 70_000
    X = np.full((rows, 3), 255, np.uint8)
    y = np.zeros(rows, int)
    assert (suffice.MultinomialNB().fit(X, y).feature_count_ == 255 * rows).all()
    assert (suffice.BernoulliNB(binarize=254).fit(X, y).feature_count_ == rows).all()
    assert (suffice.BernoulliNB(binarize=254).fit(X.astype(np.uint16), y).feature_count_ == rows).all()
    X[: rows // 2] = 0
    moments = suffice.GaussianNB().fit(X, y).tally_.statistics[0]
    assert (moments.mean == 127.5).all()
    np.testing.assert_allclose(moments.m2, rows * 127.5**2, rtol=1e-15)
