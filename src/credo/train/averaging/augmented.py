"""Graph, tables and missing cells drawn in turn, so that draws include what the gaps leave open.

    G ~ P(G | completed rows),   θ ~ P(θ | G, completed rows),   cells ~ P(gaps | rows, G, θ)

(data augmentation, Tanner & Wong 1987). For the first, every family is scored anew on the completed
rows, and the moves of `cpp/average/chains.hpp` go on from the last graph; the second is a Dirichlet
for each row of a table, a normal-inverse-gamma for each line; the third draws the gaps of a row
together: states in blocks where they are many (`cpp/em/draw.hpp`), numbers from their Gaussian
given the states and what is seen. Each chain has its own cells, which begin as draws from their
columns.

What is kept of a sweep is the graph and the statistics of its families: the mixture of their
posteriors over sweeps is the posterior given the observed cells.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.schema import Schema, Variable
from credo.data import Stream, Table
from credo.model.graphs.dag import Dag
from credo.model.networks.count_table import counts
from credo.model.networks.network import Network
from credo.model.networks.priors import pseudocounts_of
from credo.predict.intervals.draws import Draws, dirichlet_rows, network_of
from credo.predict.rows.impute_mixed import MixedRows, block_rows
from credo.predict.rows.running import patterns
from credo.stats.block import Block
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.train.averaging.families import learned_families, table_prior
from credo.train.averaging.lists import Weighed
from credo.train.em.augment import as_rows

__all__ = ["FAMILIES", "SCORES", "Augmented", "Family", "filled", "rows_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Cells = NDArray[Any]

SCORES = ("bdeu", "k2", "bge")
"""The scores that are the marginal likelihood of a family under one prior."""

FAMILIES = 10_000
"""Families that are scored on each completion when nobody says max_parents."""

_INNER = 4  # sweeps of moves for each completion
_BLOCK = 256  # states of a row's gaps that are drawn together
_POOLED = 16  # completions of each chain that tables of one graph are made from
_ROWS = 2_000_000  # of them together
_SMALL = 1_000_000  # rows times families that one thread scores


def rows_of(source: Any, score: Any) -> Table:
    """The rows in memory; what cannot be augmented is refused."""
    told = 'Use missing="available-cases".'
    counted = [v.name for v in source.schema.variables if counts(v)]
    if counted:
        raise InputError(
            f"Data augmentation over graphs draws states and lines; {counted[0]!r} counts.",
            hint=told,
        )
    if score not in SCORES:
        raise InputError(
            "Data augmentation draws parameters from their posterior, so the score is 'bdeu', 'k2' "
            f"or 'bge', got {getattr(score, '__name__', score)!r}.",
            hint=told,
        )
    if isinstance(source, Stream):
        return source.load()
    if not isinstance(source, Table):
        raise InputError("Data augmentation needs the rows in memory.", hint=told)
    return source


def filled(table: Table, seed: int) -> Table:
    """The table with its gaps as draws from what their columns hold: somewhere to begin."""
    variables = table.schema.variables
    rows = _begun(_matrix(table, range(len(variables))), variables, np.random.default_rng(seed))
    return _table(table.schema, rows, table.block.weights)


def _matrix(table: Table, places: Sequence[int]) -> Cells:
    """[rows, columns]: codes, -1 where a state is missing, as floats where a column has numbers."""
    variables = [table.schema.variables[i] for i in places]
    kind = np.int32 if all(v.is_discrete for v in variables) else np.float64
    columns = []
    for i, v in zip(places, variables, strict=True):
        column = table.block.arrays[i].astype(kind)
        if v.is_discrete:
            column[column == v.arity] = -1
        columns.append(column)
    return np.stack(columns, axis=1)


def _gone(rows: Cells, variables: Sequence[Variable]) -> NDArray[np.bool_]:
    states = np.array([v.is_discrete for v in variables])
    return np.where(states, rows < 0, np.isnan(rows))


def _begun(rows: Cells, variables: Sequence[Variable], chance: np.random.Generator) -> Cells:
    out = rows.copy()
    for column, gone, v in zip(out.T, _gone(rows, variables).T, variables, strict=True):
        if v.is_discrete:
            seen = np.bincount(column[~gone].astype(np.intp), minlength=v.arity) + 1.0
            column[gone] = chance.choice(v.arity, int(gone.sum()), p=seen / seen.sum())
        elif gone.any():
            column[gone] = chance.choice(column[~gone], int(gone.sum()))
    return out


def _table(schema: Schema, rows: Cells, weights: Any) -> Table:
    arrays = tuple(
        np.ascontiguousarray(
            c, (np.uint8 if v.arity < 255 else np.uint16) if v.is_discrete else c.dtype
        )
        for c, v in zip(rows.T, schema.variables, strict=True)
    )
    return Table(Block(schema, arrays, weights))


class Family(NamedTuple):
    """A family of a kept graph: its child, its parents, and what it needs of that completion."""

    child: int
    parents: tuple[int, ...]
    statistic: Counts | Moments


Given = tuple[Sequence[Any], Callable[[], Cells]]
"""The statistics of a graph's families, and how the gaps are drawn given them."""


