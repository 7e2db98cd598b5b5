"""One prediction, explained: from the prior to the log-odds, as an image, and as a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import BLUE, RED, Array, axes_for, class_places, percent, plain

if TYPE_CHECKING:
    from suffice.plots import Axes

# Blue for, vermilion against: the two ends of a scale whose middle is white.
FOR, AGAINST = np.array([0x00, 0x72, 0xB2]) / 255, np.array([0xD5, 0x5E, 0x00]) / 255
MONOSPACED = 0.602  # the width of a letter of DejaVu Sans Mono, in its size


def waterfall(
    explanation: Any,
    row: int = 0,
    label: Any = None,
    against: Any = None,
    most: int = 12,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw one prediction from the prior to the log-odds, the strongest evidence first.

    log P(label given x) − log P(other given x) = log-odds of the prior + Σⱼ what feature j says, in nats. What the
    ``most`` strongest leave over is one bar.
    """
    mine, other = _pair(explanation, row, label, against)
    label, against = explanation.classes[mine], explanation.classes[other]
    parts = explanation.log_odds(row, label, against)
    if most < 1:
        raise ValueError(f"most is how many features get a bar, at least 1, not {most!r}")
    shown, rest = parts[: most + 1], parts[most + 1 :]
    names = ["prior", *(_named(name, value) for name, value, _ in shown[1:])]
    nats = [each for _, _, each in shown]
    if rest:
        names.append(f"{len(rest)} more")
        nats.append(float(sum(each for _, _, each in rest)))
    ax = axes_for(ax, (7.5, 1.4 + 0.3 * (len(nats) + 1)))
    total = float(sum(nats))
    drawn = _finite(np.array(nats))
    ends = np.cumsum(drawn)
    starts = ends - drawn
    places = np.arange(len(nats))
    colours = [BLUE if each >= 0 else RED for each in nats]
    ax.barh(places, drawn, left=starts, color=colours, height=0.66)
    ax.vlines(ends, places, places + 1, color="0.5", linewidth=0.7)
    ax.barh(len(nats), ends[-1], color="0.35", height=0.66)
    # numbers stand in a column of their own: no bar can cover them
    for place, each in enumerate([*nats, total]):
        ax.annotate(
            f"{each:+.2f}",
            (1.01, place),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize="small",
            fontweight="bold" if place == len(nats) else "normal",
        )
    ax.axvline(0, color="k", linewidth=0.8)
    ax.set_yticks(range(len(nats) + 1), [*names, "log-odds"], fontsize="small")
    ax.set_ylim(len(nats) + 0.6, -0.6)
    low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
    ax.set_xlim(low - 0.04 * (high - low + 1e-9), high + 0.04 * (high - low + 1e-9))
    share = percent(explanation.log_proba[row, mine])
    ax.set_xlabel(f"nats: right for {plain(label)}, left for {plain(against)}")
    ax.set_title(f"{plain(label)} with {share}, against {plain(against)}", fontsize="medium", loc="left")
    ax.grid(axis="x", alpha=0.3)
    return ax


