"""A first look: learn the handwritten digits that come with scikit-learn, and say how it went."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from suffice.classifiers.bernoulli import BernoulliNB
from suffice.classifiers.gaussian import GaussianNB
from suffice.classifiers.multinomial import MultinomialNB
from suffice.schema import Array

SHADES = " .:-=+*#%@"


def picture(values: Array, width: int = 8) -> list[str]:
    """Draw values from 0 to 1 as lines of characters, two to a cell.

    >>> picture(np.array([0.0, 1.0, 0.5, 0.0]), width=2)
    ['  @@', '++  ']
    """
    shades = np.minimum((np.asarray(values) * len(SHADES)).astype(int), len(SHADES) - 1)
    return ["".join(SHADES[shade] * 2 for shade in line) for line in shades.reshape(-1, width)]


def milliseconds(run: Callable[[], object], times: int = 5) -> float:
    """Return the least time of several runs: the first may wait for the compiler."""
    taken = []
    for _ in range(times):
        start = perf_counter()
        run()
        taken.append(perf_counter() - start)
    return min(taken) * 1e3


def main() -> None:
    """Fit three classifiers on the digits and print what they learned."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    print(f"Handwritten digits: {len(X_train)} images of 8 x 8 to learn from, {len(X_test)} to test on.\n")

    model = BernoulliNB(binarize=7.5)
    print("What BernoulliNB learned: how often each pixel is inked, for each digit (the average of its images).\n")
    model.fit(X_train, y_train)
    pictures = [picture(image) for image in np.exp(model.feature_log_prob_)]
    for row in (range(5), range(5, 10)):
        print("   ".join(f"{digit!s:^16}" for digit in row))
        print("\n".join("   ".join(lines) for lines in zip(*(pictures[digit] for digit in row), strict=True)), "\n")

    print(f"{'':16}{'accuracy':>10}{'fit':>12}{'predict':>12}")
    for candidate in (model, MultinomialNB(), GaussianNB(var_smoothing=0.1)):
        fit = milliseconds(partial(candidate.fit, X_train, y_train))
        predict = milliseconds(partial(candidate.predict, X_test))
        accuracy = candidate.score(X_test, y_test)
        print(f"{type(candidate).__name__:16}{accuracy:10.1%}{fit:9.1f} ms{predict:9.1f} ms")

    half = len(X_train) // 2
    first = BernoulliNB(binarize=7.5).fit(X_train[:half], y_train[:half])
    second = BernoulliNB(binarize=7.5).fit(X_train[half:], y_train[half:])
    merged = first + second
    print("\nEverything learned is a sum:")
    print(f"  two models of half the images each, added, are the model of all: {merged.tally_ == model.tally_}")
    merged.forget(X_train[half:], y_train[half:])
    print(f"  and with the second half forgotten again, the first: {merged.tally_ == first.tally_}")

    probabilities = model.predict_proba(X_test)
    unsure = int(np.argmin(probabilities.max(axis=1)))
    best = np.argsort(probabilities[unsure])[::-1][:3]
    guesses = ", ".join(f"{digit} with {probabilities[unsure, digit]:.0%}" for digit in best)
    print(f"\nThe image it is least sure of is a {y_test[unsure]}; it says {guesses}:\n")
    print("\n".join(picture(X_test[unsure] / 16)))


if __name__ == "__main__":
    main()
