"""Metropolis search with simulated annealing.

    accept a change of one pair of nodes with probability min(1, exp(Δ / T))

T falls from `hot` to `cold` geometrically over `steps` proposals. At a fixed `temperature` of 1
the chain draws graphs with probability proportional to exp(score), and `thin` keeps every
so-many-th: with a Bayesian score, draws from the posterior over structures.
"""

from __future__ import annotations

import numpy as np

from credo import _core
from credo.core.errors import InputError, LimitError
from credo.train.structure.problem import Outcome, Problem

__all__ = ["anneal"]

_MOST_SAMPLES = 200_000_000  # bytes of graphs kept


def anneal(problem: Problem) -> Outcome:
    """Simulated annealing; the best graph seen, with the trace, acceptance and the last graph."""
    problem.only("hot", "cold", "temperature", "steps", "thin")
    n = problem.n
    first = problem.scores.total(problem.start)
    fixed = problem.options.get("temperature")
    if fixed is not None and ("hot" in problem.options or "cold" in problem.options):
        raise InputError("Give either temperature=, which stays, or hot= and cold=.")
    usual = max(1.0, abs(first) / (100 * n)) if np.isfinite(first) else 1.0
    hot = float(problem.option("temperature" if fixed is not None else "hot", usual, 0))
    cold = hot if fixed is not None else float(problem.option("cold", min(0.1, hot), 0))
    if not 0 < cold <= hot < np.inf:
        raise InputError(f"Temperatures must fall and stay above 0, got {hot:g} to {cold:g}.")
    steps = problem.option("steps", max(10_000, 200 * n * n), 1)
    thin = problem.option("thin", 1, 1) or 0 if "thin" in problem.options else 0
    if thin and steps // thin * n * n > _MOST_SAMPLES:
        raise LimitError(
            f"Keeping {steps // thin:,} graphs would take {steps // thin * n * n:,} bytes.",
            hint="Raise thin=.",
        )
    found = _core.anneal(
        problem.scores.native,
        *problem.rules.arguments,
        problem.start,
        hot=hot,
        cold=cold,
        steps=steps,
        thin=thin,
        seed=problem.seed(),
        report=problem.go_on,
    )
    problem.took(found)
    names = problem.rules.names
    details = {
        "hot": hot,
        "cold": cold,
        "acceptance": tuple(found["acceptance"].tolist()),
        "accepted": found["accepted"],
        "proposed": found["proposed"],
        "last": tuple(
            (names[p], names[c]) for c, parents in enumerate(found["last"]) for p in parents
        ),
        "last_score": found["last_score"],
    }
    if thin:
        samples = found["samples"].astype(bool)
        details["edge_probabilities"] = {
            (names[p], names[c]): float(samples[:, c, p].mean())
            for c in range(n)
            for p in range(n)
            if c != p and len(samples) and samples[:, c, p].any()
        }
        details["samples"] = len(samples)
    return problem.outcome(
        f"{steps:,} proposals were made", trace=tuple(found["trace"].tolist()), details=details
    )
