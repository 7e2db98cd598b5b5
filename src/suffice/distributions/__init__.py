"""Distributions of one variable, estimated from a tally with the same priors and rules as the classifiers."""
