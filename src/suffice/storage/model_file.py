"""Model files: save the state of a classifier, and read the state from a file that anyone may have written.

Reading runs no code from the file: a file holds settings and sums, and only the classes in ``STORED`` are instantiated,
each after its fields were checked. Whatever the bytes of a file are, reading it ends with a state or a `StoreError`.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from suffice.printable import escape_controls
from suffice.schema import Array
from suffice.storage.atomic_write import replace_file
from suffice.storage.field_checks import InvalidError, require
from suffice.storage.file_bytes import FORMAT, ForeignError, pack, unpack
from suffice.storage.stored_values import Decoder, encode

CLASSIFIERS = (
    *("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "PoissonNB"),
    *("BayesClassifier", "GaussianDiscriminant", "LogisticRegression", "MixtureClassifier"),
)


class StoreError(ValueError):
    """Raised if a model cannot be saved, or if a file is not a model that can be used; the message names the file."""


@dataclass(frozen=True)
class FileFacts:
    """What a model file says about itself: its format, the version of suffice that wrote it, its length in bytes."""

    format: int
    version: str
    size: int


def save(classifier: str, state: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write the class name and the state of a classifier to a file; return its path."""
    return replace_file(path, file_content(classifier, state))


def file_content(classifier: str, state: Mapping[str, Any]) -> bytes:
    """Return the bytes of the file that holds the state of a classifier."""
    if classifier not in CLASSIFIERS:
        raise StoreError(f"{classifier} is not a classifier of suffice, so it cannot be saved")
    arrays: dict[str, Array] = {}
    try:
        encoded = {key: encode(value, arrays, key) for key, value in state.items()}
    except InvalidError as error:
        raise StoreError(str(error)) from None
    version = import_module("suffice").__version__
    return pack({"format": FORMAT, "version": version, "classifier": classifier, "state": encoded}, arrays)


def read(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any], FileFacts]:
    """Return the class name and the state of the classifier that a file holds, and what the file says about itself."""
    content = _read_bytes(Path(path))
    try:
        header, arrays = unpack(content)
        version: Any = header.get("version")
        classifier: Any = header.get("classifier")
        require(type(version) is str, "its header names no version")
        if header["format"] > FORMAT:
            raise StoreError(
                f"{path} was written by suffice {escape_controls(version[:40])}, which is newer than this one; upgrade "
                "suffice"
            )
        require(type(classifier) is str and classifier in CLASSIFIERS, "its classifier is not known")
        require(type(header.get("state")) is dict, "its header has no state")
        decoder = Decoder(arrays)
        state = {key: decoder.decode(value) for key, value in header["state"].items()}
        require(not decoder.unused, "it has arrays that belong to nothing")
        if header["format"] < FORMAT:
            _check_former_labels(state)
    except ForeignError as error:
        raise StoreError(f"{path} is not a model file of suffice, or is damaged: {error}") from None
    except InvalidError as error:
        raise damaged(path, error) from None
    return classifier, state, FileFacts(header["format"], escape_controls(version[:40]), len(content))


def damaged(path: str | os.PathLike[str], problem: Any) -> StoreError:
    """Return the error for a file whose content cannot be a model."""
    return StoreError(f"{path} is damaged or was altered: {problem}; restore it from a backup")


def _read_bytes(path: Path) -> bytearray:
    """Return the bytes of a regular file; others, such as pipes, may have no end."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if path.is_dir():
        raise StoreError(f"{path} is a folder, not a model file")
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise StoreError(f"{path} is not a regular file, so it is not a model file of suffice")
        content = bytearray(status.st_size)
        length = file.readinto(content)
    return content if length == len(content) else content[:length]


def _open_at_once(path: str, flags: int) -> int:
    """Open a file; a pipe without a writer would otherwise be waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _check_former_labels(state: dict[str, Any]) -> None:
    """Raise if the classes of a file whose digest does not cover types look like numbers of another type."""
    schema = getattr(state.get("tally_"), "schema", None)
    classes = state.get("classes_") if schema is None else schema.classes
    if not isinstance(classes, np.ndarray) or classes.dtype not in (np.float64, np.int64):
        return
    if classes.dtype == np.float64:
        size = np.abs(classes[classes != 0])
        altered = len(size) > 0 and bool((size < np.finfo(np.float64).tiny).all())
    else:
        numbers = np.ascontiguousarray(classes).view(np.float64)
        is_whole = np.isfinite(numbers) & (np.abs(numbers) < 2**53) & (np.abs(numbers) >= 1) & (numbers % 1 == 0)
        altered = bool(is_whole.any() and (is_whole | (numbers == 0)).all())
    require(not altered, "its classes are numbers of another type")
