"""Loading of saved models."""

import os
from importlib import import_module
from typing import Any

from suffice import store
from suffice.classifiers.logistic import LogisticRegression
from suffice.classifiers.tally_classifier import TallyClassifier


def load(path: str | os.PathLike[str]) -> TallyClassifier | LogisticRegression:
    """Return the model that a file holds, as its ``save`` wrote it.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    model : classifier
        Of the class that was saved.

    Examples
    --------
    >>> import suffice, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.suffice"
    >>> _ = suffice.GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).save(file)
    >>> suffice.load(file).predict([[1.2]]).tolist()
    ['a']
    """
    name, state = store.read(path)
    model: Any = getattr(import_module("suffice"), name)()
    model.__dict__ |= state
    return model  # type: ignore[no-any-return]
