"""Plots of one explained row: a waterfall from the prior to the log-odds, and a text with coloured words."""

import re
from typing import Any

import numpy as np

from suffice.explain import CALIBRATION, PRIOR
from suffice.plots.canvas import BLUE, RED, Axes, axes_for, choose_two_classes, finish, percent, plain, write_beside
from suffice.printable import signed
from suffice.schema import Array

# Blue for, vermilion against: the two ends of a scale whose middle is white.
FOR, AGAINST = np.array([0x00, 0x72, 0xB2]) / 255, np.array([0xD5, 0x5E, 0x00]) / 255
LETTER_SIZE = 10.0
LETTER_WIDTH = 0.602  # of DejaVu Sans Mono, in units of its size


def waterfall(
    explanation: Any, row: int = 0, label: Any = None, against: Any = None, most: int = 12, *, ax: Axes | None = None
) -> Axes:
    """Draw how the evidence of each feature leads from the prior to the log-odds of one row, strongest first.

    log P(label | x) − log P(against | x) = log-odds of the prior + Σⱼ evidence of feature j, in nats.

    Parameters
    ----------
    explanation : Explanation
        What ``model.explain(X)`` returns.
    row : int, default=0
        Row of the explanation.
    label : object, default=None
        Class whose evidence is shown; by default the most probable one.
    against : object, default=None
        Class to compare with; by default the most probable other one.
    most : int, default=12
        Number of features with a bar of their own; the others share one.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
    >>> ax = waterfall(model.explain([[0, 1]]))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['prior', 'column 0 = 0', 'column 1 = 1', 'log-odds']
    """
    mine, other, _ = compare_classes(explanation, row, label, against)
    label, against = explanation.classes[mine], explanation.classes[other]
    if most < 1:
        raise ValueError(f"most is the number of features with a bar, at least 1, not {most!r}")
    parts = explanation.log_odds(row, label, against)
    shown, rest = parts[: most + 1], parts[most + 1 :]
    names = [_name_with_value(name, value) for name, value, _ in shown]
    nats = [each for _, _, each in shown]
    if rest:
        names.append(f"{len(rest)} more")
        nats.append(sum(each for _, _, each in rest))
    ax = axes_for(ax, (7.5, 1.4 + 0.3 * (len(nats) + 1)))
    drawn, places = clip_infinite(np.array(nats)), np.arange(len(nats))
    ends = np.cumsum(drawn)
    ax.barh(places, drawn, left=ends - drawn, color=[BLUE if each >= 0 else RED for each in nats], height=0.66)
    ax.vlines(ends, places, places + 1, color="0.5", linewidth=0.7)
    ax.barh(len(nats), ends[-1], color="0.35", height=0.66)
    for place, each in enumerate(nats):
        write_beside(ax, place, signed(each))
    write_beside(ax, len(nats), signed(sum(nats)), "bold")
    ax.axvline(0, color="k", linewidth=0.8)
    ax.set_yticks(range(len(nats) + 1), [*names, "log-odds"], fontsize="small")
    low, high = min(0.0, ends.min()), max(0.0, ends.max())
    margin = 0.04 * (high - low + 1e-9)
    ax.set(xlim=(low - margin, high + margin), ylim=(len(nats) + 0.6, -0.6))
    title = f"{plain(label)} with {percent(explanation.log_proba[row, mine])}, against {plain(against)}"
    sides = f"nats: right for {plain(label)}, left for {plain(against)}"
    return finish(ax, sides, title=title, grid="x", size="medium")


