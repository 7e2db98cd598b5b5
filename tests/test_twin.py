"""The twin of naive Bayes: logistic regression on words and counts, as a correction of a pool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.model_selection import StratifiedKFold

import suffice
from suffice import BayesClassifier, Pooled, Text, Twin, cross_validate
from suffice.folds.fit_twin import HeldOutScores, fit_twin
from suffice.schema import Columns, Words
from suffice.structures.twin import labels_of

SMS = Path(__file__).parents[2] / "shared" / "data" / "text" / "sms.tsv"
WORDS = np.array(["sun", "sea", "snow", "rain", "wind", "ice", "fog", "hail", "storm", "cloud"])


def weather(count: int, seed: int = 0, classes: int = 3) -> tuple[pd.DataFrame, Any]:
    """Return texts and a number; some words come with others, so that naive Bayes counts their evidence often."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, count)
    texts = []
    for k in y:
        places = (rng.integers(0, 7, 4) + k) % len(WORDS)
        texts.append(" ".join(WORDS[j] + " and often so" * int(j < 4) for j in rng.permutation(places)))
    labels = np.array(["cold", "mild", "warm"])[y]
    return pd.DataFrame({"note": texts, "degrees": rng.normal(size=count).round(1) + y}), labels


@pytest.fixture(scope="module")
def learned() -> tuple[BayesClassifier, pd.DataFrame, Any]:
    X, y = weather(400)
    return BayesClassifier(structure=Pooled(("naive", "twin"))).fit(X, y), X, y


def twin_of(model: BayesClassifier) -> Twin:
    return next(each for each in model.pool_.components if isinstance(each, Twin))


def test_texts_have_a_twin_by_default_if_it_lowers_the_log_loss() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    one, other = ((rng.random(600) < right) == (y == 1) for right in (0.85, 0.65))
    # four words that come together are counted four times by naive Bayes, though they tell less than the one word
    first, rest = np.where(one, "sun ", "rain "), np.where(other, "on and on again", "up or down there")
    texts = np.char.add(first, rest).tolist()
    X = pd.DataFrame({"note": texts})
    model = BayesClassifier(families={"note": "text"}).fit(X, y)
    assert [each.name for each in model.pool_.components] == ["naive", "twin"]
    assert "twin" in str(model.plan_)
    without = BayesClassifier(structure=Pooled(("naive",)), families={"note": "text"}).fit(X, y)
    assert model.pool_.loss < 0.9 * without.pool_.loss
    assert "twin" not in str(BayesClassifier().fit(*weather(200)).plan_)  # where it does not help, there is none


@pytest.mark.parametrize("classes", [2, 3])
def test_it_minimises_the_penalised_log_loss(classes: int) -> None:
    rng = np.random.default_rng(1)
    x, scores = rng.poisson(0.7, (60, 5)), rng.normal(size=(60, classes))
    codes, weights = rng.integers(0, classes, 60), rng.uniform(0.5, 2, 60)
    columns = (Columns("multinomial", 5, tuple("abcde")),)
    cells = (suffice.blocks.Sparse("test", None, sp.csr_array(x)),)
    rows = HeldOutScores(np.asarray(log_softmax(scores, axis=1)), codes, weights, np.arange(60) % 3)
    found = fit_twin(Twin(penalty=0.8), list(range(classes)), columns, cells, rows)
    assert found is not None
    size = np.sqrt(np.maximum((x**2).mean(axis=0), 1))
    features = np.column_stack([x / size, np.ones(60)])

    def loss(flat: Any, some: Any) -> float:
        # of two classes only the difference is penalised
        free = flat.reshape(-1, 6)
        every = free if classes > 2 else np.concatenate([-free, free]) / 2
        log_p = log_softmax(scores + features @ every.T, axis=1)
        return float(-weights[some] @ log_p[np.arange(60), codes][some] + 0.4 * (free**2).sum())

    def solve(some: Any) -> Any:
        start = np.zeros((1 if classes == 2 else classes) * 6)
        solved = minimize(loss, start, (some,), tol=1e-10).x.reshape(-1, 6)
        return solved if classes > 2 else np.concatenate([-solved, solved]) / 2

    twin, predicted = found
    everything = solve(np.arange(60))
    np.testing.assert_allclose(twin.changes[0], everything[:, :5] / size, atol=2e-4)
    np.testing.assert_allclose(twin.biases, everything[:, 5], atol=2e-4)
    fold = np.arange(60) % 3 == 1
    without = solve(np.flatnonzero(~fold))
    np.testing.assert_allclose(predicted[fold], log_softmax(features[fold] @ without.T, axis=1), atol=1e-3)


def test_a_word_of_one_row_has_no_change() -> None:
    X, y = weather(200)
    X.loc[7, "note"] += " unique"
    twin = twin_of(BayesClassifier(structure=Pooled(("naive", "twin"))).fit(X, y))
    assert "unique" not in twin.labels[0]
    assert "sun" in twin.labels[0]


