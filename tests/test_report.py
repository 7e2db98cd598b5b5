import json
import re
from contextlib import nullcontext
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import t
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.svm import LinearSVC

import suffice
from suffice import (
    BayesClassifier,
    BernoulliNB,
    GaussianDiscriminant,
    GaussianNB,
    LogisticRegression,
    MixtureClassifier,
    report,
)
from suffice.folds.assessment import wilson_interval
from suffice.images import deskew
from suffice.model import Model
from suffice.report.drawing import measure_drawing
from suffice.report.live_model import PACKERS
from suffice.report.page import SCRIPTS, embed_json
from suffice.report.threshold_counts import count_at_thresholds
from suffice.score import Term
from suffice.structures.averaged import Averaged


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def weather():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    table = pd.DataFrame({"wind": np.array(["calm", "storm"])[y ^ (rng.random(200) < 0.2)], "heat": rng.normal(y, 1.0)})
    table["id"] = [f"row {place}" for place in range(200)]
    table.loc[::5, "heat"] = np.nan
    return table, np.array(["go", "stay"])[y]


def test_page_is_one_file_without_external_resources(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = report.write(GaussianNB().fit(X, y), tmp_path / "iris.html", X, y, title="Iris & <co>")
    page = path.read_text(encoding="utf-8")
    assert "<title>Iris &amp; &lt;co&gt;</title>" in page
    assert not re.search(r'(?:src|href)\s*=\s*"(?!#)', page)
    assert "default-src 'none'" in page
    assert "innerHTML" not in page


def test_quality_equals_the_scores_of_the_model():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X[::2], y[::2])
    quality = data_of(report.render(model, X[1::2], y[1::2]))["quality"]
    accuracy = quality["scores"]["accuracy"]
    assert accuracy["value"] == model.score(X[1::2], y[1::2])
    assert (accuracy["low"], accuracy["high"]) == pytest.approx(wilson_interval(accuracy["value"] * 75, 75))
    proba = model.predict_proba(X[1::2])
    assert quality["scores"]["log-loss"]["value"] == pytest.approx(-np.log(proba[np.arange(75), y[1::2]]).mean())
    brier = ((proba - np.eye(3)[y[1::2]]) ** 2).sum(axis=1).mean()
    assert quality["scores"]["Brier score"]["value"] == pytest.approx(brier)
    assert np.sum(quality["confusion"]) == 75
    assert np.trace(quality["confusion"]) == pytest.approx(75 * accuracy["value"])


def test_largest_errors_are_explained_against_the_true_class():
    table, y = weather()
    with pytest.warns(UserWarning, match="columns left out: 'id'"):
        model = BayesClassifier().fit(table, y)
    found = data_of(report.render(model, table, y))["shown"]
    wrong = [found["rows"][place] for place in found["errors"]]
    own = [its["probabilities"][its["truth"]] for its in wrong]
    assert own == sorted(own)
    assert found["wrong"] == (model.predict(table) != y).sum()
    first = wrong[0]
    row = table[first["row"] : first["row"] + 1]
    predicted = model.predict(row)[0]
    assert first["label"] == y[first["row"]] != predicted
    np.testing.assert_allclose(first["probabilities"], model.predict_proba(row)[0], atol=1e-7)
    parts = model.explain(row).log_odds(0, predicted, first["label"])
    expected = sorted((nats for _, _, nats in parts if nats > 0), reverse=True)
    assert [nats for _, _, nats in first["reasons"]] == pytest.approx(expected[:4])


def test_warnings_name_columns_and_classes():
    table, y = weather()
    with pytest.warns(UserWarning, match="columns left out: 'id'"):
        model = BayesClassifier().fit(table, y)
    rows = table.assign(wind=["calm", "breeze"] * 100)
    said = " ".join(data_of(report.render(model, rows, y))["warnings"])
    assert "'id' was left out" in said
    assert "Missing cells: 'heat' in 20.0 %" in said
    assert data_of(report.render(model, rows, y))["quality"]["has_training_counts"]
    assert not data_of(report.render(model, rows[:-1], y[:-1]))["quality"]["has_training_counts"]
    rare = GaussianNB().fit([[0.0], [1.0], [2.0]] * 20 + [[9.0]], ["a"] * 60 + ["b"])
    assert "'b' is rare" in " ".join(data_of(report.render(rare))["warnings"])


