"""What more rows are worth: the value of sample information for one table of probabilities.

    EVSI(n) = E_rows[ max_δ EU(δ; E[θ | rows]) − EU(δ*; E[θ | rows]) ]

EU is linear in each row of a table, so the expectation over what the parameters still may be is EU
at their posterior mean: the inner average is exact, for Dirichlet rows

    E[θ | k] = (α + k) / Σ(α + k)

and only the rows to come are averaged over: listed with their Dirichlet-multinomial probabilities
where they are few (exact), else drawn (θ from its posterior, rows from θ). (Raiffa & Schlaifer
1961; Ades, Lu & Claxton 2004.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from credo.core.errors import InputError, unknown_name
from credo.core.frozen import Frozen
from credo.core.render import Told, number
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.networks.cpt import Cpt
from credo.model.values.randomness import Rng
from credo.model.values.value import Value, View, at_least, whole
from credo.predict.decisions.problem import Problem, problem_of
from credo.predict.decisions.solving import best_rules, optimum, rules_of
from credo.predict.intervals.draws import Draws

__all__ = ["RowsValue", "RowsWorth", "value_of_rows"]

Floats = NDArray[np.float64]

_LISTED = 20_000  # outcomes of the rows that are listed one by one
_BLOCK = 500


@dataclass(frozen=True, slots=True, eq=False)
class RowsWorth(Told, Frozen):
    """What n more rows are worth; `error` is the standard error of the value, 0 where exact."""

    n: int
    value: float
    error: float
    cost: float

    @property
    def net(self) -> float:
        """The value less the cost of the rows."""
        return self.value - self.cost

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowsValue(Value):
    """What more rows for a table are worth, for each number of them.

    >>> import credo as cr
    >>> net = cr.fit("[Works]", {"Works": ["yes", "no", "yes"]}, prior=cr.Laplace(1))
    >>> d = net.decide({"Use": ["yes", "no"]}, {"Gain|Use:Works": {
    ...     "yes": {"yes": 10, "no": -20}, "no": {"yes": 0, "no": 0}}})
    >>> print(d.value_of_rows("Works", [1, 10]))
    more rows for P(Works)
    rows   worth  error
    1          0      0
    10    1.1049      0
    """

    table: str
    items: tuple[RowsWorth, ...]

    @property
    def best(self) -> RowsWorth | None:
        """The number of rows that gains most less its cost; None where none does."""
        top = max(self.items, key=lambda i: i.net)
        return top if top.net > 0 else None

    def __getitem__(self, n: int) -> RowsWorth:
        return next(i for i in self.items if i.n == n)

    def _view(self) -> View:
        paid = any(i.cost for i in self.items)
        rows = [
            [f"{i.n:,}", number(i.value), number(i.error, 2),
             *([number(i.cost), number(i.net)] if paid else [])]
            for i in self.items
        ]  # fmt: skip
        head = ["rows", "worth", "error", *(["cost", "net"] if paid else [])]
        return View(f"more rows for {self.table}", head, rows, range(1, len(head)))


def value_of_rows(
    net: DecisionNetwork,
    table: str,
    n: int | Sequence[int],
    *,
    at: Mapping[str, Any] | None = None,
    given: Mapping[str, Any] | None = None,
    cost: float = 0.0,
    draws: int = 1000,
    rng: Rng = 0,
) -> RowsValue:
    """The value of more rows that show a variable and its parents."""
    local = net.chance.distributions.get(table) if table not in net.decisions else None
    if local is None:
        raise unknown_name("Variable", table, [x for x in net.names if x not in net.decisions],
                           "a chance variable")  # fmt: skip
    if not isinstance(local, Cpt) or local.counts is None:
        raise InputError(
            f"The table of {table!r} has no posterior, so more rows cannot change it.",
            hint="Learn it with a prior, such as cr.fit(dag, rows, prior=cr.BDeu(1)).",
        )
    price = at_least(cost, 0.0, "The cost of a row")
    many = [n] if not isinstance(n, Sequence) else list(n)
    problem = problem_of(net, given)
    share = _shares(net, local, at)
    fixed = rules_of(problem, best_rules(problem))
    items = []
    for rows in many:
        k = whole(rows, 0, "The number of rows")
        value, error = _value(problem, local, share, k, fixed, whole(draws, 2, "draws"), rng)
        items.append(RowsWorth(k, value, error, k * price))
    return RowsValue(local.title, tuple(items))


def _shares(net: DecisionNetwork, local: Cpt, at: Mapping[str, Any] | None) -> Floats:
    """How the rows fall on the parents' configurations: where `at` says, else as in the network."""
    shape = tuple(p.arity for p in local.parents)
    if at is not None:
        names = [p.name for p in local.parents]
        odd = next((n for n in at if n not in names), None)
        if odd is not None:
            raise unknown_name("Parent", odd, names, f"one of {local.name!r}")
        if len(at) < len(names):
            raise InputError(f"at= needs a state for each of {names}.")
        out = np.zeros(shape)
        out[tuple(p.code(at[p.name]) for p in local.parents)] = 1.0
        return out.ravel()
    if not local.parents:
        return np.ones(1)
    joint = net.chance.p([p.name for p in local.parents])
    return np.asarray(joint.p).ravel()


