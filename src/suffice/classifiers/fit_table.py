"""Learning from tables that are not in memory: columns are planned from a sample, and the engine takes the sums."""

import os
from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from suffice.classifiers.checkpoint import Checkpoint
from suffice.data import as_sheet, check_table, concat_frames, missing_labels_error, split_frame
from suffice.data.choose_families import ANY, choose_family
from suffice.data.column_facts import MOST_CODED_NUMBERS, collect_facts
from suffice.data.engines.open_source import open_source
from suffice.data.engines.source import SAMPLE, Counted, PartialTally, Request, Source
from suffice.data.files.table_file import training_hints
from suffice.settings import setting_text
from suffice.statistics import CoMoments

# If a column is empty in the sample, up to this many rows in which it has a value are added to the sample.
RARE_ROWS = 1000


def learn_table(
    model: Any,
    source: Any,
    target: str,
    weight: str | None,
    missing_target: str,
    checkpoint: str | os.PathLike[str] | None,
) -> dict[str, Any]:
    """Fit a classifier to a frame or to a source of an engine; return how the cells of files were read."""
    table = open_source(source, training_hints(target, weight, getattr(model, "families", None)))
    if checkpoint is not None and (table is None or table.fingerprint is None):
        raise ValueError("a checkpoint is for files, whose rows come again in the same order: leave out checkpoint=…")
    if table is None:
        model.fit(*split_frame(source, target, weight, missing_target))
        return {}
    check_table(table.names, target, weight, missing_target)
    file = None
    if checkpoint is not None:
        subject = {"settings": setting_text(model.get_params(deep=False)), "source": str(table.fingerprint)}
        subject["columns of labels and weights"] = repr((target, weight, missing_target))
        file = Checkpoint(checkpoint, type(model).__name__, subject)
    learned = learn_source(table, clone(model), target, weight, missing_target, file)
    checked = model._snapshot()
    checked._set_learned(learned.tally_, learned._learned_extras())
    checked._check_classes(checked.classes_)
    checked._check(checked.recipe(), checked.chosen_tally())
    checked._check_estimate(checked.recipe())
    model.__dict__ = checked.__dict__
    if file is not None:
        file.remove()
    return table.reading


def learn_source(
    source: Source, model: Any, target: str, weight: str | None, missing_target: str, checkpoint: Checkpoint | None
) -> Any:
    """Return a classifier that has learned all rows of a source; ``model`` is a copy that may be changed.

    The sample determines the plan (families, cells, pairs of columns) and what is tuned (a prior, a calibration). A
    table that the sample contains completely is not counted again.
    """
    source.check_target(target)
    progress = None if checkpoint is None else checkpoint.read()
    if progress is None:
        is_counted = _fit_sample(source, model, target, weight, missing_target)
        if is_counted:
            return model
        progress = {"model": model.__getstate__(), "done": {}}
        if checkpoint is not None:
            checkpoint.write(progress, at_once=True)
    else:
        model.__dict__ |= progress["model"]
    counted = None
    if checkpoint is not None:
        file, planned = checkpoint, progress["model"]
        counted = Counted(
            PartialTally(**progress["done"]), lambda done: file.write({"model": planned, "done": vars(done)})
        )
    model.tally_ = source.tally(Request(target, weight, missing_target, model.tally_, counted))
    if model.missing == "error":
        _check_complete(model, is_weighted=weight is not None)
    return model


