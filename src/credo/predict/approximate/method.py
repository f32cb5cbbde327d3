"""When exact is too much: which method answers, and the answer with its account.

`auto` is exact if the plan fits and, where a time is given, its estimated work fits too; else it is
importance sampling (in a model without directions Gibbs sampling), and loopy belief propagation
where hardly any sample carries weight or zeros tie too much together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.model.answers.approximation import Approximation, Estimate
from credo.model.answers.interval import Interval
from credo.predict.approximate.estimate import folded, stated
from credo.predict.approximate.gibbs import CHAINS, Walked, blocks_of, gibbs
from credo.predict.approximate.importance import Drawn, importance
from credo.predict.approximate.messages import Messages, propagate
from credo.predict.exact.engine import engine_of
from credo.predict.exact.reduction import Reduced, parts, reduced
from credo.predict.mixed.engine import weighed_problem
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.impossible import (
    refuse_contradiction,
    refuse_empty,
    refuse_unfound,
    refuse_unlikely,
)
from credo.predict.questions.notes import tell
from credo.predict.questions.request import Request

__all__ = [
    "Found",
    "approximate",
    "approximate_log_evidence",
    "asked_part",
    "chosen",
    "one_cell",
    "say",
]

Floats = NDArray[np.float64]
Scope = tuple[int, ...]

SPEED = 1e9
"""Multiplications a second that an exact plan is expected to do."""
_HARDLY = 20  # effective samples below which messages are the better answer


class Found(NamedTuple):
    """Probabilities and how they were found."""

    p: Floats
    approximation: Approximation


def chosen(request: Request, targets: Sequence[str], joint: bool = False) -> Request:
    """Exact if that is asked for or fits; else the request, with the reason why not exact."""
    if request.method != "auto":
        return request
    net, evidence = request.net, request.evidence
    first = list(targets[:-1]) if joint else []
    try:
        engine = engine_of(net).given(evidence.values, evidence.hard)
        observed = [engine.at[n] for n in (*evidence.hard, *evidence.values, *first)]
        wanted = [engine.at[n] for n in (targets[-1:] if joint else targets)]
        soft = [engine.at[n] for n in evidence.soft if n not in first]
        plan = engine.plan(observed, wanted, soft=soft)
    except LimitError as no:
        return request.but(why=no.message)
    rows = prod(net.variable(n).arity for n in first)
    seconds = plan.flops * rows / SPEED
    if request.seconds is not None and seconds > request.seconds:
        return request.but(why=f"An exact answer would take about {seconds:,.2g} s.")
    return request.but(method="exact")


def approximate(request: Request, asked: Sequence[Sequence[str]]) -> list[Found]:
    """Answer for the joints of some variables (or the event) together, approximately."""
    names = tuple(dict.fromkeys(n for a in asked for n in a))
    mine = asked_part(request, names)
    found = _answered(request, mine, [mine.index(a) for a in asked])
    if request.method == "auto" and not request.agreed:
        say(found[0].approximation)
    return found


def asked_part(request: Request, names: Sequence[str]) -> Reduced:
    """The factors that hang together with the names; the others are seen to be possible."""
    problem, more = weighed_problem(request.net, request.evidence, names)
    if problem.weigh is not None and request.method in ("loopy", "gibbs"):
        raise InputError(
            f"method={request.method!r} is for discrete variables, and continuous ones that are "
            "not observed matter here.",
            hint='Use method="importance" or method="weighting".',
        )
    refuse_contradiction(request, problem)
    mine, others = parts(problem, [*names, *more])
    refuse_unlikely(request, others)
    return mine


def _answered(request: Request, problem: Reduced, scopes: Sequence[Scope]) -> list[Found]:
    directed, method = engine_of(request.net).directed, request.method
    local = all(_in_one_factor(problem, s) for s in scopes)
    if method in ("importance", "weighting") and not directed:
        raise _undirected(method)
    if method in ("auto", "importance", "weighting") and directed:
        drawn = importance(problem, scopes, request)
        poor = drawn.sums.effective < _HARDLY and problem.weigh is None
        if method == "auto" and poor and local:
            few = f"Only {drawn.sums.effective:.2g} of {drawn.sums.n:,} samples count."
            return _by_messages(request.but(why=f"{request.why} {few}"), problem, scopes)
        if not drawn.sums.weight > 0:
            refuse_unfound(request, drawn.sums.n)
        return _by_samples(problem, drawn, request)
    if method == "loopy":
        return _by_messages(request, problem, scopes)
    messages = propagate(problem, tolerance=1e-3, sweeps=50)
    refuse_contradiction(request, problem, messages)
    try:
        blocks = blocks_of(problem, messages)
    except InputError as no:
        if method == "auto" and local:
            tied = request.but(why=f"{request.why} {no.message}")
            return _by_messages(tied, problem, scopes)
        raise
    for members, states in zip(blocks.members, blocks.states, strict=True):
        if not len(states):
            refuse_empty(request, [problem.names[v] for v in members])
    return _by_chains(problem, gibbs(problem, blocks, scopes, request), request)


def _undirected(method: str) -> InputError:
    return InputError(
        f"A model without directions has no parents to draw from first, as method={method!r} does.",
        hint='Use method="gibbs" or method="loopy".',
    )


def _by_samples(problem: Reduced, drawn: Drawn, request: Request) -> list[Found]:
    sums, account = drawn.sums, _sample_account(problem, drawn, request)
    return [
        Found(p, replace(account, **stated(p, se, sums.effective, sums.n, freedom)))
        for (p, se), freedom in zip(sums.estimates(), sums.freedoms(), strict=True)
    ]


def _sample_account(problem: Reduced, drawn: Drawn, request: Request, **more: Any) -> Approximation:
    return Approximation(
        "importance" if request.method == "auto" else request.method,
        samples=drawn.sums.n,
        effective=drawn.sums.effective,
        largest_weight=drawn.sums.largest_share,
        variables=len(problem.names),
        seed=request.seed,
        stopped=drawn.stopped,
        why=request.why,
        seconds=request.spent,
        **more,
    )


def _by_chains(problem: Reduced, walked: Walked, request: Request) -> list[Found]:
    account = Approximation(
        "gibbs",
        samples=walked.samples,
        effective=walked.effective,
        chains=CHAINS,
        iterations=walked.sweeps,
        converged=walked.mixed,
        variables=len(problem.names),
        seed=request.seed,
        stopped=walked.stopped,
        why=request.why,
        seconds=request.spent,
    )
    return [
        Found(p, replace(account, interval=ends, standard_error=se))
        for p, se, ends in walked.answers()
    ]


def _by_messages(request: Request, problem: Reduced, scopes: Sequence[Scope]) -> list[Found]:
    for scope in scopes:
        if not _in_one_factor(problem, scope):
            names = ", ".join(repr(problem.names[v]) for v in scope)
            other = "importance" if engine_of(request.net).directed else "gibbs"
            raise InputError(
                f"Loopy belief propagation answers for one variable, or for variables of one "
                f"family; {names} are not.",
                hint=f'Use method="{other}".',
            )
    messages = propagate(problem, seconds=request.seconds)
    refuse_contradiction(request, problem, messages)
    if request.method == "loopy":  # "auto" comes here where samples were tried before
        refuse_unlikely(request, [problem])
    account = _message_account(messages, problem, request)
    return [Found(_belief(problem, messages, s, request.mask), account) for s in scopes]


def _message_account(messages: Messages, problem: Reduced, request: Request) -> Approximation:
    return Approximation(
        "loopy",
        iterations=len(messages.trace),
        residual=messages.residual,
        trace=tuple(messages.trace.tolist()),
        converged=messages.converged,
        variables=len(problem.names),
        stopped="the messages agree" if messages.converged else "the sweeps or the time were up",
        why=request.why,
        seconds=request.spent,
    )


def _in_one_factor(problem: Reduced, scope: Scope) -> bool:
    return len(scope) == 1 or any(set(scope) <= set(s) for s in problem.scopes)


def _belief(
    problem: Reduced, messages: Messages, asked: Scope, event: NDArray[np.bool_] | None
) -> Floats:
    if len(asked) == 1:
        belief = messages.beliefs[asked[0]]
    else:
        f = next(i for i, s in enumerate(problem.scopes) if set(asked) <= set(s))
        scope = problem.scopes[f]
        rest = tuple(a for a, v in enumerate(scope) if v not in asked)
        kept = [v for v in scope if v in asked]
        belief = messages.family(problem, f).sum(axis=rest)
        belief = belief.transpose([kept.index(v) for v in asked])
    out = folded(np.ascontiguousarray(belief).ravel(), belief.shape, event)
    out /= out.sum()
    return out


def approximate_log_evidence(request: Request) -> Estimate:
    """ln P(evidence), approximately: by samples with its error, or Bethe's by messages."""
    net, method, directed = request.net, request.method, engine_of(request.net).directed
    if method == "gibbs":
        other = "importance" if directed else "loopy"
        raise InputError(
            "Gibbs sampling does not give the probability of the evidence.",
            hint=f'Use method="{other}".',
        )
    problem, _ = weighed_problem(net, request.evidence, ())
    refuse_contradiction(request, problem)
    if method == "loopy" and problem.weigh is not None:
        asked_part(request, ())
    if method in ("importance", "weighting") and not directed:
        raise _undirected(method)
    if method == "loopy" or not directed:
        messages = propagate(problem, seconds=request.seconds)
        refuse_contradiction(request, problem, messages)
        refuse_unlikely(request, [problem])
        account = _message_account(messages, problem, request)
        value = messages.log_z + problem.log_scale
        if not directed:  # ln P(e) = ln Z(e) − ln Z, both Bethe's
            whole = reduced(net, Evidence(), ())
            value -= propagate(whole, seconds=request.seconds).log_z + whole.log_scale
    else:
        drawn = importance(problem, (), request)
        value = drawn.log_z
        if value == -np.inf:
            refuse_unfound(request, drawn.sums.n)
        se = drawn.sums.log_error if drawn.sums.n else 0.0
        half = 1.959963984540054 * se
        account = _sample_account(
            problem, drawn, request, standard_error=np.array([se]),
            interval=Interval(value - half, value + half, 0.95),
        )  # fmt: skip
    if method == "auto" and not request.agreed:
        say(account)
    return Estimate(value, account)


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
