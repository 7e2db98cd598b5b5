"""Draws the pictures of the tour: python docs/tour/pictures.py [folder].

Each function that draws is registered under the name of its file. Pictures have a white background, so that they can be
read on light and dark pages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.model_selection import train_test_split

from suffice import (
    BayesClassifier,
    Bernoulli,
    BernoulliNB,
    Beta,
    Categorical,
    Gaussian,
    GaussianDiscriminant,
    GaussianNB,
    LogisticRegression,
    MEstimate,
    MixtureClassifier,
    NormalInverseGamma,
    cross_validate,
    plots,
)
from suffice.images import deskew

BLUE, ORANGE, GREEN, GREY = "#2F61BA", "#B5501F", "#009E73", "#666666"
STYLE = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "suffice",  # the same file at each run
}
PICTURES: dict[str, Callable[[], Figure]] = {}


def picture(name: str) -> Callable[[Callable[[], Figure]], Callable[[], Figure]]:
    """Register a function that draws the picture of this name: an .svg, or a .png if areas are filled with an image."""

    def register(draw: Callable[[], Figure]) -> Callable[[], Figure]:
        PICTURES[name] = draw
        return draw

    return register


def new_axes(count: int = 1, size: tuple[float, float] = (7, 3.2), **settings: Any) -> tuple[Figure, Any]:
    """Return a figure and its Axes side by side."""
    return plt.subplots(1, count, figsize=size, layout="constrained", **settings)


def binary_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return scikit-learn's digits as pixels that are on or off, and their labels."""
    images, digits = load_digits(return_X_y=True)
    return (images > 7.5).astype(int), digits


# -- 000 -------------------------------------------------------------------------------------------


@picture("000_means.svg")
def mean_images() -> Figure:
    """Draw the mean image of each digit."""
    return plots.means(BernoulliNB(estimate="mle").fit(*binary_digits())).figure


@picture("000_threshold.svg")
def thresholds() -> Figure:
    """Draw the accuracy of digits against the threshold between black and white."""
    images, digits = load_digits(return_X_y=True)
    figure, ax = new_axes()
    cuts = np.arange(16) - 0.0
    for rows, name, mark in ((images, "as they are", "o-"), (deskew(images), "deskewed", "s--")):
        found = [np.mean(cross_validate(BernoulliNB(binarize=cut), rows, digits)["test_score"]) for cut in cuts]
        ax.plot(cuts, found, mark, color=BLUE if mark == "o-" else ORANGE, markersize=4, label=name)
    ax.set(xlabel="grey levels above this count as 1", ylabel="accuracy (cross-validated)")
    ax.legend(title="images")
    return figure


@picture("000_densities.svg")
def pixel_densities() -> Figure:
    """Draw the Gaussian densities of one pixel."""
    images, digits = load_digits(return_X_y=True)
    some, pixel = np.isin(digits, (0, 1, 7)), 26  # in the fourth row, left of the middle
    model = GaussianNB(var_smoothing=0.1).fit(images[some], digits[some])
    figure, ax = new_axes(size=(7, 3.4))
    plots.densities(model, images[some], digits[some], column=pixel, ax=ax)
    ax.set(xlabel="grey level of pixel 26", title="")
    return figure


@picture("000_covariance.svg")
def covariance_ellipses() -> Figure:
    """Draw samples of a Gaussian, and its true and its estimated covariance."""
    A = np.random.default_rng(1).normal(size=(2, 2))
    truth = Gaussian([1.0, -1.0], A @ A.T)
    x = truth.sample(500, random_state=0)
    fitted = Gaussian.estimate(Gaussian.tally(x), rule="mle")
    circle = np.stack([np.cos(np.linspace(0, 2 * np.pi, 100)), np.sin(np.linspace(0, 2 * np.pi, 100))])
    figure, ax = new_axes(size=(7, 3.8))
    ax.plot(*x[:300].T, ".", color=GREY, markersize=3, label="300 of the 500 samples")
    for its, colour, dashes, name in ((truth, BLUE, "-", "true"), (fitted, ORANGE, "--", "estimated from 500 samples")):
        ring = its.mean[:, None] + 2 * np.linalg.cholesky(its.variance) @ circle
        ax.plot(*ring, dashes, color=colour, label=f"{name}, 2 standard deviations")
    ax.set(xlabel="x₁", ylabel="x₂", aspect="equal")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.02, 1))
    return figure


