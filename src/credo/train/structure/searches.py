"""The searches by their names: where each is, and how one is run.

Candidate parents of a wide table: of many continuous columns, those nearest to each child.

    near(x, y):  |r_xy| is among the `most` largest of x, or of y

r is the correlation over all rows. A thousand columns make a million pairs, most of which tell
nothing, and a search among the near ones is quicker. A parent that tells nothing alone is lost, so
`auto` screens wide tables only, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from credo.stats.family import Family
from credo.stats.moments import Moments
from credo.train.structure.problem import Outcome, Problem
from credo.train.structure.rules import Rules

__all__ = ["MOST", "SEARCHES", "WIDE", "run", "screened"]

# search → (module, function, what it does in a line)
_WHERE = {
    "auto": ("", "", "exact for few variables, orders otherwise"),
    "hill-climb": ("greedy", "hill_climb", "add, delete or reverse an edge while that helps"),
    "tabu": ("greedy", "tabu", "the same, walking on through worse graphs"),
    "anneal": ("annealing", "anneal", "Metropolis with simulated annealing"),
    "order": ("orders", "order", "iterated search over orders of the variables"),
    "exact": ("exact", "exact", "the optimum, proven"),
    "chow-liu": ("trees", "chow_liu", "the best tree"),
    "tan": ("trees", "tan", "a class, and the best tree among the features"),
    "naive-bayes": ("trees", "naive_bayes", "a class, and features that depend on it alone"),
    "k2": ("greedy", "k2", "greedy parents within a given order"),
    "pc": ("constraint_based", "pc", "from conditional independence tests (PC-stable)"),
    "mmhc": ("constraint_based", "mmhc", "neighbours by tests, then climbing among them"),
    "ges": ("ges", "ges", "greedy search over equivalence classes"),
}
SEARCHES: Mapping[str, str] = MappingProxyType({k: line for k, (_, _, line) in _WHERE.items()})
"""Every search by its name, with what it does in a line."""

_EXACT_UP_TO = 12  # variables up to which `auto` proves its answer


def run(problem: Problem, search: str) -> Outcome:
    """The search; Ctrl-C gives the best so far."""
    try:
        if search == "auto":
            return _auto(problem)
        return _function(search)(problem)
    except KeyboardInterrupt:
        problem.stopped = "interrupted"
        nothing = problem.best is None
        note = "nothing was found before Ctrl-C: this is the graph that the search starts from"
        return problem.outcome("interrupted", notes=(note,) if nothing else ())


def _function(search: str) -> Callable[[Problem], Outcome]:
    module, name, _ = _WHERE[search]
    found: Callable[[Problem], Outcome] = getattr(
        import_module(f"credo.train.structure.{module}"), name
    )
    return found


def _auto(problem: Problem) -> Outcome:
    """Proof where it is cheap, else orders; of many continuous columns the near ones."""
    small = problem.n <= _EXACT_UP_TO and problem.scores.rows <= 1e7
    chosen, notes = "order", tuple[str, ...]()
    if small and not problem.options:
        chosen = "exact"
    elif problem.scores.by_gain:
        chosen = "hill-climb"  # available cases are slow to score, and a rough measure
    elif sum(not v.is_discrete for v in problem.scores.variables) > WIDE:
        problem.rules, note = screened(problem)
        notes = (note,)
    out = _function(chosen)(problem)
    details = {**out.details, "search": f"auto ({chosen})"}
    return replace(out, notes=(*notes, *out.notes), details=details)


WIDE = 200  # continuous columns beyond which `auto` screens
MOST = 20  # nearest columns of each


def screened(problem: Problem, most: int = MOST) -> tuple[Rules, str]:
    """Rules that leave each child its nearest continuous columns, and a sentence that says so."""
    rules = problem.rules
    continuous = [i for i, v in enumerate(problem.scores.variables) if not v.is_discrete]
    names = [rules.names[i] for i in continuous]
    family = Family(names[-1], tuple(names[:-1]))
    moments = problem.scores.source.tally([family])[family]
    assert isinstance(moments, Moments)
    at = {v.name: k for k, v in enumerate(moments.continuous)}
    order = [at[n] for n in names]
    near = _near(moments.scatter[0][np.ix_(order, order)], most)
    kept = np.ones(rules.allowed.shape, dtype=bool)
    kept[np.ix_(continuous, continuous)] = near
    kept |= rules.required.astype(bool)
    for child, parents in enumerate(problem.start):
        kept[child, parents] = True
    allowed = rules.allowed & kept.astype(np.uint8)
    note = (
        f"{len(names):,} continuous columns: only pairs of which one is among the {most} columns "
        "most correlated with the other were tried as edges (a search named with search= tries "
        "all)"
    )
    return replace(rules, allowed=np.ascontiguousarray(allowed)), note


def _near(scatter: NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Which pairs are near; ties go to the first."""
    scale = np.sqrt(np.diag(scatter))
    scale[~(scale > 0)] = 1.0
    r = np.abs(scatter / scale[:, None] / scale[None, :])
    np.fill_diagonal(r, -1.0)
    top = np.argsort(-np.round(r, 12), axis=1, kind="stable")[:, :most]
    near = np.zeros(r.shape, dtype=bool)
    np.put_along_axis(near, top, True, axis=1)
    near |= near.T
    np.fill_diagonal(near, False)
    return near
