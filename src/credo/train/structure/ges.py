"""Greedy equivalence search (Chickering 2002): greedy over classes of graphs, not over graphs.

    insert(x, y, T):  local(y | NA ∪ T ∪ Pa(y) ∪ x) − local(y | NA ∪ T ∪ Pa(y))
    delete(x, y, H):  local(y | (NA ∖ H) ∪ Pa(y) ∖ x) − local(y | (NA ∖ H) ∪ Pa(y) ∪ x)

NA are the neighbours of y (by edges without arrow) that are joined to x. First edges are inserted
while that helps, then deleted while that helps: with enough rows the result is the true class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError
from credo.model.equivalence import Cpdag
from credo.train.structure.problem import Outcome, Problem

__all__ = ["ges"]

Marks = NDArray[np.bool_]

_MOST_TURNED = 4  # edges that one insertion may turn at most


@dataclass(frozen=True, slots=True)
class _Operator:
    x: int
    y: int
    turned: tuple[int, ...]
    blocked: frozenset[int]  # what must block the ways from y to x
    before: tuple[int, ...]
    after: tuple[int, ...]


class _Class:
    """A class of graphs: arrows and lines as matrices."""

    def __init__(self, names: tuple[str, ...], cpdag: Cpdag) -> None:
        n = len(names)
        at = {name: i for i, name in enumerate(names)}
        self.names, self.n = names, n
        self.arrow: Marks = np.zeros((n, n), dtype=bool)
        self.line: Marks = np.zeros((n, n), dtype=bool)
        for a, b in cpdag.directed:
            self.arrow[at[a], at[b]] = True
        for a, b in cpdag.undirected:
            self.line[at[a], at[b]] = self.line[at[b], at[a]] = True
        self.near: Marks = self.arrow | self.arrow.T | self.line

    def clique(self, nodes: tuple[int, ...]) -> bool:
        return all(self.near[a, b] for a, b in combinations(nodes, 2))

    def blocked(self, y: int, x: int, by: frozenset[int]) -> bool:
        """Whether every way from y to x, never against an arrow, meets `by`."""
        seen, todo = {y}, [y]
        while todo:
            v = todo.pop()
            for w in np.flatnonzero(self.arrow[v] | self.line[v]).tolist():
                if w == x:
                    return False
                if w not in seen and w not in by:
                    seen.add(w)
                    todo.append(w)
        return True

    def changed(self, arrow: Marks, line: Marks) -> _Class:
        """The class of a graph that extends these arrows and lines."""
        names = self.names
        directed = [(names[a], names[b]) for a, b in zip(*np.nonzero(arrow), strict=True)]
        lines = [(names[a], names[b]) for a, b in zip(*np.nonzero(np.triu(line)), strict=True)]
        return _Class(names, Cpdag(directed, lines, names).extension().cpdag())

    def parents(self) -> list[list[int]]:
        """A member of the class."""
        names = self.names
        directed = [(names[a], names[b]) for a, b in zip(*np.nonzero(self.arrow), strict=True)]
        lines = [(names[a], names[b]) for a, b in zip(*np.nonzero(np.triu(self.line)), strict=True)]
        dag = Cpdag(directed, lines, names).extension()
        at = {name: i for i, name in enumerate(names)}
        return [sorted(at[p] for p in dag.parents(name)) for name in names]


def ges(problem: Problem) -> Outcome:
    """Insertions, then deletions, over equivalence classes."""
    problem.only()
    n, rules = problem.n, problem.rules
    if rules.required.any() or rules.allowed.sum() != n * (n - 1):
        raise InputError(
            "The search 'ges' goes through classes of graphs and takes no rules about single "
            "edges, and no mixed kinds.",
            hint="Use 'tabu' or 'order' with them.",
        )
    now = _Class(rules.names, Cpdag([], [], rules.names))
    trace = []
    for find, turn in ((_insertions, _insert), (_deletions, _delete)):
        while True:
            parents = now.parents()
            if all(len(p) <= most for p, most in zip(parents, rules.most, strict=True)):
                problem.offer(parents, problem.scores.total(parents))
            trace.append(problem.best_score)
            if not problem.go_on(problem.best_score, len(trace)):
                break
            best = _best(problem, now, list(find(now, rules.most)))
            if best is None:
                break
            now = turn(now, best)
    return problem.outcome("no insertion or deletion raises the score", trace=tuple(trace))


def _best(problem: Problem, now: _Class, operators: list[_Operator]) -> _Operator | None:
    """The valid operator that gains most; ties go to the first."""
    if not operators:
        return None
    asked = [(o.y, list(p)) for o in operators for p in (o.before, o.after)]
    found = problem.scores.native.score(asked)
    gains = np.round(found[1::2] - found[::2], 9)
    slack = 1e-11 * max(1.0, abs(problem.best_score))
    for k in np.argsort(-gains, kind="stable"):
        if not gains[k] > slack:
            return None
        o = operators[int(k)]
        if not o.blocked or now.clique(tuple(sorted(o.blocked))):
            inserting = len(o.after) > len(o.before)
            if not inserting or now.blocked(o.y, o.x, o.blocked):
                return o
    return None


def _insertions(now: _Class, most: tuple[int, ...]) -> Iterator[_Operator]:
    for y in range(now.n):
        above = set(np.flatnonzero(now.arrow[:, y]).tolist())
        for x in np.flatnonzero(~now.near[y]).tolist():
            if x == y:
                continue
            shared = set(np.flatnonzero(now.line[y] & now.near[x]).tolist())
            free = np.flatnonzero(now.line[y] & ~now.near[x]).tolist()
            for size in range(min(len(free), _MOST_TURNED) + 1):
                for turned in combinations(free, size):
                    block = frozenset(shared | set(turned))
                    before = tuple(sorted(block | above))
                    if len(before) < most[y]:
                        after = tuple(sorted((*before, x)))
                        yield _Operator(x, y, turned, block, before, after)


def _deletions(now: _Class, most: tuple[int, ...]) -> Iterator[_Operator]:
    for y in range(now.n):
        above = set(np.flatnonzero(now.arrow[:, y]).tolist())
        for x in np.flatnonzero(now.arrow[:, y] | now.line[:, y]).tolist():
            shared = np.flatnonzero(now.line[y] & now.near[x]).tolist()
            for size in range(len(shared) + 1):
                for gone in combinations(shared, size):
                    kept = frozenset(shared) - set(gone)
                    rest = (kept | above) - {x}
                    yield _Operator(
                        x, y, gone, kept, tuple(sorted(rest | {x})), tuple(sorted(rest))
                    )


def _insert(now: _Class, o: _Operator) -> _Class:
    arrow, line = now.arrow.copy(), now.line.copy()
    arrow[o.x, o.y] = True
    for t in o.turned:
        line[t, o.y] = line[o.y, t] = False
        arrow[t, o.y] = True
    return now.changed(arrow, line)


def _delete(now: _Class, o: _Operator) -> _Class:
    arrow, line = now.arrow.copy(), now.line.copy()
    arrow[o.x, o.y] = line[o.x, o.y] = line[o.y, o.x] = False
    for h in o.turned:
        line[o.y, h] = line[h, o.y] = False
        arrow[o.y, h] = True
        if line[o.x, h]:
            line[o.x, h] = line[h, o.x] = False
            arrow[o.x, h] = True
    return now.changed(arrow, line)
