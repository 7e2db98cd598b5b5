"""A query in stages: each stage computes columns from the stages before it, and one SELECT returns the results."""

from collections.abc import Sequence

from sqlglot import exp

from suffice.data.column_names import rename_taken
from suffice.export.dialects import Dialect, ExportError
from suffice.export.sql_expressions import Expression, column, integer

PREFIX = "suffice_"

NamedTable = tuple[str, exp.Expression]


class StagedQuery:
    """Intermediate columns of a statement, computed stage by stage from the rows of a table.

    Parameters
    ----------
    dialect : Dialect
        The database that the statement is for.
    columns : sequence of str
        The columns that the model reads.
    table : str or sequence of str
        The name of the table.
    present : sequence of str, optional
        All columns of the table, if they are known. A column of the model that is not among them counts as missing.

    Attributes
    ----------
    prefix : str
        The prefix of all intermediate names; no column of the model or of the table starts with it.
    stages : list of dict
        The expressions of each stage by their names.
    text_columns : set of str
        The columns that are compared as texts.
    null_conditions : list of Expression
        Conditions under which a row has no result: prediction and probabilities are NULL.
    """

    def __init__(
        self, dialect: Dialect, columns: Sequence[str], table: str | Sequence[str], present: Sequence[str] | None = None
    ) -> None:
        self.dialect, self.columns = dialect, tuple(columns)
        self.table = split_table_name(dialect, table)
        for name in self.columns:
            dialect.check_name(name, "column")
        self.table_columns = self.columns if present is None else tuple(present)
        known = {self._fold(name) for name in self.table_columns}
        self.read_columns = tuple(name for name in self.columns if self._fold(name) in known)
        # if the columns are known, the table is an alias in a larger query: its name keeps two statements apart
        self.prefix = PREFIX if present is None else f"{self.table[-1].lower()}_"
        names = (*self.columns, *self.table_columns, *self.table)
        while any(name.lower().startswith(self.prefix) for name in names):
            self.prefix += "_"
        self.layout = dialect.layout
        self.stages: list[dict[str, Expression]] = [{}]
        self.null_conditions: list[Expression] = []
        self.text_columns: set[str] = set()

    def add(self, stage: int, name: str, expression: Expression) -> Expression:
        """Add a column to a stage; return the reference to it, for later stages."""
        name = self.prefix + name
        while any(name in columns for columns in self.stages):  # a score may have two terms of the same kind
            name += "_"
        self.stages += [{} for _ in range(len(self.stages), stage + 1)]
        self.stages[stage][name] = expression
        return column(name)

    def cell(self, name: str) -> Expression:
        """Return a cell of the table, for the first stage; NULL if the table does not have the column."""
        if name not in self.read_columns:
            return Expression(exp.null()).cast("double")
        return column(self._key(name)) if self.layout == "join" else Expression(self._column(name, "t"))

    def render(self, results: dict[str, Expression]) -> str:
        """Return the statement: all columns of the table, then the results."""
        self._drop_empty_stages()
        layouts = {
            "except": self._select_except,
            "row": self._select_row,
            "lateral": self._select_lateral,
            "join": self._select_join,
        }
        query = layouts[self.layout]() if self.stages else self._select_table()
        results = self._rename(results)
        query.select(*aliases(results), copy=False)
        return self._write(query, [*results, *self.read_columns, *self.table]) + "\n"

    def _drop_empty_stages(self) -> None:
        self.stages = [stage for stage in self.stages if stage]

    def _write(self, query: exp.Select, names: list[str]) -> str:
        # indentation would change names that contain line breaks
        pretty = all(len(name.splitlines()) == 1 for name in names)
        return query.sql(dialect=self.dialect.name, pretty=pretty, copy=False)

    @property
    def hidden(self) -> list[str]:
        """The names of all intermediate columns."""
        return [name for stage in self.stages for name in stage]

    def _select_except(self) -> exp.Select:
        """Return the stages as common table expressions, and all columns except the intermediate ones."""
        tables = self._stage_tables(self._select_table())
        hidden = [exp.to_identifier(name, quoted=True) for name in self.hidden]
        last, _ = tables[-1]
        key = "except_" if "except_" in exp.Star.arg_types else "except"  # differs between versions of sqlglot
        star = exp.Column(this=exp.Star(**{key: hidden}), table=self._identifier(last))
        return self._with(tables, exp.select(star).from_(self._reference(last)))

    def _select_row(self) -> exp.Select:
        """Return the stages as common table expressions that carry each row as one value, and the columns of it."""
        is_struct = self.dialect.name == "spark"
        whole = exp.Anonymous(this="STRUCT", expressions=[self._star("t")]) if is_struct else None
        row = exp.alias_(whole or exp.column(self.prefix + "t", quoted=True), self.prefix + "row", quoted=True)
        tables = self._stage_tables(exp.select(row).from_(self._source()))
        last, _ = tables[-1]
        value = exp.Paren(this=self._column(self.prefix + "row", last))
        star = self._star("row") if is_struct else exp.Dot(this=value, expression=exp.Star())
        if is_struct:
            return self._with(tables, exp.select(star).from_(self._reference(last)))
        return self._with(self._fence(tables), exp.select(star).from_(self._reference(last)))

    def _select_lateral(self) -> exp.Select:
        """Return the stages as lateral subqueries, each of which sees those before it."""
        query = self._select_table()
        for place, stage in enumerate(self.stages):
            subquery = exp.select(*aliases(stage)).subquery(copy=False)
            lateral = exp.Lateral(this=subquery, alias=exp.TableAlias(this=self._identifier(str(place))))
            query = query.join(lateral, join_type="cross", copy=False)
        return query

    def _select_join(self) -> exp.Select:
        """Return the stages computed for the distinct rows of what the model reads, joined with the table.

        SQLite has neither EXCEPT in a star nor lateral subqueries.
        """
        keys = {self._key(name): self._comparable(name) for name in self.read_columns}
        if not keys:  # the table has no column that the model reads, so all rows have the same score
            keys = {f"{self.prefix}k": integer(1)}
        # MySQL has no index of long texts, but one of their checksums
        hashed = [name for name in self.read_columns if self.dialect.name == "mysql" and name in self.text_columns]
        keys |= {f"{self._key(name)}_": self._checksum(name) for name in hashed}
        distinct = exp.select(*aliases(keys)).from_(self._source()).distinct()
        stages = self._stage_tables(exp.select(self._star("keys")).from_(self._reference("keys")))
        tables = self._fence([("keys", distinct), *stages])
        last, _ = tables[-1]
        if self.dialect.name == "sqlite":  # which makes an index of a table only if it expects few rows of it
            groups = [self._column(name, last) for name in keys]
            scored = exp.select(self._star(last)).from_(self._reference(last)).group_by(*groups, copy=False)
            tables.append(("scored", scored))
            last = "scored"
        conditions: list[exp.Expression] = [
            exp.NullSafeEQ(this=self._comparable(name).node, expression=self._column(self._key(name), last))
            for name in self.read_columns
        ]
        conditions += [
            exp.EQ(this=self._checksum(name).node, expression=self._column(f"{self._key(name)}_", last))
            for name in hashed
        ]
        # SQLite does not reorder a cross join, so the rows keep the order of the table
        on = exp.and_(*conditions, copy=False) if conditions else None
        query = self._select_table().join(self._reference(last), on=on, join_type="cross", copy=False)
        return self._with(tables, query, materialized=True)

    def _fence(self, tables: list[NamedTable]) -> list[NamedTable]:
        """Return tables that the database does not inline: it would compute them once per reference."""
        if self.dialect.name == "sqlite":
            # even where a tool drops MATERIALIZED from the statement
            tables = [(name, fence(table, integer(-1).node)) for name, table in tables]
        return [(name, fence(table)) for name, table in tables]

    def _stage_tables(self, query: exp.Select) -> list[NamedTable]:
        """Return the stages as tables, each with all columns of the one before it; ``query`` reads the first."""
        tables: list[NamedTable] = []
        for place, stage in enumerate(self.stages):
            if tables:
                previous, _ = tables[-1]
                query = exp.select(self._star(previous)).from_(self._reference(previous))
            tables.append((str(place), query.select(*aliases(stage), copy=False)))
        return tables

    def _with(self, tables: list[NamedTable], query: exp.Select, materialized: bool | None = None) -> exp.Select:
        """Return WITH name AS (table), … query."""
        for name, table in tables:
            query = query.with_(self._identifier(name), as_=table, materialized=materialized, copy=False)
        return query

    def _rename(self, results: dict[str, Expression]) -> dict[str, Expression]:
        """Return the results by names that no column of the table has."""
        taken = list(self.table_columns)
        named: dict[str, Expression] = {}
        for name, expression in results.items():  # one by one: two names may be equal once made plain
            new = rename_taken({self.dialect.result_name(name): expression}, taken, folds=self.dialect.folds)
            taken += new
            named |= new
        return named

    def _fold(self, name: str) -> str:
        return name.lower() if self.dialect.folds else name

    def _select_table(self) -> exp.Select:
        return exp.select(self._star("t")).from_(self._source())

    def _source(self) -> exp.Table:
        last, *qualifiers = (exp.to_identifier(part, quoted=True) for part in reversed(self.table))
        alias = exp.TableAlias(this=self._identifier("t"))
        return exp.Table(this=last, alias=alias, **dict(zip(("db", "catalog"), qualifiers, strict=False)))

    def _column(self, name: str, table: str) -> exp.Column:
        # qualified: SQLite reads an unqualified quoted name that is not a column as a text
        return exp.column(name, table=self.prefix + table, quoted=True)

    def _comparable(self, name: str) -> Expression:
        """Return a cell of the table whose comparisons do not ignore case."""
        cell = Expression(self._column(name, "t"))
        if self.dialect.name == "mysql" and name in self.text_columns:
            return as_bytes(cell)
        if self.dialect.name != "sqlite":
            return cell
        # a column of SQLite may have a collation that ignores case; the model does not ignore it
        return Expression(exp.Collate(this=cell.node, expression=exp.Var(this="BINARY")))

    def _checksum(self, name: str) -> Expression:
        """Return a number that is equal for equal texts in MySQL."""
        cell = self._comparable(name).if_null(Expression(exp.Literal.string("")))
        return Expression(exp.Anonymous(this="CRC32", expressions=[cell.node]))

    def _key(self, name: str) -> str:
        return f"{self.prefix}k{self.columns.index(name)}"

    def _identifier(self, name: str) -> exp.Identifier:
        return exp.to_identifier(self.prefix + name, quoted=True)

    def _star(self, table: str) -> exp.Column:
        return exp.Column(this=exp.Star(), table=self._identifier(table))

    def _reference(self, table: str) -> exp.Table:
        return exp.Table(this=self._identifier(table), alias=exp.TableAlias(this=self._identifier(table)))


