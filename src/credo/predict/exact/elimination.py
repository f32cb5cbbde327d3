"""Any product of factors as a Bayesian network: eliminating variables, and reading it backwards.

When v is eliminated, the product of the factors that contain it, normalised over v, is exactly
its distribution given the variables of that product that are still there:

    b(v, rest) = Π_{f ∋ v} f        P(v | rest) = b / Σ_v b        message(rest) = Σ_v b

The last variable has no rest, the one before it at most the last, and so on: in the opposite order
these are the tables of a Bayesian network with the same distribution, from which rows are drawn
without rejecting any. The messages' scales add up to ln Z = ln Σ Π f. (Dechter 1999.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import LimitError

__all__ = ["MAX_CELLS", "Directed", "eliminate", "sliced"]

MAX_CELLS = 250_000_000
"""Tables of more cells than this, all together (8 bytes each), are refused before they are made."""

_RANGE = -600.0  # products whose logarithm may fall below this are made of logarithms

Floats = NDArray[np.float64]
Scope = tuple[int, ...]
Factor = tuple[Scope, Floats]


@dataclass(frozen=True, slots=True)
class Directed:
    """A distribution over discrete variables as a Bayesian network, ready to be drawn from.

    `scopes[i]` are a variable's parents, then the variable; `tables[i]` its distribution, flat;
    `fixed` are variables with a known code, which are not drawn.

    >>> coin = Directed((2, 2), ((0,), (0, 1)), (np.array([1.0, 0.0]), np.eye(2).ravel()), {}, 0.0)
    >>> [column.tolist() for column in coin.draw(3, seed=0)]
    [[0, 0, 0], [0, 0, 0]]
    """

    arities: tuple[int, ...]
    scopes: tuple[Scope, ...]
    tables: tuple[Floats, ...]
    fixed: Mapping[int, int]
    log_z: float

    def draw(self, n: int, seed: int, *, first: int = 0, threads: int = 1) -> list[NDArray[Any]]:
        """Codes of rows first … first + n, a column for each variable; the same for a seed."""
        codes = np.full(len(self.arities), -1, dtype=np.int32)
        scopes, tables = list(self.scopes), list(self.tables)
        for v, code in self.fixed.items():
            codes[v] = code
        for v in sorted(set(range(len(self.arities))) - {s[-1] for s in scopes}):
            scopes.append((v,))  # of a variable that is fixed
            tables.append(np.eye(1, self.arities[v], int(codes[v])).ravel())
        sampler = _core.Sampler(self.arities, scopes)
        columns, _ = sampler.run(tables, n, seed, first, fixed=codes, threads=threads)
        return list(columns)


def sliced(
    arities: Sequence[int], factors: Iterable[Factor], fixed: Mapping[int, int]
) -> list[Factor]:
    """The factors, flat or not, with some variables at known codes: their axes are gone.

    >>> sliced([2, 2], [((0, 1), np.array([0.9, 0.1, 0.2, 0.8]))], {0: 1})
    [((1,), array([0.2, 0.8]))]
    """
    out = []
    for scope, table in factors:
        shaped = np.reshape(table, [arities[v] for v in scope])
        at: tuple[Any, ...] = tuple(fixed.get(v, slice(None)) for v in scope)
        out.append((tuple(v for v in scope if v not in fixed), shaped[at]))
    return out


def eliminate(
    arities: Sequence[int],
    factors: Iterable[Factor],
    order: Sequence[int],
    *,
    fixed: Mapping[int, int] | None = None,
    logs: bool = False,
) -> Directed:
    """The Bayesian network of Π factors over the variables of `order`, and ln Z.

    A factor is a scope and an array with an axis for each of its variables, none below zero; with
    `logs=True`, logarithms. `order` must hold every variable of the factors, once. Where Z is 0
    (`log_z` is −inf) the tables mean nothing.

    >>> pair = ((0, 1), np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> found = eliminate([2, 2], [pair], [0, 1])
    >>> found.scopes, round(float(np.exp(found.log_z)), 6)
    (((1, 0), (1,)), 6.0)
    >>> found.tables[0].round(4).tolist()
    [0.6667, 0.3333, 0.3333, 0.6667]
    """
    held = [(tuple(s), np.asarray(a, dtype=np.float64)) for s, a in factors]
    _guard(arities, [s for s, _ in held], order)
    held = [_without_ones(s, a) for s, a in held]
    shape = tuple(arities)
    if not logs:
        found = _run(shape, held, order, _multiply)
        if found is None:
            with np.errstate(divide="ignore"):
                held = [(s, np.log(a)) for s, a in held]
            logs = True
    if logs:
        found = _run(shape, held, order, _add)
    assert found is not None
    scopes, tables, log_z = found
    return Directed(shape, scopes, tables, dict(fixed or {}), log_z)


def _without_ones(scope: Scope, array: Floats) -> Factor:
    """A factor less the variables that have one state."""
    kept = [k for k, r in enumerate(array.shape) if r > 1]
    return tuple(scope[k] for k in kept), array.reshape([array.shape[k] for k in kept])


def _guard(arities: Sequence[int], scopes: list[Scope], order: Sequence[int]) -> None:
    """Go through the elimination with scopes alone, and refuse what would not fit."""
    live = [set(s) for s in scopes]
    cells = 0.0
    for v in order:
        bucket = set().union({v}, *(s for s in live if v in s))
        cells += float(np.prod([float(arities[u]) for u in bucket]))
        live = [s for s in live if v not in s]
        live.append(bucket - {v})
    if cells > MAX_CELLS:
        raise LimitError(
            f"The tables to draw from would have {cells:,.4g} cells; at most {MAX_CELLS:,} are "
            "allowed.",
            hint="Observe other variables, or simplify the graph.",
        )


def _run(
    arities: tuple[int, ...], factors: list[Factor], order: Sequence[int], combine: Any
) -> tuple[tuple[Scope, ...], tuple[Floats, ...], float] | None:
    """One elimination; None where products of plain numbers might vanish."""
    live = dict(enumerate(factors))
    holding: dict[int, set[int]] = {v: set() for v in order}
    for i, (scope, _) in live.items():
        for v in scope:
            holding[v].add(i)
    scopes: list[Scope] = []
    tables: list[Floats] = []
    log_z = 0.0
    for step, v in enumerate(order, start=len(factors)):
        bucket = []
        for i in sorted(holding[v]):
            bucket.append(live.pop(i))
            for u in bucket[-1][0]:
                holding[u].discard(i)
        if arities[v] == 1:
            scopes.append((v,))
            tables.append(np.ones(1))
            continue
        rest = tuple(sorted({u for s, _ in bucket for u in s} - {v}))
        made = combine([_aligned(f, (*rest, v)) for f in bucket], (*rest, v), arities)
        if made is None:
            return None
        table, message, scale = made
        scopes.append((*rest, v))
        tables.append(np.ascontiguousarray(table).ravel())
        log_z += scale
        live[step] = (rest, message)
        for u in rest:
            holding[u].add(step)
    empty: Scope = ()
    last = combine([np.asarray(a)[None] for _, a in live.values()], empty, arities)
    if last is None:
        return None
    return tuple(scopes), tuple(tables), float(log_z + last[2])


def _aligned(factor: Factor, scope: Scope) -> Floats:
    """The array with its axes in the order of `scope`, of length 1 where it has none."""
    own, array = factor
    turned = array.transpose([own.index(u) for u in scope if u in own])
    sizes = iter(turned.shape)
    return turned.reshape([next(sizes) if u in own else 1 for u in scope])


def _shape(scope: Scope, arities: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(arities[u] for u in scope) if scope else (1,)


def _multiply(
    arrays: list[Floats], scope: Scope, arities: tuple[int, ...]
) -> tuple[Floats, Floats, float] | None:
    """P(v | rest), the message with its largest number at 1, and ln of what it was divided by."""
    product = np.ones(_shape(scope, arities))
    scale = smallest = 0.0
    for array in sorted(arrays, key=np.size):
        most = float(array.max())
        if most == 0:
            return np.zeros(product.shape), np.zeros(product.shape[:-1]), -np.inf
        scale += float(np.log(most))
        smallest += float(np.log(np.min(array, where=array > 0, initial=most))) - np.log(most)
        if smallest < _RANGE:
            return None
        product *= array / most
    message = product.sum(axis=-1)
    most = float(message.max())
    if most == 0:
        return product, message, -np.inf
    np.divide(product, message[..., None], out=product, where=message[..., None] > 0)
    return product, message / most, scale + float(np.log(most))


def _add(
    arrays: list[Floats], scope: Scope, arities: tuple[int, ...]
) -> tuple[Floats, Floats, float]:
    """The same with logarithms."""
    total = np.zeros(_shape(scope, arities))
    for array in sorted(arrays, key=np.size):
        total = total + array
    most = total.max(axis=-1, keepdims=True)
    safe = np.where(np.isfinite(most), most, 0.0)
    table = np.exp(total - safe)
    sums = table.sum(axis=-1, keepdims=True)
    np.divide(table, sums, out=table, where=sums > 0)
    with np.errstate(divide="ignore"):
        message = (np.log(sums) + safe)[..., 0]
    high = float(message.max())
    if high == -np.inf:
        return table, message, -np.inf
    return table, message - high, high
