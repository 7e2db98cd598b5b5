"""Probabilities at 50 digits: every family and rule, complement, Normal-inverse-Wishart and logistic regression.

The references take the numbers as they are in the table, and follow the formulas of the documentation in mpmath.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import suffice
from suffice.estimation import RULES
from suffice.structures.covariances import KINDS

mp.dps = 50
LABELS = np.array(["a", "b"])


def table(rows: int = 12, columns: int = 2, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    return rng.normal(size=(rows, columns)) + 0.7 * y[:, None], LABELS[y]


def counts(rows: int = 12, columns: int = 3, seed: int = 0, most: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    return np.minimum(rng.poisson(0.7 + y[:, None], (rows, columns)), most), LABELS[y]


def posterior(log_joint: list[list[Any]]) -> Any:
    """Return P(class | x) of each row from log p(x, class)."""
    found = []
    for line in log_joint:
        highest = max(line)
        shares = [mp.exp(each - highest) for each in line]
        found.append([float(share / mp.fsum(shares)) for share in shares])
    return np.array(found)


def by_class(X: Any, y: Any, weights: Any) -> tuple[list[tuple[list[list[Any]], list[Any]]], list[Any]]:
    """Return rows and weights of each class as exact numbers, and the log prior of each class."""
    w = np.ones(len(y)) if weights is None else weights
    groups = []
    for label in LABELS:
        places = np.flatnonzero(y == label)
        groups.append(([[mpf(float(v)) for v in X[i]] for i in places], [mpf(float(w[i])) for i in places]))
    total = mp.fsum(mp.fsum(ws) for _, ws in groups)
    return groups, [mp.log(mp.fsum(ws) / total) for _, ws in groups]


def moments(values: list[Any], weights: list[Any]) -> tuple[Any, Any, Any]:
    n = mp.fsum(weights)
    mean = mp.fsum(w * v for w, v in zip(weights, values, strict=True)) / n
    return n, mean, mp.fsum(w * (v - mean) ** 2 for w, v in zip(weights, values, strict=True))


def gaussian(X: Any, y: Any, weights: Any, rule: str, prior: float, var_smoothing: float) -> Any:
    """Return P(class | x) of a Gaussian for each column, by the Normal-inverse-gamma formulas."""
    groups, log_prior = by_class(X, y, weights)
    every = [row for rows, _ in groups for row in rows], [w for _, ws in groups for w in ws]
    c, columns = mpf(prior), X.shape[1]
    pooled = [moments([row[j] for row in every[0]], every[1]) for j in range(columns)]
    floor = mpf(var_smoothing) * max(m2 / n for n, _, m2 in pooled)
    scores = []
    for x in X:
        line = []
        for (rows, ws), score in zip(groups, log_prior, strict=True):
            for j in range(columns):
                n, mean, m2 = moments([row[j] for row in rows], ws)
                whole, centre, squares = pooled[j]
                value = mpf(float(x[j]))
                kappa, shape = c + n, (c + n) / 2
                scale = c / 2 * squares / whole + m2 / 2 + c * n / (c + n) * (mean - centre) ** 2 / 2
                at = centre + (mean - centre) * n / (c + n)
                if rule == "predictive":
                    dof, spread = 2 * shape, scale * (kappa + 1) / (shape * kappa) + floor
                    score += mp.loggamma((dof + 1) / 2) - mp.loggamma(dof / 2) - mp.log(mp.pi * dof * spread) / 2
                    score -= (dof + 1) / 2 * mp.log(1 + (value - at) ** 2 / (dof * spread))
                    continue
                if rule == "mle":
                    at, variance = mean, m2 / n
                elif rule == "map" or shape <= 1:
                    variance = scale / (shape + mpf(3) / 2)
                else:
                    variance = scale / (shape - 1)
                variance += floor
                score -= mp.log(2 * mp.pi * variance) / 2 + (value - at) ** 2 / (2 * variance)
            line.append(score)
        scores.append(line)
    return posterior(scores)


GAUSSIAN_TABLES = {
    "ordinary": lambda X: (X, None),
    "mean 1e9": lambda X: (X + 1e9, None),
    "mean 1e12, deviation 1e-3": lambda X: (X * 1e-3 + 1e12, None),
    "scale 1e-150": lambda X: (X * 1e-150, None),
    "scale 1e140": lambda X: (X * 1e140, None),
    "weights 1e160": lambda X: (X, np.full(len(X), 1e160)),
    "weights 1e-83": lambda X: (X, np.full(len(X), 1e-83)),
    "fractional weights": lambda X: (X, np.random.default_rng(1).uniform(0.1, 3, len(X))),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", GAUSSIAN_TABLES)
def test_gaussian(name: str, rule: str, case_count: Any) -> None:
    for seed in range(case_count(1, 5, 20)):
        X, y = table(seed=seed)
        X, weights = GAUSSIAN_TABLES[name](X)
        model = suffice.GaussianNB(estimate=rule, prior=1.0).fit(X, y, weights)
        with mp.workdps(420 if name == "weights 1e160" else 50):  # log Γ of 1e160 has 160 digits before the point
            expected = gaussian(X, y, weights, rule, 1.0, model.var_smoothing)
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)


def discrete(name: str, X: Any, y: Any, rule: str, alpha: float) -> Any:
    """Return P(class | x) of families of counts; ``alpha`` is the pseudo-count."""
    groups, log_prior = by_class(X, y, None)
    a, columns = mpf(alpha) if rule != "mle" else mpf(0), X.shape[1]
    less = 1 if rule == "map" else 0  # the mode of a Dirichlet or Gamma posterior
    scores = []
    for x in X:
        line = []
        for (rows, _), score in zip(groups, log_prior, strict=True):
            n = mpf(len(rows))
            totals = [mp.fsum(row[j] for row in rows) for j in range(columns)]
            value = [mpf(float(v)) for v in x]
            if name == "BernoulliNB":
                for j in range(columns):
                    ones = mp.fsum(1 for row in rows if row[j] > 0) + a - less
                    share = ones / (n + 2 * (a - less))
                    score += mp.log(share if value[j] > 0 else 1 - share)
            elif name == "CategoricalNB":
                for j in range(columns):
                    levels = int(X[:, j].max()) + 1
                    here = mp.fsum(1 for row in rows if row[j] == value[j]) + a - less
                    score += mp.log(here / (n + levels * (a - less)))
            elif name == "PoissonNB":
                for j in range(columns):
                    shape, rate = totals[j] + a, n + a
                    if rule == "predictive":
                        score += mp.loggamma(shape + value[j]) - mp.loggamma(shape)
                        score += shape * mp.log(rate / (rate + 1)) - value[j] * mp.log(rate + 1)
                    else:
                        mean = (shape - less) / rate
                        score += value[j] * mp.log(mean) - mean
            else:
                pseudo = [total + a - less for total in totals]
                whole = mp.fsum(pseudo)
                if rule == "predictive":
                    score += mp.loggamma(whole) - mp.loggamma(whole + mp.fsum(value))
                    score += mp.fsum(mp.loggamma(p + v) - mp.loggamma(p) for p, v in zip(pseudo, value, strict=True))
                else:
                    score += mp.fsum(v * mp.log(p / whole) for p, v in zip(pseudo, value, strict=True))
            line.append(score)
        scores.append(line)
    return posterior(scores)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["BernoulliNB", "CategoricalNB", "MultinomialNB", "PoissonNB"])
def test_counts(name: str, rule: str, case_count: Any) -> None:
    for seed in range(case_count(1, 5, 20)):
        X, y = counts(rows=24, seed=seed)
        X[:4] = [[0, 1, 2], [1, 0, 1], [1, 2, 0], [2, 1, 1]]  # every level and bit occurs in both classes, for mle
        X[4:8] = X[[1, 0, 3, 2]]
        model = getattr(suffice, name)(estimate=rule, prior=2.0).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), discrete(name, X, y, rule, 2.0), atol=1e-10)


def complement(X: Any, y: Any, rule: str, alpha: float, norm: bool) -> Any:
    """Return P(class | x) from the score −Σ x·log p̃, with p̃ the shares of the columns in all other classes."""
    groups, _ = by_class(X, y, None)
    pseudo = {"mle": mpf(0), "map": mpf(alpha) - 1}.get(rule, mpf(alpha))
    weights = []
    for k in range(len(groups)):
        others = [row for place, (rows, _) in enumerate(groups) if place != k for row in rows]
        totals = [mp.fsum(row[j] for row in others) + pseudo for j in range(X.shape[1])]
        logged = [mp.log(total / mp.fsum(totals)) for total in totals]
        weights.append([each / mp.fsum(logged) if norm else -each for each in logged])
    return posterior(
        [[mp.fsum(mpf(float(v)) * w for v, w in zip(x, line, strict=True)) for line in weights] for x in X]
    )


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_complement(rule: Any, norm: bool, case_count: Any) -> None:
    for seed in range(case_count(1, 5, 20)):
        X, y = counts(rows=24, seed=seed)
        model = suffice.ComplementNB(estimate=rule, prior=2.0, norm=norm).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), complement(X, y, rule, 2.0, norm), atol=1e-10)


def wishart(X: Any, y: Any, rule: str, c: float, is_shared: bool) -> Any:
    """Return P(class | x) of a Gaussian with a covariance, by the Normal-inverse-Wishart formulas."""
    groups, log_prior = by_class(X, y, None)
    d, every = X.shape[1], [row for rows, _ in groups for row in rows]
    centre = mp.matrix([mp.fsum(row[j] for row in every) / len(every) for j in range(d)])
    variances = [mp.fsum((row[j] - centre[j]) ** 2 for row in every) / len(every) for j in range(d)]
    means, scatters, pulls, sizes = [], [], [], []
    for rows, _ in groups:
        n = mpf(len(rows))
        mean = mp.matrix([mp.fsum(row[j] for row in rows) / n for j in range(d)])
        scatter = mp.zeros(d)
        for row in rows:
            away = mp.matrix(row) - mean
            scatter += away * away.T
        pull = c * n / (c + n) * (mean - centre) * (mean - centre).T
        means.append(mean), scatters.append(scatter), pulls.append(pull), sizes.append(n)
    prior = mp.diag([c * v for v in variances])
    scores = []
    for x in X:
        value, line = mp.matrix([mpf(float(v)) for v in x]), []
        for k, (mean, n) in enumerate(zip(means, sizes, strict=True)):
            parts = range(len(sizes)) if is_shared else [k]
            rows = mp.fsum(sizes[i] for i in parts)
            scatter = sum((scatters[i] for i in parts), mp.zeros(d))
            pull = sum((pulls[i] for i in parts), mp.zeros(d))
            dof, at = c + d + 1 + rows, centre + (mean - centre) * n / (c + n)
            if rule == "mle":
                at, sigma = mean, scatter / rows
            elif rule == "map":
                sigma = (prior + scatter + pull) / (dof + d + 1 + len(parts))
            elif rule == "mean":
                sigma = (prior + scatter + pull) / (dof - d - 1)
            else:
                nu = dof - d + 1
                sigma = (prior + scatter + pull) * (c + n + 1) / ((c + n) * nu)
            away = value - at
            square, log_det = (away.T * sigma**-1 * away)[0], mp.log(mp.det(sigma))
            if rule == "predictive":
                score = mp.loggamma((nu + d) / 2) - mp.loggamma(nu / 2) - (d * mp.log(nu * mp.pi) + log_det) / 2
                score -= (nu + d) / 2 * mp.log(1 + square / nu)
            else:
                score = -(square + log_det + d * mp.log(2 * mp.pi)) / 2
            line.append(log_prior[k] + score)
        scores.append(line)
    return posterior(scores)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("covariance", [kind for kind in KINDS if kind in ("full", "shared")])
def test_normal_inverse_wishart(covariance: Any, rule: Any, case_count: Any) -> None:
    for seed in range(case_count(1, 5, 20)):
        X, y = table(rows=16, columns=3, seed=seed)
        X = X @ np.random.default_rng(seed).normal(size=(3, 3))
        for scale in (1.0, 1e-140, 1e140):
            model = suffice.GaussianDiscriminant(covariance=covariance, estimate=rule, prior=2.0).fit(X * scale, y)
            expected = wishart(X * scale, y, rule, mpf(2), covariance == "shared")
            np.testing.assert_allclose(model.predict_proba(X * scale), expected, atol=1e-9)


@pytest.mark.parametrize("penalty", [1.0, 100.0])
def test_logistic_regression(penalty: float) -> None:
    """The coefficients are those of Newton's method at 50 digits, for the loss Σ log(1 + e^−±s) + |w|² / 2C."""
    X, y = table(rows=40, columns=2, seed=3)
    model = suffice.LogisticRegression(C=penalty, tol=1e-12).fit(X, y)
    rows = [mp.matrix([*map(mpf, map(float, row)), 1]) for row in X]
    truth, w = [mpf(int(label == "b")) for label in y], mp.zeros(3, 1)
    ridge = mp.diag([1 / mpf(penalty)] * 2 + [0])
    for _ in range(30):
        p = [1 / (1 + mp.exp(-(row.T * w)[0])) for row in rows]
        slope, curve = ridge * w, ridge.copy()
        for row, share, label in zip(rows, p, truth, strict=True):
            slope += (share - label) * row
            curve += share * (1 - share) * row * row.T
        w -= mp.lu_solve(curve, slope)
    assert max(abs(each) for each in slope) < mpf(10) ** -30
    expected = [[1 - 1 / (1 + mp.exp(-(row.T * w)[0])), 1 / (1 + mp.exp(-(row.T * w)[0]))] for row in rows]
    np.testing.assert_allclose(model.predict_proba(X), np.array(expected, float), atol=1e-9)
    np.testing.assert_allclose(model.coef_[0], [float(w[0]), float(w[1])], rtol=1e-7)
