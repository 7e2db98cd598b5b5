"""Settings by column and family, Laplace tables, edges of trees, weights of classes, and rows without a label."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.class_weight import compute_sample_weight
from typer.testing import CliRunner

import suffice
from suffice import Averaged, BayesClassifier, Chain, Full, Gamma, Tree, Trees
from suffice.cli.app import app
from suffice.structures.spanning_trees import edge_bounds, spanning_tree

FAMILIES = {"age": "gaussian", "height": "gaussian", "visits": "poisson", "calls": "poisson"}
RULES = {
    "age": "map",
    "height": "mle",
    "visits": "mean",
    "calls": "mle",
    "home": "predictive",
    "car": "mle",
    "sex": "mean",
}


def people(rows: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table with two columns of each of four kinds, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    age, visits = rng.normal(40, 9, rows), rng.poisson(3, rows)
    table = pd.DataFrame(
        {
            "age": age,
            "height": rng.normal(170, 9, rows),
            "visits": visits,
            "calls": rng.poisson(1 + visits / 3),
            "home": rng.choice(["flat", "house", "none"], rows, p=[0.5, 0.3, 0.2]),
            "car": rng.choice(["old", "new", "none"], rows),
            "sex": rng.choice(["f", "m"], rows),
        }
    )
    table.loc[rng.random(rows) < 0.1, "home"] = None
    return table, np.where(age + 3 * visits + rng.normal(0, 6, rows) > 49, "yes", "no")


def bayes(**settings: Any) -> BayesClassifier:
    return BayesClassifier(**{"structure": "naive", "families": FAMILIES, "missing": "skip"} | settings)


def check_survives(model: BayesClassifier, X: pd.DataFrame, y: Any, path: Path) -> None:
    """Check that a fitted model is the same after cloning, saving, batches, forgetting and merging, and in SQL."""
    expected, plan = model.predict_proba(X), model.plan_
    assert clone(model).fit(X, y).predict_proba(X) == pytest.approx(expected, abs=1e-12)
    loaded = suffice.load(model.save(path / "m.suffice"))
    assert repr(loaded.get_params()) == repr(model.get_params())
    assert loaded.predict_proba(X) == pytest.approx(expected, abs=1e-12)
    half = len(X) // 2
    first, second = (
        clone(model).set_params(plan=plan).fit(X[part], y[part]) for part in (slice(half), slice(half, None))
    )
    assert (first + second).predict_proba(X) == pytest.approx(expected, abs=1e-9)
    batches = clone(model).set_params(plan=plan).partial_fit(X[:half], y[:half]).partial_fit(X[half:], y[half:])
    assert batches.predict_proba(X) == pytest.approx(expected, abs=1e-9)
    alone = first.predict_proba(X)
    assert batches.forget(X[half:], y[half:]).predict_proba(X) == pytest.approx(alone, abs=1e-9)
    with duckdb.connect() as connection:
        connection.register("people", X)
        connection.execute(model.to_sql("duckdb", table="people", style="tables"))
        found = connection.execute("SELECT * FROM suffice_model").df()
    found = found[[f"p({label})" for label in model.classes_.tolist()]].to_numpy()
    order = np.lexsort(expected.T)
    assert found[np.lexsort(found.T)] == pytest.approx(expected[order], abs=1e-9)


# -- estimate and prior by column or family ----------------------------------------------------------


def test_each_column_has_its_own_rule(tmp_path: Path) -> None:
    X, y = people()
    model = bayes(estimate={"gaussian": "mle", "age": "map", "calls": "mle", "car": "mle", "home": "predictive"})
    model.fit(X, y)
    scores = np.log(model.class_count_ / len(y))
    for name, rule in RULES.items():
        own = {name: FAMILIES[name]} if name in FAMILIES else "auto"
        alone = bayes(estimate=rule, families=own, class_prior="uniform").fit(X[[name]], y)
        scores = scores + alone.predict_joint_log_proba(X[[name]]) + np.log(2)
    assert model.predict_joint_log_proba(X) == pytest.approx(scores, abs=1e-9)
    check_survives(model, X, y, tmp_path)


@pytest.mark.parametrize("structure", ["tree", "averaged", "joint"])
def test_levels_that_depend_on_each_other_have_their_own_rules(structure: str, tmp_path: Path) -> None:
    X, y = people()
    X = X[["home", "car", "sex"]].fillna("none")
    by_family = BayesClassifier(structure=structure, estimate={"categorical": "mle", "bernoulli": "mle"}).fit(X, y)
    assert by_family.predict_proba(X) == pytest.approx(
        clone(by_family).set_params(estimate="mle").fit(X, y).predict_proba(X)
    )
    mixed = BayesClassifier(structure=structure, estimate={"car": "mle"}).fit(X, y)
    smooth = clone(mixed).set_params(estimate="mean").fit(X, y)
    incomplete = X.assign(sex=None)  # a joint table scores incomplete rows column by column
    assert abs(mixed.predict_proba(incomplete) - smooth.predict_proba(incomplete)).max() > 1e-4
    check_survives(mixed, X, y, tmp_path)


def test_the_tables_of_a_tree_follow_the_rule_of_the_child() -> None:
    X, y = people()
    X = X[["home", "car"]].fillna("none")
    model = BayesClassifier(structure=Chain(), estimate={"car": "mle"}, unseen="ignore").fit(X, y)
    home, car, label = (each.to_numpy() if hasattr(each, "to_numpy") else each for each in (X.home, X.car, y))
    expected = np.empty((len(X), 2))
    for k, name in enumerate(["no", "yes"]):
        own = label == name
        for row in range(len(X)):
            first = ((home == home[row]) & own).sum() + 0.5
            both = ((home == home[row]) & (car == car[row]) & own).sum() / ((home == home[row]) & own).sum()
            with np.errstate(divide="ignore"):
                expected[row, k] = np.log(own.mean()) + np.log(first / (own.sum() + 1.5)) + np.log(both)
    assert model.predict_joint_log_proba(X) == pytest.approx(expected, abs=1e-9)


def test_the_prior_of_a_column_takes_precedence_over_that_of_its_family() -> None:
    X, y = people()
    model = bayes(prior={"poisson": 4.0, "calls": Gamma(2, 3)}).fit(X, y)
    expected = bayes(prior={"visits": 4.0, "calls": Gamma(2, 3)}).fit(X, y)
    assert model.predict_proba(X) == pytest.approx(expected.predict_proba(X), abs=1e-12)


def test_rules_and_priors_of_unknown_names_are_refused() -> None:
    X, y = people()
    model = bayes().fit(X, y)
    before = model.predict_proba(X)
    for settings, message in (
        (
            {"estimate": {"agee": "mle"}},
            r"estimate=.* names 'agee', .* did you mean 'age'\? The columns are age, .*gaussian",
        ),
        ({"prior": {"colour": 1.0}}, "prior=.* names 'colour', .*; the columns are age, .* and the families bernoulli"),
        ({"estimate": {"age": "best"}}, "has 'best' for 'age'; a rule is one of mle, map, mean, predictive"),
        ({"estimate": {"age": "mle"}, "structure": "full"}, "'mle' for column 'age' and 'mean' for column 'height'"),
    ):
        model = bayes().fit(X, y)
        with pytest.raises(ValueError, match=message):
            model.set_params(**settings).fit(X, y)
        assert model.set_params(**bayes().get_params()).predict_proba(X) == pytest.approx(before, abs=0)


def test_folds_by_sums_use_the_rules_of_columns() -> None:
    X, y = people()
    model = bayes(estimate={"gaussian": "mle", "age": "map", "car": "mle"})
    results = suffice.cross_validate(model, X, y, cv=StratifiedKFold(4))
    assert not results["refitted"]
    for train, test in StratifiedKFold(4).split(X, y):
        expected = clone(model).fit(X.iloc[train], y[train]).predict_log_proba(X.iloc[test])
        assert results["log_proba"][test] == pytest.approx(expected, abs=1e-9)


def test_the_command_line_takes_rules_by_name(tmp_path: Path) -> None:
    X, y = people()
    X.assign(label=y).to_csv(tmp_path / "people.csv", index=False)
    options = ["--structure", "naive", "--estimate", "gaussian=mle,car=map", "--prior", "poisson=2,car=3"]
    command = ["fit", str(tmp_path / "people.csv"), "--target", "label", "-o", str(tmp_path / "m.suffice"), *options]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    model = suffice.load(tmp_path / "m.suffice")
    assert model.estimate == {"gaussian": "mle", "car": "map"}
    assert model.prior == {"poisson": 2.0, "car": 3.0}


# -- Laplace's pseudo-rows: WEKA's AODE and TAN ------------------------------------------------------


def levels(rows: int = 150, seed: int = 0, holes: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return columns of 2 to 4 levels that depend on each other and on the label."""
    rng = np.random.default_rng(seed)
    label = rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    codes = [(rng.integers(0, 4, rows) + label) % 4]
    for size in (3, 2, 4, 3):
        noise = rng.integers(0, size, rows)
        codes.append(np.where(rng.random(rows) < 0.5, noise, (codes[-1] + label) % size))
    table = pd.DataFrame({f"c{j}": [f"v{code}" for code in each] for j, each in enumerate(codes)})
    return table.mask(rng.random(table.shape) < holes), np.array(["a", "b", "c"])[label]


