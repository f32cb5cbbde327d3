"""How good a partition is, whatever made it.

    within      W = Σ_i w_i |x_i − mean of its cluster|², in the scaled space, over the cells there
    explained   1 − W / (the same about the mean of all rows)
    silhouette  mean of (b − a) / max(a, b): a a row's mean distance within its own cluster, b to
                the nearest other one (Rousseeuw 1987)
    stability   the agreement with clusterings of 80 % of the rows, by the adjusted Rand index
                (Hubert & Arabie 1985; resampling as in Ben-Hur, Elisseeff & Guyon 2002)

The silhouette needs all pairs; above 4,000 rows it is the mean over 2,000 rows drawn at random,
against at most 500 rows of each cluster, and its standard error is told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, InputError
from credo.core.progress import track
from credo.core.render import Told
from credo.data import Table
from credo.train.clusters.geometry import Geometry, Unmade
from credo.train.clusters.partition import Partition
from credo.train.clusters.space import Axis, Space

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

ALL_PAIRS = 4_000
_ASKED, _AGAINST = 2_000, 500
_CHUNK = 1 << 22


def squares_of(
    space: Space, table: Table, labels: Labels, k: int, weights: Floats | None = None
) -> tuple[float, float]:
    """The sums of squares about the clusters' means, and about the mean of all rows.

    They are added up column by column, and no row becomes a point: of a state, which would be a
    0/1 coordinate, counts are enough.
    """
    inside = total = 0.0
    labels = labels.astype(np.intp, copy=False)
    for axis in space.axes:
        array = table.block.arrays[table.schema.index(axis.variable.name)]
        there = array != axis.variable.arity if axis.variable.is_discrete else ~np.isnan(array)
        whole = bool(there.all())
        x, c = (array, labels) if whole else (array[there], labels[there])
        w = weights if weights is None or whole else weights[there]
        squares = _of_states if axis.variable.is_discrete else _of_numbers
        one, every = squares(axis, x, c, k, w)
        inside, total = inside + one, total + every
    return inside, total


def _of_states(
    axis: Axis, codes: NDArray[np.unsignedinteger], labels: Labels, k: int, w: Floats | None
) -> tuple[float, float]:
    """Those of a column's 0/1 coordinates: n rows, m of them in a state, give m (n − m) / n."""
    at = labels * axis.width + codes
    counts = np.bincount(at, w, minlength=k * axis.width).reshape(k, axis.width)

    def squares(m: NDArray[Any]) -> float:
        n = m.sum(axis=1, keepdims=True)
        return float((m * ((n - m) / np.where(n > 0, n, 1.0))).sum()) / axis.scale**2

    return squares(counts), squares(counts.sum(axis=0, keepdims=True))


def _of_numbers(
    axis: Axis, x: Floats, labels: Labels, k: int, w: Floats | None
) -> tuple[float, float]:
    """Those of a column of numbers, about its centre, so that sums far from 0 lose nothing."""
    y = (x - axis.centre) / axis.scale

    def squares(of: Labels, many: int) -> float:
        n = np.bincount(of, w, minlength=many)
        sums = np.bincount(of, y if w is None else w * y, minlength=many)
        away = y - (sums / np.where(n > 0, n, 1.0))[of]
        away *= away
        return float(away.sum() if w is None else (w * away).sum())

    return squares(labels, k), squares(np.zeros_like(labels), 1)


def share_explained(w: float, total: float) -> float:
    """What W leaves of the sum of squares about the mean; less than nothing is rounding."""
    return max(1.0 - w / total, 0.0) if total > 0 else 1.0


