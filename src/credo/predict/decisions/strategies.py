"""Strategies that are given: what they do to the network, simulated, and compared.

EU(δ) = Σ_x P(x; δ) U(x)        one draw of the parameters after the other, for both alike
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.render import Told, number, short_probability
from credo.model.answers.credible import Credible
from credo.model.answers.interval import probability
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.decisions.policy import Policy
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.values.randomness import Rng, size
from credo.model.values.value import Value, View
from credo.predict.decisions.problem import Problem, problem_of
from credo.predict.decisions.solution import Solution
from credo.predict.questions.request import draws_of, enough
from credo.predict.sampling.sample import sample

if TYPE_CHECKING:
    from credo.data import Table

__all__ = [
    "Compared",
    "Simulation",
    "StrategyComparison",
    "compared",
    "policies",
    "simulate",
    "under",
]

Floats = NDArray[np.float64]


def policies(
    net: DecisionNetwork, strategy: Any, best: Callable[[], Solution] | None = None
) -> dict[str, Policy]:
    """A strategy as a policy for each decision; None is the best one."""
    if strategy is None:
        strategy = net.solve(interval=None) if best is None else best()
    given = strategy.policy if isinstance(strategy, Solution) else strategy
    if not isinstance(given, Mapping):
        raise InputError(
            f"A strategy is a mapping from decision to policy, got {given!r}.",
            hint=f"For example {{{net.decisions[0]!r}: …}}, or solve().policy.",
        )
    problem = problem_of(net)
    out = {name: problem.policy(name, given) for name in net.decisions}
    problem.given_rules(out)
    return out


def under(net: DecisionNetwork, strategy: Any = None) -> Network:
    """The Bayesian network in which the decisions follow a strategy."""
    rules = policies(net, strategy)
    tables = {**net.chance.distributions, **{n: p.as_cpt() for n, p in rules.items()}}
    edges = [*net.chance.dag.edges, *((v.name, n) for n, p in rules.items() for v in p.parents)]
    return Network(Dag(edges, nodes=net.names), tables)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Simulation(Value):
    """Rows drawn under a strategy and the utility of each; `mean` has its standard `error`.

    >>> import credo as cr
    >>> d = cr.DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
    ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
    >>> run = d.simulate(n=10_000, rng=0)
    >>> abs(run.mean - 70) < 3 * run.error
    True
    """

    rows: Table
    utilities: Floats

    @property
    def mean(self) -> float:
        """The mean utility."""
        return float(self.utilities.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return float(self.utilities.std() / np.sqrt(len(self.utilities)))

    def _view(self) -> View:
        ends = np.quantile(self.utilities, [0.05, 0.5, 0.95]).tolist()
        rows = [[number(self.mean), number(self.error, 3), *(number(e) for e in ends)]]
        head = ["mean utility", "error", "5 %", "median", "95 %"]
        return View(f"{len(self.utilities):,} rows drawn", head, rows, range(5))

    def __repr__(self) -> str:
        return f"Simulation({len(self.utilities):,} rows, mean {self.mean:.6g} ± {self.error:.2g})"


def simulate(
    net: DecisionNetwork, strategy: Any = None, *, n: int = 10_000, rng: Rng = 0
) -> Simulation:
    """Rows under a strategy with the utility of each."""
    if size(n, "n") < 1:
        raise InputError("At least one row must be drawn.")
    rows = sample(under(net, strategy), n, rng)
    parts = []
    for u in net.utilities.values():
        at = tuple(rows.codes(p.name) for p in u.parents)
        parts.append(np.broadcast_to(u.values[at], n))
    total = np.sum(parts, axis=0) if net.combine == "add" else np.prod(parts, axis=0)
    cost = sum(net.costs.get(x, 0.0) for x in {x for d in net.decisions for x in net.sees(d)})
    return Simulation(rows, total - cost)


@dataclass(frozen=True, slots=True, eq=False)
class Compared(Told, Frozen):
    """One of several strategies: its expected utility, and how probably it is the best of them."""

    name: str
    utility: float
    interval: Credible | None = None
    p_best: float | None = None
    difference: Credible | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StrategyComparison(Value):
    """Several strategies side by side, the best first.

    `ties` are the strategies that are as good as the best, where there are several. `difference` is
    the interval of how much each falls short of the first under the same draws of the parameters,
    and P(best) how probably no other of them is better: a tie counts for all.

    >>> import credo as cr
    >>> d = cr.DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
    ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
    >>> print(d.compare({"always": {"Take": "yes"}, "never": {"Take": "no"}}))
    strategy  expected utility
    never                   70
    always                  35
    """

    strategies: tuple[Compared, ...]
    ties: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Compared:
        return next(s for s in self.strategies if s.name == name)

    @property
    def best(self) -> str:
        """The name of the best, of several in `ties` the one that was named first."""
        return self.strategies[0].name

    def _view(self) -> View:
        head = ["strategy", "expected utility"]
        rows = [[s.name, number(s.utility)] for s in self.strategies]
        first = self.strategies[0].interval
        if first is not None:
            head += [f"{100 * first.level:g} % interval", "less than the first by", "P(best)"]
            for row, s in zip(rows, self.strategies, strict=True):
                assert s.interval is not None and s.difference is not None
                ends = [tuple(map(float, i)) for i in (s.interval, s.difference)]
                row += [f"{number(a, 4)} to {number(b, 4)}" for a, b in ends]
                row.append(short_probability(s.p_best or 0.0))
        *others, last = self.ties or ("",)
        tie = f"a tie: {', '.join(others)} and {last} are equally good" if self.ties else ""
        return View("", head, rows, range(1, len(head)), tie)


def compared(
    problem: Problem,
    strategies: Mapping[str, Any],
    best: Callable[[], Solution],
    *,
    interval: float | None,
    draws: int | None,
    rng: Rng,
) -> StrategyComparison:
    """Strategies by their expected utility in a problem; None is the `best` one."""
    if not isinstance(strategies, Mapping) or not strategies:
        raise InputError(
            f"Strategies are compared by name, got {strategies!r}.",
            hint="For example {'test first': {…}, 'never': {…}}; None is the best one.",
        )
    rules = [problem.given_rules(policies(problem.net, s, best)) for s in strategies.values()]
    pairs = problem.valuations()
    point = [float(_utility(problem, pairs, r)[0]) for r in rules]
    near = 1000 * problem.noise  # several eliminations of many tables
    names, first = list(strategies), max(point)
    level = [first - u <= near for u in point]
    ties = tuple(n for n, tied in zip(names, level, strict=True) if tied) if sum(level) > 1 else ()
    order = sorted(range(len(rules)), key=lambda k: (not level[k], 0.0 if level[k] else -point[k]))
    n = draws_of(draws, interval)
    if interval is None or not problem.learned:
        return StrategyComparison(tuple(Compared(names[k], point[k]) for k in order), ties)
    n = enough(n, probability(interval))
    parts = [
        np.stack([_utility(problem, drawn, r) for r in rules], axis=1)
        for drawn in problem.drawn(n, rng)
    ]
    eu = np.concatenate(parts)
    share = (eu.max(axis=1, keepdims=True) - eu <= near).mean(axis=0)
    rows = tuple(
        Compared(
            names[k], point[k], Credible.of(eu[:, k], interval), float(share[k]),
            Credible.of(eu[:, order[0]] - eu[:, k], interval),
        )
        for k in order
    )  # fmt: skip
    return StrategyComparison(rows, ties)


def _utility(problem: Problem, pairs: Any, rules: Any) -> Floats:
    out = problem.expected([*pairs, *rules]).utility
    return np.atleast_1d(out)