def weka_aode(train: pd.DataFrame, y: np.ndarray, rows: pd.DataFrame, limit: float) -> np.ndarray:
    """Return P(class | x) by the formulas of WEKA's AODE, count by count.

    P(class, xᵢ) = (N(class, xᵢ) + 1) / (N(xᵢ known) + classes·levels of i), and given both
    P(xⱼ) = (N(class, xᵢ, xⱼ) + 1) / (N(class, xᵢ, xⱼ known) + levels of j).
    Parents are values with at least ``limit`` rows; if there are none, it is naive Bayes with Laplace's estimates.
    """
    x, classes = train.to_numpy(), np.unique(y)
    sizes = [train[name].nunique() for name in train]
    found = np.zeros((len(rows), len(classes)))
    for place, row in enumerate(rows.to_numpy()):
        known = [j for j in range(len(row)) if isinstance(row[j], str) and (x[:, j] == row[j]).any()]
        parents = [j for j in known if (x[:, j] == row[j]).sum() >= limit]
        for k, label in enumerate(classes):
            own = y == label
            for i in parents:
                above = own & (x[:, i] == row[i])
                product = (above.sum() + 1) / (train.iloc[:, i].notna().sum() + len(classes) * sizes[i])
                for j in known:
                    if j != i:
                        both = above & (x[:, j] == row[j])
                        product *= (both.sum() + 1) / ((above & train.iloc[:, j].notna()).sum() + sizes[j])
                found[place, k] += product / len(parents)
            if not parents:
                found[place, k] = (own.sum() + 1) / (len(y) + len(classes))
                for j in known:
                    count = (own & (x[:, j] == row[j])).sum() + 1
                    found[place, k] *= count / ((own & train.iloc[:, j].notna()).sum() + sizes[j])
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("limit", [1, 40])
@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_averaged_with_laplace_equals_aode_of_weka(holes: float, limit: int, kernels: str) -> None:
    X, y = levels(holes=holes)
    rows = pd.concat([X[:60], levels(30, seed=1, holes=0.6)[0]])
    structure = Averaged(frequency=limit, weights="equal", subsumption=None, backoff="laplace")
    model = BayesClassifier(structure=structure, prior=1, class_prior=1, unseen="ignore", missing="skip").fit(X, y)
    assert model.predict_proba(rows) == pytest.approx(weka_aode(X, y, rows, limit), abs=1e-9)


