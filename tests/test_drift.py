"""Drift: distances against SciPy, false alarms, and every kind of model, row and file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import chi2_contingency, norm
from typer.testing import CliRunner

import suffice
from suffice import BayesClassifier, BernoulliNB, CategoricalNB, GaussianNB, LogisticRegression, MultinomialNB
from suffice.cli.app import app
from suffice.monitoring.divergences import CountPair, MomentPair, measure_pair


def people(rows: int = 400, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """A table with numbers, levels, a text and missing cells."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 12, rows)
    age[rng.random(rows) < 0.1] = np.nan
    words = np.array(["red", "green", "blue", "old", "new"])
    frame = pd.DataFrame(
        {
            "age": age,
            "city": rng.choice(["Bonn", "Kiel", "Ulm"], rows, p=[0.5, 0.3, 0.2]),
            "cars": rng.poisson(1.5, rows),
            "note": [" ".join(rng.choice(words, 4)) for _ in range(rows)],
        }
    )
    return frame, rng.choice(["no", "yes"], rows, p=[0.7, 0.3])


@pytest.fixture(scope="module")
def model() -> Any:
    return BayesClassifier(structure="naive", families={"note": "text"}).fit(*people())


def line_of(found: Any, column: str) -> dict[str, Any]:
    (line,) = (line for line in found.table if line["column"] == column)
    return line


def test_distance_and_index_are_those_of_the_definitions() -> None:
    before, after = np.array([50.0, 30, 15, 5]), np.array([20.0, 40, 10, 30])
    p, q = before / before.sum(), after / after.sum()
    bits, index = CountPair(before, after).divergences()
    assert np.sqrt(bits) == pytest.approx(jensenshannon(p, q, base=2), rel=1e-12)
    assert index == pytest.approx(np.sum((p - q) * np.log(p / q)), rel=1e-12)
    # a level without rows counts as half a row
    _, index = CountPair(np.array([10.0, 0]), np.array([5.0, 5])).divergences()
    assert index == pytest.approx((10 / 10.5 - 0.5) * np.log(20 / 10.5) + (0.5 / 10.5 - 0.5) * np.log(1 / 10.5))


def test_gaussian_distance_is_the_integral() -> None:
    x = np.linspace(-30, 30, 200_001)
    p, q = norm.pdf(x, 0, 1), norm.pdf(x, 1.5, 2)
    bits, index = MomentPair.of([10, 10], [0.0, 1.5], [1.0, 4.0]).divergences()
    assert np.sqrt(bits) == pytest.approx(jensenshannon(p, q, base=2), abs=1e-6)
    integrand = (p - q) * (norm.logpdf(x, 0, 1) - norm.logpdf(x, 1.5, 2))
    assert index == pytest.approx(np.trapezoid(integrand, x), rel=1e-6)


def test_the_p_value_is_that_of_pearson_where_rows_are_many_and_of_permutations_where_they_are_few() -> None:
    before, after = np.array([400.0, 300, 300]), np.array([170.0, 170, 160])
    assert CountPair(before, after).p_value() == pytest.approx(chi2_contingency([before, after]).pvalue, rel=0.01)
    before, after = np.array([3.0, 0, 5, 1, 20]), np.array([1.0, 2, 0, 1, 9])
    both = before + after
    expected = both * after.sum() / both.sum()
    drawn = np.random.default_rng(0).multivariate_hypergeometric(both.astype(int), int(after.sum()), size=4000)
    distances = ((drawn - expected) ** 2 / expected).sum(axis=1)
    share = (distances >= ((after - expected) ** 2 / expected).sum() - 1e-9).mean()
    assert CountPair(before, after).p_value() == pytest.approx(share, abs=0.025)


