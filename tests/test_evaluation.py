"""Evaluation: cross-validation and leave-one-out by sums equal refitting; comparison of models."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.model_selection import cross_validate as their_cross_validate

import suffice
from conftest import CASES, Case, every_case, example, expect_warning, tables
from suffice import BayesClassifier, GaussianDiscriminant, GaussianNB, MixtureClassifier, compare, cross_validate
from suffice.blocks import Dense, block
from suffice.data.engines import memory
from suffice.data.row_keys import row_keys
from suffice.evaluation.verdicts import estimate_by_rows, judge
from suffice.folds.splits import deal_rows, stratified
from suffice.structures.covariances import KINDS

RULES = ("mle", "map", "mean", "predictive")


def fitted_again(model: Any, X: Any, y: Any, train: Any, test: Any, classes: Any, weights: Any = None) -> Any:
    """What a model fitted on the training rows says of the test rows, under the plan of all rows."""
    rows = (lambda index: X.iloc[index]) if isinstance(X, pd.DataFrame) else (lambda index: X[index])
    fold = under_one_plan(model, X, y).fit(rows(train), y[train], None if weights is None else weights[train])
    wide = np.full((len(test), len(classes)), -np.inf)
    wide[:, np.searchsorted(classes, fold.classes_)] = fold.predict_log_proba(rows(test))
    return wide


def under_one_plan(model: Any, X: Any, y: Any) -> Any:
    """A copy that counts by the plan of all rows, if the model plans from rows."""
    is_planned = isinstance(model, BayesClassifier) and model.additive_recipe() is not None
    return clone(model).set_params(plan=clone(model).fit(X, y).plan_) if is_planned else clone(model)


def assert_same_probabilities(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.exp(found), np.exp(expected), atol=1e-9)
    finite = np.isfinite(expected)
    assert (np.isfinite(found) == finite).all()
    np.testing.assert_allclose(found[finite], expected[finite], rtol=1e-9, atol=1e-8)


def mixed(rows: int = 240, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """A table with numbers to be cut, levels of which some are rare, a text, and holes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "perhaps", "yes"], rows, p=[0.5, 0.3, 0.2])
    shift = np.select([y == "no", y == "yes"], [0.0, 2.0], 1.0)
    words = np.array(["apple", "pear", "plum", "fig", "quince", "cherry", "medlar"])
    table = pd.DataFrame(
        {
            "height": rng.normal(shift, 1.0),
            "income": np.exp(rng.normal(shift, 1.0)),
            "town": rng.choice(["a", "b", "c", "d"], rows, p=[0.6, 0.3, 0.09, 0.01]),
            "owner": rng.random(rows) < 0.3 + 0.2 * shift,
            "note": [" ".join(rng.choice(words, 6)) + f" only{row}" for row in range(rows)],
        }
    )
    for name in ("height", "income", "town"):
        table.loc[rng.random(rows) < 0.1, name] = None
    return table, y


SPLITTERS = [
    StratifiedKFold(5),
    KFold(4, shuffle=True, random_state=0),
    TimeSeriesSplit(4),
    PredefinedSplit(np.arange(300) % 3 - 1),
    LeaveOneOut(),
]


@every_case
@pytest.mark.parametrize("splitter", SPLITTERS[:-1], ids=lambda splitter: type(splitter).__name__)
def test_a_fold_by_sums_equals_a_refit(case: Case, splitter: Any) -> None:
    X, y = example(case)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    for rule in RULES if splitter is SPLITTERS[0] else ("mean",):
        model = case.ours().set_params(estimate=rule)
        found = cross_validate(model, X, y, cv=splitter, sample_weight=weights)
        for train, test in splitter.split(X, y):
            expected = fitted_again(model, X, y, train, test, found["classes"], weights)
            assert_same_probabilities(found["log_proba"][test], expected)


@pytest.mark.parametrize("structure", ["naive", "chain", "tree", "averaged", "joint", "full", "auto"])
@pytest.mark.parametrize("numeric", ["gaussian", "quantiles", "mdl", "auto"])
def test_structures_on_a_table_with_holes_equal_a_refit(structure: str, numeric: str) -> None:
    X, y = mixed()
    if structure == "joint":
        X = X[["height", "town", "owner"]]
    model = BayesClassifier(structure=structure, numeric=numeric)
    has_new_combinations = structure == "joint" and numeric != "gaussian"
    with expect_warning("combination of levels that was not" if has_new_combinations else None):
        found = cross_validate(model, X, y, cv=5, return_estimator=True)
        for (train, test), fold in zip(StratifiedKFold(5).split(X, y), found["estimator"], strict=True):
            assert_same_probabilities(
                found["log_proba"][test], fitted_again(model, X, y, train, test, found["classes"])
            )
            again = under_one_plan(model, X, y).fit(X.iloc[train], y[train])
            assert fold.tally_.isclose(again.tally_)
            assert fold.families_ == again.families_


