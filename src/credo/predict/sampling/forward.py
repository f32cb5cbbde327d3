"""The forward sampler of a model given evidence: a Bayesian network with the same distribution
that can be drawn from parents to children, no row rejected.

    P(x | e) = Π_v P(x_v | x_rest(v), e)

Variables that no evidence lies below keep their own tables. The ancestors of evidence are
eliminated once and read backwards (`elimination`): their tables know of the evidence. In a model
without directions all factors are.

Given the discrete variables u, the lines of a network are one Gaussian. What is observed of it, y,
comes in as a factor over u; of the continuous variables that observed ones rest on, h, it tells by
conditioning. The other continuous variables are drawn last, line by line.

    λ(u) = p(y | u)        h | y, u ~ N( m_u, S_u S_uᵀ )
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from credo import _core
from credo.core.bins import Bins
from credo.core.errors import LimitError
from credo.core.frozen import Frozen
from credo.core.schema import Schema
from credo.data import Table
from credo.model.answers.between import Between
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.predict.exact.elimination import Directed, Factor, eliminate, sliced
from credo.predict.exact.engine import Engine, engine_of
from credo.predict.mixed.conditioning import conditioned
from credo.predict.mixed.gaussian_groups import GaussianGroup, gaussian_groups, refuse_large
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.impossible import impossible
from credo.stats.block import Block

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["ForwardSampler", "forward_sampler"]

Floats = NDArray[np.float64]

_PART = 1 << 16  # rows whose continuous variables are drawn at a time


@dataclass(frozen=True)
class HiddenGroup:
    """A group of hidden continuous variables given what is observed of it.

    `parents` are the discrete variables (not observed) that it depends on; `mean` [u…, h] and
    `spread` [u…, h, h] say what is left of the hidden ones, `log` [u…] is ln λ(u).
    """

    names: tuple[str, ...]
    parents: tuple[str, ...]
    mean: Floats
    spread: Floats
    log: Floats

    def draw(self, columns: dict[str, NDArray[Any]], noise: Callable[[str], Floats]) -> None:
        """Fill in the hidden variables of each row of `columns`."""
        at = tuple(columns[p] for p in self.parents)
        free = [noise(name) for name in self.names]
        for i, name in enumerate(self.names):
            mean: Floats = self.mean[..., i][at]
            x = mean + self.spread[..., i, 0][at] * free[0]
            for j in range(1, len(free)):
                x += self.spread[..., i, j][at] * free[j]
            columns[name][:] = x


@dataclass(frozen=True)
class ForwardSampler(Frozen):
    """Draws rows of a model given evidence.

    `directed` has the discrete variables (a continuous one has one state there), `hidden` the
    continuous variables that observed ones rest on, `lines` the other continuous ones in order,
    and `values` those that are observed.
    """

    schema: Schema
    directed: Directed
    hidden: tuple[HiddenGroup, ...]
    lines: tuple[LinearGaussian, ...]
    values: dict[str, float]
    numbers: dict[str, float] = field(default_factory=dict)
    """The user's numbers of observed variables that have a scale."""
    within: dict[str, Between] = field(default_factory=dict)
    """The ranges of numbers in bins."""

    def rows(self, n: int, seed: int, *, first: int = 0, threads: int = 1) -> Table:
        """Rows first … first + n of the endless table of a seed."""
        drawn = self.directed.draw(n, seed, first=first, threads=threads)
        columns: dict[str, NDArray[Any]] = {}
        for variable, codes in zip(self.schema.variables, drawn, strict=True):
            columns[variable.name] = codes if variable.is_discrete else np.empty(n)
        for name, value in self.values.items():
            columns[name][:] = value
        if self.hidden or self.lines:
            for start in range(0, n, _PART):
                part = {name: c[start : start + _PART] for name, c in columns.items()}
                self._draw_lines(part, seed, first + start, threads)
        block = Block(self.schema, tuple(columns[n] for n in self.schema.names))
        return Table(block, raw=self._raw(columns, n, seed, first, threads))

    def _raw(
        self, columns: dict[str, NDArray[Any]], n: int, seed: int, first: int, threads: int
    ) -> dict[str, Floats]:
        """The numbers of variables with a scale; within a bin they are drawn."""
        raw: dict[str, Floats] = {}
        for name, scale in self.schema.scales.items():
            if name in self.numbers:
                raw[name] = np.full(n, self.numbers[name])
            elif isinstance(scale, Bins):
                other = len(self.schema) + self.schema.index(name)  # bits that no code was drawn by
                share = ndtr(_core.normals(n, seed, other, first, threads))
                codes = columns[name].astype(np.intp)
                if name in self.within:
                    range_ = self.within[name]
                    scale, kept = scale.within(range_.low, range_.high)
                    codes = codes - int(kept.argmax())
                raw[name] = scale.draw(codes, share)
        return raw

    def _draw_lines(
        self, columns: dict[str, NDArray[Any]], seed: int, first: int, threads: int
    ) -> None:
        """Fill in the continuous variables of some rows."""

        def noise(name: str) -> NDArray[np.float64]:
            n = len(columns[name])
            return _core.normals(n, seed, self.schema.index(name), first, threads)

        for group in self.hidden:
            group.draw(columns, noise)
        for line in self.lines:
            at = tuple(columns[p.name] for p in line.discrete)
            x = noise(line.name)
            x *= np.sqrt(line.variance)[at]
            x += line.intercept[at]
            with np.errstate(over="ignore", invalid="ignore"):
                for k, parent in enumerate(line.continuous):
                    x += line.coefficients[..., k][at] * columns[parent.name]
            if not np.isfinite(x).all():
                raise LimitError(
                    f"The values of {line.name!r} would pass the largest number there is.",
                    hint="Its line and its parents' are steep; use other units.",
                )
            columns[line.name][:] = x


