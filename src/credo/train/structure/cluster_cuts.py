"""The best graph by linear programming with cluster cuts (Jaakkola et al. 2010; Cussens 2011).

    maximise Σ s(i, P) x(i, P)   subject to   Σ_P x(i, P) = 1   for each child i
    and for each set C of variables:  Σ_{i ∈ C} Σ_{P: P ∩ C = ∅} x(i, P) ≥ 1

The cut of C says that some member of C has no parent in C: so no cycle lies within C. Cuts are
added as the solution breaks them, found greedily first and by a small integer programme when that
finds none. What is left fractional is settled by branch and bound, on the sets whose reduced cost
does not rule them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.errors import MissingPackageError
from credo.train.structure.problem import Problem

__all__ = ["cluster_cuts"]

_EPS = 1e-6


def cluster_cuts(problem: Problem, lists: _core.ParentLists) -> float:
    """Offer the best graph found to the problem; an upper bound on every graph's score."""
    try:
        import highspy
    except ImportError:
        raise MissingPackageError(
            "The exact search beyond 25 variables needs HiGHS.",
            hint="Install it: pip install 'credo[exact]'",
        ) from None
    programme = _Programme(highspy, problem, lists)
    first = lists.order(problem.start, chains=4, patience=200, seed=problem.seed(),
                        threads=problem.threads, report=problem.go_on)  # fmt: skip
    problem.took(first)
    return programme.solve()


