"""The registry of translators: how each kind of score term is written as SQL, or why it is not."""

from collections.abc import Callable
from typing import Any

from suffice import score as terms
from suffice.export import sql_columnwise, sql_covariance, sql_tree
from suffice.export.dialects import ExportError
from suffice.export.sql_cells import IN_PYTHON, Cells
from suffice.export.sql_columnwise import ByClass
from suffice.score import Score, Term

# A translator returns the expressions that a term adds to the score of each class.
Translator = Callable[[Any, Cells], ByClass]

TRANSLATORS: dict[type[Term], Translator] = {
    terms.LookUp: sql_columnwise.translate_look_up,
    terms.Linear: sql_columnwise.translate_linear,
    terms.Quadratic: sql_columnwise.translate_quadratic,
    terms.LogQuadratic: sql_columnwise.translate_log_quadratic,
    terms.LogGamma: sql_columnwise.translate_log_gamma,
    terms.LogGammaOfTotal: sql_columnwise.translate_log_gamma_of_total,
    terms.PairLookUp: sql_tree.translate_pair_look_up,
    terms.TriangularSolve: sql_covariance.translate_triangular_solve,
    terms.LowRank: sql_covariance.translate_low_rank,
}

# the command line rewrites structure="…" as --structure …
_SIMPLER = 'use structure="tree" or structure="naive" (set_params needs no other pass over rows if pairs were counted)'

# For terms without a translator: why not, and what to do instead.
UNSUPPORTED: dict[type[Term], tuple[str, str]] = {
    terms.AveragedPairs: ("is averaged over many trees, which is too long for SQL", _SIMPLER),
    terms.JointLookUp: ("counts them all together, which is too long for SQL", _SIMPLER),
    terms.LogSumExp: ("is a mixture, which has no translation to SQL", "use GaussianDiscriminant"),
}


def check_score(score: Score, cells: Cells) -> None:
    """Raise ExportError if a term that differs between classes has no translator."""
    for term in score:
        if not term.is_class_independent and type(term) not in TRANSLATORS:
            default = (f"has a {type(term).__name__} term, which has no translation to SQL", 'use structure="naive"')
            reason, remedy = UNSUPPORTED.get(type(term), default)
            raise ExportError(f"the model of {cells.description} {reason}; {remedy}, {IN_PYTHON}")


def translate_score(score: Score, cells: Cells) -> list[ByClass]:
    """Return the expressions of each term; a term that is the same for all classes is left out."""
    return [TRANSLATORS[type(term)](term, cells) for term in score if not term.is_class_independent]