@pytest.mark.parametrize("covariance", KINDS)
def test_covariances_equal_a_refit(covariance: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = GaussianDiscriminant(covariance=covariance)
    found = cross_validate(model, X, y, cv=10)
    for train, test in StratifiedKFold(10).split(X, y):
        assert_same_probabilities(found["log_proba"][test], fitted_again(model, X, y, train, test, found["classes"]))


@given(data=st.data())
@settings(max_examples=25)
@pytest.mark.parametrize("case", [case for case in CASES if case.parameters == {}], ids=str)
def test_any_folds_of_any_table_equal_a_refit(case: Case, data: st.DataObject) -> None:
    X, y, weights = data.draw(tables(case, min_rows=4))
    fold_of = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(y), max_size=len(y))))
    splits = [(np.flatnonzero(fold_of != f), np.flatnonzero(fold_of == f)) for f in range(3)]
    splits = [(train, test) for train, test in splits if len(train) and len(test)]
    if not splits:
        return
    found = cross_validate(case.ours(estimate="mean"), X, y, cv=splits, sample_weight=weights)
    for train, test in splits:
        expected = fitted_again(case.ours(estimate="mean"), X, y, train, test, found["classes"], weights)
        np.testing.assert_allclose(np.exp(found["log_proba"][test]), np.exp(expected), atol=1e-8)
    assert (found["predicted"] == np.isin(np.arange(len(y)), np.concatenate([test for _, test in splits]))).all()


def test_an_outlier_in_one_fold_does_not_spoil_the_others() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)) + 1e9, np.arange(100) % 2
    X[3] = 1e15
    found = cross_validate(GaussianNB(), X, y, cv=5)
    for train, test in StratifiedKFold(5).split(X, y):
        np.testing.assert_allclose(
            found["log_proba"][test],
            GaussianNB().fit(X[train], y[train]).predict_log_proba(X[test]),
            rtol=1e-9,
            atol=1e-6,
        )


@every_case
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_equals_as_many_refits(case: Case, rule: str, weighted: bool) -> None:
    X, y = example(case, rows=40, columns=3)
    y = np.where(np.arange(40) == 5, 9, y)  # one row is a class by itself
    X[7] = (
        X.max(axis=0) + 1 if case.parameters.get("binarize", 0) is not None else X[7]
    )  # and one has levels of its own
    weights = np.random.default_rng(1).uniform(0.5, 2, 40) if weighted else None
    model = case.ours().set_params(estimate=rule)
    found = cross_validate(model, X, y, cv="loo", sample_weight=weights)
    for train, test in LeaveOneOut().split(X):
        expected = fitted_again(model, X, y, train, test, found["classes"], weights)
        np.testing.assert_allclose(np.exp(found["log_proba"][test]), np.exp(expected), atol=1e-9)
    np.testing.assert_array_equal(found["test_score"], found["classes"][found["log_proba"].argmax(axis=1)] == y)


def test_leave_one_out_of_wild_numbers_texts_and_trees() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_cauchy(size=(60, 4)) * 1e6, np.arange(60) % 3
    found = cross_validate(GaussianNB(), X, y, cv="loo")
    table, labels = mixed(60)
    models = [(GaussianNB(), X, y), (GaussianDiscriminant(), X, y)]
    models += [
        (BayesClassifier(structure=s), table.drop(columns="note"), labels) for s in ("naive", "tree", "averaged")
    ]
    models += [(BayesClassifier(families="text"), table[["note"]], labels)]
    models += [(BayesClassifier(families="categorical", structure="naive"), table[["town", "owner"]], labels)]
    models += [(suffice.MultinomialNB(), sp.csr_matrix(rng.poisson(1.0, (60, 5))), y)]
    for model, rows, its in models:
        found = cross_validate(model, rows, its, cv="loo")
        for train, test in list(LeaveOneOut().split(its))[::7]:
            expected = fitted_again(model, rows, its, train, test, found["classes"])
            np.testing.assert_allclose(np.exp(found["log_proba"][test]), np.exp(expected), atol=1e-8)