@pytest.mark.parametrize(("levels", "rows", "new"), [(2, 1000, 50), (10, 500, 100), (300, 1000, 100)])
def test_false_alarms_are_as_rare_as_stated(levels: int, rows: int, new: int) -> None:
    rng = np.random.default_rng(levels)
    shares = rng.dirichlet(np.full(levels, 0.5))
    drawn = (rng.multinomial((rows, new), shares) * 1.0 for _ in range(400))
    pairs = [CountPair(before, after) for before, after in drawn]
    assert 0.02 <= np.mean([pair.p_value() < 0.05 for pair in pairs]) <= 0.085
    measured = [measure_pair(pair, rng) for pair in pairs[:50]]
    for name in ("distance", "psi"):
        assert np.mean([its[name] > its[f"{name}_by_chance"] for its in measured]) <= 0.14
        assert np.mean([its[f"{name}_low"] > 0 for its in measured]) <= 0.1


def test_the_interval_contains_the_distance_of_the_distributions() -> None:
    rng, p, q = np.random.default_rng(0), np.array([0.5, 0.3, 0.2]), np.array([0.3, 0.3, 0.4])
    true, hits = jensenshannon(p, q, base=2), 0
    for _ in range(100):
        its = measure_pair(CountPair(rng.multinomial(500, p) * 1.0, rng.multinomial(300, q) * 1.0), rng)
        hits += its["distance_low"] <= true <= its["distance_high"]
    assert hits >= 88


def test_rows_of_the_same_kind_have_not_drifted(model: Any) -> None:
    X, y = people(seed=1)
    found = suffice.drift(model, X, y)
    assert {line["column"] for line in found.table} == {"age", "city", "cars", "note"}
    assert not found.is_drift
    assert found.drifted == []
    assert found.classes is not None


def test_moved_numbers_new_levels_and_missing_cells_are_found(model: Any) -> None:
    X, _ = people(seed=1)
    moved = X.assign(age=X["age"] + 20, city=X["city"].replace("Bonn", "Rome"), cars=X["cars"].where(X.index % 2 == 0))
    found = suffice.drift(model, moved)
    assert set(found.drifted) == {"age", "city", "cars"}
    age, city, cars = (line_of(found, name) for name in ("age", "city", "cars"))
    assert age["mean_shift"] == pytest.approx(20 / 12, rel=0.15)
    assert (city["new_levels"], city["new_level_rows"]) == (["Rome"], (moved["city"] == "Rome").sum())
    assert (cars["missing_before"], cars["missing_after"]) == (0.0, 0.5)
    for line in (age, city, cars):
        assert line["distance"] == pytest.approx(jensenshannon(line["before"], line["after"], base=2), rel=1e-9)
        assert line["distance_low"] < line["distance"]


def test_improbable_rows_are_noticed(model: Any) -> None:
    (X, y), (later, _) = people(), people(seed=1)
    columns = ["age", "city", "cars"]
    without_texts = BayesClassifier(structure="naive").fit(X[columns], y)
    found = suffice.drift(without_texts, later[columns]).log_density
    assert found is not None
    assert found["mean"] == pytest.approx(found["expected"], abs=0.6)
    assert found["improbable"] < 0.03
    found = suffice.drift(without_texts, later[columns].assign(age=later["age"] + 60)).log_density
    assert found is not None
    assert found["mean"] < found["expected"] - 2
    assert found["improbable"] > 0.3
    assert suffice.drift(model, later).log_density is None


def test_a_changed_vocabulary_is_found(model: Any) -> None:
    X, _ = people(seed=1)
    found = suffice.drift(model, X.assign(note="win a prize"))
    assert found.drifted == ["note"]
    assert "prize" in line_of(found, "note")["new_levels"]


def test_labels_may_be_missing_and_classes_may_drift(model: Any) -> None:
    X, y = people(seed=1)
    assert suffice.drift(model, X).classes is None
    some = np.where(np.arange(len(y)) % 2, y, None)
    held = suffice.drift(model, X, some).classes
    assert held is not None
    assert sum(label is not None for label in some) == 200
    assert not held["is_drift"]
    found = suffice.drift(model, X, np.where(y == "no", "maybe", y))
    assert found.classes is not None
    assert found.classes["new_levels"] == ["maybe"]
    assert found.is_drift
    assert found.drifted == []
    with pytest.raises(ValueError, match="3 labels for 400 rows"):
        suffice.drift(model, X, ["no"] * 3)


