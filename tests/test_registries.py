"""The registries: what is registered has example data, and so is tested."""

from __future__ import annotations

import pytest

import cases
from conftest import CASES, FAMILY_CASES
from suffice.data.engines.open_source import ENGINES
from suffice.decision.calibration import MAPS
from suffice.estimation import RULES
from suffice.families import FAMILIES
from suffice.families.family import Family
from suffice.structures import STRUCTURES, Structure


def test_every_family_has_a_column_for_the_tests() -> None:
    assert set(cases.COLUMNS) == set(FAMILIES)
    assert all(name == family.name and isinstance(family, Family) for name, family in FAMILIES.items())


def test_every_family_with_a_classifier_has_a_case() -> None:
    assert set(FAMILY_CASES) <= set(FAMILIES)
    assert len({str(case) for case in CASES}) == len(CASES) == sum(map(len, FAMILY_CASES.values()))


def test_every_structure_is_tested() -> None:
    assert set(cases.VARIANTS) <= set(STRUCTURES)
    assert all(name == its.name and isinstance(its, Structure) for name, its in STRUCTURES.items())
    assert {one if isinstance(one, str) else one.name for one in cases.ALL_STRUCTURES} == set(STRUCTURES)


def test_every_engine_has_a_source_for_the_tests() -> None:
    assert set(cases.SOURCES) == {module for module, _, _ in ENGINES}


def test_rules_and_maps_have_names() -> None:
    assert set(RULES) == {"mle", "map", "mean", "predictive"}
    assert set(MAPS) == {"temperature", "vector", "isotonic"}


def test_a_family_without_data_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAMILIES, "invented", FAMILIES["poisson"])
    with pytest.raises(AssertionError):
        test_every_family_has_a_column_for_the_tests()
