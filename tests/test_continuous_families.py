"""Exponential, gamma, log-normal and von Mises columns: densities, estimates, exports, engines and bad input."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from scipy.special import gammaln, ive
from sklearn.base import clone

import suffice
from suffice import BayesClassifier, plots, report
from suffice.families import FAMILIES
from suffice.families.gamma import GammaParameters, solve_shape
from suffice.families.kernel import BANDWIDTHS, smooth_cells
from suffice.families.von_mises import solve_concentration
from suffice.schema import Columns

mpl.use("Agg")

NAMES = ("exponential", "gamma", "log-normal", "von-mises")
every_name = pytest.mark.parametrize("name", NAMES)
DEGREES = "von-mises(360)"


def draw(name: str, y: Any, rng: np.random.Generator) -> Any:
    """Return a column of a family, in which the classes 0 and 1 differ."""
    return {
        "exponential": lambda: rng.exponential(1.0 + 2 * y),
        "gamma": lambda: rng.gamma(0.7 + 2 * y, 1.5),
        "log-normal": lambda: np.exp(rng.normal(y, 0.8 + 0.3 * y)),
        "von-mises": lambda: rng.vonmises(1.0 + y, 1.0 + 2 * y),
        DEGREES: lambda: np.degrees(rng.vonmises(1.0 + y, 1.0 + 2 * y)) % 360,
    }[name]()


def example(name: str, rows: int = 500, missing: float = 0.0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    table = pd.DataFrame({"x": draw(name, y, rng), "z": draw(name, y, rng)})
    return table.mask(rng.random(table.shape) < missing), y


def model(name: str, **settings: Any) -> BayesClassifier:
    return BayesClassifier(families=name, **{"structure": "naive", "missing": "skip"} | settings)


def fitted_by_scipy(name: str, x: Any) -> Any:
    """Return the maximum-likelihood distribution by scipy."""
    if name == "exponential":
        return stats.expon(scale=x.mean())
    if name == "gamma":
        shape, _, scale = stats.gamma.fit(x, floc=0)
        return stats.gamma(shape, scale=scale)
    if name == "log-normal":
        return stats.lognorm(np.log(x).std(), scale=np.exp(np.log(x).mean()))
    if name == DEGREES:
        kappa, loc, scale = stats.vonmises.fit(np.radians(x), fscale=1)
        return stats.vonmises(kappa, np.degrees(loc), np.degrees(scale))
    kappa, loc, scale = stats.vonmises.fit(x, fscale=1)
    return stats.vonmises(kappa, loc, scale)


@pytest.mark.parametrize("name", [*NAMES, DEGREES])
def test_maximum_likelihood_and_density_are_those_of_scipy(name: str) -> None:
    X, y = example(name)
    X = X[["x"]]
    fitted = model(name, estimate="mle").fit(X, y)
    found = fitted.predict_joint_log_proba(X) - np.log(np.bincount(y) / len(y))
    expected = [fitted_by_scipy(name, X["x"].to_numpy()[y == k]).logpdf(X["x"]) for k in (0, 1)]
    np.testing.assert_allclose(found, np.stack(expected, axis=1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [1e-3, 0.5, 3.0, 400.0, 1e6])
def test_the_density_of_gamma_is_that_of_scipy_for_any_shape(shape: float) -> None:
    its = GammaParameters(np.array([[shape]]), np.array([[2.0]]))
    x = stats.gamma(shape, scale=0.5).ppf([0.2, 0.5, 0.9]) + 1e-300
    found = its.score().contributions_of(x[:, None])[:, 0, 0]
    np.testing.assert_allclose(found, stats.gamma(shape, scale=0.5).logpdf(x), rtol=1e-9, atol=1e-8)


def test_equations_are_solved_to_all_digits() -> None:
    from scipy.special import digamma

    shape = np.geomspace(1e-3, 1e3, 40)
    np.testing.assert_allclose(solve_shape(np.log(shape) - digamma(shape)), shape, rtol=1e-9)
    kappa = np.geomspace(1e-4, 1e3, 40)
    np.testing.assert_allclose(solve_concentration(1 - ive(1, kappa) / ive(0, kappa)), kappa, rtol=1e-8)


@pytest.mark.parametrize("name", ["exponential", "log-normal"])
def test_the_predictive_distribution_is_the_average_over_the_posterior(name: str) -> None:
    X, y = example(name, rows=12)
    X, y = X[["x"]], np.zeros(12, int)
    fitted = model(name, estimate="predictive", prior=2.0).fit(X, y)
    points = np.array([0.1, 0.7, 3.0])
    found = np.exp(fitted.predict_joint_log_proba(pd.DataFrame({"x": points}))[:, 0])
    posterior = fitted.posterior_["x"]
    if name == "exponential":
        its = posterior["rate"]
        expected = [
            integrate.quad(lambda r, x=x: r * np.exp(-r * x) * its.pdf(r).item(), 0, its.ppf(1 - 1e-13).item())[0]
            for x in points
        ]
    else:
        # the mean given the variance v is N(m, v / rows), so log x is N(m, v·(1 + 1 / rows))
        rows, its = 14.0, posterior["variance"]
        centre = posterior["mean"].mean().item()
        expected = [
            integrate.quad(
                lambda v, x=x: stats.norm(centre, np.sqrt(v * (1 + 1 / rows))).pdf(np.log(x)) / x * its.pdf(v).item(),
                0,
                its.ppf(1 - 1e-9).item(),
                limit=400,
            )[0]
            for x in points
        ]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@every_name
def test_the_predictive_density_integrates_to_one(name: str) -> None:
    X, _ = example(name, rows=20)
    for rule in FAMILIES[name].rules:
        fitted = model(name, estimate=rule).fit(X[["x"]], np.zeros(20, int))

        def density(x: float, fitted: Any = fitted) -> float:
            return float(np.exp(fitted.predict_joint_log_proba(pd.DataFrame({"x": [x]}))[0, 0]))

        if name == "von-mises":
            total = integrate.quad(density, -np.pi, np.pi)[0]
        else:
            total = integrate.quad(lambda t: density(np.exp(t)) * np.exp(t), -30, 30, limit=200, points=[0.0])[0]
        assert total == pytest.approx(1.0, abs=1e-6)


def test_the_posterior_of_gamma_is_that_of_a_double_integral() -> None:
    family, columns = FAMILIES["gamma"], Columns("gamma", 1)
    x = np.array([0.4, 1.3, 2.2, 0.9])
    rows, total, logs = 4.5, x.sum() + 0.5 * 1.2, np.log(x).sum() - 0.1
    alpha, beta = np.meshgrid(np.geomspace(1e-3, 60, 3000), np.geomspace(1e-3, 80, 3000), indexing="ij")
    log_f = (alpha - 1) * logs - beta * total + rows * (alpha * np.log(beta) - gammaln(alpha))
    area = np.gradient(alpha[:, 0])[:, None] * np.gradient(beta[0])[None]
    f = np.exp(log_f) * area
    hyperparameters = tuple(np.array([[each]]) for each in (rows, total, logs))
    assert family.log_partition(columns, hyperparameters).item() == pytest.approx(np.log(f.sum()), abs=1e-4)
    mean: Any = family.mean(columns, hyperparameters)
    assert mean.shape.item() == pytest.approx((f * alpha).sum() / f.sum(), rel=1e-4)
    assert mean.rate.item() == pytest.approx((f * beta).sum() / f.sum(), rel=1e-4)
    draws = [family.draw(columns, hyperparameters, np.random.default_rng(seed)) for seed in range(400)]
    assert np.mean([its.shape.item() for its in draws]) == pytest.approx(mean.shape.item(), rel=0.15)  # type: ignore
    mode: Any = family.mode(columns, hyperparameters)
    best = np.unravel_index(np.argmax(log_f), log_f.shape)
    assert mode.shape.item() == pytest.approx(alpha[best], rel=0.02)


def test_the_posterior_of_von_mises_is_that_of_a_double_integral() -> None:
    family, columns = FAMILIES["von-mises"], Columns("von-mises", 1)
    rows, cosines, sines = 6.0, 3.5, 1.2
    mu = np.linspace(-np.pi, np.pi, 1200, endpoint=False)
    kappa = np.linspace(0, 60, 6001)
    log_f = kappa[:, None] * (cosines * np.cos(mu) + sines * np.sin(mu))
    log_f = log_f - rows * (np.log(2 * np.pi * ive(0, kappa)) + kappa)[:, None]
    f = np.exp(log_f) * (mu[1] - mu[0]) * (kappa[1] - kappa[0])
    f[0] /= 2  # the ends of a trapezoidal rule
    hyperparameters = tuple(np.array([[each]]) for each in (rows, cosines, sines))
    assert family.log_partition(columns, hyperparameters).item() == pytest.approx(np.log(f.sum()), abs=1e-3)
    mean: Any = family.mean(columns, hyperparameters)
    assert mean.concentration.item() == pytest.approx((f * kappa[:, None]).sum() / f.sum(), rel=1e-3)
    assert mean.direction.item() == pytest.approx(np.arctan2(sines, cosines))


def test_degrees_and_radians_give_the_same_probabilities() -> None:
    X, y = example(DEGREES, missing=0.1)
    for rule in ("mle", "map", "mean"):
        degrees = model(DEGREES, estimate=rule).fit(X, y)
        radians = model("von-mises", estimate=rule).fit(np.radians(X), y)
        np.testing.assert_allclose(
            degrees.predict_proba(X), radians.predict_proba(np.radians(X)), rtol=1e-9, atol=1e-12
        )
    assert degrees.families_ == {"x": DEGREES, "z": DEGREES}
    wrapped = X.where(X < 180, X - 360)
    np.testing.assert_allclose(degrees.predict_proba(wrapped), degrees.predict_proba(X), atol=1e-9)


def test_a_family_with_a_setting_is_stored_by_its_name(tmp_path: Path) -> None:
    X, y = example(DEGREES)
    fitted = model(DEGREES).fit(X, y)
    loaded = suffice.load(fitted.save(tmp_path / "model.suffice"))
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    with pytest.raises(ValueError, match="the period of von-mises is a number, not 'x'"):
        BayesClassifier(families={"x": "von-mises(x)"}).fit(X, y)
    with pytest.raises(ValueError, match="not a family"):
        BayesClassifier(families={"x": "gamma(3)"}).fit(X, y)


@pytest.mark.parametrize("style", ["select", "tables"])
@pytest.mark.parametrize("base", ["duckdb", "sqlite"])
@pytest.mark.parametrize("name", [*NAMES, DEGREES])
def test_sql_agrees(name: str, base: str, style: Any) -> None:
    X, y = example(name, rows=60, missing=0.2)
    X.insert(0, "id", np.arange(60))
    for rule in FAMILIES[name].rules:
        families = {"id": "ignore", "x": name, "z": name}
        fitted = BayesClassifier(families=families, structure="naive", missing="skip", estimate=rule).fit(X, y)
        statement = fitted.to_sql(base, table="rows", style=style)
        if base == "duckdb":
            with duckdb.connect() as database:
                database.register("frame", X)
                database.execute("CREATE TABLE rows AS SELECT * FROM frame")
                found = [row[-2:] for row in sorted(_run(database, statement))]
        else:
            with sqlite3.connect(":memory:") as database:
                X.to_sql("rows", database, index=False)
                found = [row[-2:] for row in sorted(_run(database, statement))]
        np.testing.assert_allclose(np.array(found, float), fitted.predict_proba(X), rtol=1e-8, atol=1e-9)


def _run(database: Any, script: str) -> Any:
    *setup, query = [part for part in script.split(";\n") if part.strip()]
    for statement in setup:
        database.execute(statement)
    if query.lstrip().upper().startswith("CREATE VIEW"):
        database.execute(query)
        return database.execute(f"SELECT * FROM {query.split()[2]}").fetchall()
    return database.execute(query).fetchall()


def test_sql_has_no_result_outside_of_the_domain() -> None:
    X, y = example("gamma", rows=60)
    statement = model("gamma").fit(X, y).to_sql("duckdb", table="rows", style="select")
    with duckdb.connect() as database:
        database.execute("CREATE TABLE rows AS SELECT -1.0 AS x, 2.0 AS z UNION ALL SELECT 1.0, 2.0")
        found = {row[0]: row[-1] for row in database.execute(statement).fetchall()}
    assert found[-1.0] is None
    assert found[1.0] is not None


def test_other_columns_can_be_averaged_over_their_posterior() -> None:
    X, y = example("gamma")
    X["other"] = np.exp(X["z"] / 10)
    families = {"x": "gamma", "z": "exponential", "other": "log-normal"}
    with pytest.raises(ValueError, match="gamma columns have no predictive distribution in closed form"):
        BayesClassifier(families=families, structure="naive", estimate="predictive").fit(X, y).predict(X)
    rules = {"gamma": "mean", "exponential": "predictive", "log-normal": "predictive"}
    assert BayesClassifier(families=families, structure="naive", estimate=rules).fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize(
    ("name", "value", "takes"),
    [
        ("exponential", -1.0, "number, gaussian"),
        ("gamma", 0.0, "exponential"),
        ("log-normal", 0.0, "exponential"),
        ("log-normal", -2.5, "gaussian"),
        ("von-mises", 7.0, "exponential"),
        (DEGREES, 400.0, "log-normal"),
    ],
)
def test_a_number_outside_of_the_domain_is_named(name: str, value: float, takes: str) -> None:
    X, y = example(name, missing=0.1)
    fitted = model(name).fit(X, y)
    wrong = X.copy()
    wrong.loc[7, "z"] = value
    for call in (lambda: model(name).fit(wrong, y), lambda: fitted.predict(wrong)):
        with pytest.raises(ValueError, match=f"column 'z' is {value:g} in row 7, but") as caught:
            call()
        assert takes in str(caught.value)
        assert f", {name.split('(')[0]}," not in str(caught.value) or name == DEGREES
    with duckdb.connect() as database:
        database.register("frame", wrong.assign(y=y))
        with pytest.raises(ValueError, match=f"column 'z' is {value:g}"):
            model(name).fit_table(database.sql("SELECT * FROM frame"), target="y")


@pytest.mark.parametrize("name", [*NAMES, DEGREES])
def test_infinite_numbers_are_rejected(name: str) -> None:
    X, y = example(name)
    X.loc[3, "x"] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model(name).fit(X, y)


@every_name
def test_a_constant_column_gives_probabilities(name: str) -> None:
    X = pd.DataFrame({"x": np.full(20, 2.0), "z": np.ones(20)})
    y = np.arange(20) % 2
    for rule in FAMILIES[name].rules:
        fitted = model(name, estimate=rule).fit(X, y)
        np.testing.assert_allclose(fitted.predict_proba(X), 0.5, atol=1e-6)
        other = fitted.predict_proba(pd.DataFrame({"x": [3.0], "z": [0.5]}))
        assert np.isfinite(other).all()


def test_the_information_of_log_normal_columns_is_that_of_their_logarithms() -> None:
    X, y = example("log-normal", 4000)
    found, expected = model("log-normal").fit(X, y).information_, model("gaussian").fit(np.log(X), y).information_
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["exponential", "gamma", "von-mises"])
def test_information_is_that_of_the_distributions(name: str) -> None:
    X, y = example(name, 4000)
    fitted = model(name, estimate="mle").fit(X, y)
    its = [fitted_by_scipy(name, X["x"].to_numpy()[y == k]) for k in (0, 1)]
    share = np.bincount(y) / len(y)

    def integrand(t: float) -> float:
        x = t if name == "von-mises" else np.exp(t)
        joint = share * np.array([each.pdf(x) for each in its]) * (1.0 if name == "von-mises" else x)
        return float((joint * np.log(np.maximum(joint / joint.sum() / share, 1e-300))).sum()) if joint.sum() > 0 else 0

    ends = (-np.pi, np.pi) if name == "von-mises" else (-15.0, 6.0)
    expected = integrate.quad(integrand, *ends, limit=300)[0]
    assert fitted.information_["x"] == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("name", [*NAMES, DEGREES])
def test_rows_are_drawn_plots_are_drawn_and_reports_are_written(name: str, tmp_path: Path) -> None:
    X, y = example(name, 2000)
    fitted = model(name).fit(X, y)
    drawn, labels = fitted.sample(4000, random_state=0)
    x = np.asarray(drawn)[:, 0].astype(float)
    for k in (0, 1):
        mine, its = X["x"].to_numpy()[y == k], x[np.asarray(labels) == k]
        if name in ("von-mises", DEGREES):
            turn = 2 * np.pi if name == "von-mises" else 360.0
            assert np.exp(2j * np.pi * its / turn).mean() == pytest.approx(
                np.exp(2j * np.pi * mine / turn).mean(), abs=0.05
            )
        else:
            assert np.median(its) == pytest.approx(np.median(mine), rel=0.25)
    assert plots.densities(fitted, X, y, column="x").lines
    lower, upper = fitted.predict_interval(X[:5], draws=50, random_state=0)
    assert (lower <= upper).all()
    assert (
        "von-mises" in report.write(fitted, tmp_path / "page.html", X[:50], y[:50]).read_text() or "mises" not in name
    )


KINDS = {
    "exponential": suffice.Exponential,
    "gamma": suffice.GammaDistribution,
    "log-normal": suffice.LogNormal,
    "von-mises": suffice.VonMises,
}


@every_name
def test_a_single_distribution_is_that_of_a_classifier(name: str) -> None:
    X, _ = example(name, 40)
    x, kind = X["x"].to_numpy(), KINDS[name]
    tally = kind.tally(x)
    np.testing.assert_allclose(
        kind.estimate(tally, None, "mle").log_density(x), fitted_by_scipy(name, x).logpdf(x), rtol=1e-8, atol=1e-8
    )
    halves = kind.tally(x[:15]) + kind.tally(x[15:])
    assert halves.isclose(tally, 1e-12)
    assert (tally - kind.tally(x[15:])).isclose(kind.tally(x[:15]), 1e-9)
    for rule in FAMILIES[name].rules:
        its = kind.estimate(tally, 2.0, rule)
        fitted = model(name, estimate=rule, prior=2.0).fit(X[["x"]], np.zeros(40, int))
        expected = fitted.predict_joint_log_proba(X[["x"]])[:, 0]
        np.testing.assert_allclose(its.log_density(x), expected, rtol=1e-9, atol=1e-9)
        assert np.isfinite(its.sample(5, random_state=0)).all()
    its = kind.estimate(tally, 2.0, "mean")
    assert its.log_density([0.5]).shape == (1,)
    first = its.interval()[0] if name != "exponential" else its.interval()
    parameter = getattr(its, kind._shown[0])
    assert first[0] < parameter < first[1]
    assert its.expect(lambda *values: values[0]) == pytest.approx(parameter, rel=0.05)
    assert np.isfinite(kind.log_evidence(tally, 2.0))
    assert str(its).startswith(kind.__name__)


def test_single_distributions_refuse_what_they_cannot_take() -> None:
    for kind, value in (
        (suffice.Exponential, -1.0),
        (suffice.GammaDistribution, 0.0),
        (suffice.LogNormal, 0.0),
        (suffice.VonMises, 7.0),
    ):
        with pytest.raises(ValueError, match=r"takes"):
            kind.tally([1.0, value])
    with pytest.raises(ValueError, match="no predictive distribution"):
        suffice.VonMises.estimate(suffice.VonMises.tally([0.1, 0.2]), rule="predictive")


def table_of_any(rows: int = 900, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    columns = {
        "gaussian": rng.normal(10.0 + y),
        "log-normal": np.exp(rng.normal(3 + 0.7 * y, 1.0)),
        "gamma": rng.gamma(2.0, 1.0 + y),
        "exponential": rng.exponential(1.0 + y),
    }
    return pd.DataFrame(columns), y


def test_the_default_chooses_the_family_that_the_numbers_have() -> None:
    X, y = table_of_any(3000)
    X["signed"] = np.random.default_rng(1).normal(y, 1.0)
    chosen = BayesClassifier(structure="naive").fit(X, y)
    number = BayesClassifier(structure="naive", families=dict.fromkeys(X, "number")).fit(X, y)
    assert chosen.families_["log-normal"] == "log-normal"
    assert chosen.families_["gaussian"] == number.families_["gaussian"] == "gaussian"
    assert chosen.families_["signed"] == number.families_["signed"]
    assert chosen.families_["gamma"] in ("gamma", "mdl", "quantiles")
    others = dict.fromkeys(X.columns.drop("log-normal"), "number")
    for one in (others, others | {"log-normal": "auto"}, others | {"log-normal": "any"}):
        found = BayesClassifier(structure="naive", families=one).fit(X, y)
        assert found.families_ == number.families_ | {"log-normal": "log-normal"}


def test_only_any_chooses_a_family_where_columns_depend_on_each_other() -> None:
    X, y = table_of_any()
    default, chosen = (BayesClassifier(structure="tree", families=each).fit(X, y) for each in ("auto", "any"))
    assert default.families_["log-normal"] in ("gaussian", "quantiles", "mdl")
    assert chosen.families_["log-normal"] == "log-normal"


def test_families_that_are_chosen_suit_the_rule_and_the_prior() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    X = pd.DataFrame({"x": rng.gamma(0.7, 1 + 5 * y)})
    assert BayesClassifier(structure="naive").fit(X, y).families_ == {"x": "gamma"}
    for rules in ("predictive", {"x": "predictive"}, {"gamma": "predictive"}):
        model = BayesClassifier(structure="naive", estimate=rules).fit(X, y)
        assert model.families_["x"] != "gamma"
        assert np.isfinite(model.predict_proba(X)).all()
    prior = {"x": suffice.Dirichlet(2.0)}  # of bins
    assert BayesClassifier(structure="naive", prior=prior).fit(X, y).families_["x"] in ("quantiles", "mdl")


def test_a_column_whose_missing_cells_are_a_level_keeps_its_bins() -> None:
    X, y = table_of_any()
    X.loc[(y == 1) & (np.arange(len(y)) % 3 == 0), "log-normal"] = np.nan
    default, skipped = (BayesClassifier(structure="naive", missing=each).fit(X, y) for each in ("auto", "skip"))
    assert skipped.families_["log-normal"] == "log-normal"
    assert default.families_["log-normal"] in ("quantiles", "mdl")
    missing = dict.fromkeys(X)
    assert default.predict_proba(missing)[0, 1] > 0.9 > skipped.predict_proba(missing)[0, 1]


def test_models_merge_if_only_one_has_moments_of_logarithms() -> None:
    X, y = table_of_any(1000)
    X.loc[700, "log-normal"] = 0.0
    model = BayesClassifier(structure="naive")
    first, second = clone(model).fit(X[:500], y[:500]), clone(model).fit(X[500:], y[500:])
    assert first.families_["log-normal"] == "log-normal"
    for merged in (first + second, second + first):
        assert merged.families_["log-normal"] not in ("log-normal", "gamma", "exponential")
        assert merged.tally_.class_count.tolist() == np.bincount(y).tolist()
        moments = next(
            its
            for block, its in zip(merged.tally_.schema.blocks, merged.tally_.statistics, strict=True)
            if block.family == "gaussian"
        )
        place = list(X).index("log-normal")
        np.testing.assert_allclose(moments.mean[:, place], [X["log-normal"][y == k].mean() for k in (0, 1)])


def test_log_normal_columns_that_are_named_and_chosen_merge() -> None:
    X, y = table_of_any(1000)
    X["named"] = X["log-normal"].to_numpy()[::-1]
    model = BayesClassifier(structure="naive", families={"named": "log-normal"})
    first, second = clone(model).fit(X[:500], y[:500]), clone(model).fit(X[500:], y[500:])
    merged = first + second
    assert merged.families_["named"] == merged.families_["log-normal"] == "log-normal"
    whole = clone(model).set_params(plan=merged.plan_).fit(X, y)
    np.testing.assert_allclose(merged.predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_what_is_chosen_is_estimated_as_if_it_was_named() -> None:
    X, y = table_of_any()
    X.loc[::9, "log-normal"] = np.nan
    chosen = BayesClassifier(structure="naive", families="any").fit(X, y)
    forms = chosen.families_
    assert set(forms.values()) - {"gaussian", "mdl", "quantiles"}
    named = BayesClassifier(structure="naive", families=forms).fit(X, y)
    np.testing.assert_allclose(chosen.predict_proba(X), named.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("family", ["exponential", "gamma", "log-normal"])
def test_sums_of_families_that_are_chosen_are_those_of_the_rows(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from suffice.choice import Form, column_forms

    monkeypatch.setattr(column_forms, "best_positive", lambda column, form, _: Form(family=family))
    X, y = table_of_any()
    X = X[["gaussian"]]
    X.loc[::9, "gaussian"] = np.nan
    chosen = BayesClassifier(structure="naive", families="any").fit(X, y)
    assert chosen.families_ == {"gaussian": family}
    named = BayesClassifier(structure="naive", families={"gaussian": family}).fit(X, y)
    np.testing.assert_allclose(chosen.predict_proba(X), named.predict_proba(X), rtol=1e-9, atol=1e-12)
    # a number that such a family cannot have counts as missing, because nobody asked for the family
    zero, missing = pd.DataFrame({"gaussian": [-1.0]}), pd.DataFrame({"gaussian": [np.nan]})
    if family != "exponential":
        np.testing.assert_allclose(chosen.predict_proba(zero), chosen.predict_proba(missing))


def test_numbers_that_are_not_positive_end_the_choice() -> None:
    X, y = table_of_any()
    model = BayesClassifier(structure="naive", families="any").partial_fit(X, y)
    assert model.families_["log-normal"] == "log-normal"
    more = X[:5].copy()
    more["log-normal"] = -1.0
    model.partial_fit(more, y[:5])
    assert model.families_["log-normal"] != "log-normal"
    forgotten = model.forget(more, y[:5])
    assert forgotten.families_["log-normal"] == "log-normal"


def test_any_is_counted_by_databases_and_kept_in_files(tmp_path: Path) -> None:
    X, y = table_of_any()
    near = BayesClassifier(structure="naive", families="any").fit(X, y)
    loaded = suffice.load(near.save(tmp_path / "model.suffice"))
    np.testing.assert_array_equal(loaded.predict_proba(X), near.predict_proba(X))
    X.assign(label=y).to_parquet(tmp_path / "rows.parquet")
    far = BayesClassifier(structure="naive", families="any", plan=near.plan_)
    far.fit_table(tmp_path / "rows.parquet", target="label")
    assert far.families_ == near.families_
    np.testing.assert_allclose(far.predict_proba(X), near.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_folds_by_sums_choose_as_refits_do() -> None:
    X, y = table_of_any(300)
    model = BayesClassifier(structure="naive", families="any")
    plan = model.fit(X, y).plan_
    model = BayesClassifier(structure="naive", families="any", plan=plan)
    folds = [(np.flatnonzero(np.arange(300) % 5 != k), np.flatnonzero(np.arange(300) % 5 == k)) for k in range(5)]
    found = suffice.cross_validate(model, X, y, cv=folds)["log_proba"]
    for train, test in folds:
        refitted = BayesClassifier(structure="naive", families="any", plan=plan).fit(X.iloc[train], y[train])
        np.testing.assert_allclose(found[test], refitted.predict_log_proba(X.iloc[test]), atol=1e-9)


def kernel_table(rows: int = 400) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    two_peaks = np.where(rng.random(rows) < 0.5, rng.normal(-2 - y, 0.5), rng.normal(2 + y, 0.5))
    return pd.DataFrame({"x": two_peaks, "z": rng.normal(y, 1.0)}), y


def test_a_kernel_has_the_bandwidth_of_the_best_leave_one_out_likelihood() -> None:
    rng, size = np.random.default_rng(0), 12
    for _ in range(10):
        counts = rng.poisson(rng.uniform(0, 5, (2, size)) * (rng.random(size) < 0.7)).astype(float)
        shares = (counts.sum(axis=0) + 0.5) / (counts + 0.25).sum()
        places = np.cumsum(shares) - shares / 2

        def spread(cell: int, width: float, places: Any = places, shares: Any = shares) -> Any:
            """Return how a row of a cell is spread over all cells."""
            found = shares * np.exp(-0.5 * ((places - places[cell]) / width) ** 2) if width else np.eye(size)[cell]
            return found / found.sum()

        for k in range(2):
            rows, likelihoods = np.repeat(np.arange(size), counts[k].astype(int)), []
            for width in np.array(BANDWIDTHS) / size:
                others = [[spread(cell, width) for cell in np.delete(rows, row)] for row in range(len(rows))]
                p = [(np.sum(each, axis=0) + shares)[rows[row]] / len(rows) for row, each in enumerate(others)]
                likelihoods.append(np.log(p).sum())
            best = BANDWIDTHS[int(np.argmax(likelihoods))] / size
            expected = np.sum([spread(cell, best) for cell in rows], axis=0)
            np.testing.assert_allclose(smooth_cells(counts, np.array([size]))[k], expected, rtol=1e-9, atol=1e-12)


def test_a_kernel_is_exported_stored_and_chosen_without_another_pass(tmp_path: Path) -> None:
    X, y = kernel_table()
    X.insert(0, "id", np.arange(len(X)))
    families = {"id": "ignore", "x": "kernel"}
    fitted = BayesClassifier(families=families, structure="naive").fit(X, y)
    assert fitted.families_["x"] == "kernel"
    assert fitted.score(X, y) > 0.7
    loaded = suffice.load(fitted.save(tmp_path / "model.suffice"))
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    for style in ("select", "tables"):
        with duckdb.connect() as database:
            database.register("frame", X)
            database.execute("CREATE TABLE rows AS SELECT * FROM frame")
            found = [row[-2:] for row in sorted(_run(database, fitted.to_sql("duckdb", table="rows", style=style)))]
        np.testing.assert_allclose(np.array(found, float), fitted.predict_proba(X), rtol=1e-8, atol=1e-9)
    explained = fitted.explain(X)
    np.testing.assert_allclose(
        explained.prior + explained.contributions.sum(axis=2), fitted.predict_joint_log_proba(X), atol=1e-9
    )
    plain = BayesClassifier(families={"id": "ignore"}, structure="naive").fit(X, y)
    kernel = plain.set_params(numeric="kernel")
    assert kernel.families_ == {"x": "kernel", "z": "kernel"}
    assert np.isfinite(kernel.predict_log_proba(X)).all()
    drawn, _ = fitted.sample(500, random_state=0)
    assert np.abs(np.asarray(drawn["x"] if hasattr(drawn, "columns") else drawn[:, 1], float)).max() < 10
    with pytest.raises(ValueError, match="kernel columns have no evidence"):
        _ = fitted.log_evidence_


def test_a_kernel_finds_two_peaks_that_a_gaussian_does_not() -> None:
    X, y = kernel_table(2000)
    kernel = BayesClassifier(families={"x": "kernel"}, structure="naive").fit(X[["x"]], y)
    gaussian = BayesClassifier(families={"x": "gaussian"}, structure="naive").fit(X[["x"]], y)
    assert kernel.score(X[["x"]], y) > gaussian.score(X[["x"]], y) + 0.03
    points = pd.DataFrame({"x": [-2.0, 0.0, 2.0]})
    density = kernel.predict_joint_log_proba(points)[:, 0]
    assert min(density[0], density[2]) > density[1] + 1


def test_batches_and_merges_of_kernels_equal_the_whole_under_one_plan() -> None:
    X, y = kernel_table()
    whole = BayesClassifier(families="kernel", structure="naive").fit(X, y)
    parts = [
        BayesClassifier(families="kernel", structure="naive", plan=whole.plan_).fit(X[rows], y[rows])
        for rows in (slice(0, 150), slice(150, 400))
    ]
    assert (parts[0] + parts[1]).tally_ == whole.tally_
    np.testing.assert_allclose((parts[0] + parts[1]).predict_proba(X), whole.predict_proba(X), rtol=1e-12)


def test_a_kernel_density_is_a_density_of_sums() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-3, 0.5, 500), rng.normal(2, 1.0, 500)])
    whole = suffice.KernelDensity.tally(x)
    parts = [suffice.KernelDensity.tally(part, cells=whole) for part in (x[:300], x[300:])]
    assert (parts[0] + parts[1]).counts == whole.counts
    assert (whole - parts[1]).counts == parts[0].counts
    assert (whole * 2).counts == (whole + whole).counts
    found = suffice.KernelDensity.estimate(whole)
    widths = np.diff(found.edges)
    middles = (found.edges[1:] + found.edges[:-1]) / 2
    assert (np.exp(found.log_density(middles)) * widths).sum() == pytest.approx(1.0)
    true = 0.5 * stats.norm(-3, 0.5).pdf(middles) + 0.5 * stats.norm(2, 1.0).pdf(middles)
    assert np.abs(np.exp(found.log_density(middles)) - true).max() < 0.1
    drawn = found.sample(4000, random_state=0)
    assert drawn.mean() == pytest.approx(x.mean(), abs=0.2)
    other = suffice.KernelDensity.tally(x[::2]) + suffice.KernelDensity.tally(x[1::2])
    assert other.counts.total.sum() == 1000
    assert repr(found).startswith("KernelDensity(")
    with pytest.raises(ValueError, match="edges must ascend"):
        suffice.KernelDensity([1.0, 0.0], [1.0])
