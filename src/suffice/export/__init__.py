"""Models as something else computes them: plain SQL, for a database that has the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suffice.decision.calibration import Calibration
from suffice.export.dialects import DIALECTS, ExportError
from suffice.model import Model

__all__ = ["DIALECTS", "ExportError", "to_sql"]


def to_sql(
    model: Model,
    classes: list[Any],
    dialect: str = "duckdb",
    table: str | Sequence[str] = "rows",
    calibration: Calibration | None = None,
    present: Sequence[str] | None = None,
) -> str:
    """Return one SELECT that gives each row of a table its label and P(class given x) of each class.

    ``present`` are the columns that the table has, where they are known: no new column has the name of one of them,
    and a column of the model that is not among them counts as empty.

    What writes SQL is loaded when SQL is asked for: most who import a classifier never do.

    >>> import numpy as np
    >>> from suffice.families.gaussian import GaussianParameters
    >>> from suffice.schema import Columns
    >>> like = GaussianParameters(np.array([[0.0], [1.0]]), np.ones((2, 1)), 0.0)
    >>> model = Model((Columns("gaussian", 1, ("age",)),), np.log([0.5, 0.5]), (like,))
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
    try:
        import sqlglot  # noqa: F401
    except ImportError:
        raise ImportError("SQL is written through sqlglot: pip install 'suffice[sql]'") from None
    from suffice.export.sql_query import written

    return written(model, classes, dialect, table, calibration, present)
