"""Loading of saved models, and changes of their files."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from suffice import store
from suffice.classifiers.logistic import LogisticRegression
from suffice.classifiers.tally_classifier import TallyClassifier
from suffice.storage.atomic_write import check_input_path
from suffice.storage.file_update import TIMEOUT, update_file


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
    name, state = store.read(check_input_path(path))
    model: Any = getattr(import_module("suffice"), name)()
    model.__dict__ |= state
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