@picture("000_mixture.png")
def mixture_boundary() -> Figure:
    """Draw the boundaries of one Gaussian and of a mixture for each class."""
    moons, half = make_moons(400, noise=0.2, random_state=0)
    models = {
        "one Gaussian": GaussianDiscriminant(estimate="mle").fit(moons, half),
        "mixture of four": MixtureClassifier(components=4, estimate="mle").fit(moons, half),
    }
    return plots.boundary(models, moons, half)[0].figure


# -- 001 -------------------------------------------------------------------------------------------


@picture("001_boundaries.png")
def two_boundaries() -> Figure:
    """Draw the boundary of two Gaussian classes with and without dependence."""
    rng = np.random.default_rng(0)
    oblique = rng.multivariate_normal([0, 0], [[1.0, 0.9], [0.9, 1.0]], 200)
    round_ = rng.multivariate_normal([1.5, 0.0], [[0.6, 0.0], [0.0, 0.6]], 200)
    plane, group = np.concatenate([oblique, round_]), np.repeat([0, 1], 200)
    full = GaussianDiscriminant(estimate="mle").fit(plane, group)
    naive = GaussianDiscriminant(covariance="diagonal", estimate="mle").fit(plane, group)
    return plots.boundary({"dependent": full, "independent": naive}, plane, group)[0].figure


@picture("001_additive.svg")
def additive_terms() -> Figure:
    """Draw the terms of one flower's log-odds, and each term as a function of its feature."""
    X, species = load_iris(return_X_y=True)
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    flowers = pd.DataFrame(X[species > 0], columns=names)
    model = GaussianNB(var_smoothing=0).fit(flowers, np.where(species[species > 0] == 1, "versicolor", "virginica"))
    figure, axes = new_axes(2, (10, 3.6))
    plots.waterfall(model.explain(flowers[:1]), ax=axes[0])
    span = np.linspace(0, 1, 80)[:, None]
    low, high = flowers.to_numpy().min(axis=0), flowers.to_numpy().max(axis=0)
    grid = pd.DataFrame(low + span * (high - low), columns=names)
    parts = model.explain(grid).contributions
    for j, (name, dashes) in enumerate(zip(names, ("-", "--", "-.", ":"), strict=True)):
        colour = (BLUE, ORANGE, GREEN, GREY)[j]
        axes[1].plot(grid[name], parts[:, 0, j] - parts[:, 1, j], dashes, color=colour, label=name)
    axes[1].axhline(0, color=GREY, linewidth=0.6)
    axes[1].set(xlabel="cm", ylabel="term of the log-odds", title="versicolor against virginica")
    axes[1].legend(fontsize=8)
    return figure


@picture("001_covariances.svg")
def first_order_covariances() -> Figure:
    """Draw a tridiagonal covariance, and the covariance of a chain beside its inverse."""
    steps = np.random.default_rng(0).normal(size=(500, 6))
    rows = np.column_stack([steps[:, :1], steps[:, 1:] + 0.6 * steps[:, :-1]])
    y = np.zeros(500, int)
    band = GaussianDiscriminant(covariance="tridiagonal", estimate="mle").fit(rows, y).covariance_[0]
    chain = GaussianDiscriminant(covariance="chain", estimate="mle").fit(np.cumsum(steps, axis=1), y).covariance_[0]
    shown = {'Σ, "tridiagonal"': band, 'Σ, "chain"': chain, 'inverse of Σ, "chain"': np.linalg.inv(chain)}
    figure, axes = new_axes(3, (10, 3.2))
    for ax, (title, matrix) in zip(axes, shown.items(), strict=True):
        most = abs(matrix).max()
        ax.imshow(matrix, cmap="RdBu_r", vmin=-most, vmax=most)
        for i, j in np.ndindex(matrix.shape):
            dark = abs(matrix[i, j]) > 0.6 * most
            value = f"{matrix[i, j] + 0.0:.1f}".replace("-0.0", "0.0")
            ax.text(j, i, value, ha="center", va="center", fontsize=8, color="w" if dark else "k")
        ax.set(title=title, xticks=[], yticks=[])
    return figure


