"""Rows as the kernel of mixtures reads them.

Real columns stand one after the other, centred and scaled. If they are one Gaussian, rows are
sorted by which cells are missing, so that each run of rows has one set of observed columns.
Discrete columns are packed: a few of them become one column whose states are their combinations
(at most 256), missing being one more state; a look-up then serves several columns at once.

Inverse roots of covariances: Σ = L Lᵀ and R = L⁻¹, all that a Gaussian's density needs.

    ln |Σ| = −2 Σ ln R_ii        xᵀ Σ⁻¹ x = |R x|²        tr Σ⁻¹ S = Σ (R S) ∘ R

The kernel of mixtures makes its own; of many columns LAPACK's take a third of the time. They are
made once a step, and every part of the step reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, LimitError

__all__ = ["MAX_CELLS", "WIDE", "Laid", "Parameters", "Roots", "Statistics", "laid", "roots_of"]

Floats = NDArray[np.float64]

WIDE = 128
"""From so many columns on LAPACK's roots are faster than those of the kernel."""

_FEW = 48  # columns, below which all classes at once are faster than one after the other


@dataclass(frozen=True, slots=True)
class Roots:
    """R of each class, lower triangles [k, d, d]; of a covariance that all share, the same view."""

    inverse: Floats

    @property
    def log_det(self) -> Floats:
        """ln |Σ| of each class."""
        found: Floats = -2.0 * np.log(self.inverse.diagonal(axis1=1, axis2=2)).sum(axis=1)
        return found

    def trace(self, of: Floats | None = None) -> Floats:
        """tr Σ⁻¹ S of each class, S being the identity unless it is given."""
        left = self.inverse if of is None else self.inverse @ of
        found: Floats = np.einsum("cij,cij->c", left, self.inverse)
        return found

    def squares(self, x: Floats) -> Floats:
        """xᵀ Σ⁻¹ x of each class, with x [k, d]."""
        found: Floats = ((self.inverse @ x[:, :, None]) ** 2).sum(axis=(1, 2))
        return found


def roots_of(covariances: Floats) -> Roots:
    """The inverse roots of covariances [k, d, d].

    >>> found = roots_of(np.array([[[4.0, 2.0], [2.0, 5.0]]]))
    >>> found.inverse.tolist(), np.round(np.exp(found.log_det), 9).tolist()
    ([[[0.5, 0.0], [-0.25, 0.5]]], [16.0])
    """
    shared = len(covariances) > 1 and covariances.strides[0] == 0
    given = covariances[:1] if shared else covariances
    try:
        if given.shape[-1] < _FEW:
            inverse = np.tril(np.linalg.inv(np.linalg.cholesky(given)))
        else:
            inverse = np.stack([_wide(c) for c in given])
    except np.linalg.LinAlgError:
        raise InputError(
            "A covariance is not positive definite.",
            hint="Raise variance_floor, or use covariance='diagonal'.",
        ) from None
    return Roots(np.broadcast_to(inverse, covariances.shape))


def _wide(covariance: Floats) -> Floats:
    from scipy.linalg.lapack import dpotrf, dtrtri

    diagonal = covariance.diagonal()
    if np.count_nonzero(covariance) == len(diagonal) and (diagonal > 0).all():  # as at a start
        return np.diag(1 / np.sqrt(diagonal))
    upper, failed = dpotrf(covariance.T, lower=0)  # symmetric, and so in LAPACK's order
    if not failed:
        upper, failed = dtrtri(upper, lower=0, overwrite_c=1)
    if failed or not np.isfinite(upper).all():
        raise np.linalg.LinAlgError
    found: Floats = upper.T
    return found


_PACKED = 256  # states of a packed column
MAX_CELLS = 200_000_000
"""Classes × states, or classes × columns², beyond which nothing is allocated."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a mixture, in the scaled units of its rows.

    `spread` is [k, d, d] where the real columns are one Gaussian, else [k, d].
    """

    weights: Floats
    tables: tuple[Floats, ...]  # each [k, states]
    means: Floats
    spread: Floats
    rates: Floats  # [k, count columns]

    @property
    def k(self) -> int:
        """The number of classes."""
        return len(self.weights)

    def by_size(self) -> Parameters:
        """The same with the heaviest class first."""
        order = np.argsort(-self.weights, kind="stable")
        if (order[1:] > order[:-1]).all():
            return self
        spread = self.spread
        if spread.strides[0] or not spread.size:  # not one covariance that all share
            spread = spread[order]
        tables = tuple(t[order] for t in self.tables)
        weights, means, rates = self.weights[order], self.means[order], self.rates[order]
        return Parameters(weights, tables, means, spread, rates)


