"""Draw the pictures of the README, from a model and from recorded measurements.

python website/charts.py docs
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from gallery import draw

BLUE, GREY, ORANGE = "#2f61ba", "#9aa3b2", "#b5501f"

# benchmarks/pool.py quality: means of ten folds over 34 tables (docs/design/pool.md)
QUALITY = {
    "suffice, default": (0.877, 0.276),
    "random forest, 300 trees": (0.871, 0.329),
    "histogram gradient boosting": (0.871, 0.327),
    "logistic regression": (0.837, 0.367),
}
# the cases of `make bench` that are drawn, with the ratios of its last full run
RESULTS = Path(__file__).parents[1] / "docs" / "benchmarks" / "results.json"
SPEED = {
    "Bernoulli, MNIST uint8": "Bernoulli, images, uint8",
    "Bernoulli, MNIST float64": "Bernoulli, images, float64",
    "Gaussian, MNIST float64": "Gaussian, images, float64",
    "Gaussian, MNIST uint8": "Gaussian, images, uint8",
    "Multinomial, MNIST uint8": "Multinomial, images, uint8",
    "Multinomial, text, sparse": "Multinomial, word counts, sparse",
    "Categorical, 200,000 × 50": "Categorical, levels, int64",
}


def draw_quality(path: Path) -> None:
    """Accuracy and log-loss beside other systems, on the same folds."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 2.1), sharey=True)
    names = list(QUALITY)[::-1]
    colours = [BLUE if "suffice" in name else GREY for name in names]
    for place, (ax, title) in enumerate(
        zip(axes, ("accuracy (higher is better)", "log-loss (lower is better)"), strict=True)
    ):
        values = [QUALITY[name][place] for name in names]
        bars = ax.barh(names, values, color=colours, height=0.65)
        ax.bar_label(bars, fmt="%.3f", padding=3, fontsize=9)
        ax.set_title(title, fontsize=10, loc="left")
        ax.set_xlim((0.7, 0.91) if place == 0 else (0, 0.43))
        tidy(ax)
    axes[0].set_xlabel("axis starts at 0.7", fontsize=8, color="#555555")
    save(figure, path)


def draw_speed(path: Path) -> None:
    """How many times as fast as scikit-learn, on a logarithmic axis."""
    measured = json.loads(RESULTS.read_text())["groups"]["families"]
    ratios = {line["case"]: line["ratio"] for line in measured if line["peer"] == "scikit-learn"}
    figure, ax = plt.subplots(figsize=(8, 3.2))
    names = list(SPEED)[::-1]
    for place, (label, colour) in enumerate([("fit", BLUE), ("predict", ORANGE)]):
        heights = [row + 0.2 - 0.4 * place for row in range(len(names))]
        values = [float(f"{ratios[f'{SPEED[name]}, {label}']:.2g}") for name in names]
        bars = ax.barh(heights, values, height=0.38, color=colour, label=label)
        ax.bar_label(bars, fmt="%g ×", padding=3, fontsize=9)
    ax.set_yticks(range(len(names)), names)
    ax.set_xscale("log")
    ax.set_xlim(1, 4000)
    ax.set_title("times as fast as scikit-learn (1 = the same)", fontsize=10, loc="left")
    ax.legend(loc="lower right", frameon=False, fontsize=9)
    tidy(ax)
    save(figure, path)


def tidy(ax: Any) -> None:
    """Leave out what carries no information."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=9)


def save(figure: Any, path: Path) -> None:
    """Write a figure with its letters as text."""
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": path.stem}):
        figure.savefig(path, bbox_inches="tight", facecolor="white", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    draw_quality(folder / "quality.svg")
    draw_speed(folder / "speed.svg")
    (folder / "nomogram.svg").write_text(draw("nomogram"))
