"""The exact optimum, with its proof.

Complete lists of the parent sets that could be optimal come first: a set is left out when a
subset scores as much, and a branch is cut when an upper bound says that nothing below it can do
better. Up to 25 variables the best graph is found by dynamic programming over sets of variables
(Silander & Myllymäki 2006); beyond, by branch and bound on a linear programme with cluster cuts,
which gives a certified upper bound even where it is stopped. Stopped before that, the bound is
what every child could score at most on its own: the best of its list, or what the parent sets that
were not scored yet may reach. For the likelihoods with a penalty and for BDeu that is finite.
"""

from __future__ import annotations

import math

from credo.core.errors import InputError, LimitError
from credo.train.structure.branch_and_bound import branch_and_bound
from credo.train.structure.greedy import POLISH, climbed
from credo.train.structure.orders import parent_lists
from credo.train.structure.problem import Outcome, Problem

__all__ = ["exact"]

_FAMILIES = 20_000_000  # more families than this are not scored
_BY_SETS = 25  # variables up to which all sets of them are gone through


def exact(problem: Problem) -> Outcome:
    """The best graph of all that the rules allow; details hold `bound` and `proven`."""
    problem.only("max_families", "method")
    most = problem.option("max_families", _FAMILIES, 1)
    method = problem.option("method", "auto")
    if method not in ("auto", "dynamic", "linear"):
        raise InputError(f"method must be 'auto', 'dynamic' or 'linear', got {method!r}.")
    widest = int(problem.rules.allowed.sum(axis=1).max(initial=0))
    if widest > 64:
        raise LimitError(
            f"The exact search takes at most 64 possible parents a child, got {widest}.",
            hint="Narrow candidates=, or use search='order'.",
        )
    if method == "dynamic" and problem.n > 28:
        raise LimitError(f"At most 28 variables fit the dynamic programme, got {problem.n}.")
    climbed(problem, tabu=100, patience=100, **POLISH)  # something to give back, whatever happens
    problem.listen()
    lists = parent_lists(problem)
    done, interrupted = lists.build(64, 0, most, report=problem.go_on)
    apart = math.fsum(lists.upper)  # each child by itself
    if interrupted:
        problem.stopped = "interrupted"
    if not done or problem.stopped:
        return problem.outcome("stopped", details=_proof(apart, False))
    if not lists.complete:
        raise LimitError(
            f"More than {most:,} families could be optimal, too many to score.",
            hint="Give max_parents=, or use search='order'.",
        )
    details = {"families_scored": lists.scored, "families_listed": lists.size}
    if method == "linear" or (method == "auto" and problem.n > _BY_SETS):
        bound = min(branch_and_bound(problem, lists), apart)
        outcome = problem.outcome("proven optimal")
        gap = bound - outcome.score
        proven = gap <= 1e-9 * max(1.0, abs(bound))
        reason = outcome.reason if problem.stopped or proven else "no more cuts were found"
        return problem.outcome(reason, details=details | _proof(bound, proven))
    found = lists.exact(report=problem.go_on)
    if found["stopped"]:
        problem.stopped = "interrupted" if found["interrupted"] else problem.stopped
        return problem.outcome("stopped", details=details | _proof(apart, False))
    if not math.isfinite(found["score"]):
        raise InputError("No graph within the rules has a finite score.")
    problem.took(found)
    return problem.outcome("proven optimal", details=details | _proof(float(found["score"]), True))


def _proof(bound: float, proven: bool) -> dict[str, object]:
    return {"bound": bound, "proven": proven}
