"""Samples are possible rows, and densities notice numbers where no rows were learned."""

from __future__ import annotations

from typing import Any

import ibis
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conftest import data
from suffice import BayesClassifier
from suffice.choice.cell_density import CellDensity
from suffice.choice.column_forms import collect_sums
from suffice.choice.single_column import ColumnSums
from suffice.data.cells import fit_cells
from suffice.data.engines.ibis_tables import SqlSource
from suffice.data.engines.source import Request
from suffice.schema import Cuts

STRUCTURES = ["auto", "naive", "tree", "chain", "averaged", "full", "joint"]
every_structure = pytest.mark.parametrize("structure", STRUCTURES)
pytestmark = pytest.mark.filterwarnings("ignore:.*combination of levels")


def numbers(rows: int = 1500) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns that a Gaussian fits and that it does not, whole ones, negative ones and gaps."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    gain = np.where(rng.random(rows) < 0.9, 0, rng.integers(100, 5000, rows))
    table = pd.DataFrame(
        {
            "size": rng.normal(3 + y, 1.0, rows),
            "price": rng.lognormal(1 + y, 1.0, rows),
            "gain": np.where(y == 1, gain, gain // 2),
            "age": rng.integers(17, 90, rows) + 3 * y,
            "cold": np.where(rng.random(rows) < 0.1 + 0.3 * y, np.nan, -rng.gamma(2.0, 1.0, rows)),
        }
    )
    return table, np.where(y == 1, "yes", "no")


def column(drawn: np.ndarray, table: pd.DataFrame, name: str) -> list[Any]:
    return list(drawn[:, table.columns.get_loc(name)])


@pytest.mark.parametrize("numeric", ["auto", "gaussian", "mdl", "quantiles"])
@every_structure
def test_sampled_numbers_have_the_distribution_of_their_cells(structure: str, numeric: Any) -> None:
    X, y = numbers()
    model = BayesClassifier(structure=structure, numeric=numeric, missing="skip", prior=0.01).fit(X, y)
    drawn, labels = model.sample(6000, random_state=1)
    for name, sums in collect_sums(model.tally_).items():
        assert sums.cuts is not None
        for k, label in enumerate(model.classes_):
            values = [v for v, own in zip(column(drawn, X, name), labels == label, strict=True) if own]
            found = np.bincount(np.searchsorted(sums.cuts.edges, values, side="right"), minlength=sums.cuts.size)
            expected = sums.counts[:, k] / sums.counts[:, k].sum()
            assert not found[sums.counts.sum(axis=1) == 0].any(), (name, label)
            # a level is drawn from smoothed and averaged probabilities, so the tolerance is not only that of sampling
            distance = 0.5 * np.abs(found / found.sum() - expected).sum()
            assert distance < 0.12, (name, label, distance)
        values = np.array(column(drawn, X, name), float)
        assert values.mean() == pytest.approx(X[name].mean(), abs=0.1 * X[name].std())


@every_structure
def test_whole_numbers_stay_whole_and_others_do_not(structure: str) -> None:
    X, y = numbers(400)
    drawn, _ = BayesClassifier(structure=structure, missing="skip").fit(X, y).sample(300, random_state=0)
    assert all(isinstance(value, int) for name in ("gain", "age") for value in column(drawn, X, name))
    assert all(isinstance(value, float) for name in ("size", "price", "cold") for value in column(drawn, X, name))
    assert min(column(drawn, X, "gain")) == 0
    assert min(column(drawn, X, "price")) >= 0
    assert max(column(drawn, X, "cold")) <= 0


def test_a_missing_cell_that_is_a_level_is_drawn_as_an_empty_cell() -> None:
    X, y = numbers()
    model = BayesClassifier(numeric="mdl", missing="level").fit(X, y)
    drawn, labels = model.sample(6000, random_state=0)
    empty = np.array([value is None for value in column(drawn, X, "cold")])
    for label in ("yes", "no"):
        share = X["cold"][y == label].isna().mean()
        assert empty[labels == label].mean() == pytest.approx(share, abs=0.03)


def test_gaussian_samples_keep_their_dependence() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    X = pd.DataFrame({"a": x, "b": 0.9 * x + np.sqrt(0.19) * rng.normal(size=2000)})
    model = BayesClassifier(numeric="gaussian", structure="full").fit(X, np.arange(2000) % 2)
    drawn, _ = model.sample(5000, random_state=0)
    assert np.corrcoef(drawn.astype(float).T)[0, 1] == pytest.approx(0.9, abs=0.02)


def test_a_batch_with_fractions_ends_whole_numbers() -> None:
    X, y = numbers(300)
    halves = X.assign(age=X["age"] + 0.5)
    whole, broken = BayesClassifier().fit(X, y), BayesClassifier().fit(X, y).partial_fit(halves, y)
    assert whole.partial_fit(X, y).sample(1, random_state=0)[0][0, 3] % 1 == 0
    for model in (
        broken,
        whole + BayesClassifier(plan=whole.plan_).fit(halves, y),
        BayesClassifier(plan=whole.plan_).fit(halves, y) + whole,
        broken.forget(halves, y),
    ):
        assert all(isinstance(value, float) for value in column(model.sample(50, random_state=0)[0], X, "age"))
        assert all(isinstance(value, int) for value in column(model.sample(50, random_state=0)[0], X, "gain"))
    assert broken.tally_.isclose(BayesClassifier(plan=broken.plan_).fit(X, y).tally_)


def test_a_database_finds_the_fractions() -> None:
    X, y = numbers(300)
    model = BayesClassifier(structure="naive").fit(X, y)
    for offset in (0.0, 0.5):
        frame = X.assign(age=X["age"] + offset, gain=X["gain"].astype(float), y=y)
        source = SqlSource(ibis.duckdb.connect().create_table("rows", frame))
        sums = collect_sums(source.tally(Request("y", None, "error", model.tally_)))
        assert {name for name, each in sums.items() if each.cuts and each.cuts.whole} == (
            {"gain"} if offset else {"gain", "age"}
        )


def test_a_column_without_numbers_is_drawn_empty() -> None:
    X = pd.DataFrame({"none": [np.nan] * 40, "some": np.arange(40) % 7 / 4})
    model = BayesClassifier(families={"none": "quantiles", "some": "quantiles"}).fit(X, np.arange(40) % 2)
    drawn, _ = model.sample(20, random_state=0)
    assert set(drawn[:, 0]) == {None}
    assert np.isfinite(model.score_samples(X)).all()


VALUES = hnp.arrays(np.float64, st.integers(2, 60), elements=st.floats(-1e6, 1e6) | st.integers(-9, 9).map(float))


def density(values: np.ndarray, cuts: Cuts, has_moments: bool) -> CellDensity:
    counts = np.bincount(np.searchsorted(cuts.edges, values, side="right"), minlength=cuts.size)[:, None]
    moments = (np.array([float(len(values))]), values.mean()[None], values.var()[None] * len(values))
    return CellDensity.of(ColumnSums(counts.astype(float), np.zeros(1), cuts, moments if has_moments else None))


@given(values=VALUES, cells=st.integers(1, 32), open_ends=st.booleans(), has_moments=st.booleans(), whole=st.booleans())
def test_numbers_are_drawn_in_cells_with_rows(
    values: np.ndarray, cells: int, open_ends: bool, has_moments: bool, whole: bool
) -> None:
    values = np.rint(values) if whole else values
    edges = fit_cells(values, None, cells).edges
    cuts = Cuts(edges[1:-1] if open_ends else edges, "cells", whole)
    own = density(values, cuts, has_moments)
    none = Cuts((), "mdl")
    drawn = own.draw(np.zeros(200, int), none, np.zeros(200, int), np.random.default_rng(0))
    drawn += own.map_gaussian(np.linspace(-1e7, 1e7, 50), np.zeros(50, int))
    assert np.isfinite(drawn).all()
    assert own.counts[np.searchsorted(cuts.edges, drawn, side="right"), 0].all()
    assert all(float(value).is_integer() for value in drawn) or not whole


@given(values=VALUES, cells=st.integers(1, 32), open_ends=st.booleans())
def test_the_density_within_a_bin_integrates_to_one_at_most(values: np.ndarray, cells: int, open_ends: bool) -> None:
    edges = fit_cells(values, None, cells).edges
    cuts = Cuts(edges[1:-1] if open_ends else edges, "cells")
    own = density(values, cuts, has_moments=True)
    middle = (own.bounds[1:-2] + own.bounds[2:-1]) / 2  # of the closed cells, in which the density is constant
    inner = np.exp(own.log_density(middle, Cuts((), "mdl"))) @ np.diff(own.bounds[1:-1]) if len(middle) else 0.0
    assert inner <= 1 + 1e-9


def test_the_density_within_each_bin_is_a_density() -> None:
    values = np.random.default_rng(0).normal(5.0, 2.0, 500)
    own, bins = density(values, Cuts((2.0, 3.0, 5.0, 6.0, 8.0), "cells"), has_moments=True), Cuts((3.0, 6.0), "mdl")
    for low, high in ((-15.0, 3.0), (3.0, 6.0), (6.0, 25.0)):
        x = np.linspace(low, high, 200_001)[:-1]
        assert np.exp(own.log_density(x, bins)).mean() * (high - low) == pytest.approx(1.0, abs=1e-3)


def test_the_density_of_normal_numbers_is_that_of_their_gaussian() -> None:
    x = np.random.default_rng(0).normal(5.0, 2.0, (20_000, 1))
    y = np.arange(20_000) % 2
    at = np.linspace(0.0, 10.0, 41)[:, None]
    binned = BayesClassifier(numeric="quantiles").fit(x, y).score_samples(at)
    gaussian = BayesClassifier(numeric="gaussian").fit(x, y).score_samples(at)
    assert np.abs(binned - gaussian).mean() < 0.2


@every_structure
def test_numbers_far_away_have_low_densities_and_the_same_probabilities(structure: str) -> None:
    X, y = numbers()
    model = BayesClassifier(structure=structure, numeric="mdl").fit(X, y)
    scores = model.score_samples(X)
    assert np.isfinite(scores).all()
    for name, value in (("size", 1e9), ("price", -1e9), ("age", 1e6), ("gain", 1e9)):
        far, last = X.iloc[:50].assign(**{name: value}), X.iloc[:50].assign(**{name: X[name].max()})
        assert model.score_samples(far).max() < scores.min() - 10, name
        if value > 0:  # the bin is the same
            np.testing.assert_array_equal(model.predict_joint_log_proba(far), model.predict_joint_log_proba(last))


def test_adult_samples_and_densities() -> None:
    frame = pd.read_csv(data("tabular/adult-train.csv.gz"), header=None, na_values="?", skipinitialspace=True)
    X, y = frame.drop(columns=14).rename(columns=str), frame[14]
    model = BayesClassifier().fit(X, y)
    drawn, _ = model.sample(5000, random_state=0)
    for name in ("0", "10", "11", "12"):
        values = np.array(column(drawn, X, name), float)
        assert (values % 1 == 0).all()
        assert values.min() >= X[name].min() - 2
        assert values.mean() == pytest.approx(X[name].mean(), abs=0.15 * X[name].std())
    scores = model.score_samples(X)
    assert np.isfinite(scores).all()
    assert model.score_samples(X.iloc[:200].assign(**{"0": 1e9})).max() < np.quantile(scores, 0.01) - 10


def test_numbers_of_a_chosen_family_are_drawn_from_their_cells() -> None:
    X, y = numbers()
    X = X[["price"]].assign(count=np.ceil(1000 * X["price"]))
    model = BayesClassifier(structure="naive", families=dict.fromkeys(X, "any"), prior=0.01).fit(X, y)
    assert set(model.families_.values()) == {"log-normal"}
    drawn, labels = model.sample(6000, random_state=1)
    for label in model.classes_:
        quantiles = np.quantile(column(drawn[labels == label], X, "price"), [0.1, 0.5, 0.9])
        np.testing.assert_allclose(quantiles, X["price"][y == label].quantile([0.1, 0.5, 0.9]), rtol=0.15)
    assert all(isinstance(value, int) for value in column(drawn, X, "count"))
