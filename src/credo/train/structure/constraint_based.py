"""Structures from conditional independence tests.

`pc` (Spirtes et al. 2000; the order-independent form of Colombo & Maathuis 2014): every pair that
some set of neighbours makes independent loses its edge, colliders come from the sets that did
it, and the rules of Meek (1995) turn what else is fixed. `mmhc`: the same skeleton, then a tabu
climb among its edges (a hybrid after Tsamardinos et al. 2006, whose own first phase differs).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.errors import InputError
from credo.model.equivalence import Cpdag
from credo.train.independence_tests import tests_of
from credo.train.structure.greedy import POLISH
from credo.train.structure.meek import meek
from credo.train.structure.problem import Outcome, Problem

__all__ = ["mmhc", "pc"]

Marks = NDArray[np.bool_]
Separators = dict[tuple[int, int], tuple[int, ...]]


def pc(problem: Problem) -> Outcome:
    """The PC-stable algorithm; where no DAG fits the arrows, the score settles them."""
    problem.only("test", "alpha", "max_condition")
    skeleton, separators, tests = _skeleton(problem)
    notes: list[str] = []
    parents = _oriented(problem, skeleton, separators)
    if parents is None:
        notes.append("the tests contradict each other: arrows were chosen by the score")
        parents = _climb_within(problem, skeleton)
    score = problem.scores.total(parents)
    problem.best, problem.best_score = parents, score
    details = {"tests": tests, "skeleton": int(skeleton.sum()) // 2}
    return problem.outcome("every pair was tested", notes=tuple(notes), details=details)


def mmhc(problem: Problem) -> Outcome:
    """Neighbours by tests, then a climb among them."""
    problem.only("test", "alpha", "max_condition")
    skeleton, _, tests = _skeleton(problem)
    parents = _climb_within(problem, skeleton)
    problem.offer(parents, problem.scores.total(parents))
    details = {"tests": tests, "skeleton": int(skeleton.sum()) // 2}
    return problem.outcome("no change among the neighbours raises the score", details=details)


def _climb_within(problem: Problem, skeleton: Marks) -> list[list[int]]:
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
    return [list(p) for p in found["parents"]]


def _skeleton(problem: Problem) -> tuple[Marks, Separators, int]:
    """The pairs that no set of neighbours makes independent, and the sets that did for others."""
    alpha = problem.option("alpha", 0.01, 0)
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be between 0 and 1, got {alpha!r}.")
    deepest = problem.option("max_condition", problem.n, 0)
    names = problem.rules.names
    allowed = problem.rules.allowed.astype(bool) | problem.rules.required.astype(bool)
    near = allowed | allowed.T
    kept = problem.rules.required.astype(bool)
    kept = kept | kept.T
    separators: Separators = {}
    tests = 0
    for depth in range(deepest + 1):
        fixed = near.copy()  # "stable": neighbours as they were at the start of the level
        open_pairs = {
            (i, j): _sets(fixed, i, j, depth)
            for i, j in combinations(range(problem.n), 2)
            if near[i, j] and not kept[i, j]
        }
        any_set = False
        while open_pairs:
            asked, where = [], []
            for pair, sets in list(open_pairs.items()):
                z = next(sets, None)
                if z is None:
                    del open_pairs[pair]
                    continue
                where.append((pair, z))
                asked.append((names[pair[0]], names[pair[1]], [names[v] for v in z]))
            if not asked or not problem.go_on(steps=tests):
                break
            any_set = True
            tests += len(asked)
            for (pair, z), result in zip(
                where, tests_of(problem.scores.source, asked, problem.options.get("test")),
                strict=True,
            ):  # fmt: skip
                if result.p > alpha:
                    near[pair] = near[pair[::-1]] = False
                    separators[pair] = z
                    del open_pairs[pair]
        if not any_set or problem.stopped:
            break
    return near, separators, tests


def _sets(near: Marks, i: int, j: int, size: int) -> Iterator[tuple[int, ...]]:
    """Conditioning sets among the neighbours of i, then of j, each once."""
    seen = set()
    for of, other in ((i, j), (j, i)):
        around = [int(v) for v in np.flatnonzero(near[of]) if v != other]
        for z in combinations(around, size):
            if z not in seen:
                seen.add(z)
                yield z


def _oriented(problem: Problem, near: Marks, separators: Separators) -> list[list[int]] | None:
    """Arrows from colliders, knowledge and Meek's rules; None if no DAG within the rules fits."""
    n = problem.n
    arrow = np.zeros((n, n), dtype=bool)  # arrow[a, b]: a → b is fixed
    allowed = problem.rules.allowed.astype(bool)
    for a, b in zip(*np.nonzero(near), strict=True):
        if not allowed[a, b] and allowed[b, a]:  # b → a is not allowed: a → b
            arrow[a, b] = True
    for c in range(n):
        for a, b in combinations(np.flatnonzero(near[c]).tolist(), 2):
            pair = (min(a, b), max(a, b))
            if not near[a, b] and pair in separators and c not in separators[pair]:
                for p in (a, b):
                    if not arrow[c, p] and allowed[c, p]:
                        arrow[p, c] = True
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
        return None
    at = {name: i for i, name in enumerate(names)}
    parents = [sorted(at[p] for p in dag.parents(name)) for name in names]
    within = all(
        len(ps) <= problem.rules.most[c]
        and all(problem.rules.allowed[c, p] for p in ps)
        and all(int(p) in ps for p in np.flatnonzero(problem.rules.required[c]))
        for c, ps in enumerate(parents)
    )
    return parents if within else None
