"""Decisions with limited memory: each policy in turn is made the best beside the others.

    δ_d ← argmax_d EU(d | what d sees; the other policies)

until none alone can be improved (single policy updating; Lauritzen & Nilsson 2001). The expected
utility never falls. The result is the best of all where the decisions can be taken one after the
other such that each hangs on nothing the later ones see beyond its own family (a soluble LIMID),
and in that order; else it is the best that no single change can improve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from credo.model.decisions.decision_network import DecisionNetwork
from credo.predict.decisions.problem import Problem
from credo.predict.decisions.valuations import Valuation

__all__ = ["policy_updating", "soluble_order"]

Floats = NDArray[np.float64]

_GAIN = 1e-12  # of the largest utility: a policy changes only for more than this


def policy_updating(
    problem: Problem, pairs: Sequence[Valuation], start: Mapping[str, Floats] | None = None
) -> tuple[dict[str, Floats], Floats]:
    """The policies [draws, what is seen…, options] and their expected utility [draws].

    From the even policies, or from those given; every draw of the parameters on its own.
    """
    arities, at = problem.arities, problem.engine.at
    rules: dict[str, Floats] = {}
    for name in problem.free:
        shape = [1, *(arities[at[n]] for n in (*problem.seen(name), name))]
        rules[name] = np.full(shape, 1 / shape[-1])
    rules |= start or {}
    exact = soluble_order(problem.net, problem.free)
    order = [*exact, *(n for n in reversed(problem.free) if n not in exact)]
    first, utility = start is None, np.zeros(1)
    while True:
        changed = False
        for name in order:
            others = [problem.rule(n, t) for n, t in rules.items() if n != name]
            found = problem.expected([*pairs, *others], (*problem.seen(name), name))
            u, now = found.u, rules[name]
            top = u.max(axis=-1, keepdims=True)
            limit = _GAIN * np.abs(u).max(axis=-1, keepdims=True)
            better = top[..., 0] > (u * now).sum(axis=-1) + limit[..., 0]
            if first or better.any():
                best = (u >= top - limit).argmax(axis=-1)
                point = np.eye(u.shape[-1])[best]
                rules[name] = point if first else np.where(better[..., None], point, now)
                changed = True
            total = (u * rules[name]).sum(axis=-1).reshape(len(u), -1).sum(axis=1)
            p = found.p[..., 0].reshape(len(u), -1).sum(axis=1)
            utility = np.divide(total, p, out=np.zeros_like(total), where=p > 0)
        first = False
        if not changed:
            return rules, utility


def soluble_order(net: DecisionNetwork, free: Sequence[str]) -> list[str]:
    """The decisions, last first, whose best policies do not hang on those still to be found.

    >>> from credo import DecisionNetwork
    >>> d = DecisionNetwork("[A][D?|A][U$|A:D]", {"A": 0.3}, decisions={"D": ["l", "r"]},
    ...     utilities={"U": [[1, 0], [0, 1]]}, memory="limited")
    >>> soluble_order(d, d.decisions)
    ['D']
    """
    left, out = list(free), list[str]()
    while True:
        name = next((n for n in reversed(left) if _alone(net, n, left)), None)
        if name is None:
            return out
        left.remove(name)
        out.append(name)


def _alone(net: DecisionNetwork, name: str, left: Sequence[str]) -> bool:
    """Whether nothing of the other decisions says more of the utilities than its own family."""
    own = {name, *net.information[name]}
    others = {n for d in left if d != name for n in (d, *net.information[d])} - own
    worth = [u for u in net.dag.descendants(name) if u in net.utilities]
    if not others or not worth:
        return True
    return bool(net.dag.d_separated(worth, sorted(others), given=sorted(own)))
