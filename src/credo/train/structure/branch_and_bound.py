"""The best graph with its proof: branch and bound over arcs, bounded by the linear programme.

Where the programme with all its cuts is still fractional, an arc is taken or forbidden, whichever
arc moves both bounds most, and each half is cut on. The half with the highest bound comes next, so
that the bound of the whole falls with every step, and what is left when time is over is a
certified upper bound.
"""

from __future__ import annotations

import heapq

import numpy as np

from credo import _core
from credo.core.errors import MissingPackageError
from credo.train.structure.cluster_cuts import Floats, Programme
from credo.train.structure.problem import Problem

__all__ = ["branch_and_bound"]

_TRIED = 8  # arcs whose two halves are looked at before one is chosen

Arcs = tuple[tuple[int, int, bool], ...]


def branch_and_bound(problem: Problem, lists: _core.ParentLists) -> float:
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
