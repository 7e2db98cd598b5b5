"""The steps of `suffice tutorial`, and the tables that they use."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from suffice.cli.output import CommandError

# Shapes of two classes: size, colour, shape, class.
SHAPES = """
medium red circle positive
small blue triangle positive
medium red triangle positive
large green circle positive
large red circle positive
small blue circle positive
small red square positive
medium red circle positive
large red square negative
small blue triangle negative
medium green circle negative
medium green triangle negative
large red circle negative
small blue square negative
small blue triangle negative
large green square negative
"""
SHAPE_COLUMNS = ["size", "colour", "shape", "class"]
CUSTOMER = 2  # the row of the shapes that is forgotten


@dataclass(frozen=True)
class Step:
    """A step: an explanation, then lines that are run. Lines that begin with "suffice" are commands, others Python."""

    title: str
    text: str
    lines: tuple[str, ...]


STEPS = (
    Step(
        "Count",
        "shapes.csv has 16 rows with a size, a colour, a shape and a class. Naive Bayes counts how often each class "
        "occurs, and how often each value occurs in it. Maximum likelihood (mle) reads the probabilities off these "
        "counts: P(red | positive) = 5/8.",
        ("suffice fit shapes.csv --target class --structure naive --estimate mle -o shapes.suffice",),
    ),
    Step(
        "Predict",
        "new.csv has one row: medium, red, circle. Multiply the probabilities of its values in each class by the "
        "probability of the class. The products, divided by their sum, are the probabilities of the classes. The "
        "command computes the same.",
        (
            "positive = 8/16 * 3/8 * 5/8 * 5/8",
            "negative = 8/16 * 2/8 * 2/8 * 2/8",
            "round(positive, 3), round(negative, 3)",
            "round(positive / (positive + negative), 4)",
            "suffice predict shapes.suffice new.csv",
        ),
    ),
    Step(
        "Explain",
        "The logarithm turns the product into a sum, so each value contributes a number to the log-odds. `explain` "
        "lists them, in nats (natural logarithms). Rows are counted from 0.",
        ("suffice explain shapes.suffice new.csv --row 0",),
    ),
    Step(
        "Smooth",
        "A value that never occurred in a class has the probability 0 by maximum likelihood, and makes the whole "
        "product 0. This is why the log-loss of step 1 was so high. A prior prevents it: it adds pseudo-counts. Ten "
        "balls were drawn from an urn: 4 small, none medium, 6 large. With m = 1 pseudo-ball, a third of it for each "
        "size, no probability is 0.",
        (
            "from suffice import Categorical, MEstimate",
            "drawn = Categorical.tally([0, 0, 0, 0, 2, 2, 2, 2, 2, 2])",
            'Categorical.estimate(drawn, rule="mle").p.tolist()',
            "Categorical.estimate(drawn, MEstimate(1)).p.round(3).tolist()",
        ),
    ),
    Step(
        "Forget",
        "All that the model has learned is counts, which are sums. To forget a row is to subtract it. customer.csv has "
        "one of the 16 rows. After it is forgotten, the model is the one that was never fitted to it: the digests of "
        "the two files are equal. A model file also adds rows (`suffice learn`) and other models (`suffice merge`).",
        (
            "suffice forget shapes.suffice customer.csv",
            "suffice fit others.csv --target class --structure naive --estimate mle -o others.suffice",
            "suffice info others.suffice",
        ),
    ),
    Step(
        "A table with numbers and holes",
        "flowers.csv has 150 rows with four measurements, of which some are missing, and a species. No cell must be "
        "filled in, and nothing is scaled or encoded. The default model is a pool: several models, weighted by how "
        "well they predict rows that were held out.",
        ("suffice fit flowers.csv --target species -o flowers.suffice",),
    ),
    Step(
        "Why this species?",
        "Row 71 has no petal length. The other cells decide.",
        ("suffice explain flowers.suffice flowers.csv --row 71",),
    ),
    Step(
        "Report",
        "The report is one HTML file that needs no network. It shows how good the predictions are, what each column "
        "contributes, and has a form to try the model. Here it measures rows that the model has learned, so the "
        "figures are too good; for a table of your own, pass rows that were not learned.",
        ("suffice report flowers.suffice --data flowers.csv -o flowers.html",),
    ),
)


def write_tables(folder: Path) -> None:
    """Write the tables of the tutorial to a folder."""
    from sklearn.datasets import load_iris

    shapes = [line.split() for line in SHAPES.strip().splitlines()]
    _write(folder / "shapes.csv", SHAPE_COLUMNS, shapes)
    _write(folder / "customer.csv", SHAPE_COLUMNS, [shapes[CUSTOMER]])
    _write(folder / "others.csv", SHAPE_COLUMNS, [row for place, row in enumerate(shapes) if place != CUSTOMER])
    _write(folder / "new.csv", SHAPE_COLUMNS[:3], [["medium", "red", "circle"]])
    iris = load_iris()
    flowers = []
    for place, (cells, code) in enumerate(zip(iris.data.tolist(), iris.target, strict=True)):
        known = ["" if (5 * place + j) % 17 == 0 else str(cell) for j, cell in enumerate(cells)]
        flowers.append([*known, str(iris.target_names[code])])
    names = [name.removesuffix(" (cm)") for name in iris.feature_names]
    _write(folder / "flowers.csv", [*names, "species"], flowers)


def _write(path: Path, header: list[str], rows: list[list[str]]) -> None:
    written = io.StringIO(newline="")
    csv.writer(written).writerows([header, *rows])
    content = written.getvalue().encode()
    if path.exists() and path.read_bytes() != content:
        raise CommandError(f"{path} exists and is not a file of this tutorial; name another folder with --folder")
    path.write_bytes(content)
