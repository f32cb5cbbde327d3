"""Sensitivity of a decision: how far may a probability or a utility move before it changes?

Let θ = P(x | u) move, the other states of the row keeping their proportions, or one number of a
utility. The expected utility of every strategy is linear in it, so that what the best one gains,

    gap(θ) = max_δ EU(δ; θ) − EU(δ*; θ)  ≥ 0,

is convex and 0 where the strategy of now, δ*, is still the best: an interval around the value of
now, whose ends are found by halving. Many values go through the elimination at once.
(van der Gaag & Coupé 2000; Nielsen & Jensen 2003.) An entry that is 0 or 1 stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.findings import Section, pick
from credo.core.frozen import Frozen
from credo.core.render import Told, bar, number
from credo.core.schema import Variable
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.methods.pictures import picture
from credo.model.networks.cpt import Cpt, entry_intervals
from credo.model.values.value import View
from credo.predict.decisions.problem import Problem, problem_of
from credo.predict.decisions.solving import best_rules, optimum, rules_of
from credo.predict.decisions.valuations import Valuation

__all__ = ["DecisionSensitivity", "DecisionTipping", "decision_sensitivity"]

Floats = NDArray[np.float64]
Tips = tuple[float | None, float | None, str]

_SHOWN = 12
_HALVINGS = 45
_FAR = 10.0  # a utility is moved by this many times the range of all of them, at most


@dataclass(frozen=True, slots=True, eq=False)
class DecisionTipping(Told, Frozen):
    """What one parameter does to a decision.

    `low` and `high` are the expected utility of the best strategy at `bottom` and `top`, the ends
    of its range; `below` and `above` are the nearest values at which another strategy is better,
    None where there is none; `change` says what is then done at the nearer one.
    """

    parameter: str
    value: float
    bottom: float
    top: float
    low: float
    high: float
    below: float | None
    above: float | None
    change: str = ""

    @property
    def needed(self) -> float | None:
        """The nearest value at which the decision changes."""
        ends = [e for e in (self.below, self.above) if e is not None]
        return min(ends, key=lambda e: abs(e - self.value)) if ends else None

    @property
    def derivative(self) -> float:
        """How much the expected utility moves over the range, for each unit of the parameter."""
        return (self.high - self.low) / (self.top - self.bottom) if self.top > self.bottom else 0.0

    @property
    def swing(self) -> float:
        """How far the expected utility moves over the range of the parameter."""
        return abs(self.high - self.low)

    @property
    def in_range(self) -> bool:
        """Whether the decision changes within the range of the parameter."""
        return any(e is not None and self.bottom <= e <= self.top for e in (self.below, self.above))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DecisionSensitivity(Section):
    """How a decision hangs on each probability and utility; those that move it most come first.

    >>> import credo as cr
    >>> d = cr.DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
    ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
    >>> found = d.sensitivity()
    >>> round(found["P(Rain=True)"].above, 6), found["P(Rain=True)"].change
    (0.533333, 'Take: yes')
    """

    question: str
    answer: float
    parameters: tuple[DecisionTipping, ...]
    fixed: int
    range: str
    threshold: None = None

    def __getitem__(self, name: str) -> DecisionTipping:
        return pick(self.parameters, "parameter", name, "Parameter", "one that the decision has")

    @property
    def tipping(self) -> tuple[DecisionTipping, ...]:
        """The parameters that can change the decision; those whose range reaches it first."""
        can = [p for p in self.parameters if p.needed is not None]
        return tuple(sorted(can, key=lambda p: (not p.in_range, -p.swing)))

    def plot(self, ax: Any = None, most: int = 15) -> Any:
        """A tornado: the expected utility over the range of each parameter."""
        return picture("tornado")(self, ax, most)

    def _view(self) -> View:
        widest = max((p.swing for p in self.parameters), default=0.0) or 1.0
        rows = [
            [p.parameter, number(p.value, 4), f"{number(p.low, 4)} to {number(p.high, 4)}",
             "never" if p.needed is None else f"{number(p.needed, 4)} → {p.change}",
             bar(p.swing / widest, 10)]
            for p in self.parameters[:_SHOWN]
        ]  # fmt: skip
        head = ["parameter", "now", "utility over its range", "changes at", ""]
        near = [p for p in self.tipping if p.in_range]
        said = f"within its range the decision changes with {near[0].parameter}" if near else (
            "no parameter changes the decision within its range")  # fmt: skip
        said += f" and {len(near) - 1} more" if len(near) > 1 else ""
        more = len(self.parameters) - _SHOWN
        said += f"; {more} more parameters" if more > 0 else ""
        said += f"; {self.range}"
        said += f"; {self.fixed} entries of 0 or 1 were kept" if self.fixed else ""
        return View(f"{self.question} = {number(self.answer)}", head, rows, (1, 2), said)


def decision_sensitivity(
    net: DecisionNetwork, given: Mapping[str, Any] | None = None, *, level: float = 0.95
) -> DecisionSensitivity:
    """How the best strategy hangs on each probability and each number of the utilities."""
    problem = problem_of(net, given)
    search = _Search(problem)
    out: list[DecisionTipping] = []
    fixed, posterior = 0, False
    for name in net.chance.names:
        local = net.chance.distributions[name]
        if not isinstance(local, Cpt) or name in net.decisions or name not in problem.relevant:
            continue
        posterior |= local.counts is not None
        kept, found = _table(search, local, level)
        fixed += kept
        out += found
    if net.combine == "add":
        out += _utilities(search, net)
    seen = [p for p in out if p.swing > 1e-12 * max(abs(search.answer), 1e-300) or p.needed]
    seen.sort(key=lambda p: -p.swing)
    over = f"over the {level:.0%} interval of each probability" if posterior else (
        "over half to double the odds of each probability")  # fmt: skip
    over += ", and a tenth of the range of the utilities to either side of each of these"
    known = ", ".join(f"{n}={v}" for n, v in (given or {}).items())
    title = f"EU({'| ' if known else ''}{known})" if known else "EU"
    return DecisionSensitivity(title, search.answer, tuple(seen), fixed, over)


class _Search:
    """The problem, its best strategy of now, and what moving a table does to both."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.rules = best_rules(problem)
        self.fixed = rules_of(problem, self.rules)
        self.start = {n: t[None] for n, (_, t) in self.rules.items()}
        self.answer = float(self.best(problem.valuations())[0])

    def best(self, pairs: Sequence[Valuation]) -> Floats:
        """The expected utility of the best strategy for each draw of the pairs."""
        return optimum(self.problem, pairs, self.start).utility

    def gap(self, pairs: Sequence[Valuation]) -> NDArray[np.bool_]:
        """Whether another strategy is better than that of now."""
        own, top = self.problem.expected([*pairs, *self.fixed]), self.best(pairs)
        scale = np.maximum(np.maximum(np.abs(top), np.abs(own.utility)), 1e-300)
        better: NDArray[np.bool_] = top - own.utility > 1e-11 * scale
        return better

    def change(self, pairs: Sequence[Valuation]) -> str:
        """What is done differently where the pairs are those of one value."""
        new = best_rules(self.problem, pairs=pairs)
        for name, (seen, table) in new.items():
            old_seen, old = self.rules[name]
            if seen != old_seen:
                return f"{name} by {', '.join(seen) or 'nothing'}"
            others = rules_of(self.problem, {n: r for n, r in new.items() if n != name})
            met = self.problem.expected([*pairs, *others], (*seen, name)).p[0].max(axis=-1) > 0
            moved = np.argwhere((table.argmax(-1) != old.argmax(-1)) & met)
            if len(moved):
                at = tuple(moved[0].tolist())
                variable = self.problem.net.variable
                where = ", ".join(f"{n}={variable(n).states[i]}"
                                  for n, i in zip(seen, at, strict=True))  # fmt: skip
                done = variable(name).states[int(table[at].argmax())]
                more = f" and {len(moved) - 1} more" if len(moved) > 1 else ""
                return f"{name}: {done}" + (f" if {where}" if where else "") + more
        return ""


