"""A model as a script: tables of its parameters, and a query that joins them to the rows of a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice import score as terms
from suffice.data import probability_name
from suffice.decision.calibration import Calibration
from suffice.export import sql_long_columnwise, sql_long_covariance, sql_long_pairs, sql_long_tree, sql_long_trees
from suffice.export.dialects import Dialect, find_dialect
from suffice.export.sql_cells import column_names
from suffice.export.sql_expressions import Expression, add, case_when, double, greatest, ln, number
from suffice.export.sql_long_cells import LongCells
from suffice.export.sql_long_words import read_cells
from suffice.export.sql_parameters import LEAST_POSSIBLE, ParameterTables, quote, to_dialect
from suffice.export.sql_posterior import calibrate, softmax
from suffice.export.sql_query import check_score, label_of, null_if_unknown
from suffice.export.sql_stages import split_table_name
from suffice.export.sql_table_query import SCORES, TableQuery
from suffice.model import Model
from suffice.pooled_model import AnyModel, PooledModel
from suffice.schema import Partition
from suffice.score import OfFunction, Term

# A translator returns what a term adds to the score of each class; NULL adds nothing.
LongTranslator = Callable[[Any, LongCells], list[Expression]]


def translate_of_function(term: OfFunction, cells: LongCells) -> list[Expression]:
    """Add a term of a function of each cell."""
    return LONG_TRANSLATORS[type(term.term)](term.term, cells.mapped(term.mapping))


LONG_TRANSLATORS: dict[type[Term], LongTranslator] = {
    terms.LookUp: sql_long_columnwise.translate_look_up,
    terms.Linear: sql_long_columnwise.translate_linear,
    terms.CompleteLinear: sql_long_columnwise.translate_complete_linear,
    terms.Products: sql_long_columnwise.translate_products,
    terms.Quadratic: sql_long_columnwise.translate_quadratic,
    terms.LogQuadratic: sql_long_columnwise.translate_log_quadratic,
    terms.LogGamma: sql_long_columnwise.translate_log_gamma,
    terms.LogGammaOfRest: sql_long_columnwise.translate_log_gamma_of_rest,
    terms.LogGammaOfTotal: sql_long_columnwise.translate_log_gamma_of_total,
    terms.PairLookUp: sql_long_tree.translate_pair_look_up,
    terms.AveragedPairs: sql_long_pairs.translate_averaged_pairs,
    terms.JointLookUp: sql_long_pairs.translate_joint_look_up,
    terms.MeanOfTrees: sql_long_trees.translate_mean_of_trees,
    terms.TriangularSolve: sql_long_covariance.translate_triangular_solve,
    terms.LowRank: sql_long_covariance.translate_low_rank,
    terms.OfFunction: translate_of_function,
}


@dataclass(frozen=True)
class Script:
    """The statements of a model in the style "tables".

    Attributes
    ----------
    dialect : Dialect
        The database.
    parameters : ParameterTables
        The tables of parameters.
    query : str
        The SELECT that reads them.
    """

    dialect: Dialect
    parameters: ParameterTables
    query: str

    def statements(self, view: bool = True) -> list[str]:
        """Return the statements: the tables, then a view of the scored rows, or the SELECT itself."""
        setup, tables = list(self.dialect.setup), self.parameters.statements()
        if not view:
            return [*setup, *tables, self.query]
        name = to_dialect(".".join(map(quote, self.parameters.prefix)), self.dialect)
        # the view goes first: a database may refuse to drop tables that a view reads
        return [*setup, f"DROP VIEW IF EXISTS {name}", *tables, f"CREATE VIEW {name} AS\n{self.query}"]


def write_script(
    model: AnyModel,
    classes: list[Any],
    dialect: str,
    table: str | Sequence[str],
    calibration: Calibration | None,
    present: Sequence[str] | None,
    prefix: str | Sequence[str],
    temporary: bool = False,
) -> Script:
    """Return the script; the parameters are those of `suffice.export.to_sql`."""
    found = find_dialect(dialect)
    members = model.members if isinstance(model, PooledModel) else (model,)
    parameters = ParameterTables(found, split_table_name(found, prefix), temporary)
    query = TableQuery(found, _read_names(members), table, present, parameters, len(classes))
    scores, first = [], 0
    for member in members:
        scores.append(_member_scores(query, member, first))
        first += sum(columns.count for columns in member.columns)
    prior = model.class_log_prior
    if isinstance(model, PooledModel):
        references = _pool(query, model, [_add_scores(query, each, f"m{m}_") for m, each in enumerate(scores)])
        posterior = softmax(query, references, None)
    else:
        posterior = softmax(query, _add_scores(query, scores[0], "s"), prior)
    if calibration is not None:
        posterior = calibrate(query, calibration, posterior, prior)
    results = {"prediction": label_of(posterior, classes, int(np.argmax(prior)), found)}
    results |= {probability_name(label): p for label, p in zip(classes, posterior.probabilities(), strict=True)}
    query.finish_labels()
    return Script(
        found, parameters, query.render({name: null_if_unknown(query, each) for name, each in results.items()})
    )


def _read_names(members: Sequence[Model]) -> list[str]:
    """Return the columns that the members read, each once."""
    names: dict[str, None] = {}
    for columns in (columns for member in members for columns in member.columns):
        if columns.is_forest:
            trees = [tree for tree in columns.codings or () if isinstance(tree, Partition)]
            names |= dict.fromkeys(str(each.name) for each in trees[0].inputs)
        else:
            names |= dict.fromkeys(column_names(columns)[: LongCells.count_of(columns)])
    return list(names)


def _member_scores(query: TableQuery, member: Model, first: int) -> list[Expression]:
    """Return the score of each class, log prior + Σ terms; NULL for an impossible class."""
    added: list[list[Expression]] = []
    for columns, score in zip(member.columns, member.scores, strict=True):
        cells = read_cells(query, columns, first)
        check_score(score, cells, LONG_TRANSLATORS)
        added += [LONG_TRANSLATORS[type(term)](term, cells) for term in score if not term.is_class_independent]
        first += columns.count
    impossible = number(-np.inf).cast("double")  # PostgreSQL compares no NULL without a type with a number
    return [
        add([double(log_prior), *(each[k].if_null(0.0) for each in added)]) if log_prior > -np.inf else impossible
        for k, log_prior in enumerate(member.class_log_prior.tolist())
    ]


def _add_scores(query: TableQuery, scores: list[Expression], name: str) -> list[Expression]:
    """Add scores to their stage; NULL where they contain an impossible term."""
    sums = [query.add(SCORES, f"{name}{k}", score) for k, score in enumerate(scores)]
    possible = [case_when([(score > LEAST_POSSIBLE, score)]) for score in sums]
    return [query.add(SCORES + 1, f"{name}possible{k}", score) for k, score in enumerate(possible)]


def _pool(query: TableQuery, model: PooledModel, scores: list[list[Expression]]) -> list[Expression]:
    """Add Σₘ wₘ·max(log Pₘ(class | x), floor) + b of the class."""
    floor, first = float(model.floor), len(query.stages)
    posteriors = [softmax(query, each, None, f"m{m}_", first) for m, each in enumerate(scores)]
    stage = len(query.stages)
    total = []
    for k, bias in enumerate(model.biases.tolist()):
        addends = [double(bias)]
        for m, (weight, member, own) in enumerate(zip(model.weights.tolist(), model.members, posteriors, strict=True)):
            log_prior = member.class_log_prior - np.logaddexp.reduce(member.class_log_prior)
            log_p = greatest([own.scores[k] - own.top - ln(own.sum), number(floor)], query.dialect)
            raised = case_when(
                [(own.top.is_null(), double(max(float(log_prior[k]), floor))), (own.scores[k].is_null(), floor)], log_p
            )
            if weight:
                addends.append(weight * query.add(stage, f"p{m}_{k}", raised))
        total.append(query.add(stage + 1, f"s{k}", add(addends)))
    return total
