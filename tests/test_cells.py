"""Cells: how numbers are counted without looking at the labels, and what is chosen from the sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from suffice.choice.column_forms import LEAST_GAIN, LEAST_GAIN_A_CELL, choose_forms
from suffice.choice.cuts import CellCounts, mdl, quantiles
from suffice.choice.layout import lay_out_columns
from suffice.choice.score_forms import PSEUDO_COUNT
from suffice.choice.single_column import Form
from suffice.data.cells import fit_cells
from suffice.kernels import binning
from suffice.schema import Columns, Cuts, Schema
from suffice.statistics import Counts, PairCounts, Tally

NUMBERS = hnp.arrays(
    np.float64,
    st.integers(1, 80),
    elements=st.floats(allow_nan=False, allow_infinity=False) | st.integers(-40, 40).map(float),
)


def count(values: np.ndarray, edges: tuple[float, ...]) -> np.ndarray:
    return np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1)


@given(values=NUMBERS, most=st.integers(1, 32))
def test_cells_hold_all_rows_and_are_at_most_so_many(values: np.ndarray, most: int) -> None:
    edges = fit_cells(values, None, most).edges
    counts = count(values, edges)
    assert list(edges) == sorted(set(edges))
    assert np.isfinite(edges).all()
    assert (counts > 0).sum() <= most
    assert (counts > 0).sum() >= min(most, len(np.unique(values)))
    # the lowest and the highest cell are open; they hold rows only if no finite number bounds all of them
    assert counts.sum() == len(values)


@given(values=NUMBERS, most=st.integers(1, 32), seed=st.integers(0, 9))
def test_cells_depend_neither_on_the_order_nor_on_how_often_a_row_is_written(
    values: np.ndarray, most: int, seed: int
) -> None:
    expected = fit_cells(values, None, most)
    assert fit_cells(np.random.default_rng(seed).permutation(values), None, most) == expected
    assert fit_cells(values, np.full(len(values), 2.0), most) == expected
    assert fit_cells(np.repeat(values, 3), None, most) == expected


@given(a=NUMBERS, b=NUMBERS)
def test_two_sets_of_cells_have_a_common_coarsening(a: np.ndarray, b: np.ndarray) -> None:
    one, other = fit_cells(a, None, 16), fit_cells(b, None, 16)
    common = one.merge(other, "column 'x'")
    assert isinstance(common, Cuts)
    assert set(common.edges) == set(one.edges) & set(other.edges)
    for values, cells in ((a, one), (b, other)):
        moved = np.bincount(cells.places_in(common), count(values, cells.edges), minlength=common.size)
        np.testing.assert_array_equal(moved, count(values, common.edges))


@pytest.mark.parametrize("rows", [300, binning.MANY])
def test_few_and_many_numbers_are_cut_at_the_same_edges(rows: int) -> None:
    rng = np.random.default_rng(0)
    counts = [1, 3, 4, 33, binning.FEW_EDGES, binning.FEW_EDGES + 1]
    edges = [np.unique(rng.normal(size=count).round(3)) for count in counts]
    x = rng.normal(size=(rows, len(counts))).round(3)
    x[::7] = np.nan
    codes = np.full((rows, 8), 99, np.int8)
    ends, places = np.cumsum([len(own) for own in edges]), np.array([0, 1, 2, 3, 5, 7])
    binning.cut(x, np.concatenate(edges), ends, places, codes, work=4 * x.size)
    for j, own in enumerate(edges):
        expected = np.where(np.isnan(x[:, j]), -1, np.searchsorted(own, x[:, j], side="right"))
        np.testing.assert_array_equal(codes[:, places[j]], expected)
    assert (codes[:, [4, 6]] == 99).all()


def test_an_edge_is_the_number_with_the_fewest_binary_digits() -> None:
    """Rows of 0.1 and 0.3 are told apart by 0.125, not by a number that a row holds."""
    assert 0.125 in fit_cells(np.array([0.1, 0.3]), None, 2).edges
    assert 1.5 in fit_cells(np.array([1.3333, 1.9]), None, 2).edges
    assert -1.5 in fit_cells(np.array([-1.3333, -1.9]), None, 2).edges
    ages = np.random.default_rng(0).normal(40.123, 9, 5000)
    edges = np.array(fit_cells(ages, None, 32).edges)
    assert not np.isin(edges, ages).any()
    assert (edges * 64 == np.floor(edges * 64)).all()


@given(
    counts=hnp.arrays(np.float64, st.integers(2, 40).map(lambda cells: (cells, 1)), elements=st.integers(0, 9)),
    bins=st.integers(2, 12),
)
def test_quantiles_share_the_weight(counts: np.ndarray, bins: int) -> None:
    counts[0] += 1
    column = CellCounts(counts, np.array([len(counts)]))
    (shared,) = column.bins(quantiles(column, bins))[0].T
    assert len(shared) <= bins
    assert shared.sum() == counts.sum()
    assert (shared > 0).all()
    assert shared.max() <= counts.sum() / bins + counts.max() + 1


def reference_mdl(counts: np.ndarray, edges: list[float]) -> list[float]:
    """Fayyad and Irani's recursion, written out for rows that lie in cells."""

    def entropy(part: np.ndarray) -> float:
        shares = part.sum(axis=0)[part.sum(axis=0) > 0] / part.sum()
        return float(-(shares * np.log2(shares)).sum())

    best: tuple[float, int] | None = None
    n = counts.sum()
    for cut in range(1, len(counts)):
        left, right = counts[:cut], counts[cut:]
        if left.sum() and right.sum():
            after = (left.sum() * entropy(left) + right.sum() * entropy(right)) / n
            if best is None or after < best[0] - 1e-12:
                best = (after, cut)
    if best is None:
        return []
    after, cut = best
    k, k1, k2 = (int((part.sum(axis=0) > 0).sum()) for part in (counts, counts[:cut], counts[cut:]))
    bits = k * entropy(counts) - k1 * entropy(counts[:cut]) - k2 * entropy(counts[cut:])
    if entropy(counts) - after <= (np.log2(max(n - 1, 1)) + np.log2(3**k - 2) - bits) / n:
        return []
    left, right = reference_mdl(counts[:cut], edges[: cut - 1]), reference_mdl(counts[cut:], edges[cut:])
    return [*left, edges[cut - 1], *right]


