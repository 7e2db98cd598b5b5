"""Predicting rows that were not learned: folds from one pass, one row left out, and how good the predictions are."""
