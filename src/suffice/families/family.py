"""Family and Parameters: the interface that every family of distributions implements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np

from suffice.blocks import Block, Function, Part
from suffice.families import description
from suffice.families.domain import Domain
from suffice.families.left_out import LeftOut
from suffice.priors import Prior, broadcast_to_columns
from suffice.schema import Array, Columns, Frozen, Words, by_group, field_names
from suffice.score import Score
from suffice.statistics import Statistic

Hyperparameters = tuple[Array, ...]
Cells = Literal["numbers", "counts", "bits", "levels", "words"]

NO_POSTERIOR = "under this prior, and with so few rows, there is no posterior distribution; use a larger prior"
NO_EVIDENCE = "a pseudo-count of 0 has no evidence: it is no distribution; use a prior of more than 0"


@dataclass(frozen=True)
class Parameters(Frozen, ABC):
    """Estimated p(x | class) of a block of columns, as arrays [class, column, …].

    Attributes
    ----------
    is_conditional, is_correction : bool
        As those of `Structure`, which has estimated them.
    """

    is_conditional: ClassVar[bool] = False
    is_correction: ClassVar[bool] = False

    @abstractmethod
    def score(self) -> Score:
        """Return log p(x | class) as a sum of terms."""

    @property
    def n_parameters(self) -> int:
        """The number of free parameters of all classes: by default the entries of the first array."""
        return int(getattr(self, field_names(type(self))[0]).size)

    def as_linear(self) -> tuple[str, Array, Array]:
        """Return features, weights [class, feature] and biases [class] of log p(x | class) as a linear function.

        The first value names the features: "linear", "quadratic" or "one-hot". The linear function may differ from
        log p(x | class) by a term that is the same for all classes.
        """
        raise ValueError("the log probability of these columns is not linear in any lift of them")

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        """Return rows drawn from class k, [row, column]: numbers, codes of levels, or counts."""
        raise ValueError("these columns have a score that is not a probability, so no rows can be drawn from them")


class Family(ABC):
    """The distribution of one kind of column given the class, with its conjugate prior.

    A family is a set of pure functions of arrays. `prior_hyperparameters` returns the hyperparameters of a prior,
    `posterior_hyperparameters` adds a statistic to them, and every estimate is a function of hyperparameters. Arrays
    of a statistic are [class, column], or [row, class, column] for leave-one-out, where each row has its own sums.

    To add a family, write one file with a subclass of `Family` and one of `Parameters`, and register it with
    ``suffice.families.register(MyFamily())``.

    Attributes
    ----------
    name : str
        The name by which users ask for the family, as in ``BayesClassifier(families={"x": name})``. The name of an
        instance with a setting ends with it in parentheses, such as "von-mises(360)".
    cells : {"numbers", "counts", "bits", "levels", "words"}
        What a cell contains: a real number, a count 0, 1, 2, …, a number that is compared with a threshold, the code of
        a level, or a text.
    coded_as : str or None
        The family that counts columns of this family in a table of levels, such as "categorical"; None if cells are
        numbers.
    accepts_sparse : bool
        Whether the columns may be a sparse matrix, whose cells that are not stored are 0.
    is_compositional : bool
        Whether the columns of a block are parts of one distribution, so a single column has no distribution of its own.
    is_separate : bool
        Whether the parameters of a class depend on the sums of no other class. They do if a prior is made of all rows.
    is_whole : bool
        Whether numbers must be whole; a database then checks for fractions.
    setting : str or None
        The field that a number after the name sets, as in "binomial(10)"; None if there is none.
    sql_sums : {"levels", "moments", "totals", "squares", "functions"} or None
        The sums from which a database computes the statistic: counts of levels, moments of the numbers, their totals,
        their totals and those of their squares, or the totals of two functions of them. None if SQL cannot compute it;
        the rows are then read.
    functions : tuple of Function or None
        The functions of a number whose moments or totals are counted; None is the number itself.
    domain : Domain
        The numbers that a column may hold. Readers reject others.
    rules : tuple of str
        The rules by which parameters can be estimated.
    """

    name: ClassVar[str]
    cells: ClassVar[Cells] = "numbers"
    coded_as: ClassVar[str | None] = None
    accepts_sparse: ClassVar[bool] = False
    is_compositional: ClassVar[bool] = False
    is_separate: ClassVar[bool] = False
    is_whole: ClassVar[bool] = False
    setting: ClassVar[str | None] = None
    sql_sums: ClassVar[Literal["levels", "moments", "totals", "squares", "functions"] | None] = None
    rules: ClassVar[tuple[str, ...]] = ("mle", "map", "mean", "predictive")
    domain: Domain = Domain()

    @property
    def functions(self) -> tuple[Function | None, ...]:
        """The functions of a number whose moments or totals are counted; None is the number itself."""
        return (None,)

    @property
    def full_name(self) -> str:
        """The name with the value of the setting, if it is set: "binomial(10)"."""
        value = None if self.setting is None else getattr(self, self.setting)
        return self.name if value is None else f"{self.name}({value:.17g})"

    def refuses(self, values: Array) -> Array:
        """Return which numbers are invalid; NaN is a missing cell. By default, all are valid."""
        return np.zeros(values.shape, bool)

    def refusal(self, value: float) -> str:
        """Return the end of an error message: what the family accepts, and which families accept the invalid value."""
        return f"{self.full_name} does not take it"

    def check_cells(self, block: Block) -> None:
        """Raise ValueError if a cell is invalid, with its row, column and value."""
        if type(self).refuses is Family.refuses:
            return
        found = block.find(slice(0, block.shape[0]), self.refuses)
        if found is not None:
            row, column, value = found
            if np.isinf(value):
                block.reject_not_finite(row, column, value)
            raise ValueError(f"{block.name(column)} is {value:g} in row {row}, but {self.refusal(value)}")

    @property
    def generative(self) -> Family:
        """The family whose marginal likelihood is used: this family, unless its score is not a probability."""
        return self

    def sparse_columns(self, names: tuple[Any, ...]) -> Columns:
        """Return the columns of a sparse matrix."""
        return Columns(self.name, len(names), names)

    @abstractmethod
    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Statistic]:
        """Return the columns, with the levels that occur, and the sums over a part of the rows."""

    @abstractmethod
    def prior_hyperparameters(self, prior: Any, columns: Columns, statistic: Statistic) -> Hyperparameters:
        """Return the hyperparameters of a prior: a number of pseudo-rows or a `Prior`."""

    @abstractmethod
    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: Any) -> Hyperparameters:
        """Return the hyperparameters after the data, [class, …]."""

    @abstractmethod
    def maximum_likelihood(self, columns: Columns, statistic: Any) -> Parameters:
        """Return the maximum-likelihood parameters."""

    @abstractmethod
    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        """Return the mode of the posterior."""

    @abstractmethod
    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        """Return the mean of the posterior."""

    def left_out(self, columns: Columns, statistic: Any) -> LeftOut | None:
        """Return what scores rows by the maximum likelihood of all other rows; None if it has no closed form here."""
        return None

    @abstractmethod
    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        """Return p(x | class) averaged over the parameters."""

    @abstractmethod
    def log_partition(self, columns: Columns, hyperparameters: Hyperparameters) -> Array:
        """Return log Z, the logarithm of the normalising constant of the conjugate prior, [class, column]."""

    @abstractmethod
    def marginals(self, columns: Columns, hyperparameters: Hyperparameters) -> dict[str, Any]:
        """Return the distribution of each parameter, as scipy.stats distributions [class, column or level]."""

    @abstractmethod
    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> Parameters:
        """Return parameters drawn from the posterior."""

    def location(self, statistic: Any) -> tuple[Array, Array]:
        """Return the mean and the approximate standard deviation of each column in each class, [class, column].

        By default, they are those of a Poisson distribution: the rate and its square root.
        """
        rate = statistic.total / np.maximum(np.broadcast_to(statistic.n, statistic.total.shape), 1)
        return rate, np.sqrt(rate)

    def log_location(self, statistic: Any) -> tuple[Array, Array] | None:
        """Return the mean and the standard deviation of log x, if columns hold positive numbers; None by default."""
        return None

    def support(self, columns: Columns, statistic: Any, j: int, seen: Sequence[float] = ()) -> description.Support:
        """Return the values that column j can have; ``seen`` are values that a numeric support has to include."""
        if columns.codings is not None:
            return description.support_of_coding(columns.codings[j])
        mean, deviation = (each[:, j] for each in self.location(statistic))
        if self.cells == "counts":
            return description.support_of_counts(float(np.ceil((mean + 3 * deviation).max())), list(seen))
        some = np.broadcast_to(statistic.n, (len(statistic.n), columns.count))[:, j] > 0
        if not some.any():  # all cells are missing
            return description.support_of_numbers(0.0, 1.0, list(seen))
        low, high = (mean - 3 * deviation)[some].min(), (mean + 3 * deviation)[some].max()
        low, high = self.domain.clip(np.array([low, high])).tolist()
        found = description.support_of_numbers(float(low), float(high), list(seen))
        is_possible = ~self.refuses(np.array(found.values))
        return replace(found, values=np.array(found.values)[is_possible].tolist())

    def summarize(self, columns: Columns, statistic: Any, j: int) -> dict[str, Any]:
        """Return the summary of column j in each class that the report shows.

        The key "shows" is "words" (with "words"), "levels" (with "labels", "shares", "more") or "numbers" (with
        "mean", "spread").
        """
        coding = columns.codings[j] if columns.codings else None
        if isinstance(coding, Words):
            return description.summarize_words(coding, statistic.total)
        if columns.sizes is not None:
            return description.summarize_levels(columns, statistic, j)
        if self.cells == "numbers":
            mean, spread = (each[:, j].tolist() for each in self.location(statistic))
            return {"shows": "numbers", "mean": mean, "spread": spread}
        means = statistic.total[:, j] / description.rows_of(statistic, j)
        return {"shows": "numbers", "mean": means.tolist(), "spread": [0.0] * len(means)}

    def information(self, columns: Columns, statistic: Any) -> Array:
        """Return the mutual information I(column; class) in nats, [column].

        By default, it is computed from the maximum-likelihood distributions pₖ and the shares πₖ of the classes,
        Σₖ πₖ Σₓ pₖ(x)·log(pₖ(x) / Σₗ πₗ·pₗ(x)).
        """
        mean, deviation = self.location(statistic)
        n = np.broadcast_to(statistic.n, (len(statistic.n), columns.count))
        shares = n / np.maximum(n.sum(axis=0), 1e-300)

        def score_of(places: Array) -> Score:
            arrays = {
                name: array[:, places] if array.shape[1] == columns.count else array
                for name, array in statistic.arrays().items()
            }
            few = replace(columns, count=len(places), names=None)
            return self.maximum_likelihood(few, replace(statistic, **arrays)).score()

        of_logs = self.log_location(statistic)
        if of_logs is not None:
            return description.information_of_scores(score_of, shares, *of_logs, is_count=False, is_log=True)
        return description.information_of_scores(score_of, shares, mean, deviation, is_count=self.cells == "counts")


def log_ratio(part: Array, whole: Array, otherwise: Array | float, epsilon: float = 0.0) -> Array:
    """Return log(part / whole + ε): −∞ where the part is 0 and ε too, and log(otherwise + ε) where the whole is 0.

    >>> log_ratio(np.array([0.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0]), 0.5).tolist()
    [-inf, 0.0, -0.6931471805599453]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_p = np.where(whole > 0, np.log(part) - np.log(whole), np.log(otherwise))
    return log_p if epsilon == 0 else np.log(np.exp(log_p) + epsilon)


