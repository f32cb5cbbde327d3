"""Statistics of a table that a model should reproduce: of each variable, and of each pair.

    states: their shares        numbers: mean, sd, skewness, least and largest
    pairs: mutual information in bits (states), correlation (numbers), η² (one of each)

Numbers are the user's, whatever scale they have below; those in bins are paired by their bins.
A pair is judged by the rows in which both were observed. The counts of all pairs of states come
from one native pass; the others from a few matrix products, with X the indicators of the states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.data import Table
from credo.stats.block import Block
from credo.stats.counting import count_dense

__all__ = ["Named", "Statistics"]

Floats = NDArray[np.float64]
Layout = tuple[_core.Sets, list[tuple[NDArray[np.intp], NDArray[Any]]]]

MAX_STATES = 12
"""States of a variable whose shares are looked at: the most frequent ones."""
MAX_INDICATORS = 1500
"""States of all variables whose pairs are looked at."""
_OF_NUMBERS = ("mean", "sd", "skewness", "least", "largest")
_EXTREMES = ("least", "largest")


@dataclass(frozen=True, slots=True)
class Named:
    """What a statistic is: its name, the variables it is of, and the scale its tails have."""

    name: str
    variables: tuple[str, ...]
    scale: str  # plain, share, information, correlation, least, largest


class Statistics:
    """The statistics that go with a table, found the same way in every replicate."""

    def __init__(self, table: Table, pairs: Sequence[tuple[str, str]]) -> None:
        schema = table.schema
        self.discrete = [v for v in schema.variables if v.is_discrete and v.arity > 1]
        self.continuous = [v for v in schema.variables if not v.is_discrete or v.scale is not None]
        self.shares: list[tuple[str, NDArray[np.intp]]] = []
        self.named: list[Named] = []
        self.labelled = [v for v in self.discrete if v.scale is None]
        for v in self.labelled:
            codes = table.block.arrays[schema.index(v.name)]
            often = np.bincount(codes[codes < v.arity].astype(np.intp), minlength=v.arity)
            top = [1] if v.arity == 2 else np.argsort(-often, kind="stable")[:MAX_STATES]
            picked = np.sort(np.asarray(top, dtype=np.intp))
            self.shares.append((v.name, picked))
            self.named += [
                Named(f"share of {v.name} = {v.states[k]}", (v.name,), "share") for k in picked
            ]
        for v in self.continuous:
            self.named += [
                Named(f"{what} of {v.name}", (v.name,), what if what in _EXTREMES else "plain")
                for what in _OF_NUMBERS
            ]
        self._set_pairs(pairs)
        self._cells: Layout | None = None

    def _set_pairs(self, pairs: Sequence[tuple[str, str]]) -> None:
        wanted = {n for pair in pairs for n in pair}
        self.states = [v for v in self.discrete if v.name in wanted]
        self.numbers = [v for v in self.continuous if v.name in wanted and not v.is_discrete]
        at = {v.name: k for k, v in enumerate(self.states)}
        to = {v.name: k for k, v in enumerate(self.numbers)}
        self.starts = np.concatenate([[0], np.cumsum([v.arity for v in self.states])]).astype(int)
        kinds: dict[str, list[tuple[int, int]]] = {"dd": [], "cc": [], "dc": []}
        names: dict[str, list[Named]] = {"dd": [], "cc": [], "dc": []}
        for a, b in pairs:
            if a in at and b in at:
                kinds["dd"].append((at[a], at[b]))
                names["dd"].append(Named(f"information of {a} on {b}", (a, b), "information"))
            elif a in to and b in to:
                kinds["cc"].append((to[a], to[b]))
                names["cc"].append(Named(f"correlation of {a} and {b}", (a, b), "correlation"))
            elif a in at or b in at:
                if b in at:
                    a, b = b, a
                if a not in at or b not in to:
                    continue  # a variable of one state
                kinds["dc"].append((at[a], to[b]))
                names["dc"].append(Named(f"share of {b} explained by {a}", (a, b), "information"))
        self.pairs = {k: np.array(p, dtype=int).reshape(-1, 2) for k, p in kinds.items()}
        self.named += [*names["dd"], *names["cc"], *names["dc"]]

    def of(self, table: Table) -> Floats:
        """The statistics of one table, in the order of `named`."""
        arrays = dict(zip(table.schema.names, table.block.arrays, strict=True))
        arrays |= {v.name: table.values(v.name) for v in self.numbers if v.scale is not None}
        out: list[Floats] = []
        for v, (name, picked) in zip(self.labelled, self.shares, strict=True):
            codes = arrays[name]
            n = np.bincount(codes.astype(np.intp), minlength=v.arity + 1)[: v.arity]
            out.append(n[picked] / max(int(n.sum()), 1))
        out += [_of_numbers(table.values(v.name)) for v in self.continuous]
        out += self._of_pairs(table, arrays)
        return np.concatenate(out) if out else np.zeros(0)

    def _of_pairs(self, table: Table, arrays: dict[str, NDArray[Any]]) -> list[Floats]:
        out = []
        if len(self.pairs["dd"]):
            out.append(self._information(table))
        if not self.numbers:
            return out
        rows = len(table)
        z = np.zeros((rows, len(self.numbers)))
        there = np.zeros_like(z)
        for k, v in enumerate(self.numbers):
            a = arrays[v.name]
            ok = ~np.isnan(a)
            there[:, k] = ok
            middle, sd = (float(a[ok].mean()), float(a[ok].std())) if ok.any() else (0.0, 0.0)
            z[ok, k] = (a[ok] - middle) / (sd if sd > 0 else 1.0)
        if len(self.pairs["cc"]):
            out.append(self._correlations(z, there))
        if len(self.pairs["dc"]):
            x = np.zeros((rows, int(self.starts[-1])))
            for k, v in enumerate(self.states):
                codes = arrays[v.name].astype(np.intp)
                seen = np.flatnonzero(codes < v.arity)
                x[seen, self.starts[k] + codes[seen]] = 1.0
            out.append(self._explained(x, z, there))
        return out

    def _information(self, table: Table) -> Floats:
        """I(a; b) in bits for each pair, from the counts of all pairs in one pass."""
        block = table.block
        if self._cells is None:
            self._cells = self._layout(block)
        sets, groups = self._cells
        flat = count_dense(block, sets, 1, "auto", "auto").astype(np.float64)
        out = np.empty(len(sets))
        for which, cells in groups:
            n = flat[cells]
            total = n.sum(axis=(1, 2))
            parts = _xlogx(n).sum(axis=(1, 2)) - _xlogx(n.sum(axis=2)).sum(axis=1)
            parts += _xlogx(total) - _xlogx(n.sum(axis=1)).sum(axis=1)
            out[which] = np.maximum(parts / np.where(total > 0, total, 1.0), 0.0)
        return out

    def _layout(self, block: Block) -> Layout:
        """The pairs as the kernel wants them, and where the cells of pairs of one shape lie."""
        at = {block.schema.variables[i].name: k for k, i in enumerate(block.discrete)}
        place = [at[v.name] for v in self.states]
        sets = [[place[a], place[b]] for a, b in self.pairs["dd"].tolist()]
        shapes = np.array([v.arity for v in self.states])[self.pairs["dd"]]
        ends = np.concatenate([[0], np.cumsum(shapes.prod(axis=1))])
        groups = []
        for r, c in np.unique(shapes, axis=0).tolist():
            which = np.flatnonzero((shapes == (r, c)).all(axis=1))
            cells = ends[which][:, None] + np.arange(r * c)
            groups.append((which, cells.reshape(-1, r, c)))
        return _core.Sets(sets), groups

    def _correlations(self, z: Floats, there: Floats) -> Floats:
        n = there.T @ there
        safe = np.where(n > 0, n, 1.0)
        first = z.T @ there  # Σ z_i where j was seen
        square = (z**2).T @ there
        cross = z.T @ z - first * first.T / safe
        spread = np.maximum(square - first**2 / safe, 0.0)
        i, j = self.pairs["cc"].T
        size = np.sqrt(spread[i, j] * spread[j, i])
        out: Floats = np.where(size > 0, cross[i, j] / np.where(size > 0, size, 1.0), 0.0)
        return np.clip(out, -1.0, 1.0)

    def _explained(self, x: Floats, z: Floats, there: Floats) -> Floats:
        """η² of numbers by states: the variance between the groups, as a share of all."""
        cuts = self.starts[:-1]
        n, first = x.T @ there, x.T @ z
        square = x.T @ (z**2)
        safe = np.where(n > 0, n, 1.0)
        between = np.add.reduceat(first**2 / safe, cuts, axis=0)
        total_n = np.add.reduceat(n, cuts, axis=0)
        total = np.add.reduceat(first, cuts, axis=0) ** 2 / np.where(total_n > 0, total_n, 1.0)
        whole = np.add.reduceat(square, cuts, axis=0) - total
        eta = np.where(whole > 0, (between - total) / np.where(whole > 0, whole, 1.0), 0.0)
        i, j = self.pairs["dc"].T
        out: Floats = np.clip(eta[i, j], 0.0, 1.0)
        return out


def _xlogx(n: Floats) -> Floats:
    out: Floats = n * np.log2(np.where(n > 0, n, 1.0))
    return out


def _of_numbers(values: Floats) -> Floats:
    x = values[~np.isnan(values)]
    if not len(x):
        return np.zeros(len(_OF_NUMBERS))
    mean, sd = float(x.mean()), float(x.std())
    skew = float((((x - mean) / sd) ** 3).mean()) if sd > 0 else 0.0
    return np.array([mean, sd, skew, float(x.min()), float(x.max())])