def silhouette(
    geometry: Geometry | Unmade, labels: Labels, k: int, weights: Floats | None = None
) -> tuple[float, float | None]:
    """The mean silhouette, and its standard error where rows were drawn; a row alone counts 0.

    A cluster without a row is nobody's neighbour.
    """
    n = geometry.rows
    asked, against = np.arange(n), np.arange(n)
    sampled = n > ALL_PAIRS
    w = np.ones(n) if weights is None else weights.astype(np.float64)
    if sampled:
        chance = np.random.default_rng(0)
        p = None if weights is None else w / w.sum()
        asked = chance.choice(n, _ASKED, replace=weights is not None, p=p)
        parts = []
        for c in range(k):
            rows = np.flatnonzero(labels == c)
            few = len(rows) <= _AGAINST
            parts.append(rows if few else chance.choice(rows, _AGAINST, replace=False))
        against = np.concatenate(parts)
    order = against[np.argsort(labels[against], kind="stable")]
    refs, owner, weight = geometry.take(order), labels[order], w[order]
    mass = np.bincount(owner, weight, minlength=k)
    held, starts = np.unique(owner, return_index=True)
    place = np.full(n, -1)
    place[order] = np.arange(len(order))
    scores = np.empty(len(asked))
    step = max(_CHUNK // len(order), 1)
    for i in range(0, len(asked), step):
        rows = asked[i : i + step]
        d = geometry.take(rows).to(refs)
        own = labels[rows]
        at = np.arange(len(rows))
        to_itself = d[at, place[rows]]  # not 0 of a row without any cell
        if weights is not None:
            d *= weight
        sums = np.zeros((len(rows), k))
        sums[:, held] = np.add.reduceat(d, starts, axis=1)  # the same on any number of threads
        itself = np.minimum(w[rows], 1.0)  # one of as many copies as the weight says
        itself = np.where(place[rows] >= 0, itself, 0.0)
        sums[at, own] -= itself * to_itself
        others = mass[own] - itself
        alone = others <= 1e-12 * mass[own]
        a = sums[at, own] / np.where(alone, 1.0, others)
        means = np.where(mass > 0, sums / np.where(mass > 0, mass, 1.0), np.inf)
        means[at, own] = np.inf
        b = means.min(axis=1)
        alone |= np.isinf(b)  # no other cluster holds a row
        b = np.where(alone, a, b)
        top = np.maximum(a, b)
        scores[i : i + step] = np.where(alone | (top == 0), 0.0, (b - a) / np.where(top, top, 1.0))
    if sampled:
        return float(scores.mean()), float(scores.std(ddof=1) / np.sqrt(len(scores)))
    return float((w * scores).sum() / w.sum()), None


def adjusted_rand(a: Labels, b: Labels, copies: NDArray[np.int64] | None = None) -> float:
    """Agreement of two partitions of the same rows: 1 the same, 0 as by chance (Hubert & Arabie).

    `copies` says how often each row counts.

    >>> import numpy as np
    >>> adjusted_rand(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    width = int(b.max()) + 1
    counts = np.bincount(a * width + b, copies, minlength=(int(a.max()) + 1) * width)
    joint: Floats = counts.reshape(-1, width).astype(np.float64)

    def pairs(x: Floats) -> float:
        return float((x * (x - 1) / 2).sum())

    both, left, right = pairs(joint), pairs(joint.sum(axis=1)), pairs(joint.sum(axis=0))
    total = pairs(joint.sum(keepdims=True))
    chance = left * right / total if total else 0.0
    most = (left + right) / 2
    return 1.0 if most == chance else (both - chance) / (most - chance)


SHARE = 0.8

_COPIES = 10_000_000  # which are drawn one by one, at most


@dataclass(frozen=True, slots=True)
class Stability(Told):
    """The agreement of the answer with that of each resample."""

    agreement: tuple[float, ...]
    of: str = "rows"

    @property
    def mean(self) -> float:
        """The mean agreement."""
        return float(np.mean(self.agreement))

    @property
    def sd(self) -> float:
        """How much the agreement varies between resamples."""
        return float(np.std(self.agreement, ddof=1)) if len(self.agreement) > 1 else 0.0

    def __str__(self) -> str:
        n = len(self.agreement)
        if n == 1:
            return f"adjusted Rand {self.mean:.3f} on one resample of 80 % of the {self.of}"
        return (
            f"adjusted Rand {self.mean:.3f} ± {self.sd:.3f} over {n} resamples of 80 % of the "
            f"{self.of}, least {min(self.agreement):.3f}"
        )


def stability_of(
    n: int,
    labels: NDArray[np.intp],
    again: Callable[[NDArray[np.intp], NDArray[np.int64], int], Partition],
    samples: int,
    seed: int,
    of: str = "rows",
    copies: NDArray[np.integer] | None = None,
) -> Stability:
    """Cluster `samples` resamples of n rows with `again(rows, copies of each, seed)` and compare.

    Of a graph they are nodes, with the ties among them. `copies` says how many rows each stands
    for.
    """
    chance = np.random.default_rng(seed)
    many = np.ones(n, dtype=np.int64) if copies is None else copies.astype(np.int64)
    found = []
    for _ in track(range(samples), "resampling", total=samples):
        drawn = _drawn(many, chance)
        rows = np.flatnonzero(drawn)
        try:
            part = again(rows, drawn[rows], int(chance.integers(1 << 31)))
        except CredoError as error:
            raise InputError(
                f"The clustering could not be repeated on 80 % of the {of}: {error}",
                hint="Leave stability= out, or ask for fewer clusters.",
            ) from None
        found.append(adjusted_rand(labels[rows], part.labels, drawn[rows]))
    return Stability(tuple(found), of)


def _drawn(copies: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.int64]:
    """How many copies of each row are in a resample."""
    ends = np.cumsum(copies)
    total = int(ends[-1])
    if total > _COPIES:
        return chance.binomial(copies, SHARE)
    size = max(round(SHARE * total), 2)
    rows = np.searchsorted(ends, chance.choice(total, size, replace=False), "right")
    return np.bincount(rows, minlength=len(copies))
