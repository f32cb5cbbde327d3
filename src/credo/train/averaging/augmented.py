"""Graph, tables and missing cells drawn in turn, so that draws include what the gaps leave open.

    G ~ P(G | completed rows),   θ ~ P(θ | G, completed rows),   cells ~ P(gaps | rows, G, θ)

(data augmentation, Tanner & Wong 1987). For the first, every family is scored anew on the completed
rows, and the moves of `cpp/average/chains.hpp` go on from the last graph; the second is a Dirichlet
for each row of a table; the third draws the gaps of a row together, in blocks where they have many
states (`cpp/em/draw.hpp`). Each chain has its own cells, which begin as draws from their columns.

What is kept of a sweep is the graph and the counts of its families: the mixture of their Dirichlets
over sweeps is the posterior given the observed cells.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.schema import Schema
from credo.data import Stream, Table
from credo.model.networks.priors import pseudocounts_of
from credo.predict.intervals.draws import dirichlet_rows
from credo.stats.block import Block
from credo.stats.counts import Counts
from credo.train.averaging.families import table_prior
from credo.train.averaging.lists import Weighed
from credo.train.em.augment import as_rows

__all__ = ["FAMILIES", "SCORES", "Augmented", "Family", "filled", "rows_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

SCORES = ("bdeu", "k2")
"""The scores that are the marginal likelihood of a table under one prior."""

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
    numbers = [v.name for v in source.schema.variables if not v.is_discrete]
    if numbers:
        raise InputError(
            f"Data augmentation over graphs is for discrete columns; {numbers[0]!r} is continuous.",
            hint=told,
        )
    if score not in SCORES:
        raise InputError(
            "Data augmentation draws tables from their posterior, so the score is 'bdeu' or 'k2', "
            f"got {getattr(score, '__name__', score)!r}.",
            hint=told,
        )
    if isinstance(source, Stream):
        return source.load()
    if not isinstance(source, Table):
        raise InputError("Data augmentation needs the rows in memory.", hint=told)
    return source


def filled(table: Table, seed: int) -> Table:
    """The table with its gaps as draws from what their columns hold: somewhere to begin."""
    arity = [v.arity for v in table.schema.variables]
    codes = _begun(_codes(table, range(len(arity))), arity, np.random.default_rng(seed))
    return _table(table.schema, codes, arity, table.block.weights)


def _codes(table: Table, places: Iterable[int]) -> Ints:
    """[rows, columns]; -1 where a cell is missing."""
    columns = []
    for i in places:
        codes = table.block.arrays[i].astype(np.int32)
        codes[codes >= table.schema.variables[i].arity] = -1
        columns.append(codes)
    return np.stack(columns, axis=1)


def _begun(codes: Ints, arity: Sequence[int], chance: np.random.Generator) -> Ints:
    out = codes.copy()
    for j, states in enumerate(arity):
        gone = codes[:, j] < 0
        seen = np.bincount(codes[~gone, j], minlength=states) + 1.0
        out[gone, j] = chance.choice(states, int(gone.sum()), p=seen / seen.sum())
    return out


def _table(schema: Schema, codes: Ints, arity: Sequence[int], weights: Any) -> Table:
    arrays = tuple(
        np.ascontiguousarray(c, np.uint8 if a < 255 else np.uint16)
        for c, a in zip(codes.T, arity, strict=True)
    )
    return Table(Block(schema, arrays, weights))


class Family(NamedTuple):
    """A family of a kept graph: its child, its parents, and its counts in that completion."""

    child: int
    parents: tuple[int, ...]
    counts: Counts


class Augmented:
    """Chains as `_core.Chains`, whose rows are completed anew in every sweep.

    `run` counts edges and keeps graphs alike; a kept graph is a row of numbers of `families`.
    """

    def __init__(self, found: Weighed, table: Table, chains: int, seed: int) -> None:
        self.found, self.variables = found, found.scores.variables
        self.prior = table_prior(found.scores.spec)
        self.place = [table.schema.index(v.name) for v in self.variables]
        self.schema = Schema(self.variables)
        self.arity = [v.arity for v in self.variables]
        codes, weights = _codes(table, self.place), table.block.weights
        each = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
        codes, each = codes[each > 0], each[each > 0]
        open_ = (codes < 0).any(axis=1)
        self.whole = int((~open_).sum())  # rows without a gap come first
        self.gaps, self.gap_weights = as_rows(codes[open_], each[open_])
        self.codes = np.concatenate([codes[~open_], self.gaps])
        self.each = np.concatenate([each[~open_], self.gap_weights])
        self.families: list[Family] = []
        self._known: dict[tuple[int, tuple[int, ...], bytes], int] = {}
        self._prior: dict[tuple[int, tuple[int, ...]], Floats] = {}
        seeds = np.random.SeedSequence(seed).spawn(chains)
        self.chance = [np.random.default_rng(s) for s in seeds]
        self.rows = [_begun(self.codes, self.arity, chance) for chance in self.chance]
        self.graphs: list[list[list[int]] | None] = [None] * chains
        most = max(min(_POOLED, _ROWS // max(len(self.gaps) * chains, 1)), 1)
        self.pool: list[deque[Ints]] = [deque(maxlen=most) for _ in range(chains)]

    def run(
        self, sweeps: int, moves: int, keep: int, threads: int = 1, cold: float = 1.0
    ) -> tuple[Floats, Ints, Floats, Floats]:
        """As `_core.Chains.run`."""
        n, chains = len(self.variables), len(self.chance)
        threads = 1 if len(self.codes) * self.found.lists.size < _SMALL else threads
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
        codes = np.concatenate([self.codes[: self.whole], *every])
        shares = np.tile(self.gap_weights / len(every), len(every))
        weights = np.concatenate([self.each[: self.whole], shares])
        return _table(self.schema, codes, self.arity, weights)

    def _moved(self, c: int, moves: int, threads: int, cold: float) -> tuple[Any, float, Any]:
        """The graph goes on, given the completed rows."""
        weights = None if (self.each == 1).all() else self.each
        table = _table(self.schema, self.rows[c], self.arity, weights)
        native = self.found.scores.on(table, threads)
        arguments = self.found.rules.arguments
        lists = _core.FamilyLists(native, *arguments, self.found.by_size, math.inf, None)
        graph = self.graphs[c]
        seed = int(self.chance[c].integers(2**62))
        chain = _core.Chains(lists, [seed], [] if graph is None else [graph])
        x, kept, scores, moved = chain.run(_INNER, moves, 1, threads, cold)
        self.graphs[c] = [list(lists.set(v, int(at))) for v, at in enumerate(kept[0, 0])]
        return x[0], float(scores[0, 0]), moved

    def _completed(self, c: int, threads: int, told: bool) -> list[int]:
        """Tables, then cells, given the graph; the numbers of its families if they are kept."""
        graph, rows, chance = self.graphs[c], self.rows[c], self.chance[c]
        assert graph is not None
        numbers, theta, scopes = [], [], []
        for v, above in enumerate(graph):
            parents = tuple(sorted(above, key=self.place.__getitem__))
            scope = [*parents, v]
            shape = tuple(self.arity[s] for s in scope)
            flat = np.ravel_multi_index(tuple(rows[:, s] for s in scope), shape)
            found = np.bincount(flat, self.each, math.prod(shape))
            counts = np.asarray(found, dtype=np.float64).reshape(shape)
            alpha = counts + self._pseudocounts(v, parents)
            theta.append(dirichlet_rows(alpha, 1, chance, chance)[0])
            scopes.append(scope)
            if told:
                numbers.append(self._number(v, parents, counts))
        if told:
            self.pool[c].append(rows[self.whole :].copy())
        native = _core.Expectations(self.arity, scopes, 1, 1)
        seed = int(chance.integers(2**62))
        rows[self.whole :], _ = native.redraw(
            np.concatenate(theta), self.gaps, rows[self.whole :], self.gap_weights, _BLOCK, seed,
            threads,
        )  # fmt: skip
        return numbers

    def _pseudocounts(self, child: int, parents: tuple[int, ...]) -> Floats:
        key = child, parents
        if key not in self._prior:
            own, above = self.variables[child], tuple(self.variables[p] for p in parents)
            self._prior[key] = np.array(pseudocounts_of(self.prior, own, above))
        return self._prior[key]

    def _number(self, child: int, parents: tuple[int, ...], counts: Floats) -> int:
        key = (child, parents, counts.tobytes())
        if key not in self._known:
            self._known[key] = len(self.families)
            axes = tuple(self.variables[i] for i in (*parents, child))
            self.families.append(Family(child, parents, Counts.trusted(axes, counts, 0)))
        return self._known[key]
