"""BayesClassifier: naive Bayes for a table as it is."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions

from suffice.classifiers.afar import learned_from
from suffice.classifiers.choosing import PRIORS, best_of, structures_for
from suffice.classifiers.tabled import TabledClassifier
from suffice.data import check_table, split_frame
from suffice.data.column_names import few
from suffice.data.cuts import CUTTERS
from suffice.data.engines.open_source import opened
from suffice.data.plan import NUMERIC
from suffice.estimation import RULES, posterior_hyperparameters
from suffice.families import FAMILIES, Family
from suffice.families.complement import Complement
from suffice.priors import by_name
from suffice.schema import Columns, Levels, Words
from suffice.statistics import Tally
from suffice.structures import STRUCTURES, Chain, Structure


class BayesClassifier(TabledClassifier):
    """Bayes' rule for tables: numbers, categories, booleans, texts and empty cells side by side.

    log p(x, class) = log P(class) + Σ over blocks of columns of log p(block given class): each column by
    its own family, each block by a structure. In the naive one all columns are independent.

    Parameters
    ----------
    families : "auto", a family, or dict {column: family}, default="auto"
        What each column is: "bernoulli", "categorical", "gaussian", "poisson", "quantiles" or "mdl"
        (numbers cut into bins), "text" or `Text`, "multinomial" or "complement" (all such columns
        together), "ignore", or "auto", which is also what columns get that are not named.
    structure : "auto", "naive", "chain", "tree", "averaged", "full", or a Structure, default="auto"
        Which column depends on which, given the class. "auto" is "averaged" where there is room for the
        pairs of all columns, else "naive". Settings are those of `Chain`, `Tree`, `Averaged` and `Full`.
    numeric : {"gaussian", "quantiles", "mdl", "auto"}, default="auto"
        What columns of many different numbers are, unless named: real numbers about a mean, numbers
        cut into ten bins of equal weight, numbers cut where the classes differ, or for each column
        that of the three which tells most about the classes, each row judged by all others.
    estimate : {"mle", "map", "mean", "predictive"}, default="mean"
        How parameters are read off the data.
    prior : number, Prior, dict {column or family: prior}, "auto" or "auto-by-column", default=0.5
        What was believed of them; "mle" has no use for it. "auto" is the pseudo-count that predicts rows held
        out best, chosen together with the structure if that is "auto", too (``chosen_``);
        "auto-by-column" has the most evidence, column by column.
    class_prior : "empirical", "uniform", array-like, dict {label: p}, number or Prior, default="empirical"
        The probabilities of the classes.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` makes probabilities honest, by predictions for rows held out; None leaves them as they are.

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
        "estimate": [StrOptions(set(RULES))],
    }

    def __init__(
        self,
        *,
        families: Any = "auto",
        structure: Any = "auto",
        numeric: str = "auto",
        estimate: str = "mean",
        prior: Any = 0.5,
        class_prior: Any = "empirical",
        calibrate: str | None = None,
    ) -> None:
        self.families = families
        self.structure = structure
        self.numeric = numeric
        self.estimate = estimate
        self.prior = prior
        self.class_prior = class_prior
        self.calibrate = calibrate

    def fit_table(self, source: Any, target: str, *, weight: str | None = None, missing_target: str = "error") -> Self:
        """Learn from a table that has the labels in a column of its own.

        Parameters
        ----------
        source : data frame, path, or table of an engine
            The table: a frame of pandas, polars or pyarrow; a file, a glob, a folder or several of them (CSV,
            Parquet, JSON lines, Arrow); a table expression of Ibis on any backend; a frame of Spark; a lazy
            frame of polars; or an iterable of frames or record batches. But for frames, rows stay where they
            are: one scan takes the sums, after a look at up to 100,000 rows that show what the columns are.
        target : str
            The name of the column with the labels.
        weight : str, default=None
            The name of a column with the weight of each row.
        missing_target : {"error", "drop"}, default="error"
            What to do about rows without a label.

        Returns
        -------
        self : object
        """
        far = opened(source)
        if far is None:
            X, y, weights = split_frame(source, target, weight, missing_target)
            self.fit(X, y, weights)
        else:
            check_table(far.names, target, weight, missing_target)
            near, tally = learned_from(far, clone(self), target, weight, missing_target)
            near._check(tally)
            for name in self._kept:
                self.__dict__.pop(name, None)
                if name in near.__dict__:
                    self.__dict__[name] = near.__dict__[name]
            self.tally_ = tally
        self.target_name_ = target
        self.__dict__.pop("weight_name_", None)
        if weight is not None:
            self.weight_name_ = weight
        return self

    _kept = ("calibration_", "chosen_", "target_name_", "weight_name_")
    chosen_: dict[str, Any]
    target_name_: str
    weight_name_: str

    @property
    def families_(self) -> dict[Any, str]:
        """The family of each column that was learned, in the order of the table."""
        schema = self._learned().schema
        found = {
            name: its for block in schema.blocks for name, its in zip(block.names or (), block.families, strict=True)
        }
        return {name: found[name] for name in self._features.names if name in found}

    @property
    def left_out_(self) -> dict[Any, str]:
        """The columns that were left out, with the reason."""
        return dict(self._features.left_out)

    @property
    def posterior_(self) -> dict[Any, dict[str, Any]]:
        """What is believed of the parameters of each column: distributions of scipy.stats, [class, …]."""
        tally = self._learned()
        self._check(tally)
        believed: dict[Any, dict[str, Any]] = {}
        for (family, columns, statistic), prior in zip(self._subjects(tally), self._priors(tally), strict=True):
            marginals = family.marginals(columns, posterior_hyperparameters(family, columns, statistic, prior))
            ends = columns.starts + (1 if columns.sizes is None else columns.sizes)
            for name, start, end in zip(columns.names or (), columns.starts, ends, strict=True):
                believed[name] = {what: _cells(each, start, end) for what, each in marginals.items()}
        return believed

    @property
    def prior_(self) -> Any:
        """The prior in use: as set, or {column: pseudo-count} as "auto" chose."""
        tally = self._learned()
        self._check(tally)
        if self._chooses or not isinstance(self.prior, str):
            return self._chosen("prior")
        found: dict[Any, float] = {}
        for columns, prior in zip(tally.schema.blocks, self._priors(tally), strict=True):
            found |= dict(zip(columns.names or (), np.broadcast_to(prior, columns.count).tolist(), strict=True))
        return {name: found[name] for name in self._features.names if name in found}

    @property
    def _chooses(self) -> bool:
        """Whether the prior, and the structure unless it is said, are chosen by what they predict."""
        return isinstance(self.prior, str) and self.prior == "auto" and self.estimate != "mle"

    @property
    def _hangs_on_rows(self) -> bool:
        """Whether more than the kinds of columns is read off rows: where numbers are cut, what is chosen."""
        said = self.families
        each = said.values() if isinstance(said, Mapping) else [said]
        kinds = {its for its in each if isinstance(its, str)}
        if "auto" in kinds or isinstance(said, Mapping):
            kinds = kinds - {"auto"} | {self._numeric}
        return self._chooses or self.calibrate is not None or bool(kinds & {*CUTTERS, "auto"})

    @property
    def _adds_up(self) -> bool:
        return not self._chooses and super()._adds_up

    def _learn(self, known: Tally | None, X: Any, y: Any, classes: Any, sample_weight: Any, *, whole: bool) -> Self:
        """Learn, after the choice of what is to be chosen; what was chosen once stays until ``fit``."""
        if not self._chooses or (not whole and "chosen_" in self.__dict__):
            learned = super()._learn(known, X, y, classes, sample_weight, whole=whole)
            if not self._chooses:
                self.__dict__.pop("chosen_", None)
            return learned
        before = self.__dict__.get("chosen_")
        self.chosen_ = self._choice(X, y, sample_weight)
        try:
            return super()._learn(known, X, y, classes, sample_weight, whole=whole)
        except BaseException:
            self.__dict__.pop("chosen_")
            if before is not None:
                self.chosen_ = before
            raise

    def _choice(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        """Return the structure and the prior of the least log-loss on rows held out."""
        by_itself = isinstance(self.structure, str) and self.structure == "auto"
        opened = self._opened(X, None)  # what is wrong with X is said before what is chosen for it
        grid = [
            {"structure": structure, "prior": prior}
            for structure in (structures_for(opened) if by_itself else (self.structure,))
            for prior in PRIORS
        ]
        settings = self.get_params(deep=False) | {"calibrate": None}
        place = best_of([type(self)(**settings | choice) for choice in grid], X, y, sample_weight)
        return grid[place] if place is not None else {"structure": self.structure, "prior": 0.5}

    def _chosen(self, name: str) -> Any:
        """Return a setting, or what was chosen in its place."""
        said = getattr(self, name)
        if not self._chooses or not (isinstance(said, str) and said == "auto"):
            return said
        if name == "prior" and "chosen_" not in self.__dict__ and self.__sklearn_is_fitted__():
            raise ValueError('prior="auto" is chosen by fit, and this was fitted without it: fit again')
        return self.__dict__.get("chosen_", {}).get(name, {"structure": "auto", "prior": 0.5}[name])

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        said = super().__repr__(N_CHAR_MAX=N_CHAR_MAX)
        return said if not self.__sklearn_is_fitted__() else f"{said}\n{_described(self)}"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags

    def _structure(self) -> Structure:
        structure = self._chosen("structure")
        if isinstance(structure, Structure):
            return structure
        if not isinstance(structure, str) or structure not in STRUCTURES:
            raise ValueError(f"structure={structure!r} is not known; it is one of {', '.join(STRUCTURES)}")
        return STRUCTURES[structure]

    def _check_settings(self, tally: Tally) -> None:
        structure, features = self._structure(), tally.schema.features
        if isinstance(structure, Chain) and not isinstance(structure.order, str) and features is not None:
            unknown = [name for name in structure.order if name not in features.names]
            if unknown:
                raise ValueError(f"Chain(order=…) names {unknown[0]!r}, which is no column")
        if isinstance(self.prior, Mapping):
            _check_named(self.prior, tally)
        super()._check_settings(tally)
        for block in tally.schema.blocks:
            for name, coding in zip(block.names or (), block.codings or (), strict=False):
                asked = self.families.get(name) if isinstance(self.families, Mapping) else self.families
                if asked == "bernoulli" and isinstance(coding, Levels) and coding.size > 2:
                    raise ValueError(
                        f"column {name!r} is bernoulli, and has more than two values: "
                        f"{', '.join(repr(label) for label in coding.labels[:4])}; make it categorical"
                    )

    def _estimator(self, columns: Columns) -> Family:
        if columns.codings is not None and isinstance(columns.codings[0], Words) and columns.codings[0].text.complement:
            return Complement()
        return FAMILIES[columns.family]

    def _prior_setting(self, columns: Columns) -> Any:
        chosen = self._chosen("prior")
        return chosen if self._chooses else by_name(super()._prior_setting(columns), columns)


def _check_named(prior: Mapping[Any, Any], tally: Tally) -> None:
    """Raise if {column or family: prior} names what is neither."""
    columns = () if tally.schema.features is None else tally.schema.features.names
    names = [*columns, *FAMILIES, *NUMERIC]
    for name in prior:
        if name not in names:
            near = get_close_matches(str(name), [str(each) for each in names], 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"prior={{…}} names {name!r}, which is neither a column nor a family{hint}")


def _cells(distribution: Any, start: int, end: int) -> Any:
    """Return the distributions of a few cells out of those of many, [class, cell]."""
    arguments = [argument[:, start:end] for argument in distribution.args]
    return distribution.dist(*arguments, **{name: each[:, start:end] for name, each in distribution.kwds.items()})


def _described(model: BayesClassifier) -> str:
    """Return in a few lines what a model has learned: the classes, and the columns by family."""
    shares = model.class_count_ / model.class_count_.sum()
    classes = [f"{label} {share:.1%}" for label, share in zip(model.classes_.tolist(), shares.tolist(), strict=True)]
    lines = [f"{model.class_count_.sum():g} rows, {len(classes)} classes: {few(classes)}"]
    by_family: dict[str, list[str]] = {}
    for name, family in model.families_.items():
        by_family.setdefault(family, []).append(str(name))
    blocks = model.tally_.schema.blocks
    name = model._structure().name
    structure = ("averaged" if any(block.pairs for block in blocks) else "naive") if name == "auto" else name
    by_family = {"structure": [structure], **by_family}
    by_family |= {"left out": [f"{name} ({reason})" for name, reason in model.left_out_.items()]}
    width = max(map(len, by_family))
    lines += [f"{family:<{width}}  {few(names)}" for family, names in by_family.items() if names]
    return "\n".join(f"  {line}" for line in lines)