def forward_sampler(net: Network, evidence: Evidence) -> ForwardSampler:
    """The sampler given evidence; evidence of probability zero is refused."""
    if not engine_of(net).directed:
        return ForwardSampler(
            net.schema, _without_directions(net, evidence), (), (), {},
            evidence.numbers, evidence.within,
        )  # fmt: skip
    groups = gaussian_groups(net, evidence.values.keys())
    hidden = tuple(_hidden(group, evidence) for group in groups if group.hidden)
    done = {n for group in hidden for n in group.names}
    lines = []
    for name in net.dag.order:
        line = net.distributions[name]
        if isinstance(line, LinearGaussian) and name not in evidence.values and name not in done:
            lines.append(line)
    directed = _directed(net, evidence, hidden)
    return ForwardSampler(
        net.schema, directed, hidden, tuple(lines), evidence.values, evidence.numbers,
        evidence.within,
    )  # fmt: skip


def _directed(net: Network, evidence: Evidence, hidden: tuple[HiddenGroup, ...]) -> Directed:
    """The discrete variables given all the evidence, as tables to draw from."""
    engine = engine_of(net)
    scopes = [_scope(engine, i) for i in range(len(net.names))]
    if not evidence.names:
        return Directed(tuple(engine.arities), tuple(scopes), tuple(engine.tables), {}, 0.0)
    fixed = {engine.at[n]: code for n, code in evidence.hard.items()}
    soft: list[Factor] = [((engine.at[n],), likelihood) for n, likelihood in evidence.soft.items()]
    densities: list[Factor] = [
        (tuple(engine.at[n] for n in names), log)
        for names, log in _density_factors(net, evidence, hidden)
    ]
    known = {*fixed, *(v for scope, _ in (*soft, *densities) for v in scope)}
    needed = known | {engine.at[n] for n in net.dag.ancestors([net.names[v] for v in known])}
    factors = [*((scopes[v], engine.tables[v]) for v in sorted(needed)), *soft]
    if densities:
        with np.errstate(divide="ignore"):
            factors = [*((s, np.log(a)) for s, a in factors), *densities]
    factors = sliced(engine.arities, factors, fixed)
    order = _order(engine, factors, needed - set(fixed))
    found = eliminate(engine.arities, factors, order, fixed=fixed, logs=bool(densities))
    if found.log_z == -np.inf:
        raise impossible(net, evidence)
    barren = [v for v in range(len(net.names)) if v not in needed]
    return Directed(
        found.arities,
        (*found.scopes, *(scopes[v] for v in barren)),
        (*found.tables, *(engine.tables[v] for v in barren)),
        fixed,
        found.log_z,
    )


