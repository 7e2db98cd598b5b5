"""Draws the pictures of the tour: python docs/tour/pictures.py [folder].

Each function that draws is registered under the name of its file. Pictures have a white background, so that they can be
read on light and dark pages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from suffice import BayesClassifier, Bernoulli, Categorical, GaussianNB, MEstimate, plots

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
    """Register a function that draws the picture of this name."""

    def register(draw: Callable[[], Figure]) -> Callable[[], Figure]:
        PICTURES[name] = draw
        return draw

    return register


def new_axes(count: int = 1, size: tuple[float, float] = (7, 3.2), **settings: Any) -> tuple[Figure, Any]:
    """Return a figure and its Axes side by side."""
    return plt.subplots(1, count, figsize=size, layout="constrained", **settings)


# -- 003 -------------------------------------------------------------------------------------------


@picture("003_binomial")
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


@picture("003_multinomial")
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
    ax.clabel(lines, fmt="%.1f", fontsize=8)
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


@picture("003_grades")
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


@picture("003_urns")
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


@picture("003_m_estimate")
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


def main(folder: Path) -> None:
    """Write all pictures to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, draw in PICTURES.items():
            figure = draw()
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            plt.close(figure)


if __name__ == "__main__":
    mpl.use("Agg")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images")
