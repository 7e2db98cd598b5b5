"""What mkdocs does not do by itself: formulas as MathML, pictures of the gallery, files of the root as pages."""

from __future__ import annotations

import html
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))

from gallery import draw_all

ROOT = Path(__file__).resolve().parents[1]
# files of the root that are pages of the site
PROJECT = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "RELEASING.md": "project/releasing.md",
    "SECURITY.md": "project/security.md",
}
LINK = re.compile(r"\]\(([^)\s#:]+)(#[^)\s]*)?\)")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.S)
PRIME = re.compile(r"<msup>(<mi>\w</mi>)<mi>(&#x0203[2-4];)</mi></msup>")
FUNCTION = re.compile(r"<mi>(log|ln|exp|cos|sin)</mi>(?=(<mo[^>]*>(?:\(|&#x00028;))?)")


def on_files(files: Any, config: Any) -> Any:
    """Add the project's own pages and the pictures of the gallery, which are drawn for each build."""
    for name, page in PROJECT.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text()))
    for name, picture in draw_all().items():
        files.append(File.generated(config, f"gallery/{name}.svg", content=picture))
    return files


def on_nav(nav: Any, **_: Any) -> Any:
    """Leave out sections without pages: those whose folder is not there yet."""
    nav.items = [item for item in nav.items if not item.is_section or item.children]
    return nav


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to files of the root, and the links of these files, lead to pages of the site."""
    here = page.file.src_uri
    source = next((name for name, uri in PROJECT.items() if uri == here), f"docs/{here}")

    def relink(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        uri = PROJECT.get(target, target.removeprefix("docs/"))
        if target not in PROJECT and source == f"docs/{here}":
            return match[0]
        return f"]({posixpath.relpath(uri, posixpath.dirname(here) or '.')}{match[2] or ''})"

    return LINK.sub(relink, markdown)


def on_page_content(content: str, **_: Any) -> str:
    """Turn formulas in LaTeX into MathML, which browsers draw without a script, and empty headers into cells."""

    def formula(match: re.Match[str]) -> str:
        display = "block" if match[1] == "div" else "inline"
        mathml = convert(html.unescape(match[2]).strip(), display=display)
        # the font's primes are raised already: as an exponent they would be raised and shrunk twice
        mathml = PRIME.sub(r'\1<mo lspace="0em" rspace="0em">\2</mo>', mathml)
        return FUNCTION.sub(space, mathml)

    def space(name: re.Match[str]) -> str:
        """The name of a function as an operator: letters alone have no space around them ("x log p")."""
        return f'<mo lspace="0.167em" rspace="{0 if name[2] else 0.167}em">{name[1]}</mo>'

    return re.sub(r"<th( [^>]*)?></th>", r"<td\1></td>", FORMULA.sub(formula, content))