def test_embedded_json_cannot_end_its_script():
    text = embed_json({"</script>": "<!-- & \u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"</script>": "<!-- & \u2028\u2029"}


def test_square_images_without_names_get_a_drawing_pad():
    X, y = load_digits(return_X_y=True)
    assert data_of(report.render(BernoulliNB(binarize=8).fit(X, y)))["engine"]["side"] == 8
    named = pd.DataFrame(X, columns=[f"pixel {place}" for place in range(64)])
    assert data_of(report.render(BernoulliNB(binarize=8).fit(named, y)))["engine"]["side"] is None
    assert data_of(report.render(BernoulliNB(binarize=8).fit(X[:, :36], y)))["engine"]["side"] is None  # a table?


def test_many_columns_take_less_than_three_megabytes():
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 784)) * 255, np.arange(300) % 10
    for model in (BernoulliNB(binarize=127), GaussianDiscriminant(covariance="shared", shrinkage=0.5)):
        page = report.render(model.fit(X, y), X, y)
        assert len(page.encode()) < 3_000_000
        assert data_of(page)["engine"]["live"]


def test_long_vocabularies_are_cut_with_a_note(monkeypatch):
    monkeypatch.setattr("suffice.report.live_model.MAX_VOCABULARY_CHARACTERS", 1_000_000)
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2  # half of the words occur in both classes: other texts would have no weight in the pool
    texts = [" ".join(f"word{place}" for place in rng.integers(20_000 * k, 20_000 * k + 40_000, 400)) for k in y]
    page = report.render(
        BayesClassifier(structure="naive", families={"text": "text"}).fit(pd.DataFrame({"text": texts}), y)
    )
    assert len(page) < 3_000_000
    assert "differ most between classes" in " ".join(data_of(page)["engine"]["notes"])


def test_a_logistic_regression_has_a_report():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = LogisticRegression().fit(X, y)
    data = data_of(report.render({"linear": model, "gaussian": GaussianNB().fit(X, y)}, X, y))
    assert "linear in the columns" in data["about"]["structure"]
    assert data["about"]["rows"] == 150
    assert list(data["about"]["families"]) == ["linear"]
    assert data["about"]["parameters"] == 8
    assert data["quality"]["scores"]["accuracy"]["value"] == pytest.approx(model.score(X, y))
    assert len(data["comparison"]) == 2
    features = data["learned"]["features"]
    importance = model.explain(X).importance
    assert features[0]["name"] == next(iter(importance)) == "petal length (cm)"
    assert data["engine"]["live"]
    alone = data_of(report.render(model))
    means = {its["name"]: its["mean"] for its in alone["learned"]["features"]}
    np.testing.assert_allclose(means["sepal width (cm)"], X.groupby(y)["sepal width (cm)"].mean(), rtol=1e-6)


def test_products_of_columns_have_a_report():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(lift="quadratic").fit(X, y)
    data = data_of(report.render(model, X, y))
    assert data["quality"]["scores"]["accuracy"]["value"] == pytest.approx(model.score(X, y))
    assert data["engine"]["live"]


def test_errors_of_models_and_rows_without_a_report():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="LinearSVC is none"):
        report.render(LinearSVC().fit(X, y))
    with pytest.raises(ValueError, match="pass X as well"):
        report.render(GaussianNB().fit(X, y), y=y)
    with pytest.raises(ValueError, match="150 rows, and y has 2"):
        report.render(GaussianNB().fit(X, y), X, [0, 1])