@picture("001_newton.svg")
def newton_parabolas() -> Figure:
    """Draw Newton's method for one parameter, and the convergence for two."""
    x, y = np.arange(1, 9) / 2, np.array([0, 0, 1, 0, 1, 0, 1, 1])
    centred = x - x.mean()
    theta = np.linspace(-0.6, 3.2, 200)

    def derivatives(slope: float) -> tuple[float, float, float]:
        g = 1 / (1 + np.exp(-slope * centred))
        value = (y * np.log(g) + (1 - y) * np.log(1 - g)).sum()
        return value, (centred * (y - g)).sum(), -(centred**2 * g * (1 - g)).sum()

    figure, axes = new_axes(2, (10, 3.6))
    axes[0].plot(theta, [derivatives(t)[0] for t in theta], color=BLUE, label="log-likelihood")
    at = 0.0
    for k, dashes in enumerate(("--", ":")):
        value, slope, curvature = derivatives(at)
        near = np.linspace(at - 1.4, at - 2 * slope / curvature + 0.6, 100)
        parabola = value + slope * (near - at) + curvature * (near - at) ** 2 / 2
        axes[0].plot(near, parabola, dashes, color=ORANGE, label=f"parabola at step {k}")
        axes[0].plot(at, value, "o", color=ORANGE, markersize=5)
        axes[0].annotate(str(k), (at, value), xytext=(-8, 5), textcoords="offset points")
        at -= slope / curvature
    axes[0].plot(at, derivatives(at)[0], "o", color=ORANGE, markersize=5)
    axes[0].annotate("2", (at, derivatives(at)[0]), xytext=(4, 6), textcoords="offset points")
    axes[0].set(xlabel="slope (boundary fixed at 2.25)", ylabel="log-likelihood", ylim=(-7, -3.9), xlim=(-0.6, 3.2))
    axes[0].legend(fontsize=8, loc="lower center")
    plots.newton(LogisticRegression(C=None, start="zero").fit(x[:, None], y), ax=axes[1])
    return figure


# -- 002 -------------------------------------------------------------------------------------------


@picture("002_bits.svg")
def digits_as_bits() -> Figure:
    """Draw sixteen digits."""
    bits, digits = binary_digits()
    figure, axes = plt.subplots(2, 8, figsize=(8, 2.4), layout="constrained")
    for ax, image, digit in zip(axes.ravel(), bits, digits, strict=False):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
        ax.set_title(str(digit), fontsize=9)
    return figure


@picture("002_confusion.svg")
def confusions() -> Figure:
    """Draw the confusions of held-out digits."""
    bits, digits = binary_digits()
    train, test, y_train, y_test = train_test_split(bits, digits, test_size=0.3, random_state=0, stratify=digits)
    return plots.confusion(y_test, BernoulliNB().fit(train, y_train), test).figure


@picture("002_coefficients.svg")
def softmax_coefficients() -> Figure:
    """Draw the coefficients of the softmax of naive Bayes as images."""
    bits, digits = binary_digits()
    coefficients = BernoulliNB().fit(bits, digits).as_linear().coefficients
    coefficients = coefficients - coefficients.mean(axis=0)  # only differences between classes matter
    most = abs(coefficients).max()
    figure, axes = new_axes(3, (8, 2.6))
    for ax, digit in zip(axes, (0, 3, 8), strict=True):
        drawn = ax.imshow(coefficients[digit].reshape(8, 8), cmap="RdBu_r", vmin=-most, vmax=most)
        ax.set(title=f"{digit}", xticks=[], yticks=[])
    figure.colorbar(drawn, ax=axes, label="β minus its mean over classes", shrink=0.9)
    return figure


# -- 003 -------------------------------------------------------------------------------------------


@picture("003_binomial.svg")
def binomial_likelihood() -> Figure:
    """Draw the log-likelihood of seven ones in ten trials."""
    tally = Bernoulli.tally([1] * 7 + [0] * 3)
    theta = np.linspace(0.01, 0.99, 400)
    figure, ax = new_axes()
    ones, rows = tally.total.item(), tally.n.item()
    ax.plot(theta, ones * np.log(theta) + (rows - ones) * np.log(1 - theta), color=BLUE)
    best = Bernoulli.estimate(tally, rule="mle").p
    ax.axvline(best, color=ORANGE, linestyle="--", label=f"maximum at {best:.1f} = 7/10")
    ax.set(xlabel="θ", ylabel="log-likelihood", ylim=(-25, -5))
    ax.legend()
    return figure


