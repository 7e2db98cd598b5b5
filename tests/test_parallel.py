"""Threads: matrix products use one thread while several threads work, and as many as before afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from threading import get_ident

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from suffice import BayesClassifier, threads
from suffice.parallel import map_threads, stream_threads


def blas_threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_products_use_one_thread_while_threads_work() -> None:
    with threads(2):
        found = map_threads(lambda _: blas_threads(), range(4))
    assert found == [{1}] * 4
    assert blas_threads() == {2}


def test_a_failed_part_removes_the_limit() -> None:
    with threads(2), pytest.raises(ZeroDivisionError):
        map_threads(lambda part: 1 // part, [1, 0])
    assert blas_threads() == {2}


def test_a_default_fit_removes_the_limit() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.repeat([0, 1], 100)
    BayesClassifier().fit(X, y).predict(X)
    assert blas_threads() == {2}


def test_a_stream_keeps_the_order_and_reads_little_ahead() -> None:
    read: list[int] = []

    def parts() -> Iterator[int]:
        for part in range(20):
            read.append(part)
            yield part

    ahead = []
    with threads(3):
        for result in stream_threads(lambda part: (part, blas_threads()), parts()):
            ahead.append(len(read) - result[0])
            assert result[1] == {1}
    assert read == list(range(20))
    assert max(ahead) <= 4
    assert blas_threads() == {2}


def test_a_failed_part_of_a_stream_raises_in_its_place() -> None:
    with threads(2):
        stream = stream_threads(lambda part: 1 // part, [1, 1, 0, 1, 1])
        assert [next(stream), next(stream)] == [1, 1]
        with pytest.raises(ZeroDivisionError):
            next(stream)
    assert blas_threads() == {2}


def test_a_nested_stream_stays_in_its_thread() -> None:
    with threads(2):
        found = list(stream_threads(lambda _: {*stream_threads(lambda _: get_ident(), range(4))}, range(4)))
    assert all(len(idents) == 1 for idents in found)
