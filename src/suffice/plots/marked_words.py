"""A text whose words are coloured by their evidence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import Array, axes_for, percent, plain
from suffice.plots.explained_row import clip_infinite, row_classes, row_nats

if TYPE_CHECKING:
    from suffice.plots import Axes

# Blue for, vermilion against: the two ends of a scale whose middle is white.
FOR, AGAINST = np.array([0x00, 0x72, 0xB2]) / 255, np.array([0xD5, 0x5E, 0x00]) / 255
MONOSPACED = 0.602  # width of a letter of DejaVu Sans Mono, in units of its size


def marked_text(
    explanation: Any,
    text: str | None = None,
    row: int = 0,
    label: Any = None,
    against: Any = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw a text whose words are coloured by their evidence for one class (blue) or another (red).

    The evidence of a word is divided among its occurrences in the text.

    Parameters
    ----------
    explanation : Explanation
        What ``model.explain(X)`` returns for rows with a column of text.
    text : str, default=None
        The text of the row; by default its words are listed, the strongest first.
    row : int, default=0
        Row of the explanation.
    label : object, default=None
        Class that evidence speaks for; by default the most probable one.
    against : object, default=None
        Class to compare with; by default the most probable other one.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import BayesClassifier
    >>> model = BayesClassifier(structure="naive", families={0: "text"})
    >>> model = model.fit(np.array([["win cash now"], ["home by now"]], object), ["spam", "ham"])
    >>> ax = marked_text(model.explain(np.array([["win now"]], object)), "win now")
    >>> [word.get_text() for word in ax.texts]
    ['win', 'now']
    """
    mine, other = row_classes(explanation, row, label, against)
    label, against = explanation.classes[mine], explanation.classes[other]
    nats = row_nats(explanation, row, mine, other)
    evidence: dict[str, float] = {}
    for feature, value, each in zip(explanation.features, explanation.values[row], nats.tolist(), strict=True):
        name, colon, word = feature.partition(": ")
        if colon and isinstance(value, (int, float)) and value > 0:
            evidence[word.lower()] = evidence.get(word.lower(), 0.0) + each
        elif not colon and text is None and value:
            evidence[name] = evidence.get(name, 0.0) + each
    if not evidence:
        raise ValueError(
            "the explanation has no words for this row; explain a text with a model that has a text column"
        )
    tokens, marks = _tokens(text, evidence)
    ax = axes_for(ax, (8, 1.2 + 0.3 * (1 + sum(map(len, tokens)) // 80)))
    spread = float(np.max(np.abs(clip_infinite(np.array(marks))), initial=0.0)) or 1.0
    share = percent(explanation.log_proba[row, mine])
    left = sum(part for _, _, part in explanation.log_odds(row, label, against)) - sum(marks)
    ax.set_title(
        f"{plain(label)} with {share}: words {sum(marks):+.2f} nats, prior and other features {left:+.2f}\n"
        f"blue: for {plain(label)}; red: for {plain(against)}; strongest {spread:.2f}",
        fontsize="small",
        loc="left",
    )
    _draw_words(ax, tokens, _colours(clip_infinite(np.array(marks)) / spread), np.array(marks))
    return ax


def _tokens(text: str | None, evidence: dict[str, float]) -> tuple[list[str], list[float]]:
    """Return the words in the order in which they are drawn, and the evidence of each."""
    if text is None:
        order = sorted(evidence, key=lambda word: -abs(evidence[word]))
        return order, [evidence[word] for word in order]
    tokens = text.split()
    if not tokens:
        raise ValueError("the text is empty; pass the text of the row, or None for a list of its words")
    parts = [[word for word in re.findall(r"\w+", token.lower()) if word in evidence] for token in tokens]
    found = [word for words in parts for word in words]
    return tokens, [sum(evidence[word] / found.count(word) for word in words) for words in parts]


def _draw_words(ax: Axes, tokens: list[str], colours: Array, nats: Array) -> None:
    """Draw words line by line; in a monospaced font the width of a line is known before it is drawn."""
    ax.axis("off")
    size = 10.0
    figure: Any = ax.figure.figure  # the outer figure, if this is a subfigure
    figure.draw_without_rendering()  # the width of the Axes is known only after the layout
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


def _colours(shares: Array) -> Array:
    """Return the colours of numbers from −1 (against) over 0 (white) to 1 (for)."""
    deep = np.abs(shares)[..., None]
    return np.asarray(1 - deep * (1 - np.where(shares[..., None] >= 0, FOR, AGAINST)))
