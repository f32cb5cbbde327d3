"""Cheeseman & Stutz of several classes, by hand: from responsibilities alone, and enumerated."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, xlogy
from scipy.stats import multivariate_normal

import credo as cr


def dirichlet(counts, alpha):
    """ln ∫ Π p^n Dir(p; α) dp, for each row of the counts."""
    j = counts.shape[-1]
    total = gammaln(j * alpha) - gammaln(j * alpha + counts.sum(axis=-1))
    return float(np.sum(total + (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=-1)))


def expected_counts(column, states, r):
    return np.stack([[r[column == s, c].sum() for s in states] for c in range(r.shape[1])])


@pytest.mark.parametrize("prior", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("k", [2, 3])
def test_of_latent_classes(prior, k):
    rng = np.random.default_rng(4)
    hidden = rng.integers(0, k, 60)
    noise = rng.random((60, 3)) < 0.2
    rows = {
        name: np.where(noise[:, j], rng.choice(list("xyz"), 60), np.array(list("xyz"))[hidden])
        for j, name in enumerate("abc")
    }
    model = cr.mixture(rows, k, prior=prior, tol=1e-12, max_iter=3000)
    r = model.responsibilities(rows)
    weights = np.asarray(model.weights)
    evidence = dirichlet(r.sum(axis=0)[None], 1.0 + prior)
    complete = float((r.sum(axis=0) * np.log(weights)).sum())
    for name in "abc":
        states = model.variables[model.names.index(name)].states
        counts = expected_counts(rows[name], states, r)
        evidence += dirichlet(counts, 1.0 + prior / len(states))
        # at the top a table is the mode under the prior, in proportion to counts + prior / J
        table = counts + prior / len(states)
        table = table / table.sum(axis=1, keepdims=True)
        complete += float(xlogy(counts, table).sum())
    wanted = evidence - complete + model.log_likelihood(rows)
    assert model.candidates.best.cheeseman_stutz == pytest.approx(wanted, rel=1e-6)


def test_of_two_gaussians():
    rng = np.random.default_rng(1)
    x = np.concatenate(
        [rng.normal(size=(40, 2)), rng.normal(size=(30, 2)) @ [[1, 0.5], [0, 1]] + 3]
    )
    rows = {"x": x[:, 0], "y": x[:, 1]}
    model = cr.mixture(rows, 2, tol=1e-12, max_iter=3000)
    r, k, d = model.responsibilities(rows), 2, 2
    evidence = dirichlet(r.sum(axis=0)[None], 1.0)
    complete = float((r.sum(axis=0) * np.log(np.asarray(model.weights))).sum())
    scale = np.diag(x.var(axis=0)) / k ** (2 / d)
    for c in range(k):
        n = r[:, c].sum()
        mean = r[:, c] @ x / n
        scatter = (r[:, c, None] * (x - mean)).T @ (x - mean)
        after = (
            scale
            + scatter
            + 0.01 * n / (0.01 + n) * np.outer(mean - x.mean(axis=0), mean - x.mean(axis=0))
        )
        nu = d + 2
        gammas = [gammaln((v - np.arange(d)) / 2).sum() for v in (nu + n, nu)]
        evidence += (
            -0.5 * n * d * np.log(np.pi)
            + gammas[0]
            - gammas[1]
            + 0.5 * nu * np.linalg.slogdet(scale)[1]
            - 0.5 * (nu + n) * np.linalg.slogdet(after)[1]
            + 0.5 * d * np.log(0.01 / (0.01 + n))
        )
        density = multivariate_normal(model.gaussians.means[c], model.gaussians.covariances[c])
        complete += float(r[:, c] @ density.logpdf(x))
    wanted = evidence - complete + model.log_likelihood(rows)
    assert model.candidates.best.cheeseman_stutz == pytest.approx(wanted, rel=1e-5)


def test_it_is_below_the_evidence_and_near_it():
    """ln P(rows | k), summed over every way to give ten rows their classes."""
    rows = {"a": list("xxxxxyyyyy"), "b": list("uuuuvvvvvu"), "c": list("pppppqqqqp")}
    model = cr.mixture(rows, 2, prior=1.0, restarts=20)
    cells = np.array([rows[n] for n in "abc"])
    logs = []
    for given in product((0, 1), repeat=10):
        r = np.eye(2)[list(given)]
        total = dirichlet(r.sum(axis=0)[None], 2.0)
        for column, states in zip(cells, ("xy", "uv", "pq"), strict=True):
            total += dirichlet(expected_counts(column, list(states), r), 1.5)
        logs.append(total)
    exact = float(np.logaddexp.reduce(logs))
    found = model.candidates.best.cheeseman_stutz
    assert exact - 2.5 < found < exact