def _value(
    problem: Problem, local: Cpt, share: Floats, n: int, fixed: Any, draws: int, rng: Rng
) -> tuple[float, float]:
    assert local.counts is not None
    alpha = local.counts.reshape(-1, local.child.arity)
    r = alpha.shape[1]
    single = np.flatnonzero(share)
    if len(single) == 1 and comb(n + r - 1, r - 1) <= _LISTED:
        counts = np.zeros((comb(n + r - 1, r - 1), *alpha.shape))
        counts[:, single[0]] = _compositions(n, r)
        weights = _chances(counts[:, single[0]], alpha[single[0]], n)
        gained, p = _gains(problem, local, alpha + counts, fixed)
        return max(float(weights @ gained / (weights @ p)), 0.0), 0.0
    source = Draws(problem.net.chance, rng, draws)
    theta = source.next([local.name], draws)[local.name].reshape(draws, *alpha.shape)
    random = np.random.default_rng(source.seed)
    split = random.multinomial(n, share / share.sum(), size=draws)
    theta = theta / theta.sum(axis=-1, keepdims=True)
    counts = random.multinomial(split, theta).astype(np.float64)
    gained, p = _gains(problem, local, alpha + counts, fixed)
    value = gained.mean() / p.mean()
    error = np.std(gained - value * p) / p.mean() / np.sqrt(draws)
    return max(float(value), 0.0), float(error)


def _gains(problem: Problem, local: Cpt, alpha: Floats, fixed: Any) -> tuple[Floats, Floats]:
    """What the best strategy after the rows gains on that of now, times P(evidence); and that."""
    gained, chance = [], []
    for start in range(0, len(alpha), _BLOCK):
        part = alpha[start : start + _BLOCK]
        means = (part / part.sum(axis=-1, keepdims=True)).reshape(len(part), -1)
        pairs = problem.valuations({local.name: means})
        now = problem.expected([*pairs, *fixed])
        tables = {problem.net.chance.names[f.scope[-1]]: f.table for f in fixed}
        best = optimum(problem, pairs, tables if problem.net.memory == "limited" else None)
        gained.append(np.broadcast_to(np.maximum(best.u - now.u, 0.0), len(part)))
        chance.append(np.broadcast_to(now.p, len(part)))
    return np.concatenate(gained), np.concatenate(chance)


def _compositions(n: int, r: int) -> Floats:
    """All ways in which n rows fall on r states."""
    if r == 1:
        return np.array([[float(n)]])
    bars = np.array(list(combinations(range(n + r - 1), r - 1)), dtype=np.float64)
    ends = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1.0, n + r - 1.0)))
    out: Floats = np.diff(ends, axis=1) - 1
    return out


def _chances(counts: Floats, alpha: Floats, n: int) -> Floats:
    """The Dirichlet-multinomial probability of each."""
    total = alpha.sum()
    log = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1)
    log += gammaln(total) - gammaln(total + n)
    log += (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=1)
    weights = np.exp(log)
    out: Floats = weights / weights.sum()
    return out
