"""Recipe: how a model is learned, as the settings of a classifier define it. It is checked once and frozen.

A recipe plans what to count, counts it, and estimates a model from the counts. Its methods are pure functions: rows
in, a tally out; a tally in, a model out. Folds, comparisons, engines, reports and classifiers all work with recipes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from suffice import decision
from suffice.blocks import Block
from suffice.data import Table, Target
from suffice.data.engines import memory
from suffice.data.reader import Reader
from suffice.decision.class_weights import class_factors
from suffice.estimation import check_rules, choose_prior, log_evidence, posterior_hyperparameters, select_rules
from suffice.families import FAMILIES, Family
from suffice.families.left_out import LeftOut
from suffice.model import Model
from suffice.priors import Flat, Prior, select_priors
from suffice.schema import Array, Columns, Plan, Schema
from suffice.score.term import SingularError
from suffice.statistics import GroupedTally, Tally
from suffice.statistics.cancellation import LARGEST_ERROR, LostDigitsError, add_errors, check_squares, find_lost
from suffice.structures import STRUCTURES, Naive, Structure, Subject
from suffice.structures.combinations import drop_combination_cells, drop_combinations, warn_unseen_combinations
from suffice.structures.left_out_columns import left_out_columns

if TYPE_CHECKING:
    from suffice.choice import Form
    from suffice.data.reader import Opened
    from suffice.decision.pooling import Pool
    from suffice.pooled_model import AnyModel, PooledModel

Rule = Literal["mle", "map", "mean", "predictive"]
Unseen = Literal["share", "ignore"]


@dataclass(frozen=True)
class Recipe:
    """How a model is learned and estimated.

    log p(x, class) = log P(class) + Σ over blocks of log p(block | class), where the reader makes the blocks, the
    structure says which columns depend on each other, and the rule estimates the parameters from prior and tally.

    Parameters
    ----------
    reader : Reader
        How rows become blocks of columns.
    rule : {"mle", "map", "mean", "predictive"} or dict {column or family: rule}
        How parameters are estimated; columns that a dictionary does not name have the rule "mean".
    prior : number, Prior, array, dict or "auto"
        The prior of the parameters; "mle" does not use it.
    class_prior : str, array, dict, number or Prior
        The probabilities of the classes.
    structure : Structure
        Which column depends on which.
    family_for : callable, default=None
        Returns the family of a block of columns; by default the registered family of its name.
    numeric : {"gaussian", "quantiles", "mdl", "auto"}, default="auto"
        The form of numbers that are counted in cells, beside their moments.
    missing : {"auto", "skip", "level"}, default="skip"
        Whether a missing cell is skipped or is a level.
    given_plan : Plan, default=None
        The plan of another model, by which rows are counted; by default a plan is made from the rows.
    count_levels : callable, default=None
        Returns the number of levels of each column of a block, with levels that have no rows (CategoricalNB).
    class_prior_is_scored : bool, default=True
        Whether scores include log P(class). If False, they do so only for a single class (ComplementNB).
    explain_singular : callable, default=None
        Returns the error message for a class whose covariance is singular.
    unseen : {"share", "ignore"}, default="share"
        Whether a level that was never seen has a share of probability, or counts as a missing cell.
    pool : Pool, default=None
        The components of a pooled model and their weights, as they were fitted to held-out predictions.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sums of each class. The tally holds the rows as they are; `lay_out` multiplies.
    """

    reader: Reader
    rule: Rule | Mapping[Any, Rule]
    prior: Any
    class_prior: Any
    structure: Structure = STRUCTURES["naive"]
    family_for: Callable[[Columns], Family] | None = None
    numeric: str = "auto"
    missing: str = "skip"
    given_plan: Plan | None = None
    count_levels: Callable[[Columns], Array] | None = None
    class_prior_is_scored: bool = True
    explain_singular: Callable[[Tally, int], str] | None = None
    unseen: Unseen = "share"
    pool: Pool | None = None
    class_weight: Any = None

    def __post_init__(self) -> None:
        check_rules(self.rule)

    @property
    def owner(self) -> str:
        """The name of the classifier, for error messages."""
        return self.reader.owner

    # -- rows to sums ------------------------------------------------------------------------------

    def open(self, X: Any, schema: Schema | None = None, *, check_names: bool = True) -> Any:
        """Return X after checking its form; its cells are not read yet."""
        return self.reader.open(X, schema, check_names=check_names)

    def plan(self, opened: Opened, target: Target, *, is_complete: bool = True) -> Plan:
        """Return the plan of what to count in these rows; ``is_complete`` is False if more rows may follow."""
        if self.given_plan is not None:
            return self.reader.adopt(self.given_plan, opened)
        plan = self.reader.plan(opened, target, is_complete=is_complete)
        return replace(plan, blocks=tuple(map(self.structure.extended, plan.blocks)))

    def read(self, opened: Opened, plan: Plan, target: Target) -> tuple[tuple[Columns, ...], tuple[Block, ...]]:
        """Return the columns of a plan, extended by the levels of these rows, and their cells."""
        columns, cells = self.reader.read(opened, plan.blocks, grow=True)
        if not plan.is_marked and self.reader.plans_from_rows:
            from suffice.data.column_reader import mark_pairs

            columns = mark_pairs(columns, cells, target, self.structure)
        return columns, cells

    def tally(self, opened: Opened, target: Target, known: Tally | None = None, *, is_complete: bool = True) -> Tally:
        """Return the tally of rows, under the plan of a known tally if there is one, else under a new plan."""
        if known is None:
            plan = self.plan(opened, target, is_complete=is_complete)
        else:
            plan = self.reader.known_plan(opened, known.schema)
        columns, cells = self.read(opened, plan, target)
        tally = memory.tally(Table(cells, target), columns, plan.features, trimmed=False)
        is_laid_out = known is not None and tally.schema.blocks == known.schema.blocks
        return tally if is_laid_out else tally.trimmed()

    def read_for_scoring(self, opened: Opened, schema: Schema) -> tuple[Block, ...]:
        """Return rows as blocks that a model scores; ``schema`` is that of the laid out tally."""
        return self.select_cells(*self.reader.read(opened, schema.blocks, grow=False))

    def select_cells(self, columns: tuple[Columns, ...], cells: tuple[Block, ...]) -> tuple[Block, ...]:
        """Return those of the given cells that the structure scores."""
        if not self.structure.uses_combinations:
            return tuple(map(drop_combination_cells, columns, cells))
        warn_unseen_combinations(columns, cells)
        return cells

    # -- what is decided from the sums -------------------------------------------------------------

    def choose(self, tally: Tally) -> dict[Any, Form]:
        """Return the form of each column that has several: Gaussian or bins, a missing cell skipped or a level."""
        if not self.reader.plans_from_rows:
            return {}
        tally, _ = tally.split_trees()
        from suffice.choice import choose_forms

        missing = "skip" if self.structure.uses_combinations else self.missing
        asked = self.reader.name_families(tally.schema.column_names)
        return choose_forms(tally, asked, self.numeric, missing, self._suits)

    def _suits(self, family: str, name: Any) -> bool:
        """Return whether the rule and the prior of a column suit a family that is chosen; a `Prior` suits one only."""
        columns = Columns(family, 1, (name,))
        prior = select_priors(self.prior, columns)
        suits = isinstance(prior, Flat) or not isinstance(prior, Prior) or self.rule == "mle"
        return suits and select_rules(self.rule, columns) in FAMILIES[family].rules

    def lay_out(self, tally: Tally) -> Tally:
        """Return the tally in the layout that estimates need.

        It has the chosen form of each column, empty levels where a minimum is set, no unused combinations, and closed
        levels under ``unseen="ignore"``. The sums of each class have its weight. The tally of a pool has a group for
        each component.
        """
        tally = self.weigh_classes(tally)
        tally, trees = tally.split_trees()
        if not self.is_pooled:
            return self._lay_out(tally)
        laid_out: dict[int, Tally] = {}
        for place, part in enumerate(self.parts):
            if not part.structure.grows_trees:
                laid_out[place] = part._lay_out(tally)
            elif trees is not None:
                laid_out[place] = trees
        # without trees and other components, the classes and their priors are all that is left
        return GroupedTally.join(laid_out or {0: replace(self, structure=Naive(), pool=None)._lay_out(tally)})

    def weigh_classes(self, tally: Tally) -> Tally:
        """Return the tally in which the rows of each class have the weight of the class."""
        return tally if self.class_weight is None else tally.weigh_classes(self.class_factors(tally))

    def class_factors(self, tally: Tally) -> Array:
        """Return the factor of each class of a tally."""
        return class_factors(self.class_weight, tally.schema.classes, tally.class_count)

    def lay_out_as(self, tally: Tally, forms: Mapping[Any, Form]) -> Tally:
        """Return the tally in the layout of given forms; ``self.choose`` chooses them. The recipe is not a pool."""
        tally = tally if self.structure.uses_combinations else drop_combinations(tally)
        if forms:
            from suffice.choice import lay_out_columns

            tally = lay_out_columns(tally, forms)
        tally = self._split_by_rule(tally.select_blocks(self.structure.uses))
        if self.unseen == "share":
            return tally
        closed = tuple(block.closed() for block in tally.schema.blocks)
        return replace(tally, schema=replace(tally.schema, blocks=closed))

    def _split_by_rule(self, tally: Tally) -> Tally:
        """Return the tally in which independent numbers have a block for each rule; levels stay in one block."""
        if not isinstance(self.rule, Mapping) or self.structure.is_conditional:
            return tally
        blocks, statistics = [], []
        for block, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
            rules = select_rules(self.rule, block)
            if isinstance(rules, str) or not self._is_separable(block):
                blocks.append(block)
                statistics.append(statistic)
                continue
            for rule in dict.fromkeys(rules):
                kept = np.flatnonzero(np.array(rules) == rule)
                names = None if block.names is None else tuple(block.names[j] for j in kept)
                blocks.append(replace(block, count=len(kept), names=names))
                statistics.append(statistic.with_columns(kept, None))
        return Tally(replace(tally.schema, blocks=tuple(blocks)), tally.class_count, tuple(statistics))

    def _is_separable(self, columns: Columns) -> bool:
        """Return whether a block of numbers can be split into blocks of fewer columns."""
        is_whole = columns.sizes is not None or self.family(columns).is_compositional
        return not is_whole and not self.structure.joins(columns)

    def _lay_out(self, tally: Tally) -> Tally:
        if self.count_levels is not None:
            columns = tally.schema.blocks[0]
            wider = replace(columns, sizes=self.count_levels(columns).astype(np.intp))
            tally = tally.on(Schema(tally.schema.classes, (wider,)))
        return self.lay_out_as(tally, self.choose(tally))

    # -- pools -------------------------------------------------------------------------------------

    @property
    def members(self) -> tuple[Structure, ...]:
        """The structures that are pooled; empty if there is no pool."""
        members = self.structure.members
        return members if self.pool is None or not members else self.pool.components

    @property
    def is_pooled(self) -> bool:
        """Whether the model is a pool; a structure that is "auto" is one if its weights were fitted."""
        return bool(self.members) and (self.pool is not None or not self.structure.is_automatic)

    @property
    def parts(self) -> tuple[Recipe, ...]:
        """The recipe of each component of a pool."""
        return tuple(self.part(structure) for structure in self.members)

    def part(self, structure: Structure) -> Recipe:
        """Return the recipe of a component of a pool."""
        numeric = (structure.numeric_in_pool if self.numeric == "auto" else None) or self.numeric
        missing = "level" if self.missing == "auto" else self.missing
        return replace(self, structure=structure, numeric=numeric, missing=missing, pool=None)

    def _estimate_pool(self, tally: GroupedTally, estimate: Callable[[Recipe, Tally], Model]) -> PooledModel:
        """Return the pooled model; ``estimate`` returns the model of a component."""
        from suffice.pooled_model import PooledModel

        classes, parts, groups = tally.schema.classes.tolist(), self.parts, tally.groups()
        pool = self._require_pool().select([place in groups for place in range(len(parts))])
        models = tuple(estimate(parts[place], group) for place, group in groups.items())
        log_prior = self.class_log_prior(tally)
        return PooledModel(models, pool, pool.biases_of(classes), log_prior)

    def _require_pool(self) -> Pool:
        if self.pool is None:
            without = "the model was learned without them: fit it again"
            if self.given_plan is not None:
                without = "the plan has none: use the plan of a model with this structure, or plan=None"
            raise ValueError(
                f"structure={self.structure.name!r} needs trees and weights that fit chooses from rows, but {without}"
            )
        return self.pool

    # -- sums to a model ---------------------------------------------------------------------------

    def model(self, tally: Tally) -> AnyModel:
        """Return the model that is estimated from a tally."""
        return self.estimate(self.lay_out(tally))

    # The following methods take a tally that `lay_out` returned.

    def estimate(self, tally: Tally) -> AnyModel:
        """Return the model that is estimated from a laid out tally."""
        if isinstance(tally, GroupedTally):
            return self._estimate_pool(tally, lambda part, group: part._estimate(group))
        return self._estimate(tally)

    def _estimate(self, tally: Tally) -> Model:
        subjects = self.subjects(tally)
        priors = [None] * len(subjects) if self.rule == "mle" else self._choose_priors(subjects)
        structure = self.structure.for_classes(tally.schema.classes.tolist())
        try:
            rules = [self.rule_of(subject.columns) for subject in subjects]
            parameters = tuple(map(structure.parameters, rules, subjects, priors))
        except SingularError as error:
            # a ValueError, as scikit-learn's discriminants raise it
            explain = self.explain_singular or _explain_singular
            raise np.linalg.LinAlgError(explain(tally, error.place)) from None
        return Model(tuple(subject.columns for subject in subjects), self._scored_prior(tally), parameters)

    def left_out(self, tally: Tally) -> list[LeftOut | None]:
        """Return for each block what scores rows by all other rows; None if only `leave_out` does."""
        subjects = self.subjects(tally)
        return [left_out_columns(each, self.rule_of(each.columns), self.prior_of(each.columns)) for each in subjects]

    def leave_out(self, tally: Tally, table: Table, rows: slice) -> tuple[Model, Array]:
        """Return the model without each row of a range, and for which rows it is exact (`has_closed_leave_one_out`).

        Its parameters are [row, class, …]. It is not exact for a row that is the last one of its class or of a level,
        and for a row so large that too few digits are left without it.

        Parameters
        ----------
        tally : Tally
            The laid out tally of all rows.
        table : Table
            All rows, as `read_for_scoring` returns them, and their classes.
        rows : slice
            The range of rows that are left out, one by one.
        """
        part = table.between(rows.start, rows.stop)
        codes = part.target.codes
        left, exact = tally.without_rows(memory.tally_rows(part, tally.schema), codes)
        return self._estimate(left), exact & (table.target.row_count[codes] > 1)

    def _scored_prior(self, tally: Tally) -> Array:
        """Return the log prior of the classes, without the class shares of the rows if these are in the parameters."""
        log_prior = self.class_log_prior(tally)
        if self.structure.is_correction:
            return self.structure.biases_of(tally.schema.classes.tolist())
        if not self.structure.is_conditional:
            return log_prior
        shares = decision.log(tally.class_count / max(float(tally.class_count.sum()), 1e-300))
        return np.where(np.isfinite(shares) & np.isfinite(log_prior), log_prior - shares, log_prior)

    def draw_models(self, tally: Tally, count: int, rng: np.random.Generator) -> Iterator[AnyModel]:
        """Yield models whose parameters and class probabilities are drawn from their posterior.

        Trees are not drawn: their leaves hold P(class | x), which has no prior.
        """
        if isinstance(tally, GroupedTally):
            for _ in range(count):
                yield self._estimate_pool(tally, lambda part, group: next(part._draw_models(group, 1, rng)))
            return
        yield from self._draw_models(tally, count, rng)

    def _draw_models(self, tally: Tally, count: int, rng: np.random.Generator) -> Iterator[Model]:
        if self.structure.is_conditional:
            yield from repeat(self._estimate(tally), count)
            return
        subjects = self.subjects(tally)
        priors = self._choose_priors(subjects)
        columns, schema = tuple(subject.columns for subject in subjects), tally.schema
        for _ in range(count):
            class_prior = decision.draw_class_prior(self.class_prior, schema.classes, tally.class_count, rng)
            parameters = tuple(map(self.structure.drawn, subjects, priors, repeat(rng)))
            yield Model(columns, self.scored_prior(decision.log(class_prior)), parameters)

    def class_log_prior(self, tally: Tally) -> Array:
        """Return the log prior of the classes that enters the scores."""
        probabilities = decision.class_prior(self.class_prior, tally.schema.classes, tally.class_count)
        return self.scored_prior(decision.log(probabilities))

    def scored_prior(self, class_log_prior: Array) -> Array:
        """Return the part of a log prior that enters the scores."""
        if self.class_prior_is_scored or class_log_prior.shape[-1] == 1:
            return class_log_prior
        return np.zeros(class_log_prior.shape)

    def subjects(self, tally: Tally) -> list[Subject]:
        """Return for each block its family, its columns and its statistic; of a pool, those of the first component."""
        if isinstance(tally, GroupedTally):
            tally = next(iter(tally.groups().values()))
        blocks = zip(tally.schema.blocks, tally.statistics, strict=True)
        return [Subject(self.family(columns), columns, each, tally.class_count) for columns, each in blocks]

    def family(self, columns: Columns) -> Family:
        """Return the family of a block of columns."""
        return FAMILIES[columns.family] if self.family_for is None else self.family_for(columns)

    def rule_of(self, columns: Columns) -> str | tuple[str, ...]:
        """Return the rule of a block of columns, or one for each column of levels if they differ."""
        rules = select_rules(self.rule, columns)
        if isinstance(rules, tuple) and columns.sizes is None and not self.structure.is_conditional:
            other = next(j for j, rule in enumerate(rules) if rule != rules[0])
            raise ValueError(
                f"estimate={{…}} has {rules[0]!r} for {columns.name(0)} and {rules[other]!r} for "
                f"{columns.name(other)}, but {columns.family} columns are estimated together here: use one rule for "
                'both, or a structure in which they are independent, such as "naive"'
            )
        return rules

    @property
    def uses_maximum_likelihood(self) -> bool:
        """Whether some parameters are estimated by maximum likelihood."""
        return "mle" in (self.rule.values() if isinstance(self.rule, Mapping) else [self.rule])

    def prior_of(self, columns: Columns) -> Any:
        """Return the prior of a block of columns, as it was set."""
        is_by_name = isinstance(self.prior, Mapping) and self.reader.plans_from_rows
        return select_priors(self.prior, columns) if is_by_name else self.prior

    def block_priors(self, tally: Tally) -> list[Any]:
        """Return the prior of each block: as set, or the pseudo-counts of highest evidence if that is "auto…"."""
        return self._choose_priors(self.subjects(tally))

    def _choose_priors(self, subjects: list[Subject]) -> list[Any]:
        return [choose_prior(self.prior_of(subject.columns), *subject.parts) for subject in subjects]

    def hyperparameters(self, tally: Tally) -> list[tuple[Subject, Any]]:
        """Return for each block its subject, and the hyperparameters of its posterior."""
        subjects = self.subjects(tally)
        pairs = zip(subjects, self._choose_priors(subjects), strict=True)
        return [(subject, posterior_hyperparameters(*subject.parts, prior)) for subject, prior in pairs]

    def log_evidence(self, tally: Tally) -> float:
        """Return log p(X | classes, prior) with all parameters integrated out and all columns independent."""
        subjects = self.subjects(tally)
        pairs = zip(subjects, self._choose_priors(subjects), strict=True)
        return float(sum(log_evidence(*subject.parts, prior).sum() for subject, prior in pairs))

    def check(self, tally: Tally) -> None:
        """Raise if the class prior or the prior of the parameters does not fit the classes and columns of a tally."""
        if isinstance(tally, GroupedTally):
            self._require_pool()
            for place, group in tally.groups().items():
                self.parts[place].check(group)
            return
        decision.class_prior(self.class_prior, tally.schema.classes, tally.class_count)
        check_squares(tally)
        self.structure.check_columns(tally.schema)
        for columns in tally.schema.blocks:
            self.rule_of(columns)
        if self.rule != "mle" and not isinstance(self.prior, str):
            for subject in self.subjects(tally):
                self.structure.check(subject, self.prior_of(subject.columns))
        self._check_digits(tally)

    def _check_digits(self, tally: Tally) -> None:
        """Raise if so much was forgotten that the variances of the model are rounding errors.

        Digits that are missing in the sums do no harm where the prior or a floor decides about the variance.
        """
        largest = add_errors(tally)
        if largest is None:
            return
        way_out = "fit again on the rows that remain" + (", or use a prior" if self.uses_maximum_likelihood else "")
        try:
            model, other = self._estimate(tally), self._estimate(largest)
        except ValueError as error:  # what is left has a singular covariance
            raise LostDigitsError(*find_lost(tally), "its variance is", way_out) from error
        for columns, mine, theirs in zip(model.columns, model.parameters, other.parameters, strict=True):
            name = "residual_variance" if hasattr(mine, "covariance") else "variance"
            if not hasattr(mine, name):
                continue
            variance, largest_variance = getattr(mine, name), getattr(theirs, name)
            # an error that is infinite may give NaN, which is not close to anything
            is_lost = ~(np.abs(largest_variance - variance) <= LARGEST_ERROR * variance)
            if is_lost.any():
                k, j = np.argwhere(is_lost)[0].tolist()
                label = tally.schema.classes.tolist()[k]
                raise LostDigitsError(columns.name(j), label, "its variance is", way_out)

    # -- which passes over the rows can be saved ---------------------------------------------------

    @property
    def has_closed_leave_one_out(self) -> bool:
        """Whether the sums without a row, and the model estimated from them, have a closed form for every row."""
        is_fixed = not isinstance(self.prior, str) and self.class_weight is None
        return self.structure.estimates_by_row and is_fixed and not self.reader.plan_depends_on_rows

    def covers(self, other: Recipe) -> bool:
        """Return whether a tally of this recipe contains all counts that another recipe needs."""
        counts = not self.reader.plans_from_rows or self.structure.counts_for(other.structure)
        return self.reader.covers(other.reader) and counts and self.given_plan == other.given_plan


def _explain_singular(tally: Tally, place: int) -> str:
    label = tally.schema.classes.tolist()[place]
    return (
        f"the covariance of class {label!r} is singular: columns are constant or linearly dependent, or there are too "
        'few rows; use estimate="mean" with a prior, Full(shrinkage=0.1), or structure="naive"'
    )
