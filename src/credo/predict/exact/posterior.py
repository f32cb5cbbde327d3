"""Posteriors: the distribution of one variable, several, or all of them, given evidence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.model.answers.approximation import Estimate
from credo.model.answers.distribution import Distribution
from credo.predict.approximate.method import (
    approximate,
    approximate_log_evidence,
    chosen,
    one_cell,
)
from credo.predict.exact.engine import engine_of
from credo.predict.mixed.densities import density_tables
from credo.predict.mixed.gaussian_groups import gaussian_groups
from credo.predict.mixed.gaussian_network import gaussian_log_evidence, gaussian_posterior
from credo.predict.mixed.posterior import Cases, cases_of, mixed_joint, mixture
from credo.predict.mixed.ranges import stated, stated_log, tied_ranges, within_ranges
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.impossible import refuse_impossible
from credo.predict.questions.request import Request

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = [
    "event_probability",
    "joint_with_evidence",
    "log_evidence",
    "marginals",
    "mixed_answer",
    "posterior",
    "that_matters",
]

MAX_JOINT = 10_000_000
"""A joint posterior of more cells than this is refused."""

Floats = NDArray[np.float64]


def posterior(request: Request) -> Any:
    """P(targets | evidence): a `Distribution`; for continuous targets a Gaussian or a mixture."""
    return stated(_posterior(request), request.evidence)


def _posterior(request: Request) -> Any:
    if request.named(discrete=False):
        return _continuous(request)
    request = _chosen(request)
    variables = tuple(request.net.variable(n) for n in request.targets)
    if request.method != "exact":
        p, account = approximate(request, [request.targets])[0]
        return Distribution.trusted(variables, p, account)
    table = _joint(request.net, request.targets, request.evidence)
    return (Distribution.trusted if table.ndim == 1 else Distribution)(variables, table)


def event_probability(request: Request) -> float:
    """P(each target has one of the event's states | evidence)."""
    found: float = stated(_event_probability(request), request.evidence)
    return found


def _event_probability(request: Request) -> float:
    request = _chosen(request)
    if request.method != "exact":
        p, approximation = approximate(request, [request.targets])[0]
        return Estimate(float(p[1]), one_cell(approximation, 1))
    table = _joint(request.net, request.targets, request.evidence)
    if request.event is not None and table.ndim == 1:
        return float(table[list(request.event[request.targets[0]])].sum())
    return float(table[request.mask].sum())


def _chosen(request: Request) -> Request:
    """The request about discrete targets with its method, and without evidence that is too much."""
    names = request.targets
    check_joint(request.net, names)
    evidence = that_matters(request.net, names, request.evidence)
    if evidence is not request.evidence:
        request = request.but(evidence=evidence)
    return chosen(request, names, joint=len(names) > 1)


def _joint(net: Network, names: Sequence[str], evidence: Evidence) -> Floats:
    """P(names | evidence) of discrete variables; impossible evidence is refused."""
    if len(names) == 1:
        outcome = engine_of(net).ask(evidence, names)
        table: Floats = outcome.marginals[0][0]
        log_e = float(outcome.log_evidence[0])
    else:
        table, log_e = joint_with_evidence(net, names, evidence)
    refuse_impossible(net, evidence, log_e)
    return table


def _continuous(request: Request) -> Any:
    """Continuous targets, alone or with discrete ones."""
    if any(v.is_discrete for v in request.net.variables):
        return mixed_answer(request)
    refuse_sampling(request, request.targets[0])
    return gaussian_posterior(request.net, request.targets, request.evidence)


def mixed_answer(request: Request, known: dict[tuple[str, ...], Floats] | None = None) -> Any:
    """A mixture for the continuous targets; with discrete ones, one for each of their states.

    `known` keeps joint posteriors of discrete variables for the next question.
    """
    from credo.predict.mixed.sampling import mixed_samples

    net, evidence = request.net, request.evidence
    names, discrete = tuple(request.named(discrete=False)), request.named(discrete=True)
    tied = tied_ranges(net, evidence, names)
    if tied and (len(names) > 1 or discrete):
        for name in (n for n in names if n in tied):
            raise InputError(
                f"{name!r} has a range in the evidence, so it is asked about alone.",
                hint=f"Ask for the others without {name!r}, or for the probability of ranges.",
            )
    continuous = [*names, *(n for n in tied if n not in names)]
    request, cases = _mixed_choice(request, continuous, discrete)
    if request.method != "exact" and tied:
        raise LimitError(
            f"{request.why or 'Sampling knows no ranges of continuous variables.'} With a range of "
            f"{tied[0]!r} there is no approximate answer for {names[0]!r}.",
            hint="Ask for the probability of a range of it, or observe more variables.",
        )
    if request.method != "exact":
        return mixed_samples(request)
    assert cases is not None
    evidence = request.evidence
    known = {} if known is None else known
    weights = known.get(cases.names)
    if weights is None:
        weights = known[cases.names] = _weights(net, cases, evidence)
    means, covariances = cases.conditioned(evidence)
    make = partial(within_ranges, t=len(names), evidence=evidence) if tied else mixture
    if discrete:
        variables = [net.variable(n) for n in discrete]
        return mixed_joint(cases, variables, weights, means[0], covariances[0], names, make)
    return make(cases, weights, means[0], covariances[0])


def _mixed_choice(
    request: Request, continuous: Sequence[str], discrete: Sequence[str]
) -> tuple[Request, Cases | None]:
    """Exact if it is asked for or fits; evidence that does not matter is left out if that helps."""
    net, evidence = request.net, request.evidence
    if request.method in ("importance", "weighting", "loopy", "gibbs"):
        groups = gaussian_groups(net, evidence.values.keys(), continuous)
        group = next(g for g in groups if continuous[0] in g.hidden)
        if discrete or group.free(evidence.hard):
            return request, None
        request = request.but(method="exact")  # one Gaussian: there is nothing to draw
    try:
        evidence = that_matters(net, [*continuous, *discrete], evidence)
        cases = cases_of(net, continuous, discrete, evidence)
        check_joint(net, cases.names)
        return (
            chosen(request.but(evidence=evidence), cases.names, joint=len(cases.names) > 1),
            cases,
        )
    except LimitError as no:
        if request.method != "auto":
            raise
        return request.but(evidence=evidence, why=no.message), None


def _weights(net: Network, cases: Cases, evidence: Evidence) -> Floats:
    """P(u | evidence) of the discrete variables that choose among Gaussians."""
    if cases.names:
        return _joint(net, cases.names, evidence)
    _check_possible(net, evidence)
    return np.ones(())


def that_matters(net: Network, targets: Sequence[str], evidence: Evidence) -> Evidence:
    """The evidence; where it is too much for tables, less what does not matter to the targets."""
    try:
        engine_of(net).given(evidence.values, evidence.hard)
    except LimitError:
        less = without_idle(net, targets, evidence)
        if len(less.values) < len(evidence.values):
            _check_possible(net, evidence)
        return less
    return evidence


def without_idle(net: Network, targets: Sequence[str], evidence: Evidence) -> Evidence:
    """The evidence less the continuous values that the rest of it separates from the targets."""
    if evidence.soft:
        return evidence
    for name in evidence.values:
        less = evidence.without(name)
        if net.dag.d_separated(list(targets), name, given=list(less.names)):
            evidence = less
    return evidence


def joint_with_evidence(
    net: Network, names: Sequence[str], evidence: Evidence
) -> tuple[Floats, float]:
    """P(names | evidence) as a table, and ln P(evidence).

    All configurations of the names but the last run as one batch of evidence: P(t₁ … t_k, e) is
    P(t₁ … t_{k−1}, e) times P(t_k | t₁ … t_{k−1}, e).
    """
    engine = engine_of(net).given(evidence.values, evidence.hard)
    check_joint(net, names)
    shape = [net.variable(n).arity for n in names]
    first, last = list(names[:-1]), names[-1]
    rows = np.indices(shape[:-1]).reshape(len(first), prod(shape[:-1])).T
    row = engine.row(evidence, without=first)
    batch = np.concatenate([np.repeat(row.codes, len(rows), axis=0), rows], axis=1, dtype=np.int32)
    observed = [*row.observed, *(engine.at[n] for n in first)]
    plan = engine.plan(observed, [engine.at[last]], soft=row.soft)
    tables, scale = density_tables(engine, evidence)
    log_e, flat, _ = plan.run(tables, np.ascontiguousarray(batch), row.likelihoods, 1)
    log_e = np.asarray(log_e, dtype=np.float64).copy()
    for k, name in enumerate(first):
        if name in evidence.soft:
            with np.errstate(divide="ignore"):
                log_e += np.log(evidence.soft[name])[rows[:, k]]
    most = log_e.max()
    if most == -np.inf:
        return np.zeros(shape), -np.inf
    weights = np.exp(log_e - most)
    table = (weights[:, None] * flat).reshape(shape)
    total = table.sum()
    return table / total, float(most + np.log(total) + scale)


def marginals(request: Request) -> dict[str, Any]:
    """The posterior of every variable that is not observed, or of the targets.

    A continuous one has a Gaussian, or a mixture of them.
    """
    net, evidence = request.net, request.evidence
    known = {*evidence.hard, *evidence.values}
    free = [v for v in net.variables if v.name not in known]
    if request.targets:
        free = [net.variable(n) for n in request.targets]
    if not any(v.is_discrete for v in net.variables):
        return {v.name: _continuous(request.but(targets=(v.name,))) for v in free}
    found = _discrete_marginals(request, [v.name for v in free if v.is_discrete])
    joints: dict[tuple[str, ...], Floats] = {}
    for v in free:
        if not v.is_discrete:
            found[v.name] = mixed_answer(request.but(targets=(v.name,)), joints)
    return {v.name: stated(found[v.name], evidence) for v in free}


def _discrete_marginals(request: Request, names: Sequence[str]) -> dict[str, Any]:
    net, evidence = request.net, request.evidence
    if not names and not evidence.names:
        return {}
    request = chosen(request, names)
    if names and request.method != "exact":
        found: Any = approximate(request, [(n,) for n in names])
    else:
        outcome = engine_of(net).ask(evidence, names)
        refuse_impossible(net, evidence, float(outcome.log_evidence[0]))
        found = [(p[0], None) for p in outcome.marginals]
    return {
        n: Distribution.trusted((net.variable(n),), p, account)
        for n, (p, account) in zip(names, found, strict=True)
    }


def log_evidence(request: Request) -> float:
    """ln P(evidence); evidence of probability zero is refused."""
    net, evidence = request.net, request.evidence
    if not evidence.names:
        return 0.0
    if evidence.values and not any(v.is_discrete for v in net.variables):
        refuse_sampling(request, next(iter(evidence.values)))
        return gaussian_log_evidence(net, evidence) + evidence.log_scale
    request = chosen(request, ())
    if request.method != "exact":
        about = approximate_log_evidence(request)
        return about.moved(evidence.log_scale) if evidence.log_scale else about
    engine = engine_of(net)
    found = float(engine.ask(evidence, []).log_evidence[0])
    refuse_impossible(net, evidence, found)
    return stated_log(found + evidence.log_scale - engine.log_total, evidence)


def _check_possible(net: Network, evidence: Evidence) -> None:
    discrete = evidence.discrete
    if discrete.names:
        found = float(engine_of(net).ask(discrete, []).log_evidence[0])
        refuse_impossible(net, discrete, found)


def check_joint(net: Network, names: Sequence[str]) -> None:
    """Refuse a joint of too many cells before anything is made for it."""
    cells = prod(net.variable(n).arity for n in names)
    if len(names) > 1 and cells > MAX_JOINT:
        raise LimitError(
            f"The joint of {', '.join(names)} would have {cells:,} cells; "
            f"at most {MAX_JOINT:,} are allowed.",
            hint="Ask for fewer variables at once, or for mpe() of all of them.",
        )


def refuse_sampling(request: Request, name: str) -> None:
    """A network of linear Gaussians alone has exact answers only."""
    if request.method not in ("auto", "exact"):
        raise InputError(
            f"method={request.method!r} answers for discrete variables; {name!r} is continuous.",
            hint='Leave the method out: its answer is exact, with method="auto".',
        )
