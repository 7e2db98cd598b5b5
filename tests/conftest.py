"""Shared by the tests: classifiers with suitable data, fixtures, and comparisons of models."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if "PYTEST_XDIST_WORKER" in os.environ:
    # NumPy reads these when it is imported: with threads of BLAS in each worker, threads wait for each other's cores
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import suffice
from suffice.families import FAMILIES
from suffice.kernels import compiler
from suffice.statistics.cancellation import LostDigitsError

settings.register_profile(
    "suffice", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("suffice")


SHARES = ("few", "many", "all")  # the cases of tests/hostile: in `make test`, in `make hostile`, and all of them


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--hostile", choices=SHARES, default=SHARES[0], help="how many hostile cases are run")


class ClosedFigures:
    """Closes the figures of each test and example, of which matplotlib warns if there are many."""

    def pytest_runtest_teardown(self) -> None:
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ClosedFigures())  # a fixture would not reach the examples in src/


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
NO_BROWSER = "needs a browser: pip install playwright, and apt-get install chromium (or chrome on the path)"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True)
class Case:
    """A classifier, scikit-learn's of the same name, settings for both, and numbers that suit them."""

    name: str
    cells: Any
    parameters: dict[str, Any] = field(default_factory=dict)
    sparse: bool = True
    exact: bool = True  # its sums are counts, which are right to the bit
    peer: bool = True  # scikit-learn has it, with these settings

    def ours(self, **parameters: Any) -> Any:
        return getattr(suffice, self.name)(**{**self.parameters, **parameters})

    def theirs(self, **parameters: Any) -> Any:
        return getattr(theirs, self.name)(**{**self.parameters, **parameters})

    def __str__(self) -> str:
        return self.name + "".join(f"-{name}={value}" for name, value in self.parameters.items())


REALS = st.floats(-1e3, 1e3, width=32)
COUNTS = st.integers(0, 9)
# The classifiers of each family; a family without one is tested in tables alone (`cases.py`).
FAMILY_CASES: dict[str, list[Case]] = {
    "gaussian": [
        Case("GaussianNB", REALS, sparse=False, exact=False),
        Case("GaussianNB", REALS, {"estimate": "predictive"}, sparse=False, exact=False, peer=False),
    ],
    "bernoulli": [
        Case("BernoulliNB", COUNTS, {"binarize": 4.0}),
        Case("BernoulliNB", st.integers(0, 1), {"binarize": None}),
    ],
    "multinomial": [
        Case("MultinomialNB", COUNTS),
        Case("MultinomialNB", COUNTS, {"estimate": "predictive"}, peer=False),
    ],
    "complement": [Case("ComplementNB", COUNTS), Case("ComplementNB", COUNTS, {"norm": True})],
    "categorical": [Case("CategoricalNB", COUNTS, sparse=False)],
    "poisson": [
        Case("PoissonNB", COUNTS, peer=False),
        Case("PoissonNB", COUNTS, {"estimate": "predictive"}, peer=False),
    ],
}
CASES = [case for family in FAMILIES for case in FAMILY_CASES.get(family, [])]
FIVE = [case for case in CASES if case.peer and case.parameters in ({}, {"binarize": 4.0})]
every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_peer = pytest.mark.parametrize("case", [case for case in CASES if case.peer], ids=str)
each_of_five = pytest.mark.parametrize("case", FIVE, ids=lambda case: case.name)


@st.composite
def tables(draw: st.DrawFn, case: Case, min_rows: int = 2, max_rows: int = 24) -> tuple[Any, Any, Any]:
    """Rows, labels and whole-number weights for a case."""
    rows, columns = draw(st.integers(min_rows, max_rows)), draw(st.integers(1, 5))
    kind = np.float64 if case.cells is REALS else np.int64
    X = draw(hnp.arrays(kind, (rows, columns), elements=case.cells))
    y = draw(hnp.arrays(np.int64, rows, elements=st.integers(0, 3)))
    weights = draw(hnp.arrays(np.int64, rows, elements=st.integers(1, 3)))
    return X, y, weights