def weka_tan(train: pd.DataFrame, y: np.ndarray, rows: pd.DataFrame, parents: list[int], alpha: float) -> np.ndarray:
    """Return P(class | x) by the formulas of WEKA's BayesNet with a SimpleEstimator of α, for a given tree.

    P(class) = (N(class) + α) / (N + α·classes), and
    P(xⱼ | class, parent) = (N(class, parent, xⱼ) + α) / (N(class, parent) + α·levels of j).
    """
    x, classes = train.to_numpy(), np.unique(y)
    found = np.zeros((len(rows), len(classes)))
    for place, row in enumerate(rows.to_numpy()):
        for k, label in enumerate(classes):
            own = y == label
            product = (own.sum() + alpha) / (len(y) + alpha * len(classes))
            for j, parent in enumerate(parents):
                above = own if parent < 0 else own & (x[:, parent] == row[parent])
                size = train.iloc[:, j].nunique()
                product *= ((above & (x[:, j] == row[j])).sum() + alpha) / (above.sum() + alpha * size)
            found[place, k] = product
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("structure", [Tree(backoff="laplace"), Chain(backoff="laplace")], ids=["tree", "chain"])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_trees_with_laplace_equal_tan_of_weka(structure: Any, alpha: float, kernels: str) -> None:
    X, y = levels()
    model = BayesClassifier(structure=structure, prior=alpha, class_prior=alpha, unseen="ignore").fit(X, y)
    (parameters,) = model.estimate_model().parameters
    assert model.predict_proba(X) == pytest.approx(weka_tan(X, y, X, parameters.parents[0].tolist(), alpha), abs=1e-9)


