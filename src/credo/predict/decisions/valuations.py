"""Pairs of a probability and a utility, eliminated with sums and maxima; many draws at once.

    (p, u) ⊗ (q, v) = (p q, p v + u q)
    Σ_x (p, u) = (Σ_x p, Σ_x u)            a chance variable
    max_d (p, u) = (p, max_d u)            a decision: nothing before it hangs on its choice

u is the expected utility times the probability, so that nothing is divided until the end: EU = u/p.
Sums and maxima do not commute, so the order is strong: what is seen last goes first (Jensen, Jensen
& Dittmer 1994; pairs as in Lauritzen & Nilsson 2001). Every array has the draws of the parameters
as its first axis, of length 1 where they are the same for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError

__all__ = ["MAX_CELLS", "Choice", "Outcome", "Step", "Valuation", "eliminate", "width"]

MAX_CELLS = 50_000_000
"""A pair of tables of more cells than this is refused before it is made."""

_TIE = 1e-12  # of the largest utility: options nearer than this are equal, the first is taken

Floats = NDArray[np.float64]
Scope = tuple[int, ...]


class Valuation(NamedTuple):
    """A pair over some variables; None stands for a probability of 1, or a utility of 0."""

    scope: Scope
    p: Floats | None
    u: Floats | None


class Step(NamedTuple):
    """Chance variables to sum out in any order, or one decision to choose (`best`)."""

    variables: tuple[int, ...]
    best: bool = False


class Choice(NamedTuple):
    """The options of a decision in each situation: [draws, situations…, options]."""

    scope: Scope
    best: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is left over the variables that were kept, and the choices made on the way."""

    p: Floats
    u: Floats
    choices: Mapping[int, Choice]

    @property
    def utility(self) -> Floats:
        """EU = u / p, 0 where p is 0."""
        return np.divide(self.u, self.p, out=np.zeros_like(self.u), where=self.p > 0)


def eliminate(
    valuations: Sequence[Valuation],
    arities: Sequence[int],
    steps: Sequence[Step],
    keep: Scope = (),
) -> Outcome:
    """Σ and max over all variables but those kept, in the order of the steps.

    >>> rain = Valuation((0,), np.array([[0.7, 0.3]]), None)
    >>> worth = Valuation((0, 1), None, np.array([[[20.0, 100.0], [70.0, 0.0]]]))
    >>> found = eliminate([rain, worth], [2, 2], [Step((0,)), Step((1,), best=True)])
    >>> found.utility, found.choices[1].best
    (array([70.]), array([1]))
    """
    live = list(valuations)
    choices: dict[int, Choice] = {}
    for v, best in _order(tuple(f.scope for f in live), tuple(arities), tuple(steps)).ways:
        bucket = [f for f in live if v in f.scope]
        live = [f for f in live if v not in f.scope]
        scope = (*sorted({u for f in bucket for u in f.scope} - {v}), v)
        if not best:
            if bucket:
                live.append(_summed(_combined(bucket, scope, arities), arities[v]))
            continue
        rest, choices[v] = _chosen(_combined(bucket, scope, arities), arities[v])
        live.append(rest)
    last = _combined(live, keep, arities)
    shape = [max(_draws(last.p), _draws(last.u)), *(arities[v] for v in keep)]
    p = np.ones(shape) if last.p is None else np.broadcast_to(last.p, shape)
    u = np.zeros(shape) if last.u is None else np.broadcast_to(last.u, shape)
    return Outcome(p, u, choices)


def width(scopes: Sequence[Scope], arities: Sequence[int], steps: Sequence[Step]) -> int:
    """The cells of the largest pair that an elimination makes."""
    return _order(tuple(scopes), tuple(arities), tuple(steps)).width


class _Order(NamedTuple):
    """Variables one after the other, whether each is chosen, and the cells of the largest pair."""

    ways: tuple[tuple[int, bool], ...]
    width: int


@lru_cache(maxsize=1024)
def _order(scopes: tuple[Scope, ...], arities: tuple[int, ...], steps: tuple[Step, ...]) -> _Order:
    """Within each step the variable that makes the smallest pair goes next."""
    near: dict[int, set[int]] = {v: {v} for step in steps for v in step.variables}
    for scope in scopes:
        for v in scope:
            near.setdefault(v, {v}).update(scope)
    out: list[tuple[int, bool]] = []
    most = 1
    for variables, best in steps:
        left = set(variables)
        size = {v: prod(arities[u] for u in near[v]) for v in left}
        while left:
            v = min(left, key=lambda x: (size[x], x))
            left.remove(v)
            out.append((v, best))
            most = max(most, size[v])
            rest = near.pop(v) - {v}
            for u in rest:
                near[u] |= rest
                near[u].discard(v)
            for u in left & rest:
                size[u] = prod(arities[w] for w in near[u])
    return _Order(tuple(out), max(most, prod(arities[v] for v in near)))


def _draws(array: Floats | None) -> int:
    return 1 if array is None else len(array)


def _combined(parts: Sequence[Valuation], scope: Scope, arities: Sequence[int]) -> Valuation:
    """The product of some pairs over a scope that holds theirs."""
    draws = max([1, *(max(_draws(f.p), _draws(f.u)) for f in parts)])
    cells = draws * prod(arities[v] for v in scope)
    if cells > MAX_CELLS:
        raise LimitError(
            f"What to do would need a table of {cells:,} cells over {len(scope)} variables; at "
            f"most {MAX_CELLS:,} are allowed.",
            hint='Let the decisions see less: memory="limited".',
        )
    p: Floats | None = None
    u: Floats | None = None
    for f in sorted(parts, key=lambda f: len(f.scope)):
        q, v = (_aligned(a, f.scope, scope) for a in (f.p, f.u))
        first = u if q is None or u is None else u * q
        second = v if p is None or v is None else p * v
        u = first if second is None else second if first is None else first + second
        p = q if p is None else p if q is None else p * q
    return Valuation(scope, p, u)


def _aligned(array: Floats | None, own: Scope, scope: Scope) -> Floats | None:
    """The array with its axes in the order of `scope`, of length 1 where it has none."""
    if array is None:
        return None
    turned = array.transpose(0, *(1 + own.index(v) for v in scope if v in own))
    sizes = iter(turned.shape[1:])
    return turned.reshape(len(array), *(next(sizes) if v in own else 1 for v in scope))


def _summed(pair: Valuation, arity: int) -> Valuation:
    """The sum over the last variable."""
    scope, p, u = pair
    if p is None:
        p = np.ones((1,) * (1 + len(scope)))
    return Valuation(scope[:-1], _sum(p, arity), None if u is None else _sum(u, arity))


def _sum(array: Floats, arity: int) -> Floats:
    out: Floats = array.sum(axis=-1)
    return out if array.shape[-1] == arity else out * arity  # the same for each state


def _chosen(pair: Valuation, arity: int) -> tuple[Valuation, Choice]:
    """The best option of the last variable, the first of those that are equally good."""
    scope, p, u = pair
    if p is not None:
        p = p.max(axis=-1)
    if u is None or u.shape[-1] != arity:  # the choice makes no difference
        shape = (1,) * len(scope) if u is None else u.shape[:-1]
        best = np.zeros(shape, dtype=np.intp)
        worth = None if u is None else u[..., 0]
        return Valuation(scope[:-1], p, worth), Choice(scope[:-1], best)
    top = u.max(axis=-1, keepdims=True)
    near = u >= top - _TIE * np.abs(u).max(axis=-1, keepdims=True)
    return Valuation(scope[:-1], p, top[..., 0]), Choice(scope[:-1], near.argmax(axis=-1))
