"""The searches by their names: where each is, and how one is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType

from credo.train.structure.problem import Outcome, Problem
from credo.train.structure.screening import WIDE, screened

__all__ = ["SEARCHES", "run"]

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
    "k2": ("k2", "k2", "greedy parents within a given order"),
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
