"""Loading of saved models, and changes of their files."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from suffice.classifiers.loaded_state import restore
from suffice.classifiers.logistic import LogisticRegression
from suffice.classifiers.tally_classifier import TallyClassifier
from suffice.storage.file_update import TIMEOUT, update_file
from suffice.storage.model_file import damaged, read


def load(path: str | os.PathLike[str]) -> TallyClassifier | LogisticRegression:
    """Return the model that a file holds, as its ``save`` wrote it.

    A file may come from anyone: loading runs no code from it, checks everything that it holds, and needs little more
    memory than the file is long. A file that is not a model, is damaged or cannot predict raises `StoreError`.

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


@contextmanager
def open(path: str | os.PathLike[str], *, timeout: float = TIMEOUT) -> Iterator[Any]:
    """Change the model in a file: load it, and save it at the end of the ``with`` block.

    No other process that uses `suffice.open`, or the commands learn, forget and merge, changes the file meanwhile, so
    no update is lost. If the block raises an exception, the file is left as it was. Reading the file needs no lock:
    `load` returns the model before or after a change.

    Parameters
    ----------
    path : str or path
        The file, which must exist.
    timeout : float, default=60.0
        How many seconds to wait while another process changes the file. A warning says so after one second, and
        `TimeoutError` is raised at the end.

    Yields
    ------
    model : classifier
        Of the class that was saved.

    Examples
    --------
    >>> import suffice, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.suffice"
    >>> _ = suffice.BernoulliNB().fit([[1], [0]], ["a", "b"]).save(file)
    >>> with suffice.open(file) as model:
    ...     _ = model.partial_fit([[1], [1]], ["a", "b"])
    >>> suffice.load(file).class_count_.tolist()
    [2.0, 2.0]
    """
    with update_file(path, timeout) as file:
        model = load(path)
        yield model
        file.replace(model.file_content())
