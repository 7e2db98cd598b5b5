"""Loads scikit-learn's own test files with the classes of suffice in the place of its own."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin


def load_suite(path: str, replaced: Mapping[tuple[ModuleType, str], Any]) -> ModuleType:
    """Return a test file of scikit-learn as a new module; what it imports is replaced while it is loaded."""
    file = Path(sklearn.__file__).parent / path
    spec = importlib.util.spec_from_file_location(f"suffice_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        for (home, name), ours in replaced.items():
            patch.setattr(home, name, ours)
        spec.loader.exec_module(module)
    return module


def collect(module: ModuleType, differences: Mapping[str, str], left_out: Mapping[str, str] | None = None) -> Any:
    """Return the tests of a module by name, without those that are left out; raise if a listed one does not exist."""
    found = {name: each for name, each in vars(module).items() if name.startswith("test_") and callable(each)}
    left_out = left_out or {}
    unknown = {name.split("[")[0] for name in (*differences, *left_out)} - set(found)
    assert not unknown, f"no such tests: {sorted(unknown)}"
    return {name: each for name, each in found.items() if name not in left_out}


@pytest.fixture
def global_random_seed() -> int:
    """The seed that scikit-learn's tests ask for."""
    return 42


@pytest.fixture(autouse=True)
def differences(request: pytest.FixtureRequest) -> None:
    """Mark a test that the module's DIFFERENCES list, by its name with or without parameters: it must fail."""
    name, listed = request.node.name, request.module.DIFFERENCES
    reason = listed.get(name) or listed.get(name.split("[")[0])
    if reason is not None:
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))


class Adapter(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator with the parameters of a class of scikit-learn, which fits one of suffice and has its attributes."""

    def make(self) -> Any:
        """Return the estimator of suffice for the parameters."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, *weights: Any, **options: Any) -> Any:
        model, settings = self.__dict__.get("model_"), self.make()
        if model is None or not getattr(self, "warm_start", False):
            model = settings
        self.model_ = model.set_params(**settings.get_params(deep=False)).fit(X, y, *weights, **options)
        return self

    def predict(self, X: Any) -> Any:
        return self.__getattr__("predict")(X)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__.get("model_") or self.make(), name)
