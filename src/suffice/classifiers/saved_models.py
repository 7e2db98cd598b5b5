"""Loading of saved models."""

import os
from importlib import import_module
from typing import Any

from suffice.classifiers.loaded_state import restore
from suffice.classifiers.logistic import LogisticRegression
from suffice.classifiers.tally_classifier import TallyClassifier
from suffice.storage.model_file import damaged, read


def load(path: str | os.PathLike[str]) -> TallyClassifier | LogisticRegression:
    """Return the model that a file holds, as its ``save`` wrote it.

    A file may come from anyone: loading runs no code from it, checks everything that it holds, and needs little more
    memory than the file is long. A file that is not a model, is damaged or cannot predict is a `StoreError`.

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
    name, state, _ = read(path)
    model: Any = getattr(import_module("suffice"), name)()
    try:
        restore(model, state)
    except Exception as error:  # whatever fails in a model from a file is the fault of the file
        raise damaged(path, str(error) or type(error).__name__) from error
    return model  # type: ignore[no-any-return]
