"""Make notebooks from pages of the documentation, and run them.

    python website/notebooks.py docs/notebooks

Text becomes Markdown cells, and examples become code cells without prompts. Pages read ``loans.csv`` from the working
directory, and notebooks from the folder above theirs, where it is in the repository. Each notebook is run in such a
folder; an error stops the build. Notebooks are written without output, so that a file changes only with its
page; ``--outputs`` keeps it.
"""

from __future__ import annotations

import argparse
import doctest
import posixpath
import re
import shutil
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES: tuple[str, ...] = (
    "start/five_minutes",
    "start/from_scikit_learn",
    "guides/structures",
    "guides/priors",
    "guides/missing_values",
    "guides/calibration",
    "guides/comparing",
    "guides/explaining",
    "guides/forgetting",
    "guides/merging",
    "guides/streams_and_drift",
    "guides/logistic_regression",
    "guides/teaching",
)
PAGES += tuple(f"tour/{path.stem}" for path in sorted((DOCS / "tour").glob("[0-9]*.md")))
BLOCK = re.compile(r"^( *)```python\n(.*?)^\1```\n?", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s#:]+\.(?:md|csv|svg|png))(#[^)\s]*)?\)")
# the interactive parts of a page need the site
WIDGET = re.compile(r'^(?:<div class="suffice-widget".*?</div>|<script>.*?</script>)\n', re.M | re.S)
DETAILS = re.compile(r'^\?\?\? \w+ "(.*)"\n', re.M)


def example_cells(block: str) -> list[str]:
    """Return the code of examples with prompts; a cell ends after an example with output, which the notebook shows."""
    cells = [""]
    for each in doctest.DocTestParser().get_examples(block):
        cells[-1] += each.source
        if each.want:
            cells.append("")
    return [cell.rstrip("\n") for cell in cells if cell]


def text_cell(text: str, page: str) -> str:
    """Return text for a notebook: links lead to the pages in the folder of the documentation, and details are open."""
    here = posixpath.dirname(page)

    def relink(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(here, match[1]))
        return f"](../{target}{match[2] or ''})"

    text = DETAILS.sub(r"**\1**\n", text)
    text = re.sub(r"^    (?=\S|    )", "", text, flags=re.M) if "**Solution**" in text else text
    return LINK.sub(relink, text).strip()


def make_notebook(page: str) -> nbformat.NotebookNode:
    """Return the notebook of a page."""
    source, cells, place = (DOCS / f"{page}.md").read_text(), [], 0
    source = WIDGET.sub("", re.sub(r"^```text\n--8<-- .*?\n```\n", "", source, flags=re.M))
    for match in BLOCK.finditer(source):
        cells.append(new_markdown_cell(text_cell(source[place : match.start()], page)))
        code = re.sub(rf"^{match[1]}", "", match[2], flags=re.M).replace('"loans.csv"', '"../loans.csv"')
        cells += map(new_code_cell, example_cells(code))
        place = match.end()
    cells.append(new_markdown_cell(text_cell(source[place:], page)))
    cells = [cell for cell in cells if cell.source]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # random ids would change the file each time
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def run_notebook(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the notebook with its output; an error in a cell is raised."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(DOCS / "loans.csv", folder)
        (own := Path(folder) / "notebooks").mkdir()
        place, quiet = {"metadata": {"path": own}}, ["--log-level=ERROR"]
        return NotebookClient(notebook, timeout=120, resources=place, extra_arguments=quiet).execute()


def main() -> None:
    """Write and run all notebooks."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=Path)
    options.add_argument("--outputs", action="store_true", help="keep the output of the cells")
    given = options.parse_args()
    given.folder.mkdir(exist_ok=True)
    for page in PAGES:
        notebook = make_notebook(page)
        path = given.folder / f"{posixpath.basename(page)}.ipynb"
        if not given.outputs:
            nbformat.write(notebook, path)
        ran = run_notebook(notebook)
        if given.outputs:
            nbformat.write(ran, path)
        print(f"{path.name}: {sum(cell.cell_type == 'code' for cell in ran.cells)} cells of code ran")


if __name__ == "__main__":
    main()
