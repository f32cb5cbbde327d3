"""Structures from conditional independence tests.

`pc` (Spirtes et al. 2000; the order-independent form of Colombo & Maathuis 2014): every pair that
some set of neighbours makes independent loses its edge, colliders come from the sets that did
it, and the rules of Meek (1995) turn what else is fixed. `mmhc`: the same skeleton, then a tabu
climb among its edges (a hybrid after Tsamardinos et al. 2006, whose own first phase differs).

Of rows from experiments `pc` turns edges by what setting a variable moves, before any collider
(`train/independence/under_experiments.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.model.graphs.equivalence import Cpdag
from credo.model.graphs.meek import meek
from credo.train.independence.tests import ManyTests
from credo.train.independence.under_experiments import NeitherSet, many_tests, moved
from credo.train.parameters.experiments import Experiments
from credo.train.structure.greedy import POLISH, Moves, named_moves
from credo.train.structure.problem import Outcome, Problem

__all__ = ["mmhc", "pc"]

Marks = NDArray[np.bool_]
Separators = dict[tuple[int, int], tuple[int, ...]]

_PIECE = 2000  # pairs that are tested together, between two looks at the clock
_FOR_THE_CLIMB = 0.4  # share of the budget that is left to the climb after the tests
_AFTER_CTRL_C = 1.0  # seconds of a climb among what was found


def pc(problem: Problem) -> Outcome:
    """The PC-stable algorithm; where no DAG fits the arrows, the score settles them."""
    problem.only("test", "alpha", "max_condition")
    skeleton = _skeleton(problem)
    notes = skeleton.notes
    parents = None
    if not skeleton.cut:
        known = _by_experiments(problem, skeleton.near)
        parents, against = _oriented(problem, skeleton.near, skeleton.separators, known)
        if parents is None:
            notes += ("the tests contradict each other: arrows were chosen by the score",)
        elif against:
            notes += (_contradicting(problem, against),)
        if parents is not None and not math.isfinite(_scored(problem, parents)[1]):
            parents = None  # a family with too few rows in a configuration, say
            notes += ("the graph of the tests has no finite score: edges were chosen by the score",)
    if parents is None:
        parents, _ = _climb_within(problem, skeleton.near)
    problem.best, problem.best_score = _scored(problem, parents)
    return problem.outcome("every pair was tested", notes=notes, details=skeleton.details)


def mmhc(problem: Problem) -> Outcome:
    """Neighbours by tests, then a climb among them."""
    problem.only("test", "alpha", "max_condition")
    skeleton = _skeleton(problem)
    parents, moves = _climb_within(problem, skeleton.near)
    problem.offer(*_scored(problem, parents))
    return problem.outcome(
        "no change among the neighbours raises the score",
        notes=skeleton.notes, details={**skeleton.details, "moves": moves},
    )  # fmt: skip


def _scored(problem: Problem, parents: list[list[int]]) -> tuple[list[list[int]], float]:
    """A graph with its score, whatever time is left."""
    problem.scores.native.limit(None)
    return parents, problem.scores.total(parents)


def _climb_within(problem: Problem, skeleton: Marks) -> tuple[list[list[int]], Moves]:
    """A tabu climb over the edges of the skeleton."""
    allowed = (problem.rules.allowed.astype(bool) & skeleton).astype(np.uint8)
    allowed |= problem.rules.required
    rules = replace(problem.rules, allowed=allowed)
    found = _core.climb(
        problem.scores.native, *rules.arguments, rules.needed, tabu=100, patience=100,
        seed=problem.seed(), report=problem.go_on, **POLISH,
    )  # fmt: skip
    if found["interrupted"]:
        problem.stopped = "interrupted"
    return [list(p) for p in found["parents"]], named_moves(problem, found)


@dataclass(frozen=True)
class _Skeleton:
    """Pairs that no set made independent, the sets that did for others, and how far tests went."""

    near: Marks
    separators: Separators
    tests: int
    notes: tuple[str, ...] = ()
    cut: bool = False

    @property
    def details(self) -> dict[str, int]:
        return {"tests": self.tests, "skeleton": int(self.near.sum()) // 2}


def _alpha(problem: Problem) -> float:
    alpha: float = problem.option("alpha", 0.01, 0)
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be between 0 and 1, got {alpha!r}.")
    return alpha


def _by_experiments(problem: Problem, near: Marks) -> list[tuple[int, int]]:
    """Edges of the skeleton, turned by what setting one end does to the other."""
    rows, names = problem.scores.source, problem.rules.names
    if not isinstance(rows, Experiments):
        return []
    pairs = [(int(a), int(b)) for a, b in np.argwhere(near)]
    told = moved(rows, [(names[a], names[b]) for a, b in pairs], _alpha(problem))
    found = {(a, b): told.get((names[a], names[b])) for a, b in pairs}
    return [
        (a, b) for (a, b), moves in found.items()
        if moves or (found[b, a] is False and moves is None)
    ]  # fmt: skip


def _skeleton(problem: Problem) -> _Skeleton:
    """Test pairs given ever larger sets of neighbours, while most of the budget lasts."""
    alpha = _alpha(problem)
    deepest = problem.option("max_condition", problem.n, 0)
    allowed = problem.rules.allowed.astype(bool) | problem.rules.required.astype(bool)
    level = _Level(problem, many_tests(problem.scores.source, problem.options.get("test")), alpha)
    near = allowed | allowed.T
    kept = problem.rules.required.astype(bool)
    kept = kept | kept.T
    discrete = np.array([v.is_discrete for v in problem.scores.variables])
    for depth in range(deepest + 1):
        pairs = np.argwhere(np.triu(near & ~kept, 1))
        pairs = pairs[
            np.argsort(discrete[pairs].any(axis=1), kind="stable")
        ]  # the quick ones first
        before = level.tests
        fixed = near.copy()  # "stable": neighbours as they were at the start of the level
        for first in range(0, len(pairs), _PIECE):
            piece = [(int(i), int(j)) for i, j in pairs[first : first + _PIECE]]
            try:
                on_time = level.test(piece, fixed, near, depth)
            except KeyboardInterrupt:
                problem.interrupted(_AFTER_CTRL_C)
                on_time = False
            if not on_time:
                untested = pairs[first:] if depth == 0 else pairs[:0]
                near[tuple(untested.T)] = near[tuple(untested[:, ::-1].T)] = False
                problem.doing = ""
                notes = (_cut(problem, depth, len(untested)),)
                return _Skeleton(near, level.separators, level.tests, notes, True)
        if level.tests == before:
            break
    problem.doing = ""
    return _Skeleton(near, level.separators, level.tests, _undone(level.many))


def _undone(many: ManyTests | NeitherSet) -> tuple[str, ...]:
    if not many.undone:
        return ()
    more = ", or of two of which one was set in every row" * isinstance(many, NeitherSet)
    return (
        f"{many.undone:,} tests were not made and took no edge away: of two discrete variables "
        f"given a continuous one, or of columns of which one is a sum of others{more}",
    )


class _Level:
    """Tests of pairs given sets of one size; what was found stays here."""

    def __init__(self, problem: Problem, many: ManyTests | NeitherSet, alpha: float) -> None:
        self.problem, self.many, self.alpha = problem, many, alpha
        self.separators: Separators = {}
        self.tests = 0

    def test(self, pairs: list[tuple[int, int]], fixed: Marks, near: Marks, depth: int) -> bool:
        """Take the independent ones of some pairs out of `near`; False if time ran out before."""
        names = self.problem.rules.names
        waiting = {(i, j): _sets(fixed, i, j, depth) for i, j in pairs}
        while waiting:
            asked, where = [], []
            for pair, sets in list(waiting.items()):
                z = next(sets, None)
                if z is None:
                    del waiting[pair]
                    continue
                where.append((pair, z))
                asked.append((names[pair[0]], names[pair[1]], [names[v] for v in z]))
            if not asked:
                break
            self.problem.doing = f"{self.tests:,} tests · {int(near.sum()) // 2:,} pairs joined"
            if _is_late(self.problem):
                return False
            self.tests += len(asked)
            for (pair, z), p in zip(where, self.many.p(asked), strict=True):
                if p > self.alpha:
                    near[pair] = near[pair[::-1]] = False
                    self.separators[pair] = z
                    del waiting[pair]
        return True


def _is_late(problem: Problem) -> bool:
    """Whether the tests have had their share of the budget; the climb after them needs the rest."""
    if not problem.go_on():
        return True
    if problem.seconds is None or problem.left > _FOR_THE_CLIMB * problem.seconds:
        return False
    problem.stopped = f"the budget of {problem.seconds:g} s was spent"
    return True


def _cut(problem: Problem, depth: int, untested: int) -> str:
    """What it means that the tests ended early."""
    by_hand = problem.stopped == "interrupted"
    why = "Ctrl-C stopped the tests" if by_hand else "the tests took their share of the budget"
    left = f"; {untested:,} pairs that were not tested have no edge" if untested else ""
    return (
        f"{why}{'' if by_hand else ' and ended'} at sets of {depth} neighbours{left}: "
        "edges among the pairs left were chosen by the score"
    )


def _sets(near: Marks, i: int, j: int, size: int) -> Iterator[tuple[int, ...]]:
    """Conditioning sets among the neighbours of i, then of j, each once."""
    if size == 0:
        yield ()
        return
    seen = set()
    for of, other in ((i, j), (j, i)):
        around = [int(v) for v in np.flatnonzero(near[of]) if v != other]
        for z in combinations(around, size):
            if z not in seen:
                seen.add(z)
                yield z


def _contradicting(problem: Problem, against: set[tuple[int, int]]) -> str:
    names = problem.rules.names
    edges = ", ".join(sorted(f"{names[a]} → {names[b]}" for a, b in against))
    return f"colliders contradict each other: {edges} was kept, the first that was found"


def _oriented(
    problem: Problem, near: Marks, separators: Separators, told: list[tuple[int, int]]
) -> tuple[list[list[int]] | None, set[tuple[int, int]]]:
    """Arrows from knowledge, what is told, colliders and Meek's rules; None if no DAG fits them.

    Besides, the arrows of colliders that another collider would have turned.
    """
    n = problem.n
    arrow = np.zeros((n, n), dtype=bool)  # arrow[a, b]: a → b is fixed
    against = set()
    allowed = problem.rules.allowed.astype(bool)
    for a, b in zip(*np.nonzero(near), strict=True):
        if not allowed[a, b] and allowed[b, a]:  # b → a is not allowed: a → b
            arrow[a, b] = True
    for a, b in told:
        if allowed[b, a]:
            arrow[a, b] = True
    known = arrow.copy()
    for c in range(n):
        for a, b in combinations(np.flatnonzero(near[c]).tolist(), 2):
            pair = (min(a, b), max(a, b))
            if not near[a, b] and pair in separators and c not in separators[pair]:
                for p in (a, b):
                    if not arrow[c, p] and allowed[c, p]:
                        arrow[p, c] = True
                    elif arrow[c, p] and not known[c, p]:
                        against.add((c, p))
    meek(near, arrow)
    names = problem.rules.names
    directed, undirected = [], []
    for a, b in combinations(range(n), 2):
        if near[a, b]:
            if arrow[a, b] == arrow[b, a]:
                undirected.append((names[a], names[b]))
            else:
                pair = (a, b) if arrow[a, b] else (b, a)
                directed.append((names[pair[0]], names[pair[1]]))
    try:
        dag = Cpdag(directed, undirected, names).extension()
    except InputError:
        return None, against
    at = {name: i for i, name in enumerate(names)}
    parents = [sorted(at[p] for p in dag.parents(name)) for name in names]
    within = all(
        len(ps) <= problem.rules.most[c]
        and all(problem.rules.allowed[c, p] for p in ps)
        and all(int(p) in ps for p in np.flatnonzero(problem.rules.required[c]))
        for c, ps in enumerate(parents)
    )
    return (parents if within else None), against
