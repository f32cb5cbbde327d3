"""Sensitivity: how far must one parameter move to change an answer?

Let θ = P(x | u) move, the other states of the row keeping their proportions. Then P(e) and P(q, e)
are linear in θ, and with t its value now,

    P(q | e)(θ) = ( P(q|e) + B (θ − t) ) / ( 1 + D (θ − t) )
    D = P(x,u | e) / t − (P(u | e) − P(x,u | e)) / (1 − t)        B: the same given q, times P(q|e)

(Laskey 1995; Castillo, Gutiérrez & Hadi 1997; Chan & Darwiche 2002.) Two runs of the plan, forward
and backward, give the family posteriors and with them every parameter's curve. An entry that is 0
or 1 is taken as logic and stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.findings import Section, pick
from credo.core.errors import InputError
from credo.core.render import bar, number
from credo.model.methods.pictures import picture
from credo.model.networks.cpt import Cpt
from credo.model.values.reals import shown
from credo.model.values.value import View, finite
from credo.predict.exact.engine import engine_of
from credo.predict.mixed.densities import density_tables
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.impossible import refuse_impossible
from credo.predict.questions.question import Question, parse

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Sensitivity", "Tipping", "sensitivity"]

Floats = NDArray[np.float64]

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Tipping:
    """What one parameter does to an answer.

    `derivative` is that of the answer by the parameter; `low` and `high` are the answer at the ends
    of the range the parameter is given (its 95 % interval, or half and double its odds); `needed`
    is the value at which the answer reaches the threshold, None if no value does.
    """

    parameter: str
    variable: str
    value: float
    derivative: float
    bottom: float
    top: float
    low: float
    high: float
    needed: float | None
    slope: float  # B and D of the curve
    weight: float

    def at(self, theta: float, answer: float) -> float:
        """The answer if the parameter were θ."""
        return (answer + self.slope * (theta - self.value)) / (
            1 + self.weight * (theta - self.value)
        )

    @property
    def swing(self) -> float:
        """How far the answer moves over the range of the parameter."""
        return abs(self.high - self.low)

    @property
    def odds(self) -> float | None:
        """The factor by which the parameter's odds must change to reach the threshold."""
        if self.needed is None or not 0 < self.needed < 1:
            return None
        return float(self.needed / (1 - self.needed) / (self.value / (1 - self.value)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sensitivity(Section):
    """How an answer hangs on each parameter; those that move it most come first.

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> found = net.sensitivity("P(rain=true | wet=true)")
    >>> found.parameters[0].parameter
    'P(rain=True)'
    >>> round(found["P(rain=True)"].needed, 6)  # so rare that P falls to a half
    0.111111
    """

    question: str
    answer: float
    threshold: float
    parameters: tuple[Tipping, ...]
    fixed: int
    range: str

    def __getitem__(self, name: str) -> Tipping:
        where = "one that the answer depends on"
        return pick(self.parameters, "parameter", name, "Parameter", where)

    @property
    def tipping(self) -> tuple[Tipping, ...]:
        """The parameters that can bring the answer to the threshold, nearest first (in odds)."""
        can = [p for p in self.parameters if p.odds is not None]
        return tuple(sorted(can, key=lambda p: abs(np.log(p.odds or 1.0))))

    def plot(self, ax: Any = None, most: int = 15) -> Any:
        """A tornado: the answer over the range of each parameter; see `credo.plot.tornado`."""
        return picture("tornado")(self, ax, most)

    def _view(self) -> View:
        widest = max((p.swing for p in self.parameters), default=0.0) or 1.0
        rows = [
            [p.parameter, number(p.value, 4), f"{p.derivative:+.4g}",
             f"{number(p.low, 4)} to {number(p.high, 4)}",
             "never" if p.needed is None else number(p.needed, 4), bar(p.swing / widest, 10)]
            for p in self.parameters[:_SHOWN]
        ]  # fmt: skip
        head = ["parameter", "now", "derivative", "answer over its range",
                f"for {number(self.threshold, 4)}", ""]  # fmt: skip
        near = self.tipping
        said = "1 parameter matters" if len(self.parameters) == 1 else (
            f"{len(self.parameters):,} parameters matter")  # fmt: skip
        if near:
            t = near[0]
            assert t.needed is not None
            said += (
                f"; the nearest to tip it over {number(self.threshold, 4)} is {t.parameter}, which "
                f"must go from {number(t.value, 4)} to {number(t.needed, 4)}"
            )
        else:
            said += f"; none alone can bring it to {number(self.threshold, 4)}"
        said += f"; {self.range}"
        if self.fixed:
            entries = "1 entry of 0 or 1 was" if self.fixed == 1 else (
                f"{self.fixed:,} entries of 0 or 1 were")  # fmt: skip
            said += f"; {entries} kept"
        title = f"{self.question} = {number(self.answer)}"
        return View(title, head, rows, (1, 2, 3, 4), said)


def sensitivity(
    net: Network,
    question: str,
    *,
    threshold: float | None = None,
    level: float = 0.95,
) -> Sensitivity:
    """How an answer hangs on each parameter, and how far each must move to change it.

    `question` asks for the probability of an event, as `"P(lung=yes | smoke=yes)"`. `threshold` is
    the probability that would change what is done; a half if it is not given (or, for an answer of
    a half, 0.6). The answer is told over the `level` interval of each parameter where the network
    has a posterior, else from half to double its odds.

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> print(cr.sensitivity(net, "P(rain=true | wet=true)"))
    P(rain=true | wet=true) = 0.666667
    parameter                 now  derivative  answer over its range  for 0.5
    P(rain=True)              0.2      +1.389             0.5 to 0.8   0.1111  ██████████
    P(wet=True | rain=False)  0.1      -2.222       0.7917 to 0.5238      0.2  ████████▉
    P(wet=True | rain=True)   0.8     +0.2778        0.625 to 0.6897      0.4  ██▏
    3 parameters matter; ...
    """
    if not isinstance(question, str):
        raise InputError(f"The question must be a text, got {shown(question)}.")
    asked = parse(net, question)
    changed = net.do(asked.do) if asked.do else net
    events = _events(changed, asked)
    evidence = Evidence.of(changed, asked.given)
    for name in events:
        if name in evidence.hard or name in evidence.values:
            raise InputError(f"{name!r} is asked about and observed at once.")
    before, log_e = _families(changed, evidence)
    refuse_impossible(changed, evidence, log_e)
    after, log_q = _families(changed, _with(changed, evidence, events))
    answer = float(np.exp(min(log_q - log_e, 0.0))) if log_q > -np.inf else 0.0
    if threshold is None:
        threshold = 0.5 if abs(answer - 0.5) > 1e-12 else 0.6
    goal = finite(threshold, "threshold")
    if not 0 <= goal <= 1:
        raise InputError(f"threshold must lie between 0 and 1, got {shown(threshold)}.")
    out: list[Tipping] = []
    fixed = 0
    posterior = False
    for name in changed.names:
        local = changed.distributions[name]
        if not isinstance(local, Cpt) or name not in before or name in asked.do:
            continue
        mine, zeros = _table(local, before[name], after.get(name), answer, goal, level)
        out += mine
        fixed += zeros
        posterior |= local.counts is not None
    out.sort(key=lambda p: (-p.swing, -abs(p.derivative)))
    said = f"over the {level:.0%} interval of each" if posterior else "over half to double its odds"
    return Sensitivity(question.strip(), answer, goal, tuple(out), fixed, said)


def _events(net: Network, asked: Question) -> dict[str, Floats]:
    """A likelihood of 0 and 1 for each variable asked about."""
    if asked.argmax or set(asked.events) != set(asked.targets):
        raise InputError(
            "Sensitivity is of the probability of an event.",
            hint="Ask for P(lung=yes | …), with a state for each variable.",
        )
    out = {}
    for name, states in asked.events.items():
        variable = net.variable(name)
        if not variable.is_discrete:
            raise InputError(f"P({name}=…) is for discrete variables.")
        likelihood = np.zeros(variable.arity)
        likelihood[[variable.code(s) for s in states]] = 1.0
        out[name] = likelihood
    return out


def _with(net: Network, evidence: Evidence, events: Mapping[str, Floats]) -> Evidence:
    """The evidence and the event together."""
    hard, soft = dict(evidence.hard), dict(evidence.soft)
    for name, likelihood in events.items():
        likelihood = likelihood * soft.pop(name, 1.0)
        on = np.flatnonzero(likelihood)
        if len(on) == 1 and likelihood[on[0]] == 1.0:
            hard[name] = int(on[0])
        else:
            soft[name] = likelihood
    return Evidence(hard, soft, dict(evidence.values))


def _families(net: Network, evidence: Evidence) -> tuple[dict[str, Floats], float]:
    """P(child, parents | evidence) of every table that matters, and ln P(evidence)."""
    engine = engine_of(net).given(evidence.values, evidence.hard)
    observed = [engine.at[n] for n in (*evidence.hard, *evidence.values)]
    codes = [*evidence.hard.values(), *([0] * len(evidence.values))]
    soft = [engine.at[n] for n in evidence.soft]
    plan = engine.plan(observed, [], soft=soft, families=True)
    tables, scale = density_tables(engine, evidence)
    row = np.array([codes], dtype=np.int32).reshape(1, len(codes))
    likelihoods = [np.ascontiguousarray(v[None, :]) for v in evidence.soft.values()]
    log_e, _, flat = plan.run(tables, row, likelihoods, 1)
    log = float(log_e[0])
    if log == -np.inf:
        return {}, log
    ends = list(plan.family_offsets)
    out = {}
    for i, name in enumerate(net.names):
        local = net.distributions[name]
        if isinstance(local, Cpt):
            out[name] = np.asarray(flat[0, ends[i] : ends[i + 1]]).reshape(local.shape)
    return out, log + scale


def _table(
    local: Cpt, before: Floats, after: Floats | None, answer: float, goal: float, level: float
) -> tuple[list[Tipping], int]:
    """The curve of every entry of a table."""
    t = local.values
    inside = (t > 0) & (t < 1)
    safe = np.where(inside, t, 0.5)

    def weight(joint: Floats) -> Floats:
        rest = np.maximum(joint.sum(axis=-1, keepdims=True) - joint, 0.0)
        out: Floats = joint / safe - rest / (1 - safe)
        return out

    d = weight(before)
    b = np.zeros_like(d) if after is None else answer * weight(after)
    derivative = b - answer * d
    seen = np.maximum(np.abs(d), np.abs(b))
    matters = inside & (np.abs(derivative) > 1e-12 * np.maximum(seen, 1.0))
    fixed = int((~inside & (before.sum(axis=-1, keepdims=True) > 0)).sum())
    if local.child.arity == 2:  # the other state is the same parameter
        matters[..., 0] = False
        fixed //= 2
    if local.counts is not None:
        ends = local.ends(level)
        bottom, top = np.asarray(ends.lower), np.asarray(ends.upper)
    else:
        odds = safe / (1 - safe)
        bottom, top = (odds / 2) / (1 + odds / 2), (2 * odds) / (1 + 2 * odds)
    out = []
    for at in map(tuple, np.argwhere(matters).tolist()):
        theta, slope, w = float(t[at]), float(b[at]), float(d[at])
        needed = _needed(answer, slope, w, theta, goal)
        given = ", ".join(
            f"{p.name}={p.states[i]}" for p, i in zip(local.parents, at[:-1], strict=True)
        )
        name = f"P({local.name}={local.child.states[at[-1]]}{' | ' if given else ''}{given})"
        ends_of = [
            min(max((answer + slope * (e - theta)) / (1 + w * (e - theta)), 0.0), 1.0)
            for e in (float(bottom[at]), float(top[at]))
        ]
        out.append(
            Tipping(
                name, local.name, theta, float(derivative[at]), float(bottom[at]), float(top[at]),
                ends_of[0], ends_of[1], needed, slope, w,
            )
        )  # fmt: skip
    return out, fixed


def _needed(answer: float, b: float, d: float, t: float, goal: float) -> float | None:
    """θ at which (answer + b(θ − t)) / (1 + d(θ − t)) is the goal, if it lies in [0, 1]."""
    below = goal * d - b
    if abs(below) <= 1e-300:
        return None
    theta = t + (answer - goal) / below
    if not -1e-12 <= theta <= 1 + 1e-12 or 1 + d * (theta - t) <= 1e-300:
        return None
    return min(max(theta, 0.0), 1.0)
