"""Export of models to ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from suffice.decision.calibration import Calibration
from suffice.pooled_model import AnyModel

if TYPE_CHECKING:
    from onnx import ModelProto

    from suffice.export.onnx_cells import FloatType, InputType


def to_onnx(
    model: AnyModel,
    classes: list[Any],
    calibration: Calibration | None = None,
    *,
    dtype: FloatType = "float32",
    types: Mapping[str, InputType] | None = None,
    features: int | None = None,
) -> ModelProto:
    """Return a model as a graph of ONNX operators, with the label and P(class | x) of each row as its outputs.

    Parameters
    ----------
    model : Model or PooledModel
        The estimated joint distribution.
    classes : list
        The labels of the classes.
    calibration : Calibration, optional
        The calibration of the probabilities.
    dtype : {"float32", "float64"}, default="float32"
        The type of numbers and probabilities. Both are computed in double precision.
    types : mapping of {str: str}, optional
        The types of some inputs, if they are to have others: "float32", "float64", "int64", "bool" or "string".
    features : int, optional
        The number of columns of the rows, if these are one array; by default those up to the last that is read.

    Returns
    -------
    graph : onnx.ModelProto
        The graph, with the outputs ``label`` [row] and ``probabilities`` [row, class].

    Raises
    ------
    ExportError
        If a part of the model has no form in ONNX.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.families.gaussian import GaussianParameters
    >>> from suffice.model import Model
    >>> from suffice.schema import Columns
    >>> parameters = GaussianParameters(np.array([[0.0], [1.0]]), np.ones((2, 1)), 0.0)
    >>> model = Model((Columns("gaussian", 1, ("age",)),), np.log([0.5, 0.5]), (parameters,))
    >>> graph = to_onnx(model, ["no", "yes"]).graph
    >>> [each.name for each in graph.input], [each.name for each in graph.output]
    (['age'], ['label', 'probabilities'])
    """
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise ImportError("ONNX files are written through the package onnx: pip install 'suffice[onnx]'") from None
    # imported here: importing onnx would slow down every import of suffice
    from suffice.export.dialects import ExportError
    from suffice.export.export_size import warn_if_large
    from suffice.export.onnx_model import write_model

    if dtype not in ("float32", "float64"):
        raise ExportError(f"dtype={dtype!r} is not known; it is 'float32' or 'float64'")
    written = write_model(model, classes, calibration, dtype, types or {}, features)
    warn_if_large(model, written.ByteSize(), "ONNX")
    return written