@pytest.mark.parametrize("scoring", [None, "accuracy", "neg_log_loss", "roc_auc_ovr", "f1_macro", "top_k_accuracy"])
def test_scores_are_those_of_scikit_learn(scoring: Any) -> None:
    X, y = load_iris(return_X_y=True)
    ours = cross_validate(GaussianNB(), X, y, cv=5, scoring=scoring, return_train_score=True)
    theirs = their_cross_validate(GaussianNB(), X, y, cv=5, scoring=scoring, return_train_score=True)
    assert set(theirs) <= set(ours)
    for name in ("test_score", "train_score"):
        np.testing.assert_allclose(ours[name], theirs[name], atol=1e-9)


def test_several_scorers_groups_estimators_and_indices() -> None:
    X, y = load_iris(return_X_y=True)
    groups = np.arange(150) % 7

    def certain(model: Any, rows: Any, labels: Any) -> float:
        assert rows.shape[1] == 4
        return float(model.predict_proba(rows).max())

    scoring = {"acc": "accuracy", "sure": certain}
    asked = {"groups": groups, "return_estimator": True, "return_indices": True}
    ours = cross_validate(GaussianNB(), X, y, cv=GroupKFold(3), scoring=scoring, **asked)
    theirs = their_cross_validate(GaussianNB(), X, y, cv=GroupKFold(3), scoring=scoring, **asked)
    for name in ("test_acc", "test_sure"):
        np.testing.assert_allclose(ours[name], theirs[name])
    for mine, its in zip(ours["indices"]["test"], theirs["indices"]["test"], strict=True):
        np.testing.assert_array_equal(mine, its)
    np.testing.assert_allclose(ours["estimator"][1].theta_, theirs["estimator"][1].theta_)


def test_folds_are_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        y = rng.choice(list("zabc"), rng.integers(60, 100))
        folds = int(rng.integers(2, 6))
        for seed in (None, 0, folds):
            theirs = StratifiedKFold(folds, shuffle=seed is not None, random_state=seed)
            for mine, (train, test) in zip(stratified(y, folds, seed), theirs.split(y, y), strict=True):
                np.testing.assert_array_equal(mine.train, train)
                np.testing.assert_array_equal(mine.test, test)


def test_rows_that_are_predicted_twice_get_the_mean_probability() -> None:
    X, y = load_iris(return_X_y=True)
    splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    found = cross_validate(GaussianNB(), X, y, cv=splitter)
    mean = np.zeros((150, 3))
    for train, test in splitter.split(X, y):
        mean[test] += GaussianNB().fit(X[train], y[train]).predict_proba(X[test]) / 2
    np.testing.assert_allclose(np.exp(found["log_proba"]), mean, atol=1e-9)
    assert len(found["test_score"]) == 6
    shuffled = cross_validate(GaussianNB(), X, y, cv=ShuffleSplit(3, random_state=0))
    assert not shuffled["predicted"].all()
    assert not np.isnan(shuffled["log_proba"]).any()


