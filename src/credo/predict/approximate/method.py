"""When exact is too much: which method answers, and the answer with its account.

`auto` is exact if the plan fits and, where a time is given, its estimated work fits too; else it is
importance sampling (in a model without directions Gibbs sampling), and loopy belief propagation
where hardly any sample carries weight or zeros tie too much together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.model.answers.approximation import Approximation, Estimate
from credo.model.answers.interval import Interval
from credo.predict.approximate.blocks import blocks_of
from credo.predict.approximate.budget import EXACT, Effort
from credo.predict.approximate.estimate import Query, stated
from credo.predict.approximate.gibbs import CHAINS, Walked, gibbs
from credo.predict.approximate.importance import Drawn, importance
from credo.predict.approximate.messages import Messages, propagate
from credo.predict.exact.engine import engine_of
from credo.predict.exact.reduction import Reduced, parts, reduced
from credo.predict.mixed.weighed import weighed_problem
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.possible import (
    refuse_contradiction,
    refuse_empty,
    refuse_unfound,
    refuse_unlikely,
)
from credo.predict.questions.telling import tell

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = [
    "Asked",
    "Found",
    "approximate",
    "approximate_log_evidence",
    "asked_part",
    "chosen",
    "one_cell",
    "say",
]

Floats = NDArray[np.float64]

SPEED = 1e9
"""Multiplications a second that an exact plan is expected to do."""
_HARDLY = 20  # effective samples below which messages are the better answer


class Asked(NamedTuple):
    """Variables whose joint is asked for; with an event, only whether it holds."""

    names: tuple[str, ...]
    event: NDArray[np.bool_] | None = None


class Found(NamedTuple):
    """Probabilities and how they were found."""

    p: Floats
    approximation: Approximation


def chosen(
    net: Network, evidence: Evidence, targets: Sequence[str], effort: Effort, joint: bool = False
) -> Effort:
    """Exact if that is asked for or fits; else the effort, with the reason why not exact."""
    if effort.method != "auto":
        return effort
    try:
        engine = engine_of(net).given(evidence.values, evidence.hard)
    except LimitError as no:
        return replace(effort, why=no.message)
    first = list(targets[:-1]) if joint else []
    observed = [engine.at[n] for n in (*evidence.hard, *evidence.values, *first)]
    wanted = [engine.at[n] for n in (targets[-1:] if joint else targets)]
    soft = [engine.at[n] for n in evidence.soft if n not in first]
    try:
        plan = engine.plan(observed, wanted, soft=soft)
    except LimitError as no:
        return replace(effort, why=no.message)
    rows = prod(net.variable(n).arity for n in first)
    seconds = plan.flops * rows / SPEED
    if effort.seconds is not None and seconds > effort.seconds:
        return replace(effort, why=f"An exact answer would take about {seconds:,.2g} s.")
    return EXACT


def approximate(
    net: Network, evidence: Evidence, asked: Sequence[Asked], effort: Effort
) -> list[Found]:
    """Answer some questions about one evidence together, approximately."""
    names = tuple(dict.fromkeys(n for a in asked for n in a.names))
    mine = asked_part(net, evidence, names, effort)
    queries = [Query(mine.index(a.names), a.event) for a in asked]
    found = _answered(net, evidence, mine, queries, effort)
    if effort.method == "auto" and not effort.agreed:
        say(found[0].approximation)
    return found


def asked_part(net: Network, evidence: Evidence, names: Sequence[str], effort: Effort) -> Reduced:
    """The factors that hang together with the names; the others are seen to be possible."""
    problem, more = weighed_problem(net, evidence, names)
    if problem.weigh is not None and effort.method in ("loopy", "gibbs"):
        raise InputError(
            f"method={effort.method!r} is for discrete variables, and continuous ones that are "
            "not observed matter here.",
            hint='Use method="importance" or method="weighting".',
        )
    refuse_contradiction(net, evidence, problem)
    mine, others = parts(problem, [*names, *more])
    refuse_unlikely(net, evidence, others)
    return mine


def _answered(
    net: Network,
    evidence: Evidence,
    problem: Reduced,
    queries: Sequence[Query],
    effort: Effort,
) -> list[Found]:
    directed = engine_of(net).directed
    if effort.method in ("importance", "weighting") and not directed:
        raise _undirected(effort.method)
    if effort.method in ("auto", "importance", "weighting") and directed:
        drawn = importance(problem, queries, effort)
        poor = drawn.sums.effective < _HARDLY and problem.weigh is None
        if effort.method == "auto" and poor and all(_in_one_factor(problem, q) for q in queries):
            few = f"{effort.why} Only {drawn.sums.effective:.2g} of {drawn.sums.n:,} samples count."
            return _by_messages(net, evidence, problem, queries, replace(effort, why=few))
        if not drawn.sums.weight > 0:
            refuse_unfound(net, evidence, drawn.sums.n)
        return _by_samples(problem, drawn, effort)
    if effort.method == "loopy":
        return _by_messages(net, evidence, problem, queries, effort)
    messages = propagate(problem, tolerance=1e-3, sweeps=50)
    refuse_contradiction(net, evidence, problem, messages)
    try:
        blocks = blocks_of(problem, messages)
    except InputError as no:
        if effort.method == "auto" and all(_in_one_factor(problem, q) for q in queries):
            tied = replace(effort, why=f"{effort.why} {no.message}")
            return _by_messages(net, evidence, problem, queries, tied)
        raise
    for members, states in zip(blocks.members, blocks.states, strict=True):
        if not len(states):
            refuse_empty(net, evidence, [problem.names[v] for v in members])
    return _by_chains(problem, gibbs(problem, blocks, queries, effort), effort)


def _undirected(method: str) -> InputError:
    return InputError(
        f"A model without directions has no parents to draw from first, as method={method!r} does.",
        hint='Use method="gibbs" or method="loopy".',
    )


def _by_samples(problem: Reduced, drawn: Drawn, effort: Effort) -> list[Found]:
    sums = drawn.sums
    account = Approximation(
        "importance" if effort.method == "auto" else effort.method,
        samples=sums.n,
        effective=sums.effective,
        largest_weight=sums.largest_share,
        variables=len(problem.names),
        seed=effort.seed,
        stopped=drawn.stopped,
        why=effort.why,
        seconds=effort.spent,
    )
    return [
        Found(p, replace(account, **stated(p, se, sums.effective, sums.n, freedom)))
        for (p, se), freedom in zip(sums.estimates(), sums.freedoms(), strict=True)
    ]


def _by_chains(problem: Reduced, walked: Walked, effort: Effort) -> list[Found]:
    effective = walked.effective
    account = Approximation(
        "gibbs",
        samples=walked.samples,
        effective=effective,
        chains=CHAINS,
        iterations=walked.sweeps,
        converged=walked.mixed,
        variables=len(problem.names),
        seed=effort.seed,
        stopped=walked.stopped,
        why=effort.why,
        seconds=effort.spent,
    )
    return [
        Found(p, replace(account, interval=ends, standard_error=se))
        for p, se, ends in walked.answers()
    ]


def _by_messages(
    net: Network,
    evidence: Evidence,
    problem: Reduced,
    queries: Sequence[Query],
    effort: Effort,
) -> list[Found]:
    for query in queries:
        if not _in_one_factor(problem, query):
            names = ", ".join(repr(problem.names[v]) for v in query.scope)
            other = "importance" if engine_of(net).directed else "gibbs"
            raise InputError(
                f"Loopy belief propagation answers for one variable, or for variables of one "
                f"family; {names} are not.",
                hint=f'Use method="{other}".',
            )
    messages = propagate(problem, seconds=effort.seconds)
    refuse_contradiction(net, evidence, problem, messages)
    if effort.method == "loopy":  # "auto" comes here where samples were tried before
        refuse_unlikely(net, evidence, [problem])
    account = _message_account(messages, problem, effort)
    return [Found(_belief(problem, messages, q), account) for q in queries]


def _message_account(messages: Messages, problem: Reduced, effort: Effort) -> Approximation:
    return Approximation(
        "loopy",
        iterations=len(messages.trace),
        residual=messages.residual,
        trace=tuple(messages.trace.tolist()),
        converged=messages.converged,
        variables=len(problem.names),
        stopped="the messages agree" if messages.converged else "the sweeps or the time were up",
        why=effort.why,
        seconds=effort.spent,
    )


def _in_one_factor(problem: Reduced, query: Query) -> bool:
    asked = set(query.scope)
    return len(asked) == 1 or any(asked <= set(s) for s in problem.scopes)


def _belief(problem: Reduced, messages: Messages, query: Query) -> Floats:
    if len(query.scope) == 1:
        belief = messages.beliefs[query.scope[0]]
    else:
        f = next(i for i, s in enumerate(problem.scopes) if set(query.scope) <= set(s))
        scope = problem.scopes[f]
        belief = messages.family(problem, f)
        rest = tuple(a for a, v in enumerate(scope) if v not in query.scope)
        kept = [v for v in scope if v in query.scope]
        belief = belief.sum(axis=rest).transpose([kept.index(v) for v in query.scope])
    out: Floats = query.folded(np.ascontiguousarray(belief).ravel(), problem.arities)
    out /= out.sum()
    return out


def approximate_log_evidence(net: Network, evidence: Evidence, effort: Effort) -> Estimate:
    """ln P(evidence), approximately: by samples with its error, or Bethe's by messages."""
    if effort.method == "gibbs":
        other = "importance" if engine_of(net).directed else "loopy"
        raise InputError(
            "Gibbs sampling does not give the probability of the evidence.",
            hint=f'Use method="{other}".',
        )
    problem, _ = weighed_problem(net, evidence, ())
    refuse_contradiction(net, evidence, problem)
    directed = engine_of(net).directed
    if effort.method == "loopy" and problem.weigh is not None:
        asked_part(net, evidence, (), effort)
    if effort.method in ("importance", "weighting") and not directed:
        raise _undirected(effort.method)
    if effort.method == "loopy" or not directed:
        messages = propagate(problem, seconds=effort.seconds)
        refuse_contradiction(net, evidence, problem, messages)
        refuse_unlikely(net, evidence, [problem])
        account = _message_account(messages, problem, effort)
        log_total = 0.0
        if not directed:  # ln P(e) = ln Z(e) − ln Z, both Bethe's
            whole = reduced(net, Evidence(), ())
            log_total = propagate(whole, seconds=effort.seconds).log_z + whole.log_scale
        if effort.method == "auto" and not effort.agreed:
            say(account)
        return Estimate(messages.log_z + problem.log_scale - log_total, account)
    drawn = importance(problem, (), effort)
    if drawn.log_z == -np.inf:
        refuse_unfound(net, evidence, drawn.sums.n)
    se = drawn.sums.log_error if drawn.sums.n else 0.0
    half = 1.959963984540054 * se
    account = Approximation(
        "importance" if effort.method == "auto" else effort.method,
        interval=Interval(drawn.log_z - half, drawn.log_z + half, 0.95),
        standard_error=np.array([se]),
        samples=drawn.sums.n,
        effective=drawn.sums.effective,
        largest_weight=drawn.sums.largest_share,
        variables=len(problem.names),
        seed=effort.seed,
        stopped=drawn.stopped,
        why=effort.why,
        seconds=effort.spent,
    )
    if effort.method == "auto" and not effort.agreed:
        say(account)
    return Estimate(drawn.log_z, account)


def one_cell(account: Approximation, cell: int) -> Approximation:
    """The account of one of the probabilities."""
    if account.interval is None or account.standard_error is None:
        return account
    low, high = (float(np.asarray(end)[cell]) for end in account.interval)
    return replace(
        account,
        interval=Interval(low, high, account.interval.level),
        standard_error=account.standard_error[cell : cell + 1],
    )


def say(account: Approximation) -> None:
    """An answer that was expected to be exact is not: say so."""
    line = account.line.removeprefix("approximate: ")
    tell(
        f"{account.why} The answer is approximate instead ({line}). "
        'method="exact" refuses such questions; a budget or an error says they are welcome.'
    )