@dataclass(frozen=True, slots=True)
class Statistics:
    """The expected statistics of each class, `under` some parameters.

    `first` and `second` are sums about the means of those; where the columns are not one Gaussian,
    `second` is [k, d] and `there` the weight of observed cells.
    """

    under: Parameters
    mass: Floats
    counts: tuple[Floats, ...]
    first: Floats
    second: Floats
    there: Floats
    roots: Roots | None = None  # of the covariances, where they are at hand


@dataclass(frozen=True, slots=True)
class Laid:
    """Rows at hand, and what one pass over them says."""

    native: _core.MixtureRows
    rows: int
    weight: float
    joint: bool
    real: int  # Gaussian columns
    groups: tuple[tuple[tuple[int, int, int], ...], ...]  # (column, states, states and missing)
    order: NDArray[np.intp] | None

    def expect(
        self, x: Parameters, threads: int = 1, path: str = "auto"
    ) -> tuple[Statistics, float]:
        """The E-step: statistics, and ln P(rows)."""
        roots = self._roots(x)
        found = self.native.step(
            *self._model(x, roots), self.joint, threads, path, roots is not None
        )
        if found[0] is None:
            raise InputError(
                "A covariance is not positive definite.",
                hint="Raise variance_floor, or use covariance='diagonal'.",
            )
        log, impossible, mass, counts, first, second = found
        tables = self._unpacked(counts)
        if self.joint:
            there = np.repeat(mass[:, None], self.real, axis=1)
            made = Statistics(x, mass, tables, first, second, there, roots)
        else:
            made = Statistics(x, mass, tables, first, second[:, 0, : self.real], second[:, 1])
        return made, -np.inf if impossible else log

    def score(self, x: Parameters, threads: int = 1, path: str = "auto") -> tuple[Floats, Floats]:
        """P(class | row) [rows, k] and ln P(row), in the order of the rows as they came."""
        roots = self._roots(x)
        found = self.native.score(
            *self._model(x, roots), self.joint, threads, path, roots is not None
        )
        if found[0] is None:
            raise InputError("A covariance is not positive definite.")
        share, logs = found
        if self.order is not None:
            back = np.argsort(self.order)
            share, logs = share[back], logs[back]
        return share, logs

    def _roots(self, x: Parameters) -> Roots | None:
        """The roots of covariances of many columns; the kernel makes those of few, and of gaps."""
        if not self.joint or self.order is not None or self.real < WIDE:
            return None
        return roots_of(x.spread)

    def _model(self, x: Parameters, roots: Roots | None) -> tuple[Floats, Floats, Floats, Floats]:
        k = x.k
        with np.errstate(divide="ignore"):
            weights = np.log(x.weights)
            logs = [np.log(t.T) for t in x.tables]
        parts = [np.zeros((0, k))]
        for group in self.groups:
            total = np.zeros((1, k))
            for column, states, slots in group:
                table = logs[column]
                if slots > states:
                    table = np.concatenate([table, np.zeros((1, k))])
                total = (total[:, None, :] + table).reshape(-1, k)
            parts.append(total)
        tables = np.ascontiguousarray(np.concatenate(parts))
        if self.joint:
            spread = x.spread if roots is None else roots.inverse
            return weights, tables, _plain(x.means), _plain(spread)
        variance = x.spread
        m = x.rates.shape[1]
        means = np.concatenate([x.means, np.zeros((k, m))], axis=1)
        terms = np.zeros((k, 3, means.shape[1]))
        d = self.real
        terms[:, 1, :d] = 0.5 / variance
        terms[:, 2, :d] = -0.5 * np.log(2 * np.pi * variance)
        terms[:, 0, d:] = np.log(x.rates)
        terms[:, 2, d:] = -x.rates
        return weights, tables, _plain(means), terms

    def _unpacked(self, counts: Floats) -> tuple[Floats, ...]:
        found: dict[int, Floats] = {}
        at = 0
        for group in self.groups:
            shape = [slots for _, _, slots in group]
            size = int(np.prod(shape))
            block = counts[at : at + size].reshape(*shape, -1)
            at += size
            for axis, (column, states, _) in enumerate(group):
                others = tuple(a for a in range(len(group)) if a != axis)
                found[column] = block.sum(axis=others)[:states].T
        return tuple(found[i] for i in range(len(found)))


