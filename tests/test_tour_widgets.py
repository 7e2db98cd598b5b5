"""The interactive parts of the tour in a browser: their numbers are those of suffice, and they work by keyboard."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suffice import Bernoulli, Beta, Gaussian, GaussianDiscriminant, LogisticRegression

TOUR = Path(__file__).resolve().parents[1] / "docs" / "tour"
PAGES = {
    "beta-prior": "004_bayesian_estimation",
    "decision-boundary": "001_additive_log_odds",
    "newton-steps": "001_additive_log_odds",
}
MEANS = np.array([[-0.5, 0.0], [1.5, 0.0]])
COVARIANCES = np.array([[[1.0, 0.8], [0.8, 1.0]], [[0.64, 0.0], [0.0, 0.64]]])


def markup(page: str) -> str:
    """Return the HTML that a page contains, as a site passes it on."""
    text = (TOUR / f"{page}.md").read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^<(?:div|script).*?</(?:div|script)>$", text, re.M | re.S))


@pytest.fixture
def opened(open_page: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Return a function that opens the page of a widget."""
    shutil.copytree(TOUR / "widgets", tmp_path / "widgets")

    def opens(widget: str, *, directory: bool = False, **settings: Any) -> Any:
        path = tmp_path / (f"{widget}/index.html" if directory else f"{widget}.html")
        path.parent.mkdir(exist_ok=True)
        dark = "body { margin: 8px; background: Canvas; color: CanvasText; color-scheme: light dark; }"
        title = f"<html lang='en'><meta charset='utf-8'><title>{widget}</title><style>{dark}</style>"
        head = f"<!doctype html>{title}<meta name='viewport' content='width=device-width'>"
        path.write_text(f"{head}<main><h1>{widget}</h1>{markup(PAGES[widget])}</main>", encoding="utf-8")
        page = open_page(path, **settings)
        page.locator(f"[data-widget={widget}] svg").first.wait_for()
        return page

    return opens


