import json
import re
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris

import suffice
from conftest import expect_warning
from suffice import (
    BayesClassifier,
    BernoulliNB,
    GaussianDiscriminant,
    GaussianNB,
    Joint,
    LogisticRegression,
    MixtureClassifier,
    report,
)
from suffice.folds.assessment import wilson_interval
from suffice.model import Model
from suffice.report.live_model import PACKERS, REFUSALS
from suffice.report.page import SCRIPTS, embed_json
from suffice.score import Term


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


def test_largest_errors_come_with_explanations():
    table, y = weather()
    with pytest.warns(UserWarning, match="columns left out: 'id'"):
        model = BayesClassifier().fit(table, y)
    wrong = data_of(report.render(model, table, y))["wrong"]
    assert [its["label_probability"] for its in wrong] == sorted(its["label_probability"] for its in wrong)
    first = wrong[0]
    row = table[first["row"] : first["row"] + 1]
    assert first["label"] == y[first["row"]] != first["predicted"] == model.predict(row)[0]
    assert first["sentence"] == model.explain(row).sentence()


def test_warnings_name_columns_and_classes():
    table, y = weather()
    with pytest.warns(UserWarning, match="columns left out: 'id'"):
        model = BayesClassifier().fit(table, y)
    rows = table.assign(wind=["calm", "breeze"] * 100)
    said = " ".join(data_of(report.render(model, rows, y))["warnings"])
    assert "'id' was left out" in said
    assert "'heat' is empty in 20.0 %" in said
    assert "optimistic" in said
    assert "held out" not in " ".join(data_of(report.render(model))["warnings"])
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


@pytest.mark.parametrize("model", [MixtureClassifier(), BayesClassifier(structure=Joint()), BayesClassifier()])
def test_models_without_a_live_panel_have_a_report(model):
    X, y = load_digits(return_X_y=True)
    X = (X[:, 18:24] > 7) * 1.0 if isinstance(model, BayesClassifier) and isinstance(model.structure, Joint) else X
    with expect_warning("columns left out: 0" if isinstance(model, BayesClassifier) and X.shape[1] == 64 else None):
        model.fit(X, y)
    page = report.render(model, X, y)
    found = data_of(page)
    assert not found["engine"]["live"]
    assert "cannot be computed in this page" in " ".join(found["engine"]["notes"])
    assert len(page) < 3_000_000


def test_many_columns_take_less_than_three_megabytes():
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 784)) * 255, np.arange(300) % 10
    for model in (BernoulliNB(binarize=127), GaussianDiscriminant(covariance="shared", shrinkage=0.5)):
        page = report.render(model.fit(X, y), X, y)
        assert len(page.encode()) < 3_000_000
        assert data_of(page)["engine"]["live"]


def test_long_vocabularies_are_cut_with_a_note():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2  # half of the words occur in both classes: other texts would have no weight in the pool
    texts = [" ".join(f"word{place}" for place in rng.integers(20_000 * k, 20_000 * k + 40_000, 400)) for k in y]
    page = report.render(
        BayesClassifier(structure="naive", families={"text": "text"}).fit(pd.DataFrame({"text": texts}), y)
    )
    assert len(page) < 3_000_000
    assert "differ most between classes" in " ".join(data_of(page)["engine"]["notes"])


def test_errors_of_models_and_rows_without_a_report():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="LogisticRegression is none"):
        report.render(LogisticRegression().fit(X, y))
    with pytest.raises(ValueError, match="pass X as well"):
        report.render(GaussianNB().fit(X, y), y=y)
    with pytest.raises(ValueError, match="150 rows, and y has 2"):
        report.render(GaussianNB().fit(X, y), X, [0, 1])


def test_page_names_the_target():
    table = pd.DataFrame({"heat": [1.0, None, 2.0, 5.0] * 400, "sky": ["a", "b"] * 800, "goes": ["out", "in"] * 800})
    table.loc[:9, "goes"] = "nowhere"
    page = report.render(BayesClassifier().fit_table(table, "goes"), table[["heat", "sky"]], table["goes"])
    assert "<title>goes, predicted by BayesClassifier: a report</title>" in page
    said = data_of(page)
    assert said["about"]["target"] == "goes"
    assert "'heat' is empty in 25.0 % of the rows." in said["warnings"]
    assert any("10 rows, 0.6 % of all" in each for each in said["warnings"])
    assert data_of(report.render(GaussianNB().fit(*load_iris(return_X_y=True))))["about"]["target"] is None


def test_missing_folder_is_an_error_before_the_report_is_made(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        report.write(object(), tmp_path / "no" / "page.html")


def test_errors_of_mixtures_are_explained():
    X, y = load_iris(return_X_y=True)
    said = data_of(report.render(MixtureClassifier().fit(X, y), X, np.roll(y, 1)))
    assert "Main reasons: " in said["wrong"][0]["sentence"]


def test_every_term_has_a_packer_and_an_evaluator():
    terms = {its for its in vars(suffice.score).values() if isinstance(its, type) and issubclass(its, Term)} - {Term}
    assert {*PACKERS, *REFUSALS} == terms
    script = "".join(files("suffice.report").joinpath(name).read_text() for name in SCRIPTS)
    evaluated = set(re.findall(r"^(?:TERMS\.|  )([A-Z]\w+)(?: = |: )(?:columnwise\(|\{)", script, re.M))
    assert {its.__name__ for its in REFUSALS} == {"JointLookUp", "LogSumExp"}
    written_as_linear = {"LowRank"}
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
    assert "'x' is empty in 100.0 % of the rows." in found["warnings"]
    assert found["engine"]["live"]
