"""A query that joins the cells of rows to parameter tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp, parse_one

from suffice.export.dialects import Dialect
from suffice.export.sql_expressions import Expression, case_when, fill, integer
from suffice.export.sql_parameters import Kind, ParameterTables, quote
from suffice.export.sql_stages import NamedTable, StagedQuery, aliases, as_bytes, fence

# The stages: cells and numbers of rows; codes; arrays of them; then scores, which are joined.
CODES, ARRAYS, SCORES = 1, 2, 3

ID = "id"

# The limit of rows that stands for none in MySQL.
MOST_ROWS = 2**64 - 1

# Arrays with more labels are not searched from their beginning.
MAX_SEARCHED = 100


class TableQuery(StagedQuery):
    """A staged query whose scores are computed by joins with parameter tables.

    Parameters
    ----------
    dialect, columns, table, present
        As in `StagedQuery`.
    parameters : ParameterTables
        The parameter tables, to which translators add theirs.
    class_count : int
        The number of classes.

    Attributes
    ----------
    common : list of (str, sqlglot.Expression)
        Common table expressions after the cells: SQL of this package, or what is written as it is.
    known : dict
        What was added already, by a key.
    """

    def __init__(
        self,
        dialect: Dialect,
        columns: Sequence[str],
        table: str | Sequence[str],
        present: Sequence[str] | None,
        parameters: ParameterTables,
        class_count: int,
    ) -> None:
        super().__init__(dialect, columns, table, present)
        self.layout = dialect.tables_layout or dialect.layout
        self.parameters, self.class_count = parameters, class_count
        self.stages = [{}, {}, {}]
        self.common: list[NamedTable] = []
        self.joined: list[str] = []
        self._labels: dict[str, list[tuple[Any, ...]]] = {}
        self.known: dict[Any, Any] = {}
        self.is_recursive = False

    def new_name(self, name: str) -> str:
        """Return a name that no parameter table has."""
        taken = {table.name for table in self.parameters.tables}
        numbers = (name if not place else f"{name}{place + 1}" for place in range(len(taken) + 1))
        return next(each for each in numbers if each not in taken)

    # -- cells -----------------------------------------------------------------------------------------

    def add_once(self, stage: int, key: Any, expression: Expression) -> Expression:
        """Add a column to a stage unless one with this key was added; return the reference to it."""
        if key not in self.known:
            self.known[key] = self.add(stage, f"v{len(self.known)}", expression)
        return self.known[key]  # type: ignore[no-any-return]

    def add_array(self, key: Any, values: list[Expression], kind: str) -> str:
        """Add an array, or a column for each of its elements where the database has no arrays; return its name."""
        if key not in self.known:
            name = f"a{len(self.known)}"
            self.known[key] = name
            casts = [value.cast(kind) for value in values]
            if self.dialect.element:
                self.add(ARRAYS, name, Expression(exp.Array(expressions=[value.node for value in casts])))
            else:
                for place, value in enumerate(casts, 1):
                    self.add(ARRAYS, f"{name}_{place}", value)
            self.known[name] = len(values)
        return str(self.known[key])

    def parts(self, array: str) -> list[str]:
        """Return the quoted names of the columns that hold an array."""
        count = self.known[array]
        names = [array] if self.dialect.element else [f"{array}_{place}" for place in range(1, count + 1)]
        return [quote(self.prefix + name) for name in names]

    def pick(self, alias: str, array: str, place: str) -> str:
        """Return an element of an array by an expression of its position, from 1 on."""
        if self.dialect.element:
            return self.dialect.element.format(array=f"{alias}.{quote(self.prefix + array)}", place=place)
        cases = " ".join(f"WHEN {j} THEN {alias}.{name}" for j, name in enumerate(self.parts(array), 1))
        return f"CASE {place} {cases} END"

    def elements(self, alias: str, array: str) -> list[str]:
        """Return all elements of an array."""
        if not self.dialect.element:
            return [f"{alias}.{name}" for name in self.parts(array)]
        return [self.pick(alias, array, str(place)) for place in range(1, self.known[array] + 1)]

    def text(self, cell: Expression) -> Expression:
        """Return a cell as a text that is compared byte by byte."""
        return as_bytes(cell) if self.dialect.name == "mysql" else cell.cast("text")

    def add_labels(self, kind: str, values: Sequence[Any]) -> int:
        """Add labels, or edges of bins, to the table of their kind; return the number of their list."""
        lists, values = self._labels.setdefault(kind, []), tuple(values)
        if values not in lists:
            lists.append(values)
        return lists.index(values)

    def look_up(self, kind: str, place: int, operator: str, key: Expression) -> Expression:
        """Return the greatest code in a list whose value is equal to, or not greater than, a key.

        Arrays are searched where the database can: at once if they are sorted, else if they are short.
        """
        table = self.parameters.reference(kind)
        search = self.dialect.find_below if operator == "<=" else self.dialect.find_equal
        if search and (operator == "<=" or len(self._labels[kind][place]) <= MAX_SEARCHED):
            text = search.format(key="key_", array=self.dialect.lists.format(table=table, place=place))
        else:
            text = f'(SELECT MAX(l."code") FROM {table} AS l WHERE l."list" = {place} AND l."value" {operator} key_)'
        return fill(text, {"key_": key})

    def finish_labels(self) -> None:
        """Add the tables of labels and edges."""
        kinds: dict[str, Kind] = {"labels": "text", "numbers": "double", "bins": "double", "integers": "integer"}
        for kind, lists in self._labels.items():
            rows = [(place, value, code) for place, values in enumerate(lists) for code, value in enumerate(values)]
            self.parameters.add(
                kind, {"list": "integer", "value": kinds[kind], "code": "integer"}, rows, ("list", "value")
            )

    # -- common table expressions ------------------------------------------------------------------------

    @property
    def cells(self) -> str:
        """The quoted name of the table of cells."""
        return quote(f"{self.prefix}{ARRAYS}")

    @property
    def id(self) -> str:
        """The quoted name of the column that numbers the rows."""
        return quote(self.prefix + ID)

    def add_common(self, name: str, text: str) -> str:
        """Add a common table expression; return its quoted name."""
        return self._add_common(name, lambda _: parse_one(text, read="duckdb"))

    def add_written(self, name: str, text: str) -> str:
        """Add a common table expression in the SQL of the database itself; return its quoted name."""
        return self._add_common(name, lambda _: exp.Var(this=text))

    def add_recursive(self, name: str, write: Callable[[str], str]) -> str:
        """Add a recursive common table expression, whose text ``write`` returns for its name; return the name."""
        self.is_recursive = True
        return self._add_common(name, lambda found: parse_one(write(found), read="duckdb"))

    def _add_common(self, name: str, write: Callable[[str], exp.Expression]) -> str:
        names = {each for each, _ in self.common}
        while name in names:
            name += "_"
        quoted = quote(self.prefix + name)
        self.common.append((name, write(quoted)))
        return quoted

    def add_unknown(self, value: Expression) -> Expression:
        """Add whether a joined value is NULL; return the condition."""
        flag = case_when([(value.is_null(), integer(1))], integer(0))
        return self.add(SCORES, "unknown", flag).equals(integer(1))

    def join_scores(self, name: str, text: str) -> list[Expression]:
        """Add a table of rows with a value for each class, c0, c1, …; return the values, NULL in rows without one."""
        self.add_common(name, text)
        last, _ = self.common[-1]
        self.joined.append(last)
        return [Expression(exp.column(f"c{k}", table=self.prefix + last, quoted=True)) for k in range(self.class_count)]

    def _drop_empty_stages(self) -> None:
        """Keep all stages: the scores are joined at a fixed one."""

    def _fence(self, tables: list[NamedTable]) -> list[NamedTable]:
        """Return tables that SQLite, PostgreSQL and MySQL compute once although they are not materialized.

        They would write the expression of a column in place of each reference to it.
        """
        if self.dialect.name == "sqlite":
            return super()._fence(tables)
        once = self._read_once
        if self.dialect.name == "mysql":
            later = [str(place) for place in range(SCORES, len(self.stages))]
            return [(name, fence(table, MOST_ROWS) if name in later else table) for name, table in tables]
        if self.dialect.name != "postgres":
            return tables
        return [(name, fence(table) if name in once else table) for name, table in tables]

    @property
    def _read_once(self) -> list[str]:
        """The names of the stages that are read only once: all but the cells with their arrays."""
        return [str(place) for place in range(len(self.stages)) if place != ARRAYS]

    def _stage_tables(self, query: exp.Select) -> list[NamedTable]:
        function = self.dialect.row_number
        number = exp.Anonymous(this=function) if function else exp.Window(this=exp.RowNumber(), order=self._order())
        query = query.select(exp.alias_(number, self.prefix + ID, quoted=True), append=True, copy=False)
        tables: list[NamedTable] = []
        for place, stage in enumerate(self.stages):
            if place:
                query = exp.select(self._star(str(place - 1))).from_(self._reference(str(place - 1)))
            if place == SCORES:
                tables += self.common
                for name in self.joined:
                    on = exp.EQ(
                        this=exp.column(self.prefix + ID, table=self.prefix + name, quoted=True),
                        expression=exp.column(self.prefix + ID, table=f"{self.prefix}{place - 1}", quoted=True),
                    )
                    query = query.join(self._reference(name), on=on, join_type="left", copy=False)
            tables.append((str(place), query.select(*aliases(stage), copy=False)))
        return tables

    def _order(self) -> exp.Order | None:
        """Return the order by which rows are numbered; None, for any, if the numbers are computed once."""
        if self.dialect.is_materialized:
            return None
        # by all cells: rows that change places because they are equal have equal scores
        is_keyed = self.layout == "join"
        cells = [
            self._column(self._key(name), "keys") if is_keyed else self._column(name, "t") for name in self.read_columns
        ]
        nothing = exp.Subquery(this=exp.select(exp.Literal.number(1)))
        return exp.Order(expressions=cells or [nothing])

    @property
    def hidden(self) -> list[str]:
        """The names of all intermediate columns."""
        return [self.prefix + ID, *(name for stage in self.stages for name in stage)]

    def _write(self, query: exp.Select, names: list[str]) -> str:
        """Return the statement with one line for each selected column."""
        common = query.args.pop("with_", None) or query.args.pop("with", None)
        tables = [(each.args["alias"], each.this) for each in common.expressions]
        keyword = "WITH RECURSIVE" if self.is_recursive and self.dialect.name != "tsql" else "WITH"
        written = [f"{self._sql(name)} AS {self._hint(name.this)}(\n{self._lines(table)}\n)" for name, table in tables]
        return f"{keyword} " + ",\n".join(written) + "\n" + self._lines(query)

    def _hint(self, name: str) -> str:
        is_read_once = name in [f"{self.prefix}{place}" for place in self._read_once] and self.dialect.name != "sqlite"
        return "MATERIALIZED " if self.dialect.is_materialized and not is_read_once else ""

    def _lines(self, select: exp.Expression) -> str:
        if not isinstance(select, exp.Select):
            return self._sql(select)
        items = ",\n  ".join(self._sql(each) for each in select.expressions)
        select.set("expressions", [exp.Literal.number(0)])
        head, rest = self._sql(select).split(" 0", 1)
        return f"{head}\n  {items}\n {rest}"

    def _sql(self, node: exp.Expression) -> str:
        return node.sql(dialect=self.dialect.name, identify=True)