def cells(page: Any, table: str) -> list[list[str]]:
    """Return the texts of the rows of a table."""
    rows = page.get_by_role("table", name=table).locator("tbody tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def points(page: Any, selector: str) -> np.ndarray:
    """Return the points of the first drawn line of a kind, in the units of its drawing."""
    shown = page.locator(selector).first
    drawn = shown.get_attribute("points") or shown.get_attribute("d")
    return np.array(re.findall(r"-?[\d.]+", drawn), float).reshape(-1, 2)


def frame(page: Any, widget: str) -> list[float]:
    """Return the left, upper, lower and right edge of the chart of a widget."""
    axis = page.locator(f"[data-widget={widget}] path.axis").first.get_attribute("d")
    return [float(value) for value in re.findall(r"[\d.]+", axis)]


@pytest.mark.parametrize("directory", [False, True])
@pytest.mark.parametrize("widget", sorted(PAGES))
def test_a_widget_finds_its_scripts(opened: Callable[..., Any], widget: str, directory: bool) -> None:
    page = opened(widget, directory=directory)
    assert page.locator(f"[data-widget={widget}] [role=status]").inner_text()


@pytest.mark.parametrize(("a", "b", "heads", "tails"), [(2, 2, 3, 2), (30, 0.5, 0, 40), (0.5, 0.5, 1, 0), (1, 1, 2, 7)])
def test_beta_prior_has_the_estimates_of_suffice(
    opened: Callable[..., Any], a: float, b: float, heads: int, tails: int
) -> None:
    page = opened("beta-prior")
    for name, value in zip(
        ("prior β, heads", "prior β, tails", "heads α", "tails α"), (a, b, heads, tails), strict=True
    ):
        page.get_by_label(name).fill(str(value))
    tally = Bernoulli.tally([1] * heads + [0] * tails)
    found = [float(row[1]) for row in cells(page, "Estimates")]
    wanted = [Bernoulli.estimate(tally, Beta(a, b), rule).p for rule in ("mle", "map", "mean")]
    posterior = Bernoulli.posterior(tally, Beta(a, b))
    np.testing.assert_allclose(found, [*wanted, posterior.std()], atol=6e-5)
    assert f"Beta({a + heads:g}, {b + tails:g})" in page.get_by_role("status").inner_text()
    drawn = points(page, "polyline.line.first")
    height = frame(page, "beta-prior")[2] - drawn[:, 1]
    density = posterior.pdf((np.arange(300) + 0.5) / 300)
    inner = slice(10, -10)  # the ends may be infinite
    np.testing.assert_allclose(height[inner] / height[inner].max(), density[inner] / density[inner].max(), atol=2e-3)


def test_beta_prior_without_flips_has_no_maximum_likelihood(opened: Callable[..., Any]) -> None:
    page = opened("beta-prior")
    for name in ("heads α", "tails α"):
        page.get_by_label(name).fill("0")
    assert [row[1] for row in cells(page, "Estimates")][:3] == ["none", "0.5000", "0.5000"]


def test_sliders_move_by_keyboard(opened: Callable[..., Any]) -> None:
    page = opened("beta-prior")
    page.get_by_label("heads α").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert "7 heads, 2 tails give the posterior Beta(9, 4)" in page.get_by_role("status").inner_text()


def fitted(covariance: str, means: np.ndarray, covariances: np.ndarray) -> GaussianDiscriminant:
    """Return a classifier with exactly these parameters: four points have any mean and covariance."""
    corners = np.sqrt(2) * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    rows = [mean + corners @ np.linalg.cholesky(its).T for mean, its in zip(means, covariances, strict=True)]
    return GaussianDiscriminant(covariance=covariance, estimate="mle").fit(np.concatenate(rows), np.repeat([0, 1], 4))


def check_boundaries(page: Any, means: np.ndarray, covariances: np.ndarray) -> None:
    """Check that both classes are equally probable along the drawn lines, and the share of wrong rows."""
    left, top, bottom, right = frame(page, "decision-boundary")
    rng, wrong = np.random.default_rng(0), []
    for kind, covariance in (("full", "full"), ("naive", "diagonal")):
        drawn = points(page, f"path.{kind}")
        inside = drawn[(drawn[:, 0] > left) & (drawn[:, 0] < right) & (drawn[:, 1] > top) & (drawn[:, 1] < bottom)]
        assert len(inside) > 30
        x = -4 + 8 * (inside[:, 0] - left) / (right - left)
        y = -3 + 6 * (bottom - inside[:, 1]) / (bottom - top)
        model = fitted(covariance, means, covariances)
        log_proba = model.predict_log_proba(np.column_stack([x, y]))
        assert abs(log_proba[:, 0] - log_proba[:, 1]).max() < 0.05
        of_class = [Gaussian(*its).sample(50_000, random_state=rng) for its in zip(means, covariances, strict=True)]
        wrong.append(np.mean([(model.predict(rows) != k).mean() for k, rows in enumerate(of_class)]))
    found = [float(row[1].removesuffix(" %")) / 100 for row in cells(page, "Rows assigned to the wrong class")]
    np.testing.assert_allclose(found, wrong, atol=0.005)


def test_boundaries_are_those_of_suffice(opened: Callable[..., Any]) -> None:
    page = opened("decision-boundary")
    check_boundaries(page, MEANS, COVARIANCES)
    page.get_by_label("correlation").nth(1).fill("-0.6")
    page.get_by_label("deviation of x₁").first.fill("0.7")
    changed = np.array([[[0.49, 0.56], [0.56, 1.0]], [[0.64, -0.384], [-0.384, 0.64]]])
    check_boundaries(page, MEANS, changed)


def test_means_are_dragged_and_moved_by_keyboard(opened: Callable[..., Any]) -> None:
    page = opened("decision-boundary")
    first, second = page.locator("circle.handle").all()
    box = first.bounding_box()
    chart = page.locator("[data-widget=decision-boundary] .charts > svg").bounding_box()
    unit = chart["width"] * (360 - 48) / 360 / 8  # pixels of one unit of x₁
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 - unit, box["y"] + box["height"] / 2)
    page.mouse.up()
    said = page.locator("[data-widget=decision-boundary] [role=status]")
    moved = float(re.search(r"first class: (-?[\d.]+),", said.inner_text())[1])
    assert moved == pytest.approx(-1.5, abs=0.03)
    second.focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    assert "second class: 1.40, 0.30" in said.inner_text()
    assert page.evaluate("document.activeElement.getAttribute('aria-valuetext')") == "x₁ 1.40, x₂ 0.30"
    means = np.array([[moved, float(re.search(r"first class: \S+, (-?[\d.]+)\.", said.inner_text())[1])], [1.4, 0.3]])
    check_boundaries(page, means, COVARIANCES)


