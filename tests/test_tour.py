"""The tour of the lectures: its examples run, the lectures' figures are computed, and its pictures can be drawn."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt

TOUR = Path(__file__).resolve().parents[1] / "docs" / "tour"
PAGES = sorted(path.stem for path in TOUR.glob("*.md"))
# Figures that the lectures work out, each as it is printed on its page.
FIGURES = {
    "000_bernoulli_images": (
        "([0.957, 0.043], 0.7625)",
        "([0.5, 0.5], 0.85)",
        "(21440, 21440)",
        "1280",
        "3,085,040",
    ),
    "001_additive_log_odds": (
        "(5150, 5150)",
        "(200, 200)",
        "(299, 299)",
        "slope 1.188169, intercept -2.673380",
        "-4.224790537",
        "(65, 65)",
        "(5250, 5250)",
        "['x0²', 'x0·x1', 'x1²', 'x0', 'x1', '(intercept)']",
        "[2, 5, 9, 14]",
    ),
    "002_binary_digits": ("((1797, 64), [0, 1], 784)", "(238, 784)", "307,720 7,840", "(640, 640)", "7840"),
    "003_counts_and_map": (
        "[[0.05, 0.2]]",
        "0.25",
        "[[0.2, 0.8]]",
        "[[0.2, 0.4]]",
        "0.6667",
        "[[0.3333, 0.6667]]",
        "0.375",
        "(0.073, 0.008)",
        "[[0.008, 0.073]]",
        "[0.394, 0.03, 0.576]",
        "[[0.0, 0.5, 0.5], [0.0, 1.0, 1.0]]",
        "[[0.0, 0.0]]",
        "[0.3333, 0.1667, 0.5]",
        "0.266828",
        "0.138889",
        "(True, 1.0, 0.0)",
        "small 0.5 0.5, medium 0.0 0.0, large 0.5 0.5",
        "red 1.0 0.5, blue 0.0 0.5, green 0.0 0.0",
        "square 0.0 0.0, triangle 0.0 0.5, circle 1.0 0.5",
        "[[0.25, 0.25, 0.25], [0.375, 0.625, 0.625]]",
        "([0.394, 0.03, 0.576], 1.0)",
    ),
    "004_bayesian_estimation": (
        "('beta', [5.0, 4.0])",
        "0.5714",
        "'mean': 0.5556",
        "(0.333333, 0.333333)",
        "Gaussian(mean=8.0, variance=36.0)",
        "Gaussian(mean=-1.0, variance=13.0)",
        "Gaussian(mean=76.2, variance=1056.56)",
        "(0.5, 1.0)",
        "(73.4444, 73.4444, 6.6667)",
        "271",
        "9000",
        "[0.8, 0.01, 0.05, 0.05, 0.3, 0.8, 0.9, 0.05, 0.6, 0.5]",
        "[0.8, 0.05, 0.01, 0.9, 0.8, 0.9, 0.9, 0.25, 0.85, 0.6]",
        "[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]",
        "[0.4545, 0.2727, 0.2727]",
        "([1, 3, 9, 6], [1, 3, 9, 6])",
    ),
}


def read(page: str) -> str:
    return (TOUR / f"{page}.md").read_text(encoding="utf-8")


def outputs(page: str) -> str:
    """Return what the examples of a page print, which doctest compares with what they compute."""
    return " ".join(example.want for example in doctest.DocTestParser().get_examples(read(page)))


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page: str) -> None:
    failed, tried = doctest.testfile(str(TOUR / f"{page}.md"), module_relative=False, encoding="utf-8")
    plt.close("all")
    assert tried >= (3 if page == "index" else 30)
    assert failed == 0


@pytest.mark.parametrize("page", sorted(FIGURES))
def test_the_figures_of_the_lecture_are_computed(page: str) -> None:
    printed = outputs(page)
    for figure in FIGURES[page]:
        assert re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d.])", printed), figure


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    subprocess.run([sys.executable, str(TOUR / "pictures.py"), str(folder)], check=True, timeout=300)
    return folder


def test_the_script_draws_all_pictures(drawn: Path) -> None:
    shown = {name for page in PAGES for name in re.findall(r"\]\(images/([\w.]+)\)", read(page))}
    assert len(shown) > 15
    for folder in (drawn, TOUR / "images"):
        assert {path.name for path in folder.iterdir()} == shown
        for path in folder.iterdir():
            assert 2_000 < path.stat().st_size < 100_000, path.name


def test_pictures_have_a_description() -> None:
    for page in PAGES:
        for text in re.findall(r"!\[(.*?)\]\(", read(page)):
            assert len(text) > 20, text


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for name, anchor in re.findall(r"\]\(([\w./]+\.md)(#[\w-]+)?\)", read(page)):
            text = (TOUR / name).read_text(encoding="utf-8")
            headings = [re.sub(r"[^\w -]", "", line).strip().lower() for line in re.findall(r"^#+ (.*)$", text, re.M)]
            assert not anchor or anchor[1:] in [heading.replace(" ", "-") for heading in headings], (page, name, anchor)