@pytest.mark.parametrize(
    "model",
    [
        MixtureClassifier(),
        GaussianDiscriminant(covariance="shared", solver="svd"),
        suffice.LogisticRegression(),
        LogisticRegression(max_iter=500),
        GaussianNB(calibrate="temperature"),
        BayesClassifier(prior="auto"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_is_no_sum_is_fitted_again(model: Any) -> None:
    X, y = load_iris(return_X_y=True)
    found = cross_validate(model, X, y, cv=3)
    assert found["refitted"]
    assert not cross_validate(GaussianNB(), X, y, cv=3)["refitted"]
    assert "fitted again" in str(compare(X, y, [model], cv=2))
    for train, test in StratifiedKFold(3).split(X, y):
        assert_same_probabilities(found["log_proba"][test], fitted_again(model, X, y, train, test, found["classes"]))


def test_a_bootstrap_learns_rows_twice() -> None:
    X, y = load_iris(return_X_y=True)
    drawn = np.random.default_rng(0).integers(0, 150, 150)
    rest = np.setdiff1d(np.arange(150), drawn)
    found = cross_validate(GaussianNB(), X, y, cv=[(drawn, rest)])
    np.testing.assert_allclose(
        found["log_proba"][rest], GaussianNB().fit(X[drawn], y[drawn]).predict_log_proba(X[rest]), atol=1e-9
    )


def test_one_pass_serves_all_folds_and_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_digits(return_X_y=True)
    passes = []
    original = memory.tally_by
    monkeypatch.setattr(memory, "tally_by", lambda *given: passes.append(1) or original(*given))
    cross_validate(suffice.MultinomialNB(), X, y)
    assert len(passes) == 1
    compare(X, y, [suffice.MultinomialNB(prior=c, estimate=rule) for c in (0.1, 1.0) for rule in RULES])
    assert len(passes) == 2
    table, labels = mixed()
    given = {s: BayesClassifier(structure=s, numeric="mdl") for s in ("naive", "tree", "averaged", "chain")}
    compare(table.drop(columns="note"), labels, given, cv=5)
    assert len(passes) == 3


def test_the_table_of_a_comparison_is_right() -> None:
    X, y = load_iris(return_X_y=True)
    models = {"naive": GaussianNB(), "full": GaussianDiscriminant(), "theirs": LogisticRegression(max_iter=500)}
    scoring = ["neg_log_loss", "accuracy", "neg_brier_score", "calibration_error", "roc_auc_ovr", "f1_macro"]
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    found = compare(X, y, models, cv=5, scoring=scoring)
    lines = {line["model"]: line for line in found.table}
    for name, model in models.items():
        results = cross_validate(model, X, y, cv=splits, scoring=["roc_auc_ovr", "f1_macro", "calibration_error"])
        p, line = np.exp(results["log_proba"]), lines[name]
        assert line["accuracy"] == pytest.approx(accuracy_score(y, p.argmax(axis=1)))
        assert line["log_loss"] == pytest.approx(log_loss(y, p), rel=1e-9)
        assert line["brier"] == pytest.approx(brier_score_loss(y, p))
        losses = -results["log_proba"][np.arange(150), y]
        error = losses.std() * np.sqrt(1 / 150 + 1 / 120)  # Nadeau and Bengio
        assert line["log_loss_half_width"] == pytest.approx(stats.t.ppf(0.975, 149) * error)
        best, sure = p.argmax(axis=1) == y, p.max(axis=1)
        bins = np.minimum((sure * 15).astype(int), 14)
        error = sum(abs(best[bins == b].mean() - sure[bins == b].mean()) * (bins == b).mean() for b in set(bins))
        assert line["calibration_error"] == pytest.approx(error)
        for metric in ("roc_auc_ovr", "f1_macro"):
            assert line[metric] == pytest.approx(results[f"test_{metric}"].mean())
    assert [line["log_loss"] for line in found.table] == sorted(line["log_loss"] for line in found.table)
    assert found.table[0]["verdict"] == "best"
    assert lines["naive"]["parameters"] == 24
    assert lines["theirs"]["parameters"] is None
    assert found.best_.score(X, y) > 0.95
    assert found.to_frame()["model"].tolist() == [*(line["model"] for line in found.table), "(baseline)"]
    assert found.baseline["log_loss"] == pytest.approx(np.log(3))
    assert "<b>" not in compare(X, y, {"<b>": GaussianNB()}, cv=3)._repr_html_()


def test_a_printed_comparison_fits_the_terminal_and_says_what_it_means() -> None:
    X, y = load_iris(return_X_y=True)
    names = {"short": GaussianNB(), "a name that is longer than half of a line of eighty": GaussianNB(prior=5.0)}
    text = str(compare(X, y, names, cv=3, repeats=2, scoring=["accuracy", "neg_log_loss", "f1_macro", "roc_auc_ovo"]))
    assert max(map(len, text.splitlines())) <= 80
    for said in ("Sorted by accuracy: higher is better", "half of a 95 % interval", "drawn 2 times", "(baseline)"):
        assert said in " ".join(text.split())


def test_verdicts_by_margin() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = (rng.random((600, 6)) < 0.3 + 0.3 * y[:, None]).astype(int)
    models = {"a": suffice.BernoulliNB(), "b": suffice.BernoulliNB(prior=1.01)}
    assert compare(X, y, models).table[1]["verdict"] == "practically equal"
    assert compare(X, y, models, margin=0.0).table[1]["verdict"] != "practically equal"
    assert compare(X, y, models, margin={"neg_log_loss": 1e-9}).table[1]["log_loss_verdict"] != "practically equal"
    blind = {"a": suffice.BernoulliNB(), "blind": suffice.BernoulliNB(binarize=5.0)}
    apart = compare(X, y, blind)
    assert [line["model"] for line in apart.table] == ["a", "blind"]
    assert apart.table[1]["verdict"] == apart.table[1]["accuracy_verdict"] == "worse"
    assert compare(X, y, blind, margin=10.0).table[1]["verdict"] == "practically equal"
    alone = compare(X, y, suffice.BernoulliNB(binarize=5.0))
    assert alone.baseline["verdict"] == "practically equal"
    assert "No model is clearly better than the baseline" in str(alone)


@pytest.mark.parametrize("is_share", [True, False])
def test_intervals_miss_the_true_difference_as_rarely_as_stated(is_share: bool) -> None:
    rng = np.random.default_rng(0)
    models, rows, tables, best_wrong = 6, 100, 600, 0
    missed = 0
    for _ in range(tables):
        shared = rng.normal(size=rows)
        values = 0.7 * shared + 0.7 * rng.normal(size=(models, rows))
        values = (values < 1.0).astype(float) if is_share else values
        found = estimate_by_rows(values, np.ones(rows), models, 0.0, is_loss=not is_share, is_share=is_share)
        missed += bool((np.abs(found.difference) > found.difference_half_width + 1e-12).any())
        best_wrong += "worse" in judge(found, 0.01, is_loss=not is_share)
    assert missed == best_wrong <= 0.05 * tables + 2 * np.sqrt(0.05 * 0.95 * tables)


def test_verdicts_on_simulated_tables_are_wrong_as_rarely_as_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1] / "benchmarks"))
    verdicts = importlib.import_module("verdicts")
    draw, models, rows = verdicts.SCENARIOS["4 columns, 200 rows: naive or full covariance"]
    for metric, found in verdicts.simulate(draw, models, rows, repeats=8, folds=5).items():
        for error in ("interval", "worse", "equal"):
            assert found[error] <= 2 / 8, (metric, error)


