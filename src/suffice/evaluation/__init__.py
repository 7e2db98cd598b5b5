"""What sums buy: cross-validation for the price of one fit, the choice of a model, evaluation on a stream."""
