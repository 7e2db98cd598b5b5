"""The commands that write a model: fit, learn, forget and merge."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from suffice.cli.command import (
    Bins,
    Dates,
    Drop,
    Families,
    Json,
    Model,
    ModelOutput,
    OtherTarget,
    Target,
    UpdatedOutput,
    Wait,
    Weight,
    Yes,
    command,
)
from suffice.cli.interrupts import interrupts
from suffice.cli.output import (
    CommandError,
    as_whole,
    check_output,
    format_number,
    print_facts,
    print_json,
    print_note,
    write_content,
    write_file,
)
from suffice.storage.file_update import TIMEOUT, update_file

if TYPE_CHECKING:
    from suffice.data.files.table_file import TableFile


# Choices of BayesClassifier, repeated here because importing it takes longer than printing help.
Numeric = Literal["auto", "gaussian", "quantiles", "mdl", "kernel"]
Missing = Literal["auto", "skip", "level"]
Unseen = Literal["share", "ignore"]
Calibration = Literal["temperature", "vector", "isotonic"]
RULES = ("mle", "map", "mean", "predictive")

STRUCTURE_HELP = "Dependence between columns: auto, naive, chain, tree, averaged, full, joint, trees or pooled."
MISSING_HELP = (
    "Missing cells of a column with levels or bins: skip (no evidence), level (a level of their own), or auto."
)
ESTIMATE_HELP = "How parameters are estimated: mle, map, mean or predictive; by column or family: gaussian=mle,age=map."
PRIOR_HELP = "Prior of the parameters: a pseudo-count, auto, or pseudo-counts by column or family: poisson=2,age=5."
UNSEEN_HELP = "Levels that were never seen: share (they keep a share of probability) or ignore (as missing cells)."


@contextmanager
def model_file(name: str) -> Iterator[str]:
    """Yield the path of a model file; standard input, ``-``, is copied to a file."""
    if name != "-":
        yield name
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, "standard input")
        path.write_bytes(sys.stdin.buffer.read())
        yield str(path)


def load_model(name: str, method: str = "predict", otherwise: str = "") -> Any:
    """Return the model in a file; raise an error if its kind lacks the method that a command needs."""
    from suffice import load

    with model_file(name) as path:
        model = load(path)
    if not hasattr(model, method):
        raise CommandError(f"{name} is a {type(model).__name__}, which {otherwise}")
    return model


def save_model(model: Any, output: str) -> Path | None:
    """Write a model to a file; return None if it went to standard output, where nothing else may be printed."""
    return write_content(model.file_content(), output)


@contextmanager
def open_update(output: str, inputs: Sequence[str], wait: float) -> Iterator[Callable[[Any], Path | None]]:
    """Yield the function that writes a model. If the output is one of the inputs, no other process changes it."""
    check_output(output)
    if output == "-" or Path(output).resolve() not in [Path(name).resolve() for name in inputs]:
        yield lambda model: save_model(model, output)
        return
    with update_file(output, wait) as file:

        def save(model: Any) -> Path:
            content = model.file_content()
            interrupts.is_late = True
            return file.replace(content)

        yield save


@command("suffice fit train.csv --target income -o income.suffice")
def fit(
    table: TableFile,
    target: Target,
    output: ModelOutput = "model.suffice",
    structure: Annotated[str, typer.Option(help=STRUCTURE_HELP)] = "auto",
    trees: Annotated[
        int | None,
        typer.Option(
            help="Largest number of trees; by default 100, or 200 with --structure trees or pooled.",
            min=1,
        ),
    ] = None,
    numeric: Annotated[Numeric, typer.Option(help="Family of numeric columns.")] = "auto",
    estimate: Annotated[str, typer.Option(help=ESTIMATE_HELP)] = "mean",
    prior: Annotated[str, typer.Option(help=PRIOR_HELP)] = "0.5",
    family: Families = None,
    weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    missing: Annotated[Missing, typer.Option(help=MISSING_HELP)] = "auto",
    unseen: Annotated[Unseen, typer.Option(help=UNSEEN_HELP)] = "share",
    plan: Annotated[str | None, typer.Option(help="Model file whose plan (columns and cells) is used.")] = None,
    calibrate: Annotated[Calibration | None, typer.Option(help="Calibrate probabilities on held-out rows.")] = None,
    class_prior: Annotated[
        str, typer.Option(help="Class probabilities: empirical, uniform, a pseudo-count, or yes=0.3,no=0.7.")
    ] = "empirical",
    class_weight: Annotated[
        str | None, typer.Option(help="Weights of classes: balanced (the same total weight), or yes=2,no=1.")
    ] = None,
    test_size: Annotated[
        float | None,
        typer.Option(help="Share of the rows, such as 0.2, to test the model on; it is fitted to the others."),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(help="File for intermediate results; after an interruption, the same command continues from it."),
    ] = None,
    bins: Bins = None,
    yes: Yes = False,
    dates: Dates = None,
    drop_unlabelled: Drop = False,
    json: Json = False,
) -> None:
    """Fit a model to a table. Write it to a file, and show how well it predicts held-out rows."""
    from suffice.classifiers.bayes import BayesClassifier
    from suffice.cli import model_rows as rows
    from suffice.cli.measured_rows import measure_fit, measure_test, split_test
    from suffice.cli.model_summary import print_fit
    from suffice.cli.target_classes import check_several_classes, read_target
    from suffice.data import split_frame
    from suffice.data.files.table_file import training_hints

    families = parse_families(family or [])
    settings: dict[str, Any] = {"structure": _with_trees(structure, trees), "numeric": numeric}
    settings["estimate"] = _parse_by_name(estimate, _parse_rule)
    settings |= {"missing": missing, "unseen": unseen, "plan": None if plan is None else _load_plan(plan)}
    settings |= {"prior": _parse_by_name(prior, _parse_prior), "families": families or "auto", "calibrate": calibrate}
    check_output(output)
    source = rows.open_table(table, training_hints(target, weight, families), dates)
    column = rows.find_column(source, target)
    weights = None if weight is None else rows.find_column(source, weight)
    labelled, cuts = read_target(source, column, None, bins, yes)
    test = None
    if test_size is not None:
        labelled, test = split_test(rows.read_frame(source) if labelled is source else labelled, column, test_size)
    kind = source.read_rows(0).schema.field(column).type if labelled is source else labelled.schema[column]
    settings["class_prior"] = _parse_by_class("--class-prior", class_prior, str(kind).lower())
    if class_weight is not None:
        if "=" not in class_weight and class_weight != "balanced":
            raise CommandError(f"--class-weight is balanced or LABEL=WEIGHT, such as yes=2,no=1, not {class_weight!r}")
        settings["class_weight"] = _parse_by_class("--class-weight", class_weight, str(kind).lower())
    model: Any = BayesClassifier(**settings)
    unlabelled = "drop" if drop_unlabelled else "error"
    model.fit_table(labelled, column, weight=weights, missing_target=unlabelled, checkpoint=checkpoint)
    check_several_classes(model.classes_.tolist(), column)
    rows.remember_reading(model, source, cuts)
    written = save_model(model, output)
    if written is not None:

        def sample(most: int) -> Any:
            return source.sample(most, spread=True)[0] if labelled is source else labelled[:most]

        if test is not None:
            quality: Any = measure_test(model, *split_frame(test, column, weights, "drop")[:2])
        else:
            quality = measure_fit(model, sample, column, weights)
        print_fit(model, f"fitted to {table.shown}, written to {written}", json, written, quality)


def _with_trees(structure: str, count: int | None) -> Any:
    """Return a structure with at most a number of trees."""
    from suffice.structures.pooled import Pooled
    from suffice.structures.trees import Trees

    if count is None:
        return structure
    if structure == "trees":
        return Trees(count)
    if structure in ("auto", "pooled"):
        return Pooled(("averaged", "full", Trees(count)))
    raise CommandError(f"--trees {count} is for --structure pooled or trees, and {structure} has no trees")


def _load_plan(name: str) -> Any:
    """Return the plan of the model in a file."""
    return load_model(name, "plan_", "has no plan").plan_


def _parse_prior(text: str) -> float | str:
    """Return a prior: a number, or a word."""
    try:
        return float(text)
    except ValueError:
        return text


def _parse_rule(text: str) -> str:
    """Return the name of a rule of estimation."""
    if text not in RULES:
        raise CommandError(f"--estimate is {', '.join(RULES[:-1])} or {RULES[-1]}, not {text!r}")
    return text


def _parse_by_name(text: str, parse: Callable[[str], Any]) -> Any:
    """Return a setting, or {column or family: setting} from NAME=SETTING,NAME=SETTING."""
    if "=" not in text:
        return parse(text)
    pairs = [each.rpartition("=") for each in text.split(",")]
    return {name.strip(): parse(value.strip()) for name, _, value in pairs}


def _parse_by_class(option: str, text: str, kind: str) -> Any:
    """Return a word, a number, or {label: number} from LABEL=NUMBER,LABEL=NUMBER with labels of a type."""
    if "=" not in text:
        return _parse_prior(text)
    pairs = [each.rpartition("=") for each in text.split(",")]
    as_label: Callable[[str], Any] = str
    if kind.startswith("bool"):
        as_label = {"true": True, "false": False}.get
    elif kind.startswith(("int", "uint", "float", "double")):
        as_label = lambda label: int(label) if kind.strip("u").startswith("int") else float(label)  # noqa: E731
    try:
        return {as_label(label.strip()): float(share) for label, _, share in pairs}
    except ValueError:
        raise CommandError(
            f"{option} is a word or LABEL=NUMBER,LABEL=NUMBER, such as yes=0.3,no=0.7, not {text!r}"
        ) from None


def parse_families(texts: list[str]) -> dict[str, str]:
    """Return {column: family} from COLUMN=FAMILY."""
    pairs = [each.rpartition("=") for each in texts]
    for column, _, family in pairs:
        if not column or not family:
            raise CommandError(f"--family is COLUMN=FAMILY, such as age=gaussian, not {(column or family)!r}")
    return {column: family for column, _, family in pairs}


@command("suffice learn income.suffice more.csv")
def learn(
    model: Model,
    table: TableFile,
    target: OtherTarget = None,
    output: UpdatedOutput = None,
    decay: Annotated[
        float | None, typer.Option(help="Factor from 0 to 1 for the weight of the rows learned before; by default 1.")
    ] = None,
    weight: Weight = None,
    drop_unlabelled: Drop = False,
    wait: Wait = TIMEOUT,
    json: Json = False,
) -> None:
    """Add rows to a model."""
    with open_update(output or model, [model], wait) as save:
        learned, X, y, weights = _read_update(model, table, target, weight, drop_unlabelled)
        before = float(learned.class_count_.sum())
        learned.partial_fit(X, y, sample_weight=None if weights is None else weights.to_numpy(), decay=decay)
        if weights is not None and not hasattr(learned, "weight_name_"):
            learned.weight_name_ = weights.name
        written = save(learned)
    _report_update(learned, written, json, before)


@command("suffice forget income.suffice deleted.csv")
def forget(
    model: Model,
    table: TableFile,
    target: OtherTarget = None,
    output: UpdatedOutput = None,
    receipt: Annotated[str | None, typer.Option(help="JSON file to write: digests of the model and the rows.")] = None,
    weight: Weight = None,
    drop_unlabelled: Drop = False,
    wait: Wait = TIMEOUT,
    json: Json = False,
) -> None:
    """Remove rows from a model."""
    if receipt == "-":
        raise CommandError("--receipt is the name of a file")
    check_output(receipt or "-")
    with open_update(output or model, [model], wait) as save:
        learned, X, y, weights = _read_update(model, table, target, weight, drop_unlabelled, is_forgetting=True)
        before = float(learned.class_count_.sum())
        gone = (X, y, None if weights is None else weights.to_numpy())
        record = None
        if receipt is not None and not Path(receipt).exists():
            record = learned.receipt(*gone).to_json()
        elif receipt is not None and _is_forgotten(Path(receipt), learned, gone):
            print_note(f"note: {receipt} shows that these rows are forgotten already: {model} is left as it is")
            return
        learned.forget(*gone)
        if not len(learned.tally_.class_count):
            raise CommandError("these are all rows of the model, so none would be left; delete the file instead")
        # The receipt is written first. If the process is killed before the model is written, the receipt tells the next
        # call that the rows are still to be forgotten; without it, they could be subtracted twice.
        if receipt is not None and record is not None:
            write_file(receipt, record.encode())
        written = save(learned)
    _report_update(learned, written, json, before, {} if receipt is None else {"receipt": receipt})


def _is_forgotten(path: Path, model: Any, gone: tuple[Any, Any, Any]) -> bool:
    """Return whether a receipt shows that a model has forgotten these rows, or that it is still to forget them."""
    from suffice import Receipt

    receipt = Receipt.from_json(path.read_text(encoding="utf-8"))
    digest = model.tally_.digest()
    if digest not in (receipt.digest_before, receipt.digest_after) or not receipt.covers(model, *gone):
        raise CommandError(f"{path} is the receipt of another model or of other rows: name another file")
    return bool(digest == receipt.digest_after)


def _read_update(
    name: str,
    table: TableFile,
    target: str | None,
    weight: str | None,
    drop: bool,
    is_forgetting: bool = False,
) -> tuple[Any, Any, list[Any], Any]:
    """Return a model, and the rows, labels and weights that it is to learn or to forget."""
    from suffice.cli import model_rows as rows

    model = load_model(name, "forget", "cannot learn or forget rows: fit it again")
    source = rows.open_table(table, rows.hints_from(model, target, weight))
    frame, y = rows.split_labels(model, source, target, drop)
    frame, weights = rows.split_weights(model, source, frame, weight, is_forgetting)
    return model, rows.select_features(model, frame, grow=True), y, weights


@command("suffice merge monday.suffice tuesday.suffice -o week.suffice")
def merge(
    models: Annotated[list[str], typer.Argument(help="Two model files or more.", metavar="MODEL")],
    output: ModelOutput,
    wait: Wait = TIMEOUT,
    json: Json = False,
) -> None:
    """Merge models into the model of all their rows."""
    if len(models) < 2:
        raise CommandError("merge needs two models or more")
    with open_update(output, models, wait) as save:
        total = load_model(models[0], "__add__", "cannot be added")
        for name in models[1:]:
            other = load_model(name)
            if type(other) is not type(total):
                kinds = f"{models[0]} is a {type(total).__name__} and {name} a {type(other).__name__}"
                raise CommandError(f"{kinds}: they cannot be added")
            total = total + other
        written = save(total)
    _report_update(total, written, json)


def _report_update(
    model: Any, written: Path | None, json: bool, before: float | None = None, facts: Mapping[str, str] | None = None
) -> None:
    """Print the number of rows of a model, before and after if it changed, its digest, and other facts."""
    if written is None:
        return
    after, digest = float(model.class_count_.sum()), model.tally_.digest()
    if json:
        counts = {"rows_before": before, "rows": after}
        whole = {name: as_whole(count) for name, count in counts.items() if count is not None}
        print_json({**whole, "digest": digest, "file": str(written), **(facts or {})})
    else:
        change = "" if before is None else f"{format_number(before)} → "
        shown = {"rows": change + format_number(after), "digest": digest, "written to": written}
        print_facts("", {**shown, **(facts or {})})