@pytest.mark.parametrize("structure", [Tree, Chain, Averaged])
@pytest.mark.parametrize("estimate", ["mle", "map", "mean", {"c1": "mle"}])
def test_laplace_survives(structure: Any, estimate: Any, tmp_path: Path) -> None:
    X, y = levels()
    model = BayesClassifier(structure=structure(backoff="laplace"), estimate=estimate, prior=1.5).fit(X, y)
    probabilities = model.predict_proba(X)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert model.explain(X[:5]).log_joint == pytest.approx(model.predict_joint_log_proba(X[:5]))
    check_survives(model, X, y, tmp_path)
    session = onnxruntime.InferenceSession(model.to_onnx("float64").SerializeToString())
    inputs = {name: X[[name]].to_numpy(object) for name in X}
    assert session.run(["probabilities"], inputs)[0] == pytest.approx(probabilities, abs=1e-9)
    lower, upper = model.predict_interval(X[:5], draws=50)
    assert ((lower >= 0) & (upper <= 1) & (lower < upper)).all()


def test_unknown_backoffs_are_named() -> None:
    for structure in (Tree, Chain, Averaged):
        with pytest.raises(ValueError, match="backoff is 'laplace' or a number of rows, more than 0, not 'marginal'"):
            structure(backoff="marginal")
    with pytest.raises(ValueError, match="backoff is a number of rows, more than 0, not 'laplace'"):
        Trees(backoff="laplace")


# -- edges and root of a tree ------------------------------------------------------------------------


def undirected(parents: Any) -> set[frozenset[int]]:
    return {frozenset((child, parent)) for child, parent in enumerate(parents) if parent >= 0}


@given(data=st.data(), count=st.integers(3, 5))
def test_the_tree_is_the_best_of_all_that_are_allowed(data: st.DataObject, count: int) -> None:
    edges = list(combinations(range(count), 2))
    values = data.draw(st.lists(st.integers(0, 9), min_size=len(edges), max_size=len(edges)))
    weights = np.zeros((count, count))
    for (a, b), value in zip(edges, values, strict=True):
        weights[a, b] = weights[b, a] = value
    trees = [each for each in combinations(edges, count - 1) if _is_tree(each, count)]
    required = data.draw(st.sampled_from(trees))[: data.draw(st.integers(0, 2))]
    forbidden = data.draw(st.lists(st.sampled_from([each for each in edges if each not in required]), max_size=3))
    root = data.draw(st.one_of(st.none(), st.integers(0, count - 1)))
    parents = spanning_tree(weights, root, edge_bounds(range(count), required, tuple(forbidden)))
    found = undirected(parents.tolist())
    assert {frozenset(each) for each in required} <= found
    assert not found & {frozenset(each) for each in forbidden}
    assert root is None or parents[root] == -1
    allowed = [each for each in trees if set(required) <= set(each) and not set(forbidden) & set(each)]
    if allowed:
        best = max(sum(weights[a, b] for a, b in each) for each in allowed)
        assert (parents == -1).sum() == 1
        assert sum(weights[tuple(edge)] for edge in found) == best
    else:  # several trees: one for each part that the allowed edges connect
        kept = np.array(
            [[a != b and (min(a, b), max(a, b)) not in forbidden for b in range(count)] for a in range(count)]
        )
        assert (parents == -1).sum() == connected_components(kept)[0]


def _is_tree(edges: Any, count: int) -> bool:
    joined = np.zeros((count, count))
    for a, b in edges:
        joined[a, b] = 1
    return connected_components(joined, directed=False)[0] == 1


