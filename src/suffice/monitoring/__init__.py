"""Monitoring: whether new rows are like the rows that a model was fitted to."""