def _name_with_value(name: str, value: Any) -> str:
    if value is None and name in (PRIOR, CALIBRATION):
        return name.strip("()")
    if value is None:
        return f"{plain(name)} is missing"
    shown = f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)
    return f"{plain(name)} = {plain(shown, 18)}"


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

    The evidence of a word is divided among its occurrences in the text, and that of two adjacent words between them.

    Parameters
    ----------
    explanation : Explanation
        What ``model.explain(X)`` returns for rows with a column of text.
    text : str, default=None
        The text of the row; by default its words are listed, the strongest first.
    row : int, default=0
        Row of the explanation.
    label : object, default=None
        Class whose evidence is shown; by default the most probable one.
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
    mine, other, nats = compare_classes(explanation, row, label, against)
    label, against = explanation.classes[mine], explanation.classes[other]
    evidence: dict[str, float] = {}
    for feature, value, each in zip(explanation.features, explanation.values[row], nats.tolist(), strict=True):
        column, colon, word = feature.partition(": ")
        if colon and isinstance(value, (int, float)) and value > 0:
            evidence[word.lower()] = evidence.get(word.lower(), 0.0) + each
        elif not colon and text is None and value:
            evidence[column] = evidence.get(column, 0.0) + each
    if not evidence:
        raise ValueError(
            "the explanation has no words for this row; explain a text with a model that has a text column"
        )
    tokens, marks = _tokens(text, evidence)
    ax = axes_for(ax, (8, 1.2 + 0.3 * (1 + sum(map(len, tokens)) // 80)))
    shades = clip_infinite(np.array(marks))
    spread = float(np.abs(shades).max()) or 1.0
    left = sum(part for _, _, part in explanation.log_odds(row, label, against)) - sum(marks)
    title = (
        f"{plain(label)} with {percent(explanation.log_proba[row, mine])}: words {signed(sum(marks))} nats, "
        f"prior and other features {signed(left)}\n"
        f"blue: for {plain(label)}; red: for {plain(against)}; strongest {spread:.2f}"
    )
    finish(ax, title=title)
    _draw_words(ax, tokens, shades / spread)
    return ax


def _tokens(text: str | None, evidence: dict[str, float]) -> tuple[list[str], list[float]]:
    """Return the words in the order in which they are drawn, and the evidence of each."""
    if text is None:
        order = sorted(evidence, key=lambda word: -abs(evidence[word]))
        return order, [evidence[word] for word in order]
    tokens = text.split()
    if not tokens:
        raise ValueError("the text is empty; pass the text of the row, or None for a list of its words")
    words = [(place, word) for place, token in enumerate(tokens) for word in re.findall(r"\w+", token.lower())]
    words = [(place, word) for place, word in words if len(word) > 1 or word in evidence]
    marks = [0.0] * len(tokens)
    for phrase, nats in evidence.items():
        parts = phrase.split()
        runs = [words[start : start + len(parts)] for start in range(len(words) - len(parts) + 1)]
        found = [run for run in runs if [word for _, word in run] == parts]
        for place in (place for run in found for place, _ in run):
            marks[place] += nats / (len(found) * len(parts))
    return tokens, marks


def _draw_words(ax: Axes, tokens: list[str], shades: Array) -> None:
    """Draw words line by line, coloured by numbers from −1 (against) over 0 (white) to 1 (for).

    In a monospaced font the width of a line is known before it is drawn.
    """
    ax.axis("off")
    figure: Any = ax.figure.figure  # the outer figure, if this is a subfigure
    figure.draw_without_rendering()  # the width of the Axes is known only after the layout
    letters = max(int(ax.get_window_extent().width / figure.dpi * 72 / (LETTER_SIZE * LETTER_WIDTH)), 12)
    font: dict[str, Any] = {"family": "monospace", "fontsize": LETTER_SIZE, "va": "center", "parse_math": False}
    at, line = 0, 0
    for token, shade in zip(tokens, shades.tolist(), strict=True):
        word = token if len(token) <= letters else token[: letters - 1] + "…"
        if at and at + len(word) > letters:
            at, line = 0, line + 1
        colour = 1 - abs(shade) * (1 - (FOR if shade >= 0 else AGAINST))
        box = {"boxstyle": "square,pad=0.12", "facecolor": colour, "edgecolor": "none"} if shade else None
        ax.text(at / letters, -line, word, color="w" if colour.mean() < 0.55 else "k", bbox=box, **font)
        at += len(word) + 1
    ax.set(xlim=(0, 1), ylim=(-line - 0.8, 0.8))


def compare_classes(explanation: Any, row: int, label: Any, against: Any) -> tuple[int, int, Array]:
    """Return the places of two classes, and what each feature adds to their log-odds."""
    if not hasattr(explanation, "contributions"):
        raise TypeError(f"this plot needs an explanation, model.explain(X), not {type(explanation).__name__}")
    if not 0 <= row < len(explanation):
        raise ValueError(f"row={row!r} is not among the {len(explanation)} rows that are explained")
    mine, other = choose_two_classes(explanation.classes, label, against, explanation.log_proba[row])
    return mine, other, explanation.feature_log_odds(row, mine, other)


def clip_infinite(nats: Array) -> Array:
    """Return the evidence with infinite values replaced by values larger than the sum of all others."""
    end = 1.0 + 1.2 * float(np.abs(nats[np.isfinite(nats)]).sum())
    return np.nan_to_num(nats, nan=-end, posinf=end, neginf=-end)