def _plain(a: Floats) -> Floats:
    return np.ascontiguousarray(a, dtype=np.float64)


def laid(
    reals: Floats,
    counts: Floats,
    codes: Sequence[NDArray[np.integer]],
    arities: Sequence[int],
    weights: Floats | None,
    joint: bool,
    k: int = 1,
) -> Laid:
    """Lay rows out. `reals` and `counts` are [columns, rows]; the code `arity` is missing."""
    n = reals.shape[1]
    d = len(reals)
    joint = joint and d > 0
    if joint and len(counts):
        raise InputError(
            "Columns of counts go with covariance='diagonal' or 'spherical' only.",
            hint="Leave counts= out, or choose another covariance.",
        )
    cells = k * (sum(a + 1 for a in arities) + (d * d if joint else 3 * (d + len(counts))))
    if cells > MAX_CELLS:
        raise LimitError(
            f"{k:,} classes over these columns need {cells:,} numbers a step; at most "
            f"{MAX_CELLS:,} are allowed.",
            hint="Use fewer classes, fewer columns, or covariance='diagonal'.",
        )
    order: NDArray[np.intp] | None = None
    gone = np.isnan(reals)
    if joint:
        if gone.any():
            keys = np.packbits(gone.T, axis=1)
            _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
            group = group.ravel()
            order = np.argsort(group, kind="stable")
            starts = np.concatenate([[0], np.cumsum(np.bincount(group))]).astype(np.int64)
            seen = np.ascontiguousarray(~gone[:, first].T).astype(np.uint8)
            reals = reals[:, order]
        else:
            starts, seen = np.array([0, n], dtype=np.int64), np.ones((1, d), dtype=np.uint8)
    else:
        reals = np.concatenate([reals, counts]) if len(counts) else reals
        starts = np.array([0, n], dtype=np.int64)
        seen = np.array([~np.isnan(reals).any(axis=1)], dtype=np.uint8)
    groups, packed, offset = _packed(codes, arities, n)
    if order is not None:
        packed = np.ascontiguousarray(packed[order])
        weights = None if weights is None else weights[order]
    if weights is not None:
        weights = _plain(weights)
    native = _core.MixtureRows(_plain(reals), starts, seen, packed, offset, weights)
    total = float(n if weights is None else weights.sum())
    return Laid(native, n, total, joint, d, groups, order)


def _packed(
    codes: Sequence[NDArray[np.integer]], arities: Sequence[int], n: int
) -> tuple[tuple[tuple[tuple[int, int, int], ...], ...], NDArray[np.uint16], NDArray[np.int64]]:
    """The columns in groups, the code of each row in each group, and where its rows start."""
    most = min(max(n // 8, 16), _PACKED)
    groups: list[list[tuple[int, int, int]]] = []
    room = 0
    for i, (column, arity) in enumerate(zip(codes, arities, strict=True)):
        slots = arity + int(bool((column == arity).any()))
        if not groups or slots > room:
            groups.append([])
            room = most
        groups[-1].append((i, arity, slots))
        room //= slots
    packed = np.zeros((n, len(groups)), dtype=np.uint16)
    sizes = []
    for g, group in enumerate(groups):
        code = np.zeros(n, dtype=np.uint16)
        size = 1
        for i, _, slots in group:
            code *= np.uint16(slots)
            code += codes[i].astype(np.uint16)
            size *= slots
        packed[:, g] = code
        sizes.append(size)
    offset = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return tuple(tuple(g) for g in groups), packed, offset
