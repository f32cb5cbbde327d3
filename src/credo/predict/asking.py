"""Ask in text: the question is read, the network answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import InputError
from credo.model.randomness import Rng
from credo.predict.account import account
from credo.predict.answer import Answer
from credo.predict.evidence import Evidence
from credo.predict.explanation import Explanation, marginal_map, mpe
from credo.predict.interval import event_interval, posterior_interval
from credo.predict.posterior import joint_with_evidence, posterior
from credo.predict.question import Question, parse

if TYPE_CHECKING:
    from credo.model.network import Network

__all__ = ["ask"]


def ask(
    net: Network,
    text: str,
    *,
    explain: bool = False,
    interval: float | None = None,
    draws: int = 1000,
    rng: Rng = 0,
) -> Any:
    """A `Distribution`, a probability, or an explanation, as the question asks.

    With `explain=True` the answer comes with an account of how it was found; with `interval=0.95`
    with its credible interval.
    """
    question = parse(net, text)
    asked = net.do(question.do) if question.do else net
    if interval is None:
        value = _value(asked, question)
    else:
        value = _uncertain(asked, question, interval, draws, rng)
    if not explain:
        return value
    return Answer(text, value, account(asked, question))


def _uncertain(net: Network, question: Question, level: float, draws: int, rng: Rng) -> Any:
    if question.argmax:
        raise InputError(
            "An interval goes with a probability; argmax gives states.",
            hint="Ask for P(…) of the states it gives.",
        )
    if question.events:
        point = _value(net, question)
        return event_interval(net, point, question.events, question.given, level, draws, rng)
    target = question.targets[0] if len(question.targets) == 1 else question.targets
    return posterior_interval(net, target, question.given, level, draws, rng)


def _value(net: Network, question: Question) -> Any:
    if question.argmax:
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
        return posterior(net, target, question.given)
    for name in question.targets:
        if not net.variable(name).is_discrete:
            raise InputError(f"P({name}=…) is for discrete variables; ask for P({name}) instead.")
        if name in question.given:
            raise InputError(f"{name!r} is asked about and observed at once.")
    if len(question.targets) == 1:
        one = posterior(net, question.targets[0], question.given)
        return float(sum(one[s] for s in question.events[question.targets[0]]))
    table, log_e = joint_with_evidence(net, question.targets, Evidence.of(net, question.given))
    if log_e == -np.inf:
        from credo.predict.conflict import impossible

        raise impossible(net, Evidence.of(net, question.given))
    at = [[net.variable(n).code(s) for s in question.events[n]] for n in question.targets]
    return float(table[np.ix_(*at)].sum())
