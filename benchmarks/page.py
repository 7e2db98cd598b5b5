"""The page of the benchmark: results as JSON, a chart for each group, and a text that says where suffice is slower."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cases import GROUPS

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
OURS, SLOWER, TEXT = "#0072b2", "#d55e00", "#808080"

INTRODUCTION = """# Benchmarks

<!-- written by benchmarks/run.py; do not edit -->

Each case times suffice and other libraries (peers) in turn, in one process, on the same data. The columns of the tables
are:

- **seconds**: the time of suffice in its fastest round.
- **ratio**: the time of the peer divided by that of suffice, so suffice is faster if the ratio is above 1. The figure
  is the median over the rounds, followed by the smallest and the largest ratio.
- **work**: the same ratio for processor time, summed over all threads.
- **memory**: how much the memory of the process grew during the first run, at most, not counting the data.
- **floor**: the time of suffice, divided by the time of work that no method can avoid, such as reading the data once.

Ratios can be compared between machines, but seconds cannot. `make bench` repeats the measurements, `make bench QUICK=1`
does so on small data in about two minutes, and `make bench-check` lists the ratios that fell by a third since the
stored baseline. Another page shows [how time and memory grow with the data](growth.md).
"""


def line(record: dict[str, Any]) -> str:
    """Return a record as a line of text."""
    said = f"  {record['case']:52} {record['seconds'] * 1e3:9.1f} ms"
    if record["ratio"] is not None:
        said += f"  {record['ratio']:7.2f} ({record['least']:.2f} to {record['greatest']:.2f}) x {record['peer']}"
    return said + "".join(f"; {ratio:.1f} x {name}" for name, ratio in record["floors"].items())


def write(results: dict[str, list[dict[str, Any]]], machine: dict[str, Any]) -> None:
    """Write the results, charts and page; groups that were not run keep their earlier results."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    stored = FOLDER / "results.json"
    known = json.loads(stored.read_text())["groups"] if stored.exists() else {}
    groups = {name: results.get(name) or known[name] for name in GROUPS if name in results or name in known}
    stored.write_text(json.dumps({"machine": machine, "groups": groups}, indent=1, ensure_ascii=False) + "\n")
    for name, records in groups.items():
        compared = [record for record in records if record["ratio"] is not None]
        if compared:
            draw_ratios(name, compared)
    (FOLDER / "index.md").write_text(_describe(groups, machine))


def _describe(groups: dict[str, list[dict[str, Any]]], machine: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in machine.items() if name not in ("cores", "sizes", "load"))
    sizes = "small data (`QUICK=1`)" if machine["sizes"] == "quick" else "the full data"
    lines = [
        INTRODUCTION,
        f"Measured with {sizes} on {machine['cores']} cores, with {versions}.",
        "",
        "## Where suffice is slower",
        "",
    ]
    if machine["load"] is not None and machine["load"] > 0.5:
        lines[1] += (
            f" Other programs used the machine before the run (a load of {machine['load']:g}), and probably during it. "
            "Times therefore vary, most of all those of calls with several threads; the ratio of work varies less. "
            "It favours suffice where a peer uses the threads of a BLAS library, because they keep a busy machine's "
            "cores busy while they wait for each other."
        )
    elif machine["load"] is not None:
        lines[1] += f" No other program used the machine when the run started (a load of {machine['load']:g})."
    lost = [record for records in groups.values() for record in records if (record["ratio"] or 1) < 1]
    lines += [f"{len(lost)} of {sum(map(len, groups.values()))} comparisons:", ""] if lost else ["Nowhere in this run."]
    for record in sorted(lost, key=lambda record: record["ratio"]):
        reason = f" {record['note']}" if record["note"] else ""
        work = f"{1 / record['work_ratio']:.1f} times the work" if record["work_ratio"] else "work not measured"
        times = f"{1 / record['ratio']:.1f} times the time of {record['peer']} ({work})"
        lines.append(f"- {record['case']}: {times}.{reason}")
    lines += _list_goals([record for records in groups.values() for record in records if "goal" in record])
    for name, records in groups.items():
        lines += ["", f"## {name.capitalize()}", "", GROUPS[name].about, ""]
        if any(record["ratio"] is not None for record in records):
            lines += [f"![ratios]({name}.svg)", ""]
        lines += [
            "| case | peer | seconds | ratio | work | memory, MB | its memory, MB | floor |",
            "|---|---|---:|---:|---:|---:|---:|---|",
        ]
        lines += map(_row, records)
    return "\n".join(lines) + "\n"


