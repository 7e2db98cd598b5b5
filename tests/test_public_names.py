"""The public names of the package."""

from __future__ import annotations

import ast
from pathlib import Path

import suffice


def test_the_stub_has_the_names_of_the_package() -> None:
    stub = ast.parse(Path(suffice.__file__).with_name("__init__.pyi").read_text())
    imports = [node for node in ast.walk(stub) if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in imports for alias in node.names}
    assert {name for name, module in homes.items() if module == "suffice"} == {"images", "plots", "report"}
    assert {name for name, module in homes.items() if module != "suffice"} == set(suffice.__all__)
    for name in suffice.__all__:
        assert getattr(suffice, name).__module__.startswith(homes[name])
