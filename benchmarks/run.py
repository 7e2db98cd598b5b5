"""Speed and memory beside other libraries, in one run: `make bench`, or in two minutes `make bench QUICK=1`.

    python benchmarks/run.py [--quick] [--only GROUP] [--check] [--baseline] [--page]

All calls of a case are timed in turn. A ratio is the time of a peer divided by ours in the same round; the page gives
the median over rounds, the least and the greatest. ``--check`` says which ratios of processor times, which hardly
depend on what else runs on the machine, fell by a third or more since the baseline, and fails if one did.
``--baseline`` makes this run the baseline.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import memory_cases
import more_cases
import page
import peer_cases
import suffice
import table_cases
from cases import GROUPS, Case
from timing import time_in_turn

BASELINE = Path(__file__).with_name("baseline.json")
# Rounds and seconds of a case: quick, and full.
QUICK, FULL = (5, 0.8), (7, 5.0)
# A ratio below this share of that of the baseline is reported.
LEAST_SHARE = 2 / 3

__all__ = ["memory_cases", "more_cases", "peer_cases", "table_cases"]  # importing them registers their cases


def measure(case: Case, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Return one record for each peer of a case."""
    calls = {"ours": case.ours, **{f"peer {name}": call for name, call in case.peers.items()}}
    found = time_in_turn({**calls, **{f"floor {name}": call for name, call in case.floor.items()}}, rounds, seconds)
    ours, records = found["ours"], []
    floors = {name: ours.best / found[f"floor {name}"].best for name in case.floor}
    for peer in case.peers or [""]:
        theirs = found[f"peer {peer}"] if peer else None
        ratios = [b / a for a, b in zip(ours.seconds, theirs.seconds, strict=False)] if theirs else []
        records.append(
            {
                "case": case.name,
                "peer": peer,
                "seconds": ours.best,
                "peer_seconds": theirs.best if theirs else None,
                "ratio": median(ratios) if ratios else None,
                "least": min(ratios, default=None),
                "greatest": max(ratios, default=None),
                "work_seconds": min(ours.processor),
                "peer_work_seconds": min(theirs.processor) if theirs else None,
                "work_ratio": min(theirs.processor) / max(min(ours.processor), 1e-3) if theirs else None,
                "peak_mb": ours.peak,
                "peer_peak_mb": theirs.peak if theirs else None,
                "floors": floors,
                "note": case.note,
            }
        )
    if not case.is_local:
        others = dict.fromkeys(("work_seconds", "peer_work_seconds", "work_ratio", "peak_mb", "peer_peak_mb"))
        records = [{**record, **others} for record in records]
    if case.goal is not None:
        goal = case.goal
        records[0] |= {"goal": goal.text, "is_reached": goal.is_reached(records[0])}
    return records


def read_load() -> float | None:
    """Return how many processes wanted to run during the last minute; None where the system does not tell."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def describe_machine(load: float | None) -> dict[str, Any]:
    """Return what the figures depend on; ``load`` is that before the run, because the run is a load itself."""
    names = ("scikit-learn", "numpy", "numba", "duckdb", "pyarrow")
    return {
        "suffice": suffice.__version__,
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": load,
        **{name: version(name) for name in names},
    }


def ratios_of(results: dict[str, list[dict[str, Any]]]) -> dict[str, float]:
    """Return the ratio of processor times, or else of times, of each case and peer."""
    return {
        f"{record['case']} | {record['peer']}": round(record["work_ratio"] or record["ratio"], 3)
        for records in results.values()
        for record in records
        if record["ratio"] is not None
    }


def find_fallen(ratios: dict[str, float], before: dict[str, float]) -> list[str]:
    """Return a line for each ratio that fell by a third or more."""
    return [
        f"{name}: {ratio:.2f}, was {before[name]:.2f}"
        for name, ratio in ratios.items()
        if name in before and ratio < LEAST_SHARE * before[name]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small data and few rounds")
    parser.add_argument("--page", action="store_true", help="write the page also of a quick run")
    parser.add_argument("--only", default="", help="only groups whose name is this word; slow groups need it")
    parser.add_argument("--check", action="store_true", help="fail if a ratio fell by a third")
    parser.add_argument("--baseline", action="store_true", help="make the ratios of this run the baseline")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    results: dict[str, list[dict[str, Any]]] = {}
    load = read_load()
    for group in GROUPS.values():
        if asked.only == group.name or (not asked.only and not group.is_slow):
            print(f"\n{group.name}: {group.about}", flush=True)
            results[group.name] = []
            for case in group.make(asked.quick):
                records = measure(case, *(QUICK if asked.quick else FULL))
                results[group.name] += records
                for record in records:
                    print(page.line(record), flush=True)
    if not results:
        sys.exit(f"there is no group {asked.only!r}; the groups are {', '.join(GROUPS)}")
    mode = "quick" if asked.quick else "full"
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    ratios = ratios_of(results)
    fallen = find_fallen(ratios, baseline.get(mode, {}))
    if asked.baseline:
        baseline[mode] = {**baseline.get(mode, {}), **ratios}
        BASELINE.write_text(json.dumps(baseline, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    if asked.page or not asked.quick:
        page.write(results, {"sizes": mode, **describe_machine(load)})
    if fallen:
        print("\nfell by a third or more since the baseline:\n  " + "\n  ".join(fallen))
        sys.exit(1 if asked.check else 0)
    print("\nno ratio fell by a third since the baseline")


if __name__ == "__main__":
    main()
