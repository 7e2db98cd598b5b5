"""Statistics and tallies: addition, subtraction, weights, equality, and the errors they raise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import suffice
from conftest import Case, every_case, example, tables
from suffice import Counts, Moments, PairCounts, Tally
from suffice.schema import Columns, Schema
from suffice.statistics import OverdrawnError

SHAPE = (2, 3)


def counts() -> st.SearchStrategy[Counts]:
    return st.builds(
        Counts,
        n=hnp.arrays(np.float64, (2, 1), elements=st.integers(1, 50)),
        total=hnp.arrays(np.float64, SHAPE, elements=st.integers(0, 1000)),
    )


def moments() -> st.SearchStrategy[Moments]:
    rows = hnp.arrays(np.float64, st.tuples(st.integers(1, 9), st.just(3)), elements=st.floats(-100, 100, width=32))
    return st.builds(_stacked, rows, rows)


def _stacked(first: Any, second: Any) -> Moments:
    two = [Moments.of(first), Moments.of(second)]
    return Moments(**{name: np.concatenate([m.arrays()[name] for m in two]) for name in two[0].arrays()})


EACH = pytest.mark.parametrize("strategy", [counts(), moments()], ids=["counts", "moments"])


@EACH
@given(data=st.data())
def test_addition_is_commutative_and_associative(strategy: Any, data: st.DataObject) -> None:
    a, b, c = data.draw(strategy), data.draw(strategy), data.draw(strategy)
    assert (a + b).isclose(b + a, 1e-9)
    assert ((a + b) + c).isclose(a + (b + c), 1e-9)


@EACH
@given(data=st.data())
def test_zero_changes_nothing(strategy: Any, data: st.DataObject) -> None:
    a = data.draw(strategy)
    zero = type(a).zero(*SHAPE)
    assert a + zero == a
    assert zero + a == a
    assert a - zero == a
    assert a - a == zero
    assert a * 0 == zero


@EACH
@given(data=st.data())
def test_subtraction_undoes_addition(strategy: Any, data: st.DataObject) -> None:
    a, b = data.draw(strategy), data.draw(strategy)
    assert ((a + b) - b).isclose(a, 1e-6)
    if isinstance(a, Counts):
        assert (a + b) - b == a


@EACH
@given(data=st.data())
def test_weighing_is_repeated_addition(strategy: Any, data: st.DataObject) -> None:
    a, b = data.draw(strategy), data.draw(strategy)
    assert (a * 2).isclose(a + a, 1e-12)
    assert (2 * a) == (a * 2)
    assert ((a + b) * 3).isclose(a * 3 + b * 3, 1e-9)
    assert ((a * 4) * 0.25).isclose(a, 1e-12)


@EACH
@given(data=st.data())
def test_without_a_row_the_sums_are_those_of_the_other_rows(strategy: Any, data: st.DataObject) -> None:
    rest, rows = data.draw(strategy), data.draw(strategy)
    codes = np.array(data.draw(st.lists(st.integers(0, 1), min_size=2, max_size=2)))
    if isinstance(rows, Moments):  # a single row has no spread
        rows = Moments(rows.n, rows.mean, rows.tail, np.zeros(SHAPE))
    alone = [
        type(rows)(**{name: np.where(np.arange(2)[:, None] == code, a[row], 0.0) for name, a in rows.arrays().items()})
        for row, code in enumerate(codes)
    ]
    left, exact = (rest + alone[0] + alone[1]).without_rows(rows, codes, has_levels=False)
    for row, other in ((0, 1), (1, 0)):
        found = type(rest)(**{name: left.arrays()[name][row] for name in rest.arrays()})
        assert found.isclose(rest + alone[other], 1e-6) or not exact[row]
    assert exact.all() or isinstance(rest, Moments)  # few digits may be left of moments


@EACH
@given(data=st.data())
def test_arrays_go_out_and_in(strategy: Any, data: st.DataObject) -> None:
    a = data.draw(strategy)
    assert type(a)(**a.arrays()) == a


@pytest.mark.parametrize("weight", [-1, np.inf, np.nan])
def test_a_weight_must_be_a_weight(weight: float) -> None:
    with pytest.raises(ValueError, match="multiplied by a finite number that is not negative"):
        Counts.zero(*SHAPE) * weight
    with pytest.raises(ValueError, match="multiplied by a finite number that is not negative"):
        suffice.GaussianNB().fit([[1.0], [2.0]], [0, 1]).tally_ * weight


def test_more_than_is_there_cannot_be_taken() -> None:
    with pytest.raises(OverdrawnError, match="holds 1, less than 2"):
        Counts([[5]], [[1]]) - Counts([[5]], [[2]])
    with pytest.raises(OverdrawnError):
        Moments.of([[1.0], [2.0]]) - Moments.of([[1.0], [2.0], [3.0]])
    with pytest.raises(OverdrawnError):  # two rows are there, but no two rows as far apart as these
        Moments.of([[1.0], [2.0], [3.0]]) - Moments.of([[-100.0], [100.0]])


def test_forgetting_a_pair_that_was_never_learned_names_both_columns_and_levels() -> None:
    table = pd.DataFrame({"town": ["Rome"] * 5 + ["Oslo"] * 5, "sky": ["blue"] * 5 + ["grey"] * 5})
    families = {"town": "categorical", "sky": "categorical"}
    model = suffice.BayesClassifier(structure="tree", families=families).fit(table, ["a"] * 10)
    wrong = (
        r"in class 'a', level 'Oslo' of column 'town' together with level 'blue' of column 'sky', "
        r"the rows hold 1 and the model 0"
    )
    with pytest.raises(ValueError, match=wrong):
        model.forget(pd.DataFrame({"town": ["Oslo"], "sky": ["blue"]}), ["a"])
    with pytest.raises(
        ValueError, match="in class 'a', level 'Bonn' of column 'town', the rows hold 1 and the model 0"
    ):
        model.forget(pd.DataFrame({"town": ["Bonn"], "sky": ["blue"]}), ["a"])
    with pytest.raises(OverdrawnError, match="class 0, cell 0 and cell 1 holds 0, less than 1"):
        PairCounts([[2]], [[1, 1]], [[[1, 0], [0, 1]]]) - PairCounts([[1]], [[1, 1]], [[[1, 1], [1, 1]]])


def test_forgetting_more_cells_than_a_column_has_names_the_level() -> None:
    table = pd.DataFrame({"town": ["Rome", "Oslo", "Rome"], "sky": ["blue", None, None]})
    families = {"town": "categorical", "sky": "categorical"}
    model = suffice.BayesClassifier(structure="naive", families=families).fit(table, ["a"] * 3)
    with pytest.raises(ValueError, match="level 'blue' of column 'sky', the rows hold 2 and the model 1"):
        model.forget(pd.DataFrame({"town": ["Rome", "Oslo"], "sky": ["blue", "blue"]}), ["a", "a"])


def test_tallies_are_frozen() -> None:
    tally = suffice.GaussianNB().fit([[1.0], [2.0]], [0, 1]).tally_
    for array in tally.arrays().values():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(AttributeError):
        tally.class_count = np.ones(2)


@every_case
@given(data=st.data())
def test_tallies_of_parts_add_up(case: Case, data: st.DataObject) -> None:
    X, y, weights = data.draw(tables(case, min_rows=3))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(X) - 1), min_size=1, max_size=3)))
    parts = [case.ours().fit(X[rows], y[rows], weights[rows]).tally_ for rows in np.split(np.arange(len(X)), cuts)]
    whole = case.ours().fit(X, y, weights).tally_
    forwards, backwards = parts[0], parts[-1]
    for part in parts[1:]:
        forwards = forwards + part
    for part in parts[-2::-1]:
        backwards = backwards + part
    for total in (forwards, backwards):
        assert total.isclose(whole, 1e-9)
        assert total == whole or not case.exact


@every_case
def test_tally_arrays_go_out_and_in(case: Case) -> None:
    tally = case.ours().fit(*example(case)).tally_
    arrays = tally.arrays()
    assert list(arrays) == ["class_count", *(f"0.{name}" for name in tally.statistics[0].arrays())]
    (statistic,) = tally.statistics
    again = type(statistic)(**{name: arrays[f"0.{name}"].copy() for name in statistic.arrays()})
    assert Tally(tally.schema, arrays["class_count"].copy(), (again,)) == tally
    assert Tally.zero(tally.schema, [type(s) for s in tally.statistics]) + tally == tally


def test_classes_and_levels_are_matched_by_label() -> None:
    first = suffice.CategoricalNB().fit([[0, 3], [1, 0]], ["b", "d"])
    second = suffice.CategoricalNB().fit([[4, 0], [1, 1]], ["c", "a"])
    both = first + second
    assert both.classes_.tolist() == ["a", "b", "c", "d"]
    assert both.n_categories_.tolist() == [5, 4]
    assert both.category_count_[0].tolist() == [[0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 1, 0, 0, 0]]


def test_equality_sees_what_differs() -> None:
    one = suffice.MultinomialNB().fit([[1, 2], [3, 4]], [0, 1]).tally_
    assert one != suffice.MultinomialNB().fit([[1, 2], [3, 5]], [0, 1]).tally_
    assert one != suffice.MultinomialNB().fit([[1, 2], [3, 4]], [0, 2]).tally_
    assert one != suffice.BernoulliNB().fit([[1, 2], [3, 4]], [0, 1]).tally_
    assert one != suffice.MultinomialNB().fit([[1, 2, 0], [3, 4, 0]], [0, 1]).tally_
    declared = suffice.MultinomialNB().partial_fit([[1, 2], [3, 4]], [0, 1], classes=[0, 1, 9]).tally_
    assert one == declared  # a class of no rows is no difference in what was learned
    assert one != "a tally"


def test_tallies_of_unlike_columns_do_not_merge() -> None:
    numbers = suffice.GaussianNB().fit([[1.0], [2.0]], [0, 1])
    bits = suffice.BernoulliNB(binarize=0.5).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="one side has gaussian columns, the other bernoulli columns"):
        numbers.tally_ + bits.tally_
    with pytest.raises(ValueError, match=r"binarized at 0.5, the other at 1.5"):
        bits + suffice.BernoulliNB(binarize=1.5).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="one side has 1 columns, the other 2"):
        numbers + suffice.GaussianNB().fit([[1.0, 2.0], [2.0, 3.0]], [0, 1])
    with pytest.raises(ValueError, match="labels must be of one kind"):
        numbers + suffice.GaussianNB().fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(TypeError):
        numbers + bits


def test_schema_names_what_disagrees() -> None:
    left = Schema(np.array([0]), (Columns("gaussian", 2, ("age", "height")),))
    right = Schema(np.array([0]), (Columns("gaussian", 2, ("age", "weight")),))
    with pytest.raises(ValueError, match="column 1 is 'height' on one side and 'weight' on the other"):
        left.merge(right)
    nameless = Schema(np.array([0]), (Columns("gaussian", 2),))
    assert nameless.merge(left).blocks[0].names == ("age", "height")
