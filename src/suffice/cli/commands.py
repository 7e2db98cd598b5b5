"""What the commands do, once their words are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.cli import words
from suffice.cli.files import read_table, split_target, target_of, write_table
from suffice.cli.words import UserError


@dataclass(frozen=True)
class Source:
    """A file of rows, and how it is to be read."""

    name: str
    header: bool | None = None
    delimiter: str | None = None

    def read(self) -> Any:
        """Return the rows as a frame."""
        with words.working(f"reading {self.name}"):
            return read_table(self.name, self.header, self.delimiter)


def load(name: str) -> Any:
    """Return the model in a file; what loads models is loaded when one is asked for, not before files are read."""
    from suffice import store

    return store.load(name)


def as_prior(said: str) -> Any:
    """Return a prior as it is typed: a number, or a word."""
    try:
        return float(said)
    except ValueError:
        return said


def as_families(said: list[str]) -> Any:
    """Return {column: family} from COLUMN=FAMILY."""
    pairs = [each.rpartition("=") for each in said]
    for column, _, family in pairs:
        if not column or not family:
            raise UserError(f"--family is COLUMN=FAMILY, such as age=gaussian, not {(column or family)!r}")
    return {column: family for column, _, family in pairs} or "auto"


def fit(
    source: Source, target: str, output: str, settings: dict[str, Any], weight: str | None, drop: bool, json: bool
) -> None:
    """Learn a table and write the model."""
    from suffice.classifiers.bayes import BayesClassifier

    frame = source.read()
    column = target_of(frame, target, source.name)
    weighed = None if weight is None else target_of(frame, weight, source.name)
    model = BayesClassifier(**settings)
    unlabelled = frame[column].null_count()
    if unlabelled and not drop:
        raise UserError(f"column {column!r} has no label in {unlabelled} rows; leave them out with --drop-unlabelled")
    with words.working(f"learning {frame.height} rows"):
        model.fit_table(frame, column, weight=weighed, missing_target="drop" if drop else "error")
    written = model.save(output)
    if json:
        words.as_json(_facts(model) | {"file": str(written)})
    else:
        words.facts(f"learned {source.name}, written to {written}", _facts(model))


def predict(name: str, source: Source, output: str, proba: bool, keep: bool, reject_below: float | None) -> None:
    """Write the label and the probabilities of each row."""
    import polars as pl

    frame, model = source.read(), load(name)
    rows = _rows(model, frame)
    columns: dict[str, Any] = {}
    settings = {} if reject_below is None else {"reject_below": reject_below}
    with words.working(f"predicting {frame.height} rows"):
        columns["prediction"] = model.predict(rows, **settings).tolist()
        found = model.predict_proba(rows) if proba else None
    if found is not None:
        columns |= {f"p({label})": found[:, k] for k, label in enumerate(model.classes_.tolist())}
    said = pl.DataFrame(columns)
    write_table(frame.hstack(said) if keep else said, output)


def evaluate(name: str, source: Source, target: str | None, json: bool) -> None:
    """Say how good a model is on rows with labels."""
    from suffice.decision.reliability import Reliability
    from suffice.validation.assessing import assessed

    frame, model = source.read(), load(name)
    X, y = _split(model, frame, target, source.name)
    known = model.classes_.tolist()
    codes = np.array([known.index(label) if label in known else -1 for label in y])
    with words.working(f"predicting {frame.height} rows"):
        log_proba = model.predict_log_proba(_rows(model, X))
    found = assessed(log_proba, codes)
    right, n = float(found.right.mean()), len(codes)
    low, high = _wilson(right, n)
    measured = {
        "rows": n,
        "accuracy": right,
        "accuracy_interval": [low, high],
        "log_loss": float(found.log_loss.mean()),
        "brier": float(found.brier.mean()),
        "calibration_error": float(Reliability.of(found.confidence, found.right).error),
    }
    said = log_proba.argmax(axis=1)
    confusion = {
        str(label): {str(other): int(((codes == k) & (said == j)).sum()) for j, other in enumerate(known)}
        for k, label in enumerate(known)
    }
    if (codes < 0).any():
        words.note(
            f"note: {int((codes < 0).sum())} rows have a label that the model has never met: they count as wrong"
        )
    if json:
        words.as_json(measured | {"confusion": confusion})
        return
    shown = dict(measured) | {"accuracy": f"{right:.4f} (95 %: {low:.4f} to {high:.4f})"}
    shown.pop("accuracy_interval")
    words.facts(f"{name} on {source.name}", shown)
    lines = [[label, *counts.values()] for label, counts in confusion.items()]
    words.table(["true \\ said", *map(str, known)], lines)


def compare(source: Source, target: str, cv: int, output: str | None, json: bool) -> None:
    """Say which structure, rule and prior predicts best."""
    from suffice.selection.comparison import compare as compared

    frame = source.read()
    X, y = split_target(frame, target, source.name)
    found = compared(X, _labels(y, target), cv=cv)
    if output is not None:
        found.best_.target_name_ = target_of(frame, target, source.name)
        found.best_.save(output)
    if json:
        words.as_json(found.table)
        return
    lines = []
    for place, line in enumerate(found.table):
        cells = [f"{line[name]:.3f} ± {line[name + '_se']:.3f}" for name in ("accuracy", "log_loss")]
        against = "best" if not place else "worse" if line["worse"] else "as good"
        lines.append([line["model"], *cells, f"{line['calibration_error']:.3f}", line["parameters"], against])
    title = f"{source.name}: {frame.height} rows, {cv} folds (as good: no real difference from the best)"
    words.table(("model", "accuracy", "log-loss", "ECE", "params", ""), lines, title)


def explain(name: str, source: Source, row: int, label: str | None, json: bool) -> None:
    """Say what each feature of a row adds."""
    frame, model = source.read(), load(name)
    if not 0 <= row < frame.height:
        raise UserError(f"there is no row {row}: {source.name} has {frame.height}, counted from 0")
    found = model.explain(_rows(model, frame[row : row + 1]))
    named = {str(each): each for each in found.classes}
    if label is not None and label not in named:
        raise UserError(f"{label!r} is no class; there are {', '.join(named)}")
    parts = found.log_odds(0, None if label is None else named[label])
    shares = {str(each): float(p) for each, p in zip(found.classes, np.exp(found.log_proba[0]), strict=True)}
    if json:
        listed = [{"feature": feature, "value": value, "nats": nats} for feature, value, nats in parts]
        words.as_json({"probabilities": shares, "contributions": listed, "sentence": found.sentence(0)})
        return
    words.facts("", {"row": row, **{f"p({each})": f"{p:.4f}" for each, p in shares.items()}})
    words.table(["feature", "value", "nats"], [[f, "" if v is None else v, f"{nats:+.3f}"] for f, v, nats in parts])
    words.facts("", {"": found.sentence(0)})


def report(name: str, source: Source | None, target: str | None, output: str) -> None:
    """Write the page."""
    from suffice.report import write

    model = load(name)
    X, y = (None, None) if source is None else _split(model, source.read(), target, source.name)
    with words.working("writing the page"):
        written = write(model, output, None if X is None else _rows(model, X), y)
    words.facts("", {"written to": str(written)})


def change(
    what: str, name: str, source: Source, target: str | None, output: str | None, decay: float | None, json: bool
) -> None:
    """Learn or forget rows, and write the model back."""
    model = load(name)
    X, y = _split(model, source.read(), target, source.name)
    before = float(model.class_count_.sum())
    if what == "learn":
        model.partial_fit(_rows(model, X), y, decay=decay)
    else:
        model.forget(_rows(model, X), y)
        if not len(model.tally_.class_count):
            raise UserError(
                "these are all rows that the model has learned: nothing would be left; delete the file instead"
            )
    written = model.save(output or name)
    after, digest = float(model.class_count_.sum()), model.tally_.digest()
    if json:
        words.as_json({"rows_before": before, "rows": after, "digest": digest, "file": str(written)})
    else:
        words.facts("", {"rows": f"{before:g} -> {after:g}", "digest": digest, "written to": written})


def merge(names: list[str], output: str, json: bool) -> None:
    """Add models up."""
    if len(names) < 2:
        raise UserError("there must be two models or more to merge")
    total = load(names[0])
    for name in names[1:]:
        other = load(name)
        if type(other) is not type(total):
            raise UserError(
                f"{names[0]} is a {type(total).__name__} and {name} a {type(other).__name__}: they have no sum"
            )
        total = total + other
    written = total.save(output)
    rows, digest = float(total.class_count_.sum()), total.tally_.digest()
    if json:
        words.as_json({"rows": rows, "digest": digest, "file": str(written)})
    else:
        words.facts("", {"rows": f"{rows:g}", "digest": digest, "written to": written})


def info(name: str, json: bool) -> None:
    """Say what a model is."""
    model = load(name)
    if json:
        words.as_json(_facts(model))
    else:
        words.facts(name, _facts(model))


def _facts(model: Any) -> dict[str, Any]:
    """Return what a model says of itself."""
    found: dict[str, Any] = {"classifier": type(model).__name__, "target": getattr(model, "target_name_", None)}
    if hasattr(model, "tally_"):
        shares = model.class_count_ / model.class_count_.sum()
        labels = zip(model.classes_.tolist(), shares.tolist(), strict=True)
        found |= {"rows": f"{model.class_count_.sum():g}", "classes": ", ".join(f"{a} {p:.1%}" for a, p in labels)}
        found |= {"parameters": f"{model.n_parameters_:,}", "digest": model.tally_.digest()}
    if hasattr(model, "families_"):
        by_family: dict[str, list[str]] = {}
        for column, family in model.families_.items():
            by_family.setdefault(family, []).append(str(column))
        found |= {family: ", ".join(columns) for family, columns in by_family.items()}
        found |= {f"left out: {column}": reason for column, reason in model.left_out_.items()}
    if getattr(model, "calibrate", None) is not None:
        found["calibration"] = repr(model.calibration_)
    said = {name: value for name, value in model.get_params(deep=False).items() if value is not None}
    return found | {"settings": ", ".join(f"{name}={value!r}" for name, value in said.items())}


def _rows(model: Any, frame: Any) -> Any:
    """Return the rows as the model takes them: without the target, if that is among them."""
    target = getattr(model, "target_name_", None)
    frame = frame.drop(target) if target in frame.columns else frame
    return frame if hasattr(model, "families_") else frame.to_numpy()


def _split(model: Any, frame: Any, target: str | None, name: str) -> tuple[Any, list[Any]]:
    """Return rows and labels; the labels are in the column that was learned, if no other is named."""
    asked = target or getattr(model, "target_name_", None)
    if asked is None:
        raise UserError("the model does not know which column has the labels: say --target")
    X, y = split_target(frame, asked, name)
    return X, _labels(y, asked)


def _labels(column: Any, target: str) -> list[Any]:
    if column.null_count():
        raise UserError(f"column {target!r} has no label in {column.null_count()} rows; leave them out")
    return column.to_list()  # type: ignore[no-any-return]


def _wilson(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    return max(middle - half, 0.0), min(middle + half, 1.0)
