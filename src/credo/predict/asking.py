"""Ask in text: the question is read, the network answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import InputError
from credo.model.approximation import Estimate
from credo.predict.account import account
from credo.predict.answer import Answer
from credo.predict.approximate import Asked, approximate, chosen, one_cell
from credo.predict.budget import EXACT, Effort
from credo.predict.conflict import refuse_impossible
from credo.predict.evidence import Evidence
from credo.predict.explanation import Explanation, marginal_map, mpe
from credo.predict.far_evidence import warn_far
from credo.predict.interval import bound_interval, event_interval, posterior_interval
from credo.predict.posterior import (
    check_joint,
    joint_with_evidence,
    posterior,
    that_matters,
)
from credo.predict.question import Question, parse

if TYPE_CHECKING:
    from credo.model.network import Network

__all__ = ["ask"]


def ask(
    net: Network,
    text: str,
    *,
    explain: bool = False,
    effort: Effort = EXACT,
    interval: float | None = None,
    draws: int = 1000,
) -> Any:
    """A `Distribution`, a probability, or an explanation, as the question asks.

    With `explain=True` the answer comes with an account of how it was found; with `interval=0.95`
    with its credible interval.
    """
    question = parse(net, text)
    if not net.is_discrete:
        warn_far(net, question.given)
    asked = net.do(question.do) if question.do else net
    if interval is None:
        value = _value(asked, question, effort)
    else:
        value = _uncertain(asked, question, interval, draws, effort)
    if not explain:
        return value
    approximation = getattr(getattr(value, "discrete", value), "approximation", None)
    return Answer(text, value, approximation or account(asked, question))


def _uncertain(net: Network, question: Question, level: float, draws: int, effort: Effort) -> Any:
    seed = effort.draws_seed
    if question.argmax:
        raise InputError(
            "An interval goes with a probability; argmax gives states.",
            hint="Ask for P(…) of the states it gives.",
        )
    if question.bound is not None:
        point = _value(net, question, EXACT)
        name = question.targets[0]
        return bound_interval(net, point, name, question.bound, question.given, level, draws, seed)
    if question.events:
        point = _value(net, question, EXACT)
        return event_interval(net, point, question.events, question.given, level, draws, seed)
    target = question.targets[0] if len(question.targets) == 1 else question.targets
    return posterior_interval(net, target, question.given, level, draws, seed)


def _value(net: Network, question: Question, effort: Effort) -> Any:
    if question.argmax:
        if effort.method not in ("auto", "exact"):
            raise InputError(
                f"A question with argmax is answered exactly, not by method={effort.method!r}.",
                hint="Leave the method out, or ask for the distribution.",
            )
        evidence = Evidence.of(net, question.given)
        free = {n for n in net.names if n not in evidence.hard and n not in evidence.values}
        if any(v.is_discrete for v in net.variables):
            free = {n for n in free if net.variable(n).is_discrete}
        if set(question.targets) == free - set(question.do):
            found = mpe(net, question.given)
            return Explanation({n: found[n] for n in question.targets}, found.log_p)
        return marginal_map(net, question.targets, question.given)
    if not question.events:
        target = question.targets[0] if len(question.targets) == 1 else question.targets
        found = posterior(net, target, question.given, effort)
        if question.bound is None:
            return found
        mark, number = question.bound
        below = float(found.cdf(number))
        return below if mark == "<=" else 1.0 - below
    for name in question.targets:
        if not net.variable(name).is_discrete:
            raise InputError(
                f"P({name}=…) is for discrete variables; ask for P({name}) instead.",
                hint=f"Its .pdf(x) is the density at a number, its .cdf(x) P({name} ≤ x).",
            )
        if name in question.given:
            raise InputError(f"{name!r} is asked about and observed at once.")
    evidence = Evidence.of(net, question.given)
    names = question.targets
    check_joint(net, names)
    at = [[net.variable(n).code(s) for s in question.events[n]] for n in names]
    evidence = that_matters(net, names, evidence)
    effort = chosen(net, evidence, names, effort, joint=len(names) > 1)
    if effort.method != "exact":
        event = np.zeros([net.variable(n).arity for n in names], dtype=bool)
        event[np.ix_(*at)] = True
        p, approximation = approximate(net, evidence, [Asked(names, event)], effort)[0]
        return Estimate(float(p[1]), one_cell(approximation, 1))
    if len(names) == 1:
        one = posterior(net, names[0], question.given)
        return float(sum(one[s] for s in question.events[names[0]]))
    table, log_e = joint_with_evidence(net, names, evidence)
    refuse_impossible(net, evidence, log_e)
    return float(table[np.ix_(*at)].sum())
