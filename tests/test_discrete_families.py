"""Geometric, negative binomial and binomial columns: against SciPy, by quadrature, in databases and in ONNX."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import matplotlib as mpl
import mpmath
import numpy as np
import onnxruntime
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy import optimize, stats
from scipy.integrate import quad
from scipy.special import betaln, gammaln

import suffice
from cases import every_rule, family_table
from conftest import assert_same_model
from suffice import BayesClassifier, Beta, Binomial, Flat, Geometric, MEstimate, NegativeBinomial, plots
from suffice.families import FAMILIES, register
from suffice.families.family import Family
from suffice.families.negative_binomial import estimate_dispersion
from suffice.score import LogBinomial, LogGammaOfRest, Score
from suffice.statistics import SquaredCounts

mpl.use("Agg")
R, TRIALS = 2.5, 8
NAMES = {"geometric": "geometric", "negative-binomial": f"negative-binomial({R})", "binomial": f"binomial({TRIALS})"}
every_name = pytest.mark.parametrize("name", NAMES)
every_full_name = pytest.mark.parametrize("family", [*NAMES.values(), "negative-binomial"])


def of_scipy(name: str, p: float) -> Any:
    """Return SciPy's distribution of the same name; its geometric one counts trials."""
    return {
        "geometric": lambda: stats.geom(p, loc=-1),
        "negative-binomial": lambda: stats.nbinom(R, p),
        "binomial": lambda: stats.binom(TRIALS, p),
    }[name]()