@pytest.mark.parametrize("kind", ["shared", "per-class"])
def test_required_edges_and_the_root_are_in_the_model(kind: Any, tmp_path: Path) -> None:
    X, y = levels()
    free = BayesClassifier(structure=Tree(kind)).fit(X, y)
    known = undirected(free.estimate_model().parameters[0].parents[0].tolist())
    dropped = min(map(tuple, known))
    added = next(pair for pair in combinations(range(5), 2) if frozenset(pair) not in known)
    as_names = [tuple(X.columns[j] for j in pair) for pair in (added, dropped)]
    structure = Tree(kind, required=[as_names[0]], forbidden=as_names[1:], root="c4")
    model = BayesClassifier(structure=structure, missing="skip").fit(X, y)
    for parents in model.estimate_model().parameters[0].parents.tolist():
        assert parents[4] == -1
        assert frozenset(added) in undirected(parents)
        assert frozenset(dropped) not in undirected(parents)
    check_survives(model, X, y, tmp_path)


def test_a_column_whose_edges_are_all_forbidden_depends_on_the_class_only(tmp_path: Path) -> None:
    X, y = levels(holes=0.1)
    lone = Tree(forbidden=[("c2", name) for name in X if name != "c2"])
    model = BayesClassifier(structure=lone, missing="skip").fit(X, y)
    (parents,) = np.unique(model.estimate_model().parameters[0].parents, axis=0)
    assert parents[2] == -1
    assert 2 not in parents
    apart = BayesClassifier(structure="naive", missing="skip", class_prior="uniform").fit(X[["c2"]], y)
    others = BayesClassifier(structure="tree", missing="skip").fit(X.drop(columns="c2"), y)
    expected = others.predict_joint_log_proba(X.drop(columns="c2")) + np.log(3)
    expected += apart.predict_joint_log_proba(X[["c2"]])
    assert model.predict_joint_log_proba(X) == pytest.approx(expected, abs=1e-9)
    check_survives(model, X, y, tmp_path)


def test_gaussian_trees_have_required_edges_and_a_root() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)).cumsum(axis=1), columns=["u", "v", "w"])
    y = rng.choice(["no", "yes"], 200)
    structure = Tree(required=[("u", "w")], forbidden=[("w", "v")], root="w")
    model = BayesClassifier(structure=structure, numeric="gaussian").fit(X, y)
    precision = np.linalg.inv(model.estimate_model().parameters[0].covariance)
    assert abs(precision[:, 1, 2]).max() < 1e-9
    assert abs(precision[:, 0, 2]).min() > 1e-3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"required": [("age", "home"), ("home", "car"), ("car", "age")]}, "'car' – 'age' closes a cycle"),
        ({"required": [("car", "home")], "forbidden": [("home", "car")]}, "both required and forbidden"),
        ({"required": [("car", "car")]}, r"required=…\) is a list of pairs of columns"),
        ({"forbidden": ["ab"]}, r"forbidden=…\) is a list of pairs of columns"),
        ({"required": [("car", "hom")]}, r"required=…\) names 'hom', which is not a column; did you mean 'home'"),
        ({"forbidden": [("car", "boat")]}, r"forbidden=…\) names 'boat', which is not a column"),
        ({"root": "boat"}, r"root=…\) names 'boat', which is not a column"),
        ({"required": [("car", "age")]}, "'car' is categorical and 'age' is gaussian, .* numeric=\"mdl\""),
        ({"required": [("visits", "calls")]}, "'visits', which is not part of a tree: poisson columns depend on the"),
    ],
)
def test_impossible_trees_are_refused_and_nothing_is_learned(settings: Any, message: str) -> None:
    X, y = people()
    model = BayesClassifier(structure="naive", families=FAMILIES).fit(X, y)
    before = model.tally_.digest()
    with pytest.raises(ValueError, match=message):
        model.set_params(structure=Tree(**settings)).fit(X, y)
    assert model.tally_.digest() == before


def test_a_required_edge_between_numbers_and_levels_needs_bins() -> None:
    X, y = people()
    X = X[["age", "car", "home"]]
    tree = Tree(required=[("age", "car")])
    model = BayesClassifier(structure=tree, numeric="mdl").fit(X, y)
    (block,) = model.estimate_model().columns
    parents = model.estimate_model().parameters[0].parents[0].tolist()
    assert frozenset(map(block.names.index, ("age", "car"))) in undirected(parents)


# -- weights of classes ------------------------------------------------------------------------------

WEIGHTS = {"yes": 3.5, "no": 0.5}


def factors_of(class_weight: Any, y: np.ndarray) -> np.ndarray:
    return compute_sample_weight(class_weight, y)


