"""The linear programme of a best graph, with cluster cuts (Jaakkola et al. 2010; Cussens 2011).

    maximise Σ s(i, P) x(i, P)   subject to   Σ_P x(i, P) = 1   for each child i
    and for each set C of variables:  Σ_{i ∈ C} Σ_{P: |P ∩ C| < k} x(i, P) ≥ k

The cut of C with k = 1 says that some member of C has no parent in C: so no cycle lies within C.
With k = 2 or 3, the first k members of C in an order have fewer than k parents in it. Cuts are
added as the solution breaks them, found greedily first and by a small integer programme when that
finds none. A slack cut is taken out and kept in a pool, from which it returns when it is broken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.train.structure.problem import Problem

__all__ = ["Programme", "cyclic"]

Floats = NDArray[np.float64]
Cut = tuple[frozenset[int], int]

_EPS = 1e-6
_BROKEN = 1e-4  # how far a cut must be broken to be added
_MANY = 900  # cuts in the programme beyond which slack ones are taken out
_AT_ONCE = 40  # cuts that return from the pool together


class Programme:
    """The linear programme and its cuts; scores are relative to each child's best."""

    def __init__(self, highspy: Any, problem: Problem, lists: _core.ParentLists) -> None:
        self.highs = highspy
        self.problem = problem
        self.n = problem.n
        self.sets: list[list[int]] = []
        scores: list[float] = []
        children: list[int] = []
        for i in range(self.n):
            sets, values = lists.sets(i)
            children += [i] * len(sets)
            self.sets += [list(s) for s in sets]
            scores += values.tolist()
        self.children = np.array(children)
        self.members = np.zeros((len(self.sets), self.n), dtype=bool)
        for k, s in enumerate(self.sets):
            self.members[k, s] = True
        # large scores, small differences: each child's best is its zero
        found = np.array(scores)
        zero = np.array([found[self.children == i].max() for i in range(self.n)])
        self.cost = found - zero[self.children]
        self.zero = float(zero.sum())
        self.alive = np.ones(len(self.sets), dtype=bool)
        self.cuts: dict[Cut, NDArray[np.int32]] = {}
        self.rows: list[Cut] = []  # the cuts that are in the programme, in its order
        self.model = self._model()
        for i in range(self.n):
            for j in range(i):
                self._new((frozenset((i, j)), 1))

    def _model(self) -> Any:
        model = self.highs.Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("threads", 1)
        for cost in self.cost:
            model.addCol(float(cost), 0.0, 1.0, 0, [], [])
        for i in range(self.n):
            at = np.flatnonzero(self.children == i).astype(np.int32)
            model.addRow(1.0, 1.0, len(at), at, np.ones(len(at)))
        model.changeObjectiveSense(self.highs.ObjSense.kMaximize)
        return model

    # --- solving ----------------------------------------------------------------------------

    def allow(self, arcs: Sequence[tuple[int, int, bool]]) -> None:
        """Fix arcs (parent, child, there or not); all others are free again."""
        upper = self.alive.astype(np.float64)
        for parent, child, there in arcs:
            upper[(self.children == child) & (self.members[:, parent] != there)] = 0.0
        index = np.arange(len(upper), dtype=np.int32)
        self.model.changeColsBounds(len(upper), index, np.zeros(len(upper)), upper)

    def value(self) -> tuple[float, Floats]:
        """The bound of the programme as it is, and its solution; −∞ if there is none."""
        status = self.highs.HighsModelStatus
        none = (status.kInfeasible, status.kUnboundedOrInfeasible)
        for _ in range(2):
            self.model.run()
            found = self.model.getModelStatus()
            x = np.array(self.model.getSolution().col_value)
            if found == status.kOptimal:
                return float(self.model.getInfo().objective_function_value) + self.zero, x
            if found in none:
                return -np.inf, x
            self.model.clearSolver()  # rounding trouble: once more from the beginning
        return np.inf, x

    def tightened(self, deep: bool) -> tuple[float, Floats]:
        """Cut until nothing more is found, the incumbent is reached, or the time is over.

        `deep`: look for cuts of two and three as well, which take longer to find.
        """
        while True:
            bound, x = self.value()
            if bound <= self.goal(bound) or not self.problem.go_on(self.problem.best_score):
                return bound, x
            held = set(self.rows)
            pool = [c for c in self.cuts if c not in held and self._broken(c, x)][:_AT_ONCE]
            for cut in pool:
                self._put(cut)
            if pool:
                continue
            if self.whole(x):
                return bound, x
            found = self._violated(x, deep)
            if len(self.rows) > _MANY:
                self._drop_slack()
            if sum(self._new(c) for c in found) == 0:
                return bound, x

    def goal(self, bound: float) -> float:
        """What a bound must be above for something better than the incumbent to be left."""
        return self.problem.best_score + 1e-9 * max(1.0, abs(bound))

    def rule_out(self, bound: float) -> None:
        """Leave out the sets whose reduced cost passes the gap between bound and incumbent."""
        self._drop_slack()
        self.value()
        dual = np.array(self.model.getSolution().col_dual)
        self.alive &= dual >= -(bound - self.problem.best_score + 1e-6)

    # --- cuts -------------------------------------------------------------------------------

    def _broken(self, cut: Cut, x: Floats) -> bool:
        return bool(x[self.cuts[cut]].sum() < cut[1] - _BROKEN)

    def _new(self, cut: Cut) -> bool:
        if cut in self.cuts:
            return False
        cluster, k = cut
        inside = np.zeros(self.n, dtype=bool)
        inside[list(cluster)] = True
        few = (self.members & inside).sum(axis=1) < k
        self.cuts[cut] = np.flatnonzero(inside[self.children] & few).astype(np.int32)
        self._put(cut)
        return True

    def _put(self, cut: Cut) -> None:
        at = self.cuts[cut]
        self.model.addRow(float(cut[1]), self.highs.kHighsInf, len(at), at, np.ones(len(at)))
        self.rows.append(cut)

    def _drop_slack(self) -> None:
        solution = self.model.getSolution()
        value = np.array(solution.row_value)[self.n :]
        least = np.array([k for _, k in self.rows], dtype=np.float64)
        if len(value) != len(least):
            return  # rows were added since it was solved
        slack = (value > least + _EPS) & (np.abs(np.array(solution.row_dual)[self.n :]) < 1e-9)
        at = (np.flatnonzero(slack) + self.n).astype(np.int32)
        if len(at):
            self.model.deleteRows(len(at), at)
            self.rows = [c for c, gone in zip(self.rows, slack, strict=True) if not gone]

    def _violated(self, x: Floats, deep: bool) -> list[Cut]:
        used = np.flatnonzero(x > 1e-9)
        if not _fractional(x):
            return [(cyclic(self._parents(x)), 1)]
        found: list[Cut] = [(c, 1) for c in self._greedy(x, used)]
        for k in (1, 2, 3) if deep else (1,):
            if not found:
                found = self._by_integers(x, used, k)
        return found

    def _greedy(self, x: Floats, used: NDArray[np.intp]) -> list[frozenset[int]]:
        """From each variable, take in whoever leaves least weight without parents inside."""
        out: set[frozenset[int]] = set()
        child, members, weight = self.children[used], self.members[used], x[used]
        for start in range(self.n):
            inside = np.zeros(self.n, dtype=bool)
            inside[start] = True
            while inside.sum() < self.n:
                free = np.where((members & inside).any(axis=1), 0.0, weight)
                within = np.where(inside[child], free, 0.0)
                # who joins brings the weight it has without parents inside, and takes the weight
                # of the sets that it is a member of
                left = within.sum() - within @ members + np.bincount(child, free, self.n)
                left[inside] = np.inf
                pick = int(np.round(left, 12).argmin())
                inside[pick] = True
                if left[pick] < 1 - _BROKEN:
                    out.add(frozenset(np.flatnonzero(inside).tolist()))
                    break
                if left[pick] > 4:
                    break
        return sorted(out, key=sorted)

    def _by_integers(self, x: Floats, used: NDArray[np.intp], k: int) -> list[Cut]:
        """The cluster broken most: maximise Σ x(i, P) [i ∈ C, |P ∩ C| ≥ k] − |C|."""
        model = self.highs.Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("threads", 1)
        model.setOptionValue("time_limit", max(0.1, min(30.0, self.problem.left)))
        inf = self.highs.kHighsInf
        for _ in range(self.n):
            model.addCol(-1.0, 0.0, 1.0, 0, [], [])
        columns = self.n
        for at in used:
            parents = self.sets[at]
            if len(parents) < k:
                continue
            model.addCol(float(x[at]), 0.0, 1.0, 0, [], [])
            both = np.array([self.children[at], columns], np.int32)
            model.addRow(0.0, inf, 2, both, np.array([1.0, -1.0]))
            index = np.array([*parents, columns], np.int32)
            values = np.array([1.0] * len(parents) + [-float(k)])
            model.addRow(0.0, inf, len(index), index, values)
            columns += 1
        model.addRow(k + 1.0, inf, self.n, np.arange(self.n, dtype=np.int32), np.ones(self.n))
        whole = self.n if k == 1 else columns  # with k = 1 the others are whole by themselves
        kinds = np.array([self.highs.HighsVarType.kInteger] * whole)
        model.changeColsIntegrality(whole, np.arange(whole, dtype=np.int32), kinds)
        model.changeObjectiveSense(self.highs.ObjSense.kMaximize)
        model.run()
        if not float(model.getInfo().objective_function_value) > -k + _BROKEN:
            return []
        chosen = np.array(model.getSolution().col_value)[: self.n] > 0.5
        return [(frozenset(np.flatnonzero(chosen).tolist()), k)] if chosen.any() else []

    # --- solutions --------------------------------------------------------------------------

    def arcs(self, x: Floats) -> Floats:
        """How much of each arc the solution has, [child, parent]."""
        out = np.zeros((self.n, self.n))
        used = np.flatnonzero(x > 1e-9)
        np.add.at(out, self.children[used], x[used, None] * self.members[used])
        return out

    def whole(self, x: Floats) -> bool:
        """Whether the solution is a graph; if so it is offered. A cycle is none."""
        if _fractional(x):
            return False
        parents = self._parents(x)
        if cyclic(parents):
            return False
        self.problem.offer(parents, self.problem.scores.total(parents))
        return True

    def _parents(self, x: Floats) -> list[list[int]]:
        parents: list[list[int]] = [[] for _ in range(self.n)]
        for at in np.flatnonzero(x > 0.5):
            parents[self.children[at]] = sorted(self.sets[at])
        return parents


def _fractional(x: Floats) -> bool:
    return bool(((x > _EPS) & (x < 1 - _EPS)).any())


def cyclic(parents: Sequence[Sequence[int]]) -> frozenset[int]:
    """The variables on a cycle or below one: each of them has a parent among them.

    >>> sorted(cyclic([[1], [0], []])), sorted(cyclic([[1], []]))
    ([0, 1], [])
    """
    left = {c: set(p) for c, p in enumerate(parents)}
    while free := [c for c, p in left.items() if not p & left.keys()]:
        for c in free:
            del left[c]
    return frozenset(left)
