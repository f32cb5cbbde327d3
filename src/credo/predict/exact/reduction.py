"""What is left of a network for one question: free variables, and factors with the evidence in.

    P(x, e) = scale · Π_v P(x_v | free parents) · Π_i λ_i(x_{S_i})

Variables that nothing asked or observed descends from are dropped (they sum to one), tables are
cut at what is known, and parts that the evidence separates from the question fall away. A known
child leaves a likelihood λ over its free parents; so do unreliable reports and densities. In a
model without directions nothing is dropped, and the factors are its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.predict.exact.engine import engine_of
from credo.predict.exact.undirected import FactorEngine
from credo.predict.mixed.densities import density_tables

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.predict.exact.engine import Engine
    from credo.predict.questions.evidence import Evidence

__all__ = ["Reduced", "parts", "reduced"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Reduced:
    """Factors over free variables; the first factors are the variables' own, the child last."""

    names: tuple[str, ...]
    """The free variables, parents before children."""
    arities: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    tables: tuple[Floats, ...]
    owners: tuple[str, ...]
    """The variable whose table (or report) a factor comes from."""
    log_scale: float = 0.0
    """ln of what the evidence gives by itself; −inf if it is impossible already."""
    weigh: Callable[[Mapping[str, NDArray[Any]]], Floats] | None = None
    """ln of what rows of codes are worth beside the factors, where that has no table."""

    @cached_property
    def _at(self) -> dict[str, int]:
        return {n: i for i, n in enumerate(self.names)}

    def index(self, names: Sequence[str]) -> tuple[int, ...]:
        """Where the variables are."""
        return tuple(self._at[n] for n in names)

    @property
    def has_zeros(self) -> bool:
        """Whether some configuration of some factor is impossible."""
        return any((t == 0).any() for t in self.tables)


def reduced(
    net: Network, evidence: Evidence, targets: Sequence[str], engine: Engine | None = None
) -> Reduced:
    """The factors that the targets and the evidence rest on."""
    engine = engine_of(net) if engine is None else engine
    if isinstance(engine, FactorEngine):
        return _undirected(engine, evidence)
    engine = engine.given(evidence.values, evidence.hard)
    tables, log_scale = density_tables(engine, evidence)
    needed = {*targets, *evidence.names}
    needed |= set(net.dag.ancestors(list(needed))) if needed else set()
    known = {**evidence.hard, **dict.fromkeys(evidence.values, 0)}
    free = [n for n in net.dag.order if n in needed and n not in known]
    at = {n: i for i, n in enumerate(free)}
    own: dict[str, tuple[tuple[int, ...], Floats, str]] = {}
    more: list[tuple[tuple[int, ...], Floats, str]] = []
    for name in (n for n in net.dag.order if n in needed):
        scope = [net.names[i] for i in engine.scopes[engine.at[name]]]
        shape = [engine.arities[engine.at[n]] for n in scope]
        cut = tuple(known.get(n, slice(None)) for n in scope)
        table = np.ascontiguousarray(tables[engine.at[name]].reshape(shape)[cut])
        left = tuple(at[n] for n in scope if n not in known)
        if name in at:
            own[name] = (left, table, name)
        elif left:
            more.append((left, table, name))
        else:
            log_scale += log(table.item()) if table.item() > 0 else -inf
    for name, likelihood in evidence.soft.items():
        more.append(((at[name],), np.array(likelihood, dtype=np.float64), name))
    factors = [*(own[n] for n in free), *more]
    return Reduced(
        tuple(free),
        tuple(engine.arities[engine.at[n]] for n in free),
        tuple(f[0] for f in factors),
        tuple(f[1] for f in factors),
        tuple(f[2] for f in factors),
        float(log_scale),
    )


def _undirected(engine: FactorEngine, evidence: Evidence) -> Reduced:
    """The factors of a model without directions, where nothing sums to one by itself."""
    free = [n for n in engine.net.names if n not in evidence.hard]
    at = {n: i for i, n in enumerate(free)}
    factors: list[tuple[tuple[int, ...], Floats, str]] = []
    log_scale = 0.0
    for factor, flat in zip(engine.factors, engine.tables, strict=True):
        cut = tuple(evidence.hard.get(n, slice(None)) for n in factor.names)
        table = np.ascontiguousarray(flat.reshape(factor.values.shape)[cut])
        left = tuple(at[n] for n in factor.names if n in at)
        if left:
            factors.append((left, table, factor.title))
        else:
            log_scale += log(table.item()) if table.item() > 0 else -inf
    for name, likelihood in evidence.soft.items():
        factors.append(((at[name],), np.array(likelihood, dtype=np.float64), name))
    alone = set(range(len(free))).difference(v for f in factors for v in f[0])
    arities = tuple(engine.arities[engine.at[n]] for n in free)
    factors += [((v,), np.ones(arities[v]), free[v]) for v in sorted(alone)]
    return Reduced(
        tuple(free),
        arities,
        tuple(f[0] for f in factors),
        tuple(f[1] for f in factors),
        tuple(f[2] for f in factors),
        log_scale,
    )


def parts(problem: Reduced, targets: Sequence[str]) -> tuple[Reduced, list[Reduced]]:
    """The part that hangs together with the targets, and the other parts, one by one."""
    above = list(range(len(problem.names)))

    def root(v: int) -> int:
        while above[v] != v:
            above[v] = above[above[v]]
            v = above[v]
        return v

    for scope in problem.scopes:
        for v in scope[1:]:
            above[root(v)] = root(scope[0])
    asked = {root(v) for v in problem.index(targets)}
    groups: dict[int, list[int]] = {}
    for v in range(len(problem.names)):
        r = root(v)
        groups.setdefault(-1 if r in asked else r, []).append(v)
    mine = _part(problem, groups.pop(-1, []), weigh=True)
    return mine, [_part(problem, group) for group in groups.values()]


def _part(problem: Reduced, variables: list[int], weigh: bool = False) -> Reduced:
    at = {v: i for i, v in enumerate(variables)}
    factors = [f for f, scope in enumerate(problem.scopes) if scope[0] in at]
    return Reduced(
        tuple(problem.names[v] for v in variables),
        tuple(problem.arities[v] for v in variables),
        tuple(tuple(at[v] for v in problem.scopes[f]) for f in factors),
        tuple(problem.tables[f] for f in factors),
        tuple(problem.owners[f] for f in factors),
        weigh=problem.weigh if weigh else None,
    )
