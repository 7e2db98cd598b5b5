"""Model files: named arrays and a header of JSON, in the form of safetensors.

Loading a file runs no code from it: it has settings and sums, and only classes that are listed here are made from it.
A file is written under another name, synced to the disk and then renamed, so that an interrupted save leaves the old
file intact.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from suffice import priors
from suffice.decision import calibration, reliability
from suffice.families import bernoulli, gaussian, low_rank_gaussian, multivariate_gaussian
from suffice.logistic.forms import LinearForm
from suffice.mixtures import Mixture
from suffice.schema import Array, codings, columns, schema
from suffice.statistics import CoMoments, Counts, Moments, PairCounts, Tally
from suffice.structures import Averaged, Chain, Full, Joint, Naive, Tree

FORMAT = 2  # of 1 the digest is of the arrays alone
CLASSIFIERS = (
    "BayesClassifier",
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianDiscriminant",
    "GaussianNB",
    "LogisticRegression",
    "MixtureClassifier",
    "MultinomialNB",
    "PoissonNB",
)
STORED: tuple[type[Any], ...] = (
    *(each for each in vars(priors).values() if isinstance(each, type) and is_dataclass(each)),
    *(codings.Levels, codings.Combinations, codings.Words, codings.Cuts, codings.Text),
    *(columns.Columns, schema.Schema, schema.Features),
    *(Counts, PairCounts, Moments, CoMoments, Tally),
    *(Naive, Chain, Tree, Averaged, Full, Joint),
    *(calibration.Calibration, calibration.Temperature, calibration.Vector, calibration.Isotonic),
    *(reliability.Reliability, LinearForm, Mixture),
    *(
        bernoulli.BernoulliParameters,
        gaussian.GaussianParameters,
        multivariate_gaussian.MultivariateGaussian,
        low_rank_gaussian.LowRankGaussian,
    ),
)
KINDS = {kind.__name__: kind for kind in STORED}

# The names that classes had in earlier versions, as files of that time have them.
FORMER_NAMES = {"GaussianTogether": "MultivariateGaussian", "Subspace": "LowRankGaussian"}


class StoreError(ValueError):
    """A model that cannot be stored, or a file that is no model."""


def save(classifier: str, state: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write the state of a classifier of this name to a file."""
    return _replaced(Path(path), file_content(classifier, state))


def file_content(classifier: str, state: Mapping[str, Any]) -> bytes:
    """Return the bytes of the file that holds the state of a classifier."""
    from safetensors.numpy import save as packed

    if classifier not in CLASSIFIERS:
        raise StoreError(f"{classifier} is not a classifier of suffice, and cannot be saved")
    arrays: dict[str, Array] = {}
    header = {
        "format": FORMAT,
        "version": import_module("suffice").__version__,
        "classifier": classifier,
        "state": {key: _written(value, arrays, key) for key, value in state.items()},
    }
    header["digest"] = _digest(arrays, header)
    content: bytes = packed(arrays or {"nothing": np.zeros(1)}, {"suffice": json.dumps(header)})
    return content


def read(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Return the name of the classifier whose state a file holds, and the state."""
    header, arrays = _opened(Path(path))
    if header["format"] > FORMAT:
        raise StoreError(
            f"{path} was written by suffice {header.get('version')}, which is newer than this one; upgrade suffice"
        )
    said = header.pop("digest", None)
    expected = _digest(arrays) if header["format"] == 1 else _digest(arrays, header)
    if header.get("classifier") not in CLASSIFIERS or said != expected:
        raise StoreError(f"{path} is damaged: it does not hold what was written; take it from a backup")
    try:
        return header["classifier"], {key: _read(value, arrays) for key, value in header["state"].items()}
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise StoreError(f"{path} is damaged: {error}; take it from a backup") from None


def _opened(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays of a file, or say why it is none."""
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            said = (file.metadata() or {}).get("suffice")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = json.loads(said) if said is not None else None
    except (SafetensorError, ValueError, OSError) as error:
        raise StoreError(f"{path} is no model of suffice, or is damaged ({error})") from None
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise StoreError(f"{path} holds arrays, but no model of suffice")
    return header, arrays


def _written(value: Any, arrays: dict[str, Array], place: str) -> Any:
    """Return a value as JSON, with its arrays put aside."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"kind": "float", "of": repr(value)}
    if isinstance(value, np.generic):
        return _written(value.item(), arrays, place)
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "OU":
            of = [_written(each, arrays, place) for each in value.tolist()]
            return {"kind": "labels", "of": of, "as": value.dtype.kind}
        if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
            raise StoreError(f"{place} holds {value.dtype}, which files cannot; turn it into float64, or text, and fit")
        name = f"{len(arrays)}.{place}"
        arrays[name] = np.ascontiguousarray(value)
        return {"kind": "array", "of": name}
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"kind": kind, "of": [_written(each, arrays, place) for each in value]}
    if isinstance(value, dict):
        pairs = [[_written(key, arrays, place), _written(each, arrays, place)] for key, each in value.items()]
        return {"kind": "dict", "of": pairs}
    if KINDS.get(type(value).__name__) is type(value):
        named = {field.name: _written(getattr(value, field.name), arrays, field.name) for field in fields(value)}
        return {"kind": type(value).__name__, "of": named}
    raise StoreError(f"{place}={value!r} cannot be stored: files hold numbers, words and suffice's own kinds, no code")


def _read(value: Any, arrays: dict[str, Array]) -> Any:
    """Return what JSON and arrays stand for."""
    if not isinstance(value, dict):
        return value
    kind, of = value["kind"], value["of"]
    if kind == "array":
        return arrays[of]
    if kind == "float":
        return float(of)
    if kind == "labels":
        return np.array([_read(each, arrays) for each in of], object if value["as"] == "O" else None)
    if kind in ("tuple", "list"):
        found = [_read(each, arrays) for each in of]
        return tuple(found) if kind == "tuple" else found
    if kind == "dict":
        return {_read(key, arrays): _read(each, arrays) for key, each in of}
    named = {name: _read(each, arrays) for name, each in of.items()}
    return KINDS[FORMER_NAMES.get(str(kind), str(kind))](**named)


def _digest(arrays: dict[str, Array], header: dict[str, Any] | None = None) -> str:
    """Return the fingerprint of all that a file holds: its arrays, and its header but for the fingerprint itself."""
    hashed = hashlib.sha256()
    for name in sorted(name for name in arrays if name != "nothing"):
        hashed.update(name.encode())
        hashed.update(np.ascontiguousarray(arrays[name]).tobytes())
    if header is not None:
        hashed.update(json.dumps(header, sort_keys=True).encode())
    return hashed.hexdigest()


def check_output_path(path: str | os.PathLike[str]) -> Path:
    """Return where a file is to be written, or say why it cannot be: before the work whose result it is to hold."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    return path


def _replaced(path: Path, content: bytes) -> Path:
    """Write to a file beside the path, and put it in its place when it is on the disk.

    What the path links to is replaced, not the link; who may read the old file may read the new one.
    """
    place = check_output_path(path).resolve()
    beside = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            if place.exists():
                beside.chmod(stat.S_IMODE(place.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return path
