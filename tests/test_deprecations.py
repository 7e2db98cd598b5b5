"""Former public names keep working for a while, with a warning, and are removed when they are due."""

from __future__ import annotations

import pytest

import suffice


def test_a_deprecated_name_works_and_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(suffice._DEPRECATED, "GaussianNaiveBayes", ("GaussianNB", "9.9"))
    with pytest.warns(
        FutureWarning, match=r"GaussianNaiveBayes .* removed in version 9\.9: use suffice\.GaussianNB"
    ) as said:
        assert suffice.GaussianNaiveBayes is suffice.GaussianNB
    assert said[0].filename == __file__  # the warning names the line of the caller
    assert "GaussianNaiveBayes" not in dir(suffice)


def test_deprecated_names_have_replacements_and_are_not_due() -> None:
    assert all(replacement in suffice.__all__ for replacement, _ in suffice._DEPRECATED.values())
    now = parse(suffice.__version__)
    assert [name for name, (_, version) in suffice._DEPRECATED.items() if parse(version) <= now] == []


def parse(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
