"""Hill climbing and tabu search: add, delete or reverse the edge that raises the score most.

`hill-climb` stops where no single change improves the graph, nor one of up to `sideways` graphs of
the same score reached by turning edges (mostly equivalent graphs, which a search over graphs
cannot tell apart); `restarts` begin again from the best graph after random changes. `tabu` goes on
through the best change that leads to no recent graph, until `patience` changes in a row brought
nothing better.
"""

from __future__ import annotations

from credo import _core
from credo.train.structure.problem import Outcome, Problem

__all__ = ["climbed", "hill_climb", "tabu"]


def hill_climb(problem: Problem) -> Outcome:
    """Greedy search, with random restarts if asked for."""
    problem.only("restarts", "kicks", "max_steps", "sideways", "polish", "around", "alone")
    restarts = problem.option("restarts", 0, 0)
    kicks = problem.option("kicks", max(3, problem.n // 4), 1)
    sideways = problem.option("sideways", 100, 0)
    return climbed(
        problem,
        tabu=1000 if sideways else 0,
        patience=sideways,
        downhill=0,
        polish=problem.option("polish", 20, 0),
        around=problem.option("around", 4, 0),
        alone=problem.option("alone", 4, 0),
        lazy=1,
        restarts=restarts,
        kicks=kicks,
    )


def tabu(problem: Problem) -> Outcome:
    """Greedy search that walks through worse graphs, never back to a recent one."""
    problem.only("tabu", "patience", "restarts", "kicks", "max_steps")
    length = problem.option("tabu", 100, 1)
    patience = problem.option("patience", 100, 1)
    restarts = problem.option("restarts", 0, 0)
    kicks = problem.option("kicks", max(3, problem.n // 4), 1)
    return climbed(problem, tabu=length, patience=patience, restarts=restarts, kicks=kicks)


def climbed(problem: Problem, **how: int) -> Outcome:
    """Run the native search from the problem's start."""
    found = _core.climb(
        problem.scores.native,
        *problem.rules.arguments,
        problem.start,
        how.get("tabu", 0),
        how.get("patience", 0),
        bool(how.get("downhill", 1)),
        how.get("restarts", 0),
        how.get("kicks", 0),
        most_steps=problem.option("max_steps", 0, 0),
        polish=how.get("polish", 0),
        lazy=bool(how.get("lazy", 0)),
        around=how.get("around", 0),
        alone=how.get("alone", 0),
        seed=problem.seed(),
        report=problem.go_on,
    )
    problem.took(found)
    names = problem.rules.names
    moves = tuple(
        (what, names[p] if p >= 0 else "", names[c] if c >= 0 else "")
        for what, p, c in found["moves"]
    )
    limit = problem.option("max_steps", 0, 0)
    reason = "no single change of an edge raises the score"
    if limit and found["steps"] >= limit:
        reason = f"{limit:,} steps were made"
    elif how.get("downhill", 1):
        reason = f"{how['patience']:,} steps without a better graph"
    elif how.get("restarts"):
        reason = f"a local optimum after {how['restarts']:,} restarts"
    return problem.outcome(reason, trace=tuple(found["trace"].tolist()), details={"moves": moves})
