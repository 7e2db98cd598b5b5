"""A draft: what is computed of a row, stage by stage, and the one SELECT that these stages make."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from suffice.export.dialects import Dialect, ExportError
from suffice.export.terms import Term

PREFIX = "suffice_"


class Draft:
    """Columns that are computed of a row, in stages: a stage is computed from those before it.

    Their names start with ``suffice_``, and with more than that where a column of the model does so, too.
    """

    def __init__(self, dialect: Dialect, columns: Sequence[str], table: str | Sequence[str]) -> None:
        self.dialect, self.columns = dialect, tuple(columns)
        self.table = tuple(table.split(".")) if isinstance(table, str) else tuple(table)
        if not 1 <= len(self.table) <= 3:
            raise ExportError(f"a table's name has one to three parts, and {table!r} has {len(self.table)}")
        for part in self.table:
            dialect.checked_name(part, "the table's name")
        for column in self.columns:
            dialect.checked_name(column, "column")
        self.prefix = PREFIX
        while any(name.lower().startswith(self.prefix) for name in (*self.columns, *self.table)):
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
        """Return the table's cell, for the first stage."""
        if self.dialect.keeps == "join":
            return exp.column(self._key(column), quoted=True)
        return self._cell(column)

    def greatest(self, terms: Sequence[Term]) -> Term:
        """Return the greatest of terms, none of which is NULL."""
        if len(terms) == 1:
            return terms[0]
        # by name: what sqlglot makes of its own differs by its version, and may guard each term against NULL
        called = "MAX" if self.dialect.name == "sqlite" else "GREATEST"
        return exp.Anonymous(this=called, expressions=list(terms))

    def select(self, found: dict[str, Term]) -> str:
        """Return the statement: all columns of the table, and what was found."""
        self.stages = [stage for stage in self.stages if stage]
        how = {"except": self._chained, "row": self._around, "lateral": self._beside, "join": self._joined}
        query = how[self.dialect.keeps]() if self.stages else exp.select(self._star("t")).from_(self._source())
        said = self._named(found)
        # lines are indented, and what a name holds of lines would be with them
        pretty = all(len(name.splitlines()) == 1 for name in (*said, *self.columns, *self.table))
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
        keys = {self._key(column): _binary(self._cell(column)) for column in self.columns}
        distinct = exp.select(*_aliases(keys)).from_(self._source()).distinct()
        tables = [("keys", distinct), *self._common(exp.select(self._star("keys")).from_(self._reference("keys")))]
        last, _ = tables[-1]
        alike = []
        for column in self.columns:
            computed = exp.column(self._key(column), table=self.prefix + last, quoted=True)
            alike.append(exp.NullSafeEQ(this=_binary(self._cell(column)), expression=computed))
        query = exp.select(self._star("t")).from_(self._source())
        # a cross join goes through the table first, so that rows come in its order
        query = query.join(self._reference(last), on=exp.and_(*alike, copy=False), join_type="cross", copy=False)
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
        """Return what was found under names that no column of the model has."""

        def folded(name: str) -> str:
            return name.lower() if self.dialect.folds else name

        taken, named = {folded(column) for column in self.columns}, {}
        for name, term in found.items():
            plain = free = self.dialect.result_name(name)
            count = 0
            while folded(free) in taken:
                count += 1
                free = f"{plain}_{count}"
            taken.add(folded(free))
            named[free] = term
        return named

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


def _aliases(named: dict[str, Term]) -> list[Term]:
    return [exp.alias_(term, name, quoted=True, copy=False) for name, term in named.items()]


def _binary(term: Term) -> Term:
    # a column of SQLite may be told not to tell capitals apart; a model does
    return exp.Collate(this=term, expression=exp.Var(this="BINARY"))
