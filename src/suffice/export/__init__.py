"""Export of models: as SQL for the database that holds the rows, and as ONNX."""

from collections.abc import Sequence
from typing import Any, Literal

from suffice.decision.calibration import Calibration
from suffice.export.dialects import DIALECTS, ExportError, find_dialect
from suffice.export.export_size import LargeExportWarning, warn_if_large
from suffice.export.onnx_export import to_onnx
from suffice.pooled_model import AnyModel, PooledModel

__all__ = ["DIALECTS", "ExportError", "LargeExportWarning", "Style", "to_onnx", "to_sql"]

Style = Literal["auto", "select", "tables"]


def to_sql(
    model: AnyModel,
    classes: list[Any],
    dialect: str = "duckdb",
    table: str | Sequence[str] = "rows",
    calibration: Calibration | None = None,
    present: Sequence[str] | None = None,
    style: Style = "auto",
    prefix: str | Sequence[str] = "suffice_model",
    view: bool = True,
) -> str:
    """Return SQL that adds the predicted label and P(class | x) of each class to the rows of a table.

    Parameters
    ----------
    model : Model or PooledModel
        The estimated joint distribution.
    classes : list
        The labels of the classes.
    dialect : str, default="duckdb"
        One of `DIALECTS`, or an alias.
    table : str or sequence of str, default="rows"
        The name of the table, "shop.orders" or ("shop", "orders").
    calibration : Calibration, optional
        The calibration of the probabilities.
    present : sequence of str, optional
        All columns of the table, if they are known. No result column gets the name of one of them, and a column of
        the model that is not among them counts as missing in all rows.
    style : {"auto", "select", "tables"}, default="auto"
        "select" is one SELECT that contains all numbers of the model. "tables" is a script that creates tables of
        parameters and a view that joins them to the rows. "auto" is "select" if the model has at most
        `MAX_SELECT_NUMBERS` numbers and every row has a result, and "tables" otherwise.
    prefix : str or sequence of str, default="suffice_model"
        The name of the view, and the beginning of the names of the tables of parameters. It may have a schema.
    view : bool, default=True
        Whether the script ends with CREATE VIEW; with False it ends with the SELECT of the view.

    Returns
    -------
    sql : str
        The statement, or the statements, each of which ends with a semicolon and a line break.

    Raises
    ------
    ExportError
        If a part of the model has no translation to SQL.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.families.gaussian import GaussianParameters
    >>> from suffice.schema import Columns
    >>> parameters = GaussianParameters(np.array([[0.0], [1.0]]), np.ones((2, 1)), 0.0)
    >>> from suffice.model import Model
    >>> model = Model((Columns("gaussian", 1, ("age",)),), np.log([0.5, 0.5]), (parameters,))
    >>> for line in to_sql(model, ["no", "yes"], "duckdb", "people").splitlines()[:9]:
    ...     print(line)
    WITH "suffice_0" AS (
      SELECT
        "suffice_t".*,
        CASE
          WHEN ABS(CAST("suffice_t"."age" AS DOUBLE)) <= 1e+100
          THEN CAST("suffice_t"."age" AS DOUBLE)
        END AS "suffice_x0"
      FROM "people" AS "suffice_t"
    ), "suffice_1" AS (
    """
    # imported here: importing sqlglot would slow down every import of suffice
    from suffice.export.sql_query import has_small_query, write_query
    from suffice.export.sql_script import write_script

    database = find_dialect(dialect)
    if style not in ("auto", "select", "tables"):
        raise ExportError(f"style is 'auto', 'select' or 'tables', not {style!r}")
    if style == "select" and not database.has_select:
        raise ExportError(f'{database.title} compares texts without regard to case in a SELECT; use style="tables"')
    if style == "select" and isinstance(model, PooledModel):
        raise ExportError(f'a pool of models ({model.pool}) is too long for one SELECT; use style="tables"')
    is_small = database.has_select and not isinstance(model, PooledModel) and has_small_query(model)
    if isinstance(model, PooledModel) or style == "tables" or (style == "auto" and not is_small):
        script = write_script(model, classes, dialect, table, calibration, present, prefix)
        text = "".join(f"{statement.rstrip()};\n" for statement in script.statements(view))
    else:
        text = write_query(model, classes, dialect, table, calibration, present)
    warn_if_large(model, len(text), "SQL")
    return text