@pytest.mark.parametrize("class_weight", [WEIGHTS, {"yes": 2.0}, "balanced"], ids=str)
@pytest.mark.parametrize("structure", ["naive", "tree", "averaged", "full", "joint"])
@pytest.mark.parametrize("estimate", ["mle", "mean", "predictive"])
def test_a_weight_of_a_class_is_a_weight_of_its_rows(class_weight: Any, structure: str, estimate: Any) -> None:
    X, y = people()
    model = bayes(structure=structure, estimate=estimate, class_weight=class_weight, families="auto").fit(X, y)
    other = clone(model).set_params(class_weight=None, plan=model.plan_)
    other.fit(X, y, sample_weight=factors_of(class_weight, y))
    assert model.predict_proba(X) == pytest.approx(other.predict_proba(X), abs=1e-9)
    assert model.families_ == other.families_
    assert model.class_count_.tolist() == [(y == "no").sum(), (y == "yes").sum()]
    unweighted = clone(model).set_params(class_weight=None).fit(X, y)
    assert model.tally_ == unweighted.tally_
    assert abs(model.predict_proba(X) - unweighted.predict_proba(X)).max() > 0.01 or class_weight == "balanced"


# sums of rows that weigh 1e-320 have too few digits to be compared
WEIGHT_OF_A_CLASS = st.just(0.0) | st.floats(1e-9, 10)


@given(seed=st.integers(0, 10**6), weights=st.tuples(st.floats(0.1, 10), st.floats(0.1, 10), WEIGHT_OF_A_CLASS))
def test_weighted_sums_are_the_sums_of_weighted_rows(seed: int, weights: tuple[float, ...]) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"u": rng.normal(1e3, 1, 30), "v": rng.normal(size=30), "a": rng.choice(list("xyz"), 30)})
    X = X.mask(rng.random(X.shape) < 0.1)
    y = np.arange(30) % 3
    model = BayesClassifier(structure=Averaged(numbers=Full()), families={"u": "gaussian", "v": "gaussian"}).fit(X, y)
    weighted = clone(model).set_params(plan=model.plan_).fit(X, y, sample_weight=np.array(weights)[y])
    found = model.tally_.weigh_classes(np.array(weights))
    assert found.isclose(weighted.tally_, 1e-8)


def test_class_weights_survive(tmp_path: Path) -> None:
    X, y = people()
    check_survives(bayes(class_weight=WEIGHTS, structure="tree").fit(X, y), X, y, tmp_path)
    check_survives(bayes(class_weight="balanced").fit(X, y), X, y, tmp_path)


def test_a_pool_with_class_weights_equals_one_of_weighted_rows() -> None:
    X, y = levels(300)
    weights = {"a": 1.0, "b": 2.0, "c": 3.0}
    model = BayesClassifier(class_weight=weights).fit(X, y)
    other = BayesClassifier().fit(X, y, sample_weight=factors_of(weights, y))
    assert model.pool_.components == other.pool_.components
    assert model.predict_proba(X) == pytest.approx(other.predict_proba(X), abs=1e-6)
    assert model.tally_.class_count.sum() == 300
    assert model.forget(X[200:], y[200:]).tally_.class_count.sum() == 200


def test_folds_have_class_weights_of_their_own_rows() -> None:
    X, y = people()
    model = bayes(class_weight="balanced")
    results = suffice.cross_validate(model, X, y, cv=StratifiedKFold(4))
    for train, test in StratifiedKFold(4).split(X, y):
        expected = clone(model).fit(X.iloc[train], y[train]).predict_log_proba(X.iloc[test])
        assert results["log_proba"][test] == pytest.approx(expected, abs=1e-9)
    left_out = suffice.cross_validate(model, X[:40], y[:40], cv="loo")
    for row in (0, 17):
        rest = np.arange(40) != row
        expected = clone(model).fit(X[:40][rest], y[:40][rest]).predict_log_proba(X[row : row + 1])
        assert left_out["log_proba"][row] == pytest.approx(expected[0], abs=1e-9)


