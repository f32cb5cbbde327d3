"""Structural EM: a graph from rows with gaps.

    E: complete the rows under the current network     M: search the graph that scores best on them

Expected counts of any family come from the completed rows, so every score and every search serves
(Friedman 1997, 1998). What rises is the score of the rows that were observed,

    S(G) = score(completed, G) + ln P(observed | θ) − ln P(completed | θ),

for likelihoods with a penalty a lower bound of what one more step of EM gives, for marginal
likelihoods the approximation of Cheeseman & Stutz (1996). Rows that are given draws make it an
estimate. A graph is kept only if S rises. At the end the score of the network that is given back
is taken with its own parameters: with a penalty that is ln P(observed | θ) less the penalty,
exactly, whatever was drawn on the way.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from credo.core.errors import InputError, LateError
from credo.core.progress import within
from credo.core.render import many
from credo.data import Stream, Table
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.stats.family import Family
from credo.train.em.augment import DRAWS
from credo.train.em.experiments import completed_rows, log_likelihood_of
from credo.train.em.fit import em_until
from credo.train.em.run import INTERRUPTED, LATE
from credo.train.parameters.experiments import Experiments
from credo.train.parameters.parameters import fit
from credo.train.scores.family_scores import family_scores
from credo.train.scores.scores import ScoreSpec

__all__ = ["WARM", "complete_rows", "has_gaps", "structural_em"]

ROUNDS = 30
"""Turns of completing and searching, unless the budget ends before."""

WARM = 10
"""Iterations of EM on the way; the last network gets all it needs."""

PENALISED = ("loglik", "aic", "bic", "mdl")
"""The scores that are a log-likelihood less a penalty."""

_SHORT = 0.5  # seconds that judging a graph may take after the budget is spent


def has_gaps(source: Any) -> bool:
    """Whether cells of a source are missing."""
    source = getattr(source, "table", source)  # of rows from experiments
    if isinstance(source, Table):
        return any(source.block.gaps)
    if isinstance(source, Stream):
        tally = source.tally(list(source.schema.names))
        return any(tally[n].skipped > 0 for n in source.schema.names)
    return False


def structural_em(
    table: Table | Experiments,
    search: Callable[[Any, Any], Any],
    belief: Callable[[Any], dict[str, Any]],
    begin: Callable[[int], Dag | Network],
    *,
    starts: int = 1,
    seconds: float | None,
    seed: int,
    threads: int | None,
    halt: Halt,
) -> Network:
    """The best network found; `search(rows, start)` gives a graph with its scores.

    `begin(i)` is the graph of start i, or a network already warm. The end with the best score of
    the observed rows is taken.
    """
    began = time.perf_counter()
    until = math.inf if seconds is None else began + seconds
    ends: list[_End] = []
    for turn in range(starts):
        if ends and (halt.now or time.perf_counter() > until):
            break
        ends.append(_from(begin(turn), table, search, belief, until, seed, threads, halt))
    best = max(ends, key=lambda e: e.trace[-1])
    found = best.found
    most = WARM if halt.now else None
    wanted, on_the_way = belief(found.spec), _on_the_way(belief, found.spec)
    told = time.perf_counter() < until
    draws = 0 if halt.now else DRAWS
    final = em_until(
        until,
        best.net,
        table,
        start=best.net,
        max_iter=most,
        threads=threads,
        told=told,
        draws=draws if wanted == on_the_way else 0,
        **on_the_way,
    )
    record = final.record
    assert record is not None
    reason = best.reason
    late = LATE in (record.reason, *(e.reason for e in ends)) or len(ends) < starts
    if seconds is not None and late:
        reason = f"the budget of {seconds:g} s was spent"
    if halt.after(final):
        reason = INTERRUPTED
    drawn, value = best.drawn, best.trace[-1]
    if found.spec.name in PENALISED and found.spec.function is None:
        value = _penalised(final, found)
    elif reason == best.reason:
        drawn, value = _approximate(final, found, table, seed, threads)
    if wanted != on_the_way:
        final = em_until(
            until, final, table, start=final, max_iter=most, threads=threads, told=told,
            draws=draws, rng=seed, **wanted,
        )  # fmt: skip
        record = final.record
        assert record is not None
    rising = (value,) * (value > best.trace[-1])
    ended = tuple(value if e is best else e.trace[-1] for e in ends)
    notes = list(record.notes)
    if drawn:
        have, were = ("has", "was") if drawn == 1 else ("have", "were")
        notes.append(
            f"{many(drawn, 'row')} {have} too many ways to be completed and {were} given draws"
        )
    if starts > 1:
        heights = ", ".join(f"{height:,.6g}" for height in ended)
        notes.append(f"{len(ends)} of {starts} starts ended at {heights}; the best was taken")
    details = {
        **record.details,
        "score": found.spec.name,
        "search": found.record.details.get("search", ""),
        "missing": "structural-em",
        "log_likelihood": record.score,
        "rounds": len(best.trace),
        "starts": ended,
    }
    return final.with_record(
        replace(
            record,
            how=f"{found.record.how}, structural EM",
            source=str(table.schema.source),
            score=value,
            trace=(*best.trace, *rising),
            reason=reason,
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
class _End:
    """Where one start ended: the network, the last search, and the scores on the way."""

    net: Network
    found: Any
    trace: tuple[float, ...]
    reason: str
    drawn: int


def _from(
    begin: Dag | Network,
    table: Table | Experiments,
    search: Callable[[Any, Any], Any],
    belief: Callable[[Any], dict[str, Any]],
    until: float,
    seed: int,
    threads: int | None,
    halt: Halt,
) -> _End:
    """Complete, search, learn again, while the score of the observed rows rises."""
    net = begin
    if not isinstance(net, Network):
        net = em_until(until, net, table, max_iter=WARM, threads=threads, told=False)
    halt.after(net)
    best: Network | None = None
    trace: list[float] = []
    best_found: Any = None
    reason = f"{ROUNDS} rounds were made"
    drawn = 0
    cost = 0.0  # seconds that completing the rows took
    try:
        for _ in range(ROUNDS):
            spent = time.perf_counter() > until
            last = spent or halt.now  # what was found is still judged, nothing more is sought
            if spent and best is not None and cost > _SHORT:
                reason = LATE
                break
            cost = -time.perf_counter()
            try:
                with within(max(until + cost, _SHORT)):
                    rows = completed_rows(net, table, seed)
            except LateError:
                if best is None:
                    raise
                reason = LATE
                break
            cost += time.perf_counter()
            drawn = rows.drawn
            found = search(rows.table, net.dag)
            halt.after(found)
            here = _score(found, net.dag)
            # before the first search the network may not have the parameters of the score's prior
            how = _on_the_way(belief, found.spec)
            assert net.record is not None and net.record.score is not None
            value = here + net.record.score - log_likelihood_of(net, rows.table)
            if best is not None and value <= trace[-1] + 1e-9 * abs(value):
                reason = "the score of the observed rows no longer rises"
                break
            best, best_found = net, found
            trace.append(value)
            if last:
                reason = LATE if spent else INTERRUPTED
                break
            if found.record.score <= here + 1e-9 * abs(here) or found.dag == net.dag:
                reason = "no graph scores better on the completed rows"
                break
            start = fit(found.dag, rows.table, threads=threads, **how)
            net = em_until(
                until, start, table, start=start, max_iter=WARM, threads=threads, told=False, **how
            )
            halt.after(net)
    except KeyboardInterrupt:
        if best is None:
            raise  # nothing was judged yet
        halt.now = True
    assert best is not None
    return _End(best, best_found, tuple(trace), reason, drawn)


def _on_the_way(belief: Callable[[Any], dict[str, Any]], spec: ScoreSpec) -> dict[str, Any]:
    """How parameters are learned on the way: a likelihood less a penalty is that of its maximum."""
    how = belief(spec)
    if spec.name in PENALISED and spec.function is None and how["prior"] is not None:
        return {**how, "estimate": "mle"}
    return how


def _penalised(net: Network, found: Any) -> float:
    """ln P(observed | θ) of a network less the penalty of its graph."""
    plain = family_scores(found.scores.source, ScoreSpec.of("loglik"))
    families = [Family(n, net.dag.parents(n)) for n in net.dag.nodes]
    penalty = float(plain.of(families).sum()) - _score(found, net.dag)
    assert net.record is not None and net.record.score is not None
    return float(net.record.score) - penalty


def _approximate(
    net: Network, found: Any, table: Table | Experiments, seed: int, threads: int | None
) -> tuple[int, float]:
    """The score of a network by its own completed rows, and how many of those are draws."""
    rows = completed_rows(net, table, seed)
    scores = family_scores(rows.table, found.spec, threads=threads)
    families = [Family(n, net.dag.parents(n)) for n in net.dag.nodes]
    assert net.record is not None and net.record.score is not None
    height = float(scores.of(families).sum()) - log_likelihood_of(net, rows.table)
    return rows.drawn, float(net.record.score) + height


def _score(found: Any, dag: Dag) -> float:
    """The score of a graph on the rows that a search was given."""
    families = [Family(n, dag.parents(n)) for n in dag.nodes]
    return float(found.scores.of(families).sum())


def complete_rows(source: Any) -> Any:
    """The rows without a gap."""
    table = source.load() if isinstance(source, (Stream, Experiments)) else source
    whole = np.ones(len(table), dtype=bool)
    block: Any = getattr(table, "table", table).block  # type: ignore[union-attr]
    for v, a in zip(table.schema.variables, block.arrays, strict=True):
        whole &= a != v.arity if v.is_discrete else ~np.isnan(a)
    if not whole.any():
        raise InputError("No row is complete.", hint="Use missing='structural-em'.")
    return table.take(whole)