def test_models_of_many_bits_are_scored_together_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 10_000)
    X = (rng.random((10_000, 20)) < 0.2 + 0.1 * y[:, None]).astype(np.uint8)
    models = [suffice.BernoulliNB(estimate=rule, prior=2.0) for rule in ("mle", "map", "mean")]
    together = compare(X, y, models, cv=2).table  # folds of 5,000 rows, which are looked up in tables of eight bits
    for line in together:
        alone = compare(X, y, {line["model"]: models[[str(model) for model in models].index(line["model"])]}, cv=2)
        assert line["log_loss"] == pytest.approx(alone.table[0]["log_loss"], rel=1e-12)


def test_gathered_rows_are_the_rows_that_were_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.arange(12.0).reshape(4, 3)
    taken = Dense("example", None, numbers).take(np.array([2, 0, 3]))
    gathered = taken.gathered()
    ((rows, piece),) = gathered.pieces(0, 3)
    assert (rows, gathered.gaps) == (slice(0, 3), False)
    np.testing.assert_array_equal(piece, numbers[[2, 0, 3]])
    monkeypatch.setattr(block, "GATHERED", 0)
    assert taken.gathered() is taken
    assert gathered.gathered() is gathered


def test_metrics_by_name() -> None:
    X, y = load_iris(return_X_y=True)
    words = np.array(["no", "yes"])[(y == 1).astype(int)]
    names = ["f1", "recall", "precision", "roc_auc", "average_precision", "balanced_accuracy", "neg_brier_score"]
    found = cross_validate(GaussianNB(), X, words, cv=5, scoring=names)
    expected = their_cross_validate(GaussianNB(), X, (y == 1).astype(int), cv=5, scoring=names)
    for name in names:
        np.testing.assert_allclose(found[f"test_{name}"], expected[f"test_{name}"])
    line = compare(X, words, GaussianNB(), cv=list(StratifiedKFold(5).split(X, y == 1)), scoring=names).table[0]
    for name in names[:-1]:
        assert line[name] == pytest.approx(found[f"test_{name}"].mean())
    assert line["brier"] == pytest.approx(-found["test_neg_brier_score"].mean())
    with pytest.raises(ValueError, match="for two classes, and there are 3: use 'f1_macro'"):
        compare(X, y, GaussianNB(), scoring="f1")
    with pytest.raises(ValueError, match="'acuracy' is not known"):
        compare(X, y, GaussianNB(), scoring=["acuracy"])
    with pytest.raises(ValueError, match="repeats"):
        compare(X, y, GaussianNB(), cv=StratifiedKFold(3), repeats=2)
    with pytest.raises(ValueError, match="not a metric of scoring"):
        compare(X, y, GaussianNB(), margin={"roc_auc": 0.1})


