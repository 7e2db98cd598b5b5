"""Logistic regression: the discriminative twin, fitted by Newton-Raphson."""
