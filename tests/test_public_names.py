"""The names that users see in the package."""

from __future__ import annotations

import suffice


def test_dir_lists_the_public_names_only() -> None:
    listed = [name for name in dir(suffice) if not name.startswith("__")]
    assert listed == sorted([*suffice.__all__, "plots", "report"])
    assert {"__all__", "__doc__", "__version__"} <= set(dir(suffice))
    assert all(hasattr(suffice, name) for name in listed)
