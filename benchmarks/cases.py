"""Cases: what is compared. A case is a name, our call, the calls of peers, and a floor that no method can go below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from timing import Call


@dataclass(frozen=True)
class Goal:
    """What is aimed at, in words, and whether the record of a measurement reaches it."""

    text: str
    is_reached: Callable[[Mapping[str, Any]], bool]


def at_least(ratio: float) -> Goal:
    """Return the goal of a least ratio of times."""
    text = f"ratio {ratio:g}" if ratio >= 1 else f"1 / {1 / ratio:g}"
    return Goal(text, lambda record: record["ratio"] >= ratio)


def at_most(seconds: float) -> Goal:
    """Return the goal of a largest time."""
    return Goal(f"{seconds:g} s", lambda record: record["seconds"] <= seconds)


def beyond_peer(seconds: float) -> Goal:
    """Return the goal of a largest time beyond that of the peer."""
    text = f"{seconds * 1e3:g} ms more than the peer"
    return Goal(text, lambda record: record["seconds"] - record["peer_seconds"] <= seconds)


def in_memory(mb: float) -> Goal:
    """Return the goal of a largest memory."""
    return Goal(f"{mb:g} MB", lambda record: record["peak_mb"] is None or record["peak_mb"] <= mb)


@dataclass(frozen=True)
class Case:
    """Calls that do the same work.

    ``floor`` are calls that do part of the work that every method has to do, by name. ``note`` says why a peer is
    faster, where one is. ``is_local`` is False if other processes do the work, of which only the time is measured.
    ``goal`` is for the full data.
    """

    name: str
    ours: Call
    peers: Mapping[str, Call] = field(default_factory=dict)
    floor: Mapping[str, Call] = field(default_factory=dict)
    note: str = ""
    is_local: bool = True
    goal: Goal | None = None


# Yields the cases of a group one at a time, so that their data are not in memory together; small ones if True.
Group = Callable[[bool], Iterator[Case]]


@dataclass(frozen=True)
class GroupOfCases:
    """A group of cases, with the sentence that the page says about it."""

    name: str
    about: str
    make: Group
    is_slow: bool = False


GROUPS: dict[str, GroupOfCases] = {}


def group(name: str, about: str, is_slow: bool = False) -> Callable[[Group], Group]:
    """Register a function that yields cases; slow groups run only if they are asked for."""

    def register(make: Group) -> Group:
        GROUPS[name] = GroupOfCases(name, about, make, is_slow)
        return make

    return register


def installed(calls: Mapping[str, Call], **modules: str) -> dict[str, Call]:
    """Return the calls of peers that are installed; ``modules`` maps a peer to the module it needs."""
    return {peer: call for peer, call in calls.items() if find_spec(modules.get(peer, peer.split(",")[0])) is not None}
