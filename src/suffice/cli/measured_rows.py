"""How good predictions are: of held-out rows after a fit, and of rows whose labels are known; beside a baseline."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.cli.output import WIDTH, CommandError
from suffice.data import label_text
from suffice.evaluation.metrics import OF_ROWS, find_metrics, score_predictions
from suffice.evaluation.verdicts import estimate_by_rows
from suffice.folds.assessment import assess_predictions
from suffice.schema import Array

# A fit is measured on at most so many held-out rows.
MOST_ROWS = 20_000
MOST_ERRORS = 20
SHOWN = (
    *("accuracy", "log_loss", "brier", "calibration_error"),
    *("balanced_accuracy", "roc_auc", "average_precision", "f1", "f1_macro"),
)


def measure_fit(model: Any, sample: Any, column: str, weight: str | None) -> dict[str, Any] | None:
    """Return how well a fitted model predicts held-out rows; None if it would have to be fitted again.

    A pool and a calibrated model have predicted held-out rows in ``fit``. Other models learn sums, so that the models
    of ten folds are computed from the sums of a sample.

    Parameters
    ----------
    model : BayesClassifier
        The model.
    sample : function
        Returns a frame of at most a number of rows.
    column, weight : str
        The columns of labels and weights.
    """
    from suffice.data import split_frame
    from suffice.folds.hold_out import hold_out

    shares = model.class_count_ / model.class_count_.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = float(-np.nansum(shares * np.log(shares)))
    baseline = {"accuracy": float(shares.max()), "log_loss": entropy}
    if model.calibrate is not None:
        after = model.calibration_.reliability["after"]
        found = {"accuracy": float(after.share @ after.accuracy), "log_loss": model.calibration_.log_loss["after"]}
        found |= {"calibration_error": after.error}
    elif hasattr(model, "held_out_"):
        found = dict(model.held_out_)
    elif model.recipe().is_pooled:
        return None
    else:
        X, y, weights = split_frame(sample(MOST_ROWS), column, weight, "drop")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fit has warned already
            held_out = hold_out(model.recipe(), model.recipe(), X, y, weights)
        if not len(held_out.codes):
            return None
        found = held_out.measure()
    return {**found, "baseline": baseline}


def measure_test(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return how well a fitted model predicts rows that were kept back for a test, in the form of `measure_fit`."""
    places = {label: place for place, label in enumerate(model.classes_.tolist())}
    codes = np.array([places.get(label, -1) for label in y.tolist()])
    found = measure_rows(model, model.predict_log_proba(X), codes)
    finite = {name: each for name, each in found.items() if np.isfinite(each["value"])}
    values = {name: each["value"] for name, each in finite.items()}
    return {
        **values,
        "rows": len(codes),
        "is_test": True,
        "baseline": {name: each["baseline"] for name, each in finite.items()},
    }


def split_test(frame: Any, column: str, share: float) -> tuple[Any, Any]:
    """Return the rows to fit and the rows to test: a share of each class, drawn with a fixed seed."""
    import polars as pl

    if not 0 < share < 1:
        raise CommandError(f"--test-size is a share between 0 and 1, such as 0.2, not {share:g}")
    order = np.random.default_rng(0).permutation(frame.height)
    places = pl.DataFrame({"y": frame[column].gather(order)}).select(pl.int_range(pl.len()).over("y")).to_series()
    is_test = np.zeros(frame.height, bool)
    is_test[order] = np.floor((places.to_numpy() + 1) * share) > np.floor(places.to_numpy() * share)
    if not is_test.any():
        raise CommandError(f"--test-size {share:g} of each class is less than one row: use a larger share")
    return frame.filter(~pl.Series(is_test)), frame.filter(pl.Series(is_test))


def format_fit(found: dict[str, Any] | None) -> dict[str, str]:
    """Return the quality of a fit as text."""
    if found is None:
        return {"quality": "not measured: each fold would need a fit; use suffice evaluate with other rows"}
    texts = {}
    for metric in find_metrics([name for name in SHOWN if name in found]):
        name, baseline = metric.name, found["baseline"]
        base = f"   (baseline {baseline[name]:.3f})" if name in baseline else ""
        texts[metric.title] = f"{found[name]:.3f}{base}"
    rows = f" {int(found['rows']):,}" if "rows" in found else ""
    kind = "test" if found.get("is_test") else "held-out"  # a pool's own log-losses are of held-out rows, too
    return {f"on{rows} {kind} rows": "", **texts}