def _tips(
    search: _Search,
    values: Floats,
    ends: tuple[Floats, Floats],
    pairs: Callable[[Floats, Any], list[Valuation]],
) -> list[Tips]:
    """Where each of some values meets another strategy, towards either end, by halving."""
    sides = []
    for end in ends:
        every = np.arange(len(values))
        tips = np.broadcast_to(search.gap(pairs(end, every)), len(values))
        good, bad = values.copy(), end.copy()
        for _ in range(_HALVINGS if tips.any() else 0):
            middle = (good + bad) / 2
            over = search.gap(pairs(middle, every))
            good, bad = np.where(over, good, middle), np.where(over, middle, bad)
        sides.append([float(b) if t else None for b, t in zip(bad, tips, strict=True)])
    out = []
    for i, (below, above) in enumerate(zip(*sides, strict=True)):
        near = [e for e in (below, above) if e is not None]
        said = ""
        if near:
            tip = min(near, key=lambda e: abs(e - values[i]))
            away = 1e-6 * max(abs(tip - values[i]), 1e-6)
            beyond = np.array([tip + (away if tip > values[i] else -away)])
            said = search.change(pairs(beyond, np.array([i])))
        out.append((below, above, said))
    return out


def _table(search: _Search, local: Cpt, level: float) -> tuple[int, list[DecisionTipping]]:
    """Every entry of a table of probabilities."""
    inside = (local.values > 0) & (local.values < 1)
    fixed = int((~inside).sum())
    if local.child.arity == 2:  # the other state is the same parameter
        inside = inside.copy()
        inside[..., 0] = False
        fixed //= 2
    places = np.argwhere(inside)
    if not len(places):
        return fixed, []
    flat = local.values.reshape(-1, local.child.arity)
    index = np.ravel_multi_index(tuple(places[:, :-1].T), local.shape[:-1]) if len(
        local.parents) else np.zeros(len(places), dtype=np.intp)  # fmt: skip
    state = places[:, -1]
    now = flat[index, state]

    def pairs(theta: Floats, which: Any) -> list[Valuation]:
        tables = np.repeat(flat[None], len(theta), axis=0)
        rows = np.arange(len(theta))
        i, s, t = index[which], state[which], np.clip(theta, 0.0, 1.0)
        row = tables[rows, i] * ((1 - t) / (1 - now[which]))[:, None]
        row[rows, s] = t
        tables[rows, i] = row
        return search.problem.valuations({local.name: tables.reshape(len(theta), -1)})

    if local.counts is not None:
        span = entry_intervals(local.counts, level)
        bottom, top = (np.asarray(e)[inside] for e in (span.lower, span.upper))
    else:
        odds = now / (1 - now)
        bottom, top = (odds / 2) / (1 + odds / 2), (2 * odds) / (1 + 2 * odds)
    every = np.arange(len(now))
    low, high = (np.broadcast_to(search.best(pairs(e, every)), len(now)) for e in (bottom, top))
    tips = _tips(search, now, (np.zeros_like(now), np.ones_like(now)), pairs)
    out = []
    for k, at in enumerate(places.tolist()):
        given = _said(local.parents, at[:-1])
        name = f"P({local.name}={local.child.states[at[-1]]}{' | ' if given else ''}{given})"
        out.append(_tipping(name, now[k], bottom[k], top[k], low[k], high[k], tips[k]))
    return fixed, out


