"""Search over orders of the variables: the best graph of an order is found at once.

Given an order, each child takes the best parent set among those before it, so that the search is
over n! orders of which each stands for its best graph, with no cycles to avoid. Lists of parent
sets worth having come first: narrow at first, then wider, and around the best graph found so
far. Orders are improved by moving one variable at a time through all positions, and left by a few
random moves when nothing helps (iterated local search; Scanagatta et al. 2017 for the idea of
lists found by exploration).

In a wide table the candidates are a choice, and a parent that is worth something only beside two
others is never among them: there each child's best pairs are completed from among all variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from credo import _core
from credo.train.structure.greedy import POLISH, SIDEWAYS, climbed
from credo.train.structure.problem import Outcome, Parents, Problem

__all__ = ["order", "parent_lists"]

_WORK = 4e9  # rows times families that are worth counting for a wider list
_WIDE = 100  # variables beyond which a table is wide: more is counted, in smaller steps
_FAMILIES = 100_000  # the most families of one build
_FAMILIES_WIDE = 4000  # of each variable, in a wide table
_STAGES = ((12, 1), (24, 2), (40, 4))  # candidate parents, and sets of a level that are extended
_STAGES_WIDE = ((24, 2), (40, 4))
_LAST = 5  # times as patient is the last search, unless the table is wide
_PAIRS = 12  # pairs of parents of a child that any variable may complete, in a wide table
_SCREEN = 10_000  # rows that are enough to see which
_CLIMB = 2e9  # rows times pairs of variables up to which a wide table is climbed first


def parent_lists(problem: Problem) -> _core.ParentLists:
    """Empty lists for the problem's scores and rules."""
    return _core.ParentLists(problem.scores.native, *problem.rules.arguments)


def order(problem: Problem) -> Outcome:
    """Iterated insertion search over orders, with lists that grow around the best graph."""
    problem.only("chains", "patience", "stages", "max_families")
    wide = problem.n > _WIDE
    plan = _STAGES_WIDE if wide else _STAGES
    chains = problem.option("chains", 4, 1)
    patience = problem.option("patience", 20 if wide else 100, 1)
    stages = problem.option("stages", len(plan) + 1, 1)
    usual = max(_FAMILIES, _FAMILIES_WIDE * problem.n) if wide else _FAMILIES
    most = problem.option("max_families", usual, 1)
    trace: list[float] = []
    rows = max(float(problem.scores.rows), 1.0)
    if not wide or rows * problem.n**2 <= _CLIMB:  # never below a climb
        climbed(problem, tabu=1000, patience=SIDEWAYS, downhill=False, **POLISH)
        problem.listen()
        trace.append(problem.best_score)
        if not problem.stopped:
            _climb(problem, problem.start, trace, tabu=100, patience=100, **POLISH)
    else:
        problem.offer(problem.start, problem.scores.total(problem.start))
    complete = False
    lists = parent_lists(problem)
    scored = 0
    stage = 0
    for stage in range(stages):
        all_sets = stage >= len(plan)
        room = int(min(most, (10 if wide else 1) * _WORK / rows))
        if problem.stopped or (stage > 0 and 3 * scored > room) or complete:
            break
        candidates, beam = (64, 0) if all_sets else plan[stage]
        lists = parent_lists(problem)
        done, interrupted = lists.build(
            candidates, beam, room if all_sets else 0, report=problem.go_on
        )
        if interrupted:
            problem.stopped = "interrupted"
        scored = max(scored, lists.scored)
        complete = lists.complete and done
        if problem.best is not None:
            lists.add(problem.best, True)
        if not done:
            break
        if wide and stage == 0:
            _reach(problem, lists, trace)
        _improve(problem, lists, chains, patience, trace)
    if not wide and problem.best is not None:
        _improve(problem, lists, chains, _LAST * patience, trace)  # a last, longer look
    notes = []
    if problem.n > 64 or not complete:
        notes.append(
            "parent sets were explored, not exhausted: the best candidates of each child by their "
            "pairwise score, then sets around the best graphs"
        )
    return problem.outcome(
        "no order near the best ones is better",
        trace=tuple(trace),
        notes=tuple(notes),
        details={"lists_complete": complete, "families_listed": lists.size, "stages": stage + 1},
    )


def _reach(problem: Problem, lists: _core.ParentLists, trace: list[float]) -> None:
    """Third parents from among all variables, then short searches: what makes a wide table good."""
    screen = problem.scores.on_fewer_rows(_SCREEN, problem.threads)
    if screen is not None:
        _, interrupted = lists.reach(_PAIRS, screen, report=problem.go_on)
        if interrupted:
            problem.stopped = "interrupted"
    going = not problem.stopped
    while going:
        before = problem.best_score
        better = True
        while better and not problem.stopped:
            low = problem.best_score
            _order(problem, lists, 1, 5, trace)
            assert problem.best is not None
            lists.add(problem.best, True)
            better = _above(problem.best_score, low)
        assert problem.best is not None
        _climb(
            problem, problem.best, trace, tabu=1000, patience=SIDEWAYS, downhill=False, lazy=True
        )
        lists.add(problem.best, True)
        going = problem.go_on() and not problem.stopped and _above(problem.best_score, before)


def _above(score: float, other: float) -> bool:
    return score > other + 1e-9 * abs(other)


def _climb(problem: Problem, start: Parents, trace: list[float], **how: Any) -> None:
    """A climb: it sees every edge, the lists only candidates."""
    found = _core.climb(
        problem.scores.native,
        *problem.rules.arguments,
        start,
        seed=0,
        report=problem.go_on,
        **how,
    )
    problem.took(found)
    trace.append(problem.best_score)


def _order(
    problem: Problem, lists: _core.ParentLists, chains: int, patience: int, trace: list[float]
) -> Mapping[str, Any]:
    """A search over orders from the best graph."""
    assert problem.best is not None
    found = lists.order(
        problem.best,
        chains=chains,
        patience=patience,
        seed=problem.seed(),
        threads=problem.threads,
        turns=problem.n <= _WIDE,
        report=problem.go_on,
    )
    problem.took(found)
    trace.append(problem.best_score)
    return found


def _improve(
    problem: Problem, lists: _core.ParentLists, chains: int, patience: int, trace: list[float]
) -> None:
    """Orders, a climb, sets around the result, again until nothing new is worth having."""
    going = not problem.stopped
    while going:
        before = problem.best_score
        found = _order(problem, lists, chains, patience, trace)
        again = [list(p) for p in found["parents"]]
        _climb(problem, again, trace, tabu=100, patience=100, **POLISH)
        assert problem.best is not None
        new = lists.add(problem.best, True)
        better = _above(problem.best_score, before)
        going = problem.go_on() and not found["stopped"] and (new > 0 or better)