@picture("003_multinomial.svg")
def multinomial_likelihood() -> Figure:
    """Draw the log-likelihood of three probabilities, of which two are free."""
    tally = Categorical.tally([0, 0, 1, 2, 2, 2])
    best = Categorical.estimate(tally, rule="mle").p
    side = np.linspace(0.001, 0.997, 400)
    first, second = np.meshgrid(side, side)
    third = 1 - first - second
    inside = third > 0.001
    theta = np.stack([first, second, np.where(inside, third, 1)])
    log_likelihood = np.where(inside, np.tensordot(tally.total[0], np.log(theta), 1), np.nan)
    figure, ax = new_axes(size=(5.2, 4.2))
    levels = np.nanmax(log_likelihood) - np.array([5, 3, 2, 1, 0.3])
    lines = ax.contour(first, second, log_likelihood, levels, colors=BLUE, linestyles="solid", linewidths=1.2)
    ax.clabel(lines, levels[[0, 2, 3, 4]], fmt="%.1f", fontsize=8)  # the label of -9.1 would be on the edge
    ax.plot([0, 1, 0, 0], [0, 0, 1, 0], color=GREY, linewidth=1)
    ax.plot(*best[:2], "o", color=ORANGE, label="maximum at (2, 1, 3) / 6")
    ax.set(xlabel="θ₁", ylabel="θ₂", title="log-likelihood; θ₃ = 1 − θ₁ − θ₂", aspect="equal")
    ax.legend()
    return figure


