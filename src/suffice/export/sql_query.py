"""A model as one SELECT that scores the rows of a table in the database, and the translators of its terms."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from sqlglot import exp

from suffice import score as terms
from suffice.data import probability_name
from suffice.decision.calibration import Calibration
from suffice.export import sql_columnwise, sql_covariance, sql_tree
from suffice.export.dialects import Dialect, ExportError, check_text, find_dialect
from suffice.export.sql_cells import IN_PYTHON, Cells, column_names
from suffice.export.sql_columnwise import ByClass
from suffice.export.sql_expressions import Expression, add, case_when, double, integer, number
from suffice.export.sql_parameters import text_literal
from suffice.export.sql_posterior import Posterior, calibrate, softmax
from suffice.export.sql_stages import StagedQuery
from suffice.families.family import Parameters
from suffice.model import Model
from suffice.schema import Columns, Words
from suffice.score import OfFunction, Score, Term

# Numbers of a block that a statement may contain: with more of them, parsing takes longer than scoring.
MAX_NUMBERS = 100_000

# The style "auto" has no SELECT of more numbers than this. Databases read one of about 5,000 lines in a second or two;
# PostgreSQL took 149 seconds for the tree of a table of census data, with 22,421 lines.
MAX_SELECT_NUMBERS = 4000

# A translator returns the expressions that a term adds to the score of each class.
Translator = Callable[[Any, Cells], ByClass]


def translate_of_function(term: OfFunction, cells: Cells) -> ByClass:
    """Write a term of a function of each cell."""
    return TRANSLATORS[type(term.term)](term.term, cells.mapped(term.mapping))


TRANSLATORS: dict[type[Term], Translator] = {
    terms.LookUp: sql_columnwise.translate_look_up,
    terms.Linear: sql_columnwise.translate_linear,
    terms.CompleteLinear: sql_columnwise.translate_complete_linear,
    terms.Quadratic: sql_columnwise.translate_quadratic,
    terms.LogQuadratic: sql_columnwise.translate_log_quadratic,
    terms.LogGamma: sql_columnwise.translate_log_gamma,
    terms.LogGammaOfRest: sql_columnwise.translate_log_gamma_of_rest,
    terms.LogGammaOfTotal: sql_columnwise.translate_log_gamma_of_total,
    terms.PairLookUp: sql_tree.translate_pair_look_up,
    terms.TriangularSolve: sql_covariance.translate_triangular_solve,
    terms.LowRank: sql_covariance.translate_low_rank,
    terms.OfFunction: translate_of_function,
}

# For terms without a translator: why not, and what to do instead. The command line rewrites style="…" as --style ….
TABLES = 'use style="tables"'
UNSUPPORTED: dict[type[Term], tuple[str, str]] = {
    terms.AveragedPairs: ("is averaged over many trees, which is too long for one SELECT", TABLES),
    terms.JointLookUp: ("counts them all together, which is too long for one SELECT", TABLES),
    terms.MeanOfTrees: ("is a mean over many decision trees, which is too long for one SELECT", TABLES),
    terms.Products: ("has a product of each two columns, which is too long for one SELECT", TABLES),
    terms.LogSumExp: ("is a mixture, which has no translation to SQL", "use GaussianDiscriminant"),
}


def write_query(
    model: Model,
    classes: list[Any],
    dialect: str,
    table: str | Sequence[str],
    calibration: Calibration | None,
    present: Sequence[str] | None = None,
) -> str:
    """Return the statement; the parameters are those of `suffice.export.to_sql`.

    The score of a class is its log prior plus the terms of log p(x | class), and the probabilities are the softmax of
    the scores.

    >>> import sqlite3
    >>> from suffice import BernoulliNB
    >>> model = BernoulliNB().fit([[0], [0], [1], [1]], ["no", "no", "yes", "yes"])
    >>> base = sqlite3.connect(":memory:")
    >>> _ = base.execute("CREATE TABLE votes AS SELECT 1 AS x0, 'kept' AS note UNION ALL SELECT NULL, 'missing'")
    >>> for row in base.execute(model.to_sql("sqlite", table="votes")):
    ...     print(*row[:3], *(round(p, 6) for p in row[3:]))
    1 kept yes 0.25 0.75
    None missing no 0.5 0.5
    >>> base.close()
    """
    names = [name for columns in model.columns for name in column_names(columns)]
    query = StagedQuery(find_dialect(dialect), names, table, present)
    scores = _add_scores(query, model)
    prior = model.class_log_prior
    posterior = softmax(query, scores, prior)
    if calibration is not None:
        posterior = calibrate(query, calibration, posterior, prior)
    results = {"prediction": label_of(posterior, classes, int(np.argmax(prior)), query.dialect)}
    results |= {probability_name(label): p for label, p in zip(classes, posterior.probabilities(), strict=True)}
    return query.render({name: null_if_unknown(query, result) for name, result in results.items()})


def _add_scores(query: StagedQuery, model: Model) -> list[Expression]:
    """Add the score of each class, log prior + Σ terms, to a new last stage; return the references."""
    blocks, first = [], 0
    for columns, parameters, score in zip(model.columns, model.parameters, model.scores, strict=True):
        cells = Cells(query, columns, first)
        if _has_words(columns):
            raise ExportError(
                f"{cells.description} is text, and one SELECT has no room for its words; {TABLES}, {IN_PYTHON}"
            )
        check_score(score, cells, TRANSLATORS)
        _check_size(parameters, cells)
        blocks.append((score, cells))
        first += columns.count
    different = ((term, cells) for score, cells in blocks for term in score if not term.is_class_independent)
    translated = [TRANSLATORS[type(term)](term, cells) for term, cells in different]
    scores, stage = [], len(query.stages)
    for k, log_prior in enumerate(model.class_log_prior.tolist()):
        addends = [expression for by_class in translated if log_prior > -np.inf for expression in by_class[k]]
        scores.append(query.add(stage, f"s{k}", add([double(log_prior), *addends])))
    return scores


def check_score(score: Score, cells: Cells, translators: Mapping[type[Term], Any]) -> None:
    """Raise ExportError if a term that differs between classes has no translator."""
    for term in score:
        if not term.is_class_independent and type(term) not in translators:
            default = (f"has a {type(term).__name__} term, which has no translation to SQL", 'use structure="naive"')
            reason, remedy = UNSUPPORTED.get(type(term), default)
            raise ExportError(f"the model of {cells.description} {reason}; {remedy}, {IN_PYTHON}")


def has_small_query(model: Model) -> bool:
    """Return whether the SELECT of a model has at most `MAX_SELECT_NUMBERS` numbers, and gives all rows a result."""
    if any(type(term) not in TRANSLATORS for score in model.scores for term in score if not term.is_class_independent):
        return False
    if any(map(_has_words, model.columns)):
        return False
    if any(isinstance(term, terms.LowRank) for score in model.scores for term in score):
        return True  # a row with a missing cell has no result in either style
    wide = (term.mean.shape[1] for score in model.scores for term in score if isinstance(term, terms.TriangularSolve))
    count = sum(map(_count_numbers, model.parameters))
    return count <= MAX_SELECT_NUMBERS and all(size <= sql_covariance.MAX_PATTERN_COLUMNS for size in wide)


def _has_words(columns: Columns) -> bool:
    return any(isinstance(coding, Words) for coding in columns.codings or ())


def _count_numbers(parameters: Parameters) -> int:
    values = [getattr(parameters, field.name) for field in fields(parameters)]
    return sum(value.size for value in values if isinstance(value, np.ndarray))


def _check_size(parameters: Parameters, cells: Cells) -> None:
    """Raise ExportError if a block has more numbers than a statement may contain."""
    count = _count_numbers(parameters)
    if count > MAX_NUMBERS:
        raise ExportError(
            f"the model of {cells.description} has {count:,} numbers, and a database takes too long to read a "
            f"statement of more than {MAX_NUMBERS:,}; {TABLES}"
        )


def label_of(posterior: Posterior, classes: list[Any], default: int, dialect: Dialect) -> Expression:
    """Return the label of the first class that is most probable; the default class if all are impossible."""
    labels = [_literal(label, dialect) for label in classes]
    is_impossible = (posterior.top.is_null(), labels[default])
    return case_when([is_impossible, *zip(posterior.is_best, labels, strict=True)])


def null_if_unknown(query: StagedQuery, result: Expression) -> Expression:
    """Return a result, or NULL for rows that meet one of the query's conditions."""
    if not query.null_conditions:
        return result
    is_unknown = exp.or_(*(condition.node for condition in query.null_conditions))
    return case_when([(Expression(exp.Not(this=exp.Paren(this=is_unknown))), result)])


def _literal(label: Any, dialect: Dialect) -> Expression:
    """Return the label of a class as a literal of its type."""
    if isinstance(label, bool):
        return Expression(exp.Boolean(this=label))
    if isinstance(label, int):
        return integer(label)
    if isinstance(label, float):
        return number(label)
    return Expression(text_literal(check_text(str(label), "the class"), dialect))