def example(case: Case, rows: int = 300, columns: int = 7, classes: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Rows and labels for a case, in which the classes differ."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    if case.cells is REALS:
        return rng.normal(size=(rows, columns)) * rng.uniform(0.5, 2, columns) + y[:, None], y
    if case.parameters.get("binarize", 0) is None:
        return (rng.random((rows, columns)) < 0.2 + 0.2 * y[:, None]).astype(np.int64), y
    return rng.poisson(2 + y[:, None] * rng.random(columns)).clip(0, 9), y


@pytest.fixture(params=["compiled", "uncompiled"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run the test once with every kernel compiled and once with none."""
    monkeypatch.setattr(compiler, "PATIENCE", 0 if request.param == "compiled" else 10**18)
    return request.param


@pytest.fixture
def engine_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count small tables at the engine, too, where `fit_table` would take their sample as the whole table."""
    monkeypatch.setattr("suffice.classifiers.fit_table.takes_sample_as_table", lambda source: False)


@pytest.fixture
def spark() -> Any:
    """Spark in this process, which all tests share until one of them stops it."""
    import spark as starting

    return starting.session()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        found = None
    if found is None:
        (pytest.fail if in_ci() else pytest.skip)(NO_BROWSER)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """A function that opens a file in a page; errors, dialogs and requests to other places fail the test at its end."""
    pages: list[Any] = []
    troubles: list[str] = []

    def route(handler: Any) -> None:
        if handler.request.url.startswith("file://"):
            handler.continue_()
        else:
            troubles.append(f"asked for {handler.request.url}")
            handler.abort()

    def refuse(dialog: Any) -> None:
        troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def opens(path: Path, **settings: Any) -> Any:
        page = browser.new_page(**settings)
        page.route("**/*", route)
        page.on("console", lambda message: troubles.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", refuse)
        page.goto(path.as_uri())
        pages.append(page)
        return page

    yield opens
    for page in pages:
        page.close()
    assert not troubles


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server of commands; when all are done, no file of theirs is left in their temporary folder."""
    from command_server import CommandServer

    folder = tmp_path_factory.mktemp("temporary")
    with CommandServer(folder) as server:
        yield server
    assert [path for path in folder.rglob("*") if path.is_file()] == []


@pytest.fixture
def case_count(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function that returns one of three values, such as numbers of cases, for few, many or all cases."""
    place = SHARES.index(request.config.getoption("--hostile"))
    return lambda *numbers: numbers[place]


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """A function that adds a line, such as a count of cases, to the end of the report of `make hostile`."""
    return lambda line: record_property("told", line)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    lines = [line for each in reports for name, line in each.user_properties if name == "told" and each.when == "call"]
    if lines and config.getoption("--hostile") != SHARES[0]:
        terminalreporter.section("cases")
        for line in lines:
            terminalreporter.write_line(line)


def data(name: str) -> Path:
    """Return a file of real data, or skip the test where the folder is not there."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"needs the real data of {name}, which are not in the repository")
    return path


def in_ci() -> bool:
    return bool(os.environ.get("CI"))


def assert_same_scores(first: Any, second: Any) -> None:
    """Both are the same but for rounding: a kernel may have been compiled between the one and the other."""
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)


def expect_warning(message: str | None, category: type[Warning] = UserWarning) -> AbstractContextManager[Any]:
    """Return a context in which a warning has to occur; in which none may, if the message is None."""
    return nullcontext() if message is None else pytest.warns(category, match=message)


def forgets(model: Any, *rows: Any) -> bool:
    """Forget rows; return False if too few digits would be left, in which case the model is as it was."""
    before = model.tally_
    try:
        model.forget(*rows)
    except LostDigitsError:
        assert model.tally_ is before
        return False
    return True


def assert_same_model(first: Any, second: Any, X: Any, rtol: float = 1e-9) -> None:
    """Both know the same classes, hold the same sums, and say the same of rows X."""
    assert first.classes_.tolist() == second.classes_.tolist()
    assert first.tally_.isclose(second.tally_, rtol)
    np.testing.assert_allclose(
        first.predict_joint_log_proba(X), second.predict_joint_log_proba(X), rtol=rtol, atol=1e-8
    )
