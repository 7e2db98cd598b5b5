"""Held-out rows: folds as sums of sufficient statistics, leave-one-out in closed form, and their assessment."""
