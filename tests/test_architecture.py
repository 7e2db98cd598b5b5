"""The architecture: private names stay private, files are named once, functions and the tree stay small."""

from __future__ import annotations

import ast
import io
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "suffice"
# The aim is 14,000. The limit is today's size, so that the tree does not grow.
MOST_CODE_LINES = 32_227
MOST_COMPLEX = 20
# A family, its classifier and its distribution share a name.
NAMED_AFTER_A_FAMILY = {"families", "classifiers", "distributions"}

Function = ast.FunctionDef | ast.AsyncFunctionDef
PATHS = sorted(SOURCE.rglob("*.py"))


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    """The syntax tree of each file, by its path below the package."""
    return {path.relative_to(SOURCE): ast.parse(path.read_text()) for path in PATHS}


def test_no_private_name_of_another_package_is_used(trees: dict[Path, ast.Module]) -> None:
    defined: dict[str, set[str]] = defaultdict(set)
    for path, tree in trees.items():
        defined[path.parts[0]].update(defined_names(tree))
    everywhere = set().union(*defined.values())
    used = [
        f"{path}:{node.lineno} .{node.attr}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
        and node.attr in everywhere - defined[path.parts[0]]
    ]
    assert not used, listed("private names of another package", used)


def test_no_private_name_is_imported_from_another_package(trees: dict[Path, ast.Module]) -> None:
    imported = [
        f"{path}:{node.lineno} from {node.module} import {alias.name}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("suffice.")
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__")
        if (node.module or "").split(".")[1] != path.parts[0].removesuffix(".py")
    ]
    assert not imported, listed("private names imported from another package", imported)


def test_file_names_are_unique_but_for_a_family_and_what_is_named_after_it() -> None:
    places = defaultdict(list)
    for path in PATHS:
        if path.name != "__init__.py":
            places[path.name].append(path.relative_to(SOURCE))
    repeated = [
        f"{name}: {', '.join(map(str, paths))}"
        for name, paths in places.items()
        if len(paths) > 1
        and not (Path("families", name) in paths and {path.parts[0] for path in paths} <= NAMED_AFTER_A_FAMILY)
    ]
    assert not repeated, listed("file names that occur more than once", repeated)


def test_no_function_is_too_complex(trees: dict[Path, ast.Module]) -> None:
    found = [
        (complexity(node), f"{path}:{node.lineno} {node.name}")
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, Function)
    ]
    over = [f"{count} {place}" for count, place in sorted(found, reverse=True) if count > MOST_COMPLEX]
    assert not over, listed(f"functions with a complexity over {MOST_COMPLEX}", over)


def test_the_tree_stays_small() -> None:
    count = sum(code_lines(path.read_text()) for path in PATHS)
    assert count <= MOST_CODE_LINES, f"{count} lines of code, {count - MOST_CODE_LINES} too many"


def test_every_package_has_a_layer() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    listed_names = {name.strip() for layer in layers for name in layer.split("|")}
    present = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert present - {"__init__"} == listed_names


def defined_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names of the functions, attributes and variables that a file defines."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def complexity(function: ast.AST) -> int:
    """Return McCabe's complexity of a function, without the functions and classes inside it."""
    count, waiting = 1, list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.If | ast.For | ast.While | ast.ExceptHandler | ast.IfExp | ast.Assert):
            count += 1
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.Match):
            count += len(node.cases)
        waiting += ast.iter_child_nodes(node)
    return count


def code_lines(source: str) -> int:
    """Return the number of lines that are neither blank nor comment nor docstring."""
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in layout:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node, clean=False) is not None:
            lines.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def listed(what: str, places: list[str]) -> str:
    """Return a message with one place on each line."""
    return f"{len(places)} {what}:\n" + "\n".join(places)


def test_the_measures_measure() -> None:
    """The rules above find what they are there to find."""
    code = "def f(x):\n    if x and x > 1:\n        return [y for y in x if y]\n"
    source = f'"""A docstring\nof two lines."""\n\n# a comment\n{code}'
    tree = ast.parse(source)
    assert code_lines(source) == 3
    assert complexity(tree.body[1]) == 5
    assert list(defined_names(ast.parse("a = 1\nb: int = 2\nself._c = 3\ndef d(): ..."))) == ["a", "b", "d", "_c"]
