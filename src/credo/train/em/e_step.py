"""The E-step: expected statistics of every family, and ln P(rows).

    E[n_ijk] = Σ_rows weight · P(x_i = k, parents_i = j | row, θ)

The rows are folded once into problems (`cpp/em_rows.hpp`): families that are observed are counted
and never touched again, gaps fall into components that are solved each by itself, and equal ones
are one. Rows whose gaps hang together too widely go through the inference engine's batched plan.
Continuous columns are centred and scaled inside, so that sums of squares keep their digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import ImpossibleError, LimitError, TableError
from credo.core.schema import Variable
from credo.data import Table
from credo.model.networks.count_table import counts as counts_on
from credo.predict.exact.engine import guard

__all__ = ["EStep", "Layout", "Parameters", "Statistics"]

Floats = NDArray[np.float64]

_STATES = 256  # a component of gaps with more states than this goes through the engine
_WIDE = 1 << 13  # or this, where the engine would have much to do
_WORTH = 20  # multiplications of the engine that a state more is worth
_MIXED_STATES = 1 << 16  # the most where continuous families take part


@dataclass(frozen=True)
class Parameters:
    """The cells of every table, and the linear Gaussians in centred and scaled units.

    `laws` are the parameters from which the tables of numbers that count are made, if there are
    any: in each configuration ln of the mean and the share of extra zeros, and ln of the size.
    """

    theta: Floats
    lines: Floats
    laws: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class Statistics:
    """The expected counts and moments of all families."""

    counts: Floats
    moments: Floats


class Layout:
    """Where the numbers of each family lie in the flat arrays, as `cpp/em_model.hpp` has it.

    A number that counts has one state more, of probability 1 and of no weight for its law: a cell
    that is missing. It has no children, so its sum over all numbers is 1 as well, and the rows
    without it tell nothing of its law.
    """

    def __init__(self, families: Sequence[tuple[Variable, tuple[Variable, ...]]]) -> None:
        self.families = tuple(families)
        self.names = tuple(child.name for child, _ in families)
        self.at = {n: i for i, n in enumerate(self.names)}
        sizes, lines, moments = [], [], []
        for child, parents in families:
            states = int(np.prod([v.arity for v in parents if v.is_discrete], dtype=np.int64))
            k = sum(not p.is_discrete for p in parents)
            sizes.append(states * self.states(child))
            lines.append(0 if child.is_discrete else states * (k + 2))
            moments.append(0 if child.is_discrete else states * (k + 2) ** 2)
        self._cells, self._lines, self._moments = (
            [0, *accumulate(x)] for x in (sizes, lines, moments)
        )
        self.cells, self.line_numbers = self._cells[-1], self._lines[-1]

    @staticmethod
    def states(v: Variable) -> int:
        """The states of a variable; 0 of a continuous one."""
        return v.arity + counts_on(v) if v.is_discrete else 0

    @property
    def arities(self) -> list[int]:
        """The states of each variable; 0 for a continuous one."""
        return [self.states(v) for v, _ in self.families]

    @property
    def scopes(self) -> list[list[int]]:
        """The parents of each variable and then itself, by number."""
        return [
            [*(self.at[p.name] for p in parents), self.at[c.name]] for c, parents in self.families
        ]

    def table(self, flat: Floats, i: int) -> Floats:
        """The cells of one family, in their shape: a view."""
        child, parents = self.families[i]
        shape = [self.states(v) for v in (*parents, child)]
        return flat[self._cells[i] : self._cells[i + 1]].reshape(shape)

    def line(self, flat: Floats, i: int) -> Floats:
        """The lines of one family, [*configurations, intercept, slopes, variance]: a view."""
        _, parents = self.families[i]
        shape = [p.arity for p in parents if p.is_discrete]
        k = sum(not p.is_discrete for p in parents)
        return flat[self._lines[i] : self._lines[i + 1]].reshape(*shape, k + 2)

    def part(self, x: Parameters, i: int) -> Floats:
        """The table or the lines of one family: a view."""
        discrete = self.families[i][0].is_discrete
        return self.table(x.theta, i) if discrete else self.line(x.lines, i)

    def moment(self, flat: Floats, i: int) -> Floats:
        """The moments of one family, [configurations, z, z], z = (1, parents, child): a view."""
        _, parents = self.families[i]
        k = sum(not p.is_discrete for p in parents)
        return flat[self._moments[i] : self._moments[i + 1]].reshape(-1, k + 2, k + 2)


class EStep:
    """A graph and rows: what an E-step needs, made once."""

    def __init__(
        self,
        layout: Layout,
        batches: Iterable[Table],
        scales: Mapping[str, tuple[float, float]],
        threads: int,
    ) -> None:
        self.layout, self.scales, self.threads = layout, scales, threads
        mixed = layout.line_numbers > 0
        most = _MIXED_STATES if mixed else _STATES
        self._fold(batches, most)
        if self.native.too_large:
            names = [layout.names[i] for i in self.native.too_large]
            raise LimitError(
                f"In some row {len(names)} discrete variables that hang together are missing at "
                f"once beside continuous ones ({', '.join(map(repr, names[:6]))}, …), with more "
                f"than {_MIXED_STATES:,} states together.",
                hint="Leave such rows out, or simplify the graph.",
            )
        if not self.native.total:
            raise TableError("There are no rows to learn from.")
        self._plan_left()
        if self._plan is not None and isinstance(batches, list):
            # where the engine's work is large, larger components are enumerated before it is asked
            more = int(min(max(self._plan.flops / _WORTH, most), _WIDE))
            if more > 2 * most:
                self._fold(batches, more)
                self._plan_left()

    def _fold(self, batches: Iterable[Table], most: int) -> None:
        layout = self.layout
        self.native = _core.Expectations(layout.arities, layout.scopes, most, _MIXED_STATES)
        self.shift = 0.0  # of the log-likelihood, from scaled units to the user's
        self.rows = 0
        self.gaps = dict.fromkeys(layout.names, 0.0)
        self.observed = dict.fromkeys(layout.names, 0.0)  # the weight of rows with a whole family
        self.marginals = {v.name: np.zeros(v.arity) for v, _ in layout.families if v.is_discrete}
        for batch in batches:
            self._add(batch)

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return self.native.total

    def _add(self, table: Table) -> None:
        columns: list[Any] = []
        weights = table.weights
        w = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        total = float(len(table) if w is None else w.sum())
        holes: dict[str, Any] = {}
        for child, _ in self.layout.families:
            name = child.name
            if name not in table.schema:
                columns.append(None)
                self.gaps[name] += total
                holes[name] = True
                continue
            array = table.block.arrays[table.schema.index(name)]
            if child.is_discrete:
                columns.append(np.ascontiguousarray(array))
                gone = array == child.arity
                seen = np.bincount(array, w, child.arity + 1)[: child.arity]
                self.marginals[name] += seen
            else:
                centre, scale = self.scales[name]
                columns.append(np.ascontiguousarray((array - centre) / scale))
                gone = np.isnan(array)
                seen = ~gone
                self.shift -= float(seen.sum() if w is None else w[seen].sum()) * np.log(scale)
            self.gaps[name] += float(gone.sum() if w is None else w[gone].sum())
            holes[name] = gone if gone.any() and not counts_on(child) else False
        for child, parents in self.layout.families:
            some = [holes[v.name] for v in (child, *parents) if holes[v.name] is not False]
            if not some:
                self.observed[child.name] += total
            elif not any(h is True for h in some):
                kept = ~np.logical_or.reduce(some)
                self.observed[child.name] += float(kept.sum() if w is None else w[kept].sum())
        self.rows += len(table)
        self.native.add(columns, len(table), w)

    def _plan_left(self) -> None:
        """A plan for the rows left to the engine; columns that are always there are cheaper."""
        codes, weights = self.native.left()
        self._plan = None
        if not len(weights):
            return
        unique, inverse = np.unique(codes, axis=0, return_inverse=True)
        total = np.zeros(len(unique))
        np.add.at(total, inverse.ravel(), weights)
        always = (unique >= 0).all(axis=0)
        never = (unique < 0).all(axis=0)
        observed = np.flatnonzero(always).tolist()
        maybe = np.flatnonzero(~always & ~never).tolist()
        model = _core.Model(self.layout.arities, self.layout.scopes)
        self._plan = model.compile(observed, [], families=True, maybe=maybe)
        guard(self._plan)
        self._left = np.ascontiguousarray(unique[:, [*observed, *maybe]], dtype=np.int32)
        self._left_weights = total

    def expect(self, x: Parameters) -> tuple[Statistics, float]:
        """Expected counts and moments under some parameters, and ln P(rows)."""
        counts, moments, log, impossible = self.native.step(x.theta, x.lines, self.threads)
        if self._plan is not None and not impossible:
            layout = self.layout
            tables = [layout.table(x.theta, i).ravel() for i in range(len(layout.names))]
            more, log_left, impossible = self._plan.expect(
                tables, self._left, self._left_weights, self.threads
            )
            counts, log = counts + more, log + log_left
        if impossible or log == -np.inf:
            raise ImpossibleError(
                "A row has probability zero under the parameters that EM starts from, so no "
                "expected counts exist.",
                hint="Start from tables without zeros there: another start=, or a prior.",
            )
        return Statistics(counts, moments), float(log + self.shift)
