"""Structural EM: a graph from rows with gaps.

    E: complete the rows under the current network     M: search the graph that scores best on them

Expected counts of any family come from the completed rows, so every score and every search serves
(Friedman 1997, 1998). What is climbed is the score of the rows that were observed,

    S(G) = score(completed, G) + ln P(observed | θ) − ln P(completed | θ),

which for BIC is exact, and for marginal likelihoods the approximation of Cheeseman & Stutz (1996).
A graph is kept only if S rises.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from credo.data import Stream, Table
from credo.model.dag import Dag
from credo.model.network import Network
from credo.stats.family import Family
from credo.train.completed import completed
from credo.train.em_fit import INTERRUPTED, em
from credo.train.parameters import fit

__all__ = ["has_gaps", "structural_em"]

ROUNDS = 30
"""Turns of completing and searching, unless the budget ends before."""

_WARM = 10  # iterations of EM on the way; the last network gets all it needs


def has_gaps(source: Any) -> bool:
    """Whether cells of a source are missing."""
    if isinstance(source, Table):
        return any(source.block.gaps)
    if isinstance(source, Stream):
        tally = source.tally(list(source.schema.names))
        return any(tally[n].skipped > 0 for n in source.schema.names)
    return False


def structural_em(
    table: Table,
    search: Callable[[Any, Any], Any],
    belief: Callable[[Any], Any],
    begin: Callable[[int], Dag],
    *,
    starts: int = 1,
    budget: float | None,
    seed: int,
    threads: int | None,
    halt: Halt,
) -> Network:
    """The best network found; `search(rows, start)` gives a graph with its scores.

    `begin(i)` is the graph of start i. The end with the best score of the observed rows is taken.
    """
    began = time.perf_counter()
    ends: list[_Climbed] = []
    for turn in range(starts):
        if ends and (halt.now or (budget is not None and time.perf_counter() - began > budget)):
            break
        climbed = _climb(table, search, belief, begin(turn), began, budget, seed, threads, halt)
        ends.append(climbed)
    top = max(ends, key=lambda e: e.trace[-1])
    best, found = top.net, top.found
    most = _WARM if halt.now else None
    final = em(best, table, belief(found.spec), start=best, budget=most, threads=threads)
    record = final.record
    assert record is not None
    notes = list(record.notes)
    if top.drawn:
        notes.append(f"{top.drawn:,} rows have too many ways to be completed and were given draws")
    if starts > 1:
        heights = ", ".join(f"{e.trace[-1]:,.6g}" for e in ends)
        notes.append(f"{len(ends)} of {starts} starts ended at {heights}; the best was taken")
    details = {
        **record.details,
        "score": found.spec.name,
        "search": found.record.details.get("search", ""),
        "missing": "structural-em",
        "log_likelihood": record.score,
        "rounds": len(top.trace),
        "starts": tuple(e.trace[-1] for e in ends),
    }
    return final.with_record(
        replace(
            record,
            how=f"{found.record.how}, structural EM",
            source=str(table.schema.source),
            score=top.trace[-1],
            trace=tuple(top.trace),
            reason=INTERRUPTED if halt.after(final) else top.reason,
            seconds=time.perf_counter() - began,
            seed=seed,
            notes=tuple(notes),
            details=details,
        )
    )


class Halt:
    """Whether Ctrl-C was pressed: what is under way is finished in short steps, not begun anew."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = False

    def after(self, done: Any) -> bool:
        """Note whether a step was ended by Ctrl-C; whether any was."""
        self.now = self.now or (done.record is not None and done.record.reason == INTERRUPTED)
        return self.now


@dataclass(frozen=True)
class _Climbed:
    """Where one start ended: the network, the last search, and the scores on the way."""

    net: Network
    found: Any
    trace: tuple[float, ...]
    reason: str
    drawn: int


def _climb(
    table: Table,
    search: Callable[[Any, Any], Any],
    belief: Callable[[Any], Any],
    begin: Dag,
    began: float,
    budget: float | None,
    seed: int,
    threads: int | None,
    halt: Halt,
) -> _Climbed:
    """Complete, search, learn again, while the score of the observed rows rises."""
    net = em(begin, table, budget=_WARM, threads=threads)
    halt.after(net)
    best: Network | None = None
    trace: list[float] = []
    best_found: Any = None
    reason = f"{ROUNDS} rounds were made"
    drawn = 0
    try:
        for _ in range(ROUNDS):
            spent = budget is not None and time.perf_counter() - began > budget
            last = spent or halt.now  # what was found is still judged, nothing more is sought
            rows = completed(net, table, seed)
            drawn = rows.drawn
            found = search(rows.table, net.dag)
            halt.after(found)
            here = _score(found, net.dag)
            # before the first search the network may not have the parameters of the score's prior
            prior = belief(found.spec)
            assert net.record is not None and net.record.score is not None
            value = here + net.record.score - net.log_likelihood(rows.table)
            if best is not None and value <= trace[-1] + 1e-9 * abs(value):
                reason = "the score of the observed rows no longer rises"
                break
            best, best_found = net, found
            trace.append(value)
            if last:
                reason = f"the budget of {budget:g} s was spent" if spent else INTERRUPTED
                break
            if found.record.score <= here + 1e-9 * abs(here) or found.dag == net.dag:
                reason = "no graph scores better on the completed rows"
                break
            start = fit(found.dag, rows.table, prior, threads=threads)
            net = em(start, table, prior, start=start, budget=_WARM, threads=threads)
            halt.after(net)
    except KeyboardInterrupt:
        if best is None:
            raise  # nothing was judged yet
        halt.now = True
    assert best is not None
    return _Climbed(best, best_found, tuple(trace), reason, drawn)


def _score(found: Any, dag: Dag) -> float:
    """The score of a graph on the rows that a search was given."""
    families = [Family(n, dag.parents(n)) for n in dag.nodes]
    return float(found.scores.of(families).sum())
