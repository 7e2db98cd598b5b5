"""Other libraries take the classifiers as they take scikit-learn's: mlflow, skops, shap, eli5, yellowbrick.

They need an environment of their own: ``make integrations``.
"""

from __future__ import annotations

import doctest
import pickle
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.naive_bayes
from sklearn.datasets import load_iris

import suffice
from cases import every_family, every_structure, family_model, family_table
from conftest import Case, every_case, example, in_ci
from suffice import BayesClassifier, GaussianNB, LogisticRegression, MixtureClassifier

pytestmark = [
    pytest.mark.integrations,
    # the libraries use what scikit-learn and matplotlib have deprecated; warnings from this package stay errors
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.filterwarnings("error:::suffice"),
]

IRIS = load_iris(as_frame=True)
X, y = IRIS.data, IRIS.target_names[IRIS.target]
every_kind = pytest.mark.parametrize("kind", [GaussianNB, BayesClassifier, LogisticRegression])
# a class of this package and the class of scikit-learn that it is compared with
every_pair = pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (GaussianNB, sklearn.naive_bayes.GaussianNB),
        (BayesClassifier, sklearn.naive_bayes.GaussianNB),
        (LogisticRegression, sklearn.linear_model.LogisticRegression),
    ],
)


def library(name: str) -> Any:
    """Import a module; skip where it is not installed, but not in CI."""
    return import_module(name) if in_ci() else pytest.importorskip(name, reason=f"{name}: run `make integrations`")


@pytest.fixture
def mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    module = library("mlflow")
    library("mlflow.sklearn")
    monkeypatch.chdir(tmp_path)
    module.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    yield module
    module.sklearn.autolog(disable=True)


def assert_skops_restores(model: Any, rows: Any) -> None:
    skops = library("skops.io")
    written = skops.dumps(model)
    assert set(skops.get_untrusted_types(data=written)) <= set(suffice.trusted_types())
    again = skops.loads(written, trusted=suffice.trusted_types())
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))


@every_case
def test_skops_and_pickle_restore_every_classifier(case: Case) -> None:
    rows, labels = example(case)
    model = case.ours().fit(rows, labels)
    expected = model.predict_proba(rows)  # fills the caches, which must not be written
    assert_skops_restores(model, rows)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(rows), expected)


@every_family
def test_skops_restores_every_family(family: str) -> None:
    table, labels = family_table(family, missing=0.1)
    assert_skops_restores(family_model(family).fit(table, labels), table)


@every_structure
def test_skops_restores_every_structure(structure: Any) -> None:
    assert_skops_restores(BayesClassifier(structure=structure).fit(X, y), X)


@pytest.mark.parametrize(
    "model",
    [
        BayesClassifier(structure=suffice.Pooled(["naive", suffice.Trees()]), calibrate="isotonic"),
        BayesClassifier(calibrate="vector"),
        GaussianNB(prior=suffice.NormalInverseGamma(0, 1, 2, 1), estimate="predictive", calibrate="temperature"),
        GaussianNB(plan=GaussianNB().fit(X, y).plan_),
        LogisticRegression(),
        MixtureClassifier(),
        suffice.GaussianDiscriminant(covariance="shared", solver="svd"),
    ],
    ids=str,
)
def test_skops_restores_settings_that_are_objects(model: Any) -> None:
    model.fit(X, y)
    model.predict(X)
    assert_skops_restores(model, X)


def test_skops_loads_nothing_that_is_not_trusted() -> None:
    skops = library("skops.io")
    with pytest.raises(library("skops.io.exceptions").UntrustedTypesFoundException):
        skops.loads(skops.dumps(GaussianNB().fit(X, y)))


