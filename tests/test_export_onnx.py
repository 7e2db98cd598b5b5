"""ONNX gives the probabilities of the model on ONNX Runtime, for every structure, family, kind of cell and name."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from scipy.special import gammaln

from cases import ALL_STRUCTURES, every_family, every_rule, every_structure, family_model, family_table
from negative_binomial import NegativeBinomial
from suffice import (
    BayesClassifier,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    MixtureClassifier,
    MultinomialNB,
    Pooled,
    PoissonNB,
    Text,
    Trees,
)
from suffice.decision.calibration import MAPS
from suffice.export import ExportError, onnx_covariance, onnx_graph, onnx_joint
from suffice.export.onnx_columnwise import log_rising as write_log_rising
from suffice.export.onnx_graph import Graph
from suffice.export.onnx_model import TRANSLATORS
from suffice.families import FAMILIES
from suffice.score import Term, log_rising
from suffice.structures import STRUCTURES

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
    families = LEVELS | GAUSSIAN if structure in ("full", "naive") else LEVELS
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
@pytest.mark.parametrize("structure", ["naive", "pooled"])
def test_calibrated_probabilities(structure: str, method: Any) -> None:
    assert_same(fitted(structure, calibrate=method), mixed(ROWS, 1, new=True)[0], "float64")


def test_two_classes_calibrated_by_one_function() -> None:
    table, y = mixed(800, 0)
    model = BayesClassifier(structure="naive", calibrate="isotonic").fit(table, y == "no")
    assert_same(model, mixed(ROWS, 1, new=True)[0], "float64")


@pytest.mark.parametrize("structure", ["naive", "tree", "averaged", "joint"])
@pytest.mark.parametrize("rule", ["mle", "mean"])
def test_unseen_levels_that_are_ignored_or_impossible(structure: str, rule: Any) -> None:
    assert_same(fitted(structure, unseen="ignore", estimate=rule), mixed(ROWS, 1, new=True)[0], "float64")


@every_rule
@every_family
def test_every_family_agrees_with_predict_proba(family: str, rule: Any) -> None:
    table, y = family_table(family, 80, missing=0.1 if family != "text" else 0.0)
    model = family_model(family, estimate=rule)
    try:
        model.fit(table, y)
        model.predict_proba(table)
    except ValueError:
        pytest.skip("the family has no such estimate")
    rows = family_table(family, ROWS, seed=1, missing=0.1)[0]
    if family == "text":
        with pytest.raises(ExportError, match=r"column 'one' is text.*CountVectorizer"):
            model.to_onnx()
        return
    numbers = rows if family == "categorical" else rows.astype(float)
    types = {name: "float64" for name in rows} if family == "bernoulli" else None
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
    for structure in ("tree", "averaged", "pooled"):
        labels, proba = run(fitted(structure), mixed(2, 0)[0][:0], "float64")
        assert labels.shape == (0,)
        assert proba.shape == (0, 3)