def test_weights_of_unknown_classes_are_refused() -> None:
    X, y = people()
    model = bayes().fit(X, y)
    before = model.tally_.digest()
    for class_weight, message in (
        ({"yes": 2.0, "maybe": 1.0}, "class_weight names 'maybe', which is not a class; there are 'no', 'yes'"),
        ({"yes": -1.0}, "class_weight must be finite and not negative"),
        ("equal", "class_weight"),
    ):
        with pytest.raises(ValueError, match=message):
            model.set_params(class_weight=class_weight).fit(X, y)
        with pytest.raises(ValueError, match=message):
            bayes(class_weight=class_weight).partial_fit(X, y)
        with pytest.raises(ValueError, match=message):
            bayes(class_weight=class_weight).fit_table(X.assign(label=y), "label")
        assert model.tally_.digest() == before
    late = bayes(class_weight=WEIGHTS)
    late.partial_fit(X[y == "no"], y[y == "no"], classes=["no", "yes"]).partial_fit(X[y == "yes"], y[y == "yes"])
    assert late.predict_proba(X) == pytest.approx(
        bayes(class_weight=WEIGHTS, plan=late.plan_).fit(X, y).predict_proba(X)
    )
    late.forget(X[y == "yes"], y[y == "yes"])
    assert late.classes_.tolist() == ["no"]


def test_the_command_line_takes_class_weights(tmp_path: Path) -> None:
    X, y = people()
    X.assign(label=y).to_csv(tmp_path / "people.csv", index=False)
    for option, expected in (("balanced", "balanced"), ("yes=2,no=1", {"yes": 2.0, "no": 1.0})):
        command = ["fit", str(tmp_path / "people.csv"), "--target", "label", "-o", str(tmp_path / "m.suffice")]
        result = CliRunner().invoke(app, [*command, "--structure", "naive", "--class-weight", option])
        assert result.exit_code == 0, result.output
        assert suffice.load(tmp_path / "m.suffice").class_weight == expected


# -- rows without a label ----------------------------------------------------------------------------


