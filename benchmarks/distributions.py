"""Distributions: conjugate updates and intervals, against NumPy and SciPy by hand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task

N = 10_000


def run(bench: Bench) -> None:
    import scipy.special as sp
    import scipy.stats as st

    import credo as cr

    rng = np.random.default_rng(0)
    labels = ["red", "green", "blue", "white"]
    draws = rng.choice(labels, size=N, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    prior = cr.Dirichlet(1, states=labels)

    def dirichlet_twin(*_: Any) -> Any:
        seen = Counter(draws)
        alpha = np.ones(4) + [seen[s] for s in labels]
        return [alpha / alpha.sum()]

    bench.compare(
        Task(
            f"Dirichlet: {N:,} labels in, predictive out",
            [
                Entry(
                    "credo",
                    lambda *_: prior.update(draws).predictive(),
                    answer=lambda p, _: [np.array([p[s] for s in labels])],
                ),
                Entry("Counter + NumPy", dirichlet_twin),
            ],
            tolerance=1e-12,
        )
    )

    def evidence_twin(*_: Any) -> Any:
        seen = Counter(draws)
        n = np.array([seen[s] for s in labels], dtype=float)
        value = sp.gammaln(4) - sp.gammaln(4 + n.sum()) + sp.gammaln(1 + n).sum()
        return [value - 4 * sp.gammaln(1)]

    bench.compare(
        Task(
            f"Dirichlet: the marginal likelihood of {N:,} labels",
            [
                Entry("credo", lambda *_: [prior.log_marginal(draws)]),
                Entry("Counter + SciPy", evidence_twin),
            ],
            tolerance=1e-10,
        )
    )

    belief = cr.Beta(31, 71)
    bench.compare(
        Task(
            "Beta: a central 95 % interval",
            [
                Entry(
                    "credo",
                    lambda *_: belief.central(0.95),
                    answer=lambda found, _: [np.array([*found])],
                ),
                Entry("scipy.stats.beta", lambda *_: [np.array(st.beta(31, 71).interval(0.95))]),
            ],
            tolerance=1e-9,
        )
    )

    x = rng.normal(3.0, 2.0, size=N)
    normal = cr.distributions.NormalInverseGamma(0.0, 1.0, 2.0, 3.0)

    def normal_twin(*_: Any) -> Any:
        n, mean = len(x), x.mean()
        scatter = ((x - mean) ** 2).sum()
        kappa = 1.0 + n
        b = 3.0 + scatter / 2 + 1.0 * n * mean**2 / (2 * kappa)
        return [np.array([n * mean / kappa, kappa, 2.0 + n / 2, b])]

    bench.compare(
        Task(
            f"normal-inverse-gamma: {N:,} numbers in",
            [
                Entry(
                    "credo",
                    lambda *_: normal.update(x),
                    answer=lambda p, _: [np.array([p.mu, p.kappa, p.alpha, p.beta])],
                ),
                Entry("NumPy by hand", normal_twin),
            ],
            tolerance=1e-10,
        )
    )