class Augmented:
    """Chains as `_core.Chains`, whose rows are completed anew in every sweep.

    `run` counts edges and keeps graphs alike; a kept graph is a row of numbers of `families`.
    """

    def __init__(self, found: Weighed, table: Table, chains: int, seed: int) -> None:
        self.found, self.variables = found, found.scores.variables
        self.prior = table_prior(found.scores.spec)
        self.place = [table.schema.index(v.name) for v in self.variables]
        self.schema = Schema(self.variables)
        rows, weights = _matrix(table, self.place), table.block.weights
        each = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        rows, each = rows[each > 0], each[each > 0]
        open_ = _gone(rows, self.variables).any(axis=1)
        self.whole = int((~open_).sum())  # rows without a gap come first
        at, self.gap_weights = as_rows(np.flatnonzero(open_).astype(np.int32)[:, None], each[open_])
        self.gaps = rows[at[:, 0]]
        self.cells = np.concatenate([rows[~open_], self.gaps])
        self.each = np.concatenate([each[~open_], self.gap_weights])
        self.families: list[Family] = []
        self._known: dict[tuple[int, tuple[int, ...], bytes], int] = {}
        self._prior: dict[tuple[int, tuple[int, ...]], Floats] = {}
        seeds = np.random.SeedSequence(seed).spawn(chains)
        self.chance = [np.random.default_rng(s) for s in seeds]
        self.rows = [_begun(self.cells, self.variables, chance) for chance in self.chance]
        self.graphs: list[list[list[int]] | None] = [None] * chains
        most = max(min(_POOLED, _ROWS // max(len(self.gaps) * chains, 1)), 1)
        self.pool: list[deque[Cells]] = [deque(maxlen=most) for _ in range(chains)]

    def run(
        self, sweeps: int, moves: int, keep: int, threads: int = 1, cold: float = 1.0
    ) -> tuple[Floats, Ints, Floats, Floats]:
        """As `_core.Chains.run`."""
        n, chains = len(self.variables), len(self.chance)
        threads = 1 if len(self.cells) * self.found.lists.size < _SMALL else threads
        edges, moved = np.zeros((chains, n * n)), np.zeros((4, 2))
        kept, scores = np.zeros((chains, keep, n), np.int32), np.zeros((chains, keep))
        for c in range(chains):
            at = 0
            for sweep in range(sweeps):
                x, score, m = self._moved(c, moves, threads, cold)
                edges[c] += x / sweeps
                moved += m
                told = (sweep + 1) * keep // sweeps > sweep * keep // sweeps
                numbers = self._completed(c, threads, told)
                if told:
                    kept[c, at], scores[c, at] = numbers, score
                    at += 1
        return edges, kept, scores, moved

    def pooled(self) -> Table:
        """The rows with some completions of each chain, each a share of its weight."""
        every = [cells for pool in self.pool for cells in pool]
        rows = np.concatenate([self.cells[: self.whole], *every])
        shares = np.tile(self.gap_weights / len(every), len(every))
        weights = np.concatenate([self.each[: self.whole], shares])
        return _table(self.schema, rows, weights)

    def _table(self, c: int) -> Table:
        weights = None if (self.each == 1).all() else self.each
        return _table(self.schema, self.rows[c], weights)

    def _moved(self, c: int, moves: int, threads: int, cold: float) -> tuple[Any, float, Any]:
        """The graph goes on, given the completed rows."""
        native = self.found.scores.on(self._table(c), threads)
        arguments = self.found.rules.arguments
        lists = _core.FamilyLists(native, *arguments, self.found.by_size, math.inf, None)
        graph = self.graphs[c]
        seed = int(self.chance[c].integers(2**62))
        chain = _core.Chains(lists, [seed], [] if graph is None else [graph])
        x, kept, scores, moved = chain.run(_INNER, moves, 1, threads, cold)
        self.graphs[c] = [list(lists.set(v, int(at))) for v, at in enumerate(kept[0, 0])]
        return x[0], float(scores[0, 0]), moved

    def _completed(self, c: int, threads: int, told: bool) -> list[int]:
        """Parameters, then cells, given the graph; the numbers of its families if they are kept."""
        graph = self.graphs[c]
        assert graph is not None
        parents = [tuple(sorted(above, key=self.place.__getitem__)) for above in graph]
        states = self.gaps.dtype.kind == "i"
        found, draw = (self._tables if states else self._lines)(c, parents, threads)
        numbers = []
        if told:
            self.pool[c].append(self.rows[c][self.whole :].copy())
            numbers = [
                self._number(v, p, f) for v, (p, f) in enumerate(zip(parents, found, strict=True))
            ]
        self.rows[c][self.whole :] = draw()
        return numbers

    def _tables(self, c: int, parents: Sequence[tuple[int, ...]], threads: int) -> Given:
        """Of states alone: tables from their Dirichlets, cells by the core."""
        rows, chance = self.rows[c], self.chance[c]
        found, theta, scopes = [], [], []
        for v, above in enumerate(parents):
            scope = [*above, v]
            axes = tuple(self.variables[s] for s in scope)
            shape = tuple(v.arity for v in axes)
            flat = np.ravel_multi_index(tuple(rows[:, s] for s in scope), shape)
            n = np.asarray(np.bincount(flat, self.each, math.prod(shape)), dtype=np.float64)
            found.append(Counts.trusted(axes, n.reshape(shape), 0))
            alpha = n.reshape(shape) + self._pseudocounts(v, above)
            theta.append(dirichlet_rows(alpha, 1, chance, chance)[0])
            scopes.append(scope)
        native = _core.Expectations([v.arity for v in self.variables], scopes, 1, 1)
        seed = int(chance.integers(2**62))

        def draw() -> Cells:
            drawn, _ = native.redraw(
                np.concatenate(theta), self.gaps, rows[self.whole :], self.gap_weights, _BLOCK,
                seed, threads,
            )  # fmt: skip
            return drawn

        return found, draw

    def _lines(self, c: int, parents: Sequence[tuple[int, ...]], threads: int) -> Given:
        """With numbers: tables and lines of a network, and its Gaussian given what a row has."""
        names, chance = self.schema.names, self.chance[c]
        keys = [(names[v], tuple(names[p] for p in above), -1) for v, above in enumerate(parents)]
        spec = self.found.scores.spec
        every = learned_families(self._table(c), keys, spec, len(names), threads, {})
        dag = Dag([(p, child) for child, above, _ in keys for p in above], names)
        net = Network.trusted(dag, {d.name: d for d in every}, None)

        def draw() -> Cells:
            drawn = network_of(net, Draws(net, chance, 1).next(names, 1), 0)
            rows = self.gaps.copy()
            for gone, every in patterns(_gone(rows, self.variables)):
                for at in np.split(every, range(0, len(every), block_rows(drawn, gone))[1:]):
                    columns = dict(zip(names, rows[at].T, strict=True))
                    told = MixedRows(drawn, gone, columns, at).filled("sample", chance)
                    for name, cells in told.items():
                        rows[at, names.index(name)] = cells
            return rows

        return [d.learned.observed for d in every if d.learned is not None], draw

    def _pseudocounts(self, child: int, parents: tuple[int, ...]) -> Floats:
        key = child, parents
        if key not in self._prior:
            own, above = self.variables[child], tuple(self.variables[p] for p in parents)
            self._prior[key] = np.array(pseudocounts_of(self.prior, own, above))
        return self._prior[key]

    def _number(self, child: int, parents: tuple[int, ...], found: Counts | Moments) -> int:
        parts = (found,) if isinstance(found, Counts) else (found.n, found.mean, found.scatter)
        key = (child, parents, b"".join(np.asarray(part).tobytes() for part in parts))
        if key not in self._known:
            self._known[key] = len(self.families)
            self.families.append(Family(child, parents, found))
        return self._known[key]
