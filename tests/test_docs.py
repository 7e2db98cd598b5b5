"""The documents: their examples run, and their lists and versions are complete."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import negative_binomial
import suffice
from suffice.families import FAMILIES

ROOT = Path(__file__).resolve().parents[1]


def test_the_readme_runs() -> None:
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 10
    assert failed == 0


@pytest.mark.parametrize(
    "page", ["discriminants", "drift", "engines", "forgetting", "onnx", "plan", "pool", "settings"]
)
def test_the_examples_of_a_page_run(page: str) -> None:
    failed, tried = doctest.testfile(str(ROOT / "docs" / f"{page}.md"), module_relative=False)
    assert tried >= 9
    assert failed == 0


def test_every_file_of_the_house_is_on_the_page() -> None:
    page = (ROOT / "docs" / "how_it_works.md").read_text()
    for path in (ROOT / "src" / "suffice").iterdir():
        if path.name.startswith("_") or path.name in ("demo.py", "py.typed"):
            continue
        assert f"`{path.name}{'/' if path.is_dir() else ''}`" in page, path.name


def test_every_target_of_the_makefile_explains_itself() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.M)
    assert phony is not None
    for target in phony.group(1).split():
        assert re.search(rf"^{target}:.*## \w", makefile, re.M), target


def test_the_changelog_knows_this_version() -> None:
    assert f"## {suffice.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_citation_has_this_version_and_licence() -> None:
    citation = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {suffice.__version__}" in citation
    assert "license: BSD-3-Clause" in citation


def test_the_guide_to_families_has_the_code_that_is_tested() -> None:
    page = (ROOT / "docs" / "add_a_family.md").read_text()
    shown = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    code = (ROOT / "tests" / "negative_binomial.py").read_text()
    assert _lines("\n".join(shown)) == _lines(code)


def test_the_guide_to_families_runs() -> None:
    page = str(ROOT / "docs" / "add_a_family.md")
    try:
        failed, tried = doctest.testfile(page, module_relative=False, globs=dict(vars(negative_binomial)))
    finally:
        FAMILIES.pop("negative-binomial", None)
    assert tried > 10
    assert failed == 0


def _lines(code: str) -> list[str]:
    return [line for line in code.splitlines() if line]