def split_table_name(dialect: Dialect, table: str | Sequence[str]) -> tuple[str, ...]:
    """Return the catalog, schema and name of a table, as far as they are given."""
    parts = tuple(table.split(".")) if isinstance(table, str) else table
    if not isinstance(parts, (tuple, list)) or not all(isinstance(part, str) for part in parts):
        raise TypeError(f"table is a name, such as 'shop.orders', or its parts, ('shop', 'orders'), not {table!r}")
    if table == "":
        raise ExportError("table must be the name of a table, and is empty")
    if not 1 <= len(parts) <= 3:
        raise ExportError(f"a table's name has one to three parts, and {table!r} has {len(parts)}")
    for part in parts:
        if not part:
            raise ExportError(f"a part of the table's name {table!r} is empty")
        if not dialect.can_quote(part):
            raise ExportError(f"the table's name {part!r} is not a valid name in {dialect.title}")
    return tuple(parts)


def aliases(named: dict[str, Expression]) -> list[exp.Expression]:
    """Return expressions with their names."""
    return [exp.alias_(expression.node, name, quoted=True, copy=False) for name, expression in named.items()]


def fence(table: exp.Expression, limit: exp.Expression | int | None = None) -> exp.Expression:
    """Return a query with a limit, or an offset of 0, so that it is not inlined; other expressions as they are."""
    if not isinstance(table, exp.Query):
        return table
    return table.offset(0, copy=False) if limit is None else table.limit(limit, copy=False)


def as_bytes(cell: Expression) -> Expression:
    """Return the UTF-8 bytes of a text in MySQL, whose comparisons of texts ignore case and spaces at the end."""
    text = cell.cast("text")
    return Expression(exp.Cast(this=text.node, to=exp.DataType.build("binary", dialect="mysql")))
