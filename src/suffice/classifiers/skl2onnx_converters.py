"""Conversion of the classes that replace scikit-learn's naive Bayes classes by skl2onnx."""

from typing import Any

from suffice.classifiers.bernoulli import BernoulliNB
from suffice.classifiers.categorical import CategoricalNB
from suffice.classifiers.gaussian import GaussianNB
from suffice.classifiers.multinomial import ComplementNB, MultinomialNB
from suffice.export import ExportError

OPTIONS = {"zipmap": [True, False, "columns"], "output_class_labels": [False, True], "nocl": [True, False]}


def register_skl2onnx() -> None:
    """Make skl2onnx convert `GaussianNB`, `MultinomialNB`, `BernoulliNB`, `CategoricalNB` and `ComplementNB`.

    They are converted as scikit-learn's classes of the same names are, also within a pipeline. Call it once before
    ``skl2onnx.to_onnx``. A single model needs no skl2onnx: ``model.to_onnx()`` returns the same, for every classifier.

    Examples
    --------
    >>> import numpy as np
    >>> import skl2onnx
    >>> from suffice import GaussianNB, register_skl2onnx
    >>> register_skl2onnx()
    >>> model = GaussianNB().fit([[1.0], [5.0], [2.0], [6.0]], ["low", "high", "low", "high"])
    >>> graph = skl2onnx.to_onnx(model, np.zeros((1, 1), np.float32), options={"zipmap": False}).graph
    >>> [output.name for output in graph.output]
    ['label', 'probabilities']
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError:
        raise ImportError("this registers converters of skl2onnx: pip install 'suffice[onnx]' skl2onnx") from None
    from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
    from skl2onnx.operator_converters.naive_bayes import convert_sklearn_naive_bayes

    def convert(scope: Any, operator: Any, container: Any) -> None:
        _check_parameters(operator.raw_operator)
        convert_sklearn_naive_bayes(scope, operator, container)

    for kind in (GaussianNB, MultinomialNB, BernoulliNB, CategoricalNB, ComplementNB):
        # scikit-learn's alias tells the converter which formula the class has
        alias = f"Sklearn{kind.__name__}"
        update_registered_converter(
            kind, alias, calculate_linear_classifier_output_shapes, convert, overwrite=True, options=OPTIONS
        )


def _check_parameters(model: Any) -> None:
    """Raise if a model has other probabilities than those of scikit-learn's formulas with its attributes."""
    settings = {"estimate": "predictive", "missing": "skip"}
    other = [f"{name}={value!r}" for name, value in settings.items() if getattr(model, name, None) == value]
    if getattr(model, "calibrate", None) is not None:
        other.append(f"calibrate={model.calibrate!r}")
    if other:
        raise ExportError(f"skl2onnx has no form of {type(model).__name__}({other[0]}); use model.to_onnx()")