def test_two_models_are_compared_in_their_common_cells() -> None:
    (X, y), (later, z) = people(seed=2), people(seed=3)
    columns = ["age", "city"]
    first = BayesClassifier(structure="tree").fit(X[columns], y)
    same = suffice.drift(first, BayesClassifier(structure="tree").fit(later[columns], z))
    assert not same.is_drift
    assert same.classes is not None
    assert same.log_density is None
    shifted = BayesClassifier(structure="naive").fit(later[columns].assign(age=later["age"] + 20, size=z), z)
    found = suffice.drift(first, shifted)
    assert found.drifted == ["age"]
    assert found.not_compared == {"size": "only one of the models has it"}
    with pytest.raises(ValueError, match="leave out y"):
        suffice.drift(first, shifted, z)


def test_a_model_compared_with_itself_is_equal(model: Any) -> None:
    found = suffice.drift(model, model)
    assert max(line["distance"] for line in found.table) == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("kind", [GaussianNB, BernoulliNB, MultinomialNB, CategoricalNB])
def test_models_of_numbers_are_compared(kind: type) -> None:
    rng = np.random.default_rng(0)
    X, same, other = (rng.poisson(rate, (300, 2)) for rate in ([2, 1], [2, 1], [2, 4]))
    learned = kind().fit(X, np.arange(300) % 2)
    assert not suffice.drift(learned, same).is_drift
    assert suffice.drift(learned, other).drifted in (["column 1"], ["(shares of all counts)"])


def test_what_cannot_be_compared_is_refused(model: Any) -> None:
    X, y = people()
    with pytest.raises(TypeError, match="LogisticRegression is none"):
        suffice.drift(LogisticRegression().fit(X[["cars"]].to_numpy(), y), X)
    with pytest.raises(ValueError, match="between 0 and 1"):
        suffice.drift(model, X, threshold=2)
    with pytest.raises(ValueError, match="no column can be compared"):
        suffice.drift(model, BayesClassifier(structure="naive").fit(X[["cars"]].set_axis(["boats"], axis=1), y))


def test_it_is_shown_as_text_frame_html_and_picture(model: Any) -> None:
    X, y = people(seed=1)
    found = suffice.drift(model, X.assign(age=X["age"] + 20, city="<b>"), y)
    frame = found.to_frame()
    assert frame["column"].tolist() == [line["column"] for line in found.table]
    assert "2 of 4 columns drifted" in str(found)
    assert "2 of 4 columns drifted" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["is_drift"] is True
    ax = found.plot()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == frame["column"].tolist()


def test_the_command_says_drift_by_its_exit_code(tmp_path: Path) -> None:
    X, y = people()
    file, new = str(tmp_path / "people.suffice"), str(tmp_path / "new.csv")
    columns = ["age", "city"]
    BayesClassifier(structure="naive").fit_table(X[columns].assign(answer=y), "answer").save(file)

    def run(frame: pd.DataFrame | None, *options: str, code: int) -> str:
        if frame is not None:
            frame.to_csv(new, index=False)
        done = CliRunner().invoke(app, ["drift", file, new if frame is not None else file, *options])
        assert done.exit_code == code, done.output
        return done.stdout

    later, z = people(seed=1)
    later = later[columns]
    assert "Classes" in run(later.assign(answer=z), code=0)
    assert "Classes" not in run(later, code=0)
    moved = later.assign(age=later["age"] + 20)
    shown = run(moved, code=3)
    assert max(map(len, shown.splitlines()[1:])) <= 80
    assert "1 of 2 columns drifted" in shown
    assert json.loads(run(moved, "--json", code=3))["drifted"] == ["age"]
    run(moved, "--threshold", "0.9", code=0)
    run(None, code=0)
    assert "Classes" in run(later.assign(reply=z), "--target", "reply", code=0)
