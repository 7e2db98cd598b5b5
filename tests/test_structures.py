"""Structures: laws of sums for every structure, results computed by hand, and agreement with scikit-learn."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp

import suffice
from cases import ALL_STRUCTURES, every_structure
from conftest import assert_same_model, data, forgets
from suffice import Averaged, BayesClassifier, Chain, Full, Joint, Tree
from suffice.estimation import RULES
from suffice.statistics.cancellation import LostDigitsError
from suffice.structures.chain import longest_path
from suffice.structures.conditionals import mutual_information
from suffice.structures.spanning_trees import spanning_tree

# The structures of which a part is planned from rows and labels.
PLANNED = ("trees", "pooled")

FAMILIES = {
    "a": "categorical",
    "b": "categorical",
    "c": "bernoulli",
    "d": "categorical",
    "u": "gaussian",
    "v": "gaussian",
}


def example(rows: int = 300, seed: int = 0, holes: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """A table whose columns depend on each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    a = (y + rng.integers(0, 2, rows)) % 3
    b = np.where(rng.random(rows) < 0.8, a, rng.integers(0, 3, rows))
    u = rng.normal(size=rows) + y
    frame = pd.DataFrame(
        {
            "a": np.array(["x", "y", "z"])[a],
            "b": np.array(["p", "q", "r"])[b],
            "c": rng.random(rows) < np.where(b == 1, 0.8, 0.3),
            "d": np.array(["k", "l"])[(rng.random(rows) < 0.2 + 0.3 * y).astype(int)],
            "u": u,
            "v": 0.7 * u + rng.normal(size=rows) * 0.5,
        }
    ).astype(object)
    return frame.mask(rng.random(frame.shape) < holes, None), y


def model(structure: Any, **settings: Any) -> BayesClassifier:
    return BayesClassifier(families=FAMILIES, structure=structure, **settings)


@pytest.mark.filterwarnings("ignore:.*combination of levels")
@every_structure
@settings(max_examples=15)
@given(data=st.data())
def test_laws_of_sums_hold_for_every_structure(structure: Any, data: st.DataObject) -> None:
    X, y = example(rows=40, seed=data.draw(st.integers(0, 1000)), holes=data.draw(st.sampled_from([0.0, 0.2])))
    cuts = sorted(data.draw(st.sets(st.integers(1, 39), min_size=1, max_size=3)))
    parts = np.split(np.arange(40), cuts)
    # "auto" decides by its first rows whether there is room for pairs, and trees are grown from rows: they need a plan
    plan = model(structure).fit(X, y).plan_ if structure in ("auto", *PLANNED) else None

    def learn(rows: Any, weights: Any = None) -> BayesClassifier:
        return model(structure, plan=plan).fit(X.iloc[rows], y[rows], weights)

    every = np.arange(40)
    whole, batches = learn(every), model(structure, plan=plan)
    for rows in parts:
        batches.partial_fit(X.iloc[rows], y[rows])
    assert_same_model(batches, whole, X)
    assert_same_model(learn(every[: cuts[0]]) + learn(every[cuts[0] :]), whole, X)
    weights = np.random.default_rng(0).integers(1, 4, 40)
    assert_same_model(learn(every, weights), learn(np.repeat(every, weights)), X)
    left, never = learn(every), learn(every[: cuts[0]])
    if not forgets(left, X.iloc[cuts[0] :], y[cuts[0] :]):  # a single row has no variance
        assert cuts[0] < 5
        return
    counted = [b.family != "gaussian" for b in never.tally_.schema.blocks]
    if len(counted) == len(left.tally_.schema.blocks):
        for mine, theirs, exact in zip(left.tally_.statistics, never.tally_.statistics, counted, strict=True):
            assert mine == theirs if exact else mine.isclose(theirs, 1e-7)


