"""The command that fits a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from suffice.cli.command import Bins, Dates, Drop, Families, Json, ModelOutput, Target, Yes, command
from suffice.cli.model_files import load_model, save_model
from suffice.cli.option_values import parse_by_class, parse_by_name, parse_families, parse_prior, parse_rule
from suffice.cli.output import CommandError, check_output

if TYPE_CHECKING:
    from suffice.data.files.table_file import TableFile


# Choices of BayesClassifier, repeated here because importing it takes longer than printing help.
Numeric = Literal["auto", "gaussian", "quantiles", "mdl", "kernel"]
Missing = Literal["auto", "skip", "level"]
Unseen = Literal["share", "ignore"]
Calibration = Literal["temperature", "vector", "isotonic"]

STRUCTURE_HELP = "Dependence between columns: auto, naive, chain, tree, averaged, full, joint, trees or pooled."
MISSING_HELP = (
    "Missing cells of a column with levels or bins: skip (no evidence), level (a level of their own), or auto."
)
ESTIMATE_HELP = "How parameters are estimated: mle, map, mean or predictive; by column or family: gaussian=mle,age=map."
PRIOR_HELP = "Prior of the parameters: a pseudo-count, auto, or pseudo-counts by column or family: poisson=2,age=5."
UNSEEN_HELP = "Levels that were never seen: share (they keep a share of probability) or ignore (as missing cells)."


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
    settings["estimate"] = parse_by_name(estimate, parse_rule)
    settings |= {"missing": missing, "unseen": unseen, "plan": None if plan is None else _load_plan(plan)}
    settings |= {"prior": parse_by_name(prior, parse_prior), "families": families or "auto", "calibrate": calibrate}
    check_output(output)
    source = rows.open_table(table, training_hints(target, weight, families), dates)
    column = rows.find_column(source, target)
    weights = None if weight is None else rows.find_column(source, weight)
    labelled, cuts = read_target(source, column, None, bins, yes)
    test = None
    if test_size is not None:
        labelled, test = split_test(rows.read_frame(source) if labelled is source else labelled, column, test_size)
    kind = source.read_rows(0).schema.field(column).type if labelled is source else labelled.schema[column]
    settings["class_prior"] = parse_by_class("--class-prior", class_prior, str(kind).lower())
    if class_weight is not None:
        if "=" not in class_weight and class_weight != "balanced":
            raise CommandError(f"--class-weight is balanced or LABEL=WEIGHT, such as yes=2,no=1, not {class_weight!r}")
        settings["class_weight"] = parse_by_class("--class-weight", class_weight, str(kind).lower())
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
