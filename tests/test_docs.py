"""The documents: their examples and recipes run, their commands exist, and their lists and versions are complete."""

from __future__ import annotations

import ast
import doctest
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import half_normal
import postgres
import suffice
import suffice.plots
import suffice.report
from suffice.families import FAMILIES

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
LOANS = DOCS / "loans.csv"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# these have tests of their own: test_the_guide_to_families_runs, and tests/test_integrations.py
ELSEWHERE = {"design/add_a_family.md", "guides/integrations.md"}
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
EXAMPLES = [
    page
    for page in PAGES
    if ">>> " in (DOCS / page).read_text() and page not in ELSEWHERE and not page.startswith("tour/")  # test_tour.py
]
RECIPES = sorted(path.stem for path in (DOCS / "recipes").glob("*.txt"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the table that the pages read."""
    shutil.copy(LOANS, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(path: Path, language: str) -> list[str]:
    """Return the code blocks of a page, also those that are indented."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", path.read_text(), re.M | re.S)
    return [re.sub(rf"^{indent}", "", code, flags=re.M) for indent, code in found]


def test_the_commands_and_the_example_of_the_readme_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first block runs but for the installation; the last one has the targets that CI runs."""
    first, last = blocks(ROOT / "README.md", "sh")
    install, *commands = first.splitlines()
    assert install == "pip install suffice"
    program = Path(sys.executable).with_name("suffice")
    script = "\n".join(["set -e", f'suffice() {{ {shlex.quote(str(program))} "$@"; }}', *commands])
    source = str(Path(suffice.__file__).parents[1])
    done = subprocess.run(
        ["sh", "-c", script], cwd=folder, env=os.environ | {"PYTHONPATH": source}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "accuracy" in done.stdout
    assert (folder / "suffice-tutorial" / "flowers.html").stat().st_size > 100_000
    targets = re.findall(r"^make (\w+)", last, re.M)
    assert targets == ["demo", "test"]
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-1] == f"make {targets[-1]}"

    monkeypatch.chdir(folder / "suffice-tutorial")  # where the commands have put the table that the example reads
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=FLAGS)
    assert tried >= 8
    assert failed == 0


def test_a_fit_prints_what_the_first_page_shows(folder: Path) -> None:
    """The commands of the first page run; the first two divide the table into rows to learn and rows to test on."""
    program = f'suffice() {{ {shlex.quote(sys.executable)} -m suffice "$@"; }}'
    *commands, report = blocks(DOCS / "start" / "five_minutes.md", "sh")[0].splitlines()
    split, fit, others = commands[:2], commands[2], [*commands[3:], report]
    source = {"PYTHONPATH": str(Path(suffice.__file__).parents[1])}
    for script, expected in (([*split, fit], (DOCS / "start" / "fit_output.txt").read_text()), (others, None)):
        done = subprocess.run(
            ["sh", "-c", "\n".join(["set -e", program, *script])],
            cwd=folder,
            env=os.environ | source,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert expected is None or done.stdout == expected
    learned, tested = (set((folder / name).read_text().splitlines()[1:]) for name in ("train.csv", "test.csv"))
    assert (len(learned), len(tested), learned & tested) == (800, 200, set())
    assert (
        (folder / "predictions.csv")
        .read_text()
        .startswith("age,income,years_in_job,debts,home,purpose,repaid,prediction,")
    )
    assert (folder / "loans.html").stat().st_size > 100_000


def test_the_readme_is_short_and_its_links_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) < 150
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (ROOT / target).exists(), target


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", EXAMPLES)
def test_the_examples_of_a_page_run(page: str) -> None:
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=FLAGS)
    assert tried >= 2
    assert failed == 0


@pytest.mark.parametrize("page", PAGES)
def test_other_code_is_python(page: str) -> None:
    for code in blocks(DOCS / page, "python"):
        if "--8<--" not in code and ">>> " not in code and page not in ELSEWHERE:
            ast.parse(code)


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{page}" for page in PAGES)])
def test_commands_have_the_options_that_the_documents_say(page: str) -> None:
    from suffice.cli.app import app

    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for line in "\n".join(blocks(ROOT / page, "sh")).splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0] == "suffice" and not words[1].startswith("-"):
            known[words[1]].make_context(words[1], words[2:])


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_prints_what_its_page_shows(name: str, tmp_path: Path) -> None:
    script = DOCS / "recipes" / f"{name}.py"
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == script.with_suffix(".txt").read_text()


def test_every_recipe_has_a_page_and_is_run() -> None:
    scripts = {path.stem for path in (DOCS / "recipes").glob("*.py")}
    assert scripts - set(RECIPES) == {"nightly_postgres", "service"}  # below, and in tests/test_web_service.py
    pages = "\n".join((DOCS / page).read_text() for page in PAGES)
    for name in scripts:
        assert f'--8<-- "docs/recipes/{name}.py"' in pages, name


@pytest.mark.server
def test_the_nightly_update_learns_new_rows_once(folder: Path) -> None:
    import pandas as pd
    import psycopg

    with postgres.start() as url, psycopg.connect(url, autocommit=True) as base:

        def run() -> str:
            command = [sys.executable, str(DOCS / "recipes" / "nightly_postgres.py"), url]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            return done.stdout.strip()

        def insert(rows: pd.DataFrame) -> None:
            cells = rows.astype(object).where(rows.notna(), None)
            base.cursor().executemany(
                "INSERT INTO loans VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", cells.to_numpy().tolist()
            )

        loans = pd.read_csv(LOANS).reset_index(names="id")
        columns = "age INTEGER, income INTEGER, years_in_job FLOAT, debts INTEGER, home TEXT, purpose TEXT, repaid TEXT"
        base.execute(f"CREATE TABLE loans (id INTEGER, {columns})")
        insert(loans[:900])
        # 100 rows are inserted while the first job runs: before it writes which rows it has learned
        base.execute("CREATE TABLE learned (last INTEGER)")
        base.execute("CREATE TABLE late AS SELECT * FROM loans WHERE id >= 800")
        base.execute("DELETE FROM loans WHERE id >= 800")
        move = "INSERT INTO loans SELECT * FROM late; DELETE FROM late; RETURN NULL;"
        base.execute(f"CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {move} END $$")
        base.execute("CREATE TRIGGER late BEFORE DELETE ON learned EXECUTE FUNCTION move()")
        assert run() == "first fit: 800 rows"
        assert run() == "learned 100 rows, 900 in all; drifted columns: []"
        assert run() == "nothing new"
        insert(loans[900:])
        assert run() == "learned 100 rows, 1000 in all; drifted columns: []"
        scored = base.execute('SELECT id, "p(yes)" FROM loans_scored ORDER BY id').fetchall()
        expected = suffice.load("loans.suffice").predict_proba(loans.drop(columns=["id", "repaid"]))[:, 1]
        assert max(abs(p - q) for (_, p), q in zip(scored, expected, strict=True)) < 1e-6


def test_the_notebooks_are_those_of_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make notebooks` runs them; here they are compared with the pages."""
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.syspath_prepend(ROOT / "website")
    notebooks = importlib.import_module("notebooks")
    for page in notebooks.PAGES:
        written = nbformat.read(DOCS / "notebooks" / f"{Path(page).name}.ipynb", as_version=4)
        assert written == notebooks.make_notebook(page), f"{page}: run `make notebooks`"


def test_every_public_name_is_on_the_api_pages() -> None:
    shown = {
        name for page in (DOCS / "api").glob("*.md") for name in re.findall(r"^::: (\S+)$", page.read_text(), re.M)
    }
    public = {f"suffice.{name}" for name in suffice.__all__}
    for module in (suffice.plots, suffice.report):
        public |= {f"{module.__name__}.{name}" for name in module.__all__}
    public |= {"suffice.images.deskew", "suffice.images.Deskew"}
    assert not public - shown
    index = (DOCS / "api" / "index.md").read_text()
    assert not {name for name in shown if f"`{name.rsplit('.', 1)[1]}`" not in index}


def test_every_plot_is_in_the_gallery() -> None:
    page = (DOCS / "gallery" / "index.md").read_text()
    shown = set(re.findall(r"gallery\.py:(\w+)", page))
    numbers = {"Points", "Scale", "learning", "points"}  # they draw nothing
    assert shown == set(suffice.plots.__all__) - numbers
    assert shown == set(re.findall(r"\((\w+)\.svg\)", page))


def test_every_file_of_the_house_is_on_the_page() -> None:
    page = (DOCS / "design" / "how_it_works.md").read_text()
    for path in (ROOT / "src" / "suffice").iterdir():
        if path.name.startswith("_") or path.name in ("demo.py", "py.typed"):
            continue
        assert f"`{path.name}{'/' if path.is_dir() else ''}`" in page, path.name


def test_every_benchmark_that_is_named_exists() -> None:
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(DOCS / page for page in PAGES)]:
        for name in re.findall(r"benchmarks/\w+\.py", path.read_text()):
            assert (ROOT / name).exists(), f"{path.name}: {name}"


def test_every_target_of_the_makefile_explains_itself() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", makefile, re.M)
    assert phony is not None
    for target in phony.group(1).replace("\\\n", " ").split():
        assert re.search(rf"^{target}:.*## \w", makefile, re.M), target


def test_the_changelog_knows_this_version_and_the_kinds_of_changes() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    assert f"## {suffice.__version__}" in text
    kinds = re.findall(r"^### (.*)$", text, re.M)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_citation_has_this_version_and_licence() -> None:
    citation = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {suffice.__version__}" in citation
    assert "license: BSD-3-Clause" in citation


def test_the_guide_to_families_has_the_code_that_is_tested() -> None:
    page = (DOCS / "design" / "add_a_family.md").read_text()
    shown = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    code = (ROOT / "tests" / "half_normal.py").read_text()
    assert _lines("\n".join(shown)) == _lines(code)


def test_the_guide_to_families_runs() -> None:
    page = str(DOCS / "design" / "add_a_family.md")
    try:
        failed, tried = doctest.testfile(page, module_relative=False, globs=dict(vars(half_normal)))
    finally:
        FAMILIES.pop("half-normal", None)
    assert tried > 10
    assert failed == 0


def _lines(code: str) -> list[str]:
    return [line for line in code.splitlines() if line]