@pytest.mark.filterwarnings("ignore:.*combination of levels")
@pytest.mark.parametrize("estimate", RULES)
@every_structure
def test_never_nan_and_sums_to_one(structure: Any, estimate: str, kernels: str) -> None:
    X, y = example(rows=60, holes=0.2)
    fitted = model(structure, estimate=estimate).fit(X, y)
    strange = pd.DataFrame(
        {"a": ["?", None], "b": ["p", None], "c": [None, None], "d": ["?", None], "u": [1e3, None], "v": [None, None]}
    )
    for rows in (X, strange):
        probabilities = fitted.predict_proba(rows)
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    # trees and pools take a missing cell as a level
    if structure not in PLANNED:
        np.testing.assert_allclose(fitted.predict_proba(strange)[1], np.bincount(y) / 60, rtol=1e-9)


def test_the_structure_is_chosen_after_the_data_are_gone() -> None:
    X, y = example()
    one = model("tree").fit(X, y)
    others = [s for s in ALL_STRUCTURES if s not in ("auto", "joint", *PLANNED)]
    fitted = {str(s): model(s).fit(X, y).predict_log_proba(X) for s in others}
    probe = X.copy()
    del X
    for structure in others:
        one.set_params(structure=structure)
        np.testing.assert_allclose(one.predict_log_proba(probe), fitted[str(structure)], rtol=1e-9, atol=1e-9)
    for structure in ("joint", *PLANNED):
        with pytest.raises(ValueError, match="learned without"):
            one.set_params(structure=structure).predict(probe)
    naive = model("naive").fit(probe, y)
    with pytest.raises(ValueError, match="needs pairs of columns, but the model was learned without"):
        naive.set_params(structure="tree").predict(probe)


def shares(fitted: BayesClassifier, X: pd.DataFrame, y: np.ndarray, name: str, k: int) -> dict[Any, float]:
    """p(level | class) with a slot for any other level, by hand, α = ½."""
    mine = X.loc[y == k, name].dropna()
    levels = sorted(X[name].dropna().unique())
    closed = name == "c"
    whole = len(mine) + 0.5 * (len(levels) + (not closed))
    found = {level: ((mine == level).sum() + 0.5) / whole for level in levels}
    return {**found, "other": 0.0 if closed else 0.5 / whole}


def given_parent(
    X: pd.DataFrame, y: np.ndarray, child: str, parent: str, k: int, above: Any, m: float
) -> dict[Any, float]:
    own = shares(None, X, y, child, k)  # type: ignore[arg-type]
    both = X[(y == k) & X[child].notna() & (X[parent] == above)]
    return {level: ((both[child] == level).sum() + m * p) / (len(both) + m) for level, p in own.items()}


NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize("tree", ["shared", "per-class"])
def test_a_tree_equals_the_formula_row_by_row(tree: str, kernels: str) -> None:
    X, y = example(rows=80, holes=0.1)
    X = X[NAMES]
    structure = Tree(tree)
    fitted = BayesClassifier(families={n: FAMILIES[n] for n in NAMES}, structure=structure, missing="skip").fit(X, y)
    parents = structure.parents(fitted.tally_.schema.blocks[0], fitted.tally_.statistics[0])
    complete = X.dropna().iloc[:15]
    joint = fitted.predict_joint_log_proba(complete)
    for i, (_, row) in enumerate(complete.iterrows()):
        for k in range(3):
            total = np.log((y == k).mean())
            for j, name in enumerate(NAMES):
                if parents[k, j] < 0:
                    total += np.log(shares(fitted, X, y, name, k)[row[name]])
                else:
                    above = NAMES[parents[k, j]]
                    total += np.log(given_parent(X, y, name, above, k, row[above], 5.0)[row[name]])
            np.testing.assert_allclose(joint[i, k], total, rtol=1e-10)


