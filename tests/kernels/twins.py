"""The NumPy twins of the kernels, and random tables to compare them on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo import _core


@dataclass(frozen=True)
class Table:
    """Codes of discrete variables, both as plain arrays and as the kernels' Columns."""

    codes: list[np.ndarray]
    arities: list[int]
    missing: list[bool]

    @property
    def columns(self) -> _core.Columns:
        return _core.Columns(self.codes, self.arities, self.missing)

    @property
    def n_rows(self) -> int:
        return len(self.codes[0]) if self.codes else 0


def code_type(radix: int, rng: np.random.Generator) -> type:
    """One of the types that hold codes below the radix, mostly the smallest."""
    fitting = [t for t in (np.uint8, np.uint16, np.uint32) if radix <= np.iinfo(t).max + 1]
    return fitting[0] if rng.random() < 0.7 else rng.choice(fitting)


def random_table(n_rows: int, arities: list[int], seed: int, gaps: float = 0.5) -> Table:
    """Skewed codes; each variable has missing cells with probability `gaps`."""
    rng = np.random.default_rng(seed)
    codes, missing = [], []
    for arity in arities:
        may_miss = bool(rng.random() < gaps)
        values = (arity * rng.random(n_rows) ** 2).astype(np.int64)
        if may_miss:
            values[rng.random(n_rows) < 0.1] = arity
        codes.append(values.astype(code_type(arity + may_miss, rng)))
        missing.append(may_miss)
    return Table(codes, arities, missing)


def count(table: Table, variables: list[int], weights: np.ndarray | None = None) -> np.ndarray:
    """np.bincount over the ravelled index of the rows with no missing cell."""
    complete = np.ones(table.n_rows, dtype=bool)
    for v in variables:
        complete &= table.codes[v] < table.arities[v]
    shape = [table.arities[v] for v in variables]
    index = np.zeros(complete.sum(), dtype=np.int64)
    if variables:
        index = np.ravel_multi_index(
            [table.codes[v][complete].astype(np.int64) for v in variables], shape
        )
    cells = int(np.prod(shape))
    if weights is None:
        return np.bincount(index, minlength=cells)
    out = np.zeros(cells, dtype=weights.dtype)
    np.add.at(out, index, weights[complete])
    return out


def bitmap(table: Table, variable: int, words: int) -> np.ndarray:
    """The bits of codes == state, little end first."""
    bits = np.zeros((table.arities[variable], 64 * words), dtype=np.uint8)
    for state in range(table.arities[variable]):
        bits[state, : table.n_rows] = table.codes[variable] == state
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def unique(
    table: Table, variables: list[int], weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """np.unique over rows."""
    rows = np.stack([table.codes[v].astype(np.int64) for v in variables], axis=1)
    _, first, inverse, counts = np.unique(
        rows, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    if weights is None:
        return first, counts
    out = np.zeros(len(first), dtype=weights.dtype)
    np.add.at(out, inverse.ravel(), weights)
    return first, out


def moments(
    columns: list[np.ndarray],
    group: np.ndarray | None,
    n_groups: int,
    weights: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two passes in extended precision."""
    x = np.stack(columns, axis=1).astype(np.longdouble)
    group = np.zeros(len(x), dtype=np.uint32) if group is None else group
    weights = np.ones(len(x)) if weights is None else weights
    keep = ~np.isnan(x).any(axis=1)
    d = x.shape[1]
    n, mean, scatter = np.zeros(n_groups), np.zeros((n_groups, d)), np.zeros((n_groups, d, d))
    for g in range(n_groups):
        rows = keep & (group == g) & (weights > 0)
        if not rows.any():
            continue
        w = weights[rows].astype(np.longdouble)
        centre = w @ x[rows] / w.sum()
        z = x[rows] - centre
        n[g], mean[g], scatter[g] = w.sum(), centre, (w[:, None] * z).T @ z
    return n, mean, scatter