def _list_goals(records: list[dict[str, Any]]) -> list[str]:
    """Return a table of the cases that have a goal."""
    if not records:
        return []
    reached = sum(record["is_reached"] for record in records)
    lines = [
        "",
        "## Goals",
        "",
        f"{reached} of {len(records)} goals were reached. A goal is a least ratio of times, or a largest time or "
        "memory, with two cores.",
        "",
        "| case | peer | goal | reached | seconds | ratio | work | memory, MB |",
        "|---|---|---|---|---:|---:|---:|---:|",
    ]
    for record in records:
        ratios = [_short(record[key]) if record[key] else "" for key in ("seconds", "ratio", "work_ratio")]
        memory = f"{record['peak_mb']:.0f}" if record["peak_mb"] is not None else ""
        cells = [record["case"], record["peer"], record["goal"], "yes" if record["is_reached"] else "no"]
        lines.append(f"| {' | '.join([*cells, *ratios, memory])} |")
    return lines


def _row(record: dict[str, Any]) -> str:
    ratio = (
        f"{_short(record['ratio'])} ({_short(record['least'])} to {_short(record['greatest'])})"
        if record["ratio"]
        else ""
    )
    floors = "; ".join(f"{_short(value)} × {name}" for name, value in record["floors"].items())
    memory = [f"{record[key]:.0f}" if record[key] is not None else "" for key in ("peak_mb", "peer_peak_mb")]
    work = _short(record["work_ratio"]) if record["work_ratio"] is not None else ""
    cells = [record["case"], record["peer"], f"{record['seconds']:.4f}", ratio, work, *memory, floors]
    return f"| {' | '.join(cells)} |"


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.2g}" if number < 10 else f"{number:.1f}"


def new_figure(width: float, height: float, columns: int = 1) -> tuple[Any, Any]:
    """Return a figure that is readable on a light and on a dark page: no background, text and lines in grey."""
    import matplotlib

    matplotlib.use("svg")
    grey = dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "axes.titlecolor"), TEXT
    )
    matplotlib.rcParams.update(grey | {"svg.hashsalt": "suffice", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, columns, figsize=(width, height), layout="constrained", squeeze=False)
    for each in axes[0]:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(alpha=0.25, color=TEXT)
        each.set_axisbelow(True)
        each.set_facecolor("none")
    return figure, axes[0]


def save(figure: Any, name: str) -> None:
    """Write a figure as SVG."""
    from matplotlib import pyplot

    figure.savefig(FOLDER / f"{name}.svg", transparent=True, metadata={"Date": None})
    pyplot.close(figure)


def draw_ratios(name: str, records: list[dict[str, Any]]) -> None:
    """Draw the ratios of a group as bars from 1, with their spread."""
    figure, (axes,) = new_figure(8, 1.1 + 0.24 * len(records))
    for place, record in enumerate(reversed(records)):
        ratio, color = record["ratio"], OURS if record["ratio"] >= 1 else SLOWER
        axes.barh(place, ratio - 1, left=1, height=0.6, color=color)
        axes.plot([record["least"], record["greatest"]], [place, place], color=TEXT, linewidth=1.2)
    peers = {record["peer"] for record in records}
    labels = [record["case"] + ("" if len(peers) == 1 else f" | {record['peer']}") for record in reversed(records)]
    axes.set_yticks(range(len(records)), labels)
    axes.axvline(1, color=TEXT, linewidth=1)
    axes.set_xscale("log")
    ticks = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
    low, high = min(record["least"] for record in records), max(record["greatest"] for record in records)
    shown = [tick for tick in ticks if low / 2 <= tick <= high * 2]
    axes.set_xticks(shown, [f"{tick:g}" for tick in shown])
    axes.minorticks_off()
    peer = next(iter(peers)) if len(peers) == 1 else "the peer"
    axes.set_xlabel(f"time of {peer} / time of suffice")
    save(figure, name)
