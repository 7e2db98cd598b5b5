"""Evaluation of models: cross-validation at the cost of one fit, comparison, and prediction of streams."""