def test_a_large_penalty_leaves_naive_bayes() -> None:
    X, y = weather(300)
    held = BayesClassifier(structure=Pooled(("naive", Twin(1e9)))).fit(X, y)
    plain = BayesClassifier(structure=Pooled(("naive",))).fit(X, y)
    np.testing.assert_allclose(held.predict_proba(X), plain.predict_proba(X), atol=2e-3)


def test_it_predicts_better_where_some_evidence_is_repeated() -> None:
    """One bit is in the table eight times, so naive Bayes counts it eight times, and each of eight others once."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    bits = rng.random((2000, 9)) < np.where(y, 0.65, 0.35)[:, None]
    X = sp.csr_matrix(np.column_stack([np.repeat(bits[:, :1], 8, axis=1), bits[:, 1:]]).astype(int))

    def loss(*components: Any) -> float:
        model = BayesClassifier(structure=Pooled(components)).fit(X[:1000], y[:1000])
        return float(-model.predict_log_proba(X[1000:])[np.arange(1000), y[1000:]].mean())

    assert loss("naive", "twin") < 0.95 * loss("naive")


def test_batches_and_merges_equal_the_whole_under_one_plan(learned: Any) -> None:
    whole, X, y = learned
    batches = BayesClassifier(structure=whole.structure, plan=whole.plan_)
    for rows in np.array_split(np.arange(400), 5):
        batches.partial_fit(X.iloc[rows], y[rows])
    halves = [
        BayesClassifier(structure=whole.structure, plan=whole.plan_).fit(X.iloc[rows], y[rows])
        for rows in np.array_split(np.arange(400), 2)
    ]
    for other in (batches, halves[0] + halves[1]):
        assert other.plan_ == whole.plan_
        np.testing.assert_allclose(other.predict_proba(X), whole.predict_proba(X), rtol=1e-8)


def test_forgotten_rows_were_never_learned_under_one_plan(learned: Any) -> None:
    whole, X, y = learned
    gone = np.arange(400) % 7 == 0
    left = BayesClassifier(structure=whole.structure, plan=whole.plan_).fit(X, y).forget(X[gone], y[gone])
    never = BayesClassifier(structure=whole.structure, plan=whole.plan_).fit(X[~gone], y[~gone])
    np.testing.assert_allclose(left.predict_proba(X), never.predict_proba(X), rtol=1e-8)
    # the coefficients of naive Bayes follow the counts
    assert np.abs(left.predict_proba(X) - whole.predict_proba(X)).max() > 1e-4


def test_new_words_and_classes_have_no_change(learned: Any) -> None:
    whole, X, y = learned
    grown = BayesClassifier(structure=whole.structure, plan=whole.plan_).fit(X, y)
    grown.partial_fit(pd.DataFrame({"note": ["lava ash lava", "lava ash"], "degrees": [9.0, 9.5]}), ["blaze"] * 2)
    assert grown.classes_.tolist() == ["blaze", "cold", "mild", "warm"]
    assert grown.predict(pd.DataFrame({"note": ["lava ash"], "degrees": [9.0]})).tolist() == ["blaze"]
    assert twin_of(grown) == twin_of(whole)
    (changes,) = grown.estimate_model().members[-1].parameters
    words = labels_of(grown.estimate_model().members[-1].columns[0])
    assert not changes.changes[0].any()
    assert not changes.changes[:, words.index("lava")].any()
    place = twin_of(whole).labels[0].index("sun")
    np.testing.assert_array_equal(changes.changes[1:, words.index("sun")], twin_of(whole).changes[0][:, place])


def test_models_with_different_twins_merge_to_their_mean() -> None:
    tables = [weather(300, seed) for seed in (0, 1)]
    one, other = (BayesClassifier(structure=Pooled(("naive", "twin"))).fit(*table) for table in tables)
    merged, twins = twin_of(one + other), [twin_of(one), twin_of(other)]
    place = [each.labels[0].index("sun") for each in (merged, *twins)]
    mean = np.mean([each.changes[0][:, j] for each, j in zip(twins, place[1:], strict=True)], axis=0)
    np.testing.assert_allclose(merged.changes[0][:, place[0]], mean)
    assert (one + other).predict(tables[0][0]).shape == (300,)


@pytest.mark.parametrize("structure", ["auto", Pooled(("naive", "twin"))])
def test_the_explanation_sums_to_the_log_odds(structure: Any) -> None:
    X, y = weather(200)
    model = BayesClassifier(structure=structure).fit(X, y)
    found = model.explain(X[:20])
    np.testing.assert_allclose(found.prior + found.contributions.sum(axis=-1), found.log_joint, atol=1e-9)
    for row in range(20):
        first, second = np.sort(model.predict_log_proba(X[row : row + 1])[0])[::-1][:2]
        assert sum(nats for _, _, nats in found.log_odds(row)) == pytest.approx(first - second, abs=1e-9)


def test_a_saved_model_predicts_the_same(learned: Any, tmp_path: Path) -> None:
    whole, X, y = learned
    loaded = suffice.load(whole.save(tmp_path / "model.suffice"))
    assert loaded.plan_ == whole.plan_
    np.testing.assert_array_equal(loaded.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(loaded.partial_fit(X, y).classes_, whole.classes_)


def test_a_table_is_predicted_as_an_array(learned: Any) -> None:
    whole, X, y = learned
    model = BayesClassifier(structure=whole.structure).fit_table(X.assign(y=y), "y")
    scored = pd.DataFrame(model.predict_table(X))
    assert scored["prediction"].tolist() == model.predict(X).tolist()


def test_nothing_of_a_fold_is_learned() -> None:
    X, y = weather(240)
    X = X[["note"]]
    model = BayesClassifier(structure=Pooled(("naive", "twin")))
    splits = list(StratifiedKFold(3).split(X, y))
    found = cross_validate(model, X, y, cv=splits, scoring="neg_log_loss")
    losses = []
    for train, test in splits:
        fitted = BayesClassifier(structure=model.structure).fit(X.iloc[train], y[train])
        log_p = fitted.predict_log_proba(X.iloc[test])
        losses.append(-log_p[np.arange(len(test)), np.searchsorted(fitted.classes_, y[test])].mean())
    assert -np.mean(found["test_score"]) == pytest.approx(np.mean(losses), rel=1e-9)


@pytest.mark.parametrize("kind", ["counts", "bits"])
def test_sparse_matrices_have_a_twin(kind: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    base = rng.poisson(0.3 + 0.3 * (np.arange(40) % 3 == y[:, None]))
    x = np.repeat(base if kind == "counts" else base > 0, 2, axis=1).astype(float)
    model = BayesClassifier(structure=Pooled(("naive", "twin"))).fit(sp.csr_matrix(x), y)
    assert [each.name for each in model.pool_.components] == ["naive", "twin"]
    (part,) = (member for member in model.estimate_model().members if "Twin" in type(member.parameters[0]).__name__)
    twin = twin_of(model)
    features = x if kind == "counts" else (x > 0).astype(float)
    expected = twin.biases + features @ twin._changes_of(twin.keys[0], [0, 1, 2], range(80)).T
    np.testing.assert_allclose(part.log_joint(model.read_rows(sp.csr_matrix(x)).blocks[1:]), expected, atol=1e-9)
    left = BayesClassifier(plan=model.plan_).fit(sp.csr_matrix(x), y).forget(sp.csr_matrix(x[:50]), y[:50])
    never = BayesClassifier(plan=model.plan_).fit(sp.csr_matrix(x[50:]), y[50:])
    np.testing.assert_allclose(left.predict_proba(x), never.predict_proba(x), rtol=1e-9)


def test_the_penalty_does_not_depend_on_the_unit_of_large_counts() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    x = rng.poisson(20 + 10 * y[:, None], (300, 4))
    columns = (Columns("multinomial", 4, tuple("abcd")),)
    rows = HeldOutScores(np.full((300, 2), np.log(0.5)), y, np.ones(300), np.arange(300) % 5)
    small, large = (
        fit_twin(Twin(), [0, 1], columns, (suffice.blocks.Sparse("t", None, sp.csr_array(times * x)),), rows)
        for times in (1, 10)
    )
    assert small is not None
    assert large is not None
    np.testing.assert_allclose(small[0].changes[0], 10 * large[0].changes[0], rtol=1e-6)


def test_settings_that_cannot_be_are_named() -> None:
    with pytest.raises(ValueError, match='add one, such as \\("naive", "twin"\\)'):
        Pooled(("twin",))
    with pytest.raises(ValueError, match="penalty is a number of more than 0, not 0"):
        Twin(penalty=0)
    # a table without words or counts has nothing to correct
    X, y = weather(200)
    model = BayesClassifier(structure=Pooled(("naive", "twin"))).fit(X[["degrees"]], y)
    assert [each.name for each in model.pool_.components] == ["naive"]


def test_the_labels_of_a_text_are_its_words() -> None:
    assert labels_of(Columns.coded("text", ("note",), (Words(("ice", "sun")),))) == ("ice", "sun")
    assert labels_of(Columns("poisson", 2, ("a", "b"))) == ("a", "b")


@pytest.mark.skipif(not SMS.exists(), reason="there are no data beside the repository")
def test_messages_are_told_apart() -> None:
    table = pd.read_csv(SMS, sep="\t", header=None, names=["kind", "message"], quoting=3)
    X, y = table[["message"]], table["kind"].to_numpy()
    train, test = next(StratifiedKFold(5, shuffle=True, random_state=1).split(X, y))
    one_word = {"message": Text(ngram_range=(1, 1))}
    found = {}
    for name, components in (("naive", ("naive",)), ("twin", ("naive", "twin"))):
        model = BayesClassifier(families=one_word, structure=Pooled(components)).fit(X.iloc[train], y[train])
        log_p = model.predict_log_proba(X.iloc[test])
        found[name] = -log_p[np.arange(len(test)), np.searchsorted(model.classes_, y[test])].mean()
    assert found["twin"] < 0.8 * found["naive"]