def _without_directions(net: Network, evidence: Evidence) -> Directed:
    """The variables of a product of factors given the evidence, as tables to draw from."""
    engine = engine_of(net)
    fixed = {engine.at[n]: code for n, code in evidence.hard.items()}
    soft: list[Factor] = [((engine.at[n],), likelihood) for n, likelihood in evidence.soft.items()]
    scopes = [tuple(s) for s in engine.scopes]
    factors = sliced(engine.arities, [*zip(scopes, engine.tables, strict=True), *soft], fixed)
    free = [v for v in range(len(engine.arities)) if v not in fixed]
    order = _order(engine, factors, set(free))
    order += [v for v in free if v not in set(order)]
    found = eliminate(engine.arities, factors, order, fixed=fixed)
    if found.log_z == -np.inf:
        raise impossible(net, evidence)
    return found


def _scope(engine: Engine, v: int) -> tuple[int, ...]:
    local = engine.net.distributions[engine.net.names[v]]
    return (*(engine.at[p.name] for p in local.parents if p.is_discrete), v)


def _order(engine: Engine, factors: list[Factor], free: set[int]) -> list[int]:
    """An order of elimination, found by the engine's search."""
    model = _core.Model(engine.arities, [s for s, _ in factors])
    others = [v for v in range(len(engine.arities)) if v not in free]
    plan = model.compile(others, None, directed=False)
    return list(plan.order)


def _density_factors(
    net: Network, evidence: Evidence, hidden: tuple[HiddenGroup, ...]
) -> list[tuple[tuple[str, ...], Floats]]:
    """Factors over discrete variables, in logarithms, that the continuous evidence gives."""
    out = [(group.parents, group.log) for group in hidden]
    covered = {n for group in hidden for n in group.names}
    for name in evidence.values:
        line = net.distributions[name]
        assert isinstance(line, LinearGaussian)
        if covered.intersection(p.name for p in line.continuous):
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            given = [evidence.values[p.name] for p in line.continuous]
            log = line.log_density(evidence.values[name], given)[0]
        out.append((tuple(p.name for p in line.discrete), _told(log, [name])))
    return out


def _told(log: Floats, names: Sequence[str]) -> Floats:
    """Densities that are not numbers are too small to be told; not all may be."""
    out = np.where(np.isnan(log), -np.inf, log)
    if out.max() == -np.inf:
        raise LimitError(
            f"The density of {', '.join(map(repr, names))} is too small to be told.",
            hint="The value is far from every line of the model; check its unit.",
        )
    return out


def _hidden(group: GaussianGroup, evidence: Evidence) -> HiddenGroup:
    """One group, for each configuration of its discrete parents, given what is observed of it."""
    hard = {p.name: evidence.hard[p.name] for p in group.parents if p.name in evidence.hard}
    refuse_large(group, hard, group.hidden)
    values = {n: np.array([v]) for n, v in evidence.values.items()}
    found = conditioned(group, hard, values, group.hidden)
    return HiddenGroup(
        group.hidden,
        tuple(p.name for p in group.free(hard)),
        found.mean[0],
        np.ascontiguousarray(found.spread[0]),
        _told(found.log[0], group.observed),
    )
