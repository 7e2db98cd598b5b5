"""Model files: models are loaded as they were saved; damaged, foreign and newer files are rejected."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file
from safetensors.numpy import save as packed
from sklearn.datasets import load_iris

import suffice
from cases import every_family, every_structure, family_model, family_table
from conftest import Case, assert_same_scores, every_case, example
from hostile.file_edits import join_file, split_file
from suffice import BayesClassifier, GaussianDiscriminant, GaussianNB, MixtureClassifier, Text, storage
from suffice.decision.calibration import MAPS
from suffice.storage.file_bytes import FORMAT, pack
from suffice.storage.stored_kinds import STORED

X, y = load_iris(return_X_y=True)


@every_case
def test_every_classifier_comes_back(case: Case, tmp_path: Path) -> None:
    rows, labels = example(case)
    model = case.ours().fit(rows, labels)
    again = suffice.load(model.save(tmp_path / "model.suffice"))
    assert again.get_params() == model.get_params()
    assert again.tally_ == model.tally_
    assert again.tally_.digest() == model.tally_.digest()
    assert_same_scores(again.predict_proba(rows), model.predict_proba(rows))
    assert_same_scores(
        again.partial_fit(rows, labels).predict_proba(rows), model.partial_fit(rows, labels).predict_proba(rows)
    )


@every_family
def test_every_family_comes_back(family: str, tmp_path: Path) -> None:
    table, labels = family_table(family, missing=0.1)
    model = family_model(family).fit(table, labels)
    again = suffice.load(model.save(tmp_path / "model.suffice"))
    assert again.tally_ == model.tally_
    assert again.tally_.digest() == model.tally_.digest()
    assert_same_scores(again.predict_proba(table), model.predict_proba(table))


@every_structure
def test_every_structure_comes_back(structure: Any, tmp_path: Path) -> None:
    table, labels = family_table("categorical")
    model = family_model("categorical", structure=structure).fit(table, labels)
    again = suffice.load(model.save(tmp_path / "model.suffice"))
    assert again.get_params() == model.get_params()
    assert again.tally_ == model.tally_
    assert_same_scores(again.predict_proba(table), model.predict_proba(table))


OTHERS = [
    GaussianDiscriminant(covariance="shared"),
    GaussianDiscriminant(covariance="shared", solver="svd"),
    MixtureClassifier(components=2),
    MixtureClassifier(family="bernoulli", binarize=3.0),
    suffice.LogisticRegression(lift="quadratic"),
    *(GaussianNB(calibrate=method) for method in MAPS),
    GaussianNB(estimate="mean", prior=suffice.NormalInverseGamma(0.0, 1.0, 2.0, 1.0)),
    GaussianNB(class_prior={0: 0.2, 1: 0.3, 2: 0.5}),
    BayesClassifier(prior="auto"),
    BayesClassifier(structure=suffice.Averaged(weights="equal"), numeric="mdl"),
    BayesClassifier(structure=suffice.Tree("per-class"), numeric="quantiles", prior={"quantiles": 0.1}),
    BayesClassifier(structure="joint", numeric="quantiles"),
]


@pytest.mark.parametrize("model", OTHERS, ids=lambda model: " ".join(repr(model).split()))
@pytest.mark.parametrize("labels", [y, np.array(["a", "b", "c"])[y], y == 1], ids=["whole", "words", "truth"])
def test_every_setting_comes_back(model: Any, labels: Any, tmp_path: Path) -> None:
    if isinstance(getattr(model, "class_prior", None), dict) and labels is not y:
        pytest.skip("the prior names other labels")
    model.fit(X, labels)
    again = suffice.load(model.save(tmp_path / "model.suffice"))
    assert_same_scores(again.predict_proba(X), model.predict_proba(X))
    assert again.classes_.dtype.kind == model.classes_.dtype.kind
    assert repr(again) == repr(model)


def test_a_table_needs_no_more_than_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.normal(40, 10, 90),
            "town": rng.choice(["a", "b", None], 90),
            "flag": rng.random(90) < 0.5,
            "note": [" ".join(rng.choice(["one", "two", "three", "four", "five"], 5)) + f" w{i}" for i in range(90)],
            "id": range(1000, 1090),
        }
    )
    labels = rng.choice(["no", "yes"], 90)
    model = BayesClassifier(families={"note": Text(ngram_range=(1, 2)), "id": "ignore"}).fit(table, labels)
    again = suffice.load(model.save(tmp_path / "model.suffice"))
    assert_same_scores(again.predict_proba(table), model.predict_proba(table))
    assert again.families_ == model.families_
    assert again.left_out_ == model.left_out_
    again.forget(table[:10], labels[:10])
    assert again.tally_.digest() == model.forget(table[:10], labels[:10]).tally_.digest()


def test_what_cannot_be_stored(tmp_path: Path) -> None:
    texts = pd.DataFrame({"t": ["one two three", "four five six", "one five two", "six three four"]})
    model = BayesClassifier(families={"t": Text(tokenizer=str.split, token_pattern=None)}).fit(texts, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="tokenizer"):
        model.save(tmp_path / "model.suffice")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="not fitted"):
        GaussianNB().save(tmp_path / "model.suffice")
    with pytest.raises(FileNotFoundError, match="no folder"):
        GaussianNB().fit(X, y).save(tmp_path / "nowhere" / "model.suffice")
    with pytest.raises(ValueError, match="not a classifier of suffice"):
        storage.save("object", {}, tmp_path / "model.suffice")


def test_what_is_no_model(tmp_path: Path) -> None:
    file = tmp_path / "model.suffice"
    with pytest.raises(FileNotFoundError, match="no file"):
        suffice.load(file)
    for content in (b"", b"age,town\n1,2\n", os.urandom(4096), packed({"a": np.zeros(3)})):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="not a model file of suffice"):
            suffice.load(file)


def test_what_is_damaged_or_newer(tmp_path: Path) -> None:
    file = GaussianNB().fit(X, y).save(tmp_path / "model.suffice")
    content = bytearray(file.read_bytes())
    for cut in (10, 100, len(content) - 5):
        file.write_bytes(content[:cut])
        with pytest.raises(ValueError, match="damaged"):
            suffice.load(file)
    content[-3] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        suffice.load(file)
    header = {"format": FORMAT + 1, "version": "99.0\x1b[2J", "classifier": "GaussianNB", "state": {}}
    file.write_bytes(packed({"a": np.zeros(1)}, {"suffice": json.dumps(header)}))
    with pytest.raises(suffice.StoreError, match=r"suffice 99\.0\\x1b\[2J, which is newer"):
        suffice.load(file)


@pytest.mark.parametrize("kind", ["os.system", "Popen", "object", "Tally", "float", "array"])
def test_a_file_names_no_code(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "model.suffice"
    state = {"prior": {"kind": kind, "of": {"x": "ls"}}}
    file.write_bytes(pack({"format": FORMAT, "version": "0.1.0", "classifier": "GaussianNB", "state": state}, {}))
    with pytest.raises(suffice.StoreError, match=r"model\.suffice is damaged"):
        suffice.load(file)


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = GaussianNB().fit(X, y).save(tmp_path / "model.suffice")
    before = file.read_bytes()

    def fails(*given: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="full"):
        GaussianNB().fit(X[:100], y[:100]).save(file)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_what_is_damaged_in_the_header_is_found(tmp_path: Path) -> None:
    table = pd.DataFrame({"colour": ["red", "green"] * 20})
    file = BayesClassifier().fit(table, ["a", "b"] * 20).save(tmp_path / "model.suffice")
    content = file.read_bytes()
    for old, new in ((b"green", b"grean"), (b"empirical", b"emp1rical"), (b"0.5", b"0.6")):
        assert content.count(old)
        file.write_bytes(content.replace(old, new))
        with pytest.raises(ValueError, match="damaged"):
            suffice.load(file)


FORMER = json.loads((Path(__file__).parent / "model_files" / "expected.json").read_text())


@pytest.mark.parametrize("name", FORMER)
def test_files_of_earlier_formats_still_load(name: str) -> None:
    rows = FORMER[name]["rows"]
    table = pd.DataFrame(rows) if isinstance(rows, dict) else np.array(rows)
    model = suffice.load(Path(__file__).parent / "model_files" / name)
    np.testing.assert_allclose(model.predict_proba(table), FORMER[name]["probabilities"], atol=1e-6)


@pytest.mark.parametrize("name", FORMER)
def test_other_types_and_shapes_in_an_earlier_format_are_found(name: str, tmp_path: Path) -> None:
    """The digest of formats 1 and 2 does not cover the types and shapes of arrays."""
    table, data = split_file((Path(__file__).parent / "model_files" / name).read_bytes())
    widths = {"F64": "I64", "I64": "F64", "F32": "I32", "I32": "F32"}
    for array, entry in table.items():
        altered = [entry | {"dtype": widths[entry["dtype"]]}] if entry.get("dtype") in widths else []
        if len(set(entry.get("shape", ()))) > 1:
            altered.append(entry | {"shape": entry["shape"][::-1]})
        for each in altered:
            (tmp_path / "altered.suffice").write_bytes(join_file(table | {array: each}, data))
            with pytest.raises(suffice.StoreError, match=r"altered\.suffice is damaged"):
                suffice.load(tmp_path / "altered.suffice")


def test_types_and_shapes_are_in_the_digest(tmp_path: Path) -> None:
    file = GaussianNB().fit(X, y).save(tmp_path / "model.suffice")
    table, data = split_file(file.read_bytes())
    (name,) = (name for name in table if name.endswith("class_count"))
    for change in ({"dtype": "I64"}, {"shape": [1, 3]}):
        file.write_bytes(join_file(table | {name: table[name] | change}, data))
        with pytest.raises(suffice.StoreError, match="does not match its digest"):
            suffice.load(file)


def test_the_library_safetensors_reads_the_arrays(tmp_path: Path) -> None:
    model = GaussianNB().fit(X, y)
    arrays = load_file(model.save(tmp_path / "model.suffice"))
    (name,) = (name for name in arrays if name.endswith("class_count"))
    np.testing.assert_array_equal(arrays[name], model.class_count_)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(suffice.StoreError, match=r"not a (regular|model) file"):
            suffice.load(path)


@pytest.mark.parametrize("kind", STORED)
def test_every_field_of_a_stored_class_has_a_check(kind: str) -> None:
    assert set(STORED[kind].fields) == {field.name for field in fields(STORED[kind].kind)}


def test_a_model_that_cannot_predict_is_refused(tmp_path: Path) -> None:
    model = GaussianNB().fit(X, y)
    state = model.__getstate__() | {"class_prior": [0.9, 0.9, 0.9]}
    storage.save("GaussianNB", state, tmp_path / "model.suffice")
    with pytest.raises(suffice.StoreError, match="sum of the priors"):
        suffice.load(tmp_path / "model.suffice")


def test_saving_keeps_modes_and_links(tmp_path: Path) -> None:
    model = GaussianNB().fit(X, y)
    file = model.save(tmp_path / "model.suffice")
    umask = os.umask(0)
    os.umask(umask)
    assert file.stat().st_mode & 0o777 == 0o666 & ~umask
    file.chmod(0o600)
    link = tmp_path / "link.suffice"
    link.symlink_to(file)
    assert model.save(link) == link
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o600
    assert suffice.load(link).tally_ == model.tally_


@pytest.mark.parametrize(
    ("model", "same"),
    [
        (MixtureClassifier(components=np.int64(3)), {"components": 3}),
        (MixtureClassifier(prior=np.float64(0.5)), {"prior": 0.5}),
        (MixtureClassifier(shrinkage=np.float32(0.5)), {"shrinkage": 0.5}),
        (MixtureClassifier(components={np.int64(0): np.int64(2)}), {"components": {0: 2}}),
        (
            MixtureClassifier(family="bernoulli", binarize=3.0, prior=suffice.Beta(np.float64(2), 2)),
            {"prior": suffice.Beta(2.0, 2)},
        ),
        (GaussianDiscriminant(covariance="shared", solver="svd", prior=np.float64(0.5)), {"prior": 0.5}),
    ],
    ids=lambda its: " ".join(repr(its).split()),
)
def test_a_number_of_numpy_is_the_same_setting(model: Any, same: dict[str, Any], tmp_path: Path) -> None:
    said = model.fit(X, y).predict(X)
    again = suffice.load(model.save(tmp_path / "model.suffice"))
    assert (again.predict(X) == said).all()
    assert (model.set_params(**same).predict(X) == said).all()


def test_numbers_that_no_file_holds(tmp_path: Path) -> None:
    model = GaussianNB().fit(X, y.astype(np.longdouble))
    with pytest.raises(suffice.StoreError, match="classes holds"):
        model.save(tmp_path / "model.suffice")
