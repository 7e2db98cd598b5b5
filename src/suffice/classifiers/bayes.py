"""BayesClassifier: Bayes' rule for tables with columns of any kind."""

import os
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from math import prod
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.choice import MISSING, NUMERIC
from suffice.classifiers.concurrency import one_at_a_time
from suffice.classifiers.fitted_text import describe
from suffice.classifiers.tally_classifier import CalibrationMethod, TallyClassifier
from suffice.data import Target, find_missing, weights_of
from suffice.data.column_names import list_names
from suffice.data.column_reader import ColumnReader
from suffice.decision.class_weights import check_class_weight
from suffice.decision.pooling import Pool
from suffice.estimation import RULES
from suffice.families import FAMILIES, Family
from suffice.families.complement import Complement
from suffice.folds.fit_pool import fit_pool
from suffice.folds.hold_out import HeldOut
from suffice.folds.recipe_choice import PRIORS, choose_recipe
from suffice.folds.unlabelled_rows import learn_unlabelled
from suffice.parallel import limit_blas
from suffice.recipe import Recipe, Rule, Unseen
from suffice.schema import Array, Columns, Combinations, Features, Levels, MissingLevel, Plan, Words
from suffice.statistics import Tally
from suffice.structures import Naive, as_structure
from suffice.structures.averaged import Auto
from suffice.structures.pooled import Pooled
from suffice.structures.trees import Trees