class _Programme:
    """The linear programme and its cuts."""

    def __init__(self, highspy: Any, problem: Problem, lists: _core.ParentLists) -> None:
        self.highs = highspy
        self.problem = problem
        self.n = problem.n
        self.child: list[int] = []
        self.sets: list[frozenset[int]] = []
        scores: list[float] = []
        for i in range(self.n):
            sets, values = lists.sets(i)
            self.child += [i] * len(sets)
            self.sets += [frozenset(s) for s in sets]
            scores += values.tolist()
        self.scores = np.array(scores)
        self.children = np.array(self.child)
        self.members = np.zeros((len(self.sets), self.n), dtype=bool)
        for k, s in enumerate(self.sets):
            self.members[k, list(s)] = True
        # large scores, small differences: each child's best is its zero
        self.zero = np.array([self.scores[self.children == i].max() for i in range(self.n)])
        self.cost = self.scores - self.zero[self.children]
        self.cuts: list[frozenset[int]] = []
        self.alive = np.ones(len(self.sets), dtype=bool)

    def solve(self) -> float:
        """Cut until nothing more is found, then branch."""
        model = self._model(integer=False)
        for i in range(self.n):
            for j in range(i):
                self._add(model, frozenset((i, j)))
        bound = float(np.inf)
        while True:
            model.run()
            x = np.array(model.getSolution().col_value)
            bound = float(model.getInfo().objective_function_value) + float(self.zero.sum())
            if self._whole(x) or not self.problem.go_on(self.problem.best_score):
                break
            if bound <= self._incumbent() + _tight(bound):
                return self.problem.best_score
            found = self._violated(x)
            if not found:
                break
            for cluster in found:
                self._add(model, cluster)
        if self.problem.stopped:
            return bound
        if self._whole(x):
            return min(bound, max(bound, self._incumbent()))
        self._fix(model, bound)
        return self._branch(bound)

    def _incumbent(self) -> float:
        return self.problem.best_score

    def _model(self, integer: bool) -> Any:
        model = self.highs.Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("threads", 1)
        model.setOptionValue("mip_rel_gap", 0.0)
        model.setOptionValue("mip_abs_gap", 1e-7)
        inf = self.highs.kHighsInf
        for cost, alive in zip(self.cost, self.alive, strict=True):
            model.addCol(float(cost), 0.0, 1.0 if alive else 0.0, 0, [], [])
        for i in range(self.n):
            at = np.flatnonzero(self.children == i)
            model.addRow(1.0, 1.0, len(at), at.astype(np.int32), np.ones(len(at)))
        for cluster in self.cuts:
            self._row(model, cluster, inf)
        model.changeObjectiveSense(self.highs.ObjSense.kMaximize)
        if integer:
            kinds = [self.highs.HighsVarType.kInteger] * len(self.cost)
            model.changeColsIntegrality(
                len(self.cost), np.arange(len(self.cost), dtype=np.int32), np.array(kinds)
            )
        return model

    def _add(self, model: Any, cluster: frozenset[int]) -> None:
        self.cuts.append(cluster)
        self._row(model, cluster, self.highs.kHighsInf)

    def _row(self, model: Any, cluster: frozenset[int], inf: float) -> None:
        inside = np.zeros(self.n, dtype=bool)
        inside[list(cluster)] = True
        at = np.flatnonzero(inside[self.children] & ~(self.members & inside).any(axis=1))
        model.addRow(1.0, inf, len(at), at.astype(np.int32), np.ones(len(at)))

    # --- cuts -----------------------------------------------------------------------------

    def _violated(self, x: NDArray[np.float64]) -> list[frozenset[int]]:
        used = np.flatnonzero(x > 1e-9)
        found = self._greedy(x, used)
        return found or self._by_integers(x, used)

    def _greedy(self, x: NDArray[np.float64], used: NDArray[np.intp]) -> list[frozenset[int]]:
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
                if left[pick] < 1 - 1e-4:
                    out.add(frozenset(np.flatnonzero(inside).tolist()))
                    break
                if left[pick] > 4:
                    break
        return sorted(out, key=sorted)

    def _by_integers(self, x: NDArray[np.float64], used: NDArray[np.intp]) -> list[frozenset[int]]:
        """The cluster that is broken most: maximise Σ x(i, P) [i ∈ C, P ∩ C ≠ ∅] − |C|."""
        model = self.highs.Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("threads", 1)
        model.setOptionValue("time_limit", 30.0)
        inf = self.highs.kHighsInf
        for _ in range(self.n):
            model.addCol(-1.0, 0.0, 1.0, 0, [], [])
        for k, at in enumerate(used):
            column = self.n + k
            model.addCol(float(x[at]), 0.0, 1.0, 0, [], [])
            i = self.child[at]
            model.addRow(0.0, inf, 2, np.array([i, column], np.int32), np.array([1.0, -1.0]))
            parents = sorted(self.sets[at])
            index = np.array([*parents, column], np.int32)
            model.addRow(0.0, inf, len(index), index, np.array([1.0] * len(parents) + [-1.0]))
        model.addRow(2.0, inf, self.n, np.arange(self.n, dtype=np.int32), np.ones(self.n))
        kinds = np.array([self.highs.HighsVarType.kInteger] * self.n)
        model.changeColsIntegrality(self.n, np.arange(self.n, dtype=np.int32), kinds)
        model.changeObjectiveSense(self.highs.ObjSense.kMaximize)
        model.run()
        value = float(model.getInfo().objective_function_value)
        if not value > -1 + 1e-6:
            return []
        chosen = np.array(model.getSolution().col_value)[: self.n] > 0.5
        return [frozenset(np.flatnonzero(chosen).tolist())]

    # --- whole solutions --------------------------------------------------------------------

    def _whole(self, x: NDArray[np.float64]) -> bool:
        """Whether the solution is a graph; if so it is offered. A cycle is none."""
        if ((x > _EPS) & (x < 1 - _EPS)).any():
            return False
        parents = self._parents(x)
        if _cycles(parents):
            return False
        self.problem.offer(parents, self.problem.scores.total(parents))
        return True

    def _parents(self, x: NDArray[np.float64]) -> list[list[int]]:
        parents: list[list[int]] = [[] for _ in range(self.n)]
        for at in np.flatnonzero(x > 0.5):
            parents[self.child[at]] = sorted(self.sets[at])
        return parents

    def _fix(self, model: Any, bound: float) -> None:
        """Rule out sets whose reduced cost passes the gap between bound and incumbent."""
        dual = np.array(model.getSolution().col_dual)
        gap = bound - self._incumbent()
        x = np.array(model.getSolution().col_value)
        self.alive &= ~((x < _EPS) & (dual < -(gap + _tight(bound) + 1e-6)))

    def _branch(self, bound: float) -> float:
        """Branch and bound, with a cut for every cycle of a whole solution."""
        while self.problem.go_on(self.problem.best_score):
            model = self._model(integer=True)
            left = self.problem.left
            if np.isfinite(left):
                model.setOptionValue("time_limit", max(float(left), 0.1))
            model.run()
            info = model.getInfo()
            upper = float(info.mip_dual_bound) + float(self.zero.sum())
            if np.isfinite(upper):
                bound = min(bound, max(upper, self._incumbent()))
            x = np.array(model.getSolution().col_value)
            if model.getModelStatus() != self.highs.HighsModelStatus.kOptimal:
                self.problem.go_on(self.problem.best_score)  # notes that the budget is spent
                return bound
            cycles = _cycles(self._parents(x))
            if not cycles:
                parents = self._parents(x)
                self.problem.offer(parents, self.problem.scores.total(parents))
                return bound
            self.cuts += cycles
        return bound


def _tight(bound: float) -> float:
    return 1e-9 * max(1.0, abs(bound))


def _cycles(parents: Sequence[Sequence[int]]) -> list[frozenset[int]]:
    """The strongly connected parts of more than one node."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(parents)
    pairs = [(p, c) for c, ps in enumerate(parents) for p in ps]
    if not pairs:
        return []
    rows, columns = zip(*pairs, strict=True)
    graph = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(n, n))
    count, label = connected_components(graph, directed=True, connection="strong")
    sizes = np.bincount(label, minlength=count)
    return [frozenset(np.flatnonzero(label == k).tolist()) for k in np.flatnonzero(sizes > 1)]