def check_proper(hyperparameters: Hyperparameters, message: str = NO_POSTERIOR) -> Hyperparameters:
    """Return the hyperparameters if all are positive, as those of a distribution have to be; else raise ValueError."""
    if not all((np.asarray(each) > 0).all() for each in hyperparameters):
        raise ValueError(message)
    return hyperparameters


def fields_by_column(prior: Prior, count: int) -> Hyperparameters:
    """Return each hyperparameter of a prior as one number per column, [1, column].

    >>> from suffice import Beta
    >>> [each.tolist() for each in fields_by_column(Beta(1, [2, 3]), 2)]
    [[[1.0, 1.0]], [[2.0, 3.0]]]
    """
    values = {f"{type(prior).__name__}({field.name}=…)": getattr(prior, field.name) for field in fields(prior)}
    return tuple(broadcast_to_columns(value, count, what)[None] for what, value in values.items())


def draw_weights(alpha: Array, starts: Array, rng: np.random.Generator) -> Array:
    """Return Gamma(α, 1) draws, each group (from one start to the next) scaled so that its largest is 1.

    Draws are made as logarithms, log Γ(α + 1)-draw + log(u) / α, because those of a small α would underflow.
    """
    alpha = np.maximum(alpha, 1e-300)
    with np.errstate(over="ignore"):
        logs = np.log(rng.standard_gamma(alpha + 1)) + np.log(rng.random(alpha.shape)) / alpha
    logs = np.maximum(logs, -1e300)
    sizes = np.diff([*starts, alpha.shape[1]])
    return np.asarray(np.exp(logs - np.repeat(by_group(np.maximum, logs, starts), sizes, axis=1)))
