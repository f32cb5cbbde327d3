"""The exact optimum, with its proof.

Complete lists of the parent sets that could be optimal come first: a set is left out when a
subset scores as much, and a branch is cut when an upper bound says that nothing below it can do
better. Up to 25 variables the best graph is found by dynamic programming over sets of variables
(Silander & Myllymäki 2006); beyond, by branch and bound on a linear programme with cluster cuts,
which gives a certified upper bound even where it is stopped. Stopped before that, the bound is
what every child could score at most on its own: the best of its list, or what the parent sets that
were not scored yet may reach. For the likelihoods with a penalty and for BDeu that is finite.

The branches are arcs. Where the programme with all its cuts is still fractional, an arc is taken or
forbidden, whichever arc moves both bounds most, and each half is cut on. The half with the highest
bound comes next, so that the bound of the whole falls with every step, and what is left when time
is over is a certified upper bound.
"""

from __future__ import annotations

import heapq
import math

import numpy as np

from credo import _core
from credo.core.errors import InputError, LimitError, MissingPackageError
from credo.train.structure.cluster_cuts import Floats, Programme
from credo.train.structure.greedy import POLISH, climbed
from credo.train.structure.orders import parent_lists
from credo.train.structure.problem import Outcome, Problem

__all__ = ["exact"]

_FAMILIES = 20_000_000  # more families than this are not scored
_BY_SETS = 25  # variables up to which all sets of them are gone through


def exact(problem: Problem) -> Outcome:
    """The best graph of all that the rules allow; details hold `bound` and `proven`."""
    problem.only("max_families", "method")
    most = problem.option("max_families", _FAMILIES, 1)
    method = problem.option("method", "auto")
    if method not in ("auto", "dynamic", "linear"):
        raise InputError(f"method must be 'auto', 'dynamic' or 'linear', got {method!r}.")
    widest = int(problem.rules.allowed.sum(axis=1).max(initial=0))
    if widest > 64:
        raise LimitError(
            f"The exact search takes at most 64 possible parents a child, got {widest}.",
            hint="Narrow candidates=, or use search='order'.",
        )
    if method == "dynamic" and problem.n > 28:
        raise LimitError(f"At most 28 variables fit the dynamic programme, got {problem.n}.")
    climbed(problem, tabu=100, patience=100, **POLISH)  # something to give back, whatever happens
    problem.listen()
    lists = parent_lists(problem)
    done, interrupted = lists.build(64, 0, most, report=problem.go_on)
    apart = math.fsum(lists.upper)  # each child by itself
    if interrupted:
        problem.stopped = "interrupted"
    if not done or problem.stopped:
        return problem.outcome("stopped", details=_proof(apart, False))
    if not lists.complete:
        raise LimitError(
            f"More than {most:,} families could be optimal, too many to score.",
            hint="Give max_parents=, or use search='order'.",
        )
    details = {"families_scored": lists.scored, "families_listed": lists.size}
    if method == "linear" or (method == "auto" and problem.n > _BY_SETS):
        bound = min(_branch_and_bound(problem, lists), apart)
        outcome = problem.outcome("proven optimal")
        gap = bound - outcome.score
        proven = gap <= 1e-9 * max(1.0, abs(bound))
        reason = outcome.reason if problem.stopped or proven else "no more cuts were found"
        return problem.outcome(reason, details=details | _proof(bound, proven))
    found = lists.exact(report=problem.go_on)
    if found["stopped"]:
        problem.stopped = "interrupted" if found["interrupted"] else problem.stopped
        return problem.outcome("stopped", details=details | _proof(apart, False))
    if not math.isfinite(found["score"]):
        raise InputError("No graph within the rules has a finite score.")
    problem.took(found)
    return problem.outcome("proven optimal", details=details | _proof(float(found["score"]), True))


def _proof(bound: float, proven: bool) -> dict[str, object]:
    return {"bound": bound, "proven": proven}


_TRIED = 8  # arcs whose two halves are looked at before one is chosen

Arcs = tuple[tuple[int, int, bool], ...]


def _branch_and_bound(problem: Problem, lists: _core.ParentLists) -> float:
    """Offer the best graph found to the problem; an upper bound on every graph's score."""
    try:
        import highspy
    except ImportError:
        raise MissingPackageError(
            "The exact search beyond 25 variables needs HiGHS.",
            hint="Install it: pip install 'credo[exact]'",
        ) from None
    programme = Programme(highspy, problem, lists)
    first = lists.order(problem.start, chains=4, patience=200, seed=problem.seed(),
                        threads=problem.threads, report=problem.go_on)  # fmt: skip
    problem.took(first)
    bound, x = programme.tightened(deep=True)
    if problem.stopped or _settled(programme, bound, x):
        return max(bound, problem.best_score) if problem.stopped else problem.best_score
    programme.rule_out(bound)
    return _branch(programme, bound, x)


def _settled(programme: Programme, bound: float, x: Floats) -> bool:
    """Whether nothing better than the incumbent can be in this half."""
    return bound <= programme.goal(bound) or programme.whole(x)


def _branch(programme: Programme, bound: float, x: Floats) -> float:
    """Halve what is open, the highest bound first, until the incumbent is the bound."""
    problem = programme.problem
    count = 0
    open_: list[tuple[float, int, Arcs, Floats]] = [(-bound, count, (), x)]
    while open_:
        bound = -open_[0][0]
        if bound <= programme.goal(bound):
            break
        if not problem.go_on(problem.best_score):
            return bound
        _, _, arcs, x = heapq.heappop(open_)
        parent, child = _arc(programme, arcs, bound, x)
        for there in (False, True):
            half = (*arcs, (parent, child, there))
            programme.allow(half)
            inner, y = programme.tightened(deep=False)
            if problem.stopped:
                return bound
            inner = min(inner, bound)
            if not _settled(programme, inner, y):
                count += 1
                heapq.heappush(open_, (-inner, count, half, y))
    return problem.best_score


def _arc(programme: Programme, arcs: Arcs, bound: float, x: Floats) -> tuple[int, int]:
    """The arc, among the most undecided ones, that moves the bounds of both halves most."""
    weight = programme.arcs(x)
    undecided = np.minimum(weight, 1 - weight)
    tried = np.argsort(-undecided, axis=None, kind="stable")[:_TRIED]
    gap = bound - programme.problem.best_score
    best, chosen = -1.0, (-1, -1)
    for flat in tried:
        child, parent = divmod(int(flat), programme.n)
        if undecided[child, parent] < 1e-9 and chosen[0] >= 0:
            break
        moved = 1.0
        for there in (False, True):
            programme.allow((*arcs, (parent, child, there)))
            value, _ = programme.value()
            moved *= min(max(bound - value, 1e-3), gap)
        if moved > best:
            best, chosen = moved, (parent, child)
    return chosen