@every_kind
def test_mlflow_saves_and_loads_in_its_default_format(kind: Any, mlflow: Any, tmp_path: Path) -> None:
    model = kind().fit(X, y)
    path = str(tmp_path / "model")
    # with requirements, because mlflow would start a process to find them
    mlflow.sklearn.save_model(
        model, path, skops_trusted_types=suffice.trusted_types(), pip_requirements=["suffice"], input_example=X[:2]
    )
    assert (tmp_path / "model" / "model.skops").exists()
    again = mlflow.sklearn.load_model(path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(mlflow.pyfunc.load_model(path).predict(X), model.predict(X))


@every_kind
def test_mlflow_autolog_records_parameters_metrics_and_the_model(kind: Any, mlflow: Any) -> None:
    suffice.mlflow_autolog(log_datasets=False, log_model_signatures=False)
    model = kind().fit(X, y)
    run = mlflow.last_active_run()
    rows = X[::2]  # mlflow names the metric after the local variable
    score = model.score(rows, y[::2])
    assert mlflow.get_run(run.info.run_id).data.metrics[f"{kind.__name__}_score_rows"] == score
    assert run.data.params == {name: str(value) for name, value in kind().get_params().items()}
    assert run.data.metrics["training_accuracy_score"] == model.score(X, y)
    assert run.data.metrics["training_log_loss"] > 0
    again = mlflow.sklearn.load_model(f"models:/{run.outputs.model_outputs[0].model_id}")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_mlflow_autolog_can_be_switched_off_and_leaves_scikit_learn_as_it_was(mlflow: Any) -> None:
    before = sklearn.utils.all_estimators
    suffice.mlflow_autolog(log_models=False)
    assert sklearn.utils.all_estimators is before
    mlflow.sklearn.autolog(disable=True)
    GaussianNB().fit(X, y)
    assert mlflow.search_runs().empty


def test_shap_values_of_naive_bayes_are_its_explanation() -> None:
    # log p(x, class) is a sum over the columns, so the Shapley value of a column is its term less the mean term
    shap = library("shap")
    model = GaussianNB().fit(X, y)
    background = shap.maskers.Independent(X, max_samples=len(X))  # by default 100 rows of them
    values = shap.ExactExplainer(model.predict_joint_log_proba, background)(X[::30]).values
    terms = model.explain(X).contributions.transpose(0, 2, 1)
    np.testing.assert_allclose(values, (terms - terms.mean(axis=0))[::30], atol=1e-9)


@pytest.mark.parametrize("kind", [GaussianNB, BayesClassifier])
@pytest.mark.parametrize("explainer", ["KernelExplainer", "PermutationExplainer", "ExactExplainer"])
def test_shap_explains_probabilities_of_a_frame(explainer: str, kind: Any) -> None:
    shap = library("shap")
    model = kind().fit(X, y)
    explanation = getattr(shap, explainer)(model.predict_proba, X[::10])(X[::40])
    assert explanation.feature_names == list(X.columns)
    np.testing.assert_allclose(
        explanation.base_values + explanation.values.sum(axis=1), model.predict_proba(X[::40]), atol=1e-9
    )


def test_shap_explains_logistic_regression_as_a_linear_model() -> None:
    shap = library("shap")
    model = LogisticRegression().fit(X, y)
    explainer = shap.Explainer(model, X)
    assert isinstance(explainer, shap.LinearExplainer)
    explanation = explainer(X[::40])
    scores = explanation.base_values + explanation.values.sum(axis=1)
    np.testing.assert_allclose(scores, model.decision_function(X[::40]), atol=1e-9)


@every_pair
def test_eli5_permutes_columns_as_for_scikit_learn(ours: Any, theirs: Any) -> None:
    eli5, importance = library("eli5"), library("eli5.sklearn").PermutationImportance
    found = [importance(kind().fit(X, y), random_state=0).fit(X, y) for kind in (ours, theirs)]
    if ours is GaussianNB:
        np.testing.assert_allclose(found[0].feature_importances_, found[1].feature_importances_)
    weights = [eli5.explain_weights(each).feature_importances.importances for each in found]
    assert {each.feature for each in weights[0][:2]} == {each.feature for each in weights[1][:2]}


def test_eli5_explains_logistic_regression_once_it_is_registered() -> None:
    eli5, tools = library("eli5"), library("eli5.sklearn")
    eli5.explain_weights.register(LogisticRegression)(tools.explain_linear_classifier_weights)
    eli5.explain_prediction.register(LogisticRegression)(tools.explain_prediction_linear_classifier)
    model = LogisticRegression().fit(X, y)
    names = ["<BIAS>", *X.columns]
    for number, target in enumerate(eli5.explain_weights(model, feature_names=list(X.columns)).targets):
        weights = {each.feature: each.weight for each in (*target.feature_weights.pos, *target.feature_weights.neg)}
        expected = [model.intercept_[number], *model.coef_[number]]
        np.testing.assert_allclose([weights[name] for name in names], expected)
    for number, target in enumerate(eli5.explain_prediction(model, X.iloc[60]).targets):
        assert target.proba == pytest.approx(model.predict_proba(X.iloc[60:61])[0, number])


FORCED = {"force_model": True}  # without it, yellowbrick 1.5 takes no classifier of scikit-learn 1.9 for one
CLASSIFIER_PLOTS = ["ClassificationReport", "ConfusionMatrix", "ROCAUC", "PrecisionRecallCurve", "ClassPredictionError"]
SELECTION_PLOTS = ["LearningCurve", "CVScores", "FeatureImportances", "DroppingCurve"]


@pytest.fixture
def yellowbrick(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    pyplot = library("matplotlib.pyplot")
    library("yellowbrick.classifier")
    library("yellowbrick.model_selection")
    yield import_module("yellowbrick")
    pyplot.close("all")


def outcome(draw: Any) -> Any:
    """Return what a visualizer returns, or its error without the name of the class."""
    try:
        return draw()
    except Exception as error:
        return type(error).__name__


@every_pair
@pytest.mark.parametrize("options", [{}, FORCED], ids=["plain", "forced"])
@pytest.mark.parametrize("name", CLASSIFIER_PLOTS)
def test_yellowbrick_draws_what_it_draws_for_scikit_learn(
    name: str, options: dict[str, bool], ours: Any, theirs: Any, yellowbrick: Any
) -> None:
    def draw(kind: Any) -> float:
        visualizer = getattr(yellowbrick.classifier, name)(kind(), **options)
        visualizer.fit(X[::2], y[::2])
        score = visualizer.score(X[1::2], y[1::2])
        visualizer.finalize()
        return float(score)

    assert outcome(lambda: draw(ours)) == pytest.approx(outcome(lambda: draw(theirs)), abs=0.05)


@every_pair
@pytest.mark.parametrize("name", SELECTION_PLOTS)
def test_yellowbrick_selects_as_for_scikit_learn(name: str, ours: Any, theirs: Any, yellowbrick: Any) -> None:
    def draw(kind: Any) -> None:
        getattr(yellowbrick.model_selection, name)(kind()).fit(X, y).finalize()

    assert outcome(lambda: draw(ours)) == outcome(lambda: draw(theirs))


def test_the_page_runs(mlflow: Any) -> None:
    for name in ("skops", "shap", "eli5", "yellowbrick"):
        library(name)
    page = Path(__file__).resolve().parents[1] / "docs" / "guides" / "integrations.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried >= 9
    assert failed == 0
