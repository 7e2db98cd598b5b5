"""Decision: class priors, posteriors, calibration, costs and rejection."""

from suffice.decision.class_prior import (
    class_prior,
    draw_class_prior,
    first_of_highest,
    log,
    log_posterior,
    most_probable,
)

__all__ = ["class_prior", "draw_class_prior", "first_of_highest", "log", "log_posterior", "most_probable"]