def heat_map(
    explanation: Any,
    shape: tuple[int, int] | None = None,
    row: int = 0,
    label: Any = None,
    against: Any = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw what each pixel says for a label and against another, as an image of nats; columns left out say nothing."""
    mine, other = _pair(explanation, row, label, against)
    label, against = explanation.classes[mine], explanation.classes[other]
    nats = _difference(explanation.contributions[row, mine], explanation.contributions[row, other])
    places = _places(explanation.features)
    shape = image_shape(max(places) + 1, shape)
    image = np.zeros(shape[0] * shape[1])
    image[places] = _finite(nats)
    ax = axes_for(ax, (5.2, 4.4))
    widest = float(np.abs(image).max()) or 1.0
    drawn = ax.imshow(image.reshape(shape), cmap="RdBu", vmin=-widest, vmax=widest)
    ax.figure.colorbar(drawn, ax=ax, shrink=0.8, label="nats")
    ax.set_xticks([])
    ax.set_yticks([])
    prior = float(explanation.prior[mine] - explanation.prior[other])
    ax.set_title(f"{plain(label)} (blue) against {plain(against)} (red)", fontsize="medium", loc="left")
    ax.set_xlabel(f"all pixels {nats.sum():+.2f} nats, prior {prior:+.2f}", fontsize="small")
    return ax


def marked_text(
    explanation: Any,
    text: str | None = None,
    row: int = 0,
    label: Any = None,
    against: Any = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw a text whose words are marked by what they say for a label (blue) and against it (red).

    ``text`` is the text as it was written; without it the words are listed, the strongest first. The nats of a
    word are divided among its places in the text.
    """
    mine, other = _pair(explanation, row, label, against)
    label, against = explanation.classes[mine], explanation.classes[other]
    nats = _difference(explanation.contributions[row, mine], explanation.contributions[row, other])
    said: dict[str, float] = {}
    for feature, value, each in zip(explanation.features, explanation.values[row], nats.tolist(), strict=True):
        name, colon, word = feature.partition(": ")
        if colon and isinstance(value, (int, float)) and value > 0:
            said[word.lower()] = said.get(word.lower(), 0.0) + each
        elif not colon and text is None and value:
            said[name] = said.get(name, 0.0) + each
    if not said:
        raise ValueError(
            "the explanation has no words for this row; explain a text, with a model that has a column of texts"
        )
    tokens, marks = _tokens(text, said)
    ax = axes_for(ax, (8, 1.2 + 0.3 * (1 + sum(map(len, tokens)) // 80)))
    spread = float(np.max(np.abs(_finite(np.array(marks))), initial=0.0)) or 1.0
    share = percent(explanation.log_proba[row, mine])
    left = sum(part for _, _, part in explanation.log_odds(row, label, against)) - sum(marks)
    ax.set_title(
        f"{plain(label)} with {share}: words {sum(marks):+.2f} nats, prior and all else {left:+.2f}\n"
        f"blue: for {plain(label)}; red: for {plain(against)}; deepest {spread:.2f}",
        fontsize="small",
        loc="left",
    )
    _written(ax, tokens, _coloured(_finite(np.array(marks)) / spread), np.array(marks))
    return ax


def _tokens(text: str | None, said: dict[str, float]) -> tuple[list[str], list[float]]:
    """Return the words in the order to be written, and the nats of each."""
    if text is None:
        order = sorted(said, key=lambda word: -abs(said[word]))
        return order, [said[word] for word in order]
    tokens = text.split()
    if not tokens:
        raise ValueError("the text is empty; pass the text as it was written, or None for a list of its words")
    parts = [[word for word in re.findall(r"\w+", token.lower()) if word in said] for token in tokens]
    met = [word for words in parts for word in words]
    return tokens, [sum(said[word] / met.count(word) for word in words) for words in parts]


def _written(ax: Axes, tokens: list[str], colours: Array, nats: Array) -> None:
    """Write words line by line; letters of one width say where a line is full before it is drawn."""
    ax.axis("off")
    size = 10.0
    figure: Any = ax.figure.figure  # of a figure within a figure, the outer one
    figure.draw_without_rendering()  # only then it is known how wide the Axes are
    letters = max(int(ax.get_window_extent().width / figure.dpi * 72 / (size * MONOSPACED)), 12)
    at, line = 0, 0
    for token, colour, each in zip(tokens, colours, nats.tolist(), strict=True):
        word = token if len(token) <= letters else token[: letters - 1] + "…"
        if at and at + len(word) > letters:
            at, line = 0, line + 1
        dark = colour.mean() < 0.55
        ax.text(
            at / letters,
            -line,
            word,
            family="monospace",
            fontsize=size,
            va="center",
            parse_math=False,
            color="w" if dark else "k",
            bbox={"boxstyle": "square,pad=0.12", "facecolor": colour, "edgecolor": "none"} if each else None,
        )
        at += len(word) + 1
    ax.set_xlim(0, 1)
    ax.set_ylim(-line - 0.8, 0.8)


def _pair(explanation: Any, row: int, label: Any, against: Any) -> tuple[int, int]:
    if not hasattr(explanation, "contributions"):
        raise TypeError(f"this is drawn of an explanation, model.explain(X), not of {type(explanation).__name__}")
    if not 0 <= row < len(explanation):
        raise ValueError(f"row={row!r} is not among the {len(explanation)} rows that are explained")
    return class_places(explanation.classes, label, against, explanation.log_proba[row])


def _difference(mine: Array, other: Array) -> Array:
    both = np.isneginf(mine) & np.isneginf(other)  # impossible on both sides says nothing
    return np.asarray(np.where(both, 0.0, mine - np.where(both, 0.0, other)))


def _finite(nats: Array) -> Array:
    """Return nats with what is without end drawn longer than all else."""
    finite = np.isfinite(nats)
    end = 1.0 + 1.2 * float(np.abs(nats[finite]).sum())
    return np.where(finite, nats, np.where(nats > 0, end, -end))


def _coloured(shares: Array) -> Array:
    """Return colours of numbers from −1 (against) over 0 (white) to 1 (for)."""
    deep = np.abs(shares)[..., None]
    return np.asarray(1 - deep * (1 - np.where(shares[..., None] >= 0, FOR, AGAINST)))


def _named(name: str, value: Any) -> str:
    shown = f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)
    return f"{plain(name)} = {plain(shown, 18)}"


def _places(features: list[str]) -> list[int]:
    """Return the pixel of each feature: the number of its column, or else its place."""
    numbers = [re.fullmatch(r"column (\d+)", feature) for feature in features]
    if all(numbers):
        return [int(each.group(1)) for each in numbers if each is not None]
    return list(range(len(features)))


def image_shape(count: int, shape: tuple[int, int] | None) -> tuple[int, int]:
    """Return the height and width of an image of so many pixels: a square, where nothing is said.

    >>> image_shape(64, None), image_shape(6, (2, 3))
    ((8, 8), (2, 3))
    """
    if shape is None:
        side = round(count**0.5)
        if side * side != count:
            raise ValueError(f"{count} columns are no square image; say shape=(height, width)")
        return side, side
    height, width = shape
    if height * width < count:
        raise ValueError(f"shape={shape!r} has {height * width} pixels, and there are {count} columns")
    return int(height), int(width)
