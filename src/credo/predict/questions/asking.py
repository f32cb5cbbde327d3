"""Ask in text: the question is read, the network answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.model.answers.approximation import Estimate
from credo.model.answers.between import Between
from credo.predict.approximate.budget import EXACT, Effort
from credo.predict.approximate.method import Asked, approximate, chosen, one_cell
from credo.predict.exact.account import account
from credo.predict.exact.engine import engine_of
from credo.predict.exact.explanation import Explanation, marginal_map, mpe
from credo.predict.exact.posterior import (
    check_joint,
    joint_with_evidence,
    posterior,
    target_names,
    that_matters,
)
from credo.predict.intervals.interval import event_interval, posterior_interval
from credo.predict.mixed.ranges import asked_ranges, observed, stated
from credo.predict.questions.answer import Answer
from credo.predict.questions.conflict import refuse_impossible
from credo.predict.questions.evidence import Evidence, likelihood
from credo.predict.questions.far_evidence import warn_far
from credo.predict.questions.intervention import intervene, reversible_note
from credo.predict.questions.notes import noted
from credo.predict.questions.question import Question, parse

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["ask", "event_probability", "probability_of"]


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
    asked, told = net, ""
    if question.do:
        if not engine_of(net).directed:
            net.do(question.do)  # refused: nothing points from a cause to its effect
        told = reversible_note(net, question.do, {*question.targets, *question.given})
        asked = intervene(net, question.do)
    if interval is None:
        value = _value(asked, question, effort)
    else:
        value = _uncertain(asked, question, interval, draws, effort)
    value = noted(
        asked, value, question.given, question.targets,
        record=getattr(net, "record", None), told=(told,) if told else (),
    )  # fmt: skip
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
    if question.events:
        point = probability_of(net, question.events, question.given)
        return event_interval(net, point, question.events, question.given, level, draws, seed)
    target = question.targets[0] if len(question.targets) == 1 else question.targets
    return posterior_interval(net, target, question.given, level, draws, seed)


def event_probability(
    net: Network,
    event: Mapping[str, Any],
    given: Mapping[str, Any],
    effort: Effort,
    interval: float | None,
    draws: int,
) -> Any:
    """P(event | evidence); an event is a state, a set of states or a range for each variable."""
    if not event:
        raise InputError("Name at least one variable to ask about.")
    events: dict[str, Any] = {}
    for name, value in event.items():
        if name not in net.schema:
            raise unknown_name("Variable", name, net.names, "in the model")
        variable = net.variable(name)
        if isinstance(value, Between) and not variable.is_discrete:
            events[name] = value
            continue
        if not variable.is_discrete:
            events[name] = [value]  # refused with the others
            continue
        code = likelihood(variable, value)
        weights = np.eye(variable.arity)[code] if isinstance(code, int) else code
        if not np.isin(weights, (0.0, 1.0)).all():
            raise InputError(f"An event of {name!r} is a state or a set of states, got {value!r}.")
        events[name] = [s for s, w in zip(variable.states, weights, strict=True) if w]
    if interval is None:
        return probability_of(net, events, given, effort)
    point = probability_of(net, events, given)
    return event_interval(net, point, events, given, interval, draws, effort.draws_seed)


def probability_of(
    net: Network, events: Mapping[str, Any], given: Mapping[str, Any], effort: Effort = EXACT
) -> float:
    """P(events | evidence); an event is a list of states, or a range."""
    net, evidence = observed(net, given)
    net, evidence, by_state = asked_ranges(net, evidence, events)
    found: float = stated(_event(net, evidence, by_state, effort), evidence)
    return found


def _value(net: Network, question: Question, effort: Effort) -> Any:
    if question.argmax:
        if effort.method not in ("auto", "exact"):
            raise InputError(
                f"A question with argmax is answered exactly, not by method={effort.method!r}.",
                hint="Leave the method out, or ask for the distribution.",
            )
        _, evidence = observed(net, question.given)
        free = {n for n in net.names if n not in evidence.hard and n not in evidence.values}
        if any(v.is_discrete for v in net.variables):
            free = {n for n in free if net.variable(n).is_discrete}
        if set(question.targets) == free - set(question.do):
            found = mpe(net, question.given)
            return Explanation({n: found[n] for n in question.targets}, found.log_p)
        return marginal_map(net, question.targets, question.given)
    if not question.events:
        target = question.targets[0] if len(question.targets) == 1 else question.targets
        return posterior(net, target, question.given, effort)
    return probability_of(net, question.events, question.given, effort)


def _event(
    net: Network, evidence: Evidence, events: Mapping[str, Sequence[Any]], effort: Effort
) -> float:
    """P(each variable has one of its states | evidence)."""
    names = target_names(net, tuple(events), evidence)
    for name in names:
        if not net.variable(name).is_discrete:
            raise InputError(
                f"P({name}=…) is for discrete variables; ask for P({name}) or for a range of it.",
                hint=f"Its .pdf(x) is the density at a number; P(1 < {name} < 2) is a range.",
            )
    check_joint(net, names)
    at = [[net.variable(n).code(s) for s in events[n]] for n in names]
    evidence = that_matters(net, names, evidence)
    effort = chosen(net, evidence, names, effort, joint=len(names) > 1)
    if effort.method != "exact":
        event = np.zeros([net.variable(n).arity for n in names], dtype=bool)
        event[np.ix_(*at)] = True
        p, approximation = approximate(net, evidence, [Asked(names, event)], effort)[0]
        return Estimate(float(p[1]), one_cell(approximation, 1))
    if len(names) == 1:
        outcome = engine_of(net).ask(evidence, names)
        refuse_impossible(net, evidence, float(outcome.log_evidence[0]))
        return float(outcome.marginals[0][0][at[0]].sum())
    table, log_e = joint_with_evidence(net, names, evidence)
    refuse_impossible(net, evidence, log_e)
    return float(table[np.ix_(*at)].sum())
