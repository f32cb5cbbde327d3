"""Posteriors: the distribution of one variable, several, or all of them, given evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError, unknown_name
from credo.core.schema import Variable
from credo.model.answers.distribution import Distribution
from credo.predict.approximate.budget import EXACT, Effort
from credo.predict.approximate.method import (
    Asked,
    approximate,
    approximate_log_evidence,
    chosen,
)
from credo.predict.exact.engine import engine_of
from credo.predict.mixed.densities import density_tables
from credo.predict.mixed.gaussian_network import gaussian_log_evidence, gaussian_posterior
from credo.predict.mixed.line_groups import line_groups
from credo.predict.mixed.posterior import Cases, cases_of, mixed_joint, mixture
from credo.predict.mixed.ranges import observed, stated, stated_log, tied_ranges, within_ranges
from credo.predict.questions.conflict import refuse_impossible
from credo.predict.questions.evidence import Evidence

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = [
    "check_joint",
    "joint_with_evidence",
    "log_evidence",
    "marginals",
    "mixed_answer",
    "posterior",
    "target_names",
    "that_matters",
]

MAX_JOINT = 10_000_000
"""A joint posterior of more cells than this is refused."""


def target_names(net: Network, target: str | Sequence[str], evidence: Evidence) -> tuple[str, ...]:
    """The targets by name; unknown, repeated or observed ones are refused."""
    if isinstance(target, str):
        names: tuple[str, ...] = (target,)
    elif isinstance(target, Iterable):
        names = tuple(target)
    else:
        raise InputError(f"Ask about a variable or a list of them, by name, got {target!r}.")
    if not names:
        raise InputError("Name at least one variable to ask about.")
    for name in names:
        if name not in net.schema:
            raise unknown_name("Variable", name, net.names, "in the model")
        if name in evidence.hard or name in evidence.values:
            raise InputError(f"{name!r} is asked about and observed at once.")
    if len(set(names)) < len(names):
        raise InputError(f"A variable is named twice in {list(names)}.")
    return names


def posterior(
    net: Network,
    target: str | Sequence[str],
    given: Mapping[str, Any],
    effort: Effort = EXACT,
) -> Any:
    """P(target | evidence): a `Distribution`; for continuous targets a Gaussian or a mixture."""
    net, evidence = observed(net, given)
    return stated(_posterior(net, target, evidence, effort), evidence)


def _posterior(
    net: Network, target: str | Sequence[str], evidence: Evidence, effort: Effort
) -> Any:
    names = target_names(net, target, evidence)
    continuous = [n for n in names if not net.variable(n).is_discrete]
    if continuous:
        return _continuous(net, names, continuous, evidence, effort)
    check_joint(net, names)
    evidence = that_matters(net, names, evidence)
    effort = chosen(net, evidence, names, effort, joint=len(names) > 1)
    if effort.method != "exact":
        p, account = approximate(net, evidence, [Asked(names)], effort)[0]
        return Distribution.trusted(tuple(net.variable(n) for n in names), p, account)
    if len(names) == 1:
        outcome = engine_of(net).ask(evidence, names)
        refuse_impossible(net, evidence, float(outcome.log_evidence[0]))
        return Distribution.trusted((net.variable(names[0]),), outcome.marginals[0][0])
    table, log_e = joint_with_evidence(net, names, evidence)
    refuse_impossible(net, evidence, log_e)
    return Distribution(tuple(net.variable(n) for n in names), table)


def _continuous(
    net: Network, names: Sequence[str], continuous: list[str], evidence: Evidence, effort: Effort
) -> Any:
    """Continuous targets, alone or with discrete ones."""
    if not any(v.is_discrete for v in net.variables):
        refuse_sampling(effort, continuous[0])
        return gaussian_posterior(net, names, evidence)
    discrete = [n for n in names if net.variable(n).is_discrete]
    return mixed_answer(net, continuous, discrete, evidence, effort)


def mixed_answer(
    net: Network,
    continuous: Sequence[str],
    discrete: Sequence[str],
    evidence: Evidence,
    effort: Effort = EXACT,
    known: dict[tuple[str, ...], NDArray[np.float64]] | None = None,
) -> Any:
    """A mixture for the continuous targets; with discrete ones, one for each of their states.

    `known` keeps joint posteriors of discrete variables for the next question.
    """
    from credo.predict.mixed.sampling import mixed_samples

    names, tied = tuple(continuous), tied_ranges(net, evidence, continuous)
    if tied and (len(names) > 1 or discrete):
        for name in (n for n in names if n in tied):
            raise InputError(
                f"{name!r} has a range in the evidence, so it is asked about alone.",
                hint=f"Ask for the others without {name!r}, or for the probability of ranges.",
            )
    continuous = [*names, *(n for n in tied if n not in names)]
    effort, evidence, cases = _mixed_choice(net, continuous, discrete, evidence, effort)
    if effort.method != "exact" and tied:
        raise LimitError(
            f"{effort.why or 'Sampling knows no ranges of continuous variables.'} With a range of "
            f"{tied[0]!r} there is no approximate answer for {names[0]!r}.",
            hint="Ask for the probability of a range of it, or observe more variables.",
        )
    if effort.method != "exact":
        return mixed_samples(net, continuous, discrete, evidence, effort)
    assert cases is not None
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
    net: Network,
    continuous: Sequence[str],
    discrete: Sequence[str],
    evidence: Evidence,
    effort: Effort,
) -> tuple[Effort, Evidence, Cases | None]:
    """Exact if it is asked for or fits; evidence that does not matter is left out if that helps."""
    if effort.method in ("importance", "weighting", "loopy", "gibbs"):
        groups = line_groups(net, evidence.values.keys(), continuous)
        group = next(g for g in groups if continuous[0] in g.hidden)
        if discrete or group.free(evidence.hard):
            return effort, evidence, None
        effort = EXACT  # one Gaussian: there is nothing to draw
    auto = effort.method == "auto"
    try:
        evidence = that_matters(net, [*continuous, *discrete], evidence)
        cases = cases_of(net, continuous, discrete, evidence)
        check_joint(net, cases.names)
        if auto:
            effort = chosen(net, evidence, cases.names, effort, joint=len(cases.names) > 1)
    except LimitError as no:
        if not auto:
            raise
        return replace(effort, why=no.message), evidence, None
    return effort if auto else EXACT, evidence, cases


def _weights(net: Network, cases: Cases, evidence: Evidence) -> NDArray[np.float64]:
    """P(u | evidence) of the discrete variables that choose among Gaussians."""
    if not cases.names:
        _check_possible(net, evidence)
        return np.ones(())
    if len(cases.names) == 1:
        outcome = engine_of(net).ask(evidence, cases.names)
        refuse_impossible(net, evidence, float(outcome.log_evidence[0]))
        alone: NDArray[np.float64] = outcome.marginals[0][0]
        return alone
    table, log_e = joint_with_evidence(net, cases.names, evidence)
    refuse_impossible(net, evidence, log_e)
    return table


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
) -> tuple[NDArray[np.float64], float]:
    """P(names | evidence) as a table, and ln P(evidence).

    All configurations of the names but the last run as one batch of evidence: P(t₁ … t_k, e) is
    P(t₁ … t_{k−1}, e) times P(t_k | t₁ … t_{k−1}, e).
    """
    engine = engine_of(net).given(evidence.values, evidence.hard)
    check_joint(net, names)
    shape = [net.variable(n).arity for n in names]
    first, last = list(names[:-1]), names[-1]
    rows = np.indices(shape[:-1]).reshape(len(first), prod(shape[:-1])).T
    known = [*evidence.hard, *evidence.values]
    observed = [engine.at[n] for n in (*known, *first)]
    codes = [*evidence.hard.values(), *([0] * len(evidence.values))]
    batch = np.empty((len(rows), len(observed)), dtype=np.int32)
    batch[:, : len(codes)] = codes
    batch[:, len(codes) :] = rows
    soft_names = [n for n in evidence.soft if n not in first]
    plan = engine.plan(observed, [engine.at[last]], soft=[engine.at[n] for n in soft_names])
    tables, scale = density_tables(engine, evidence)
    soft = [np.ascontiguousarray(evidence.soft[n][None, :]) for n in soft_names]
    log_e, flat, _ = plan.run(tables, batch, soft, 1)
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


def marginals(net: Network, given: Mapping[str, Any], effort: Effort = EXACT) -> dict[str, Any]:
    """The posterior of every variable that is not observed.

    A continuous one has a Gaussian, or a mixture of them.
    """
    net, evidence = observed(net, given)
    known = {*evidence.hard, *evidence.values}
    free = [v for v in net.variables if v.name not in known]
    if not any(v.is_discrete for v in net.variables):
        for v in free[:1]:
            refuse_sampling(effort, v.name)
        return {v.name: gaussian_posterior(net, [v.name], evidence) for v in free}
    discrete = [v for v in free if v.is_discrete]
    found = _discrete_marginals(net, discrete, evidence, effort)
    joints: dict[tuple[str, ...], NDArray[np.float64]] = {}
    for v in free:
        if not v.is_discrete:
            found[v.name] = mixed_answer(net, [v.name], [], evidence, effort, joints)
    return {v.name: stated(found[v.name], evidence) for v in free}


def _discrete_marginals(
    net: Network, discrete: Sequence[Variable], evidence: Evidence, effort: Effort
) -> dict[str, Any]:
    if not discrete and not evidence.names:
        return {}
    names = [v.name for v in discrete]
    effort = chosen(net, evidence, names, effort) if discrete else EXACT
    if effort.method != "exact":
        found = approximate(net, evidence, [Asked((n,)) for n in names], effort)
        return {
            v.name: Distribution.trusted((v,), f.p, f.approximation)
            for v, f in zip(discrete, found, strict=True)
        }
    outcome = engine_of(net).ask(evidence, names)
    refuse_impossible(net, evidence, float(outcome.log_evidence[0]))
    return {
        v.name: Distribution.trusted((v,), p[0])
        for v, p in zip(discrete, outcome.marginals, strict=True)
    }


def log_evidence(net: Network, given: Mapping[str, Any], effort: Effort = EXACT) -> float:
    """ln P(evidence); evidence of probability zero is refused."""
    net, evidence = observed(net, given)
    if not evidence.names:
        return 0.0
    if evidence.values and not any(v.is_discrete for v in net.variables):
        refuse_sampling(effort, next(iter(evidence.values)))
        return gaussian_log_evidence(net, evidence)
    effort = chosen(net, evidence, (), effort)
    if effort.method != "exact":
        about = approximate_log_evidence(net, evidence, effort)
        return about.moved(evidence.log_scale) if evidence.ranges else about
    engine = engine_of(net)
    found = float(engine.ask(evidence, []).log_evidence[0])
    refuse_impossible(net, evidence, found)
    return stated_log(found + evidence.log_scale - engine.log_total, evidence)


def _check_possible(net: Network, evidence: Evidence) -> None:
    discrete = Evidence(evidence.hard, evidence.soft)
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


def refuse_sampling(effort: Effort, name: str) -> None:
    """A network of lines alone has exact answers only."""
    if effort.method not in ("auto", "exact"):
        raise InputError(
            f"method={effort.method!r} answers for discrete variables; {name!r} is continuous.",
            hint='Leave the method out: its answer is exact, with method="auto".',
        )