def test_page_names_the_target():
    table = pd.DataFrame({"heat": [1.0, None, 2.0, 5.0] * 400, "sky": ["a", "b"] * 800, "goes": ["out", "in"] * 800})
    table.loc[:9, "goes"] = "nowhere"
    page = report.render(BayesClassifier().fit_table(table, "goes"), table[["heat", "sky"]], table["goes"])
    assert "<title>goes (BayesClassifier)</title>" in page
    said = data_of(page)
    assert said["about"]["target"] == "goes"
    assert "Missing cells: 'heat' in 25.0 % of the rows." in said["warnings"]
    assert any("10 rows, 0.6 % of all" in each for each in said["warnings"])
    assert data_of(report.render(GaussianNB().fit(*load_iris(return_X_y=True))))["about"]["target"] is None


def test_missing_folder_is_an_error_before_the_report_is_made(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        report.write(object(), tmp_path / "no" / "page.html")


def test_errors_of_mixtures_are_explained():
    X, y = load_iris(return_X_y=True)
    shown = data_of(report.render(MixtureClassifier().fit(X, y), X, np.roll(y, 1)))["shown"]
    assert all(nats > 0 for _, _, nats in shown["rows"][shown["errors"][0]]["reasons"])


def test_every_term_has_a_packer_and_an_evaluator():
    terms = {
        its
        for its in map(suffice.score.__getattr__, suffice.score.__all__)
        if isinstance(its, type) and issubclass(its, Term)
    } - {Term}
    assert set(PACKERS) == terms
    script = "".join(files("suffice.report").joinpath(name).read_text() for name in SCRIPTS)
    evaluated = set(re.findall(r"^(?:TERMS\.|  )([A-Z]\w+)(?: = |: )(?:columnwise\(|\{)", script, re.M))
    written_as_linear = {"CompleteLinear", "LowRank"}
    assert evaluated == {its.__name__ for its in PACKERS} - written_as_linear


@pytest.mark.filterwarnings("ignore:columns left out")
def test_page_says_what_a_pool_is():
    table, y = weather()
    model = BayesClassifier(structure="pooled").fit(table, y)
    found, pool = data_of(report.render(model, table, y)), model.pool_
    lines = found["about"]["components"]
    assert [line["name"] for line in lines] == ["averaged", "full", "trees"]
    assert [line["weight"] for line in lines] == pool.weights.tolist()
    assert [line["log_loss"] for line in lines] + [found["about"]["pool_log_loss"]] == list(pool.log_loss.values())
    leaves = sum(tree.size for tree in model.plan_.blocks[-1].codings)
    assert lines[-1]["model"] == f"mean of 200 decision trees with {leaves:,} leaves"
    assert found["about"]["families"] == {"bernoulli": "wind", "mdl (averaged), gaussian (full)": "heat"}
    assert {its["name"] for its in found["learned"]["features"]} == {"wind", "heat"}
    assert all(its["importance"] > 0 for its in found["learned"]["features"])
    assert len(found["warnings"]) == len(set(found["warnings"]))
    assert not any("calibrate=" in said for said in found["warnings"])
    assert f"pool of {pool}" in repr(model)
    assert f"200 with {leaves:,} leaves" in repr(model)
    assert f"pool {pool.log_loss['pool']:.3f}" in repr(model)
    assert data_of(report.render(GaussianNB().fit(*load_iris(return_X_y=True))))["about"]["components"] == []


def test_a_pool_that_is_too_large_for_the_page_says_so(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = BayesClassifier().fit(X, (X > 0).all(axis=1))  # only trees know it
    assert data_of(report.render(model))["engine"]["live"]
    limits = {"packed_arrays.MAX_CHARACTERS": "the limit is 0.0 MB", "live_trees.MAX_SHARES": "100 trees have"}
    for name, said in limits.items():
        with monkeypatch.context() as patch:
            patch.setattr(f"suffice.report.{name}", 1000)
            found = data_of(report.render(model, X, X[:, 0] > 0))["engine"]
        assert not found["live"]
        assert said in found["notes"][0]
        assert "naive" in found["notes"][0]


def test_rows_are_scored_once(monkeypatch):
    X, y = load_iris(return_X_y=True)
    model, scored, log_posterior = GaussianNB(calibrate="temperature").fit(X, y), [], Model.log_posterior

    def count_rows(self, blocks):
        scored.append(blocks[0].shape[0])
        return log_posterior(self, blocks)

    monkeypatch.setattr(Model, "log_posterior", count_rows)
    report.render(model, X, y)
    assert scored == [150]


def test_empty_columns_have_a_report():
    table, y = pd.DataFrame({"x": [np.nan] * 20, "z": np.arange(20.0)}), [0, 1] * 10
    found = data_of(report.render(BayesClassifier(families={"x": "gaussian"}).fit(table, y), table, y))
    assert "Missing cells: 'x' in 100.0 % of the rows." in found["warnings"]
    assert found["engine"]["live"]


def test_counts_at_thresholds_equal_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 500)
    proba = rng.dirichlet([1, 1, 1], 500).round(2) + np.eye(3)[truth]
    proba = (proba / proba.sum(axis=1, keepdims=True)).round(3)  # with ties
    for k, its in enumerate(count_at_thresholds(proba, truth)):
        assert its["auc"] == pytest.approx(roc_auc_score(truth == k, proba[:, k]))
        assert its["average_precision"] == pytest.approx(average_precision_score(truth == k, proba[:, k]))
        for place in (0, 30, 50, 100):
            is_predicted = proba[:, k] >= place / 100
            assert its["grid_true"][place] == (is_predicted & (truth == k)).sum()
            assert its["grid_false"][place] == (is_predicted & (truth != k)).sum()
        assert (its["true"][-1], its["false"][-1]) == (its["positives"], its["negatives"])
    (alone,) = count_at_thresholds(np.ones((5, 1)), np.zeros(5, int))
    assert alone["auc"] is None


@pytest.mark.filterwarnings("ignore:columns left out")
def test_subgroups_equal_groups_of_a_frame():
    table, y = weather()
    model = BayesClassifier(structure="naive").fit(table, y)
    found = data_of(report.render(model, table, y))["subgroups"]["groups"]
    by_hand = table.assign(right=model.predict(table) == y).groupby("wind")["right"].agg(["mean", "size"])
    alone = {its["values"][0]: its for its in found if its["columns"] == ["wind"]}
    assert alone
    for level, its in alone.items():
        assert (its["accuracy"], its["rows"]) == (by_hand["mean"][level], by_hand["size"][level])
        assert (its["low"], its["high"]) == wilson_interval(its["accuracy"] * its["rows"], its["rows"])
    assert any(len(its["columns"]) == 2 for its in found)
    assert [its["high"] for its in found] == sorted(its["high"] for its in found)
    missing = [its for its in found if its["columns"] == ["heat"] and its["values"] == ["(missing)"]]
    assert [its["rows"] for its in missing] == [40]


@pytest.mark.filterwarnings("ignore:columns left out")
def test_drift_names_the_columns_that_moved():
    table, y = weather()
    model = BayesClassifier().fit(table, y)
    same = {its["name"]: its for its in data_of(report.render(model, table[::2], y[::2]))["drift"]}
    assert set(same) == {"wind", "heat"}
    assert not any(its["is_significant"] for its in same.values())
    moved = table.assign(heat=table["heat"] + 3, wind=["breeze", *table["wind"][1:]])
    found = {its["name"]: its for its in data_of(report.render(model, moved))["drift"]}
    assert found["heat"]["is_significant"]
    assert not found["wind"]["is_significant"]
    assert found["wind"]["unknown"] == 1
    p, q = (np.array(found["heat"][side]) for side in ("before", "after"))
    assert found["heat"]["distance"] == pytest.approx(jensenshannon(p, q, base=2), abs=1e-4)
    assert data_of(report.render(model, table, y))["drift"][0]["distance"] == pytest.approx(0, abs=1e-6)


def test_models_are_compared_on_the_same_rows():
    X, y = load_iris(return_X_y=True)
    models = {"naive": GaussianNB().fit(X[::2], y[::2]), "full": GaussianDiscriminant().fit(X[::2], y[::2])}
    found = data_of(report.render(models, X[1::2], y[1::2]))
    assert found["about"]["kind"] == "GaussianNB"
    assert [its["name"] for its in found["comparison"]] == ["naive", "full"]
    for its in found["comparison"]:
        assert its["scores"]["accuracy"]["value"] == models[its["name"]].score(X[1::2], y[1::2])
    losses = [-model.predict_log_proba(X[1::2])[np.arange(75), y[1::2]] for model in models.values()]
    worse, best = sorted(losses, key=np.mean, reverse=True)
    naive, full = (its["scores"]["log-loss"] for its in found["comparison"])
    assert full["verdict"] == "best"
    assert naive["difference"] == pytest.approx((worse - best).mean())
    error = (worse - best).std() / np.sqrt(75)
    assert naive["half_width"] == pytest.approx(t.ppf(0.975, 74) * error)
    assert naive["verdict"] == ("worse" if naive["difference"] > naive["half_width"] else "undecided")
    constant = BernoulliNB(binarize=1e9).fit(X[::2], y[::2])
    far = data_of(report.render({**models, "constant": constant}, X[1::2], y[1::2]))["comparison"][2]["scores"]
    assert far["accuracy"]["verdict"] == far["log-loss"]["verdict"] == "worse"
    with pytest.raises(ValueError, match="pass X and y"):
        report.render(models)
    with pytest.raises(ValueError, match="there is no model"):
        report.render({})


def test_drawings_are_measured_as_images_are():
    X, _ = load_digits(return_X_y=True)
    plain, straight = measure_drawing(X), measure_drawing(deskew(X))
    assert (plain["height"], plain["is_centred"], plain["is_straight"]) == (8, False, False)
    assert (straight["is_centred"], straight["is_straight"]) == (True, True)
    assert plain["ink"] == pytest.approx(X.sum(axis=1).mean() / 16, rel=0.01)
    assert measure_drawing(np.zeros((3, 64)))["height"] > 0


def test_numbers_without_intervals_are_counted_in_the_labelled_rows():
    X, y = load_iris(return_X_y=True)
    page = data_of(report.render(GaussianNB().fit(X[::2], y[::2]), X[1::2], y[1::2]))
    its = next(its for its in page["learned"]["features"] if its["place"] == 2)
    codes = np.searchsorted(its["edges"], X[1::2, 2], side="right")
    expected = [[int(((codes == j) & (y[1::2] == k)).sum()) for j in range(len(its["labels"]))] for k in range(3)]
    assert its["of_new_rows"]
    assert its["counts"] == expected
    alone = data_of(report.render(GaussianNB().fit(X, y)))["learned"]["features"]
    assert {its["kind"] for its in alone} == {"numbers"}


def test_important_words_of_a_wide_text_are_listed():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    words = [f"word{place}" for place in range(5000)]
    texts = [" ".join([*rng.choice(words, 20), "prize" if spam else "lunch"]) for spam in y]
    table = pd.DataFrame({"message": texts})
    model = BayesClassifier(structure="naive").fit(table, y)
    (feature,) = data_of(report.render(model, table, y))["learned"]["features"]
    assert {word for word, _ in feature["weights"][:2]} == {"prize", "lunch"}
    found = model.explain(table.iloc[[int(place) for place in np.linspace(0, 299, 200)]]).importance
    assert [weight for _, weight in feature["weights"]] == pytest.approx(list(found.values())[:100])
    assert feature["importance"] == pytest.approx(
        sum(weight for name, weight in found.items() if name.startswith("message: "))
    )


def test_a_page_has_pair_counts_instead_of_tables():
    X, y = load_digits(return_X_y=True)
    table = pd.DataFrame(X).rename(columns=str)
    for structure, has_counts in (("averaged", True), (Averaged(backoff=5.0), False)):
        columns = table.columns if has_counts else table.columns[20:24]
        with pytest.warns(UserWarning, match="constant") if has_counts else nullcontext():
            model = BayesClassifier(structure=structure).fit(table[columns][:1000], y[:1000])
        page = report.render(model)
        engine = data_of(page)["engine"]
        (term,) = [term for block in engine["members"][0]["blocks"] for term in block["terms"]]
        assert engine["live"]
        assert ("pairs" in term, "given" in term) == (has_counts, not has_counts)
        assert len(page) < 2_000_000  # the tables alone would have more than ten million