def test_newton_steps_are_those_of_suffice(opened: Callable[..., Any]) -> None:
    x, y = np.arange(1, 9) / 2, np.array([0, 0, 1, 0, 1, 0, 1, 1])
    model = LogisticRegression(C=None, start="zero").fit(x[:, None], y)
    page = opened("newton-steps")
    button = page.get_by_role("button", name="Newton step")
    while button.is_enabled():
        button.press("Enter")
    rows = cells(page, "Steps")
    assert len(rows) == len(model.trace_)
    np.testing.assert_allclose(
        [float(row[3]) for row in rows], [-line["objective"] for line in model.trace_], atol=1e-8
    )
    np.testing.assert_allclose(
        [float(row[4]) for row in rows[:-1]], [line["gradient"] for line in model.trace_[:-1]], rtol=0.06
    )
    np.testing.assert_allclose(
        [float(rows[-1][1]), float(rows[-1][2])], [model.coef_.item(), model.intercept_.item()], atol=1e-6
    )
    assert "its maximum" in page.locator("[data-widget=newton-steps] [role=status]").inner_text()
    page.get_by_role("button", name="Start again").click()
    assert len(cells(page, "Steps")) == 1


def test_newton_reaches_the_maximum_from_afar(opened: Callable[..., Any]) -> None:
    page = opened("newton-steps")
    for slope, intercept in ((-1, -6), (3, 2), (3, -6), (-1, 2)):
        page.get_by_label("start, slope").fill(str(slope))
        page.get_by_label("start, intercept").fill(str(intercept))
        button = page.get_by_role("button", name="Newton step")
        while button.is_enabled():
            button.click()
        assert cells(page, "Steps")[-1][1:4] == ["1.188169", "-2.673380", "-4.224790537"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("widget", sorted(PAGES))
def test_widgets_are_accessible_and_fit_a_phone(opened: Callable[..., Any], widget: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = opened(widget, viewport={"width": 375, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    found = axe.Axe().run(page).response
    assert not [(its["id"], its["nodes"][0]["html"]) for its in found["violations"]]
    assert len(found["passes"]) > 10


@pytest.mark.parametrize("directory", [False, True])
def test_the_site_has_the_widgets_and_pictures_without_javascript(
    browser: Any, tmp_path: Path, directory: bool
) -> None:
    build = pytest.importorskip("mkdocs.commands.build")
    config = pytest.importorskip("mkdocs.config")
    shutil.copytree(TOUR, tmp_path / "docs" / "tour")
    (tmp_path / "docs" / "guides").mkdir()
    for page in ("index.md", "guides/teaching.md"):  # to which the tour links
        (tmp_path / "docs" / page).write_text("# Page\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: tour\ntheme: {name: mkdocs, highlightjs: false}\nplugins: []\n")
    settings = {"use_directory_urls": directory, "site_dir": str(tmp_path / "site"), "strict": True}
    build.build(config.load_config(str(tmp_path / "mkdocs.yml"), **settings))
    for widget, name in PAGES.items():
        path = tmp_path / "site" / "tour" / (f"{name}/index.html" if directory else f"{name}.html")
        page = browser.new_page()
        page.goto(path.as_uri())
        page.locator(f"[data-widget={widget}] svg").first.wait_for()
        page.close()
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(path.as_uri())
        assert page.locator(f"[data-widget={widget}] *").count() == 0
        assert page.locator("img").count() >= 4
        context.close()
