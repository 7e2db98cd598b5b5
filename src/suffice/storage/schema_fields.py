"""Checks of what a model file says about its columns: levels, words, cells, trees, blocks, classes and plans."""

from typing import Any

import numpy as np

from suffice.decision.pooling import Pool
from suffice.families import FAMILIES
from suffice.schema import Columns, Features, Partition, Plan, Schema, Text, TreeInput, Words
from suffice.schema.codings import Coding, Combinations, Cuts, Levels
from suffice.storage.field_checks import (
    anything,
    choice,
    class_labels,
    column_name,
    doubles,
    either,
    flag,
    instance,
    integers,
    label,
    number,
    optional,
    require,
    sequence,
    text,
    unique_labels,
    whole,
)
from suffice.storage.stored_kind import StoredKind

MOST_LEVELS = 1 << 40  # the sum of all levels must not overflow
LONGEST_TERM = 1000


def _check_levels(levels: Levels) -> None:
    unique_labels(levels.labels)


def _check_combinations(levels: Combinations) -> None:
    require(len({len(each) for each in levels.labels}) <= 1, "combines different numbers of columns")
    require(len(set(levels.labels)) == levels.size, "holds a combination twice")


def _check_text(settings: Text) -> None:
    lengths = list(settings.ngram_range)
    require(len(lengths) == 2 and lengths == sorted(lengths), "counts terms of no length")


def _check_cuts(cuts: Cuts) -> None:
    edges = np.array(cuts.edges, np.float64)
    require((edges[:-1] <= edges[1:]).all(), "has edges in the wrong order")


def _check_partition(tree: Partition) -> None:
    """Check that each node but the root has one parent, which comes before it, so that every row ends in a leaf."""
    nodes = len(tree.column)
    require(nodes % 2 == 1 and len(tree.threshold) == len(tree.child) == nodes, "has nodes without a column or a child")
    require(((tree.column >= -1) & (tree.column < len(tree.inputs))).all(), "splits on a column that it does not have")
    inner = np.flatnonzero(tree.column >= 0)
    first = tree.child[inner].astype(np.int64)
    require((first > inner).all() and (first + 1 < nodes).all(), "has a child before its parent or after the last node")
    children = np.sort(np.concatenate([first, first + 1]))
    require(np.array_equal(children, np.arange(1, nodes)), "has a node with two parents, or with none")


def _check_columns(columns: Columns) -> None:
    count, sizes, codings = columns.count, columns.sizes, columns.codings
    require(columns.family in FAMILIES, f"has the family {columns.family!r}, which is not known")
    require(columns.pairs or not columns.fourths, "has fourth moments without pairs")
    if columns.names is not None:
        require(len(columns.names) == count, "does not name each column")
        require(len(set(columns.names)) == count, "names a column twice")
    if sizes is not None:
        require(len(sizes) == count and (sizes >= 0).all(), "does not have a number of levels for each column")
        require((sizes <= MOST_LEVELS).all(), f"has a column of more than {MOST_LEVELS:,} levels")
    if codings is not None:
        require(columns.names is not None and len(codings) == count > 0, "does not have a coding for each column")
        require(sizes is not None and [each.size for each in codings] == sizes.tolist(), "has other sizes than codings")
        trees = [each for each in codings if isinstance(each, Partition)]
        require(len(trees) in (0, count), "mixes trees and levels")
        require(all(each.inputs == trees[0].inputs for each in trees), "has trees of different columns")
        require(count == 1 or not any(isinstance(each, Words) for each in codings), "has two texts")
        require(not any(isinstance(each, Combinations) for each in codings[:-1]), "has combinations of no columns")


def _check_schema(schema: Schema) -> None:
    if schema.features is None:
        require(len(schema.blocks) == 1 and schema.blocks[0].codings is None, "has blocks without names")
        return
    known = set(schema.features.names)
    for block in schema.blocks:
        read = block.read_names[:-1] if _has_combinations(block) else block.read_names
        require(block.names is not None and known.issuperset(read), "has a block of columns that are not in the table")


def _has_combinations(block: Columns) -> bool:
    return bool(block.codings) and isinstance(block.codings[-1], Combinations)  # type: ignore[index]


def _check_features(features: Features) -> None:
    require(len(set(features.names)) == len(features.names), "names a column twice")
    pairs = features.left_out
    require(all(type(pair) is tuple and len(pair) == 2 for pair in pairs), "leaves out columns without a reason")
    for name, reason in pairs:
        column_name(name)
        text(reason)


def _check_plan(plan: Plan) -> None:
    require(len(plan.blocks) > 0, "has no columns")


_LEVELS: dict[str, Any] = {"labels": sequence(label), "binary": flag, "keeps_share": flag}
_TUPLES = sequence(sequence(either(label, choice(None))))

SCHEMA_KINDS = (
    StoredKind(Levels, _LEVELS, _check_levels),
    StoredKind(Words, {**_LEVELS, "labels": sequence(text), "text": instance(Text)}, _check_levels),
    StoredKind(Combinations, {**_LEVELS, "labels": _TUPLES}, _check_combinations),
    StoredKind(
        Cuts,
        {"edges": sequence(number(infinite=True)), "by": choice("cells", "quantiles", "mdl"), "whole": flag},
        _check_cuts,
    ),
    StoredKind(
        Text,
        {
            "analyzer": choice("word", "char", "char_wb"),
            "ngram_range": sequence(whole(1, LONGEST_TERM)),
            "stop_words": either(optional(text), sequence(text)),
            "strip_accents": choice("ascii", "unicode", None),
            **dict.fromkeys(("tokenizer", "preprocessor"), choice(None)),
            **dict.fromkeys(("lowercase", "binary", "complement"), flag),
            "token_pattern": optional(text),
        },
        _check_text,
    ),
    StoredKind(TreeInput, {"name": column_name, "levels": optional(sequence(label))}),
    StoredKind(
        Partition,
        {
            "inputs": sequence(instance(TreeInput)),
            "column": integers,
            "threshold": doubles(1, infinite=True),
            "child": integers,
        },
        _check_partition,
    ),
    StoredKind(
        Columns,
        {
            "family": text,
            "count": whole(0, MOST_LEVELS),
            "names": optional(sequence(column_name)),
            "threshold": optional(number()),
            "sizes": optional(integers),
            "codings": optional(sequence(instance(Coding))),
            "pairs": flag,
            "fourths": flag,
        },
        _check_columns,
    ),
    StoredKind(
        Schema,
        {
            "classes": class_labels,
            "blocks": sequence(instance(Columns)),
            "features": optional(instance(Features)),
        },
        _check_schema,
    ),
    StoredKind(Features, {"names": sequence(column_name), "left_out": sequence(anything)}, _check_features),
    StoredKind(
        Plan,
        {
            "blocks": sequence(instance(Columns)),
            "features": optional(instance(Features)),
            "pool": optional(instance(Pool)),
            "is_marked": flag,
        },
        _check_plan,
    ),
)
