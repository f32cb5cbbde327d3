"""Answers: a request goes to the algorithm that answers it; a question in text is read first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.core.state_values import is_number
from credo.model.answers.between import Between
from credo.model.networks.softmax import Softmax
from credo.predict.approximate.forward_weighting import weighted_answer
from credo.predict.exact.account import account
from credo.predict.exact.engine import engine_of, no_table
from credo.predict.exact.explanation import Explanation, marginal_map, mpe
from credo.predict.exact.posterior import event_probability, marginals, posterior
from credo.predict.intervals.interval import event_interval, marginal_intervals, posterior_interval
from credo.predict.questions.evidence import Evidence, likelihood
from credo.predict.questions.in_numbers import in_numbers
from credo.predict.questions.intervention import intervene, reversible_note
from credo.predict.questions.notes import noted, warn_far
from credo.predict.questions.question import parse
from credo.predict.questions.request import Request, request, target_names
from credo.predict.questions.softmax import has_softmax, in_tables, part_asked

if TYPE_CHECKING:
    from credo.model.answers.approximation import Approximation
    from credo.model.networks.network import Network
    from credo.predict.exact.account import Account

__all__ = ["Answer", "answer", "answer_all", "ask", "event_states"]


@dataclass(frozen=True)
class Answer:
    """An answer with its account; the answer itself is `value`."""

    question: str
    value: Any
    account: Account | Approximation

    def __float__(self) -> float:
        return float(self.value)

    def __getitem__(self, key: Any) -> Any:
        return self.value[key]

    def __str__(self) -> str:
        exact = type(self.value) is float
        value = f"{self.value:.6g}" if exact else str(self.value)
        return f"{self.question}\n{value}\n\n{self._account}"

    @property
    def _account(self) -> str:
        """The account, less what the value says itself."""
        return getattr(self.account, "details", str(self.account))

    def _repr_html_(self) -> str:
        import html

        shown = getattr(self.value, "_repr_html_", None)
        body = shown() if shown else html.escape(str(self.value))
        return f"<p>{html.escape(self.question)}</p>{body}<pre>{html.escape(self._account)}</pre>"


def answer(net: Network, target: Any, given: Mapping[str, Any] | None, **options: Any) -> Any:
    """P(target | given); a mapping from variable to state, set of states or range is an event."""
    events = event_states(net, target) if isinstance(target, Mapping) else None
    names = target if events is None else tuple(events)
    part = in_tables(net, given, (names,) if isinstance(names, str) else names)
    if has_softmax(part):
        return _weighted(part, given, names, events, options)
    asked = request(part, given, **options)
    asked = asked.with_targets(target) if events is None else asked.with_event(events)
    return noted(asked, _answered(asked))


def answer_all(
    net: Network,
    given: Mapping[str, Any] | None,
    targets: Sequence[str] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The distribution of every variable that is not observed, or of the targets."""
    if has_softmax(net):
        free = [n for n in net.names if n not in (given or {})]
        return {n: answer(net, n, given, **options) for n in (targets or free)}
    asked = request(net, given, **options)
    if targets is not None:
        asked = asked.with_targets(targets)
    if asked.level is None:
        found = {n: in_numbers(asked, p) for n, p in marginals(asked).items()}
    else:
        found = marginal_intervals(asked)
    return noted(asked, found)  # type: ignore[no-any-return]


