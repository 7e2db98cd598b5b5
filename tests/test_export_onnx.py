"""ONNX gives the probabilities of the model on ONNX Runtime, for every structure, family, kind of cell and name."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
import skl2onnx
from scipy.special import gammaln
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from typer.testing import CliRunner

from cases import every_family_and_rule, every_rule, every_structure, family_model, family_table
from half_normal import HalfNormal
from odd_texts import TEXT_MODELS, UNCLEAR_SIGMA, text_table
from suffice import (
    BayesClassifier,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    LogisticRegression,
    MixtureClassifier,
    MultinomialNB,
    PoissonNB,
    Pooled,
    Trees,
    load,
    register_skl2onnx,
    score,
)
from suffice.cli import output as cli_output
from suffice.cli.app import app
from suffice.decision.calibration import MAPS
from suffice.export import ExportError, LargeExportWarning, export_size, onnx_covariance, onnx_graph, onnx_joint
from suffice.export.onnx_columnwise import log_rising as write_log_rising
from suffice.export.onnx_graph import Graph
from suffice.export.onnx_model import TRANSLATORS
from suffice.families import FAMILIES
from suffice.score import Term, log_rising

ROWS = 1000
FloatType = Literal["float32", "float64"]
CLOSE = {"float32": 1e-5, "float64": 1e-9}
pytestmark = pytest.mark.filterwarnings("ignore:.*have a combination of levels that was not in the training data")
every_dtype = pytest.mark.parametrize("dtype", CLOSE)


def start(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def read_column(column: pd.Series, kind: str) -> Any:
    """Return a column as the tensor of an input; a missing cell is NaN or the empty string."""
    if kind == "tensor(string)":
        return column.astype(object).where(column.notna(), "").to_numpy(object)[:, None]
    kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(bool)": bool}
    return column.to_numpy(kinds[kind])[:, None]


def run(model: Any, rows: Any, dtype: FloatType, types: Any = None) -> tuple[Any, Any]:
    """Return labels and probabilities of a model's ONNX; ``rows`` are a frame or an array."""
    session = start(model.to_onnx(dtype, types=types))
    if isinstance(rows, pd.DataFrame):
        feed = {each.name: read_column(rows[each.name], each.type) for each in session.get_inputs()}
    else:
        feed = {"X": np.asarray(rows, dtype)}
    labels, proba = session.run(None, feed)
    assert proba.dtype == dtype
    return labels, proba


def assert_same(model: Any, rows: Any, dtype: FloatType, types: Any = None) -> None:
    """Assert that ONNX gives the labels and probabilities of the model."""
    rounded = rounded_rows(rows, dtype)
    labels, proba = run(model, rows, dtype, types)
    expected = model.predict_proba(rounded)
    np.testing.assert_allclose(proba, expected, rtol=0, atol=CLOSE[dtype])
    wrong = np.flatnonzero(labels != model.predict(rounded))
    # rounding decides between classes that are equally probable
    assert all(np.ptp(np.sort(expected[row])[-2:]) < 1e-9 for row in wrong)


def rounded_rows(rows: Any, dtype: FloatType) -> Any:
    """Return rows with the numbers that an input of this type can hold."""
    if not isinstance(rows, pd.DataFrame):
        return np.asarray(rows, dtype)
    return rows.assign(
        **{name: rows[name].astype(dtype) for name in rows if rows[name].dtype.kind == "f"}  # type: ignore[arg-type]
    )