def test_folds_are_shuffled_and_repeated() -> None:
    X, y = load_iris(return_X_y=True)
    found = compare(X, y, GaussianNB(), cv=3, repeats=2, random_state=4).table[0]
    several = [compare(X, y, GaussianNB(), cv=3, random_state=seed).table[0] for seed in (4, 5)]
    assert found["log_loss"] == pytest.approx(np.mean([line["log_loss"] for line in several]))
    assert several[0]["log_loss"] != several[1]["log_loss"]
    order = np.random.default_rng(0).permutation(150)
    one, other = (compare(X[o], y[o], GaussianNB()).table[0] for o in (np.arange(150), order))
    assert one["log_loss_half_width"] == pytest.approx(other["log_loss_half_width"], rel=0.3)


def test_a_comparison_of_what_there_is() -> None:
    X, y = load_iris(return_X_y=True)
    found = compare(X, y, cv=3)
    names = {line["model"].split(",")[0] for line in found.table}
    assert names == {"naive", "tree", "averaged", "full", "pool (default)"}
    pool = next(line for line in found.table if line["model"] == "pool (default)")
    assert pool["refitted"]
    alone = compare(X, y, [BayesClassifier()], cv=3).table[0]
    assert (pool["log_loss"], pool["accuracy"]) == pytest.approx((alone["log_loss"], alone["accuracy"]))
    assert "pool (default)" not in [line["model"] for line in compare(X[::2], y[::2], cv=3).table]
    weights = np.random.default_rng(0).integers(1, 3, 150)
    twice = np.repeat(np.arange(150), weights)
    weighted = compare(X, y, [GaussianNB()], cv=[(np.arange(0, 150, 2), np.arange(1, 150, 2))], sample_weight=weights)
    rows = [np.flatnonzero(np.isin(twice, part)) for part in (np.arange(0, 150, 2), np.arange(1, 150, 2))]
    repeated = compare(X[twice], y[twice], [GaussianNB()], cv=[tuple(rows)])
    for name in ("accuracy", "log_loss", "brier", "calibration_error"):
        assert weighted.table[0][name] == pytest.approx(repeated.table[0][name], rel=1e-9)


def test_the_classifier_chooses_by_comparison() -> None:
    table, y = mixed(400)
    X = table[["height", "income", "owner"]]
    model = BayesClassifier(structure="averaged", prior="auto").fit(X, y)
    assert model.prior_ == model.chosen_["prior"]
    found = {}
    for prior in (0.05, 0.5, 5.0):
        candidate = BayesClassifier(structure="averaged", prior=prior)
        dealt = deal_rows(row_keys(candidate.recipe().open(X)), np.unique(y, return_inverse=True)[1], None, 10)
        folds = PredefinedSplit(dealt.fold_of)
        found[prior] = cross_validate(candidate, X, y, cv=folds, scoring="neg_log_loss")["test_score"].mean()
    assert found[model.chosen_["prior"]] == pytest.approx(max(found.values()), rel=1e-6)
    pooled = BayesClassifier(prior="auto").fit(X, y)
    assert pooled.chosen_ == model.chosen_
    assert pooled.pool_.rows == 400
    alone = BayesClassifier(structure="tree", prior="auto").fit(X, y)
    before = alone.chosen_
    alone.partial_fit(X[:20], y[:20])
    assert alone.chosen_ is before
    few = BayesClassifier(prior="auto").fit(X[:1], ["a"])
    assert few.prior_ == 0.5


def test_pictures_are_drawn() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y = load_iris(return_X_y=True)
    ax = compare(X, y, [GaussianNB(), GaussianDiscriminant()], cv=3).plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["GaussianDiscriminant()", "GaussianNB()"]
    model = GaussianNB(calibrate="temperature").fit(X, y)
    assert "perfectly calibrated" in [text.get_text() for text in model.calibration_.plot().get_legend().get_texts()]
    assert suffice.prequential(GaussianNB(), suffice.batches(X[::-1], y[::-1], 10)).plot().get_xlabel() == "rows"