def ask(net: Network, text: str, *, explain: bool = False, **options: Any) -> Any:
    """A `Distribution`, a probability, or an explanation, as the question asks.

    `P(Y_{X=no}=yes | X=yes)` asks for what would have been (`predict/causal/counterfactual.py`).
    With `explain=True` the answer comes with an account of how it was found; with `interval=0.95`
    with its credible interval.
    """
    if isinstance(text, str) and "_{" in text and _directed(net):
        from credo.predict.causal.counterfactual import counterfactual, is_counterfactual

        if is_counterfactual(text):
            return counterfactual(net, text, explain=explain, **options)
    question = parse(net, text)
    if not net.is_discrete:
        warn_far(net, question.given)
    model, told = net, ""
    if question.do:
        if not _directed(net):
            net.do(question.do)  # refused: nothing points from a cause to its effect
        told = reversible_note(net, question.do, {*question.targets, *question.given})
        model = intervene(net, question.do)
    model = in_tables(model, question.given, [*question.targets, *question.events])
    if has_softmax(model):
        if question.argmax:
            raise no_table(next(d for d in model.distributions.values() if isinstance(d, Softmax)))
        names = tuple(question.events or question.targets)
        value = _weighted(model, question.given, names, question.events or None, options)
        return Answer(text, value, value.approximation) if explain else value
    asked = request(model, question.given, **options)
    if question.events:
        asked = asked.with_event(question.events)
    else:
        asked = asked.with_targets(question.targets)
    value = _explained(asked, set(question.do)) if question.argmax else _answered(asked)
    value = noted(asked, value, record=getattr(net, "record", None), told=(told,) if told else ())
    if not explain:
        return value
    approximation = getattr(getattr(value, "discrete", value), "approximation", None)
    return Answer(text, value, approximation or account(asked, question.argmax))


def _directed(net: Any) -> bool:
    """Whether a model is a Bayesian network."""
    return has_softmax(net) or engine_of(net).directed


def _weighted(net: Network, given: Any, names: Any, events: Any, options: Any) -> Any:
    """The answer through a softmax of numbers that are not known, by weighted samples."""
    plain = part_asked(net, [n for n in net.names if not net.dag.parents(n)][:1])
    asked = request(plain, {}, **options)
    targets = target_names(net, names, Evidence.of(net, _no_ranges(given)))
    answer = weighted_answer(net, given, targets, events, asked)
    return in_numbers(asked.but(net=net), answer) if events is None else answer


def _no_ranges(given: Any) -> dict[str, Any]:
    return {n: v for n, v in (given or {}).items() if not isinstance(v, Between)}


def _answered(asked: Request) -> Any:
    """The answer to a request about targets or an event."""
    if asked.event is None:
        return (
            in_numbers(asked, posterior(asked))
            if asked.level is None
            else posterior_interval(asked)
        )
    return event_probability(asked) if asked.level is None else event_interval(asked)


def _explained(asked: Request, do: set[str]) -> Explanation:
    """The most probable states of the targets; of all that is free, by one pass."""
    if asked.level is not None:
        raise InputError(
            "An interval goes with a probability; argmax gives states.",
            hint="Ask for P(…) of the states it gives.",
        )
    if asked.method not in ("auto", "exact"):
        raise InputError(
            f"A question with argmax is answered exactly, not by method={asked.method!r}.",
            hint="Leave the method out, or ask for the distribution.",
        )
    net, evidence = asked.net, asked.evidence
    free = {n for n in net.names if n not in evidence.hard and n not in evidence.values}
    if not asked.lines:
        free = {n for n in free if net.variable(n).is_discrete}
    if set(asked.targets) == free - do:
        found = mpe(asked)
        return Explanation({n: found[n] for n in asked.targets}, found.log_p)
    return marginal_map(asked)


def _is_numeric(value: Any) -> bool:
    return isinstance(value, Between) or is_number(value)


def event_states(net: Network, event: Mapping[str, Any]) -> dict[str, Sequence[Any] | Between]:
    """The states, or the range, that an event allows each variable."""
    if not event:
        raise InputError("Name at least one variable to ask about.")
    out: dict[str, Any] = {}
    for name, value in event.items():
        if name not in net.schema:
            raise unknown_name("Variable", name, net.names, "in the model")
        variable = net.variable(name)
        if not variable.is_discrete or (variable.scale and _is_numeric(value)):
            # a number is refused with the others
            out[name] = value if isinstance(value, Between) else [value]
            continue
        code = likelihood(variable, value)
        weights = np.eye(variable.arity)[code] if isinstance(code, int) else code
        if not np.isin(weights, (0.0, 1.0)).all():
            raise InputError(f"An event of {name!r} is a state or a set of states, got {value!r}.")
        out[name] = [s for s, w in zip(variable.states, weights, strict=True) if w]
    return out
