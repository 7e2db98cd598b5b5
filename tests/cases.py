"""Example data for what is registered: families, structures and engines.

The law tests walk the registries and look up their data here. `test_registries.py` fails if an entry has none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Averaged, BayesClassifier, Chain, Tree
from suffice.estimation import RULES
from suffice.families import FAMILIES
from suffice.structures import STRUCTURES

Column = Callable[[np.random.Generator, Any], Any]
WORDS = np.array(["sun", "sea", "snow", "rain", "wind", "ice"])


def _text(rng: np.random.Generator, y: Any) -> list[str]:
    return [" ".join(WORDS[(rng.integers(0, 4, 5) + k) % len(WORDS)]) for k in y]


# A column of each family, in which the classes y = 0, 1, 2 differ.
COLUMNS: dict[str, Column] = {
    "bernoulli": lambda rng, y: rng.random(len(y)) < 0.2 + 0.3 * y,
    "categorical": lambda rng, y: np.array(["red", "green", "blue"])[(y + (rng.random(len(y)) < 0.3)) % 3],
    "complement": lambda rng, y: rng.poisson(1.0 + 2 * y),
    "gaussian": lambda rng, y: rng.normal(size=len(y)) * (1 + y) + y,
    "multinomial": lambda rng, y: rng.poisson(1.0 + 2 * y),
    "poisson": lambda rng, y: rng.poisson(1.0 + 2 * y),
    "text": _text,
    "exponential": lambda rng, y: rng.exponential(1.0 + 2 * y),
    "gamma": lambda rng, y: rng.gamma(1.0 + y, 2.0),
    "log-normal": lambda rng, y: np.exp(rng.normal(size=len(y)) * (1 + 0.2 * y) + y),
    "kernel": lambda rng, y: np.where(rng.random(len(y)) < 0.5, y, rng.integers(0, 3, len(y))).astype(float),
    "von-mises": lambda rng, y: rng.vonmises(y, 2.0),
    "geometric": lambda rng, y: rng.geometric(0.6 - 0.2 * y) - 1,
    "negative-binomial": lambda rng, y: rng.negative_binomial(2.0, 0.6 - 0.2 * y),
    "binomial": lambda rng, y: rng.binomial(8, 0.2 + 0.3 * y),
}
# Families that need a setting, with the setting that the tests use.
SET_FAMILIES = {"binomial": "binomial(8)"}
ALL_FAMILIES = [SET_FAMILIES.get(name, name) for name in FAMILIES]
# Their sums are not counts, so they are equal up to rounding only.
WITH_MOMENTS = {"gaussian"}
WITH_MOMENTS |= {"exponential", "gamma", "log-normal", "von-mises"}

# Structures with settings other than the defaults, which the registry has.
VARIANTS: dict[str, tuple[Any, ...]] = {
    "chain": (Chain("learned"),),
    "tree": (Tree("per-class"),),
    "averaged": (Averaged(weights="equal", subsumption=None, frequency=3),),
}
ALL_STRUCTURES: list[Any] = [one for name in STRUCTURES for one in (name, *VARIANTS.get(name, ()))]

# The kinds of sources that each engine reads, by the names that the tests of engines have for them.
SOURCES: dict[str, tuple[str, ...]] = {
    "database_urls": ("url",),
    "duckdb_files": ("parquet", "many files", "csv"),
    "ibis_tables": ("duckdb", "sqlite", "postgres"),
    "duckdb_relations": ("relation",),
    "spark": ("spark",),
    "polars_lazy": ("lazy",),
    "dask_frames": ("dask",),
    "batches": ("batches", "reader"),
}

every_family = pytest.mark.parametrize("family", ALL_FAMILIES)
every_rule = pytest.mark.parametrize("rule", RULES)
# some families have no predictive distribution in closed form
every_family_and_rule = pytest.mark.parametrize(
    ("family", "rule"), [(name, rule) for name in ALL_FAMILIES for rule in FAMILIES[name].rules]
)
every_structure = pytest.mark.parametrize("structure", ALL_STRUCTURES, ids=str)


def column_of(family: str) -> Column:
    """Return what makes a column of a family, whose name may end in a setting."""
    return COLUMNS[family.partition("(")[0]]


def family_table(family: str, rows: int = 60, seed: int = 0, missing: float = 0.0) -> tuple[pd.DataFrame, Any]:
    """Return a table of two columns of a family, and labels of three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    y[:3] = range(3)
    table = pd.DataFrame({name: column_of(family)(rng, y) for name in ("one", "two")})
    return (table.astype(object).mask(rng.random(table.shape) < missing, None) if missing else table), y


def family_model(family: str, **settings: Any) -> BayesClassifier:
    """Return a naive model of the columns of `family_table`."""
    return BayesClassifier(families={"one": family, "two": family}, **{"structure": "naive", **settings})