def _utilities(search: _Search, net: DecisionNetwork) -> list[DecisionTipping]:
    """Every number of the utilities."""
    problem = search.problem
    values = [u.values for u in net.utilities.values()]
    span = max(float(v.max()) for v in values) - min(float(v.min()) for v in values)
    span = span or max(abs(search.answer), 1.0)
    out: list[DecisionTipping] = []
    whole = problem.valuations()
    for k, u in enumerate(net.utilities.values()):
        now = u.values.ravel().copy()
        place = len(whole) - len(net.utilities) + k
        scope = [problem.engine.at[p.name] for p in u.parents]

        def pairs(
            theta: Floats, which: Any, now: Floats = now, place: int = place,
            scope: list[int] = scope,
        ) -> list[Valuation]:  # fmt: skip
            moved = np.repeat(now[None], len(theta), axis=0)
            moved[np.arange(len(theta)), which] = theta
            new = problem.pair(scope, moved, worth=True)
            return [*whole[:place], new, *whole[place + 1 :]]

        every = np.arange(len(now))
        bottom, top = now - span / 10, now + span / 10
        low, high = (np.broadcast_to(search.best(pairs(e, every)), len(now)) for e in (bottom, top))
        tips = _tips(search, now, (now - _FAR * span, now + _FAR * span), pairs)
        for i, at in enumerate(np.ndindex(u.values.shape)):
            name = f"{u.name}({_said(u.parents, at)})"
            out.append(_tipping(name, now[i], bottom[i], top[i], low[i], high[i], tips[i]))
    return out


def _tipping(
    name: str, now: Any, bottom: Any, top: Any, low: Any, high: Any, tips: Tips
) -> DecisionTipping:
    ends = float(bottom), float(top), float(low), float(high)
    return DecisionTipping(name, float(now), *ends, *tips)


def _said(parents: Sequence[Variable], at: Sequence[int]) -> str:
    return ", ".join(f"{p.name}={p.states[i]}" for p, i in zip(parents, at, strict=True))
