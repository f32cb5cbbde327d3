"""The best strategy, its expected utility, and how sure that is under draws of the parameters.

    interval   of EU(δ*; θ)                        δ* the best at the posterior means
    P(best)    P_θ( EU(δ*; θ) = max_δ EU(δ; θ) )
    regret     E_θ[ max_δ EU(δ; θ) − EU(δ*; θ) ]   the value of knowing the parameters

All draws go through one tree of buckets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.model.answers.credible import Credible
from credo.model.answers.interval import probability
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.decisions.policy import Policy, Strategy
from credo.model.values.randomness import Rng
from credo.predict.decisions.problem import Problem, problem_of
from credo.predict.decisions.solution import Ranked, Ranking, Solution
from credo.predict.decisions.valuations import Outcome, Valuation, columns
from credo.predict.questions.request import draws_of, enough

__all__ = [
    "best_rules",
    "optimum",
    "ranking",
    "rules_of",
    "solved",
    "utility_of_strategy",
]

Floats = NDArray[np.float64]
Rules = dict[str, tuple[tuple[str, ...], Floats]]


def optimum(
    problem: Problem,
    pairs: Sequence[Valuation],
    start: Mapping[str, Floats] | None = None,
    keep: Sequence[str] = (),
) -> Outcome:
    """P and EU of the best strategy, for each draw of the pairs.

    With limited memory from the policies of `start`, which it never falls below. What is kept must
    be known at every open decision.
    """
    limited = problem.net.memory == "limited"
    first = [np.ascontiguousarray(start[n]) for n in problem.free] if limited and start else []
    tree, (order, _) = problem.tree(pairs, keep), problem.updating
    return tree.run(columns(pairs)[1], first, order).outcome


def best_rules(
    problem: Problem, keep: Sequence[str] = (), pairs: Sequence[Valuation] | None = None
) -> Rules:
    """The best policies: what each decision looks at, and its choices; some decisions are kept."""
    names, full = problem.net.chance.names, problem.net.memory == "full"
    pairs = problem.valuations() if pairs is None else pairs
    tree = problem.tree(pairs, keep if full else ())
    found = tree.run(columns(pairs)[1], order=problem.updating[0], rules=True)
    looks = [tuple(names[v] for v in f) for f in tree.families]
    tables = tree.policies(found.rules)
    return {f[-1]: (f[:-1], t[0]) for f, t in zip(looks, tables, strict=True) if f[-1] not in keep}


def rules_of(problem: Problem, rules: Rules) -> list[Valuation]:
    """Policies as pairs."""
    at = problem.engine.at
    return [
        Valuation((*(at[n] for n in seen), at[name]), table[None])
        for name, (seen, table) in rules.items()
    ]


def solved(
    problem: Problem,
    given: Mapping[str, Any] | None,
    *,
    interval: float | None,
    draws: int | None,
    rng: Rng,
) -> Solution:
    """The best strategy of a problem."""
    if not problem.free:
        raise InputError("Every decision is given: there is nothing left to decide.")
    ready = problem.ready
    found = ready.tree.run(ready.tables, order=ready.order, rules=True, detail=True)
    parts = zip(ready.decisions, ready.tree.described(found), strict=True)
    policy = Strategy({d.name: Policy(d, seen, *numbers) for (d, seen), numbers in parts})
    utility = float(found.outcome.u[0]) / float(found.outcome.p[0])
    known = dict(given or {})
    n = draws_of(draws, interval)
    if interval is None or not problem.learned:
        return Solution(policy, utility, exact=ready.exact, given=known, notes=problem.notes(None))
    n = enough(n, probability(interval))
    rules: Rules = {k: (tuple(v.name for v in p.parents), p.table) for k, p in policy.items()}
    own, top = [], []
    for drawn in problem.drawn(n, rng):
        out = problem.expected([*drawn, *rules_of(problem, rules)])
        good = out.p > 0
        own.append(out.utility[good])
        start = {name: table[None] for name, (_, table) in rules.items()}
        top.append(optimum(problem, drawn, start).utility[good])
    mine, most = np.concatenate(own), np.concatenate(top)
    lost = most - mine
    near = lost <= 1000 * problem.noise  # several eliminations of many tables
    regret = float(np.where(near, 0.0, lost).mean())
    span = Credible.of(mine, interval)
    sure = float(near.mean())
    return Solution(policy, utility, span, sure, regret, ready.exact, known, problem.notes(span))


def ranking(
    problem: Problem,
    given: Mapping[str, Any] | None,
    decision: str | None,
    *,
    interval: float | None,
    draws: int | None,
    rng: Rng,
) -> Ranking:
    """The choices of one decision of a problem."""
    net = problem.net
    if decision is not None and decision not in net.decisions:
        raise unknown_name("Decision", decision, net.decisions, "in the network")
    if not problem.free or (decision is not None and decision not in problem.free):
        said = f"The decision {decision!r} is" if decision else "Every decision is"
        raise InputError(f"{said} given: there is nothing left to decide.")
    name = decision or problem.free[0]
    rules = best_rules(problem, (name,))
    pairs = rules_of(problem, rules)
    point = _choices(problem, [*problem.valuations(blind=[name]), *pairs], name)
    utilities = point.utility[0]
    order = sorted(range(len(utilities)), key=lambda k: (-utilities[k], k))
    states = net.variable(name).states
    unseen = [n for n in problem.net.information[name] if n in problem.left]
    note = f"chosen without {', '.join(unseen)}, which would be known then" if unseen else ""
    n = draws_of(draws, interval)
    if interval is None or not problem.learned:
        ranked = tuple(Ranked(states[k], float(utilities[k])) for k in order)
        told = [*([note] if note else []), *problem.notes(None)]
        return Ranking(name, ranked, dict(given or {}), None, "\n".join(told))
    n = enough(n, probability(interval))
    found = [_choices(problem, [*drawn, *pairs], name) for drawn in problem.drawn(n, rng, [name])]
    eu = np.concatenate([f.utility[(f.p > 0).all(axis=1)] for f in found])
    most = eu.max(axis=1, keepdims=True)
    share = (most - eu <= 1000 * problem.noise).mean(axis=0)  # all that are as good as the best
    ranked = tuple(
        Ranked(states[k], float(utilities[k]), Credible.of(eu[:, k], interval), float(share[k]))
        for k in order
    )
    regret = float((most[:, 0] - eu[:, order[0]]).mean())
    told = [*([note] if note else []), *problem.notes(ranked[0].interval)]
    return Ranking(name, ranked, dict(given or {}), regret, "\n".join(told))


def _choices(problem: Problem, pairs: Sequence[Valuation], name: str) -> Outcome:
    """P and EU for each choice of a decision, the later ones at their policies."""
    return problem.expected(pairs, (name,))


def utility_of_strategy(
    net: DecisionNetwork, strategy: Mapping[str, Any], given: Mapping[str, Any] | None = None
) -> float:
    """The expected utility of a strategy that was given.

    >>> from credo import DecisionNetwork
    >>> d = DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
    ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
    >>> round(utility_of_strategy(d, {"Take": "yes"}), 6)
    35.0
    """
    problem = problem_of(net, given)
    found = problem.expected([*problem.valuations(), *problem.given_rules(strategy)])
    return float(found.utility[0])
