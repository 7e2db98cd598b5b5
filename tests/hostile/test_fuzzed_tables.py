"""Fuzzed tables: laws that hold for every classifier, structure, family and rule, on numbers of any size.

A case is a table, a classifier with its settings, a rule and a law:

- probabilities are numbers and sum to 1, and `predict` is the argmax of `predict_proba`;
- a model that has forgotten rows equals one that never learned them;
- merged models equal the whole;
- the order of rows does not matter;
- a call that fails changes nothing.

Every error is a ValueError or TypeError, raised by suffice or by scikit-learn's checks; a case that ends with one is
refused. A classifier is fitted once for each table; other settings are set on the fitted model, without another pass
over the rows.

    pytest tests/hostile/test_fuzzed_tables.py --hostile all             # all cases
    python tests/hostile/test_fuzzed_tables.py FIRST_SEED TABLES         # so many tables, with totals
    python tests/hostile/test_fuzzed_tables.py FIRST_SEED inf            # until it is interrupted
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # to run as a script

import suffice
from cases import ALL_FAMILIES, ALL_STRUCTURES, column_of
from suffice.choice.column_forms import MISSING, NUMERIC
from suffice.estimation import RULES
from suffice.storage.model_file import CLASSIFIERS
from suffice.structures import STRUCTURES, as_structure
from suffice.structures.covariances import KINDS

PARTS = 4
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
NO_RULES = ("LogisticRegression", "MixtureClassifier")
BY_FIT = ("trees", "pooled")  # structures that need more than sums
PRIORS = (0.5, 0.1, 1.0, 2.0)
Labels = Any
Settings = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """A classifier with the settings that it is fitted with, and those that are set on the fitted model.

    All ``variants`` are checked, each with a random choice of the settings in ``drawn``, on a ``share`` of the tables.
    """

    name: str
    kind: Any
    fixed: Settings = field(default_factory=dict)
    variants: tuple[Settings, ...] = ({},)
    drawn: Settings = field(default_factory=dict)
    rules: tuple[str | None, ...] = tuple(RULES)
    share: float = 1.0

    def make(self, **settings: Any) -> Any:
        return self.kind(**self.fixed, **settings)


def subjects() -> Iterator[tuple[str, Subject]]:
    """Yield what the registries hold, with the cells that it takes."""
    for name in CLASSIFIERS:
        kind = getattr(suffice, name)
        if name in NO_RULES:
            yield CELLS[name], Subject(name, kind, rules=(None,), share=0.2)
        elif name not in ("BayesClassifier", "GaussianDiscriminant"):
            yield CELLS[name], Subject(name, kind, drawn={"prior": PRIORS})
    for covariance in KINDS:
        fixed, drawn = {"covariance": covariance}, {"prior": PRIORS}
        yield "numbers", Subject(f"covariance {covariance}", suffice.GaussianDiscriminant, fixed, drawn=drawn)
    left = [each for each in ALL_STRUCTURES if as_structure(each).name not in BY_FIT]
    for name in sorted(STRUCTURES, key=lambda name: -len(STRUCTURES[name].paired)):
        # a structure that counts enough for others is set to these after it is fitted
        own = [each for each in left if STRUCTURES[name].counts_for(as_structure(each))]
        own = [name] if name in BY_FIT else own
        left = [each for each in left if each not in own]
        variants = tuple({"structure": each, "numeric": numeric} for each in own for numeric in NUMERIC)
        fixed, drawn = {"structure": name}, {"prior": PRIORS, "missing": MISSING}
        share = 0.02 if name in BY_FIT else 1.0
        if own:
            yield (
                "columns",
                Subject(f"structure {name}", suffice.BayesClassifier, fixed, variants, drawn, share=share),
            )
    for family in ALL_FAMILIES:
        settings = {"families": family, "structure": "naive"}
        yield family, Subject(f"family {family}", suffice.BayesClassifier, settings)


SUBJECTS = list(subjects())
TABLES = ["columns", "numbers", "columns", "counts", "columns", "numbers", *ALL_FAMILIES]


@dataclass(frozen=True)
class Scores:
    """What a model says of rows: its classes, log p(x, class), P(class | x), and the codes of the predicted classes."""

    classes: list[Any]
    joint: Any
    proba: Any
    codes: Any


@dataclass
class Totals:
    """What was checked; ``failures`` are texts with the seed and the classifier."""

    tables: int = 0
    cases: int = 0
    refusals: int = 0
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.tables:,} tables, {self.cases:,} cases, {self.refusals:,} refused, {len(self.failures)} failures"


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
        X = pd.DataFrame({f"x{j}": column_of(cells)(rng, codes) for j in range(columns)})
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


def check_table(seed: int, totals: Totals) -> None:
    """Check one table with all classifiers that take its cells; add to the totals."""
    cells = TABLES[seed % len(TABLES)]
    rng = np.random.default_rng(seed)
    X, y, weights = draw_table(rng, cells)
    totals.tables += 1
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for place, (takes, subject) in enumerate(SUBJECTS):
            if takes != cells:
                continue
            own = np.random.default_rng([seed, place])
            if own.random() > subject.share:
                continue
            try:
                Check(subject, own, totals).run(X, y, weights)
            except Exception as error:
                text = " ".join(str(error).split())[:300]
                totals.failures.append(f"seed {seed} ({subject.name}): {type(error).__name__} {text}")


@dataclass
class Check:
    """The checks of one classifier on one table."""

    subject: Subject
    rng: np.random.Generator
    totals: Totals

    def run(self, X: Any, y: Labels, weights: Any) -> None:
        """Check all settings, rules and laws."""
        subject = self.subject
        rule = subject.rules[int(self.rng.integers(len(subject.rules)))]
        model = subject.make() if rule is None else subject.make(estimate=rule)
        if attempt(lambda: model.fit(X, y, weights)) is None:
            self.count(is_refused=True)
            return
        pairs = self.pairs(model, X, y, weights) if hasattr(model, "forget") else {}
        if hasattr(model, "partial_fit"):
            self.check_failures(model, X, y)
        for variant in subject.variants:
            settings = variant | {name: self.rng.choice(values) for name, values in subject.drawn.items()}
            model.set_params(**settings)
            self.check_rules(model, X, pairs, f"{subject.name} {settings}")

    def check_rules(self, model: Any, X: Any, pairs: dict[str, tuple[Any, Any]], name: str) -> None:
        """Check all rules of a classifier with its present settings; rows are read once for all rules."""
        read: dict[int, Any] = {}
        for rule in self.rng.permutation(self.subject.rules):
            if rule is not None:
                model.set_params(estimate=rule)
            if not read:
                self.check_predictions(model, X)
            known: dict[int, Any] = {}
            if hasattr(model, "tally_"):
                self.check_scores(self.scores(model, model.tally_, X, read, known))
            for law, tallies in pairs.items():
                mine, theirs = (self.scores(model, tally, X, read, known) for tally in tallies)
                self.count(is_refused=mine is None or theirs is None)
                if mine is not None and theirs is not None:
                    has_pairs = any(block.pairs for block in model.tally_.schema.blocks)
                    check_same(mine, theirs, has_pairs, f"{law} {name} {rule}")

    def check_predictions(self, model: Any, X: Any) -> None:
        """Check the laws of a prediction from rows as a user gives them."""
        proba = attempt(lambda: model.predict_proba(X))
        self.count(is_refused=proba is None)
        if proba is not None:
            check_probabilities(proba)
            assert model.predict(X).tolist() == model.classes_[proba.argmax(axis=1)].tolist()

    def check_scores(self, scores: Scores | None) -> None:
        """Check the laws of a prediction from rows that were read before."""
        self.count(is_refused=scores is None)
        if scores is not None:
            check_probabilities(scores.proba)
            assert scores.codes.tolist() == scores.proba.argmax(axis=1).tolist()

    def scores(
        self, model: Any, tally: Any, X: Any, read: dict[int, Any], known: dict[int, Scores | None]
    ) -> Scores | None:
        """Return what a classifier with the settings of a model and the sums of a tally says of rows, if anything."""

        def compute() -> Scores:
            other = _with(model, tally)
            if id(tally) not in read:
                read[id(tally)] = other.read_rows(X).blocks
            blocks, estimated = read[id(tally)], other.estimate_model()
            proba = np.exp(estimated.log_posterior(blocks))
            return Scores(other.classes_.tolist(), estimated.log_joint(blocks), proba, estimated.most_probable(blocks))

        if id(tally) not in known:
            known[id(tally)] = attempt(compute)
        return known[id(tally)]

    def pairs(self, model: Any, X: Any, y: Labels, weights: Any) -> dict[str, tuple[Any, Any]]:
        """Return pairs of tallies that must be equal: forgotten and never learned, merged and whole, in any order."""
        cut = int(self.rng.integers(1, len(y)))
        order = self.rng.permutation(len(y))
        settings = {"plan": model.plan_} if model.plan_.blocks and isinstance(X, pd.DataFrame) else {}
        if hasattr(model, "estimate"):
            settings["estimate"] = model.estimate

        def rows(part: Any) -> tuple[Any, Labels, Any]:
            cells = X[part] if isinstance(X, np.ndarray) else X.iloc[part]
            return cells, y[part], None if weights is None else weights[part]

        first, last = rows(slice(0, cut)), rows(slice(cut, len(y)))
        learned = [attempt(lambda of=of: self.subject.make(**settings).fit(*of)) for of in (first, last, rows(order))]
        found, before = {}, model.tally_
        left = attempt(lambda: model.tally_without(*last))
        assert model.tally_ is before
        if left is None:
            self.count(is_refused=True)
        elif learned[0] is not None and len(left.class_count):
            found["forget"] = tuple(each.trimmed(each.class_count > 0) for each in (left, learned[0].tally_))
        if learned[0] is not None and learned[1] is not None:
            merged = attempt(lambda: learned[0] + learned[1])
            if merged is None:
                self.count(is_refused=True)
            else:
                found["merge"] = (merged.tally_, model.tally_)
        if learned[2] is not None:
            found["order"] = (learned[2].tally_, model.tally_)
        return found

    def check_failures(self, model: Any, X: Any, y: Labels) -> None:
        """Check that calls that fail leave the model as it was."""
        before, state = model.tally_, dict(vars(model))
        bad = np.full(np.shape(X), np.inf)
        for call in (
            lambda: model.partial_fit(bad, y),
            lambda: model.partial_fit(X, y[:-1]),
            lambda: model.forget(X, np.full(len(y), "z")),
            lambda: model.fit(bad, y),
        ):
            is_refused = attempt(call) is None
            assert model.tally_ is before or not is_refused
            self.count(is_refused=is_refused)
            vars(model).clear()
            vars(model).update(state)

    def count(self, *, is_refused: bool) -> None:
        self.totals.cases += 1
        self.totals.refusals += is_refused


def _with(model: Any, tally: Any) -> Any:
    """Return a classifier with the settings of a model and the sums of a tally."""
    if model.tally_ is tally:
        return model
    other = model.with_tally(tally)
    other.__dict__ |= {name: value for name, value in vars(model).items() if name in ("pool_", "chosen_")}
    return other


def check_probabilities(proba: Any) -> None:
    """Check that probabilities are numbers and sum to 1."""
    assert np.isfinite(proba).all(), proba
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-9)


def check_same(mine: Scores, theirs: Scores, has_pairs: bool, what: str) -> None:
    """Check that two models of the same rows say the same of rows, up to rounding."""
    assert mine.classes == theirs.classes, what
    both = np.isfinite(mine.joint) & np.isfinite(theirs.joint)
    size = np.where(both, np.maximum(np.abs(mine.joint), np.abs(theirs.joint)), 0)
    if has_pairs and size.max() > 1e5:
        return  # a covariance that is singular but for rounding errors
    difference = np.abs(np.where(both, mine.joint, 0) - np.where(both, theirs.joint, 0))
    assert (difference < 1e-5 + 1e-5 * size).all(), f"{what}: log joint differs by {difference.max():.3g}"
    if size.max() < 1e3:  # beyond, the last digits of a cell decide about probabilities
        difference = np.abs(mine.proba - theirs.proba)
        assert difference.max() < 1e-3, f"{what}: probabilities differ by {difference.max():.3g}"


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(89, id="a constant column with weights of 1e66, whose covariances were rounding errors"),
        pytest.param(646, id="weights of 1e26, with which the weights of a quadrature did not sum to 1"),
        pytest.param(742, id="numbers of 1e153, of which forgetting leaves rounding errors of unknown size"),
        pytest.param(1002236, id="weights of 1e181, which need a posterior mean without rounding error"),
        pytest.param(5000467, id="weights of 1e27, whose rounding errors looked like rows with missing cells"),
    ],
)
def test_tables_that_have_failed(seed: int) -> None:
    totals = Totals()
    check_table(seed, totals)
    assert totals.cases
    assert totals.failures == []


@pytest.mark.parametrize("part", range(PARTS))
def test_fuzzed_tables(part: int, case_count: Any, tell: Any) -> None:
    tables, totals = case_count(10, 500, 1_400), Totals()  # of about 190 cases each
    for seed in range(part * tables, (part + 1) * tables):
        check_table(seed, totals)
    tell(str(totals))
    assert not totals.failures, "\n".join(totals.failures)


def main(first: int, tables: float) -> None:
    """Check tables; print each failure with its seed, and the totals at the end and from time to time."""
    totals = Totals()
    try:
        for seed in count(first):
            if totals.tables >= tables:
                break
            known = len(totals.failures)
            check_table(seed, totals)
            for failure in totals.failures[known:]:
                print(failure, flush=True)
            if totals.tables % 100 == 0:
                print(totals, flush=True)
    except KeyboardInterrupt:
        pass
    print(totals, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