class BayesClassifier(TallyClassifier):
    """Classifier for tables with columns of numbers, categories, booleans and texts, and with missing cells.

    log p(x, class) = log P(class) + Σ over blocks of columns of log p(block | class). Each column has a family, and
    the structure says which columns of a block depend on each other.

    Parameters
    ----------
    families : "auto", a family, or dict {column: family}, default="auto"
        The family of each column: "bernoulli", "categorical", "number" (as ``numeric`` says), "gaussian", "poisson",
        "geometric", "negative-binomial" or "negative-binomial(r)", "binomial(n)" of n trials, "quantiles" or "mdl"
        (numbers cut into bins), "text" or `Text`, "multinomial" or "complement" (counts, all such columns together),
        "exponential", "gamma", "log-normal" (positive numbers), "von-mises" (angles in radians) or "von-mises(360)" (in
        degrees), "kernel" (a smoothed histogram), any other registered family, "ignore", "auto" or "any".
        Columns that are not named are "auto". With "any", and with "auto" if the structure is "naive", a column of
        positive numbers may also be log-normal, gamma or exponential, if it has the shape of one. A column has at most
        100,000 levels.
    structure : "auto", "naive", "chain", "tree", "averaged", "full", "joint", "trees", "pooled", or a Structure, \
default="auto"
        Which column depends on which, given the class. "trees" are decision trees whose leaves are counts, and
        "pooled" weights several models by their predictions of held-out rows. "auto" pools "averaged", "full" and
        "trees" if there are at least 100 rows and at most 100 classes, as far as the size of the table allows;
        otherwise, and if the first rows come by ``partial_fit``, it is "averaged", or "naive" if there are too many
        pairs of columns to count. Pair counts take at most 8 GiB. `Chain`, `Tree`, `Averaged`, `Full`, `Joint`,
        `Trees` and `Pooled` have settings of their own. The pool of a table with texts or columns of counts also
        has a `Twin`, which corrects the coefficients of words and counts as logistic regression would.
    numeric : {"gaussian", "quantiles", "mdl", "kernel", "auto"}, default="auto"
        How numeric columns with many different values are modelled, unless ``families`` names their family: by a
        Gaussian, by ten bins of equal weight, by bins that depend on the classes (MDL), by a kernel density over all
        cells, or ("auto") for each column by the one of the first three with the best leave-one-out predictions of the
        class. The choice depends on the sums only, so it can be changed without another pass.
    missing : {"auto", "skip", "level"}, default="auto"
        Whether a missing cell of a column with levels or bins is left out ("skip"), or is a level of its own
        ("level"). "auto" decides for each column by leave-one-out predictions of the class. Gaussian columns leave it
        out.
    estimate : {"mle", "map", "mean", "predictive"} or dict {column or family: rule}, default="mean"
        How parameters are estimated. The rule of a column takes precedence over that of its family, and a column that
        is not named has the rule "mean".
    prior : number, Prior, dict {column or family: prior}, "auto" or "auto-by-column", default=0.5
        The prior of the parameters; "mle" does not use it. The prior of a column takes precedence over that of its
        family, and a column that is not named has 0.5. "auto" is the pseudo-count with the best predictions
        of up to 1,000 held-out rows (``chosen_``), by the structure that is set, or for a pool by "averaged";
        "auto-by-column" maximises the evidence of each column.
    class_prior : "empirical", "uniform", array-like, dict {label: p}, number or Prior, default="empirical"
        The class probabilities.
    plan : Plan, default=None
        The plan that says what is counted, such as ``plan_`` of another model; models with the same plan can be added
        exactly. By default it is made from the rows.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` calibrates probabilities on held-out predictions; by default it does not. A pool needs no
        calibration, because its weights are fitted to held-out predictions. A row whose class occurs in no other fold
        is left out; if no row is left, probabilities are not calibrated. A whole number as a weight is a number of
        copies of the row, which may be in several folds.
    unseen : {"share", "ignore"}, default="share"
        How an unseen level of a column is treated. "share" reserves a probability for it, as for one more level.
        "ignore" reserves none: the probabilities of the known levels sum to 1, as in scikit-learn's CategoricalNB, and
        an unseen level counts as a missing cell. It can be changed without another pass.
    class_weight : dict {label: weight}, "balanced" or None, default=None
        Factors of the weights of all rows of a class, as in scikit-learn; classes that are not named have 1, and
        "balanced" gives all classes the same total weight. The result is that of a ``sample_weight`` for each row, but
        the factors are applied when parameters are estimated: the sums contain the rows without class weights, and
        "balanced" is computed from the present number of rows. It can be changed without another pass, except for the
        weights of a pool and a calibration, which ``fit`` chooses with these weights.
    unlabeled : {"error", "em"}, default="error"
        What ``fit`` does with rows whose label is missing (None or NaN). "em" learns from them by
        expectation-maximisation: in each step, a row is counted in every class with its probability under the latest
        model, and the model is estimated again. ``em_trace_`` contains the log-likelihood before each step and after
        the last. The sums of these rows do not change when labelled rows are learned, forgotten or merged later.
        ``partial_fit`` and ``forget`` accept labelled rows only. The structure "auto" is then not a pool. Pools, trees
        and ``calibrate`` are errors, because they have no likelihood of rows without a label.
    em_steps : int, default=20
        Maximum number of steps; they end earlier if the log-likelihood no longer changes.

    Examples
    --------
    >>> import pandas as pd
    >>> from suffice import BayesClassifier
    >>> table = pd.DataFrame({"wind": ["calm", "storm", None, "calm"], "wet": [True, True, False, False]})
    >>> model = BayesClassifier().fit(table, ["go", "stay", "stay", "go"])
    >>> model.families_
    {'wind': 'bernoulli', 'wet': 'bernoulli'}
    >>> model.predict(pd.DataFrame({"wind": ["breeze", "calm"], "wet": [None, False]})).tolist()
    ['go', 'go']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "numeric": [StrOptions(set(NUMERIC))],
        "missing": [StrOptions(set(MISSING))],
        "estimate": [StrOptions(set(RULES)), Mapping],
        "unseen": [StrOptions(set(get_args(Unseen)))],
        "unlabeled": [StrOptions({"error", "em"})],
        "em_steps": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [Mapping, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        families: Any = "auto",
        structure: Any = "auto",
        numeric: Literal["gaussian", "quantiles", "mdl", "kernel", "auto"] = "auto",
        missing: Literal["auto", "skip", "level"] = "auto",
        estimate: Rule | Mapping[Any, Rule] = "mean",
        prior: Any = 0.5,
        class_prior: Any = "empirical",
        plan: Plan | None = None,
        calibrate: CalibrationMethod | None = None,
        unseen: Unseen = "share",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        unlabeled: Literal["error", "em"] = "error",
        em_steps: int = 20,
    ) -> None:
        self.families = families
        self.structure = structure
        self.numeric = numeric
        self.missing = missing
        self.estimate = estimate
        self.prior = prior
        self.class_prior = class_prior
        self.plan = plan
        self.calibrate = calibrate
        self.unseen = unseen
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.em_steps = em_steps

    _extra_attributes = (*TallyClassifier._extra_attributes, "chosen_", "pool_", "held_out_", "em_trace_")
    chosen_: dict[str, Any]
    pool_: Pool
    em_trace_: list[float]  # the log-likelihood before each step of "em", and after the last
    held_out_: dict[str, float]  # of a pool: how well `fit` predicted rows that it held out

    @property
    def families_(self) -> dict[Any, str]:
        """The family of each column that was learned, in the order of the table."""
        blocks, found = self._chosen_layout().schema.blocks, dict[Any, str]()
        if all(block.is_forest for block in blocks):  # trees take columns as they are
            naive = replace(self._recipe_for(None), structure=Naive(), pool=None)
            blocks = naive.lay_out(self._fitted_tally()).schema.blocks
        for block in blocks:
            for name, kind in zip(block.names or (), block.families, strict=True):
                found.setdefault(name, kind)  # of a pool, the form in its first component
        return {name: found[name] for name in self._features.names if name in found}

    def _chosen_layout(self) -> Tally:
        """Return the chosen tally, also if ``prior="auto"`` was set after the fit, so that there is no model."""
        if self._chooses and "chosen_" not in self.__dict__:
            return self._recipe_for(None).lay_out(self._fitted_tally())
        return self.chosen_tally()

    @property
    def left_out_(self) -> dict[Any, str]:
        """The columns that were left out, with the reason."""
        return dict(self._features.left_out)

    @property
    def posterior_(self) -> dict[Any, dict[str, Any]]:
        """The posterior of the parameters of each column: scipy.stats distributions of arrays [class, …]."""
        found: dict[Any, dict[str, Any]] = {}
        for subject, hyperparameters in self.recipe().hyperparameters(self._checked_tally()):
            columns, marginals = subject.columns, subject.family.marginals(subject.columns, hyperparameters)
            ends = columns.starts + (1 if columns.sizes is None else columns.sizes)
            for name, start, end in zip(columns.names or (), columns.starts, ends, strict=True):
                found[name] = {key: _select_cells(marginal, start, end) for key, marginal in marginals.items()}
        return found

    @property
    def prior_(self) -> Any:
        """The prior in use: as set, or {column: pseudo-count} if it was chosen automatically."""
        tally, recipe = self._checked_tally(), self.recipe()
        if not isinstance(recipe.prior, str):
            return recipe.prior
        found: dict[Any, float] = {}
        for columns, prior in zip(tally.schema.blocks, recipe.block_priors(tally), strict=True):
            found |= dict(zip(columns.names or (), np.broadcast_to(prior, columns.count).tolist(), strict=True))
        return {name: found[name] for name in self._features.names if name in found}

    @property
    def _features(self) -> Features:
        features = self._fitted_tally().schema.features
        assert features is not None
        return features

    # -- the recipe, and the choice of what is "auto" -----------------------------------------------

    @property
    def _chooses(self) -> bool:
        """Whether the prior is chosen by its held-out predictions."""
        return isinstance(self.prior, str) and self.prior == "auto" and self.estimate != "mle"

    def _is_additive(self) -> bool:
        is_fixed = not self._chooses and not self._pools and self.unlabeled == "error"
        return is_fixed and super()._is_additive()

    @property
    def _pools(self) -> bool:
        """Whether `fit` plans trees and fits the weights of a pool; under a given plan, nothing more is planned."""
        return self.plan is None and isinstance(as_structure(self.structure), (Auto, Pooled, Trees))

    @one_at_a_time
    def _fit(self, X: Any, y: Any, sample_weight: Any, checkpoint: str | os.PathLike[str] | None = None) -> Self:
        if self.unlabeled == "em" and y is not None:
            is_missing = find_missing(y)
            if is_missing.any():
                return self._fit_unlabelled(X, y, sample_weight, is_missing)
        try:
            return super()._fit(X, y, sample_weight, checkpoint)
        except ValueError as error:
            if self.unlabeled != "error" or "y contains NaN" not in str(error):
                raise
            raise ValueError(f"{error} To learn from rows without a label, too, set unlabeled='em'.") from None

    def _fit_unlabelled(self, X: Any, y: Any, sample_weight: Any, is_missing: Array) -> Self:
        """Fit to rows of which some have no label."""
        if is_missing.all():
            raise ValueError("Input y contains NaN or None only: unlabeled='em' needs rows of each class with a label")
        if self.calibrate is not None:
            raise ValueError("calibrate=… needs the labels of held-out rows; leave it out, or the rows without a label")
        known = np.flatnonzero(~is_missing)
        labels = np.empty(len(is_missing), object)
        labels[:] = y.to_list() if hasattr(y, "to_list") else list(y)
        labels[is_missing] = labels[known[0]]
        rows = _safe_indexing(*indexable(X), known) if self._chooses else X
        weights = weights_of(sample_weight, len(labels))
        recipe, extras = self._choose_recipe(rows, labels[known], None if weights is None else weights[known])
        recipe = replace(recipe, pool=None if self.plan is None else self.plan.pool)
        if recipe.is_pooled:
            raise ValueError(
                f"unlabeled='em' needs p(x | class), which structure={recipe.structure.name!r} does not have; "
                'set one structure, such as "averaged"'
            )
        opened = recipe.open(X)
        target = Target.of(opened.shape[0], labels, sample_weight, None, recipe.owner)
        self._check_classes(target.classes)
        tally, trace = learn_unlabelled(recipe, opened, target, ~is_missing, self.em_steps)
        chosen = recipe.lay_out(tally)
        self._check(recipe, chosen)
        return self._finish_fit(tally, extras | {"em_trace_": trace}, recipe, chosen)

    def _tune(
        self, recipe: Recipe, opened: Any, target: Target, tally: Tally, *, is_complete: bool = True
    ) -> tuple[Recipe, Tally, dict[str, Any], HeldOut | None]:
        pool, held_out = None, None
        if recipe.given_plan is not None:
            pool = recipe.given_plan.pool
        # "auto" does not pool a first batch: it may be too small to grow trees from
        elif isinstance(recipe.structure, (Auto, Pooled, Trees) if is_complete else (Pooled, Trees)):
            with limit_blas(prod(opened.shape)):
                pool, tally, held_out = self._fit_pool(recipe, opened, target, tally)
        if pool is None:
            return recipe, tally, {}, None
        quality = {"held_out_": held_out.measure()} if held_out is not None and len(held_out.codes) else {}
        return replace(recipe, pool=pool), tally, {"pool_": pool, **quality}, held_out

    def _fit_pool(
        self, recipe: Recipe, opened: Any, target: Target, tally: Tally
    ) -> tuple[Pool | None, Tally, HeldOut | None]:
        """Return the pool, the tally with its trees, and held-out rows; rows have the weights of their classes."""
        plain = replace(recipe, pool=None, class_weight=None)
        if recipe.class_weight is None:
            return fit_pool(plain, opened, target, tally)
        factors = recipe.class_factors(tally)[target.codes]
        weighted = replace(target, weights=factors if target.weights is None else target.weights * factors)
        pool, found, held_out = fit_pool(plain, opened, weighted, recipe.weigh_classes(tally))
        # the leaves of trees count rows as they are, like all other sums
        return pool, tally if found.schema.forest is None else recipe.tally(opened, target, found), held_out

    def _check_classes(self, classes: Array) -> None:
        check_class_weight(self.class_weight, classes)

    def _learner_of_folds(self, recipe: Recipe) -> Recipe:
        return recipe  # a prior that was chosen stays: the choice of one of three hardly depends on a fold

    def _make_recipe(self) -> Recipe:
        chosen = self.__dict__.get("chosen_")
        if self._chooses and chosen is None and self.__sklearn_is_fitted__():
            raise ValueError('prior="auto" is chosen by fit, but the model was fitted with another prior: fit again')
        return self._recipe_for(chosen)

    def _recipe_for(self, chosen: dict[str, Any] | None) -> Recipe:
        """Return the recipe for the settings; ``chosen`` replaces settings that are "auto"."""
        prior = (chosen or {"prior": 0.5})["prior"] if self._chooses else self.prior
        structure = as_structure(self.structure)
        numeric = (structure.numeric if self.numeric == "auto" else None) or self.numeric
        # families that describe one column by itself are a good choice where no column depends on another
        compares = isinstance(structure, Naive) and numeric == "auto"
        return Recipe(
            ColumnReader(type(self).__name__, self.families, "any" if compares else "auto"),
            self.estimate,
            prior,
            self.class_prior,
            structure,
            family_for=_family_of,
            numeric=numeric,
            missing=self.missing,
            given_plan=self.plan,
            unseen=self.unseen,
            pool=self.__dict__.get("pool_", None if self.plan is None else self.plan.pool),
            class_weight=self.class_weight,
        )

    def _choose_recipe(
        self, X: Any, y: Any, sample_weight: Any, *, is_complete: bool = True
    ) -> tuple[Recipe, dict[str, Any]]:
        self._validate_params()
        if not self._chooses:
            return self.recipe(), {}
        if not is_complete and "chosen_" in self.__dict__:  # a choice is kept until the next fit
            return self.recipe(), {"chosen_": self.chosen_}
        recipe = self._recipe_for(None)
        if isinstance(recipe.structure, (Auto, Pooled, Trees)):
            recipe = recipe.part(Auto())
        place = choose_recipe([replace(recipe, prior=prior) for prior in PRIORS], X, y, sample_weight)
        chosen = {"prior": 0.5 if place is None else PRIORS[place]}
        return self._recipe_for(chosen), {"chosen_": chosen}

    def _check(self, recipe: Recipe, tally: Tally) -> None:
        for setting, by_name in (("estimate", self.estimate), ("prior", self.prior)):
            if isinstance(by_name, Mapping):
                _check_names(setting, by_name, tally)
        super()._check(recipe, tally)
        for block in tally.schema.blocks:
            for name, coding in zip(block.names or (), block.codings or (), strict=False):
                family = self.families.get(name) if isinstance(self.families, Mapping) else self.families
                coding = coding.values if isinstance(coding, MissingLevel) else coding
                if isinstance(coding, Combinations):
                    continue
                if family == "bernoulli" and isinstance(coding, Levels) and coding.size > 2:
                    raise ValueError(
                        f"column {name!r} is bernoulli, but has more than two values: "
                        f"{', '.join(repr(label) for label in coding.labels[:4])}; make it categorical"
                    )

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = super().__repr__(N_CHAR_MAX=N_CHAR_MAX)
        return text if not self.__sklearn_is_fitted__() else f"{text}\n{describe(self)}"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags


def _family_of(columns: Columns) -> Family:
    """Return the family of a block: the registered one, or `Complement` for texts with ``complement=True``."""
    words = columns.codings[0] if columns.codings else None
    return Complement() if isinstance(words, Words) and words.text.complement else FAMILIES[columns.family]


def _check_names(setting: str, by_name: Mapping[Any, Any], tally: Tally) -> None:
    """Raise if a key of {column or family: value} is neither a column nor a family."""
    columns = () if tally.schema.features is None else tally.schema.features.names
    families = [name for name in dict.fromkeys([*FAMILIES, *NUMERIC]) if name != "auto"]
    for name in by_name:
        if name not in columns and name not in families and name not in FAMILIES:
            similar = get_close_matches(str(name), [str(known) for known in [*columns, *families]], 1)
            hint = f"; did you mean {similar[0]!r}? The" if similar else "; the"
            raise ValueError(
                f"{setting}={{…}} names {name!r}, which is neither a column nor a family{hint} columns are "
                f"{list_names([str(column) for column in columns])}, and the families {', '.join(families)}"
            )


def _select_cells(distribution: Any, start: int, end: int) -> Any:
    """Return the distributions of a range of cells, out of arrays [class, cell]."""
    arguments = [argument[:, start:end] for argument in distribution.args]
    return distribution.dist(*arguments, **{name: each[:, start:end] for name, each in distribution.kwds.items()})
