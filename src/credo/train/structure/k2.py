"""K2 search (Cooper & Herskovits 1992): parents one by one, from a given order.

Each child starts with its required parents and takes, again and again, the variable before it
that raises its score most, until none does.
"""

from __future__ import annotations

from credo.core.errors import InputError
from credo.train.structure.problem import Outcome, Problem

__all__ = ["k2"]


def k2(problem: Problem) -> Outcome:
    """Greedy parents within `order`, a list of all the variables."""
    problem.only("order")
    order = _order(problem)
    rules = problem.rules
    parents = rules.needed
    place = {v: k for k, v in enumerate(order)}
    for c, row in enumerate(parents):
        for p in row:
            if place[p] > place[c]:
                raise InputError(
                    f"The order puts {rules.names[c]!r} before its required parent "
                    f"{rules.names[p]!r}."
                )
    moves = []
    for k, child in enumerate(order):
        now = float(problem.scores.native.score([(child, parents[child])])[0])
        while len(parents[child]) < rules.most[child]:
            more = [v for v in order[:k] if rules.allowed[child, v] and v not in parents[child]]
            if not more or not problem.go_on(steps=k, edges=sum(map(len, parents))):
                break
            found = problem.scores.native.score([(child, [*parents[child], v]) for v in more])
            best = int(found.argmax())
            if not found[best] > now + 1e-11 * max(1.0, abs(now)):
                break
            now = float(found[best])
            parents[child] = sorted([*parents[child], more[best]])
            moves.append(("add", rules.names[more[best]], rules.names[child]))
    problem.offer(parents, problem.scores.total(parents))
    return problem.outcome(
        "no parent before a child raises its score", details={"moves": tuple(moves)}
    )


def _order(problem: Problem) -> list[int]:
    given = problem.options.get("order")
    names = problem.rules.names
    if given is None or isinstance(given, str):
        raise InputError("The search 'k2' needs order=, a list of all the variables.")
    order = [problem.scores.schema.index(name) for name in given]
    if sorted(given) != sorted(names):
        lacking = [n for n in names if n not in list(given)]
        raise InputError(
            "order= must hold every variable once"
            + (f"; {lacking[0]!r} is not in it." if lacking else ".")
        )
    return order
