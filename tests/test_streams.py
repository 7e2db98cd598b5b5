"""Streams: decay, windows, and prequential evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from conftest import Case, assert_same_model, every_case, example
from suffice import BayesClassifier, GaussianNB, Window, batches, prequential


@every_case
def test_decay_is_a_weight(case: Case) -> None:
    X, y = example(case, rows=90)
    model = case.ours()
    for rows, labels in batches(X, y, 30):
        model.partial_fit(rows, labels, decay=0.5)
    weights = np.repeat([0.25, 0.5, 1.0], 30)
    assert_same_model(model, case.ours().fit(X, y, weights), X)


@pytest.mark.parametrize("decay", [-0.1, 1.1, np.nan, "fast", True])
def test_decay_is_a_share(decay: Any) -> None:
    model = GaussianNB().fit([[1.0], [2.0]], [0, 1])
    before = model.tally_
    with pytest.raises(ValueError, match="decay"):
        model.partial_fit([[1.0]], [0], decay=decay)
    assert model.tally_ is before
    model.partial_fit([[5.0]], [0], decay=0)
    assert model.theta_[0, 0] == 5


@every_case
@given(data=st.data())
def test_a_window_knows_its_rows_alone(case: Case, data: st.DataObject) -> None:
    X, y = example(case, rows=60)
    length = data.draw(st.integers(1, 40))
    window, seen = Window(case.ours(), length), 0
    while seen < 60:
        size = data.draw(st.integers(1, 25))
        window.learn(X[seen : seen + size], y[seen : seen + size])
        seen = min(seen + size, 60)
        rows = slice(max(seen - length, 0), seen)
        assert len(window) == rows.stop - rows.start
        again = case.ours().fit(X[rows], y[rows])
        if case.exact:
            assert window.model.tally_ == again.tally_
            assert window.model.tally_.digest() == again.tally_.digest()
        assert_same_model(window.model, again, X)


def test_an_outlier_leaves_no_trace_in_a_window() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), np.arange(300) % 2
    X[20] = 1e12
    window = Window(GaussianNB(), 50)
    for rows, labels in batches(X, y, 1):
        window.learn(rows, labels)
    assert_same_model(window.model, GaussianNB().fit(X[-50:], y[-50:]), X)


def test_a_window_of_frames_and_weights() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=100), "b": rng.choice(["x", "y", "z"], 100)})
    y, weights = np.array(["no", "yes"])[rng.integers(0, 2, 100)], rng.uniform(0.5, 2, 100)
    window = Window(BayesClassifier(families={"a": "gaussian", "b": "categorical"}, structure="naive"), 37)
    for first in range(0, 100, 10):
        rows = slice(first, first + 10)
        window.learn(table[rows], y[rows], weights[rows])
    again = BayesClassifier(families={"a": "gaussian", "b": "categorical"}, structure="naive")
    again.fit(table[63:], y[63:], weights[63:])
    np.testing.assert_allclose(window.model.predict_proba(table), again.predict_proba(table), atol=1e-9)


def test_what_has_no_window() -> None:
    for rows in (0, -3, 2.5, True, "all"):
        with pytest.raises(ValueError, match="window"):
            Window(GaussianNB(), rows)
    with pytest.raises(ValueError, match="learns more than sums"):
        Window(suffice.MixtureClassifier(), 10)


@every_case
def test_each_batch_is_predicted_before_it_is_learned(case: Case) -> None:
    X, y = example(case, rows=100)
    found = prequential(case.ours(), batches(X, y, 20))
    model, right, losses = case.ours(), [], []
    for rows, labels in batches(X, y, 20):
        if hasattr(model, "tally_"):
            right.append(np.mean(model.predict(rows) == labels))
            log_proba = model.predict_log_proba(rows)
            losses.append(-np.maximum(log_proba[np.arange(20), labels], np.log(np.finfo(float).eps)).mean())
        model.partial_fit(rows, labels)
    np.testing.assert_allclose(found.accuracy, right)
    np.testing.assert_allclose(found.log_loss, losses)
    assert found.total["rows"] == 80
    assert found.total["accuracy"] == pytest.approx(np.mean(right))
    assert_same_model(found.model, model, X)


def test_a_class_not_met_yet_is_a_miss() -> None:
    found = prequential(GaussianNB(), [([[0.0], [1.0]], ["a", "a"]), ([[5.0], [0.5]], ["z", "a"])])
    assert found.accuracy.tolist() == [0.5]


def test_forgetting_follows_a_change() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    X = rng.normal(size=(4000, 3)) + np.where(np.arange(4000) < 2000, y, 1 - y)[:, None] * 2
    stays = prequential(GaussianNB(), batches(X, y, 50)).accuracy[-10:].mean()
    fades = prequential(GaussianNB(), batches(X, y, 50), decay=0.9).accuracy[-10:].mean()
    slides = prequential(GaussianNB(), batches(X, y, 50), window=500).accuracy[-10:].mean()
    assert stays < 0.7 < 0.9 < min(fades, slides)


def test_streams_that_are_none() -> None:
    X, y = np.eye(6), np.arange(6) % 2
    model = GaussianNB().fit(X, y)
    before = model.tally_
    with pytest.raises(ValueError, match="longer than the stream, which had 6 rows"):
        prequential(model, batches(X, y, 2), window=100)
    assert model.tally_ is before
    with pytest.raises(ValueError, match="choose one"):
        prequential(GaussianNB(), batches(X, y, 2), window=2, decay=0.5)
    fresh = GaussianNB()
    with pytest.raises(ValueError, match="no batch was left"):
        prequential(fresh, batches(X, y, 6))
    assert not hasattr(fresh, "tally_")
    with pytest.raises(ValueError, match="batch 0 of the stream is a ndarray"):
        prequential(GaussianNB(), [X])
    with pytest.raises(ValueError, match="size"):
        list(batches(X, y, 0))