def mixed(rows: int, seed: int, new: bool = False) -> tuple[pd.DataFrame, Any]:
    """Return levels of all kinds and numbers with missing cells, and labels; with ``new`` also unseen levels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    towns = np.array(["Rome", "O'slo", "K\\yiv", *(["Ur", "Bonn"] if new else [])])
    table = pd.DataFrame(
        {
            "town": towns[(y + rng.integers(0, len(towns), rows) * (rng.random(rows) < 0.5)) % len(towns)],
            "left": rng.choice(["l", "r"], rows),
            "kids": rng.poisson(1 + y) + (5 if new else 0) * (rng.random(rows) < 0.1),
            "size": np.array([0.5, 1.25, 2.0, 9.5])[rng.integers(0, 3 + new, rows)],
            "flag": rng.random(rows) < 0.2 + 0.3 * y,
            "age": rng.normal(30 + 8 * y, 10),
            "wage": rng.normal(1e6 + y, 1.0),
            "tall": rng.normal(170 + 4 * y, 9),
        }
    )
    for name in ("town", "left"):
        table[name] = table[name].astype(object).where(rng.random(rows) > 0.1, None)
    for name in ("size", "age", "wage", "tall"):
        table[name] = table[name].where(rng.random(rows) > 0.1)
    table.loc[0, ["town", "left", "size", "age", "wage", "tall"]] = None
    return table, np.array(["no", "it's", "yes"])[y]


LEVELS = {"kids": "categorical", "size": "categorical", "flag": "categorical"}
GAUSSIAN = {"age": "gaussian", "wage": "gaussian", "tall": "gaussian"}


@cache
def fitted(structure: Any, **settings: Any) -> BayesClassifier:
    """Return a model of the mixed table."""
    families = LEVELS | GAUSSIAN if structure in ("full", "naive") or "calibrate" in settings else LEVELS
    return BayesClassifier(structure=structure, families=families, **settings).fit(*mixed(800, 0))


@every_dtype
@every_structure
def test_every_structure_agrees_with_predict_proba(structure: Any, dtype: FloatType) -> None:
    assert_same(fitted(structure), mixed(ROWS, 1, new=True)[0], dtype)


def test_the_default_with_trees_and_a_covariance() -> None:
    model = BayesClassifier(structure=Pooled(("averaged", "full", Trees(7)))).fit(*mixed(800, 0))
    assert {type(term).__name__ for score in model.estimate_model().scores for term in score} >= {
        "AveragedPairs",
        "TriangularSolve",
        "MeanOfTrees",
    }
    assert_same(model, mixed(ROWS, 1, new=True)[0], "float64")


@pytest.mark.parametrize("method", MAPS)
@pytest.mark.parametrize("structure", ["naive", Pooled(("naive", Trees(3)))], ids=["naive", "pooled"])
def test_calibrated_probabilities(structure: Any, method: Any) -> None:
    assert_same(fitted(structure, calibrate=method), mixed(ROWS, 1, new=True)[0], "float64")


def test_two_classes_calibrated_by_one_function() -> None:
    table, y = mixed(800, 0)
    model = BayesClassifier(structure="naive", calibrate="isotonic").fit(table, y == "no")
    assert_same(model, mixed(ROWS, 1, new=True)[0], "float64")


@pytest.mark.parametrize("structure", ["naive", "tree", "averaged", "joint"])
@pytest.mark.parametrize("rule", ["mle", "mean"])
def test_unseen_levels_that_are_ignored_or_impossible(structure: str, rule: Any) -> None:
    assert_same(fitted(structure, unseen="ignore", estimate=rule), mixed(ROWS, 1, new=True)[0], "float64")


@every_family_and_rule
def test_every_family_agrees_with_predict_proba(family: str, rule: Any) -> None:
    table, y = family_table(family, 80, missing=0.1 if family != "text" else 0.0)
    model = family_model(family, estimate=rule).fit(table, y)
    rows = family_table(family, ROWS, seed=1, missing=0.1)[0]
    numbers = rows if family in ("categorical", "text") else rows.astype(float)
    types = dict.fromkeys(rows, "float64") if family == "bernoulli" else None
    assert_same(model, numbers, "float64", types)
    assert_same(model, numbers, "float32", types and dict.fromkeys(types, "float32"))


def reals(rng: np.random.Generator, y: Any) -> Any:
    return rng.normal(size=(len(y), 4)) @ rng.normal(size=(4, 4)) + y[:, None] + [0, 0, 0, 1e4]


def counts(rng: np.random.Generator, y: Any) -> Any:
    return rng.poisson(0.5 + y[:, None] * np.array([1.0, 0.2, 0.5, 2.0, 0.1]))


ARRAYS: dict[str, tuple[Any, Any]] = {
    **{f"GaussianNB-{rule}": (GaussianNB(estimate=rule), reals) for rule in ("mle", "map", "predictive")},
    **{f"MultinomialNB-{rule}": (MultinomialNB(estimate=rule), counts) for rule in ("mle", "mean", "predictive")},
    **{f"BernoulliNB-{rule}": (BernoulliNB(binarize=1.0, estimate=rule), counts) for rule in ("mle", "mean")},
    **{f"CategoricalNB-{rule}": (CategoricalNB(estimate=rule), counts) for rule in ("mle", "mean")},
    **{f"PoissonNB-{rule}": (PoissonNB(estimate=rule), counts) for rule in ("mle", "mean", "predictive")},
    "ComplementNB": (ComplementNB(), counts),
    "ComplementNB-norm": (ComplementNB(norm=True), counts),
    "ComplementNB-certain": (ComplementNB(alpha=0.0, force_alpha=True), counts),
    **{
        f"GaussianDiscriminant-{how}": (GaussianDiscriminant(covariance=how), reals)
        for how in ("spherical", "diagonal", "chain", "tridiagonal", "full", "shared")
    },
    "GaussianDiscriminant-predictive": (GaussianDiscriminant(estimate="predictive"), reals),
    "GaussianDiscriminant-svd": (GaussianDiscriminant(covariance="shared", solver="svd"), reals),
    "MixtureClassifier": (MixtureClassifier(components=2, random_state=0), reals),
    "LogisticRegression": (LogisticRegression(), reals),
    "BayesClassifier": (BayesClassifier(), reals),
    "BayesClassifier-counts": (BayesClassifier(families="categorical", structure="tree"), counts),
}


@every_dtype
@pytest.mark.parametrize("case", ARRAYS)
def test_models_of_arrays_have_one_input(case: str, dtype: FloatType) -> None:
    model, make = ARRAYS[case]
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    model.fit(make(np.random.default_rng(1), y), y * 10)
    assert_same(model, make(np.random.default_rng(1), rng.integers(0, 3, ROWS)), dtype)


def test_a_batch_without_rows_has_no_probabilities() -> None:
    for structure in ("tree", "averaged", "full"):
        labels, proba = run(fitted(structure), mixed(2, 0)[0][:0], "float64")
        assert labels.shape == (0,)
        assert proba.shape == (0, 3)


@every_rule
def test_gaussians_with_missing_cells_have_the_density_of_the_others(rule: Any) -> None:
    assert_same(fitted("full", estimate=rule), mixed(ROWS, 1, new=True)[0], "float64")


@pytest.mark.parametrize(
    ("structure", "calibrate"), [("full", None), (Pooled(("full", Trees(3))), "vector")], ids=["one model", "a pool"]
)
def test_many_gaussian_columns_give_nan_where_a_cell_is_missing(
    structure: Any, calibrate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_covariance, "MOST_ELIMINATED", 2)
    model, (rows, _) = fitted(structure, calibrate=calibrate), mixed(ROWS, 1)
    _, proba = run(model, rows, "float64")
    is_complete = rows[list(GAUSSIAN)].notna().all(axis=1).to_numpy()
    np.testing.assert_allclose(proba[is_complete], model.predict_proba(rows)[is_complete], rtol=0, atol=1e-9)
    assert np.isnan(proba[~is_complete]).all()


def test_combinations_of_more_levels_than_an_integer_can_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_joint, "MOST_COMBINED", 20)
    assert_same(fitted("joint"), mixed(ROWS, 1, new=True)[0], "float64")


def test_the_twin_of_counts() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    table = pd.DataFrame(counts(rng, y), columns=list("abcde")).astype(float)
    model = BayesClassifier(structure=Pooled(("naive", "twin")), families="multinomial").fit(table, y)
    assert model.estimate_model().weights[1] > 0
    assert_same(model, table, "float64")


def test_impossible_rows_have_the_prior_and_certain_ones_are_shared() -> None:
    model = BernoulliNB(estimate="mle").fit([[1, 0], [1, 0], [0, 1]], ["a", "a", "b"])
    labels, proba = run(model, np.array([[0, 0], [1, 1]]), "float64")
    assert labels.tolist() == ["a", "a"]
    np.testing.assert_allclose(proba, [[2 / 3, 1 / 3]] * 2)
    prior = BayesClassifier(structure="naive", class_prior={"no": 0.5, "it's": 0.0, "yes": 0.5}).fit(*mixed(300, 0))
    assert_same(prior, mixed(ROWS, 1, new=True)[0], "float64")


def test_every_term_has_a_translator() -> None:
    kinds = [
        each for each in map(score.__getattr__, score.__all__) if isinstance(each, type) and issubclass(each, Term)
    ]
    assert {kind for kind in kinds if kind is not Term and not kind.is_class_independent} == set(TRANSLATORS)


def test_a_new_family_needs_no_translator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAMILIES, "half-normal", HalfNormal())
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    table = pd.DataFrame({"one": np.abs(rng.normal(0, 1.0 + y)), "two": rng.random(200)})
    for rule in ("mean", "predictive"):
        model = BayesClassifier(families="half-normal", structure="naive", estimate=rule).fit(table, y)
        assert_same(model, table, "float64")


@pytest.mark.parametrize("a", [1e-300, 1e-8, 0.3, 1.0, 7.5, 1e3, 1e6, 1e12, 1e16])
def test_log_gamma_is_accurate(a: float) -> None:
    x = np.array([0.0, 0.5, 1.0, 2.0, 17.0, 1e3, 1e6, 1e15])
    graph = Graph({"x": ("float64", 1)})
    graph.output(write_log_rising(np.array([a]), graph.input("x")), "y", "float64", [None, 1])
    (found,) = start(graph.to_model("")).run(None, {"x": x[:, None]})
    expected = log_rising(np.array([a]), x)
    np.testing.assert_allclose(found[:, 0], expected, rtol=2e-14, atol=1e-11)
    if a < 1e4:
        np.testing.assert_allclose(found[:6, 0], gammaln(a + x[:6]) - gammaln(a), rtol=1e-13, atol=1e-10)


def test_inputs_have_names_and_types_of_the_columns() -> None:
    model, dtype = fitted("naive"), "tensor(float)"
    session = start(model.to_onnx())
    assert {each.name: each.type for each in session.get_inputs()} == {
        "town": "tensor(string)",
        "left": "tensor(string)",
        "kids": "tensor(int64)",
        "size": dtype,
        "flag": "tensor(bool)",
        "age": dtype,
        "wage": dtype,
        "tall": dtype,
    }
    assert {each.name: (each.type, each.shape[1:]) for each in session.get_outputs()} == {
        "label": ("tensor(string)", []),
        "probabilities": (dtype, [3]),
    }
    assert all(each.shape[1] == 1 for each in session.get_inputs())


def test_types_can_be_chosen_so_that_a_cell_of_whole_numbers_may_be_missing() -> None:
    model, (rows, _) = fitted("tree"), mixed(ROWS, 1, new=True)
    rng = np.random.default_rng(0)
    for name in ("kids", "flag"):
        rows[name] = rows[name].astype(float).where(rng.random(ROWS) > 0.3)
    assert_same(model, rows, "float64", {"kids": "float64", "flag": "float32"})
    assert_same(
        model,
        rows.assign(age=rows["age"].fillna(0).astype(int)),
        "float64",
        {"kids": "float64", "flag": "float64", "age": "int64"},
    )


def test_levels_with_fractions_are_found_in_single_precision() -> None:
    table = pd.DataFrame({"dose": [0.1, 0.2, 0.7, 0.1, 0.2, 0.7]})
    model = BayesClassifier(families="categorical", structure="naive").fit(table, ["a", "b", "c"] * 2)
    np.testing.assert_allclose(run(model, table, "float32")[1], model.predict_proba(table), atol=1e-6)


def test_wrong_settings_are_named() -> None:
    model = fitted("naive")
    with pytest.raises(ExportError, match="dtype='double' is not known; it is 'float32' or 'float64'"):
        model.to_onnx("double")  # type: ignore[arg-type]
    with pytest.raises(ExportError, match="the model has no column 'agee'; types= names town, left"):
        model.to_onnx(types={"agee": "int64"})
    with pytest.raises(ExportError, match=r"types={'age': 'int'} is not known; an input is one of float32"):
        model.to_onnx(types={"age": "int"})  # type: ignore[dict-item]
    with pytest.raises(ExportError, match=r"'town' was learned with texts as its levels, and cannot be .* type int64"):
        model.to_onnx(types={"town": "int64"})
    with pytest.raises(ExportError, match="'age' was learned with numbers, and cannot be an input of type string"):
        model.to_onnx(types={"age": "string"})


STRANGE = [
    "label",
    "probabilities",
    "suffice_0",
    "suffice_c1",
    "X",
    'a"b',
    "a\x00b",
    "\x01\n",
    "é",
    "e\u0301",
    "ｌabel",
    " ",
]


def test_strange_names_and_levels_stay_apart() -> None:
    rng = np.random.default_rng(0)
    levels = np.array([*STRANGE, ""], object)
    table = pd.DataFrame({name: levels[rng.integers(0, len(levels), 400)] for name in STRANGE})
    y = np.array(STRANGE, object)[rng.integers(0, len(STRANGE), 400)]
    table["label"] = np.where(rng.random(400) < 0.7, y, table["label"])
    model = BayesClassifier(families="categorical", structure="naive").fit(table, y)
    session = start(model.to_onnx("float64"))
    assert [each.name for each in session.get_inputs()] == STRANGE
    assert [each.name for each in session.get_outputs()] == ["label_1", "probabilities_1"]
    assert_same(model, table, "float64")
    assert set(run(model, table, "float64")[0]) == set(model.predict(table))


def test_names_and_levels_that_are_no_text_are_refused() -> None:
    def fit(name: str, level: str, label: str) -> BayesClassifier:
        table = pd.DataFrame([[level], ["b"]] * 4, columns=pd.Index([name], dtype=object), dtype=object)
        return BayesClassifier(families="categorical", structure="naive").fit(table, [label, "other"] * 4)

    with pytest.raises(ExportError, match="a column has an empty name"):
        fit("", "a", "y").to_onnx()
    with pytest.raises(ExportError, match=r"name of the column .*surrogate.*rename it and fit again"):
        fit("\ud800", "a", "y").to_onnx()
    with pytest.raises(ExportError, match=r"column 'x': the level .*surrogate"):
        fit("x", "\ud800", "y").to_onnx()
    with pytest.raises(ExportError, match=r"the class .*surrogate"):
        fit("x", "a", "\ud800").to_onnx()


@every_dtype
@pytest.mark.parametrize("case", TEXT_MODELS)
def test_texts_agree_with_predict_proba(case: str, dtype: FloatType) -> None:
    model = TEXT_MODELS[case].fit(*text_table(600, 0))
    rows = text_table(ROWS, 1, new=True)[0].astype({"size": dtype})
    # a capital sigma that a character such as an apostrophe parts from other letters, in a vocabulary with sigmas
    is_unclear = rows["message"].str.contains(UNCLEAR_SIGMA, regex=True, na=False) & (case != "as they are")
    assert 20 < is_unclear.sum() < 200 or case == "as they are"
    assert_same(model, rows[~is_unclear], dtype)
    if is_unclear.any():
        assert np.isnan(run(model, rows[is_unclear], dtype)[1]).all()


def test_texts_without_rows_and_without_words() -> None:
    model = TEXT_MODELS["naive"].fit(*text_table(600, 0))
    rows = text_table(20, 1)[0].astype({"size": float}).assign(message="")
    assert_same(model, rows, "float64")
    assert run(model, rows[:0], "float64")[1].shape == (0, 3)
    empty = BayesClassifier(structure="naive", families={"message": "text"}).fit(rows, np.arange(20) % 2)
    assert_same(empty, rows.assign(message="some words"), "float64")


def test_words_that_are_longer_than_a_number() -> None:
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), 60)) for _ in range(20)]
    words += [word[:30] for word in words] + [word[:59] + "z" for word in words]
    table = pd.DataFrame({"message": [" ".join(rng.choice(words, 4)) for _ in range(200)]})
    model = BayesClassifier(structure="naive", families={"message": "text"}).fit(table[:100], np.arange(100) % 2)
    assert_same(model, table, "float64")


def test_a_model_too_large_for_a_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_graph, "MOST_BYTES", 2000)
    with pytest.raises(ExportError, match="which no ONNX file can have"):
        fitted("tree").to_onnx()


@pytest.mark.parametrize("y", [[True, False], [1, 2], [1.0, 3.0], ["a", "b"]], ids=str)
def test_labels_have_the_type_of_the_classes(y: Any) -> None:
    model = GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], np.repeat(y, 2))
    assert_same(model, np.array([[0.2], [5.5]]), "float64")
    labels, _ = run(model, [[0.2]], "float64")
    assert labels.tolist() == model.predict([[0.2]]).tolist()


def test_a_regression_has_no_probabilities_where_a_cell_is_missing() -> None:
    table = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1, 0, 1, 0]})
    model = LogisticRegression().fit(table, ["no", "no", "yes", "yes"])
    assert_same(model, table, "float64", {"b": "int64"})
    _, proba = run(model, table.assign(a=[0.0, np.nan, np.inf, 3.0]), "float64")
    assert np.isnan(proba).all(axis=1).tolist() == [False, True, True, False]


@pytest.mark.parametrize("kind", [GaussianNB, MultinomialNB, BernoulliNB, CategoricalNB, ComplementNB])
def test_skl2onnx_converts_the_classes_that_scikit_learn_has(kind: Any) -> None:
    register_skl2onnx()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = counts(rng, y).astype(np.int64 if kind is CategoricalNB else np.float32)
    model = kind().fit(X, y)
    session = start(skl2onnx.to_onnx(model, X[:1], options={"zipmap": False}))
    labels, proba = session.run(None, {"X": X})
    np.testing.assert_allclose(proba, model.predict_proba(X), rtol=0, atol=1e-5)
    assert (labels == model.predict(X)).mean() > 0.99
    own = start(model.to_onnx())
    assert [each.name for each in own.get_outputs()] == [each.name for each in session.get_outputs()]
    pipeline = make_pipeline(MinMaxScaler(), GaussianNB()).fit(X, y)
    piped = start(skl2onnx.to_onnx(pipeline, X[:1].astype(np.float32), options={"zipmap": False}))
    np.testing.assert_allclose(piped.run(None, {"X": X.astype(np.float32)})[1], pipeline.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("setting", [{"estimate": "predictive"}, {"calibrate": "temperature"}, {"missing": "skip"}])
def test_skl2onnx_refuses_what_scikit_learn_does_not_have(setting: Any) -> None:
    register_skl2onnx()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    model = GaussianNB(**setting).fit(reals(rng, y), y)
    with pytest.raises(ExportError, match=r"skl2onnx has no form of GaussianNB\(\w+='\w+'\); use model.to_onnx\(\)"):
        skl2onnx.to_onnx(model, np.zeros((1, 4), np.float32))


def tell(*arguments: Any, code: int = 0) -> tuple[bytes, str]:
    """Run a command; return what it writes to standard output and what it says."""
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == code, (done.output, done.exception)
    return done.stdout_bytes, done.stderr


def test_the_command_writes_what_the_method_returns(tmp_path: Path) -> None:
    model, path, written = fitted("tree"), tmp_path / "m.suffice", tmp_path / "m.onnx"
    model.save(path)
    out, errors = tell("onnx", path, "-o", written, "--dtype", "float64", "--type", "kids=float64")
    assert written.read_bytes() == model.to_onnx("float64", types={"kids": "float64"}).SerializeToString()
    assert b"m.onnx" in out
    assert errors == ""
    out, errors = tell("onnx", path, "-o", "-", "--structure", "naive")
    assert out == fitted("tree").set_params(structure="naive").to_onnx().SerializeToString()
    model.set_params(structure="tree")
    out, errors = tell("onnx", path, "-o", "-", "--dtype", "double", code=1)
    assert "dtype='double' is not known" in errors
    _, errors = tell("onnx", path, "-o", "-", "--type", "kids", code=1)
    assert "--type kids has no type: write COLUMN=TYPE" in errors
    GaussianNB().fit([[1.0], [2.0]], [0, 1]).save(path)
    _, errors = tell("onnx", path, "-o", "-", "--structure", "naive", code=1)
    assert "which has one structure only: leave out --structure" in errors


def test_a_large_file_is_announced_with_what_makes_it_smaller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, written = tmp_path / "m.suffice", tmp_path / "m.onnx"
    fitted(Pooled(("averaged", Trees(3)))).save(path)
    monkeypatch.setattr(cli_output, "LARGE_FILE", 20_000)
    _, errors = tell("onnx", path, "-o", written)
    size = written.stat().st_size
    assert f"m.onnx will have {size / 1e6:,.1f} MB: the model has" in errors
    assert "leaves of decision trees; --structure averaged writes it without trees" in errors
    _, errors = tell("onnx", path, "-o", written, "--structure", "averaged")
    assert written.stat().st_size < size
    assert "parameters; --structure naive or fewer columns make it smaller" in errors
    tell("onnx", path, "-o", written, "--structure", "naive")
    assert written.stat().st_size < 20_000
    script = tmp_path / "m.sql"
    _, errors = tell("sql", path, "-o", script)
    assert f"m.sql will have {script.stat().st_size / 1e6:,.1f} MB: the model has" in errors
    assert "and suffice fit --trees 50 fits fewer" in errors


def test_large_exports_warn_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(Pooled(("averaged", Trees(3))))
    monkeypatch.setattr(export_size, "LARGE_EXPORT", 20_000)
    for write in (lambda: model.to_sql("postgres"), model.to_onnx):
        with pytest.warns(LargeExportWarning, match=r"leaves of decision trees; .*Trees\(50\)"):
            write()


def test_fewer_trees_are_fitted(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 3))
    pd.DataFrame(x, columns=["a", "b", "c"]).assign(y=(x[:, 0] * x[:, 1] > 0).astype(int)).to_csv(table, index=False)
    for structure in ("auto", "trees"):
        tell("fit", table, "--target", "y", "--trees", "3", "--structure", structure, "-o", tmp_path / "m.suffice")
        model = load(tmp_path / "m.suffice").estimate_model()
        assert sum(columns.count for columns in model.columns if columns.is_forest) == 3
    _, errors = tell("fit", table, "--target", "y", "--trees", "3", "--structure", "naive", code=1)
    assert "--trees 3 is for --structure pooled or trees, and naive has no trees" in errors