@pytest.mark.parametrize("seed", range(12))
def test_mdl_equals_the_recursion_written_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, 400)
    values = rng.normal(size=400) + codes * seed / 4
    edges = fit_cells(values, None, 32).edges
    cells = np.searchsorted(edges, values, side="right")
    counts = np.zeros((len(edges) + 1, 3))
    np.add.at(counts, (cells, codes), 1)
    cuts = mdl(CellCounts(counts, np.array([len(counts)])))
    assert np.array(edges)[cuts[:-1]].tolist() == reference_mdl(counts, list(edges))


def tally_of(codes: np.ndarray, labels: np.ndarray, sizes: tuple[int, ...], pairs: bool) -> Tally:
    """Return the tally of rows of codes, −1 where a cell is missing, written out row by row."""
    edges = [tuple(float(edge) for edge in range(1, size)) for size in sizes]
    block = Columns.coded(
        "categorical", tuple("abc"[: len(sizes)]), tuple(Cuts(each, "cells") for each in edges), pairs
    )
    classes, width, starts = len(np.unique(labels)), block.width, block.starts
    n, total = np.zeros((classes, len(sizes))), np.zeros((classes, width))
    both = np.zeros((classes, width, width))
    for row, k in zip(codes, labels, strict=True):
        held = [int(start + code) for start, code in zip(starts, row, strict=True) if code >= 0]
        n[k] += row >= 0
        total[k, held] += 1
        both[k][np.ix_(held, held)] += 1
    statistic = PairCounts(n, total, both) if pairs else Counts(n, total)
    return Tally(Schema(np.arange(classes), (block,)), np.bincount(labels), (statistic,))


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_missing_level_has_the_counts_of_a_column_in_which_it_is_written(pairs: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = (4, 3, 5)
    codes = np.column_stack([rng.integers(-1, size, 200) for size in sizes])
    labels = np.append(rng.integers(0, 2, 198), [0, 1])
    forms = {
        name: Form(Cuts(tuple(map(float, range(1, size))), "mdl"), True)
        for name, size in zip("abc", sizes, strict=True)
    }
    found = lay_out_columns(tally_of(codes, labels, sizes, pairs), forms)
    written = np.where(codes < 0, sizes, codes)
    expected = tally_of(written, labels, tuple(size + 1 for size in sizes), pairs)
    for name, array in expected.statistics[0].arrays().items():
        np.testing.assert_array_equal(np.broadcast_to(found.statistics[0].arrays()[name], array.shape), array)


@pytest.mark.parametrize("pairs", [False, True])
def test_bins_have_the_counts_of_rows_that_are_cut_there(pairs: bool) -> None:
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(-1, 6, (300, 2)), rng.integers(0, 3, 300)
    edges = (2.0, 3.0)
    found = lay_out_columns(tally_of(codes, labels, (6, 6), pairs), {"a": Form(Cuts(edges, "mdl"))})
    cut = codes.copy()
    cut[:, 0] = np.where(codes[:, 0] < 0, -1, np.searchsorted(edges, codes[:, 0], side="right"))
    expected = tally_of(cut, labels, (3, 6), pairs)
    for name, array in expected.statistics[0].arrays().items():
        np.testing.assert_array_equal(found.statistics[0].arrays()[name], array)


@pytest.mark.parametrize("seed", range(4))
def test_levels_are_judged_by_leaving_out_row_by_row(seed: int) -> None:
    """ "auto" takes a missing cell for a level exactly if that predicts the left-out classes clearly better."""
    rng = np.random.default_rng(seed)
    labels = np.append(rng.integers(0, 2, 118), [0, 1])
    codes = rng.integers(0, 3, (120, 1))
    codes[rng.random(120) < np.where(labels == 1, 0.4, 0.4 - 0.1 * seed)] = -1

    def likelihood(cells: np.ndarray, size: int) -> float:
        shares, score = np.bincount(labels) / 120, 0.0
        for row in range(120):
            joint = np.log(shares)
            if cells[row] >= 0:
                for k in range(2):
                    mine = (np.arange(120) != row) & (labels == k) & (cells >= 0)
                    met = (cells[mine] == cells[row]).sum()
                    joint[k] += np.log((met + PSEUDO_COUNT) / (mine.sum() + PSEUDO_COUNT * size))
            score += joint[labels[row]] - np.logaddexp.reduce(joint)
        return score

    cells = codes[:, 0]
    skipped, as_level = likelihood(cells, 3), likelihood(np.where(cells < 0, 3, cells), 4)
    tally = tally_of(codes, labels, (3,), False)
    levels = Tally(
        Schema(tally.schema.classes, (Columns.coded("categorical", ("a",), (Cuts((1.0, 2.0), "cells"),)),)),
        tally.class_count,
        tally.statistics,
    )
    form = choose_forms(levels, {"a": "quantiles"}, "auto", "auto", lambda family, name: True)["a"]
    assert form.missing == (as_level - skipped > max(LEAST_GAIN, LEAST_GAIN_A_CELL * (cells < 0).sum()))
    assert form.missing == (seed >= 2)


def test_the_last_bit_of_a_weight_decides_about_no_cut() -> None:
    """The two cuts beside the middle cell are equally good; the first is taken, and not that of the smaller error."""
    column = np.array([[30.0, 0.0], [0.5, 0.5], [0.0, 30.0]])
    expected = mdl(CellCounts(column, np.array([3]))).tolist()
    assert expected == [True, False, False]
    rng = np.random.default_rng(0)
    for _ in range(20):
        noisy = column * (1 + 1e-15 * rng.normal(size=column.shape))
        assert mdl(CellCounts(noisy, np.array([3]))).tolist() == expected
