"""A draft: what is computed of a row, stage by stage, and the one SELECT that these stages make."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from suffice.data.column_names import renamed
from suffice.export.dialects import Dialect, ExportError
from suffice.export.sql_terms import Term, as_double, number, squared, whole

PREFIX = "suffice_"

# No function is called with more terms than this at once: SQLite takes 127 of them, or 100.
MOST_TERMS = 40

# Next to nothing, and its square is a number.
SPECK = 1e-150


class Draft:
    """Columns that are computed of a row, in stages: a stage is computed from those before it.

    Their names start with ``suffice_``, and with more than that where a column of the model does so, too; with the
    table's name, if ``present`` says what columns it has. Columns of the model that are not among those are empty.
    """

    def __init__(
        self,
        dialect: Dialect,
        columns: Sequence[str],
        table: str | Sequence[str],
        present: Sequence[str] | None = None,
    ) -> None:
        self.dialect, self.columns = dialect, tuple(columns)
        self.table = _parts(dialect, table)
        for column in self.columns:
            dialect.checked_name(column, "column")
        self.taken = self.columns if present is None else tuple(present)
        there = {self._folded(name) for name in self.taken}
        self.there = tuple(column for column in self.columns if self._folded(column) in there)
        # where its columns are known it is one of many that may be put together, and has a name of its own
        self.prefix = PREFIX if present is None else f"{self.table[-1].lower()}_"
        while any(name.lower().startswith(self.prefix) for name in (*self.columns, *self.taken, *self.table)):
            self.prefix += "_"
        self.stages: list[dict[str, Term]] = [{}]
        self.unknown: list[Term] = []

    def put(self, stage: int, name: str, term: Term) -> str:
        """Compute a term in a stage; return the name that it has in later ones."""
        while len(self.stages) <= stage:
            self.stages.append({})
        self.stages[stage][self.prefix + name] = term
        return self.prefix + name

    def own(self, name: str) -> Term:
        """Return what was computed under a name."""
        return exp.column(name, quoted=True)

    def cell(self, column: str) -> Term:
        """Return the table's cell, for the first stage; an empty one where the table has no such column."""
        if column not in self.there:
            return as_double(exp.null())
        if self.dialect.keeps == "join":
            return exp.column(self._key(column), quoted=True)
        return self._cell(column)

    def greatest(self, terms: Sequence[Term]) -> Term:
        """Return the greatest of terms, none of which is NULL."""
        # by name: what sqlglot makes of its own differs by its version, and may guard each term against NULL
        called, left = "MAX" if self.dialect.name == "sqlite" else "GREATEST", list(terms)
        while len(left) > 1:
            some = [left[first : first + MOST_TERMS] for first in range(0, len(left), MOST_TERMS)]
            left = [its[0] if len(its) == 1 else exp.Anonymous(this=called, expressions=its) for its in some]
        return left[0]

    def squared(self, term: Term) -> Term:
        """Return the square of a long term of a size about 1; where it is an error to be too small, of no less."""
        if self.dialect.underflows:
            term = exp.Add(this=exp.Abs(this=term), expression=number(SPECK))
        return squared(term)

    def select(self, found: dict[str, Term]) -> str:
        """Return the statement: all columns of the table, and what was found."""
        self.stages = [stage for stage in self.stages if stage]
        how = {"except": self._chained, "row": self._around, "lateral": self._beside, "join": self._joined}
        query = how[self.dialect.keeps]() if self.stages else exp.select(self._star("t")).from_(self._source())
        said = self._named(found)
        # lines are indented, and what a name holds of lines would be with them
        pretty = all(len(name.splitlines()) == 1 for name in (*said, *self.there, *self.table))
        return (
            query.select(*_aliases(said), copy=False).sql(dialect=self.dialect.name, pretty=pretty, copy=False) + "\n"
        )

    def _chained(self) -> exp.Select:
        """Return stages as common tables, and in the end all columns but those that were computed on the way."""
        tables = self._common(exp.select(self._star("t")).from_(self._source()))
        hidden = [exp.to_identifier(name, quoted=True) for stage in self.stages for name in stage]
        last, _ = tables[-1]
        but = "except_" if "except_" in exp.Star.arg_types else "except"  # as it was called before
        star = exp.Column(this=exp.Star(**{but: hidden}), table=self._name(last))
        return self._after(tables, exp.select(star).from_(self._reference(last)))

    def _around(self) -> exp.Select:
        """Return stages as common tables that carry each row whole, as one value, and in the end its columns again."""
        row = exp.alias_(exp.column(self.prefix + "t", quoted=True), self.prefix + "row", quoted=True)
        tables = self._common(exp.select(row).from_(self._source()))
        last, _ = tables[-1]
        whole = exp.Paren(this=exp.column(self.prefix + "row", table=self.prefix + last, quoted=True))
        star = exp.Dot(this=whole, expression=exp.Star())
        # or else PostgreSQL writes each stage into the next, and computes it as often as it is named
        apart = [(name, table.offset(0, copy=False)) for name, table in tables]
        return self._after(apart, exp.select(star).from_(self._reference(last)))

    def _beside(self) -> exp.Select:
        """Return stages as subqueries beside the table, each of which sees those before it."""
        query = exp.select(self._star("t")).from_(self._source())
        for place, stage in enumerate(self.stages):
            inner = exp.select(*_aliases(stage))
            alias = exp.TableAlias(this=self._name(str(place)))
            query = query.join(exp.Lateral(this=inner.subquery(copy=False), alias=alias), join_type="cross", copy=False)
        return query

    def _joined(self) -> exp.Select:
        """Return stages for all rows that differ in what the model reads, joined to the table by what it reads.

        Neither can SQLite leave out columns of a star, nor name what is computed beside a table.
        """
        keys: dict[str, Term] = {self._key(column): _binary(self._cell(column)) for column in self.there}
        if not keys:  # the table has nothing that the model reads: all rows are alike
            keys = {f"{self.prefix}k": whole(1)}
        distinct = exp.select(*_aliases(keys)).from_(self._source()).distinct()
        tables = [("keys", distinct), *self._common(exp.select(self._star("keys")).from_(self._reference("keys")))]
        # what passes a statement on may leave out that tables are to be kept: none is written into the next anyway
        tables = [
            (name, table.limit(exp.Neg(this=whole(1)), copy=False).offset(0, copy=False)) for name, table in tables
        ]
        last, _ = tables[-1]
        alike = []
        for column in self.there:
            computed = exp.column(self._key(column), table=self.prefix + last, quoted=True)
            alike.append(exp.NullSafeEQ(this=_binary(self._cell(column)), expression=computed))
        query = exp.select(self._star("t")).from_(self._source())
        # a cross join goes through the table first, so that rows come in its order
        query = query.join(
            self._reference(last), on=exp.and_(*alike, copy=False) if alike else None, join_type="cross", copy=False
        )
        return self._after(tables, query, materialized=True)

    def _common(self, query: exp.Select) -> list[tuple[str, exp.Select]]:
        """Return stages as tables, each with all that the one before it has."""
        tables: list[tuple[str, exp.Select]] = []
        for place, stage in enumerate(self.stages):
            if tables:
                query = exp.select(self._star(tables[-1][0])).from_(self._reference(tables[-1][0]))
            tables.append((str(place), query.select(*_aliases(stage), copy=False)))
        return tables

    def _after(
        self, tables: list[tuple[str, exp.Select]], query: exp.Select, materialized: bool | None = None
    ) -> exp.Select:
        for name, table in tables:
            query = query.with_(self._name(name), as_=table, materialized=materialized, copy=False)
        return query

    def _named(self, found: dict[str, Term]) -> dict[str, Term]:
        """Return what was found under names that no column has."""
        taken = list(self.taken)
        named: dict[str, Term] = {}
        for name, term in found.items():  # one by one: some may be the same where a dialect has plain names alone
            said = renamed({self.dialect.result_name(name): term}, taken, folds=self.dialect.folds)
            taken += said
            named |= said
        return named

    def _folded(self, name: str) -> str:
        return name.lower() if self.dialect.folds else name

    def _source(self) -> exp.Table:
        last, *above = (exp.to_identifier(part, quoted=True) for part in reversed(self.table))
        alias = exp.TableAlias(this=self._name("t"))
        return exp.Table(this=last, alias=alias, **dict(zip(("db", "catalog"), above, strict=False)))

    def _cell(self, column: str) -> exp.Column:
        # with the table's name: alone, a name that is no column would be a text to SQLite
        return exp.column(column, table=self.prefix + "t", quoted=True)

    def _key(self, column: str) -> str:
        return f"{self.prefix}k{self.columns.index(column)}"

    def _name(self, name: str) -> exp.Identifier:
        return exp.to_identifier(self.prefix + name, quoted=True)

    def _star(self, name: str) -> exp.Column:
        return exp.Column(this=exp.Star(), table=self._name(name))

    def _reference(self, name: str) -> exp.Table:
        return exp.Table(this=self._name(name), alias=exp.TableAlias(this=self._name(name)))


def _parts(dialect: Dialect, table: str | Sequence[str]) -> tuple[str, ...]:
    """Return the parts of a table's name, or say what is wrong with it."""
    parts = tuple(table.split(".")) if isinstance(table, str) else table
    if not isinstance(parts, (tuple, list)) or not all(isinstance(part, str) for part in parts):
        raise TypeError(f"table is a name, such as 'shop.orders', or its parts, ('shop', 'orders'), not {table!r}")
    if table == "":
        raise ExportError("table is to be the name of a table, and is empty")
    if not 1 <= len(parts) <= 3:
        raise ExportError(f"a table's name has one to three parts, and {table!r} has {len(parts)}")
    for part in parts:
        if not part:
            raise ExportError(f"a part of the table's name {table!r} is empty")
        if not dialect.has_name(part):
            raise ExportError(f"the table's name {part!r} is no name that {dialect.title} can have")
    return tuple(parts)


def _aliases(named: dict[str, Term]) -> list[Term]:
    return [exp.alias_(term, name, quoted=True, copy=False) for name, term in named.items()]


def _binary(term: Term) -> Term:
    # a column of SQLite may be told not to tell capitals apart; a model does
    return exp.Collate(this=term, expression=exp.Var(this="BINARY"))
