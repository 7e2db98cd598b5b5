"""The digest of a tally: equal if and only if the sums are equal, in whatever order the rows were counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from cases import WITH_MOMENTS, every_family, family_model, family_table
from conftest import Case, every_case, tables
from suffice import BayesClassifier, GaussianDiscriminant
from suffice.structures import STRUCTURES


@every_case
@given(data=st.data())
def test_equal_tallies_have_equal_digests_and_others_have_others(case: Case, data: st.DataObject) -> None:
    X, y, weights = data.draw(tables(case))
    other, labels, _ = data.draw(tables(case))
    first = case.ours().fit(X, y, weights).tally_
    order = data.draw(st.permutations(range(len(y))))
    again = case.ours().fit(X[order], y[order], weights[order]).tally_
    second = case.ours().fit(other, labels).tally_
    for one, two in ((first, again), (first, second), (first, first * 2), (first, first + first)):
        assert (one == two) == (one.digest() == two.digest())
    if case.exact:
        assert first.digest() == again.digest()
        both = case.ours().fit(X, y).partial_fit(X[:1], y[:1])
        assert both.forget(X[:1], y[:1]).tally_.digest() == case.ours().fit(X, y).tally_.digest()


def table(rows: int = 80, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], rows),
            "size": rng.choice([1, 2, 3], rows),
            "note": [" ".join(rng.choice(["one", "two", "three", "four"], 5)) for _ in range(rows)],
            "flag": rng.random(rows) < 0.5,
        }
    )
    frame.loc[rng.random(rows) < 0.2, "colour"] = None
    return frame, rng.choice(["a", "b"], rows)


@every_family
def test_the_digest_of_every_family_depends_on_the_sums_alone(family: str) -> None:
    X, y = family_table(family, missing=0.1)
    whole = family_model(family).fit(X, y).tally_
    turned = family_model(family).fit(X[["two", "one"]], y).tally_
    assert turned.digest() == whole.digest()
    parts = [family_model(family).fit(X[rows], y[rows]) for rows in (slice(0, 30), slice(30, 60))]
    both = (parts[0] + parts[1]).tally_
    assert (both.digest() == whole.digest()) == (both == whole)
    assert both == whole or family in WITH_MOMENTS
    assert parts[0].tally_.digest() != whole.digest()


@pytest.mark.parametrize("structure", [name for name in STRUCTURES if name not in ("auto", "full")])
def test_forgetting_can_be_proved(structure: str) -> None:
    X, y = table()
    families = {"colour": "categorical", "size": "categorical", "note": "text", "flag": "bernoulli"}
    model = BayesClassifier(families=families, structure=structure).fit(X, y)
    plan = model.plan_ if model.tally_.schema.forest is not None else None  # trees are grown from rows
    whole = model.tally_.digest()
    model.forget(X[50:], y[50:])
    alone = BayesClassifier(families=families, structure=structure, plan=plan).fit(X[:50], y[:50])
    assert model.tally_.digest() == alone.tally_.digest() != whole
    model.partial_fit(X[50:], y[50:])
    assert model.tally_.digest() == whole
    turned = BayesClassifier(families=families, structure=structure, plan=plan).fit(X[X.columns[::-1]], y)
    assert turned.tally_.digest() == whole
    halves = [
        BayesClassifier(families=families, structure=structure, plan=plan).fit(X[part], y[part])
        for part in (slice(0, 30), slice(30, 80))
    ]
    assert (halves[0] + halves[1]).tally_.digest() == whole


def test_moments_come_back_to_rounding() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    for model in (suffice.GaussianNB(), GaussianDiscriminant()):
        left = model.fit(X, y).forget(X[60:], y[60:]).tally_
        alone = type(model)().fit(X[:60], y[:60]).tally_
        assert left.isclose(alone, 1e-9)
        assert alone.digest() == type(model)().fit(X[:60], y[:60]).tally_.digest()


def test_what_differs_in_kind_differs_in_digest() -> None:
    X = [[0, 1], [1, 1], [1, 0]]
    fits = [
        suffice.BernoulliNB().fit(X, [0, 1, 1]),
        suffice.BernoulliNB(binarize=0.5).fit(X, [0, 1, 1]),
        suffice.BernoulliNB().fit(X, ["0", "1", "1"]),
        suffice.MultinomialNB().fit(X, [0, 1, 1]),
        suffice.CategoricalNB().fit(X, [0, 1, 1]),
        suffice.GaussianNB().fit(X, [0, 1, 1]),
    ]
    assert len({model.tally_.digest() for model in fits}) == len(fits)
    same = suffice.BernoulliNB().fit(np.array(X, bool), np.array([False, True, True]))
    assert same.tally_.digest() == fits[0].tally_.digest()
    assert len(fits[0].tally_.digest()) == 64