def partly_labelled(rows: int = 120, seed: int = 0, known: int = 30) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a number and two columns of levels, and labels of which the last are missing."""
    rng = np.random.default_rng(seed)
    label = np.append([0, 1, 2], rng.choice(3, rows - 3))
    X = pd.DataFrame({"u": rng.normal(1.5 * label, 1)})
    for name, size in (("a", 3), ("b", 4)):
        X[name] = [f"v{(code if rng.random() < 0.6 else rng.integers(size)) % size}" for code in label]
    y = np.array(["x", "y", "z"], object)[label]
    y[known:] = None
    return X, y


def brute_force_em(X: pd.DataFrame, y: np.ndarray, weights: np.ndarray, steps: int) -> tuple[np.ndarray, list[float]]:
    """Return P(class | x) after some steps of EM for naive Bayes by maximum likelihood, and the log-likelihoods."""
    classes = sorted(set(y) - {None})
    shares = np.array([[float(label == each) for each in classes] for label in y])
    is_known, trace = shares.sum(axis=1) > 0, []
    for _ in range(steps + 1):
        joint = np.zeros(shares.shape)
        for k in range(len(classes)):
            own = weights * shares[:, k]
            joint[:, k] = np.log(own.sum() / (weights[:, None] * shares).sum())
            mean = np.average(X.u, weights=own)
            variance = np.average((X.u - mean) ** 2, weights=own)
            joint[:, k] += stats.norm.logpdf(X.u, mean, np.sqrt(variance))
            for name in ("a", "b"):
                with np.errstate(divide="ignore"):
                    joint[:, k] += np.log([own[X[name] == level].sum() / own.sum() for level in X[name]])
        by_row = np.logaddexp.reduce(joint, axis=1)
        own_class = np.take_along_axis(joint, shares.argmax(axis=1)[:, None], 1)[:, 0]
        trace.append(float(weights @ np.where(is_known, own_class, by_row)))
        posterior = np.exp(joint - by_row[:, None])
        shares = np.where(is_known[:, None], shares, posterior)
    return posterior, trace


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_em_equals_brute_force(steps: int, is_weighted: bool) -> None:
    X, y = partly_labelled(known=60)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y)) if is_weighted else np.ones(len(y))
    model = bayes(families={"u": "gaussian"}, estimate="mle", unlabeled="em", em_steps=steps, unseen="ignore")
    model.fit(X, y, sample_weight=weights if is_weighted else None)
    expected, trace = brute_force_em(X, y, weights, steps)
    assert model.predict_proba(X) == pytest.approx(expected, abs=1e-9)
    assert model.em_trace_ == pytest.approx(trace, rel=1e-9)
    assert model.class_count_.sum() == pytest.approx(weights.sum())


@given(seed=st.integers(0, 10**6))
@hypothesis_settings(max_examples=20)
def test_the_likelihood_never_decreases(seed: int) -> None:
    X, y = partly_labelled(60, seed, known=40)
    model = bayes(families={"u": "gaussian"}, estimate="mle", unlabeled="em", em_steps=15).fit(X, y)
    assert np.diff(model.em_trace_).min(initial=0.0) >= -1e-7


def test_the_posterior_density_never_decreases_with_map() -> None:
    X, y = partly_labelled(80, known=20)
    X, found = X[["a", "b"]], []
    for steps in range(1, 8):
        model = bayes(families="auto", estimate="map", prior=3.0, unlabeled="em", em_steps=steps, unseen="ignore")
        model.fit(X, y)
        log_p = model.estimate_model().parameters[0].log_p
        found.append(model.em_trace_[-1] + 2.0 * log_p.sum())  # the density of Dirichlet(3) is Π p² up to a factor
    assert np.diff(found).min() >= -1e-9
    assert found[-1] > found[0]


def test_rows_without_a_label_survive(tmp_path: Path) -> None:
    X, y = partly_labelled()
    model = bayes(families="auto", structure="averaged", unlabeled="em").fit(X, y)
    loaded = suffice.load(model.save(tmp_path / "m.suffice"))
    assert loaded.em_trace_ == model.em_trace_
    assert loaded.tally_ == model.tally_
    assert clone(model).fit(X, y).tally_ == model.tally_
    known = np.array([label is not None for label in y])
    more = model.tally_.class_count.sum()
    loaded.partial_fit(X[known], y[known]).forget(X[known], y[known])
    assert loaded.tally_.isclose(model.tally_)
    assert (loaded + model).tally_.class_count.sum() == pytest.approx(2 * more)
    left = loaded.forget(X[known], y[known]).tally_
    assert left.class_count.sum() == pytest.approx((~known).sum())


@pytest.mark.parametrize("kind", ["object", "float", "pandas", "nullable", "list"])
def test_missing_labels_of_every_kind(kind: str) -> None:
    X, y = partly_labelled()
    codes = [None if label is None else "xyz".index(label) for label in y]
    as_floats = np.array([np.nan if code is None else code for code in codes])
    given_labels: Any = {
        "object": np.array(codes, object),
        "float": as_floats,
        "pandas": pd.Series(as_floats),
        "nullable": pd.Series(codes, dtype="Int64"),
        "list": codes,
    }[kind]
    model = bayes(families="auto", unlabeled="em").fit(X, given_labels)
    expected = bayes(families="auto", unlabeled="em").fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X) == pytest.approx(expected.predict_proba(X), abs=1e-12)


def test_without_missing_labels_em_changes_nothing() -> None:
    X, y = people()
    assert bayes(unlabeled="em").fit(X, y).tally_ == bayes().fit(X, y).tally_
    results = suffice.cross_validate(bayes(unlabeled="em"), X, y, cv=3)
    assert results["refitted"]
    assert results["log_proba"] == pytest.approx(suffice.cross_validate(bayes(), X, y, cv=3)["log_proba"], abs=1e-9)


def test_what_em_cannot_learn_is_refused_and_nothing_changes() -> None:
    X, y = partly_labelled()
    model = bayes(families="auto").fit(X[:30], y[:30])
    before, params = model.tally_.digest(), model.get_params()
    for settings_, labels, message in (
        ({}, y, "y contains NaN or None: 90 missing labels.* set unlabeled='em'"),
        ({"unlabeled": "em"}, [None] * len(X), "needs rows of each class with a label"),
        ({"unlabeled": "em", "structure": "pooled"}, y, "needs p.* which structure='pooled' does not have"),
        ({"unlabeled": "em", "structure": "trees"}, y, "needs p.* which structure='trees' does not have"),
        ({"unlabeled": "em", "calibrate": "vector"}, y, "calibrate=… needs the labels"),
        ({"unlabeled": "em", "em_steps": 0}, y, "em_steps"),
        ({"unlabeled": "em", "class_weight": {"w": 2.0}}, y, "class_weight names 'w', which is not a class"),
        ({"unlabeled": "em", "estimate": {"w": "mle"}}, y, "estimate=.* names 'w'"),
    ):
        with pytest.raises(ValueError, match=message):
            model.set_params(**params | settings_).fit(X, labels)
        assert model.tally_.digest() == before
    with pytest.raises(ValueError, match="y contains NaN or None"):
        bayes(unlabeled="em").partial_fit(X, y)
