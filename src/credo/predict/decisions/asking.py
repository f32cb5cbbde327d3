"""Questions about decisions in text.

EU                               the largest expected utility
EU(Drill=yes | Test=open)        of a choice, given what is known
EU(Drill | Test=open)            of every choice, ranked
argmax EU(Drill | Test=open)     the best choice
P(Oil | Test=open)               a probability, under the best strategy
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.core.render import number
from credo.model.answers.credible import Credible
from credo.model.answers.interval import probability
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.decisions.policy import Policy
from credo.model.values.randomness import Rng
from credo.predict.decisions.problem import Problem, problem_of
from credo.predict.decisions.solution import Ranking
from credo.predict.decisions.solving import best_rules, rules_of
from credo.predict.decisions.strategies import under
from credo.predict.intervals.uncertain import Probability
from credo.predict.questions.question import parse, parse_conditions
from credo.predict.questions.request import draws_of, enough

__all__ = ["ExpectedUtility", "answered", "expected_of", "probability_of"]

_EU = re.compile(r"\s*(?P<argmax>argmax\s+|best\s+)?EU\s*(?P<rest>\(.*)?$", re.DOTALL)


class ExpectedUtility(Probability):
    """An expected utility that is a float and carries its credible interval."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return ExpectedUtility, (float(self), self.interval, self.notes)

    def __str__(self) -> str:
        return "\n".join([f"{number(float(self))}, {self.interval}", *self.notes])

    def __repr__(self) -> str:
        return f"ExpectedUtility({number(float(self))}, {self.interval})"


def expected_of(
    problem: Problem, *, interval: float | None = None, draws: int | None = None, rng: Rng = 0
) -> float:
    """The largest expected utility of a problem."""
    ready = problem.ready
    found = ready.tree.run(ready.tables, order=ready.order).outcome
    point = float(found.u[0]) / float(found.p[0])
    n = draws_of(draws, interval)
    if interval is None:
        return point
    pairs = rules_of(problem, best_rules(problem))
    n = enough(n, probability(interval))
    parts = [problem.expected([*drawn, *pairs]) for drawn in problem.drawn(n, rng)]
    samples = np.concatenate([f.utility[f.p > 0] for f in parts])
    answer = ExpectedUtility(point, Credible.of(samples, interval))
    answer.notes = problem.notes(answer.interval)
    return answer


def answered(
    net: DecisionNetwork,
    text: str,
    utility: Callable[[dict[str, Any]], float],
    ranked: Callable[[str, dict[str, Any]], Ranking],
) -> Any:
    """The answer to a question about EU, by what gives utilities and rankings; else None."""
    if not isinstance(text, str) or not text.strip():
        raise InputError("A question is a text such as 'EU(Drill=yes | Test=open)'.")
    found = _EU.match(text)
    if found is None:
        return None
    rest = (found["rest"] or "").strip()
    inner = rest[1:-1].strip() if rest.endswith(")") else ""
    if not rest or inner.startswith("|") or rest == "()":
        given, do = parse_conditions(net.chance, inner[1:]) if inner else ({}, {})
        return utility({**given, **do})
    asked = parse(net.chance, " P" + text[found.start("rest") :])
    given = {**asked.given, **asked.do}
    for name in asked.targets:
        if name not in net.decisions:
            raise InputError(
                f"EU is asked of decisions, and {name!r} is a chance variable.",
                hint=f"Put it after the bar: EU({net.decisions[0]} | {name}=…).",
            )
    if asked.events:
        if found["argmax"]:
            raise InputError("argmax EU asks for a choice; leave out the one after '='.")
        for name, states in asked.events.items():
            if len(states) > 1:
                raise InputError(f"EU is asked of one choice of {name!r}, or of all: EU({name}).")
            given[name] = states[0]
        return utility(given)
    if len(asked.targets) > 1:
        raise InputError(
            "EU ranks the choices of one decision at a time.",
            hint=f"Give the others a choice: EU({asked.targets[0]} | {asked.targets[1]}=…).",
        )
    ranking = ranked(asked.targets[0], given)
    return ranking.choice if found["argmax"] else ranking


def probability_of(net: DecisionNetwork, text: str, options: dict[str, Any]) -> Any:
    """A question of probability, the decisions that are given set, the others at their best."""
    asked = parse(net.chance, text)
    known = {**asked.given, **asked.do}
    taken = {n: v for n, v in known.items() if n in net.decisions}
    problem = problem_of(net, taken)
    rules = {
        n: Policy(net.variable(n), tuple(map(net.variable, seen)), table)
        for n, (seen, table) in best_rules(problem).items()
    }
    return under(net, {**taken, **rules}).ask(text, **options)
