"""The public names of the package."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

import suffice
from suffice.classifiers.tally_classifier import CalibrationMethod
from suffice.decision.calibration import MAPS

PACKAGE = Path(suffice.__file__).parent
STUBS = sorted(PACKAGE.rglob("*.pyi"))


def test_the_stub_has_the_names_of_the_package() -> None:
    stub = ast.parse(Path(suffice.__file__).with_name("__init__.pyi").read_text())
    imports = [node for node in ast.walk(stub) if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in imports for alias in node.names}
    assert {name for name, module in homes.items() if module == "suffice"} == {"images", "plots", "report"}
    assert {name for name, module in homes.items() if module != "suffice"} == set(suffice.__all__)
    for name in suffice.__all__:
        assert getattr(suffice, name).__module__.startswith(homes[name])


@pytest.mark.parametrize("path", STUBS, ids=[str(path.relative_to(PACKAGE)) for path in STUBS])
def test_a_stub_has_the_names_that_its_module_imports_late(path: Path) -> None:
    own = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in imports for alias in node.names if node.module != own}
    module = import_module(own)
    assert set(module.__all__) == set(homes)
    for name, home in homes.items():
        assert getattr(module, name) is getattr(import_module(str(home)), name)


def test_the_setting_of_classifiers_names_all_calibration_maps() -> None:
    assert set(get_args(CalibrationMethod)) == set(MAPS)
