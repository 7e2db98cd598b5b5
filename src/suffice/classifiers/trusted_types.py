"""The classes that skops may load: those that a model file may hold."""

from importlib import import_module

from suffice.storage.model_file import CLASSIFIERS
from suffice.storage.stored_kinds import STORED


def trusted_types() -> list[str]:
    """Return the names of all classes that a fitted classifier consists of, for skops and mlflow.

    skops loads scikit-learn's classes and those that its caller trusts. None of these classes runs code from a file
    when it is loaded. skops does not check their values, as `suffice.load` does for a file of ``model.save``.

    Returns
    -------
    names : list of str
        For ``skops.io.load(file, trusted=…)`` and ``mlflow.sklearn.log_model(model, skops_trusted_types=…)``.

    Examples
    --------
    >>> import suffice
    >>> "suffice.classifiers.gaussian.GaussianNB" in suffice.trusted_types()
    True
    """
    package = import_module("suffice")
    kinds = [getattr(package, name) for name in CLASSIFIERS] + [stored.kind for stored in STORED.values()]
    return sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)