@pytest.mark.parametrize("structure", ["chain", "tree", Tree("per-class")], ids=str)
def test_empty_cells_of_a_tree_are_summed_out(structure: Any, kernels: str) -> None:
    """Brute force: the sum over all levels that the empty cells could hold, any other level included."""
    X, y = example(rows=80)
    X = X[NAMES]
    fitted = BayesClassifier(families={n: FAMILIES[n] for n in NAMES}, structure=structure).fit(X, y)
    levels = {n: [*sorted(X[n].unique()), *([] if n == "c" else ["any other"])] for n in NAMES}
    for holes in itertools.chain.from_iterable(itertools.combinations(NAMES, size) for size in (1, 2, 3)):
        row = X.iloc[[3]].copy()
        row[list(holes)] = None
        filled = []
        for values in itertools.product(*(levels[n] for n in holes)):
            other = row.copy()
            for name, value in zip(holes, values, strict=True):
                other[name] = pd.Series([value], index=other.index, dtype=object)
            filled.append(fitted.predict_joint_log_proba(other)[0])
        np.testing.assert_allclose(fitted.predict_joint_log_proba(row)[0], logsumexp(filled, axis=0), rtol=1e-9)


@pytest.mark.parametrize(
    "settings", [{}, {"weights": "equal"}, {"subsumption": None}, {"frequency": 30, "backoff": 1.0}]
)
def test_averaged_equals_the_formula_row_by_row(settings: dict[str, Any], kernels: str) -> None:
    rng = np.random.default_rng(1)
    X, y = example(rows=150)
    X = X[NAMES].assign(d=np.where(X["a"] == "x", "k", rng.choice(["k", "l"], 150)))  # x implies k
    structure = Averaged(**{"subsumption": 20, **settings})
    fitted = BayesClassifier(families={n: FAMILIES[n] for n in NAMES}, structure=structure).fit(X, y)
    told = {}
    for name in NAMES:
        joint = pd.crosstab(X[name], y).to_numpy() / 150
        told[name] = float(
            (joint * np.log(np.where(joint > 0, joint / (joint.sum(1, keepdims=True) * joint.sum(0)), 1))).sum()
        )
    joint = fitted.predict_joint_log_proba(X)
    for i in range(0, 150, 10):
        row = X.iloc[i]
        kept = list(NAMES)
        if structure.subsumption is not None:
            implied = []
            for one, other in itertools.permutations(NAMES, 2):
                both = X[X[one] == row[one]]
                if len(both) >= structure.subsumption and (both[other] == row[other]).all():
                    implied.append((one, other))
            kept = [
                n
                for n in NAMES
                if not any(o == n and not ((n, s) in implied and NAMES.index(n) < NAMES.index(s)) for s, o in implied)
            ]
        for k in range(3):
            terms, whole = [], 0.0
            for parent in kept:
                if (X[parent] == row[parent]).sum() >= structure.frequency:
                    weight = 1.0 if structure.weights == "equal" else max(told[parent], 1e-12)
                    whole += weight
                    term = np.log(weight) + np.log(shares(fitted, X, y, parent, k)[row[parent]])
                    for child in kept:
                        if child != parent:
                            given_ = given_parent(X, y, child, parent, k, row[parent], structure.backoff)
                            term += np.log(given_[row[child]])
                    terms.append(term)
            np.testing.assert_allclose(
                joint[i, k], np.log((y == k).mean()) + logsumexp(terms) - np.log(whole), rtol=1e-9
            )


