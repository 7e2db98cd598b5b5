"""The scikit-learn facades: thin, their only learned state a tally."""
