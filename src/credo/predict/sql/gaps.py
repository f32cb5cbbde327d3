"""The long way: rows with gaps, by eliminating one variable after the other in SQL.

A factor has an expression for each configuration of its variables. Eliminating x gives

    m(s) = ln Σ_x exp( Σ_factors f(s, x) ),      x over the states that the row allows

the one observed, or all of them where it is missing. A leaf is its table at its own code, 0 where
it is missing; a number is its density under each configuration of its discrete parents. So the
statement does not hang on which cells a row lacks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from credo.core.errors import LimitError
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network
from credo.model.networks.softmax import Softmax
from credo.predict.sql.blanket import line, log_table
from credo.predict.sql.naive import finite_logs
from credo.predict.sql.reading import Reader
from credo.predict.sql.relevant import Relevant
from credo.predict.sql.steps import IMPOSSIBLE, RULED_OUT, added, greatest

__all__ = ["gap_scores"]


@dataclass(frozen=True, slots=True)
class _Factor:
    """Numbers, or columns, by the configuration of some variables."""

    scope: tuple[str, ...]
    cells: Any
    """An array of logarithms, or a mapping from configuration to expression."""

    def at(self, states: Mapping[str, int]) -> Any:
        """The cell of a configuration of at least its variables."""
        key = tuple(states[n] for n in self.scope)
        return self.cells[key]

    @property
    def fixed(self) -> bool:
        """Whether its cells are numbers."""
        return isinstance(self.cells, np.ndarray)


def gap_scores(
    net: Network,
    what: Relevant,
    reader: Reader,
    columns: Mapping[str, str],
    skip: str | None,
    limit: int,
) -> list[str]:
    """The expressions of ln P(t, the row's cells), one a state of the target.

    `skip` is a column that is 1 in rows that are answered the short way, where nothing is made.
    """
    walk = _Elimination(net, what, reader, columns, skip, limit)
    factors = [walk.family(n) for n in what.names]
    left = [
        n for n in what.names
        if n != what.target and net.variable(n).is_discrete and n not in what.leaves
    ]  # fmt: skip
    while left:
        name = min(left, key=lambda n: (walk.size(n, factors), n))
        left.remove(name)
        factors = walk.eliminate(name, factors)
    out = []
    for t in range(net.variable(what.target).arity):
        found = [f.at({what.target: t}) for f in factors]
        numbers = [float(c) for c in found if not isinstance(c, str)]
        texts = [c for c in found if isinstance(c, str)]
        total = sum(finite_logs(numbers))
        out.append(added([reader.dialect.number(total), *texts]))
    return out


class _Elimination:
    """What stays the same while variables are eliminated."""

    def __init__(
        self,
        net: Network,
        what: Relevant,
        reader: Reader,
        columns: Mapping[str, str],
        skip: str | None,
        limit: int,
    ) -> None:
        self.net, self.what, self.reader, self.columns = net, what, reader, columns
        self.skip, self.limit = skip, limit
        self.written = 0
        self.number = reader.dialect.number

    # --- factors of families --------------------------------------------------------------

    def family(self, name: str) -> _Factor:
        """P(x | parents) as a factor."""
        local = self.net.distributions[name]
        if isinstance(local, LinearGaussian):
            return self._line(local)
        assert not isinstance(local, Softmax)  # refused before
        if name in self.what.leaves:
            return self._leaf(local)
        return _Factor(tuple(v.name for v in local.variables), log_table(local))

    def _leaf(self, local: Cpt) -> _Factor:
        """A leaf at its own code; a gap, and what is no state, tells nothing."""
        x, d = self.columns[local.name], self.reader.dialect
        log = log_table(local)
        self._write(log.size, local.name)
        cells = {}
        for key in np.ndindex(log.shape[:-1]):
            found = d.lookup([*finite_logs(log[key]), 0.0, 0.0], f"{x} + 1")
            if self.skip is not None:
                found = f"CASE WHEN {self.skip} = 1 THEN {self.number(0.0)} ELSE {found} END"
            cells[key] = found
        return _Factor(tuple(p.name for p in local.parents), cells)

    def _line(self, local: LinearGaussian) -> _Factor:
        """ln of a density for each configuration; a number whose parents are missing is refused."""
        n, y = self.number, self.columns.get(local.name)
        scope = tuple(p.name for p in local.discrete)
        if y is None:
            return _Factor((), {(): n(0.0)})
        self._write(local.intercept.size * (3 + len(local.continuous)), local.name)
        for parent in local.continuous:
            above = self.columns.get(parent.name)
            gone = f"{y} IS NOT NULL" + (f" AND {above} IS NULL" if above else "")
            self.reader.refused.append(gone + (f" AND {self.skip} = 0" if self.skip else ""))
        if not all(p.name in self.columns for p in local.continuous):
            return _Factor((), {(): n(0.0)})
        beside = [] if self.skip is None else [f"{self.skip} = 1"]
        cells = {}
        for key in np.ndindex(local.intercept.shape):
            variance = float(local.variance[key])
            cells[key] = line(
                local, self.reader, self.columns,
                n(float(local.intercept[key])), [n(float(b)) for b in local.coefficients[key]],
                n(1 / math.sqrt(2 * variance)), n(-0.5 * math.log(2 * math.pi * variance)), beside,
            )  # fmt: skip
        return _Factor(scope, cells)

    # --- eliminating ----------------------------------------------------------------------

    def size(self, name: str, factors: Sequence[_Factor]) -> int:
        """How many terms eliminating a variable adds up."""
        scope = {n for f in factors if name in f.scope for n in f.scope}
        return math.prod(self.net.variable(n).arity for n in scope)

    def eliminate(self, name: str, factors: Sequence[_Factor]) -> list[_Factor]:
        """The factors after a variable is summed over the states that the row allows."""
        many = self.size(name, factors)
        self._write(many, name)
        mine = [self._shared(f, many) for f in factors if name in f.scope]
        scope = tuple(dict.fromkeys(n for f in mine for n in f.scope if n != name))
        code = self._allowed(name)
        ranges = [range(self.net.variable(n).arity) for n in scope]
        cells = {
            key: self._summed(name, code, mine, dict(zip(scope, key, strict=True)))
            for key in product(*ranges)
        }
        return [*(f for f in factors if name not in f.scope), _Factor(scope, cells)]

    def _shared(self, factor: _Factor, many: int) -> _Factor:
        """A factor whose expressions are columns, if more than one term reads each of them."""
        if factor.fixed or len(factor.cells) == many:
            return factor
        define = self.reader.steps.define
        return _Factor(factor.scope, {key: define(e) for key, e in factor.cells.items()})

    def _allowed(self, name: str) -> str:
        """The code of a variable, where nothing is to be made one that no state agrees with."""
        many = self.net.variable(name).arity
        code = self.columns.get(name, str(many))
        if self.skip is None:
            return code
        return self.reader.steps.define(
            f"CASE WHEN {self.skip} = 1 THEN {many + 1} ELSE {code} END"
        )

    def _summed(self, name: str, code: str, mine: Sequence[_Factor], states: dict[str, int]) -> str:
        """ln Σ_x exp(…) for one configuration of the others."""
        n, define = self.number, self.reader.steps.define
        many = self.net.variable(name).arity
        terms = []
        for x in range(many):
            states[name] = x
            total = sum(float(f.at(states)) for f in mine if f.fixed)
            if total == -math.inf:
                continue
            texts = [f.at(states) for f in mine if not f.fixed]
            found = added([n(total), *texts])
            terms.append(
                define(f"CASE WHEN {code} IN ({x}, {many}) THEN {found} ELSE {n(IMPOSSIBLE)} END")
            )
        del states[name]
        if not terms:
            return n(IMPOSSIBLE)
        if len(terms) == 1:
            return terms[0]
        best = define(greatest(terms))
        least = n(-700.0)
        total_text = added([f"EXP(GREATEST({t} - {best}, {least}))" for t in terms])
        return (
            f"CASE WHEN {best} < {n(RULED_OUT)} THEN {n(IMPOSSIBLE)} "
            f"ELSE {best} + LN({total_text}) END"
        )

    def _write(self, more: int, name: str) -> None:
        """Count what is written, and refuse before it is too much."""
        self.written += more
        if self.written > self.limit:
            raise LimitError(
                f"Summing over the gaps of a row needs more than {self.limit:,} terms "
                f"(at {name!r}) in SQL.",
                hint="gaps='null' answers only rows whose Markov blanket is observed, in a short "
                "statement; columns= names what the table has.",
            )
