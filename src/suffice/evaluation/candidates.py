"""The models that `compare` compares by default, and the names of models."""

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from suffice.classifiers.bayes import BayesClassifier
from suffice.folds.recipe_choice import PRIORS, structures_for


def candidates(X: Any) -> dict[str, Any]:
    """Return BayesClassifiers with several rules, priors, and structures that suit the number of columns."""
    models: dict[str, Any] = {}
    for structure in (*structures_for(X), "full"):
        for prior in PRIORS:
            models[f"{structure}, mean, prior {prior:g}"] = BayesClassifier(structure=structure, prior=prior)
        models[f"{structure}, predictive"] = BayesClassifier(structure=structure, estimate="predictive")
    models["naive, mle"] = BayesClassifier(structure="naive", estimate="mle")
    return models


def names_of(models: Sequence[Any]) -> list[str]:
    """Return a name for each model: its class and the settings that differ from the default, numbered if equal."""
    bare = [clone(model) if hasattr(model, "get_params") and not isinstance(model, type) else model for model in models]
    names = [" ".join(repr(model).split()) for model in bare]
    homes = [type(model).__module__.split(".")[0] for model in models]
    mixed = {name for name in names if len({home for home, n in zip(homes, names, strict=True) if n == name}) > 1}
    names = [f"{home}.{name}" if name in mixed else name for home, name in zip(homes, names, strict=True)]
    times = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [f"{name} #{n}" if names.count(name) > 1 else name for name, n in zip(names, times, strict=True)]
