"""The documentation site: it builds without warnings, its links work, and it is accessible and self-contained."""

from __future__ import annotations

import ast
import html
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import suffice

ROOT = Path(__file__).resolve().parents[1]
LOOKED_AT = (
    "index.html",
    "guides/structures.html",
    "api/bayes_classifier.html",
    "gallery/index.html",
    "tour/004_bayesian_estimation.html",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder


class Page(HTMLParser):
    """What a page links to, what it loads, and the anchors that it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {name for key in ("id", "name") if (name := given.get(key))}
        if tag == "a" and (link := given.get("href")):
            self.links.append(link)
        if tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(given.get("href") or "")
        if tag in ("script", "img", "iframe", "source") and (source := given.get("src")):
            self.loaded.append(source)


def test_every_internal_link_and_anchor_leads_somewhere(site: Path) -> None:
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    assert len(pages) > 40
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":  # 404.html has links from the root of a server
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                broken.append(f"{path.relative_to(site)}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                broken.append(f"{path.relative_to(site)}: {link} (no such anchor)")
    assert not broken, "\n".join(broken)


def test_nothing_is_loaded_from_other_servers(site: Path) -> None:
    for path in site.rglob("*.html"):
        outside = [source for source in Page(path).loaded if urlsplit(source).netloc]
        assert not outside, f"{path.relative_to(site)}: {outside}"
    for path in site.rglob("*.css"):
        assert not re.findall(r"url\(['\"]?https?:", path.read_text()), path


def test_every_public_name_has_an_entry(site: Path) -> None:
    anchors = set().union(*(Page(path).anchors for path in (site / "api").glob("*.html")))
    names = {f"suffice.{name}" for name in suffice.__all__}
    assert not names - anchors
    assert "suffice.BayesClassifier.partial_fit" in anchors  # inherited methods are shown
    settings = (site / "api" / "naive_bayes.html").read_text()
    assert "var_smoothing" in settings


def test_pictures_are_small_and_formulas_are_mathml(site: Path) -> None:
    pictures = list((site / "gallery").glob("*.svg"))
    assert len(pictures) > 12
    assert all(path.stat().st_size < 120_000 for path in pictures)
    text = (site / "guides" / "priors.html").read_text()
    assert "<mfrac>" in text
    assert "arithmatex" not in text


def test_examples_of_docstrings_are_code(site: Path) -> None:
    """A prompt in running text is an example without its section, and so is a quotation in a quotation."""
    for path in (site / "api").glob("*.html"):
        text = re.sub(r"<pre.*?</pre>", "", path.read_text(), flags=re.S)
        assert not re.search("&gt;&gt;&gt;|<blockquote>", text), path.name


@pytest.mark.parametrize("name", ["BayesClassifier", "GaussianNB", "LogisticRegression", "GaussianDiscriminant"])
def test_settings_are_shown_with_their_defaults(site: Path, name: str) -> None:
    pages = "".join(path.read_text() for path in (site / "api").glob("*.html"))
    start = pages.index(f'id="suffice.{name}"')
    entry = pages[start : pages.index("Methods:", start)]
    signature, table = entry[: entry.index("</pre>")], entry[entry.index("Parameters:") : entry.index("</tbody>")]
    assert "_parameter_constraints" not in signature
    defaults = getattr(suffice, name)().get_params()
    shown = {}
    for row in table.split("</tr>"):
        codes = [html.unescape(re.sub(r"<[^>]+>", "", code)) for code in re.findall(r"<code>(.*?)</code>", row, re.S)]
        if codes and codes[0] in defaults:
            shown[codes[0]] = codes[-1]
    assert {key: ast.literal_eval(value) for key, value in shown.items()} == defaults


@pytest.mark.pages
@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_pages_are_accessible_and_quiet(site: Path, browser: Any, look: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    # the pages of the API are long, made from one template, and take a quarter of a minute each
    paths = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    names = [*LOOKED_AT, *(name for name in paths if name not in (*LOOKED_AT, "404.html") and look != "dark")]
    width, scheme = (375 if look == "phone" else 1280), ("dark" if look == "dark" else "light")
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    troubles: list[str] = []
    page.on("request", lambda sent: None if sent.url.startswith("file:") else troubles.append(sent.url))
    page.on("console", lambda said: troubles.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    found = []
    for name in names:
        page.goto((site / name).as_uri())
        page.wait_for_selector(".md-content")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{name} is wider than the window")
        if name not in LOOKED_AT and (look == "phone" or name.startswith("api/")):
            continue
        # without preload, by which axe asks for the style sheets: browsers refuse that for files
        results = Axe().run(page, options={"preload": False})
        found += [
            f"{name}: {each['id']} ({len(each['nodes'])}): {each['nodes'][0]['target']}"
            for each in results.response["violations"]
        ]
    page.close()
    assert not found, "\n".join(found)
    assert not troubles


def test_the_search_works_from_the_disk(site: Path, browser: Any) -> None:
    page = browser.new_page()
    page.goto((site / "guides" / "priors.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("receipt")
    page.wait_for_selector(".md-search-result__item", timeout=20_000)
    titles = page.locator(".md-search-result__item h1").all_inner_texts()
    page.close()
    assert any("Erasure" in title for title in titles)
