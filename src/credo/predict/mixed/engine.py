"""The engine of a mixed network in which observed lines rest on continuous variables not observed.

    λ_g(u_g) = p(y_g | u_g)        P(d, y) = Π_v P(d_v | parents) · Π_g λ_g(u_g)

Every group of lines (`gaussian_groups`) is enumerated over the discrete variables that touch it,
and no others, and comes into the plan as one more table over those. So a discrete posterior is
exact, and costs what the discrete network with these tables costs. (Lauritzen 1992: the discrete
variables last.)

Continuous evidence that is too much for tables weighs samples of the discrete variables instead:

    w(u) = P(u, e_d) / q(u) · Π_g p(y_g | u_g)

Only the discrete variables are drawn. Given them every group of lines is one Gaussian, whose
density is exact, so nothing continuous is drawn at all (Rao and Blackwell). Groups that fit as
tables stay tables, which lead the draws.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError
from credo.predict.exact.engine import Engine, engine_of
from credo.predict.exact.reduction import Reduced, reduced
from credo.predict.mixed.conditioning import conditioned
from credo.predict.mixed.densities import Density
from credo.predict.mixed.gaussian_groups import GaussianGroup, gaussian_groups, refuse_large, width

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.predict.questions.evidence import Evidence

__all__ = ["MixedEngine", "codes_of", "group_logs", "weighed_problem"]

Floats = NDArray[np.float64]

_NUMBERS = 4_000_000  # of a block of rows


class MixedEngine(Engine):
    """The compiled form of a mixed network for one set of observed variables."""

    def __init__(
        self, plain: Engine, groups: Sequence[GaussianGroup], hard: Collection[str]
    ) -> None:
        for group in groups:
            refuse_large(group, hard)
        self.net, self.at, self.arities = plain.net, plain.at, plain.arities
        self.hard = frozenset(hard)
        self.factors: dict[tuple[str, ...], list[GaussianGroup]] = {}
        for group in groups:
            scope = tuple(sorted((p.name for p in group.free(hard)), key=self.at.__getitem__))
            self.factors.setdefault(scope, []).append(group)
        scopes, tables = list(plain.scopes), list(plain.tables)
        for i, v in enumerate(self.net.variables):
            if not v.is_discrete:
                scopes[i], tables[i] = [i], np.ones(1)
        for names, members in self.factors.items():
            owner = self.at[members[0].observed[0]]
            scopes[owner] = [*(self.at[n] for n in names), owner]
            tables[owner] = np.ones(int(np.prod([self.arities[self.at[n]] for n in names])))
        self._keep(scopes, tables)

    def given(self, values: Collection[str], hard: Collection[str]) -> Engine:
        """This engine: it is made for what is observed."""
        return self

    def under(self, net: Network, tables: list[Floats]) -> Engine:
        """The same plans for a network with other numbers."""
        out = copy.copy(self)
        out.net = net
        out.tables = [
            t if v.is_discrete else own
            for v, t, own in zip(net.variables, tables, self.tables, strict=True)
        ]
        out.factors = {
            names: [
                replace(g, lines=tuple(net.distributions[n] for n in g.names))  # type: ignore[misc]
                for g in members
            ]
            for names, members in self.factors.items()
        }
        return out

    def densities(
        self,
        values: Mapping[str, Floats],
        hard: Mapping[str, Any],
        drawn: Mapping[str, Any] | None = None,
    ) -> Iterator[Density]:
        """ln λ of every factor, for rows or for draws."""
        for names, members in self.factors.items():
            log: Any = 0.0
            for group in members:
                log = log + _turned(group_logs(group, hard, values, drawn), group, hard, names)
            observed = tuple(n for g in members for n in g.observed)
            yield Density(observed[0], (), observed, names, log)

    def lines(self, values: Collection[str]) -> tuple[str, ...]:
        """The continuous variables of all groups."""
        return tuple(n for members in self.factors.values() for g in members for n in g.names)

    @property
    def numbers(self) -> int:
        """How many numbers the largest group takes for one row or draw."""
        most = 1
        for names, members in self.factors.items():
            cases = int(np.prod([self.arities[self.at[n]] for n in names]))
            most = max(most, *(cases * (width(g) + 1) ** 2 for g in members))
        return most


def _turned(
    log: Floats, group: GaussianGroup, hard: Mapping[str, Any], names: Sequence[str]
) -> Floats:
    """The axes of a group's discrete parents in the order of a factor's."""
    own = [p.name for p in group.free(hard)]
    return log.transpose([0, *(1 + own.index(n) for n in names)])


def group_logs(
    group: GaussianGroup,
    hard: Mapping[str, Any],
    values: Mapping[str, Floats],
    drawn: Mapping[str, Any] | None = None,
) -> Floats:
    """ln p(y | u) [B, u…]; discrete parents known row by row are taken case by case."""
    used = {*group.observed, *(p.name for line in group.lines for p in line.continuous)}
    mine = {n: v for n, v in values.items() if n in used}
    own = [p.name for p in group.parents if p.name in hard]
    if not any(np.ndim(hard[n]) for n in own):
        return conditioned(group, {n: hard[n] for n in own}, mine, drawn=drawn).log
    codes = np.stack(np.broadcast_arrays(*(np.atleast_1d(hard[n]) for n in own)), axis=1)
    cases, inverse = np.unique(codes, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    shape = tuple(p.arity for p in group.free(own))
    out = np.empty((len(codes), *shape))
    step = max(_NUMBERS // (int(np.prod(shape)) * (width(group) + 1)), 1)
    for c, case in enumerate(cases.tolist()):
        every = np.flatnonzero(inverse == c)
        known = dict(zip(own, case, strict=True))
        for start in range(0, len(every), step):
            at = every[start : start + step]
            out[at] = conditioned(group, known, {n: v[at] for n, v in mine.items()}).log
    return out


_DRAWN = 30_000_000  # of a block of rows, were none dropped
_ROWS = 8192


def weighed_problem(
    net: Network, evidence: Evidence, targets: Sequence[str]
) -> tuple[Reduced, tuple[str, ...]]:
    """The factors of a question, and the discrete variables that weights depend on."""
    groups = gaussian_groups(net, evidence.values.keys()) if evidence.values else ()
    large = [g for g in groups if _is_large(g, evidence)]
    if not large:
        return reduced(net, evidence, targets), ()
    small = [g for g in groups if not _is_large(g, evidence)]
    more = tuple(dict.fromkeys(p.name for g in large for p in g.free(evidence.hard)))
    engine = MixedEngine(engine_of(net), small, evidence.hard)
    problem = reduced(net, evidence, [*targets, *more], engine)
    values = {n: np.array([v]) for n, v in evidence.values.items()}

    def weigh(rows: Mapping[str, NDArray[Any]]) -> Floats:
        n = len(next(iter(rows.values())))
        out = np.zeros(n)
        for group in large:
            step = max(min(_DRAWN // len(group.lines) ** 2, _ROWS), 1)
            for start in range(0, n, step):
                part = slice(start, start + step)
                some = {name: column[part] for name, column in rows.items()}
                log = conditioned(group, codes_of(group, some, evidence), values).log
                out[part] += np.where(np.isnan(log), -np.inf, log)
        return out

    return replace(problem, weigh=weigh), more


def codes_of(
    group: GaussianGroup, rows: Mapping[str, NDArray[Any]], evidence: Evidence
) -> dict[str, Any]:
    """The codes of a group's discrete parents: drawn, or known."""
    return {
        p.name: evidence.hard[p.name]
        if p.name in evidence.hard
        else np.asarray(rows[p.name], dtype=np.intp)
        for p in group.parents
    }


def _is_large(group: GaussianGroup, evidence: Evidence) -> bool:
    try:
        refuse_large(group, evidence.hard)
    except LimitError:
        return True
    return False
