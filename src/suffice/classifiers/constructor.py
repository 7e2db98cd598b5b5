"""Constructors of classifiers, made from their annotated settings."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

from sklearn.base import BaseEstimator

Kind = TypeVar("Kind", bound=type[BaseEstimator])


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def with_constructor(kind: Kind) -> Kind:
    """Give an estimator a constructor whose keyword parameters are the annotated settings of its class.

    scikit-learn finds the settings in the signature of the constructor, as if it were written out. A fitted attribute
    that is annotated has the value ``field(init=False)``.
    """
    dataclass(kw_only=True, eq=False, repr=False)(kind)
    if hasattr(kind, "_setting_names"):  # they were looked up before there was a constructor
        kind._setting_names = tuple(kind._get_param_names())
    return kind
