"""Hill climbing and tabu search: add, delete or reverse the edge that raises the score most.

`hill-climb` stops where no single change improves the graph, nor one of up to `sideways` graphs of
the same score reached by turning edges (mostly equivalent graphs, which a search over graphs
cannot tell apart); `restarts` begin again from the best graph after random changes. `tabu` goes on
through the best change that leads to no recent graph, until `patience` changes in a row brought
nothing better.

With `polish`, the default, a climb differs from the textbook's in two ways. A parent that was
worth nothing to a child is looked at again only where nothing else helps, and once more at the
end, so that half of the tables are never counted. And where the climb ends, the families scored on
the way, with some sets of each child's Markov blanket, are put together anew by a short search over
orders: every edge is turned, and the rest settles around it; at the end also after `polish` random
kicks. From a better graph it goes on. The blanket is what turning an edge takes: its two ends take
each other's parents (Shachter 1986), and a climb that may not do that in one step stays where two
parents meet in the wrong child. `polish=0` is the textbook's climb.

The moves that led to the graph are kept: ("add", a, b), ("delete", a, b), ("reverse", a, b) is
b → a after it. ("orders", "", "") and ("restart", "", "") say why the edges after them go and come:
a better graph was put together from families, or the search began again from the best graph.
Made one after the other from the start, they give the graph.

`k2` (Cooper & Herskovits 1992) takes parents one by one, from a given order: each child starts with
its required parents and takes, again and again, the variable before it that raises its score most,
until none does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from credo import _core
from credo.core.errors import InputError
from credo.train.structure.problem import Outcome, Problem

__all__ = ["POLISH", "SIDEWAYS", "climbed", "hill_climb", "k2", "named_moves", "tabu"]

Moves = tuple[tuple[str, str, str], ...]

# kicks over orders; sets around a child that grow; candidates besides its Markov blanket
POLISH: Mapping[str, Any] = {"polish": 20, "around": 8, "alone": 3, "lazy": True}
SIDEWAYS = 30


def hill_climb(problem: Problem) -> Outcome:
    """Greedy search, with random restarts if asked for."""
    problem.only("restarts", "kicks", "max_steps", "sideways", "polish")
    restarts = problem.option("restarts", 0, 0)
    kicks = problem.option("kicks", max(3, problem.n // 4), 1)
    sideways = problem.option("sideways", SIDEWAYS, 0)
    polish = problem.option("polish", POLISH["polish"], 0)
    return climbed(
        problem,
        tabu=1000 if sideways else 0,
        patience=sideways,
        downhill=False,
        restarts=restarts,
        kicks=kicks,
        **({**POLISH, "polish": polish} if polish else {}),
    )


def tabu(problem: Problem) -> Outcome:
    """Greedy search that walks through worse graphs, never back to a recent one."""
    problem.only("tabu", "patience", "restarts", "kicks", "max_steps")
    length = problem.option("tabu", 100, 1)
    patience = problem.option("patience", 100, 1)
    restarts = problem.option("restarts", 0, 0)
    kicks = problem.option("kicks", max(3, problem.n // 4), 1)
    return climbed(problem, tabu=length, patience=patience, restarts=restarts, kicks=kicks)


def named_moves(problem: Problem, found: Mapping[str, Any]) -> Moves:
    """The moves of a native search by name."""
    names = (*problem.rules.names, "")
    return tuple((what, names[p], names[c]) for what, p, c in found["moves"])  # -1: no node


def climbed(problem: Problem, **how: Any) -> Outcome:
    """Run the native search from the problem's start."""
    limit = problem.option("max_steps", 0, 0)
    found = _core.climb(
        problem.scores.native,
        *problem.rules.arguments,
        problem.start,
        most_steps=limit,
        seed=problem.seed(),
        report=problem.go_on,
        **how,
    )
    problem.took(found)
    moves = named_moves(problem, found)
    reason = "no single change of an edge raises the score"
    if limit and found["steps"] >= limit:
        reason = f"{limit:,} steps were made"
    elif how.get("downhill", True):
        reason = f"{how['patience']:,} steps without a better graph"
    elif how.get("restarts"):
        reason = f"a local optimum after {how['restarts']:,} restarts"
    times = sum(what == "orders" for what, _, _ in moves)
    notes = []
    if times:
        notes.append(
            f"polished: {times:,} {'time' if times == 1 else 'times'} the families scored so far "
            "were put together anew by a search over orders"
        )
    return problem.outcome(
        reason,
        trace=tuple(found["trace"].tolist()),
        notes=tuple(notes),
        details={"moves": moves, "polished": times},
    )


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
