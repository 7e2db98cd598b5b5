"""Logistic regression, fitted by Newton's method."""