def student_grades() -> tuple[np.ndarray, np.ndarray]:
    """Return the grades of the page, and whether the students passed."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(26, 2, 120), rng.normal(22, 2, 40)])[:, None]
    return X, np.array(["passed"] * 120 + ["failed"] * 40)


@picture("003_grades.svg")
def grades() -> Figure:
    """Draw the densities of both classes without and with their priors."""
    X, y = student_grades()
    model = GaussianNB(class_prior="uniform").fit(X, y)
    figure, axes = new_axes(2, (9, 3.4), sharex=True)
    grid = np.linspace(15, 32, 341)[:, None]
    for ax, prior, title in ((axes[0], "uniform", "maximum likelihood"), (axes[1], "empirical", "MAP")):
        model.set_params(class_prior=prior)
        joint = np.exp(model.predict_joint_log_proba(grid)) * (2 if prior == "uniform" else 1)
        for k, (label, colour, dashes) in enumerate((("failed", BLUE, "-"), ("passed", ORANGE, "--"))):
            ax.plot(grid[:, 0], joint[:, k], dashes, color=colour, label=label)
        cut = grid[np.flatnonzero(np.diff(joint.argmax(axis=1)))[0], 0]
        ax.axvline(cut, color=GREY, linestyle=":", label=f"boundary {cut:.1f}")
        ax.set(xlabel="average grade", title=title, ylim=(0, 1.35 * joint.max()))
        ax.legend(fontsize=8, loc="upper left")
    axes[0].set_ylabel("p(x | class)")
    axes[1].set_ylabel("P(class) · p(x | class)")
    return figure


def sixteen_rows() -> tuple[pd.DataFrame, pd.Series]:
    """Return the table of the page."""
    listing = """med red circ pos,sm blue tri pos,med red tri pos,lg grn circ pos,lg red circ pos,sm blue circ pos,
    sm red sqr pos,med red circ pos,lg red sqr neg,sm blue tri neg,med grn circ neg,med grn tri neg,lg red circ neg,
    sm blue sqr neg,sm blue tri neg,lg grn sqr neg"""
    table = pd.DataFrame([row.split() for row in listing.split(",")], columns=["size", "colour", "shape", "label"])
    return table[["size", "colour", "shape"]], table["label"]


@picture("003_urns.svg")
def urns() -> Figure:
    """Draw P(value | class) of the three columns."""
    X, y = sixteen_rows()
    model = BayesClassifier(structure="naive", estimate="mle").fit(X, y)
    figure, axes = new_axes(3, (9, 3), sharey=True)
    for ax, name in zip(axes, X, strict=True):
        plots.densities(model, column=name, ax=ax)
        ax.set_title(name, fontsize=10, loc="left")
    for ax in axes[1:]:
        ax.set_ylabel("")
    for ax in axes:
        ax.set(xlabel="", ylim=(0, 0.8))
        if ax.get_legend():
            ax.get_legend().remove()
    axes[-1].legend(fontsize=8, title="class")
    return figure


@picture("003_m_estimate.svg")
def m_estimates() -> Figure:
    """Draw the m-estimates of three sizes as m grows."""
    tally = Categorical.tally([0] * 4 + [2] * 6)
    sizes = np.geomspace(0.05, 500, 120)
    found = np.array([Categorical.estimate(tally, MEstimate(m)).p for m in sizes])
    figure, ax = new_axes()
    for k, (name, colour, dashes) in enumerate(
        (("small", BLUE, "-"), ("medium", ORANGE, "--"), ("large", GREEN, "-."))
    ):
        ax.semilogx(sizes, found[:, k], dashes, color=colour, label=f"{name}: {found[:, k][0]:.2f} … {1 / 3:.2f}")
    one = Categorical.estimate(tally, MEstimate(1)).p
    ax.plot([1, 1, 1], one, "o", color=GREY, markersize=5)
    for share in one:
        ax.annotate(f"{share:.3f}", (1, share), xytext=(-4, 7), ha="right", textcoords="offset points", fontsize=9)
    ax.axhline(1 / 3, color=GREY, linewidth=0.8, linestyle=":")
    ax.set(xlabel="m", ylabel="P(size | positive)", ylim=(-0.03, 0.7))
    ax.legend(loc="upper right")
    return figure


# -- 004 -------------------------------------------------------------------------------------------


@picture("004_beta.svg")
def beta_posterior() -> Figure:
    """Draw a Beta prior, the likelihood and the posterior."""
    flips, prior = Bernoulli.tally([1, 1, 1, 0, 0]), Beta(2, 2)
    figure, ax = new_axes(size=(7, 3.6))
    plots.posterior(Bernoulli, flips, prior, ax=ax)
    for rule, dashes in (("mle", ":"), ("map", "--"), ("mean", "-.")):
        p = Bernoulli.estimate(flips, prior, rule).p
        ax.axvline(p, color=GREY, linestyle=dashes, linewidth=1, label=f"{rule} {p:.3f}")
    ax.legend(fontsize=8, loc="upper left")
    ax.set_title("3 heads, 2 tails", fontsize=10, loc="left")
    return figure


@picture("004_forgotten.svg")
def forgotten_prior() -> Figure:
    """Draw posteriors of growing data sets under two priors."""
    tallies = {f"{n} flips": Bernoulli.tally([1] * (3 * n // 5) + [0] * (2 * n // 5)) for n in (5, 50, 500)}
    figure, axes = new_axes(2, (9, 3.2), sharey=True)
    for ax, prior in zip(axes, (Beta(2, 2), Beta(2, 18)), strict=True):
        plots.posterior(Bernoulli, tallies, prior, ax=ax)
        for shade in list(ax.collections):  # the intervals would overlap
            shade.remove()
        ax.set(xlim=(0, 1), ylabel="density")
        ax.set_title(f"prior Beta({prior.a}, {prior.b})", fontsize=10, loc="left")
        ax.legend(fontsize=7, loc="upper left")
    return figure


@picture("004_gaussians.svg")
def gaussian_algebra() -> Figure:
    """Draw two Gaussians, their sum and an affine map."""
    x, y = Gaussian(1, 4), Gaussian(-2, 9)
    grid = np.linspace(-15, 25, 300)
    figure, ax = new_axes()
    shown = {"X ~ N(1, 4)": x, "Y ~ N(−2, 9)": y, "X + Y ~ N(−1, 13)": x + y, "3·X + 5 ~ N(8, 36)": 3 * x + 5}
    for (name, each), colour, dashes in zip(
        shown.items(), (BLUE, ORANGE, GREEN, GREY), ("-", "--", "-.", ":"), strict=True
    ):
        ax.plot(grid, np.exp(each.log_density(grid)), dashes, color=colour, label=name)
    ax.set(xlabel="value", ylabel="density", ylim=(0, None))
    ax.legend()
    return figure


@picture("004_variance.svg")
def biased_variance() -> Figure:
    """Draw the average of both estimates of the variance against the size of the sample."""
    sizes = np.arange(2, 21)
    draws = np.random.default_rng(0).normal(70, 10, (1000, sizes[-1]))
    means = {0: [], 1: []}
    for n in sizes:
        tallies = [Gaussian.tally(row) for row in draws[:, :n]]
        for ddof, found in means.items():
            found.append(np.mean([Gaussian.estimate(tally, None, "mle", ddof=ddof).variance for tally in tallies]))
    figure, ax = new_axes()
    ax.axhline(100, color=GREY, linewidth=1, label="true variance")
    ax.plot(sizes, 100 * (sizes - 1) / sizes, ":", color=ORANGE, label="100 · (N − 1) / N")
    ax.plot(sizes, means[0], "o", color=ORANGE, markersize=4, label="divided by N (ddof=0)")
    ax.plot(sizes, means[1], "s", color=BLUE, markersize=4, label="divided by N − 1 (ddof=1)")
    ax.set(xlabel="rows in the sample, N", ylabel="average of 1,000 estimates", ylim=(40, 115))
    ax.set_xticks(sizes[::2])
    ax.legend(fontsize=9, loc="lower right")
    return figure


@picture("004_mean.svg")
def posterior_of_a_mean() -> Figure:
    """Draw the prior and the posterior of a mean with known variance."""
    scores = np.array([85.0, 95.0, 100.0, 12.0, 89.0])
    fixed = NormalInverseGamma(70, 4, shape=1e9, scale=4e11)
    posterior = Gaussian.posterior(Gaussian.tally(scores), fixed).mean
    grid = np.linspace(30, 115, 300)
    figure, ax = new_axes()
    ax.plot(grid, np.exp(Gaussian(70, 100).log_density(grid)), "--", color=GREY, label="prior N(70, 10²)")
    ax.plot(
        grid, np.exp(Gaussian(scores.mean(), 80).log_density(grid)), ":", color=ORANGE, label="data N(76.2, 400 / 5)"
    )
    ax.plot(grid, posterior.pdf(grid), color=BLUE, label=f"posterior N({posterior.mean():.1f}, {posterior.std():.1f}²)")
    ax.set(xlabel="mean of the scores", ylabel="density", ylim=(0, None))
    ax.legend(fontsize=9, loc="upper left")
    return figure


@picture("004_evidence.svg")
def five_or_six() -> Figure:
    """Draw an image of a five, and the evidence of its pixels for a five against a six."""
    pixels, digits = binary_digits()
    two = (digits == 5) | (digits == 6)
    model = BernoulliNB().fit(pixels[two], digits[two])
    figure, axes = new_axes(2, (7, 3))
    axes[0].imshow(pixels[two][0].reshape(8, 8), cmap="gray_r")
    axes[0].set(title="the image", xticks=[], yticks=[])
    plots.heat_map(model.explain(pixels[two][:1]), label=5, against=6, ax=axes[1])
    return figure


@picture("004_smoothing.svg")
def smoothing() -> Figure:
    """Draw the log-loss and the accuracy of held-out digits against the pseudo-count."""
    pixels, digits = binary_digits()
    train, test, y_train, y_test = train_test_split(pixels, digits, train_size=200, random_state=0, stratify=digits)
    model = BernoulliNB().fit(train, y_train)
    sizes, losses, accuracies = np.geomspace(1e-6, 50, 40), [], []
    for a in sizes:
        log_proba = model.set_params(alpha=a).predict_log_proba(test)
        losses.append(-log_proba[np.arange(len(test)), y_test].mean())
        accuracies.append(model.score(test, y_test))
    figure, axes = new_axes(2, (9, 3))
    axes[0].semilogx(sizes, losses, color=BLUE)
    axes[1].semilogx(sizes, accuracies, color=BLUE)
    axes[0].set(xlabel="pseudo-count a", ylabel="log-loss of held-out rows")
    axes[1].set(xlabel="pseudo-count a", ylabel="accuracy on held-out rows")
    return figure


def _round_paths(path: Path) -> None:
    """Round the coordinates of an SVG file to 0.01 points, which halves its size."""
    text = path.read_text(encoding="utf-8")

    def shorten(match: re.Match[str]) -> str:
        return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number.group()):.2f}", match.group())

    path.write_text(re.sub(r' d="[^"]*"', shorten, text), encoding="utf-8")


def main(folder: Path) -> None:
    """Write all pictures to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, draw in PICTURES.items():
            figure = draw()
            if name.endswith(".svg"):
                figure.savefig(folder / name, metadata={"Date": None})
                _round_paths(folder / name)
            else:
                figure.savefig(folder / name, dpi=110)
                with Image.open(folder / name) as image:
                    fewer = image.convert("RGB").quantize(128)
                fewer.save(folder / name, optimize=True)
            plt.close(figure)


if __name__ == "__main__":
    mpl.use("Agg")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images")
