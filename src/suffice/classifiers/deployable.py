"""Deployable: a fitted classifier as a file, as SQL, as ONNX, and as new columns of a table."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from suffice.classifiers.concurrency import on_snapshot
from suffice.schema import Array

# what fit and predict do not need is imported late: an import takes most of a first fit
if TYPE_CHECKING:
    from suffice.decision.calibration import Calibration
    from suffice.export import Style
    from suffice.export.onnx_cells import FloatType, InputType
    from suffice.pooled_model import AnyModel

Dialect = Literal["duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake", "mysql", "tsql", "clickhouse"]


class Deployable:
    """A classifier whose predictions are those of a `Model` and, if it is calibrated, of a `Calibration`."""

    classes_: Array
    n_features_in_: int

    @abstractmethod
    def exported_model(self) -> tuple[AnyModel, Calibration | None]:
        """Return the model that exports translate, and its calibration; raise if it is not fitted.

        Returns
        -------
        model : Model or PooledModel
        calibration : Calibration or None
        """

    @abstractmethod
    def _checked_state(self) -> dict[str, Any]:
        """Return the attributes that a file holds; raise if the classifier cannot predict."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the settings and everything that was learned to a file that `suffice.load` reads.

        Parameters
        ----------
        path : str or path
            The file. An existing file is replaced only after the new one is completely written, and only by a model
            that can predict. Use `suffice.open` to change a file that other processes may change, too.

        Returns
        -------
        path : Path
        """
        from suffice.storage.atomic_write import replace_file

        return replace_file(path, self.file_content())

    @on_snapshot
    def file_content(self) -> bytes:
        """Return the content of the file that `save` writes; raise if no model can be estimated from what was learned.

        Returns
        -------
        content : bytes
        """
        from suffice import storage

        return storage.file_content(type(self).__name__, self._checked_state())

    @on_snapshot
    def to_sql(
        self,
        dialect: Dialect = "duckdb",
        *,
        table: str | Sequence[str] = "rows",
        columns: Sequence[str] | None = None,
        style: Style = "auto",
        prefix: str | Sequence[str] = "suffice_model",
        view: bool = True,
    ) -> str:
        """Return SQL that gives each row of a table its label and P(class | x), as ``predict_proba`` does.

        A small model is one SELECT. Others are a script, which creates tables of parameters and a view that joins
        them to the rows. Columns are found by name (x0, x1, … if they were learned without names) and must have the
        types that they were learned with. NULL and NaN are missing cells. `LogisticRegression` skips no missing cells:
        where a cell of a row is NULL, NaN or infinite, its label and its probabilities are NULL.

        Parameters
        ----------
        dialect : {"duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake", "mysql", "tsql", "clickhouse"}, \
                default="duckdb"
            The database.
        table : str or sequence of str, default="rows"
            The table's name, after its schema and catalogue, if any: "shop.orders" or ("shop", "orders").
        columns : sequence of str, default=None
            The columns of the table, if they are known: learned columns that are not among them count as missing, and
            no new column gets the name of one of them.
        style : {"auto", "select", "tables"}, default="auto"
            One SELECT that contains all numbers of the model, or a script with tables of parameters. "auto" is a
            SELECT for models of at most 4,000 numbers, if it gives every row a result.
        prefix : str or sequence of str, default="suffice_model"
            The name of the view of a script, and the beginning of the names of its tables; it may have a schema.
        view : bool, default=True
            Whether a script ends with CREATE VIEW, or with the SELECT of the view.

        Returns
        -------
        sql : str
            A query or a view of all columns of the table, ``prediction``, and ``p(label)`` of each class; with ``_1``
            after the name if a column has that name already.

        Examples
        --------
        >>> from suffice import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["low", "low", "high", "high"])
        >>> for line in model.to_sql("postgres", table="shop.orders").splitlines()[-4:]:
        ...     print(line)
        END AS "prediction",
        "suffice_w0" / "suffice_sum" AS "p(high)",
        "suffice_w1" / "suffice_sum" AS "p(low)"
        FROM "suffice_4" AS "suffice_4"
        """
        model, calibration = self.exported_model()
        classes = self.classes_.tolist()
        from suffice.export import to_sql

        return to_sql(model, classes, dialect, table, calibration, columns, style=style, prefix=prefix, view=view)

    @on_snapshot
    def to_onnx(self, dtype: FloatType = "float32", *, types: Mapping[str, InputType] | None = None) -> Any:
        """Return an ONNX model that gives each row its label and P(class | x), as ``predict_proba`` does.

        A model that was fitted to a table has one input of shape [rows, 1] for each column that it reads, by name: a
        string for texts, an int64 or bool for levels that are whole numbers or booleans, and ``dtype`` for other
        numbers and for columns in which a missing cell is a level. A model that was fitted to an array has one input,
        ``X``, with all columns. NaN and, unless it was learned as a level, the empty string are missing cells. The
        probabilities of `LogisticRegression` are NaN for a row with a cell that is NaN or infinite.

        Parameters
        ----------
        dtype : {"float32", "float64"}, default="float32"
            The type of numbers and of the probabilities. Both are computed in double precision.
        types : mapping of {str: str}, default=None
            The types of some columns, if they are to have others: "float32", "float64", "int64", "bool" or "string".
            The columns of an array are then inputs of their own, ``x0``, ``x1``, ….

        Returns
        -------
        model : onnx.ModelProto
            With the outputs ``label`` [rows] and ``probabilities`` [rows, classes], as scikit-learn's converters name
            them; with ``_1`` after the name if a column has that name already. ``SerializeToString()`` returns the
            content of a file.

        Examples
        --------
        >>> import onnxruntime
        >>> from suffice import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["low", "low", "high", "high"])
        >>> session = onnxruntime.InferenceSession(model.to_onnx("float64").SerializeToString())
        >>> labels, probabilities = session.run(None, {"X": [[1.5], [3.6]]})
        >>> labels.tolist(), probabilities.round(3).tolist()
        (['low', 'high'], [[0.0, 1.0], [0.832, 0.168]])
        """
        model, calibration = self.exported_model()
        classes, features = self.classes_.tolist(), self.n_features_in_
        from suffice.export import to_onnx

        return to_onnx(model, classes, calibration, dtype=dtype, types=types, features=features)

    @on_snapshot
    def predict_table(self, source: Any) -> Any:
        """Return a table with the prediction and the probability of each class as new columns.

        Parameters
        ----------
        source : data frame, path, or table of an engine
            As in ``BayesClassifier.fit_table``; columns that were not learned are passed through. Columns learned
            without names are called x0, x1, ….

        Returns
        -------
        table : of the same kind
            With ``prediction`` and ``p(label)`` of each class. No column of the table is overwritten: if it has a
            ``prediction``, the new column is ``prediction_1``. Tables of engines are computed lazily: the result is
            an Ibis table expression (for files, too), a Spark frame, a lazy polars frame, or a generator of batches.
            A database computes the SQL of ``to_sql``; DuckDB calls the model itself where there is no SQL for it. A
            missing cell is an error for `LogisticRegression`; a database gives such a row no prediction.
        """
        from suffice.classifiers.predict_table import predict_source

        return predict_source(self, source)
