"""Coordinate descent for a quadratic with an absolute penalty, the inner problem of a proximal Newton step."""

# mypy: allow-untyped-defs, allow-untyped-calls

from suffice.kernels.compiler import Kernel


@Kernel
def descend(hessian, gradient, start, penalty, found, product, accuracy, sweeps):
    """Minimise gradient·d + ½·dᵀ·hessian·d + Σ penalty·abs(start + d); d is written to ``found``.

    One number is changed at a time, to its minimum with all others fixed, until no entry of the gradient is off by more
    than ``accuracy``. The number of sweeps over all numbers is returned.

    Parameters
    ----------
    hessian : array [n, n]
        Symmetric, with a positive diagonal.
    gradient, start, penalty : arrays [n]
        The gradient, the parameters at d = 0, and the weight of each absolute value.
    found, product : arrays [n]
        d and hessian·d, which are updated in place.
    accuracy : float
        The largest violation that is left.
    sweeps : int
        The largest number of sweeps.
    """
    size = gradient.shape[0]
    for sweep in range(sweeps):
        worst = 0.0
        for i in range(size):
            curvature = hessian[i, i]
            before = start[i] + found[i]
            at = curvature * before - gradient[i] - product[i]
            if at > penalty[i]:
                after = (at - penalty[i]) / curvature
            elif at < -penalty[i]:
                after = (at + penalty[i]) / curvature
            else:
                after = 0.0
            change = after - before
            if change == 0.0:
                continue
            worst = max(worst, abs(change) * curvature)
            found[i] += change
            for j in range(size):
                product[j] += change * hessian[i, j]
        if worst <= accuracy:
            return sweep + 1
    return sweeps
