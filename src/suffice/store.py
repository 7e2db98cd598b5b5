"""Model files: named arrays and a JSON header, in the safetensors format.

Loading a file runs no code from it: a file holds settings and sums, and only the classes listed here are instantiated.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from suffice import priors
from suffice.decision import calibration, pooling, reliability
from suffice.families import bernoulli, gaussian, low_rank_gaussian, multivariate_gaussian
from suffice.logistic.forms import LinearForm
from suffice.mixtures import Mixture
from suffice.schema import Array, codings, columns, partition, plan, schema
from suffice.statistics import CoMoments, Counts, Moments, PairCounts, Tally
from suffice.storage.atomic_write import replace_file
from suffice.structures import Averaged, Chain, Full, Joint, Naive, Pooled, Tree, Trees, Twin

FORMAT = 2  # in format 1, the digest does not cover the header
CLASSIFIERS = (
    *("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "PoissonNB"),
    *("BayesClassifier", "GaussianDiscriminant", "LogisticRegression", "MixtureClassifier"),
)
STORED: tuple[type[Any], ...] = (
    *(kind for kind in vars(priors).values() if isinstance(kind, type) and is_dataclass(kind)),
    *(codings.Levels, codings.Combinations, codings.Words, codings.Cuts, codings.Text),
    *(partition.Partition, partition.TreeInput, pooling.Pool),
    *(columns.Columns, schema.Schema, schema.Features, plan.Plan),
    *(Counts, PairCounts, Moments, CoMoments, Tally),
    *(Naive, Chain, Tree, Averaged, Full, Joint, Trees, Pooled, Twin),
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

# Files of earlier versions contain these former names of classes.
FORMER_NAMES = {"GaussianTogether": "MultivariateGaussian", "Subspace": "LowRankGaussian"}


class StoreError(ValueError):
    """Raised if a model cannot be saved, or if a file is not a model."""


def save(classifier: str, state: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write the class name and the state of a classifier to a file; return its path."""
    return replace_file(path, file_content(classifier, state))


def file_content(classifier: str, state: Mapping[str, Any]) -> bytes:
    """Return the bytes of the file that holds the state of a classifier."""
    from safetensors.numpy import save as packed

    if classifier not in CLASSIFIERS:
        raise StoreError(f"{classifier} is not a classifier of suffice, so it cannot be saved")
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
    """Return the class name and the state of the classifier that a file holds."""
    header, arrays = _opened(Path(path))
    if header["format"] > FORMAT:
        raise StoreError(
            f"{path} was written by suffice {header.get('version')}, which is newer than this one; upgrade suffice"
        )
    stored = header.pop("digest", None)
    expected = _digest(arrays) if header["format"] == 1 else _digest(arrays, header)
    if header.get("classifier") not in CLASSIFIERS or stored != expected:
        raise StoreError(f"{path} is damaged: its content does not match its digest; restore it from a backup")
    try:
        return header["classifier"], {key: _read(value, arrays) for key, value in header["state"].items()}
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise StoreError(f"{path} is damaged: {error}; restore it from a backup") from None


def _opened(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays of a file; raise `StoreError` if it is not a model file."""
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get("suffice")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = json.loads(text) if text is not None else None
    except (SafetensorError, ValueError, OSError) as error:
        raise StoreError(f"{path} is not a model file of suffice, or is damaged ({error})") from None
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise StoreError(f"{path} holds arrays, but is not a model file of suffice")
    return header, arrays


def _written(value: Any, arrays: dict[str, Array], place: str) -> Any:
    """Return a value in JSON form; its arrays are added to ``arrays``. ``place`` names the value in errors."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"kind": "float", "of": repr(value)}
    if isinstance(value, np.generic):
        return _written(value.item(), arrays, place)
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "OU":
            of = [_written(item, arrays, place) for item in value.tolist()]
            return {"kind": "labels", "of": of, "as": value.dtype.kind}
        if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
            raise StoreError(f"{place} holds {value.dtype}, which files cannot hold; turn it into float64 or text")
        name = f"{len(arrays)}.{place}"
        arrays[name] = np.ascontiguousarray(value)
        return {"kind": "array", "of": name}
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"kind": kind, "of": [_written(item, arrays, place) for item in value]}
    if isinstance(value, dict):
        pairs = [[_written(key, arrays, place), _written(item, arrays, place)] for key, item in value.items()]
        return {"kind": "dict", "of": pairs}
    if KINDS.get(type(value).__name__) is type(value):
        named = {field.name: _written(getattr(value, field.name), arrays, field.name) for field in fields(value)}
        return {"kind": type(value).__name__, "of": named}
    raise StoreError(f"{place}={value!r} cannot be saved: files hold numbers, text and objects of suffice, but no code")


def _read(value: Any, arrays: dict[str, Array]) -> Any:
    """Return the value that `_written` turned into JSON and arrays."""
    if not isinstance(value, dict):
        return value
    kind, of = value["kind"], value["of"]
    if kind == "array":
        return arrays[of]
    if kind == "float":
        return float(of)
    if kind == "labels":
        return np.array([_read(item, arrays) for item in of], object if value["as"] == "O" else None)
    if kind in ("tuple", "list"):
        items = [_read(item, arrays) for item in of]
        return tuple(items) if kind == "tuple" else items
    if kind == "dict":
        return {_read(key, arrays): _read(item, arrays) for key, item in of}
    named = {name: _read(item, arrays) for name, item in of.items()}
    return KINDS[FORMER_NAMES.get(str(kind), str(kind))](**named)


def _digest(arrays: dict[str, Array], header: dict[str, Any] | None = None) -> str:
    """Return the SHA-256 of the arrays, and of the header without its digest."""
    hashed = hashlib.sha256()
    for name in sorted(name for name in arrays if name != "nothing"):
        hashed.update(name.encode())
        hashed.update(np.ascontiguousarray(arrays[name]).tobytes())
    if header is not None:
        hashed.update(json.dumps(header, sort_keys=True).encode())
    return hashed.hexdigest()
