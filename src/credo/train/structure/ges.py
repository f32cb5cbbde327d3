"""Greedy equivalence search (Chickering 2002): greedy over classes of graphs, not over graphs.

    insert(x, y, T):  local(y | NA ∪ T ∪ Pa(y) ∪ x) − local(y | NA ∪ T ∪ Pa(y))
    delete(x, y, H):  local(y | (NA ∖ H) ∪ Pa(y) ∖ x) − local(y | (NA ∖ H) ∪ Pa(y) ∪ x)

NA are the neighbours of y (by edges without arrow) that are joined to x. First edges are inserted
while that helps, then deleted while that helps: with enough rows the result is the true class.

Of rows from experiments the classes are those that the experiments cannot tell apart, in which the
same differences hold (Hauser & Bühlmann 2012). Arrows that an experiment fixed may be the wrong way
round, so besides arrows are turned while that helps, and edges inserted and deleted again.

With rules (required and forbidden edges, tiers, …) the search goes through the classes that have a
member within them: lines that may point one way alone are arrows, with what follows from them
(`meek.py`), and a change is made only if a member within the rules comes out with a higher score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.model.graphs.dag import Dag
from credo.model.graphs.equivalence import Cpdag
from credo.model.graphs.meek import known_arrows, meek
from credo.train.structure.problem import Outcome, Problem
from credo.train.structure.rules import Rules

__all__ = ["ges"]

Marks = NDArray[np.bool_]
Sets = Sequence[Sequence[str]]

_MOST_TURNED = 4  # edges that one change may turn besides


@dataclass(frozen=True, slots=True)
class _Operator:
    x: int
    y: int
    turned: tuple[int, ...]
    blocked: frozenset[int]  # what must block the ways from y to x
    before: tuple[int, ...]
    after: tuple[int, ...]


class _Class:
    """A class of graphs: arrows and lines as matrices, and a member within the rules.

    `sets` are those that experiments set.
    """

    def __init__(self, rules: Rules, dag: Dag, sets: Sets) -> None:
        names = rules.names
        n = len(names)
        at = {name: i for i, name in enumerate(names)}
        self.rules, self.n, self.sets = rules, n, sets
        self.arrow: Marks = np.zeros((n, n), dtype=bool)
        self.line: Marks = np.zeros((n, n), dtype=bool)
        found = dag.cpdag(sets)
        for a, b in found.directed:
            self.arrow[at[a], at[b]] = True
        for a, b in found.undirected:
            self.line[at[a], at[b]] = self.line[at[b], at[a]] = True
        self.near: Marks = self.arrow | self.arrow.T | self.line
        self.parents: list[list[int]] | None = None
        if rules.free:
            self.parents = [sorted(at[p] for p in dag.parents(name)) for name in names]
        elif known_arrows(self.near, self.arrow, rules.allowed.astype(bool)):
            meek(self.near, self.arrow)
            self.line = self.near & ~self.arrow & ~self.arrow.T
            member = _extension(names, self.arrow, self.line)
            if member is not None:
                found_parents = [sorted(at[p] for p in member.parents(name)) for name in names]
                self.parents = found_parents if _within(rules, found_parents) else None

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

    def changed(self, arrow: Marks, line: Marks) -> _Class | None:
        """The class of a graph that extends these arrows and lines, if it is within the rules."""
        dag = _extension(self.rules.names, arrow, line)
        if dag is None:
            return None
        out = _Class(self.rules, dag, self.sets)
        return None if out.parents is None else out


def _extension(names: tuple[str, ...], arrow: Marks, line: Marks) -> Dag | None:
    """A graph that has these arrows, turns these lines, and has no collider besides."""
    directed = [(names[a], names[b]) for a, b in zip(*np.nonzero(arrow), strict=True)]
    lines = [(names[a], names[b]) for a, b in zip(*np.nonzero(np.triu(line)), strict=True)]
    try:
        return Cpdag(directed, lines, names).extension()
    except InputError:
        return None


def _within(rules: Rules, parents: list[list[int]]) -> bool:
    needed = rules.needed
    return all(
        len(ps) <= rules.most[c]
        and all(rules.allowed[c, p] for p in ps)
        and all(p in ps for p in needed[c])
        for c, ps in enumerate(parents)
    )


def ges(problem: Problem) -> Outcome:
    """Insertions, then deletions, over equivalence classes."""
    problem.only()
    rules = problem.rules
    names = rules.names
    first = [(names[p], names[c]) for c, ps in enumerate(problem.start) for p in ps]
    sets = getattr(problem.scores.source, "targets", ())
    now = _Class(rules, Dag(first, names), sets)
    problem.offer(problem.start, problem.scores.total(problem.start))
    trace = [problem.best_score]
    moves = []
    while True:
        for what, find, turn in (("insert", _insertions, _insert), ("delete", _deletions, _delete)):
            known = _Known(find)
            while problem.go_on(problem.best_score, len(trace)):
                better = _best(problem, now, known, turn, len(trace))
                if better is None:
                    break
                now, by = better
                moves.append((what, names[by.x], names[by.y]))
                trace.append(problem.best_score)
        turned = _turned(problem, now, len(trace)) if sets else None
        if turned is None:
            break
        now, x, y = turned
        moves.append(("turn", names[x], names[y]))
        trace.append(problem.best_score)
    also = ", turn" if sets else ""
    return problem.outcome(
        f"no insertion{also} or deletion raises the score",
        trace=tuple(trace), details={"moves": tuple(moves)},
    )  # fmt: skip


def _turned(problem: Problem, now: _Class, steps: int) -> tuple[_Class, int, int] | None:
    """The class after the arrow that gains most by being turned, and that arrow as it is then."""
    best = None
    for y, x in np.argwhere(now.arrow).tolist():
        if not problem.go_on(problem.best_score, steps):
            break
        for turned in _subsets(np.flatnonzero(now.line[y] & ~now.near[x]).tolist()):
            above = (*turned, *np.flatnonzero(now.line[y] & now.near[x]).tolist())
            if not now.clique(above):
                continue
            arrow, line = now.arrow.copy(), now.line.copy()
            arrow[y, x], arrow[x, y] = False, True
            arrow[list(turned), y] = True
            line[list(turned), y] = line[y, list(turned)] = False
            new = now.changed(arrow, line)
            if new is None or new.parents is None:
                continue
            if problem.offer(new.parents, problem.scores.total(new.parents)):
                best = new, x, y
    return best


def _subsets(free: list[int]) -> Iterator[tuple[int, ...]]:
    """Edges that may be turned beside a change, the fewest first."""
    for size in range(min(len(free), _MOST_TURNED) + 1):
        yield from combinations(free, size)


class _Known:
    """The operators of each child and what they gain, found anew only where the class changed."""

    def __init__(self, find: Callable[[_Class, int], Iterator[_Operator]]) -> None:
        self.find = find
        self.of: dict[int, tuple[bytes, list[_Operator], NDArray[np.float64]]] = {}

    def gains(
        self, problem: Problem, now: _Class, steps: int
    ) -> tuple[list[_Operator], NDArray[np.float64]]:
        """All operators, or those of the children there was time for."""
        for y in range(now.n):
            around = (now.arrow[:, y], now.near[y], now.line[y], now.near[now.line[y]])
            key = b"".join(np.packbits(marks).tobytes() for marks in around)
            if y in self.of and self.of[y][0] == key:
                continue
            self.of.pop(y, None)
            if not problem.go_on(problem.best_score, steps):
                break
            operators = list(self.find(now, y))
            asked = [(y, list(p)) for o in operators for p in (o.before, o.after)]
            found = problem.scores.native.score(asked)
            with np.errstate(invalid="ignore"):
                gains = np.nan_to_num(np.round(found[1::2] - found[::2], 9), nan=-np.inf)
            self.of[y] = key, operators, gains
        kept = [self.of[y] for y in range(now.n) if y in self.of]
        gains = np.concatenate([g for _, _, g in kept]) if kept else np.zeros(0)
        return [o for _, operators, _ in kept for o in operators], gains


def _best(
    problem: Problem,
    now: _Class,
    known: _Known,
    turn: Callable[[_Class, _Operator], _Class | None],
    steps: int,
) -> tuple[_Class, _Operator] | None:
    """The class after the valid operator that gains most, and that; ties go to the first."""
    operators, gains = known.gains(problem, now, steps)
    slack = 1e-11 * max(1.0, abs(problem.best_score))
    worth = np.flatnonzero(gains > slack)
    for k in worth[np.argsort(-gains[worth], kind="stable")]:
        o = operators[int(k)]
        if o.blocked and not now.clique(tuple(sorted(o.blocked))):
            continue
        if len(o.after) > len(o.before) and not now.blocked(o.y, o.x, o.blocked):
            continue
        new = turn(now, o)
        if new is None or new.parents is None:
            continue
        if problem.offer(new.parents, problem.scores.total(new.parents)):
            return new, o
    return None


def _insertions(now: _Class, y: int) -> Iterator[_Operator]:
    most, allowed = now.rules.most, now.rules.allowed
    above = set(np.flatnonzero(now.arrow[:, y]).tolist())
    for x in np.flatnonzero(~now.near[y]).tolist():
        if x == y or not (allowed[y, x] or allowed[x, y]):
            continue
        shared = set(np.flatnonzero(now.line[y] & now.near[x]).tolist())
        free = np.flatnonzero(now.line[y] & ~now.near[x]).tolist()
        for turned in _subsets(free):
            block = frozenset(shared | set(turned))
            before = tuple(sorted(block | above))
            if len(before) < most[y]:
                after = tuple(sorted((*before, x)))
                yield _Operator(x, y, turned, block, before, after)


def _deletions(now: _Class, y: int) -> Iterator[_Operator]:
    required = now.rules.required
    above = set(np.flatnonzero(now.arrow[:, y]).tolist())
    for x in np.flatnonzero(now.arrow[:, y] | now.line[:, y]).tolist():
        if required[y, x] or required[x, y]:
            continue
        shared = np.flatnonzero(now.line[y] & now.near[x]).tolist()
        for size in range(len(shared) + 1):
            for gone in combinations(shared, size):
                kept = frozenset(shared) - set(gone)
                rest = (kept | above) - {x}
                yield _Operator(x, y, gone, kept, tuple(sorted(rest | {x})), tuple(sorted(rest)))


def _insert(now: _Class, o: _Operator) -> _Class | None:
    arrow, line = now.arrow.copy(), now.line.copy()
    arrow[o.x, o.y] = True
    for t in o.turned:
        line[t, o.y] = line[o.y, t] = False
        arrow[t, o.y] = True
    return now.changed(arrow, line)


def _delete(now: _Class, o: _Operator) -> _Class | None:
    arrow, line = now.arrow.copy(), now.line.copy()
    arrow[o.x, o.y] = line[o.x, o.y] = line[o.y, o.x] = False
    for h in o.turned:
        line[o.y, h] = line[h, o.y] = False
        arrow[o.y, h] = True
        if line[o.x, h]:
            line[o.x, h] = line[h, o.x] = False
            arrow[o.x, h] = True
    return now.changed(arrow, line)
