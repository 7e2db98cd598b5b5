"""What makes an exported model large, and what makes it smaller."""

from suffice.caller_warnings import warn_caller
from suffice.pooled_model import AnyModel

# Files of more bytes than this are announced.
LARGE_EXPORT = 10_000_000


class LargeExportWarning(UserWarning):
    """Warns that the SQL or the ONNX of a model has more than 10 MB."""


def describe_size(model: AnyModel) -> tuple[str, bool]:
    """Return what makes a model large, and whether it is the trees.

    >>> import numpy as np
    >>> from suffice import GaussianNB
    >>> model = GaussianNB().fit(np.eye(3), [0, 1, 2]).estimate_model()
    >>> describe_size(model)
    ('the model has 18 parameters', False)
    """
    leaves = sum(columns.width for columns in model.columns if columns.is_forest)
    if leaves:
        return f"the model has {leaves:,} leaves of decision trees", True
    return f"the model has {sum(parameters.n_parameters for parameters in model.parameters):,} parameters", False


def warn_if_large(model: AnyModel, size: int, form: str) -> None:
    """Warn if the export of a model has more than `LARGE_EXPORT` bytes."""
    if size <= LARGE_EXPORT:
        return
    reason, has_trees = describe_size(model)
    remedy = (
        'model.set_params(structure="averaged") has no trees, and structure=Pooled(("averaged", "full", Trees(50))) '
        "fits fewer"
        if has_trees
        else 'structure="naive" or fewer columns make it smaller'
    )
    warn_caller(f"the {form} has {size / 1e6:,.1f} MB: {reason}; {remedy}", LargeExportWarning)