def measure_rows(model: Any, log_proba: Array, codes: Array) -> dict[str, Any]:
    """Return metrics of the predictions of rows, and those of a baseline that always predicts the class frequencies.

    A metric is {"value": …, "baseline": …}, and for means over rows "half_width". Codes of −1 are labels that the
    model does not know: they are wrong in all metrics of rows, and left out of the others.
    """
    with np.errstate(divide="ignore"):
        shares = np.log(np.asarray(model.class_count_, float) / np.sum(model.class_count_))
    base = np.tile(shares, (len(codes), 1))
    rows = [assess_predictions(each, codes) for each in (log_proba, base)]
    found: dict[str, Any] = {}
    weights = np.ones(len(codes))
    for name, metric in OF_ROWS.items():
        assert metric.of_rows is not None
        values = np.array([metric.of_rows(each, weights) for each in rows])
        estimates = estimate_by_rows(values, weights, 1, 0.0, is_loss=metric.is_loss, is_share=metric.is_share)
        figures = {"value": estimates.value[0], "half_width": estimates.half_width[0], "baseline": estimates.value[1]}
        found[name] = {key: abs(float(value)) for key, value in figures.items()}  # abs: no -0.0
    known, classes = codes >= 0, model.classes_
    f1 = "f1" if len(classes) == 2 else "f1_macro"
    for name in ("balanced_accuracy", "roc_auc", "average_precision", f1):
        scorer = "roc_auc_ovr" if name == "roc_auc" and len(classes) > 2 else name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes without rows: the metric is NaN then
            value, baseline = (
                float(score_predictions(scorer, classes, each[known], codes[known], None)) for each in (log_proba, base)
            )
        found[name] = {"value": value, "baseline": baseline}
    return found


def format_metrics(found: dict[str, Any]) -> list[list[str]]:
    """Return metrics as the lines of a table: name, value and baseline."""
    lines = []
    for metric in find_metrics([name for name in SHOWN if name in found]):
        figures = found[metric.name]
        if np.isfinite(figures["value"]):
            half = f" ± {figures['half_width']:.3f}" if "half_width" in figures else ""
            lines.append([metric.title, f"{figures['value']:.3f}{half}", f"{figures['baseline']:.3f}"])
    return lines


def format_confusion(names: Sequence[str], counts: Sequence[Sequence[int]]) -> tuple[list[str], list[list[Any]], str]:
    """Return the heading, lines and title of a confusion matrix, or of its largest errors if it is too wide.

    >>> format_confusion(["a", "b"], [[3, 1], [0, 2]])[1]
    [['a', 3, 1], ['b', 0, 2]]
    >>> format_confusion([50 * "a", 50 * "b"], [[3, 1], [0, 2]])[2]
    'the most frequent errors of 1 kinds; --json has the confusion matrix'
    """
    head = "true \\ predicted"
    cells = zip(names, *counts, strict=True)
    widths = [max(len(head), *map(len, names)), *(max(len(str(cell)) for cell in column) for column in cells)]
    if sum(widths) + 3 * len(widths) <= WIDTH:
        return [head, *names], [[name, *line] for name, line in zip(names, counts, strict=True)], ""
    pairs = zip(names, counts, strict=True)
    errors: list[list[Any]] = [
        [true, name, n] for true, line in pairs for name, n in zip(names, line, strict=True) if name != true and n
    ]
    errors.sort(key=lambda error: -error[2])
    title = f"the most frequent errors of {len(errors):,} kinds; --json has the confusion matrix"
    return ["true class", "predicted class", "rows"], errors[:MOST_ERRORS], title


def score_classes(labels: Sequence[Any], codes: Array, predicted: Array) -> dict[str, dict[str, Any]]:
    """Return the number of rows, the recall, precision and F1 of each class."""
    from sklearn.metrics import precision_recall_fscore_support

    scores = precision_recall_fscore_support(codes, predicted, labels=range(len(labels)), zero_division=np.nan)
    keys = ("precision", "recall", "f1", "rows")
    lines = zip(*(each.tolist() for each in scores), strict=True)
    return {label_text(label): dict(zip(keys, line, strict=True)) for label, line in zip(labels, lines, strict=True)}
