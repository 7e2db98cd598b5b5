"""Plots with matplotlib. Each function returns the Axes that it has drawn on.

`points` returns the numbers of a nomogram, and `learning` those of a learning curve.
"""

from suffice.plots.class_densities import densities
from suffice.plots.decision_boundary import boundary
from suffice.plots.dependency_tree import tree
from suffice.plots.drift_distances import drift
from suffice.plots.explained_rows import marked_text, waterfall
from suffice.plots.learning_curves import learning, learning_curve, newton
from suffice.plots.nomogram_drawing import nomogram
from suffice.plots.nomogram_points import Points, Scale, points
from suffice.plots.pixel_images import heat_map, means
from suffice.plots.posteriors import posterior
from suffice.plots.prediction_quality import comparison, confusion, over_time, reliability

# No file has the name of its function, because importing a submodule sets an attribute of that name.
__all__ = [
    "Points",
    "Scale",
    "posterior",
    "boundary",
    "confusion",
    "densities",
    "drift",
    "heat_map",
    "comparison",
    "learning",
    "learning_curve",
    "marked_text",
    "means",
    "newton",
    "nomogram",
    "over_time",
    "points",
    "reliability",
    "tree",
    "waterfall",
]
