"""Export of models: as SQL for the database that holds the rows, and as ONNX."""

from collections.abc import Sequence
from typing import Any

from suffice.decision.calibration import Calibration
from suffice.export.dialects import DIALECTS, ExportError, find_dialect
from suffice.export.onnx_export import to_onnx
from suffice.pooled_model import AnyModel, PooledModel

__all__ = ["DIALECTS", "ExportError", "to_onnx", "to_sql"]


def to_sql(
    model: AnyModel,
    classes: list[Any],
    dialect: str = "duckdb",
    table: str | Sequence[str] = "rows",
    calibration: Calibration | None = None,
    present: Sequence[str] | None = None,
) -> str:
    """Return one SELECT that adds the predicted label and P(class | x) of each class to the rows of a table.

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

    Returns
    -------
    sql : str
        The statement.

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
    from suffice.export.sql_cells import IN_PYTHON
    from suffice.export.sql_query import SIMPLER, write_query

    find_dialect(dialect)
    if isinstance(model, PooledModel):
        raise ExportError(f"a pool of models ({model.pool}) has no translation to SQL; {SIMPLER}, {IN_PYTHON}")

    return write_query(model, classes, dialect, table, calibration, present)
