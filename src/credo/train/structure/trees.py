"""Trees: at most one parent each, found exactly; and the two Bayesian classifiers built on them.

`chow-liu`: the tree (or forest) of the highest score. Where score differences are symmetric it is
the maximum spanning tree of Chow & Liu (1968); with rules, or a score that is not score
equivalent, the maximum branching of Edmonds (1967). `naive-bayes`: the class is the only parent
of every other variable. `tan`: a tree among the features besides (Friedman et al. 1997).

A maximum branching has at most one parent each, no cycle, and the largest sum of gains above 0:
every node takes its best parent; a cycle is shrunk into one node, whose gains are what it would
cost to leave the cycle there; solved, and opened again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.train.structure.problem import Outcome, Problem

__all__ = ["chow_liu", "maximum_branching", "naive_bayes", "spanning_forest", "tan"]

Floats = NDArray[np.float64]


def chow_liu(problem: Problem) -> Outcome:
    """The best tree or forest."""
    problem.only("root")
    root = _named(problem, "root")
    gains = _gains(problem, list(range(problem.n)), ())
    tree = _tree(problem, gains, list(range(problem.n)), root)
    parents = [[] if p < 0 else [p] for p in tree]
    problem.offer(parents, problem.scores.total(parents))
    return problem.outcome("the best tree was found")


def naive_bayes(problem: Problem) -> Outcome:
    """The class as the only parent of every feature."""
    problem.only("target")
    target = _target(problem)
    parents = [[] if i == target else [target] for i in range(problem.n)]
    _within(problem, parents, "naive-bayes")
    problem.offer(parents, problem.scores.total(parents))
    return problem.outcome("the structure is given")


def tan(problem: Problem) -> Outcome:
    """The class and the best tree among the features."""
    problem.only("target", "root")
    target, root = _target(problem), _named(problem, "root")
    if root == target:
        raise InputError(
            f"The root {problem.options['root']!r} is the class: the tree of tan is among the "
            "features.",
            hint="Name a feature with root=, or leave it out.",
        )
    features = [i for i in range(problem.n) if i != target]
    gains = _gains(problem, features, (target,))
    tree = _tree(problem, gains, features, root)
    parents: list[list[int]] = [[] for _ in range(problem.n)]
    for k, i in enumerate(features):
        parents[i] = sorted([target] if tree[k] < 0 else [target, features[tree[k]]])
    _within(problem, parents, "tan")
    problem.offer(parents, problem.scores.total(parents))
    return problem.outcome("the best tree among the features was found")


def _gains(problem: Problem, variables: Sequence[int], given: tuple[int, ...]) -> Floats:
    """gain[c, p] of adding parent p to child c beside what is given; -inf where not allowed.

    Both ways of a pair are asked for together, so that a search stopped on its way has the gains
    of the first so many variables whole.
    """
    m = len(variables)
    asked = [(v, list(given)) for v in variables]
    for k, c in enumerate(variables):
        for p in variables[:k]:
            asked += [(c, [*given, p]), (p, [*given, c])]
    found = problem.scores.native.score(asked)
    alone, gains = found[:m], np.full((m, m), -np.inf)
    child, parent = np.tril_indices(m, -1)
    gains[child, parent], gains[parent, child] = found[m::2], found[m + 1 :: 2]
    with np.errstate(invalid="ignore"):
        gains -= alone[:, None]
    gains[np.isnan(gains)] = -np.inf  # neither family has a score
    allowed = problem.rules.allowed[np.ix_(variables, variables)].astype(bool)
    gains[~allowed] = -np.inf
    return gains


def _tree(problem: Problem, gains: Floats, variables: Sequence[int], root: int | None) -> list[int]:
    """The parent of each variable by position, -1 for a root."""
    needed = problem.rules.required[np.ix_(variables, variables)].astype(bool)
    for k, row in enumerate(needed):
        if row.sum() > 1:
            name = problem.rules.names[variables[k]]
            raise InputError(f"{name!r} has two required parents, which no tree allows.")
    at = None if root is None else list(variables).index(root)
    finite = np.isfinite(gains)
    scale = 1e-9 * max(1.0, float(np.abs(gains[finite]).max(initial=0.0)))
    known = np.where(finite, gains, 0.0)
    symmetric = bool((finite == finite.T).all() and (np.abs(known - known.T) <= scale).all())
    if symmetric and not needed.any() and min(problem.rules.most) >= 1:
        return spanning_forest(gains, at)
    least = sum(abs(g) for g in gains[finite]) + 1.0
    weights = np.where(needed, gains + least, gains)
    for k, i in enumerate(variables):
        if problem.rules.most[i] < 1 or k == at:
            weights[k] = -np.inf
    return maximum_branching(weights)


def spanning_forest(gains: Floats, root: int | None) -> list[int]:
    """The maximum spanning forest of the gains above 0 (Prim), arrows away from the root."""
    m = len(gains)
    parent = [-1] * m
    inside = np.zeros(m, dtype=bool)
    best, via = np.full(m, -np.inf), np.full(m, -1)
    for step in range(m):
        if step == 0 and root is not None:
            k = root
        else:
            open_gain = np.where(inside, -np.inf, best)
            k = int(open_gain.argmax())
            if not open_gain[k] > 0:
                k = int(np.flatnonzero(~inside)[0])
                via[k] = -1
        inside[k] = True
        parent[k] = int(via[k])
        better = ~inside & (gains[:, k] > best)
        best[better], via[better] = gains[better, k], k
    return parent


def _target(problem: Problem) -> int:
    if problem.options.get("target") is None:
        raise InputError("This search needs the class.", hint="Name its variable with target='…'.")
    found = _named(problem, "target")
    assert found is not None
    return found


def _named(problem: Problem, option: str) -> int | None:
    name = problem.options.get(option)
    return None if name is None else problem.scores.schema.index(name, f"The {option}")


def _within(problem: Problem, parents: list[list[int]], search: str) -> None:
    """Refuse a given structure that the rules do not allow."""
    names, rules = problem.rules.names, problem.rules
    required = rules.needed
    for c, row in enumerate(parents):
        for p in row:
            if not rules.allowed[c, p]:
                raise InputError(f"{search} needs {names[p]} → {names[c]}, which is not allowed.")
        if len(row) > rules.most[c]:
            raise InputError(f"{search} gives {names[c]!r} more parents than max_parents allows.")
        for needed in required[c]:
            if needed not in row:
                raise InputError(
                    f"The required edge {names[needed]} → {names[c]} is not one of {search}."
                )


def maximum_branching(gains: NDArray[np.float64]) -> list[int]:
    """The parent of each node, -1 for a root. gains[c, p]; -inf where there is no edge.

    >>> maximum_branching(np.array([[-np.inf, 5.0], [4.0, -np.inf]]))
    [1, -1]
    """
    n = len(gains)
    # a super-root that gives 0 to all, so that a branching is an arborescence
    weights = np.full((n + 1, n + 1), -np.inf)
    weights[:n, :n] = np.where(gains > 0, gains, -np.inf)
    np.fill_diagonal(weights, -np.inf)
    weights[:n, n] = 0.0
    found = _arborescence(weights, n)
    return [-1 if p == n else p for p in found[:n]]


def _arborescence(weights: NDArray[np.float64], root: int) -> list[int]:
    m = len(weights)
    best = [int(weights[c].argmax()) if c != root else -1 for c in range(m)]
    cycle = _cycle(best, root)
    if not cycle:
        return best
    inside = set(cycle)
    rest = [v for v in range(m) if v not in inside]
    new = len(rest)
    at = {v: k for k, v in enumerate(rest)}
    shrunk = np.full((new + 1, new + 1), -np.inf)
    shrunk[:new, :new] = weights[np.ix_(rest, rest)]
    enter: dict[int, int] = {}
    leave: dict[int, int] = {}
    own = np.array([weights[c, best[c]] for c in cycle])
    for v in rest:
        into = weights[cycle, v] - own  # v takes over one node of the cycle
        k = int(into.argmax())
        shrunk[new, at[v]], enter[v] = into[k], cycle[k]
        if v != root:
            out = weights[v, cycle]
            k = int(out.argmax())
            shrunk[at[v], new], leave[v] = out[k], cycle[k]
    found = _arborescence(shrunk, at[root])
    parents = list(best)
    for v in rest:
        if v != root:
            p = found[at[v]]
            parents[v] = leave[v] if p == new else rest[p]
    breaker = rest[found[new]]
    parents[enter[breaker]] = breaker
    return parents


def _cycle(parent: list[int], root: int) -> list[int]:
    seen = [0] * len(parent)
    for start in range(len(parent)):
        v, mark = start, start + 1
        while v not in (root, -1) and seen[v] == 0:
            seen[v] = mark
            v = parent[v]
        if v not in (root, -1) and seen[v] == mark:
            cycle = [v]
            while parent[cycle[-1]] != v:
                cycle.append(parent[cycle[-1]])
            return cycle
    return []
