"""Automatic logging of the classifiers by mlflow."""

from importlib import import_module
from typing import Any
from unittest.mock import patch

import sklearn.utils

from suffice.storage.model_file import CLASSIFIERS


def mlflow_autolog(**options: Any) -> None:
    """Call ``mlflow.sklearn.autolog`` so that it records the classifiers of suffice, too.

    mlflow changes the methods of the classes that ``sklearn.utils.all_estimators`` lists, which are scikit-learn's own.
    During this call the list has the classifiers of suffice as well. A later ``mlflow.sklearn.autolog(disable=True)``
    switches off both.

    Parameters
    ----------
    **options
        The parameters of ``mlflow.sklearn.autolog``.
    """
    try:
        from mlflow.sklearn import autolog
    except ImportError:
        raise ImportError("this switches on the logging of mlflow: pip install mlflow") from None
    package = import_module("suffice")
    theirs = sklearn.utils.all_estimators()
    ours = [(name, getattr(package, name)) for name in CLASSIFIERS]
    with patch.object(sklearn.utils, "all_estimators", lambda: [*theirs, *ours]):
        autolog(**options)
