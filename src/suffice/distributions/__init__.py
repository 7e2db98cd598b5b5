"""Single distributions, estimated from a tally by the same priors and rules as classifiers."""
