"""Fuzzed tables: laws that hold for every classifier, structure, family and rule, on numbers of any size.

A case is a table, a classifier and a rule. Each is checked for: probabilities that are numbers and sum to 1; `predict`
is the argmax of `predict_proba`; forgetting equals never having learned, or is refused; merged models equal the whole;
a call that fails changes nothing; errors are ValueError or TypeError, raised by suffice or by scikit-learn's checks.

    pytest tests/hostile/test_fuzzed_tables.py --hostile                 # all cases
    python tests/hostile/test_fuzzed_tables.py FIRST_SEED TABLES         # so many tables, with a count of cases
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # to run as a script

import suffice
from cases import ALL_STRUCTURES, COLUMNS
from suffice.estimation import RULES
from suffice.families import FAMILIES
from suffice.storage.model_file import CLASSIFIERS
from suffice.structures.covariances import KINDS

FEW, MANY = 200, 60_000  # tables
CELLS = {
    "BernoulliNB": "counts",
    "CategoricalNB": "counts",
    "ComplementNB": "counts",
    "GaussianNB": "numbers",
    "MultinomialNB": "counts",
    "PoissonNB": "counts",
    "BayesClassifier": "columns",
    "GaussianDiscriminant": "numbers",
    "LogisticRegression": "numbers",
    "MixtureClassifier": "numbers",
}
Labels = Any


@dataclass(frozen=True)
class Subject:
    """A classifier with its settings, the cells that it takes, and its rules."""

    name: str
    cells: str
    make: Callable[..., Any]
    rules: tuple[str | None, ...] = tuple(RULES)

    def classifier(self, rule: str | None, **settings: Any) -> Any:
        return self.make(**settings) if rule is None else self.make(estimate=rule, **settings)


def subjects() -> Iterator[Subject]:
    """Yield what the registries hold: every classifier, covariance, structure and family."""
    for name in CLASSIFIERS:
        kind = getattr(suffice, name)
        fixed = () if name in ("LogisticRegression", "MixtureClassifier") else tuple(RULES)
        yield Subject(name, CELLS[name], kind, fixed or (None,))
    for kind in KINDS:
        yield Subject(f"covariance {kind}", "numbers", _setting(suffice.GaussianDiscriminant, covariance=kind))
    for structure in ALL_STRUCTURES:
        for numeric in ("auto", "gaussian"):
            make = _setting(suffice.BayesClassifier, structure=structure, numeric=numeric)
            yield Subject(f"structure {structure} {numeric}", "columns", make)
    for family in FAMILIES:
        make = _setting(suffice.BayesClassifier, families=family, structure="naive")
        yield Subject(f"family {family}", family, make)


def _setting(kind: Any, **fixed: Any) -> Callable[..., Any]:
    return lambda **settings: kind(**fixed, **settings)


SUBJECTS = list(subjects())


def draw_numbers(rng: np.random.Generator, rows: int) -> Any:
    """Return a column of numbers: ordinary ones, far away, at any scale, constant, with outliers."""
    x = rng.normal(size=rows)
    match int(rng.integers(0, 9)):
        case 0:
            x = rng.integers(-3, 4, rows).astype(float)
        case 1:
            x = x * 10.0 ** rng.integers(-160, 160)
        case 2:
            x = x + 10.0 ** rng.integers(0, 16)
        case 3:
            x = np.full(rows, rng.choice([0.0, 0.1, 1e9, -1e-300, 1e300]))
        case 4:
            x[rng.integers(0, rows)] *= 10.0 ** rng.integers(0, 160)
        case 5:
            x = rng.choice([0.0, -0.0, 1.0, 0.1, 1e15, 5e-324, 1e300, -1e300, 1e154], rows)
        case 6:
            x = np.round(x, 1)
    return x


def draw_counts(rng: np.random.Generator, rows: int) -> Any:
    """Return a column of counts."""
    return rng.poisson(rng.choice([0.0, 0.3, 2.0, 40.0]), rows)


def draw_table(rng: np.random.Generator, cells: str) -> tuple[Any, Labels, Any]:
    """Return rows, labels and weights (or None)."""
    rows, columns = int(rng.integers(2, 13)), int(rng.integers(1, 4))
    y = np.array(["a", "b", "c"])[rng.integers(0, rng.integers(1, 4), rows)]
    codes = np.searchsorted(["a", "b", "c"], y)
    if cells == "numbers":
        X: Any = np.column_stack([draw_numbers(rng, rows) for _ in range(columns)])
    elif cells == "counts":
        X = np.column_stack([draw_counts(rng, rows) for _ in range(columns)])
    elif cells == "columns":
        kinds = rng.choice(["numbers", "levels", "bits"], columns)
        X = pd.DataFrame({f"x{j}": _column(rng, kind, rows) for j, kind in enumerate(kinds)})
        X = X.mask(rng.random(X.shape) < 0.1) if rng.random() < 0.3 else X
    elif cells == "gaussian":
        X = pd.DataFrame({f"x{j}": draw_numbers(rng, rows) for j in range(columns)})
    else:
        X = pd.DataFrame({f"x{j}": COLUMNS[cells](rng, codes) for j in range(columns)})
    return X, y, _weights(rng, rows)


def _column(rng: np.random.Generator, kind: str, rows: int) -> Any:
    if kind == "numbers":
        return draw_numbers(rng, rows)
    return rng.choice(["u", "v", "w"], rows) if kind == "levels" else rng.random(rows) < 0.5


def _weights(rng: np.random.Generator, rows: int) -> Any:
    match int(rng.integers(0, 6)):
        case 0:
            return rng.integers(0, 4, rows).astype(float) + (rng.random() < 0.5)
        case 1:
            return rng.uniform(0.05, 3.0, rows)
        case 2:
            return np.full(rows, 10.0 ** rng.integers(-100, 200))
        case _:
            return None


def check_error(error: Exception) -> None:
    """Check that an error is one of ours: its kind, its text, and where it was raised."""
    assert isinstance(error, (ValueError, TypeError)), repr(error)
    assert len(str(error)) > 20, repr(error)
    place = traceback.extract_tb(error.__traceback__)[-1].filename
    assert "suffice" in place or "sklearn" in place, (place, repr(error))


def attempt(call: Callable[[], Any]) -> Any:
    """Return the result of a call; None if it raises an error of ours."""
    try:
        return call()
    except Exception as error:
        check_error(error)
        return None


def check_probabilities(model: Any, X: Any) -> Any:
    """Check the laws of a prediction; return the probabilities, None if the model cannot predict."""
    proba = attempt(lambda: model.predict_proba(X))
    if proba is None:
        return None
    assert np.isfinite(proba).all(), proba
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-9)
    assert model.predict(X).tolist() == model.classes_[proba.argmax(axis=1)].tolist()
    return proba


def check_same(model: Any, other: Any, X: Any, what: str) -> None:
    """Check that two models of the same rows say the same of rows, up to rounding."""
    assert model.classes_.tolist() == other.classes_.tolist(), what
    mine, theirs = (attempt(lambda m=m: m.predict_joint_log_proba(X)) for m in (model, other))
    if mine is None or theirs is None:
        return
    both = np.isfinite(mine) & np.isfinite(theirs)
    size = np.maximum(np.abs(mine), np.abs(theirs))
    if any(block.pairs for block in model.tally_.schema.blocks) and size[both].max(initial=0.0) > 1e5:
        return  # a covariance that is singular but for rounding errors
    np.testing.assert_array_less(np.where(both, np.abs(mine - theirs), 0), 1e-5 + 1e-5 * np.where(both, size, 0), what)
    if size[both].max(initial=0.0) < 1e3:  # beyond, the last digits of a cell decide about probabilities
        np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-3, err_msg=what)


def rows_of(X: Any, rows: slice) -> Any:
    return X[rows] if isinstance(X, np.ndarray) else X.iloc[rows]


def check_table(seed: int) -> int:
    """Check one table with all rules of a classifier; return the number of cases."""
    rng = np.random.default_rng(seed)
    subject = SUBJECTS[seed % len(SUBJECTS)]
    X, y, weights = draw_table(rng, subject.cells)
    model = subject.classifier(subject.rules[int(rng.integers(len(subject.rules)))])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if attempt(lambda: model.fit(X, y, weights)) is None:
            return len(subject.rules)
        if not hasattr(model, "tally_"):
            check_probabilities(model, X)
            return 1
        cut = int(rng.integers(1, len(y)))
        sums = _sums(subject, model, X, y, weights, cut)
        for rule in subject.rules:
            if rule is not None:
                model.set_params(estimate=rule)
            check_probabilities(model, X)
            for what, (mine, theirs) in sums.items():
                try:
                    models = [_with(model, tally) for tally in (mine, theirs)]
                except ValueError:  # a forgotten class that a setting names
                    continue
                check_same(*models, X, f"{what} {subject.name} {rule}")
        if hasattr(model, "partial_fit"):
            _check_failures(model, X, y)
    return len(subject.rules)


def _with(model: Any, tally: Any) -> Any:
    other = model.with_tally(tally)
    other.__dict__ |= {name: value for name, value in vars(model).items() if name in ("pool_", "chosen_")}
    return other


def _sums(subject: Subject, model: Any, X: Any, y: Any, weights: Any, cut: int) -> dict[str, tuple[Any, Any]]:
    """Return pairs of tallies that must be equal: forgotten and never learned, merged and whole."""
    if not hasattr(model, "forget"):
        return {}
    parts = [slice(0, cut), slice(cut, len(y))]
    of = [(rows_of(X, part), y[part], None if weights is None else weights[part]) for part in parts]
    settings = {"plan": model.plan_} if subject.cells not in ("numbers", "counts") else {}
    learned = [attempt(lambda rows=rows: subject.classifier(model.estimate, **settings).fit(*rows)) for rows in of]
    if any(each is None for each in learned):
        return {}
    found = {}
    before = model.tally_
    left = attempt(lambda: model.tally_without(*of[1]))
    assert model.tally_ is before
    if left is not None and len(left.class_count):
        found["forget"] = tuple(each.trimmed(each.class_count > 0) for each in (left, learned[0].tally_))
    merged = attempt(lambda: learned[0] + learned[1])
    if merged is not None:
        found["merge"] = (merged.tally_, model.tally_)
    return found


def _check_failures(model: Any, X: Any, y: Any) -> None:
    """Check that calls that fail leave the model as it was."""
    before, state = model.tally_, dict(vars(model))
    bad = np.full(np.shape(X), np.inf)
    for call in (
        lambda: model.partial_fit(bad, y),
        lambda: model.partial_fit(X, y[:-1]),
        lambda: model.forget(X, np.full(len(y), "z")),
        lambda: model.fit(bad, y),
    ):
        attempt(call)
        assert model.tally_ is before or attempt(call) is not None
        vars(model).clear()
        vars(model).update(state)


@pytest.mark.parametrize("part", range(4))
def test_fuzzed_tables(part: int, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> None:
    tables = (MANY if request.config.getoption("--hostile") else FEW) // 4
    cases = sum(check_table(seed) for seed in range(part * tables, (part + 1) * tables))
    with capsys.disabled():
        print(f" {cases} cases of {tables} tables", end="")


def main(first: int, tables: int) -> None:
    """Check tables, print each failure with its seed, and the number of cases at the end."""
    cases = failures = 0
    for seed in range(first, first + tables):
        try:
            cases += check_table(seed)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                break
            failures += 1
            name = SUBJECTS[seed % len(SUBJECTS)].name
            print(f"seed {seed} ({name}): {type(error).__name__} {' '.join(str(error).split())[:300]}", flush=True)
        if (seed - first) % 10_000 == 9_999:
            print(f"{cases} cases of {seed - first + 1} tables, {failures} failures", flush=True)
    print(f"{cases} cases of {seed - first + 1} tables, {failures} failures", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
