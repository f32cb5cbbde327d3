"""Hypotheses: the posterior after ten thousand observations, against a few lines of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Bench, Entry, Task

N = 10_000


def run(bench: Bench) -> None:
    import credo as cr

    rng = np.random.default_rng(0)
    cherry = np.array([0.9, 0.75, 0.5, 0.25, 0.1])
    prior = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    bags = {f"h{i}": {"cherry": p, "lime": 1 - p} for i, p in enumerate(cherry)}
    candies = rng.choice(["cherry", "lime"], size=N, p=[0.75, 0.25]).tolist()
    few = cr.Hypotheses(bags, prior=prior.tolist())
    at = {"cherry": 0, "lime": 1}
    logs = np.log(np.stack([cherry, 1 - cherry]))

    def twin(*_: Any) -> Any:
        n = np.bincount([at[c] for c in candies], minlength=2)
        return [_normal(np.log(prior) + n @ logs)]

    bench.compare(
        Task(
            f"5 hypotheses, {N:,} observations as a list",
            [
                Entry("credo", lambda *_: few.observe(candies).posterior, answer=_posterior),
                Entry("NumPy twin", twin),
            ],
            tolerance=1e-12,
        )
    )

    bias = np.linspace(0.001, 0.999, 1000)
    many = cr.Hypotheses({f"p{i}": {0: 1 - p, 1: p} for i, p in enumerate(bias)})
    flips = (rng.random(N) < 0.3).astype(np.int64)
    table = np.log(np.stack([1 - bias, bias]))

    def array_twin(*_: Any) -> Any:
        return [_normal(np.bincount(flips, minlength=2) @ table)]

    bench.compare(
        Task(
            f"1,000 hypotheses, {N:,} observations as an array",
            [
                Entry("credo", lambda *_: many.observe(flips).posterior, answer=_posterior),
                Entry("NumPy twin", array_twin),
            ],
            tolerance=1e-9,
        )
    )

    def steps_twin(*_: Any) -> Any:
        codes = np.array([at[c] for c in candies])
        so_far = np.log(prior) + np.cumsum(logs[codes], axis=0)
        so_far = np.exp(so_far - so_far.max(axis=1, keepdims=True))
        return [so_far / so_far.sum(axis=1, keepdims=True)]

    def steps(*_: Any) -> Any:  # the first row of a history is the prior
        return [few.observe(candies).history.posteriors[1:]]

    bench.compare(
        Task(
            f"5 hypotheses, the posterior after each of {N:,} observations",
            [Entry("credo", steps), Entry("NumPy twin", steps_twin)],
            tolerance=1e-9,
        )
    )


def _posterior(found: Any, _: Any) -> list[NDArray[np.float64]]:
    return [np.array([found[h] for h in found])]


def _normal(log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    p: NDArray[np.float64] = np.exp(log_p - log_p.max())
    return p / p.sum()
