"""What it is worth to know: information before a decision, a test, the next question to ask.

    VOI(X) = EU(X seen before the decision) − EU           never below 0
    a test T of X:  VOI(T) − its cost
    questions at a price:  W(S) = max( EU(S), max_X E_x[ W(S ∪ x) ] − c_X )

where S is what has been answered: the best plan of questions, each chosen by the answers so far, is
exact by dynamic programming over sets of questions. Where there are too many, the one with the most
net value is asked; knowing everything bounds what any plan can gain. (Howard 1966; Raiffa 1968.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, UnknownNameError, unknown_name
from credo.core.frozen import Frozen
from credo.core.render import Told, bar, number
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.values.value import Value, View, at_least, text
from credo.predict.decisions.problem import Problem
from credo.predict.decisions.solving import best_rules, optimum

__all__ = [
    "Information",
    "InformationValue",
    "NextQuestion",
    "questioned",
    "value_of_test",
    "valued",
]

Floats = NDArray[np.float64]

_CELLS = 2_000_000  # of all sets of questions together
_MOST = 10  # questions of an exact plan
_SHOWN = 12


@dataclass(frozen=True, slots=True, eq=False)
class Information(Told, Frozen):
    """What knowing some variables is worth, and what it costs."""

    variables: tuple[str, ...]
    value: float
    cost: float = 0.0

    @property
    def net(self) -> float:
        """The value less the cost."""
        return self.value - self.cost

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InformationValue(Value):
    """What it is worth to know each variable before a decision, the most first.

    `together` is the value of knowing all of them: no plan of questions gains more.

    >>> import credo as cr
    >>> d = cr.DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
    ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
    >>> print(d.value_of_information())
    before Take (expected utility 70)
    knowing  is worth
    Rain           21  ██████████
    """

    decision: str
    utility: float
    items: tuple[Information, ...]
    together: float

    def __getitem__(self, variables: str | Sequence[str]) -> Information:
        wanted = (variables,) if isinstance(variables, str) else tuple(variables)
        for item in self.items:
            if set(item.variables) == set(wanted):
                return item
        known = [", ".join(i.variables) for i in self.items]
        raise unknown_name("What is known,", ", ".join(wanted), known, "one of those valued")

    @property
    def best(self) -> Information | None:
        """What is worth most less its cost; None where nothing is worth its price."""
        return next((i for i in self.items if i.net > 0), None)

    def _view(self) -> View:
        paid = any(i.cost for i in self.items)
        top = max((i.value for i in self.items), default=0.0) or 1.0
        head = ["knowing", "is worth", *(["costs", "net"] if paid else []), ""]
        rows = [
            [", ".join(i.variables), number(i.value),
             *([number(i.cost), number(i.net)] if paid else []), bar(i.value / top, 10)]
            for i in self.items[:_SHOWN]
        ]  # fmt: skip
        note = f"all together {number(self.together)}" if len(self.items) > 1 else ""
        rest = len(self.items) - _SHOWN
        note += f"; {rest} more, worth no more" if rest > 0 else ""
        title = f"before {self.decision} (expected utility {number(self.utility)})"
        return View(title, head, rows, range(1, len(head) - 1), note)


def valued(
    base: Problem,
    prices: Mapping[str, float],
    variables: str | Sequence[str] | None = None,
    before: str | None = None,
) -> InformationValue:
    """The value of each variable that could be known, or of some together, before a decision.

    In the problem observing costs nothing.
    """
    decision = _decision(base, before)
    can = _knowable(base, decision)
    if variables is None:
        sets: list[tuple[str, ...]] = [(n,) for n in can]
    else:
        wanted = (variables,) if isinstance(variables, str) else tuple(variables)
        for name in wanted:
            _refuse_unknowable(base, decision, name, can)
        sets = [wanted]
    if not sets:
        raise InputError(f"There is nothing left that could be known before {decision!r}.")
    now = _Base.of(base)
    items = [
        Information(s, now.gain(decision, s), sum(prices.get(n, 0.0) for n in s)) for s in sets
    ]
    items.sort(key=lambda i: (-i.net, i.variables))
    together = items[0].value if len(sets) == 1 else now.gain(decision, can)
    return InformationValue(decision, now.utility, tuple(items), together)


def value_of_test(
    net: DecisionNetwork,
    of: str,
    table: Any,
    *,
    cost: float = 0.0,
    given: Mapping[str, Any] | None = None,
    before: str | None = None,
    name: str = "test",
) -> Information:
    """The value of a test of a variable that is not in the network: P(result | state)."""
    if of not in net.chance.names or of in net.information:
        raise unknown_name("Variable", of, [n for n in net.names if n not in net.decisions],
                           "a chance variable")  # fmt: skip
    if text(name, "The name of a test") in net.dag:
        raise InputError(f"There is a node {name!r} already.", hint="Give the test another name=.")
    chance, at = net.chance, at_least(cost, 0.0, "The cost of a test")
    dag = Dag([*chance.dag.edges, (of, name)], nodes=[*chance.names, name])
    tested = Network(dag, {**chance.distributions, name: table}, record=chance.record)
    found = net.but(chance=tested).value_of_information(name, given, before=before)
    return Information((name,), found.items[0].value, at)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NextQuestion(Value):
    """The question to ask next, or that none is worth its price.

    `variable` is the question (None: decide now), `value` what the whole plan gains less what it is
    expected to cost, `bound` what no plan can gain more than. `exact` says whether the plan is the
    best of all; else each question was judged as if it were the last.

    >>> import credo as cr
    >>> d = cr.DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
    ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
    >>> d.next_question(costs={"Rain": 1}).variable, d.next_question(costs={"Rain": 30}).variable
    ('Rain', None)
    """

    variable: str | None
    value: float
    bound: float
    exact: bool
    items: tuple[Information, ...]

    def _view(self) -> View:
        rows = [
            [i.variables[0], number(i.value), number(i.cost), number(i.net)]
            for i in self.items[:_SHOWN]
        ]
        head = ["question", "alone is worth", "costs", "net"]
        how = "the best plan" if self.exact else "one question at a time"
        if self.variable is None:
            said = f"decide now: no question is worth its price ({how})"
        else:
            said = f"ask {self.variable}: {how} gains {number(self.value)} less its costs"
        return View(said, head, rows, (1, 2, 3), f"no plan can gain more than {number(self.bound)}")


def questioned(
    base: Problem,
    prices: Mapping[str, float],
    among: Sequence[str] | None = None,
    before: str | None = None,
    exact: bool | None = None,
) -> NextQuestion:
    """Which question to ask next, by the best plan where there are few, else by the next gain."""
    net, decision = base.net, _decision(base, before)
    can = _knowable(base, decision)
    names = tuple(can if among is None else among)
    for name in names:
        _refuse_unknowable(base, decision, name, can)
    now = _Base.of(base)
    items = [Information((n,), now.gain(decision, (n,)), prices.get(n, 0.0)) for n in names]
    items.sort(key=lambda i: (-i.net, i.variables))
    least = min((i.cost for i in items), default=0.0)
    bound = max(now.gain(decision, names) - least, 0.0) if names else 0.0
    sizes = [net.variable(n).arity + 1 for n in names]
    small = len(names) <= _MOST and prod(sizes) <= _CELLS
    small &= net.memory == "full" and decision == base.free[0]
    if exact and not small:
        raise InputError(
            f"The best plan of {len(names)} questions is too much to work out.",
            hint=f"Name at most {_MOST} with among=, before the first decision, with full memory; "
            "or leave exact out.",
        )
    if small and exact is not False:
        first, value = _plan(base, decision, names, prices)
        return NextQuestion(first, value, bound, True, tuple(items))
    top = items[0] if items and items[0].net > 0 else None
    first, value = (top.variables[0], top.net) if top else (None, 0.0)
    return NextQuestion(first, value, bound, False, tuple(items))


def _plan(
    base: Problem, decision: str, names: tuple[str, ...], prices: Mapping[str, float]
) -> tuple[str | None, float]:
    """W for every set of answered questions, larger sets first; the first question and its gain."""
    worth: dict[tuple[str, ...], Floats] = {}
    chance: dict[tuple[str, ...], Floats] = {}
    first: str | None = None
    start = 0.0
    for done in _subsets(names):
        seeing = base.seeing(decision, done)
        found = optimum(seeing, seeing.valuations(), keep=done)
        chance[done], best, asked = found.p[0], found.u[0], None
        start = float(best) if not done else start
        for name in names:
            if name in done:
                continue
            more = tuple(n for n in names if n in done or n == name)
            asking = worth[more].sum(axis=more.index(name)) - prices.get(name, 0.0) * chance[done]
            better = asking > best + 1e-12 * np.abs(best)
            asked = name if not done and better else asked
            best = np.where(better, asking, best)
        worth[done] = best
        first = asked
    total = float(chance[()])
    return first, (float(worth[()]) - start) / total


def _subsets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for k in range(len(names), -1, -1):
        yield from combinations(names, k)


@dataclass(frozen=True)
class _Base:
    """The problem as it is now, and the best that can be done in it."""

    problem: Problem
    utility: float
    rules: Mapping[str, Floats]

    @classmethod
    def of(cls, problem: Problem) -> _Base:
        rules = {}
        if problem.net.memory == "limited":
            rules = {n: t for n, (_, t) in best_rules(problem).items()}
        start = {n: t[None] for n, t in rules.items()}
        found = optimum(problem, problem.valuations(), start or None)
        return cls(problem, float(found.utility[0]), rules)

    def gain(self, decision: str, names: Sequence[str]) -> float:
        """How much more can be had if some variables are known before a decision."""
        new = self.problem.seeing(decision, names)
        start = {}
        for name, table in self.rules.items():  # the old policies do not look at what is new
            old, seen = self.problem.seen(name), new.seen(name)
            shape = [new.net.variable(n).arity if n in old else 1 for n in seen]
            wide = [new.net.variable(n).arity for n in seen]
            turned = table.transpose([*(old.index(n) for n in seen if n in old), len(old)])
            k = table.shape[-1]
            start[name] = np.broadcast_to(turned.reshape(*shape, k), (*wide, k))[None]
        found = optimum(new, new.valuations(), start or None)
        more = float(found.utility[0]) - self.utility
        return more if more > 10 * new.noise else 0.0


def _decision(problem: Problem, before: str | None) -> str:
    """The decision that something could be known before: the next, or the one that is named."""
    if before is not None and before not in problem.net.decisions:
        raise unknown_name("Decision", before, problem.net.decisions, "in the network")
    if not problem.free or (before is not None and before not in problem.free):
        raise InputError("The decision is taken: nothing can be known before it any more.")
    return before or problem.free[0]


def _knowable(problem: Problem, decision: str) -> tuple[str, ...]:
    """The discrete variables that could be known before a decision and are not."""
    net = problem.net
    after = {*net.sees(decision), *problem.evidence.hard}
    for other in net.decisions[net.decisions.index(decision) :]:
        after |= {other, *problem.after(other)}
    return tuple(
        n for n in net.chance.names
        if n not in after and n not in net.decisions and net.variable(n).is_discrete
    )  # fmt: skip


def _refuse_unknowable(problem: Problem, decision: str, name: str, can: Sequence[str]) -> None:
    if name in can:
        return
    if name in problem.net.chance.names:
        why = "is not a discrete chance variable"
        if name in {*problem.net.dag.descendants(decision), *problem.after(decision)}:
            why = f"comes after the decision {decision!r}"
        elif name in (*problem.net.sees(decision), *problem.evidence.names):
            why = "is known already"
        raise InputError(f"{name!r} {why}: it has no value of information there.")
    error: UnknownNameError = unknown_name("Variable", name, can, "one that could be known")
    raise error
