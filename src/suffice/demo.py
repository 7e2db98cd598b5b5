"""A demonstration on the handwritten digits of scikit-learn, with models from naive to full dependence."""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from suffice.classifiers.bayes import BayesClassifier
from suffice.classifiers.bernoulli import BernoulliNB
from suffice.classifiers.discriminant import GaussianDiscriminant
from suffice.classifiers.mixture import MixtureClassifier
from suffice.evaluation.comparison import compare
from suffice.images import Deskew, deskew
from suffice.report import write
from suffice.schema import Array
from suffice.storage.atomic_write import check_output_path

SHADES = " .:-=+*#%@"
INK, SHRINKAGE = 7.5, 0.2  # darker pixels count as ink; covariances are shrunk towards their diagonal


def draw_image(values: Array, width: int = 8) -> list[str]:
    """Return values from 0 to 1 as lines of text, two characters per pixel.

    >>> draw_image(np.array([0.0, 1.0, 0.5, 0.0]), width=2)
    ['  @@', '++  ']
    """
    shades = np.minimum((np.asarray(values) * len(SHADES)).astype(int), len(SHADES) - 1)
    return ["".join(SHADES[shade] * 2 for shade in line) for line in shades.reshape(-1, width)]


def split_digits() -> list[Array]:
    """Return the images and labels of the digits, split into training and test images."""
    X, y = load_digits(return_X_y=True)
    return list(train_test_split(X, y, test_size=0.4, random_state=0, stratify=y))


def write_page(output: str) -> Path:
    """Write a report on a model of the digits that recognises drawings: images are deskewed, as drawings are."""
    X_train, X_test, y_train, y_test = split_digits()
    model = GaussianDiscriminant(shrinkage=SHRINKAGE, calibrate="temperature").fit(deskew(X_train), y_train)
    return write(model, output, deskew(X_test), y_test, title="Handwritten digits")


def main(output: str = "digits.html") -> Path:
    """Compare models from naive to full dependence on the digits, and write a report with a drawing pad.

    Parameters
    ----------
    output : str, default="digits.html"
        The report to write.

    Returns
    -------
    path : Path
        The report that was written.
    """
    check_output_path(output)
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, _ = split_digits()
    naive = BernoulliNB(binarize=INK).fit(X_train, y_train)
    print(f"Handwritten digits: {len(X_train)} training images of 8 x 8 pixels, {len(X_test)} test images.\n")
    print("The parameters of naive Bayes: the probability of ink in each pixel, for each digit.\n")
    pictures = [draw_image(image) for image in np.exp(naive.feature_log_prob_)]
    for row in (range(5), range(5, 10)):
        print("   ".join(f"{digit!s:^16}" for digit in row))
        print("\n".join("   ".join(lines) for lines in zip(*(pictures[digit] for digit in row), strict=True)), "\n")

    tree = BayesClassifier(families="bernoulli", structure="tree")
    models = {
        "naive, binary pixels": BernoulliNB(binarize=INK),
        "tree, binary pixels": make_pipeline(Binarizer(threshold=INK), tree),
        "full covariance": GaussianDiscriminant(shrinkage=SHRINKAGE),
        "full covariance, deskewed": make_pipeline(Deskew(), GaussianDiscriminant(shrinkage=SHRINKAGE)),
        "mixture of 3 components": MixtureClassifier(components=3, shrinkage=SHRINKAGE),
    }
    print("Models from naive to full dependence, five-fold cross-validation:\n")
    print(compare(X, y, models, cv=5))
    written = write_page(output)
    print(f"\nThe report is in {written.resolve()}: open it in a browser and draw a digit.")
    return written