def example(name: str, rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    return pd.DataFrame({"x": of_scipy(name, 0.5).rvs(rows, random_state=rng) * (1 + y) // 2}), y


def outcomes(name: str, x: Any) -> tuple[float, float]:
    """Return the numbers of successes and of failures."""
    if name == "geometric":
        return len(x), x.sum()
    return (R * len(x), x.sum()) if name == "negative-binomial" else (x.sum(), TRIALS * len(x) - x.sum())


def log_densities(name: str, X: Any, y: Any, values: Any, **settings: Any) -> Any:
    """Return the log probability of values in each class, from a fitted classifier."""
    model = BayesClassifier(families={"x": NAMES[name]}, structure="naive", **settings).fit(X, y)
    joint = model.predict_joint_log_proba(pd.DataFrame({"x": values}))
    return joint - np.log(np.bincount(y) / len(y))


@pytest.mark.parametrize("rule", ["mle", "map", "mean"])
@every_name
def test_the_mass_is_that_of_scipy(name: str, rule: Any) -> None:
    X, y = example(name)
    values = np.arange(TRIALS + 1 if name == "binomial" else 60)
    found = log_densities(name, X, y, values, estimate=rule, prior=Beta(3.0, 1.5))
    for k in (0, 1):
        s, f = outcomes(name, X["x"].to_numpy()[y == k])
        p = {"mle": s / (s + f), "map": (s + 2) / (s + f + 2.5), "mean": (s + 3) / (s + f + 4.5)}[rule]
        np.testing.assert_allclose(found[:, k], of_scipy(name, p).logpmf(values), rtol=1e-9, atol=1e-12)


@every_name
def test_maximum_likelihood_is_the_maximum(name: str) -> None:
    X, y = example(name)
    model = BayesClassifier(families={"x": NAMES[name]}, structure="naive", estimate="mle").fit(X, y)
    parameters = model.estimate_model().parameters[0]
    for k in (0, 1):
        mine = X["x"].to_numpy()[y == k]
        best = optimize.minimize_scalar(
            lambda p, mine=mine: -of_scipy(name, p).logpmf(mine).sum(), bounds=(1e-6, 1 - 1e-6), method="bounded"
        )
        assert np.exp(parameters.log_p[k, 0]) == pytest.approx(best.x, abs=1e-4)


def expect(name: str, value: int, posterior: Any) -> float:
    """Return the average of the mass of a value over a posterior of p."""
    low, high = posterior.ppf([1e-14, 1 - 1e-14])
    return float(quad(lambda p: of_scipy(name, p).pmf(value) * posterior.pdf(p), low, high, epsabs=0, epsrel=1e-11)[0])


@every_name
def test_the_predictive_mass_is_the_average_over_the_posterior(name: str) -> None:
    X, y = example(name, 30)
    values = np.arange(TRIALS + 1)
    found = log_densities(name, X, y, values, estimate="predictive", prior=Beta(2.0, 0.7))
    for k in (0, 1):
        s, f = outcomes(name, X["x"].to_numpy()[y == k])
        posterior = stats.beta(s + 2.0, f + 0.7)
        for value in values:
            average = expect(name, value, posterior)
            assert np.exp(found[value, k]) == pytest.approx(average, rel=1e-8)
    if name == "binomial":
        np.testing.assert_allclose(np.exp(found).sum(axis=0), 1.0, rtol=1e-12)
        np.testing.assert_allclose(found[:, 1], stats.betabinom(TRIALS, s + 2.0, f + 0.7).logpmf(values), rtol=1e-9)
    else:
        # SciPy's own distribution takes whole numbers r only
        r = 1 if name == "geometric" else R
        a, b = s + 2.0, f + 0.7
        coefficient = gammaln(r + values) - gammaln(r) - gammaln(values + 1)
        np.testing.assert_allclose(found[:, 1], coefficient + betaln(a + r, b + values) - betaln(a, b), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5, 1e9])
def test_the_beta_binomial_is_accurate_for_any_posterior(scale: float) -> None:
    from suffice.families.binomial import BetaBinomial

    for trials in (1, 7, 20_000):
        values = np.unique(np.array([0, 1, trials // 2, trials]))
        found = BetaBinomial(np.array([[2 * scale]]), np.array([[scale]]), float(trials)).score()
        with mpmath.workdps(50):
            for value, log_p in zip(values, found.contributions_of(values[:, None]).ravel(), strict=True):
                x, n, a, b = int(value), trials, mpmath.mpf(2 * scale), mpmath.mpf(scale)
                exact = mpmath.log(mpmath.binomial(n, x) * mpmath.beta(a + x, b + n - x) / mpmath.beta(a, b))
                assert log_p == pytest.approx(float(exact), rel=1e-9, abs=1e-9)


def test_a_geometric_column_is_a_negative_binomial_one_of_dispersion_one() -> None:
    X, y = example("geometric")
    for rule in ("mle", "map", "mean", "predictive"):
        found = [
            BayesClassifier(families={"x": family}, structure="naive", estimate=rule).fit(X, y).predict_proba(X)
            for family in ("geometric", "negative-binomial(1)")
        ]
        np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


@pytest.mark.parametrize(("r", "tolerance"), [(0.5, 0.1), (3.0, 0.15), (20.0, 0.4)])
def test_the_dispersion_is_estimated_by_moments(r: float, tolerance: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40_000)
    x = rng.negative_binomial(r, np.where(y, 0.2, 0.5))
    X = pd.DataFrame({"x": x})
    model = BayesClassifier(families={"x": "negative-binomial"}, structure="naive", estimate="mle").fit(X, y)
    parameters = model.estimate_model().parameters[0]
    found = parameters.dispersion.item()
    rows, means, variances = (np.array([f(x[y == k]) for k in (0, 1)]) for f in (len, np.mean, lambda v: v.var(ddof=1)))
    assert found == pytest.approx(((rows - 1) @ means**2) / ((rows - 1) @ (variances - means)), rel=1e-9)
    assert found == pytest.approx(r, rel=tolerance)
    assert model.n_parameters_ == 3
    for k in (0, 1):  # given r, p is the maximum
        assert np.exp(parameters.log_p[k, 0]) == pytest.approx(found / (found + means[k]), rel=1e-9)


def test_counts_that_vary_less_than_their_mean_are_almost_poisson() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = pd.DataFrame({"x": rng.binomial(10, 0.3 + 0.4 * y)})
    found, poisson = (
        BayesClassifier(families={"x": family}, structure="naive", estimate="mle").fit(X, y).predict_log_proba(X)
        for family in ("negative-binomial", "poisson")
    )
    np.testing.assert_allclose(found, poisson, atol=1e-5)
    nothing = SquaredCounts(n=np.zeros((2, 1)), total=np.zeros((2, 3)), squares=np.zeros((2, 3)))
    assert np.isfinite(estimate_dispersion(nothing)).all()


@every_full_name
def test_squares_and_sums_are_exact_under_merging_forgetting_and_decay(family: str) -> None:
    X, y = family_table(family, 80, missing=0.1)
    model = BayesClassifier(families=family, structure="naive")
    whole, first, second = (suffice.BayesClassifier(**model.get_params()).fit(X[a], y[a]) for a in _halves(80))
    assert (first + second).tally_ == whole.tally_
    assert whole.tally_ - second.tally_ == first.tally_
    assert (first.tally_ * 0.5).isclose(first.tally_ * 0.25 + first.tally_ * 0.25, 1e-12)
    again = BayesClassifier(families=family, structure="naive").fit(X, y).forget(X[40:], y[40:])
    assert again.tally_ == first.tally_
    assert_same_model(again, first, X)


def _halves(rows: int) -> tuple[slice, slice, slice]:
    return slice(0, rows), slice(0, rows // 2), slice(rows // 2, rows)


@every_rule
@every_full_name
def test_a_sparse_matrix_equals_a_dense_one(family: str, rule: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.binomial(TRIALS, 0.5, (200, 5)) * (rng.random((200, 5)) < 0.4)
    X[:, 4] = 0
    settings = {"families": family, "structure": "naive", "estimate": rule}
    dense, sparse = (BayesClassifier(**settings).fit(rows, y) for rows in (X, sp.csr_array(X)))
    assert dense.tally_.statistics[0] == sparse.tally_.statistics[0]
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X), atol=1e-12)


@every_full_name
def test_kernels_and_closed_forms_agree(family: str, kernels: str) -> None:
    X, y = family_table(family, 50, missing=0.2)
    for rule in ("mle", "predictive"):
        model = BayesClassifier(families=family, structure="naive", estimate=rule).fit(X, y)
        found = model.explain(X)
        np.testing.assert_allclose(found.prior + found.contributions.sum(axis=2), found.log_joint, atol=1e-9)
        np.testing.assert_allclose(found.log_joint, model.predict_joint_log_proba(X), atol=1e-9)


def test_terms_of_trials() -> None:
    values = np.array([[0.0, 3.0], [5.0, 5.0], [2.0, 9.0]])
    a = np.array([[0.5, 3.0], [2e4, 1.0]])
    x = np.minimum(values, 5.0)
    expected = gammaln(a + 5 - x[:, None]) - gammaln(a + 5)
    np.testing.assert_allclose(Score((LogGammaOfRest(a, 5.0),)).contributions_of(values), expected, atol=1e-9)
    with np.errstate(divide="ignore"):
        expected = stats.binom(5, 0.5).logpmf(values) - 5 * np.log(0.5)
    np.testing.assert_allclose(Score((LogBinomial(5.0),)).contributions_of(values)[:, 0], expected, atol=1e-9)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_class_without_successes_or_failures_makes_them_impossible(share: float) -> None:
    X = pd.DataFrame({"x": [4, 6, TRIALS * share, TRIALS * share]})
    model = BayesClassifier(families={"x": "binomial(8)"}, structure="naive", estimate="mle").fit(X, list("aabb"))
    found = model.predict_proba(pd.DataFrame({"x": [3.0, TRIALS * share, np.nan]}))
    np.testing.assert_allclose(found[0], [1.0, 0.0])
    assert found[1, 1] > 0.9
    np.testing.assert_allclose(found[2], [0.5, 0.5])


def database_table(frame: pd.DataFrame) -> Any:
    """Return a frame as a table of a database, which counts it by SQL."""
    return ibis.duckdb.connect().create_table("rows", pa.Table.from_pandas(frame))


@pytest.mark.parametrize(
    ("family", "value", "message"),
    [
        ("geometric", -1.0, r"'x' is -1 in row 3, but geometric takes counts 0, 1, 2, …; .*'gaussian', 'number'"),
        ("negative-binomial", 2.5, r"'x' is 2.5 in row 3, but negative-binomial takes counts .*'categorical' take it"),
        ("binomial(8)", 2.5, r"'x' is 2.5 in row 3, but binomial\(8\) takes counts 0, 1, 2"),
        ("binomial(8)", 9.0, r"'x' is 9 in row 3, but binomial\(8\) takes 0 to 8 .*'binomial\(9\)', or take 'poisson'"),
        ("geometric", np.inf, r"infinity.*column 'x' is inf in row 3"),
    ],
)
def test_bad_values_are_refused_with_their_place(
    family: str, value: float, message: str, engine_counts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = pd.DataFrame({"x": np.arange(40.0) % 7, "y": ["a", "b"] * 20})
    bad = good.assign(x=good["x"].where(good.index != 3, value))
    model = BayesClassifier(families={"x": family}, structure="naive")
    with pytest.raises(ValueError, match=message):
        model.fit(bad[["x"]], bad["y"])
    model.fit(good[["x"]], good["y"])
    before = model.tally_
    for call in (model.predict, lambda X: model.partial_fit(X, bad["y"])):
        with pytest.raises(ValueError, match=message):
            call(bad[["x"]])
    assert model.tally_ == before
    if np.isinf(value) or value < 0:  # which the sums of the sample refuse, too
        return
    # a database finds what is beyond the sample that is read
    monkeypatch.setattr(Family, "check_cells", lambda self, block: None)
    with pytest.raises(ValueError, match=message.replace(" in row 3", " in a row")):
        BayesClassifier(families={"x": family}, structure="naive").fit_table(database_table(bad), "y")


def test_settings_in_names() -> None:
    X, y = example("binomial")
    for family, message in (
        ("binomial", r"column 'x': binomial needs the number of trials .*'binomial\(10\)'"),
        ("binomial(2.5)", "the number of trials of binomial is a whole number from 1 to 1e15, not 2.5"),
        ("binomial(ten)", "the trials of binomial is a number, not 'ten'"),
        ("negative-binomial(0)", "the dispersion of negative-binomial is a number of more than 0, not 0"),
        ("poisson(3)", r"sets 'poisson\(3\)' for column 'x', which is not a family"),
    ):
        with pytest.raises(ValueError, match=message):
            BayesClassifier(families={"x": family}).fit(X, y)
    model = BayesClassifier(families={"x": "binomial(8.0)"}, structure="naive").fit(X, y)
    assert model.families_ == {"x": "binomial(8)"}
    with pytest.raises(ValueError, match=r"column 'x' is binomial\(8\) on one side and binomial\(9\) on the other"):
        model + BayesClassifier(families={"x": "binomial(9)"}, structure="naive").fit(X, y)
    assert "binomial(inf)" not in FAMILIES
    assert None not in FAMILIES


def test_a_default_dispersion_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    known: Any = FAMILIES["negative-binomial"]
    monkeypatch.setitem(FAMILIES, known.name, known)
    register(type(known)(dispersion=3.0))
    X, y = example("negative-binomial")
    found = [
        BayesClassifier(families={"x": family}, structure="naive").fit(X, y).predict_proba(X)
        for family in ("negative-binomial", "negative-binomial(3)")
    ]
    np.testing.assert_array_equal(found[0], found[1])


def test_priors_and_rules_by_family() -> None:
    X, y = example("binomial")
    s, f = outcomes("binomial", X["x"].to_numpy()[y == 1])
    for prior, a, b in (
        (Flat(), 1, 1),
        (MEstimate(4, 0.25), 1, 3),
        (MEstimate(4), 2, 2),
        ({"binomial": Beta(2, 3)}, 2, 3),
        ({"binomial(8)": 0.7}, 0.7, 0.7),
    ):
        model = BayesClassifier(families={"x": "binomial(8)"}, prior=prior, structure="naive").fit(X, y)
        assert model.posterior_["x"]["p"].mean()[1] == pytest.approx((s + a) / (s + f + a + b))
    model = BayesClassifier(families={"x": "binomial(8)"}, estimate={"binomial": "mle"}, structure="naive").fit(X, y)
    assert np.exp(model.estimate_model().parameters[0].log_p[1, 0]) == pytest.approx(s / (s + f))
    with pytest.raises(ValueError, match=r"binomial.* a number, Beta, MEstimate or Flat"):
        BayesClassifier(families={"x": "binomial(8)"}, prior={"x": suffice.Gamma(1, 1)}).fit(X, y)


@every_full_name
def test_the_predictive_mass_is_a_ratio_of_normalisers(family: str) -> None:
    """log p(x | data) = log Z(data + x) − log Z(data), up to factors without the parameter."""
    its = FAMILIES[family]
    X, y = family_table(family, 40)
    model = BayesClassifier(families=family, structure="naive", estimate="predictive").fit(X, y)
    columns, statistic = model.tally_.schema.blocks[0], model.tally_.statistics[0]
    before = its.posterior_hyperparameters(its.prior_hyperparameters(0.5, columns, statistic), statistic)
    base = its.mean(columns, before).score()  # has the same factors
    for value in (0.0, 1.0, 5.0):
        row = np.full((1, 2), value)
        one = SquaredCounts(n=np.ones((3, 1)), total=np.full((3, 2), value), squares=np.full((3, 2), value**2))
        after = its.posterior_hyperparameters(before, one)
        ratio = its.log_partition(columns, after) - its.log_partition(columns, before)
        s, f = (now - then for now, then in zip(after[:2], before[:2], strict=True))
        p = before[0] / (before[0] + before[1])
        factor = base.contributions_of(row)[0] - s * np.log(p) - f * np.log1p(-p)
        found = its.predictive(columns, before).score().contributions_of(row)[0]
        np.testing.assert_allclose(found, ratio + factor, rtol=1e-9, atol=1e-9)


@every_full_name
def test_rows_files_plots_intervals_and_information(family: str, tmp_path: Path) -> None:
    X, y = family_table(family, 600)
    for rule in ("mle", "predictive"):
        model = BayesClassifier(families=family, structure="naive", estimate=rule).fit(X, y)
        drawn, labels = model.sample(6000, random_state=0)
        drawn = pd.DataFrame(np.asarray(drawn, float), columns=X.columns)
        model.predict(drawn)  # all are possible
        for k in range(3):
            assert drawn["one"][np.asarray(labels) == k].mean() == pytest.approx(X["one"][y == k].mean(), rel=0.15)
    loaded = suffice.load(model.save(tmp_path / "model.suffice"))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.tally_ == model.tally_
    assert loaded.families_ == model.families_
    assert plots.densities(model, X, y, column="one").lines
    lower, upper = model.predict_interval(X[:5], draws=50, random_state=0)
    assert (lower <= upper).all()
    assert np.isfinite(model.log_evidence_)
    density = BayesClassifier(families=family, structure="naive", estimate="mle").fit(X, y).estimate_model()
    values = np.arange(9 if family.startswith("binomial") else 400.0)[:, None].repeat(2, axis=1)
    joint = np.exp(density.scores[0].contributions_of(values)) * (np.bincount(y) / len(y))[None, :, None]
    ratio = joint / joint.sum(axis=1, keepdims=True) / (np.bincount(y) / len(y))[None, :, None]
    expected = (joint * np.log(np.maximum(ratio, 1e-300))).sum(axis=(0, 1))
    np.testing.assert_allclose([model.information_[name] for name in X], expected, rtol=1e-4)


def run_duckdb(sql: str, rows: pd.DataFrame) -> pd.DataFrame:
    with duckdb.connect() as base:
        base.register("rows", pa.Table.from_pandas(rows))
        return base.execute(sql).df()


def run_sqlite(sql: str, rows: pd.DataFrame) -> pd.DataFrame:
    with sqlite3.connect(":memory:") as base:
        rows.to_sql("rows", base, index=False)
        *first, last = [each for each in sql.split(";\n") if each.strip()]
        for statement in first:
            base.execute(statement)
        return pd.read_sql(last, base)


DATABASES: dict[str, Callable[[str, pd.DataFrame], pd.DataFrame]] = {"duckdb": run_duckdb, "sqlite": run_sqlite}


@pytest.mark.parametrize("dialect", DATABASES)
@every_rule
@every_full_name
def test_sql_gives_the_probabilities(family: str, rule: str, dialect: str) -> None:
    X, y = family_table(family, 3000 if rule == "predictive" else 60)
    model = BayesClassifier(families=family, structure="naive", estimate=rule).fit(X, y)
    rows = X[:50].astype(float).mask(np.random.default_rng(0).random((50, 2)) < 0.1)
    found = DATABASES[dialect](model.to_sql(dialect, style="select", table="rows"), rows)
    np.testing.assert_allclose(found[["p(0)", "p(1)", "p(2)"]], model.predict_proba(rows), atol=1e-8)


@every_rule
@every_full_name
def test_onnx_gives_the_probabilities(family: str, rule: str) -> None:
    X, y = family_table(family, 3000 if rule == "predictive" else 60)
    model = BayesClassifier(families=family, structure="naive", estimate=rule).fit(X.astype(float), y)
    rows = X[:50].astype(float).mask(np.random.default_rng(0).random((50, 2)) < 0.1)
    session = onnxruntime.InferenceSession(model.to_onnx("float64").SerializeToString())
    _, found = session.run(None, {name: rows[[name]].to_numpy() for name in rows})
    np.testing.assert_allclose(found, model.predict_proba(rows), atol=1e-12)


@pytest.mark.parametrize("weight", [None, "weight"])
@every_full_name
def test_a_database_counts_the_same_sums(family: str, weight: str | None, engine_counts: None) -> None:
    X, y = family_table(family, 500, missing=0.1)
    frame = X.astype(float).assign(weight=np.arange(500.0) % 3, label=y)
    near = BayesClassifier(families=dict.fromkeys(X, family), structure="naive")
    far = BayesClassifier(families=dict.fromkeys(X, family), structure="naive")
    columns = frame if weight else frame.drop(columns="weight")
    near.fit_table(columns, "label", weight=weight)
    far.fit_table(database_table(columns), "label", weight=weight)
    assert far.tally_ == near.tally_


def test_single_distributions() -> None:
    x = [2, 0, 4, 1, 0, 7]
    for kind, name, settings in (
        (Geometric, "geometric", {}),
        (NegativeBinomial.with_dispersion(R), "negative-binomial", {}),
        (Binomial, "binomial", {"trials": TRIALS}),
    ):
        tally = kind.tally(x, **settings)  # type: ignore[attr-defined]
        s, f = outcomes(name, np.array(x))
        values = np.arange(9)
        mle = kind.estimate(tally, rule="mle", **settings)  # type: ignore[attr-defined]
        np.testing.assert_allclose(mle.log_density(values), of_scipy(name, s / (s + f)).logpmf(values), rtol=1e-9)
        mode = kind.estimate(tally, Beta(3, 2), "map", **settings)  # type: ignore[attr-defined]
        assert mode.p == pytest.approx((s + 2) / (s + f + 3))
        assert kind.posterior(tally, Beta(3, 2)).args == pytest.approx((s + 3, f + 2))  # type: ignore[attr-defined]
        averaged = kind.estimate(tally, 1.0, "predictive", **settings)  # type: ignore[attr-defined]
        expected = averaged.expect(lambda p, name=name: of_scipy(name, p).pmf(3))
        assert np.exp(averaged.log_density([3]))[0] == pytest.approx(expected, rel=1e-9)
        low, high = averaged.interval(0.9)
        assert low < averaged.p < high
        drawn = averaged.sample(100, random_state=0)
        assert drawn.min() >= 0
        parts = [kind.tally(each, **settings) for each in (x[:2], x[2:])]  # type: ignore[attr-defined]
        assert parts[0] + parts[1] == tally
        assert (parts[0] + parts[1]) - parts[1] == parts[0]
        assert type(averaged).__name__ in repr(averaged)
        assert np.isfinite(kind.log_evidence(tally))  # type: ignore[attr-defined]


def test_single_distributions_refuse_what_they_cannot_take() -> None:
    for call, message in (
        (lambda: Geometric.tally([1, -2]), "observation 1 is -2; Geometric takes numbers of failures: 0, 1, 2, …"),
        (lambda: NegativeBinomial.tally([0.5]), "observation 0 is 0.5; NegativeBinomial takes counts"),
        (lambda: Binomial.tally([3, 12], trials=[5, 10]), "observation 1 is 12 of 10 trials; Binomial takes"),
        (lambda: Binomial.tally([3, 12], trials=[5, 10, 2]), "trials has 3 entries, and there are 2 observations"),
        (lambda: Binomial.tally([3]), "trials must be finite"),
        (lambda: Binomial.estimate(Binomial.tally([3], trials=4)), "trials must be a whole number of 1 or more"),
        (lambda: Binomial(0, 0.5), "trials must be a whole number of 1 or more, not 0"),
        (lambda: Geometric(1.5), "p must be a probability"),
        (lambda: NegativeBinomial(-1, 0.5), "dispersion must be finite and more than 0"),
        (lambda: NegativeBinomial.with_dispersion(-1), "dispersion of negative-binomial is a number of more than 0"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    different = Binomial.tally([3, 1], trials=[10, 5])
    assert Binomial.posterior(different).args == (5.0, 12.0)
    estimated = NegativeBinomial.estimate(NegativeBinomial.tally([0, 0, 1, 7, 2]), rule="mle")
    assert estimated.dispersion == pytest.approx(4 / (8.5 - 2))
    weighted = NegativeBinomial.tally([2, 5], weights=[2, 1])
    assert weighted == NegativeBinomial.tally([2, 2, 5])
