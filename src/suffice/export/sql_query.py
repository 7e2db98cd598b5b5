"""SQL: a model as one SELECT that scores the rows of a table where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from sqlglot import exp

from suffice.data import share_name
from suffice.decision.calibration import Calibration
from suffice.export.dialects import ExportError, checked_text, dialect_of
from suffice.export.sql_cells import Reader, names_of
from suffice.export.sql_columns import INDEPENDENT, ByClass, Written
from suffice.export.sql_covariance import subspace, together
from suffice.export.sql_draft import Draft
from suffice.export.sql_posterior import Decided, calibrated, decided
from suffice.export.sql_terms import Term, as_double, choose, double, is_null, number, total, whole
from suffice.export.sql_tree import tree
from suffice.families.family import Parameters
from suffice.families.low_rank_gaussian import LowRankGaussian
from suffice.families.multivariate_gaussian import MultivariateGaussian
from suffice.mixtures import MixtureParameters
from suffice.model import Model
from suffice.schema import Columns, Words
from suffice.structures.averaged import AveragedParameters
from suffice.structures.joint import JointParameters
from suffice.structures.tree import TreeParameters

# Numbers that a statement may hold: a database takes longer to read more of them than to score with them.
MOST_NUMBERS = 100_000

WRITTEN: tuple[tuple[type, Written], ...] = (
    (TreeParameters, tree),
    (MultivariateGaussian, together),
    (LowRankGaussian, subspace),
    *INDEPENDENT,
)
ELSE = "or predict in Python (predict, predict_table), which every model can"


def written(
    model: Model,
    classes: list[Any],
    dialect: str,
    table: str | Sequence[str],
    calibration: Calibration | None,
    present: Sequence[str] | None = None,
) -> str:
    """Return the statement: log p(x, class), less the greatest, e to the power of it, over the sum of those.

    >>> import sqlite3
    >>> from suffice import BernoulliNB
    >>> model = BernoulliNB().fit([[0], [0], [1], [1]], ["no", "no", "yes", "yes"])
    >>> base = sqlite3.connect(":memory:")
    >>> _ = base.execute("CREATE TABLE votes AS SELECT 1 AS x0, 'kept' AS note UNION ALL SELECT NULL, 'empty'")
    >>> for row in base.execute(model.to_sql("sqlite", table="votes")):
    ...     print(*row[:3], *(round(p, 6) for p in row[3:]))
    1 kept yes 0.25 0.75
    None empty no 0.5 0.5
    """
    spoken = dialect_of(dialect)
    for columns, parameters in zip(model.columns, model.parameters, strict=True):
        _check(columns, parameters)
    draft = Draft(spoken, [name for columns in model.columns for name in names_of(columns)], table, present)
    terms: ByClass = [[] for _ in classes]
    for columns, parameters in zip(model.columns, model.parameters, strict=True):
        for mine, its in zip(terms, _terms(draft, columns, parameters), strict=True):
            mine += its
    prior, stage = model.class_log_prior, len(draft.stages)
    scores = [
        draft.put(stage, f"s{k}", as_double(exp.null()) if log == -np.inf else total([double(log), *mine]))
        for k, (log, mine) in enumerate(zip(prior.tolist(), terms, strict=True))
    ]
    found = decided(draft, scores, prior)
    if calibration is not None:
        found = calibrated(draft, calibration, found, prior)
    said = {"prediction": _label(draft, found, classes, int(np.argmax(prior)))}
    said |= {share_name(label): term for label, term in zip(classes, found.shares(draft), strict=True)}
    return draft.select({name: _if_known(draft, term) for name, term in said.items()})


def _terms(draft: Draft, columns: Columns, parameters: Parameters) -> ByClass:
    """Return what a block of columns adds to the score of each class."""
    read = Reader(draft, columns)
    return next(write(read, parameters) for kind, write in WRITTEN if isinstance(parameters, kind))


def _label(draft: Draft, found: Decided, classes: list[Any], likeliest: int) -> Term:
    """Return the label of the most probable class, the first of equals; if all is impossible the prior decides."""
    labels = [_literal(label) for label in classes]
    nothing = (is_null(draft.own(found.top)), _literal(classes[likeliest]))
    return choose([nothing, *zip(found.best, labels, strict=True)])


def _if_known(draft: Draft, term: Term) -> Term:
    """Return a term, but NULL where something of the row is not known that the model would need."""
    if not draft.unknown:
        return term
    return choose([(exp.Not(this=exp.Paren(this=exp.or_(*draft.unknown))), term)])


def _literal(label: Any) -> Term:
    """Return a label as SQL writes it."""
    if isinstance(label, bool):
        return exp.Boolean(this=label)
    if isinstance(label, int):
        return whole(label)
    return number(label) if isinstance(label, float) else exp.Literal.string(checked_text(str(label), "the class"))


def _check(columns: Columns, parameters: Parameters) -> None:
    """Raise what has no form in SQL, with a way around it."""
    names = names_of(columns) if columns.count else ["none"]
    what = f"column {names[0]!r}" if len(names) == 1 else f"the columns {names[0]!r} to {names[-1]!r}"
    if columns.codings is not None and isinstance(columns.codings[0], Words):
        raise ExportError(
            f"{what} is text, and SQL does not take words apart; fit without it "
            f"(families={{{names[0]!r}: 'ignore'}}), {ELSE}"
        )
    if isinstance(parameters, (AveragedParameters, JointParameters)):
        how = "averaged over many trees" if isinstance(parameters, AveragedParameters) else "taken all together"
        raise ExportError(
            f'{what} are {how}, which is too long for SQL; use structure="tree" or structure="naive" (set_params does '
            f"so without another pass, where pairs were counted), {ELSE}"
        )
    if isinstance(parameters, MixtureParameters):
        raise ExportError(f"{what} are a mixture, which has no form in SQL; use GaussianDiscriminant, {ELSE}")
    if not any(isinstance(parameters, kind) for kind, _ in WRITTEN):
        raise ExportError(f'{what}: {type(parameters).__name__} has no form in SQL; use structure="naive", {ELSE}')
    held = [getattr(parameters, its.name) for its in fields(parameters)]
    count = sum(its.size for its in held if isinstance(its, np.ndarray))
    if count > MOST_NUMBERS:
        raise ExportError(
            f"{what} have {count:,} numbers, and SQL of more than {MOST_NUMBERS:,} is more than databases read in "
            f'good time; use structure="naive" or fewer columns, {ELSE}'
        )
