"""Levels that were never seen: with a share of probability, or treated as missing cells."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as theirs
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from typer.testing import CliRunner

import suffice
from cases import ALL_STRUCTURES, every_rule, every_structure
from suffice import BayesClassifier, MEstimate, cross_validate
from suffice.cli.app import app

pytestmark = pytest.mark.filterwarnings("ignore:.*combination of levels that was not")

LEVELS = {
    "colour": ["blue", "green", "red"],
    "size": ["lg", "med", "sm"],
    "shape": ["circ", "tri"],
    "old": [False, True],
}


def levels(rows: int = 90, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return a table of levels that depend on the class, and its labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    columns = {
        name: np.array(labels, object)[
            (y + rng.integers(0, len(labels), rows) * (rng.random(rows) < 0.6)) % len(labels)
        ]
        for name, labels in LEVELS.items()
    }
    return pd.DataFrame(columns), y


def with_unseen(table: pd.DataFrame, value: Any) -> pd.DataFrame:
    """Return the rows with a value in place of some levels, in one column or in two."""
    changed = table.astype(object)
    changed.loc[changed.index[::3], "colour"] = value
    changed.loc[changed.index[::4], "size"] = value
    return changed


def test_the_m_estimate_of_the_lecture() -> None:
    """(4 + 1/3)/11 = 0.394, (0 + 1/3)/11 = 0.030, (6 + 1/3)/11 = 0.576 with m = 1, p = 1/3; they add up to 1."""
    X = pd.DataFrame({"size": ["sm"] * 4 + ["lg"] * 6 + ["med"]})
    model = BayesClassifier(structure="naive", prior=MEstimate(m=1, p=1 / 3), unseen="ignore")
    model.fit(X, ["pos"] * 10 + ["neg"])
    rows = pd.DataFrame({"size": ["sm", "med", "lg", "huge", None]})

    def positive() -> list[float]:
        joint = model.predict_joint_log_proba(rows)[:, 1] - np.log(10 / 11)
        return np.exp(joint).round(3).tolist()

    assert positive() == [0.394, 0.03, 0.576, 1.0, 1.0]
    model.set_params(unseen="share")
    assert positive() == [0.382, 0.029, 0.559, 0.029, 1.0]


@given(data=st.data())
def test_known_levels_have_the_probabilities_of_scikit_learn(data: st.DataObject) -> None:
    rows, alpha = data.draw(st.integers(2, 30)), data.draw(st.sampled_from([0.1, 0.5, 1.0, 3.0]))
    cells = st.lists(st.integers(0, 4), min_size=rows, max_size=rows)
    X = np.array([data.draw(cells), data.draw(cells)]).T
    y = data.draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    coded = np.array([np.unique(column, return_inverse=True)[1] for column in X.T]).T
    ours = BayesClassifier(families="categorical", structure="naive", prior=alpha, unseen="ignore")
    table = pd.DataFrame(X, columns=["one", "two"])
    peer = theirs.CategoricalNB(alpha=alpha).fit(coded, y)
    expected = peer.predict_joint_log_proba(coded)
    np.testing.assert_allclose(ours.fit(table, y).predict_joint_log_proba(table), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(table), peer.predict_proba(coded), rtol=1e-12, atol=1e-12)


@every_rule
@every_structure
def test_an_unseen_level_is_a_missing_cell(structure: Any, rule: str) -> None:
    X, y = levels()
    model = BayesClassifier(structure=structure, estimate=rule, unseen="ignore").fit(X, y)
    rows = with_unseen(X, "unheard of")
    missing = with_unseen(X, None)
    np.testing.assert_array_equal(model.predict_joint_log_proba(rows), model.predict_joint_log_proba(missing))
    if rule == "mle":  # the contributions of probabilities of 0 are infinite
        return
    explained = model.explain(rows)
    joint = explained.prior + explained.contributions.sum(axis=2)
    np.testing.assert_allclose(joint, model.predict_joint_log_proba(rows), rtol=1e-9, atol=1e-9)
    lower, upper = model.predict_interval(rows[:5], draws=20)
    assert (lower <= upper).all()


@pytest.mark.parametrize("structure", ["naive", "chain", "tree", "joint"])
def test_known_levels_have_all_probability(structure: str) -> None:
    X, y = levels()
    model = BayesClassifier(structure=structure, unseen="ignore").fit(X, y)
    every = pd.DataFrame(list(product(*LEVELS.values())), columns=list(LEVELS))
    if structure == "joint":  # its levels are the combinations that were met
        every = every.merge(X.drop_duplicates())
    assert np.exp(model.score_samples(every)).sum() == pytest.approx(1.0, abs=1e-12)
    assert np.exp(model.set_params(unseen="share").score_samples(every)).sum() < 0.99


@every_structure
def test_it_can_be_set_after_the_fit(structure: Any) -> None:
    X, y = levels()
    rows = with_unseen(X, "unheard of")
    share = BayesClassifier(structure=structure).fit(X, y)
    ignore = BayesClassifier(structure=structure, unseen="ignore", plan=share.plan_).fit(X, y)
    assert share.tally_.digest() == ignore.tally_.digest()
    expected, before = ignore.predict_proba(rows), share.predict_proba(rows)
    assert np.allclose(expected, before) == (structure == "trees")  # trees send an unseen level to the second child
    np.testing.assert_array_equal(share.set_params(unseen="ignore").predict_proba(rows), expected)
    np.testing.assert_array_equal(share.set_params(unseen="share").predict_proba(rows), before)
    merged = ignore + ignore
    assert merged.unseen == "ignore"
    assert merged.tally_.schema == (share + share).tally_.schema


@pytest.mark.parametrize("structure", [name for name in ALL_STRUCTURES if name != "trees"], ids=str)
def test_samples_have_known_levels_only(structure: Any) -> None:
    X, y = levels(30)
    model = BayesClassifier(structure=structure, prior=5.0, unseen="ignore").fit(X, y)
    drawn, _ = model.sample(500, random_state=0)
    for column, labels in zip(drawn.T, LEVELS.values(), strict=True):
        assert set(column.tolist()) <= set(labels)


@every_structure
def test_folds_by_sums_equal_refits(structure: Any) -> None:
    X, y = levels(60)
    X.loc[7, "colour"] = "once"  # unseen by the model that predicts this row
    model = BayesClassifier(structure=structure, families="categorical", unseen="ignore")
    for splitter in (StratifiedKFold(5), LeaveOneOut()):
        found = cross_validate(model, X, y, cv="loo" if isinstance(splitter, LeaveOneOut) else splitter)
        for train, test in splitter.split(X, y):
            expected = clone(model).fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])
            np.testing.assert_allclose(np.exp(found["log_proba"][test]), expected, atol=1e-9)


def test_files_keep_it_and_old_files_share(tmp_path: Path) -> None:
    X, y = levels()
    model = BayesClassifier(unseen="ignore").fit(X, y)
    loaded = suffice.load(model.save(tmp_path / "model.suffice"))
    rows = with_unseen(X, "unheard of")
    np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
    state = model.__getstate__()
    del state["unseen"]  # as in files of earlier versions
    suffice.storage.save("BayesClassifier", state, tmp_path / "old.suffice")
    assert suffice.load(tmp_path / "old.suffice").get_params()["unseen"] == "share"


def test_a_wrong_value_is_refused_before_anything_is_learned() -> None:
    X, y = levels()
    with pytest.raises(ValueError, match="unseen"):
        BayesClassifier(unseen="skip").fit(X, y)  # type: ignore[arg-type]


def test_the_command_line_has_the_option(tmp_path: Path) -> None:
    X, y = levels()
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    arguments = [
        "fit",
        tmp_path / "rows.csv",
        "-t",
        "y",
        "-o",
        tmp_path / "model.suffice",
        "--unseen",
        "ignore",
        "--json",
    ]
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["settings"]["unseen"] == "ignore"
    assert suffice.load(tmp_path / "model.suffice").get_params()["unseen"] == "ignore"