def test_mutual_information_is_conditional_on_the_class() -> None:
    """Two columns that both follow the class tell nothing about each other within it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    copies = [np.where(rng.random(4000) < 0.9, y, 1 - y) for _ in range(2)]
    pair = np.array([rng.integers(0, 2, 4000)] * 2)
    X = pd.DataFrame({"a": copies[0], "b": copies[1], "c": pair[0], "d": pair[1]}).astype(bool)
    fitted = BayesClassifier(structure="tree").fit(X, y)
    told = mutual_information(fitted.tally_.schema.blocks[0], fitted.tally_.statistics[0])
    assert told[0, 1] < 0.002
    np.testing.assert_allclose(told[2, 3], np.log(2), rtol=0.01)
    by_hand = 0.0
    for k in (0, 1):
        table = pd.crosstab(X.loc[y == k, "a"], X.loc[y == k, "c"]).to_numpy() / (y == k).sum()
        by_hand += (y == k).mean() * (table * np.log(table / (table.sum(1, keepdims=True) * table.sum(0)))).sum()
    np.testing.assert_allclose(told[0, 2], by_hand, rtol=1e-9)


@given(seed=st.integers(0, 10**6), count=st.integers(2, 6))
def test_the_tree_is_the_best_of_all(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.random((count, count))
    weights = weights + weights.T
    parents = spanning_tree(weights)
    mine = sum(weights[j, p] for j, p in enumerate(parents) if p >= 0)
    edges = list(itertools.combinations(range(count), 2))
    best = 0.0
    for chosen in itertools.combinations(edges, count - 1):
        groups = list(range(count))
        for a, b in chosen:
            groups = [groups[a] if g == groups[b] else g for g in groups]
        if len(set(groups)) == 1:
            best = max(best, sum(weights[a, b] for a, b in chosen))
    np.testing.assert_allclose(mine, best)
    assert sorted(longest_path(weights)) == list(range(count))


def test_a_chain_has_the_order_it_is_given() -> None:
    X, y = example()
    order = ["d", "a", "c", "b"]
    chained = BayesClassifier(families={n: FAMILIES[n] for n in NAMES}, structure=Chain(order)).fit(X[NAMES], y)
    by_itself = BayesClassifier(families={n: FAMILIES[n] for n in order}, structure="chain").fit(X[order], y)
    np.testing.assert_allclose(chained.predict_proba(X[NAMES]), by_itself.predict_proba(X[NAMES]), rtol=1e-9)
    with pytest.raises(ValueError, match="must name each column once"):
        chained.set_params(structure=Chain(["a", "b"])).predict(X[NAMES])


def test_the_joint_table_of_bits_may_have_one_family_for_all() -> None:
    """The column of combinations has more than two values, which was mistaken for a column of bits with more."""
    X, y = pd.DataFrame({"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5}), [0, 1, 1, 0] * 5
    assert BayesClassifier(structure="joint", families="bernoulli").fit(X, y).score(X, y) == 1
    with pytest.raises(ValueError, match="column 'b' is bernoulli, but has more than two values"):
        BayesClassifier(structure="joint", families="bernoulli").fit(X.assign(b=range(20)), y)


def test_the_joint_table_is_the_share_of_the_combination() -> None:
    """Lecture 003: P(positive | red and circle) is counted, not multiplied."""
    X = pd.DataFrame(
        {
            "colour": ["red"] * 5 + ["blue"] * 5,
            "shape": ["circle", "circle", "square", "circle", "circle"] * 2,
            "size": list("slmsl") * 2,
        }
    )
    y = np.array(["+", "-", "+", "+", "-", "-", "-", "+", "-", "+"])
    fitted = BayesClassifier(structure="joint", estimate="mle").fit(X, y)
    said = fitted.predict_proba(X)
    for i, (_, row) in enumerate(X.iterrows()):
        same = (row == X).all(axis=1)
        np.testing.assert_allclose(said[i, 0], (y[same] == "+").mean())
    new = pd.DataFrame({"colour": ["red"], "shape": ["square"], "size": ["s"]})
    naive = BayesClassifier(structure="naive", estimate="mle").fit(X, y)
    with pytest.warns(UserWarning, match="1 of 1 rows have a combination of levels that was not in the training data"):
        np.testing.assert_allclose(fitted.predict_proba(new), naive.predict_proba(new))


def test_full_equals_the_density_and_its_marginals() -> None:
    X, y = example()
    numbers = X[["u", "v"]]
    fitted = BayesClassifier(families="gaussian", structure="full", estimate="mle").fit(numbers, y)
    plain = numbers.to_numpy(float)
    for k in range(3):
        mine = plain[y == k]
        density = stats.multivariate_normal(mine.mean(0), np.cov(mine.T, ddof=0))
        np.testing.assert_allclose(
            fitted.predict_joint_log_proba(numbers)[:, k], np.log((y == k).mean()) + density.logpdf(plain), rtol=1e-9
        )
        alone = stats.norm(mine[:, 0].mean(), mine[:, 0].std())
        np.testing.assert_allclose(
            fitted.predict_joint_log_proba(numbers.assign(v=None))[:, k],
            np.log((y == k).mean()) + alone.logpdf(plain[:, 0]),
            rtol=1e-9,
        )


@pytest.mark.parametrize("structure", ["chain", "tree", Tree("per-class")], ids=str)
def test_gaussian_trees_condition_on_the_parent(structure: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    a = rng.normal(size=500) + y
    b = 0.8 * a + 0.3 * rng.normal(size=500)
    c = -0.5 * b + 0.2 * rng.normal(size=500)
    X = np.column_stack([a, b, c])
    fitted = BayesClassifier(families="gaussian", structure=structure, estimate="mle").fit(X, y)
    for k in (0, 1):
        mine = X[y == k]
        total = np.log((y == k).mean()) + stats.norm(mine[:, 0].mean(), mine[:, 0].std()).logpdf(X[:, 0])
        for child, parent in ((1, 0), (2, 1)):
            slope, start, *_ = stats.linregress(mine[:, parent], mine[:, child])
            noise = (mine[:, child] - start - slope * mine[:, parent]).std()
            total += stats.norm(start + slope * X[:, parent], noise).logpdf(X[:, child])
        np.testing.assert_allclose(fitted.predict_joint_log_proba(X)[:, k], total, rtol=1e-8)


@pytest.mark.filterwarnings("ignore:.*combination of levels")
@every_structure
def test_a_sample_returns_to_the_model(structure: Any) -> None:
    X, y = example(rows=400)
    fitted = model(structure).fit(X, y)
    if structure == "trees":
        for draw in (fitted.sample, partial(fitted.score_samples, X)):
            with pytest.raises(ValueError, match=r"P\(class \| x\) only"):
                draw()
        return
    drawn, labels = fitted.sample(20_000, random_state=0)
    again = model(structure).fit(pd.DataFrame(drawn, columns=list(FAMILIES)), labels)
    np.testing.assert_allclose(again.class_count_ / 20_000, fitted.class_count_ / 400, atol=0.02)
    assert np.abs(again.predict_proba(X) - fitted.predict_proba(X)).mean() < 0.04
    assert np.abs(again.score_samples(X) - fitted.score_samples(X)).mean() < 0.25


@pytest.mark.parametrize("name", ["GaussianNB", "BernoulliNB", "PoissonNB", "MultinomialNB", "CategoricalNB"])
def test_samples_of_the_single_classifiers(name: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.poisson(1 + 2 * y[:, None], (300, 4)).clip(0, 5)
    fitted = getattr(suffice, name)().fit(X, y)
    drawn, labels = fitted.sample(4000, random_state=1)
    assert drawn.shape == (4000, 4)
    assert fitted.score(drawn, labels) > 0.53
    with pytest.raises(ValueError, match="no rows can be drawn"):
        suffice.ComplementNB().fit(X, y).sample(1)


def test_pairs_of_bits_equal_pairs_of_levels(kernels: str) -> None:
    rng = np.random.default_rng(0)
    bits, y = rng.random((200, 9)) < 0.3, rng.integers(0, 3, 200)
    fast = BayesClassifier(families="bernoulli", structure="tree").fit(bits, y)
    slow = BayesClassifier(families="bernoulli", structure="tree").fit(bits, y, np.ones(200))
    assert fast.tally_ == slow.tally_
    pairs = fast.tally_.statistics[0].pairs
    for k in range(3):
        ones = bits[y == k].astype(float)
        np.testing.assert_array_equal(pairs[k, 1::2, 1::2], ones.T @ ones)
        np.testing.assert_array_equal(pairs[k, 0::2, 1::2], (1 - ones).T @ ones)


def test_much_is_said_before_much_is_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    import suffice.data.engines.memory as memory

    bits = np.random.default_rng(0).random((30, 3000)) < 0.5
    monkeypatch.setattr(memory, "tally", lambda *_, **__: (_ for _ in ()).throw(MemoryError))
    with (
        pytest.warns(UserWarning, match=r"of 3,000 columns with 6,000 levels in all in 5 classes take 1\.34 GiB"),
        pytest.raises(MemoryError),
    ):
        BayesClassifier(families="bernoulli", structure="tree").fit(bits, np.arange(30) % 5)


def test_numbers_of_parameters_grow_with_dependence() -> None:
    rng = np.random.default_rng(0)
    bits, y = rng.random((300, 6)) < 0.5, rng.integers(0, 2, 300)
    fitted = BayesClassifier(families="bernoulli", structure="tree").fit(bits, y)
    assert fitted.n_parameters_ == 2 * (1 + 5 * 2)
    assert fitted.set_params(structure="naive").n_parameters_ == 2 * 6
    assert fitted.set_params(structure="averaged").n_parameters_ == 2 * (6 + 6 * 5 * 2)


def test_unknown_structures_are_named() -> None:
    X, y = example()
    with pytest.raises(ValueError, match=r"structure='forest' is not known; it is one of auto, naive, chain"):
        model("forest").fit(X, y)
    for wrong in (
        lambda: Tree("oak"),
        lambda: Averaged(weights="some"),
        lambda: Full(shrinkage=2.0),
        lambda: Chain("up"),
    ):
        with pytest.raises(ValueError, match=r"(is|are) "):
            wrong()
    assert repr(Joint()) == "Joint()"


def test_mnist_in_trees() -> None:
    """naive 0.843, tree ≥ 0.895, per-class trees ≥ 0.933."""
    import gzip

    def read(name: str, offset: int) -> np.ndarray:
        with gzip.open(data(f"mnist/{name}")) as file:
            return np.frombuffer(file.read(), np.uint8, offset=offset)

    X, y = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 784) > 127, read("train-labels-idx1-ubyte.gz", 8)
    Z, z = read("t10k-images-idx3-ubyte.gz", 16).reshape(-1, 784) > 127, read("t10k-labels-idx1-ubyte.gz", 8)
    fitted = BayesClassifier(families="bernoulli", structure="tree").fit(X, y)
    assert fitted.score(Z, z) >= 0.895
    assert fitted.set_params(structure="naive").score(Z, z) >= 0.843
    assert fitted.set_params(structure=Tree("per-class")).score(Z, z) >= 0.933


def test_rounding_errors_do_not_choose_a_tree() -> None:
    rng = np.random.default_rng(0)
    weights = rng.random((5, 5))
    weights = weights + weights.T
    weights[0] = weights[:, 0] = weights[1]  # two columns that are equal to the last digit but one
    for _ in range(50):
        noisy = weights * (1 + 1e-15 * rng.normal(size=weights.shape))
        assert spanning_tree(noisy).tolist() == spanning_tree(weights).tolist()
        assert longest_path(noisy) == longest_path(weights)


def test_forgetting_that_leaves_a_singular_covariance_is_refused_by_name() -> None:
    X, y = example(rows=40, seed=294, holes=0.2)
    learned = model("pooled").fit(X, y)
    before = learned.tally_
    with pytest.raises(LostDigitsError, match="fit again on the rows that remain"):
        learned.forget(X.iloc[1:], y[1:])
    assert learned.tally_ is before