def _fit_sample(source: Source, model: Any, target: str, weight: str | None, missing_target: str) -> bool:
    """Fit a model to a sample; return whether it is the whole table."""
    reader = model.recipe().reader
    frame, is_whole = source.sample(SAMPLE, spread=model.additive_recipe() is None or reader.plan_depends_on_rows)
    is_counted = is_whole and takes_sample_as_table(source)
    X, y, weights = split_frame(frame, target, weight, missing_target if is_counted else "drop")
    if not len(y):
        if is_whole:
            raise missing_labels_error(target, len(frame), len(frame))
        raise ValueError(f"column {target!r}, the target, is empty in all {len(frame)} rows of the sample")
    if not reader.plans_from_rows:
        _check_numbers(X, reader.owner)
    elif not is_whole:
        frame = _with_rare_rows(source, frame)
        X, y, weights = split_frame(frame, target, weight, "drop")
        families = _correct_families(source, model.families, X) if model.plan is None else {}
        if families:
            named = (
                model.families
                if isinstance(model.families, Mapping)
                else dict.fromkeys(as_sheet(X, owner="fit_table").names, model.families)
            )
            model.families = {**named, **families}
    if not is_whole and isinstance(getattr(model, "class_weight", None), Mapping):  # a rare class is not in the sample
        model.class_weight = {label: each for label, each in model.class_weight.items() if label in set(y.tolist())}
    model.fit(X, y, weights)
    return is_counted


def takes_sample_as_table(source: Source) -> bool:
    """Return whether a table that its sample contains completely is counted in memory; tests turn it off."""
    return True


def _check_numbers(X: Any, owner: str) -> None:
    """Raise if a column does not hold numbers."""
    sheet = as_sheet(X, owner=owner)
    for name in sheet.names:
        if sheet.kind(name) not in ("number", "boolean", "empty"):
            raise ValueError(
                f"column {name!r} does not hold numbers, which {owner} needs: encode it, leave it out of the table, or "
                "use BayesClassifier, which takes columns of any kind"
            )


def _check_complete(model: Any, is_weighted: bool) -> None:
    """Raise if cells were missing when an engine counted the rows, which skips them."""
    tally, (statistic,) = model.tally_, model.tally_.statistics
    n = statistic.spreads.n if isinstance(statistic, CoMoments) else statistic.n
    missing = (tally.class_count[:, None] - n).sum(axis=0)
    worst = int(missing.argmax())
    # engines add up fractional weights in any order
    if missing[worst] > (1e-9 * tally.class_count.sum() if is_weighted else 0):
        hint = ', or skip them: missing="skip"' if "missing" in model.get_params() else ""
        raise ValueError(
            f"Input X contains NaN: {tally.schema.blocks[0].name(worst)} is empty in {missing[worst]:g} rows.\n"
            f"{type(model).__name__} does not accept missing values encoded as NaN natively. Drop those rows, fill "
            f"the cells in{hint}."
        )


def _with_rare_rows(source: Source, frame: Any) -> Any:
    """Return the sample with more rows: some in which columns have values that are empty in all of the sample."""
    sheet = as_sheet(frame, owner="fit_table")
    added = [source.rows_with(name, RARE_ROWS) for name in sheet.names if sheet.kind(name) == "empty"]
    return concat_frames([frame, *(rows for rows in added if rows is not None and len(rows))]) if added else frame


def _correct_families(source: Source, families: Any, X: Any) -> dict[str, str]:
    """Return the families that differ between sample and table, of columns with few or only distinct values.

    A column that is constant in the sample may vary in the table, and one with few levels may have many.
    """
    if families not in ("auto", ANY) and not isinstance(families, Mapping):
        return {}
    sheet = as_sheet(X, owner="fit_table")
    named = families if isinstance(families, Mapping) else {}
    examined = [
        name
        for name in sheet.names
        if named.get(name, "auto") in ("auto", ANY) and sheet.kind(name) not in ("date", "empty", "boolean")
    ]
    in_sample = collect_facts(sheet, examined, None)
    doubtful = {
        name: facts.kind
        for name, facts in in_sample.items()
        if facts.distinct <= (MOST_CODED_NUMBERS if facts.kind == "number" else 2) or facts.distinct == facts.rows
    }
    corrected = {}
    for name, facts in source.facts(doubtful).items():
        family, _ = choose_family(facts._replace(words=in_sample[name].words))
        if family != choose_family(in_sample[name])[0]:
            corrected[name] = family
    return corrected
