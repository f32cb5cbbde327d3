"""What a cluster is: its distribution in each column against that of the whole table, in bits.

    bits = Σ_x P(x | cluster) log₂( P(x | cluster) / P(x) )

the relative entropy: how much knowing the cluster tells of the column. Numbers are counted in the
tenths of the whole table (fewer where values repeat), so that no shape is assumed. Missing cells
are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.frozen import Frozen
from credo.core.render import Told, bar, number, table_html, table_text
from credo.core.schema import Schema, Variable
from credo.data import Table

Floats = NDArray[np.float64]

_TENTHS = 10


@dataclass(frozen=True, slots=True)
class Telling(Told, Frozen):
    """One column of one cluster: how telling it is, and what it is like inside and in the whole.

    `inside` and `whole` map states to shares; of a continuous column they hold its mean and its
    standard deviation.
    """

    column: str
    bits: float
    inside: dict[Any, float]
    whole: dict[Any, float]
    continuous: bool

    def __str__(self) -> str:
        if self.continuous:
            if not self.inside:
                return f"{self.column} unknown"
            inside, whole = self.inside["mean"], self.whole["mean"]
            return f"{self.column} {number(inside, 3)} (mean {number(whole, 3)})"
        if not self.inside:
            return f"{self.column} unknown"
        state = self.state
        return (
            f"{self.column}={state} {100 * self.inside[state]:.0f} % "
            f"({100 * self.whole[state]:.0f} %)"
        )

    @property
    def state(self) -> Any:
        """The state that tells most: the largest term of the sum."""
        return max(
            self.inside,
            key=lambda s: (
                self.inside[s] * np.log(self.inside[s] / self.whole[s]) if self.inside[s] else -1e9
            ),
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profiles(Sequence[tuple[Telling, ...]]):
    """The columns of each cluster, the most telling first.

    >>> import credo as cr
    >>> groups = cr.cluster({"x": [0.0, 0.1, 5.0, 5.2, 5.1], "y": list("aabbb")}, k=2)
    >>> print(groups.profiles)
    cluster  column   bits            inside        whole
          0  y       0.737  ████▌     b 100 %       60 %
             x       0.737  ████▌     5.1 ± 0.0816  3.08 ± 2.47
          1  x       1.322  ████████  0.05 ± 0.05   3.08 ± 2.47
             y       1.322  ████████  a 100 %       40 %
    """

    columns: tuple[str, ...]
    clusters: tuple[tuple[Telling, ...], ...]

    def __getitem__(self, cluster: Any) -> Any:
        return self.clusters[cluster]

    def __len__(self) -> int:
        return len(self.clusters)

    def __iter__(self) -> Iterator[tuple[Telling, ...]]:
        return iter(self.clusters)

    @property
    def bits(self) -> Floats:
        """Clusters × columns, in the order of the table's columns."""
        at = {c: i for i, c in enumerate(self.columns)}
        out = np.zeros((len(self.clusters), len(self.columns)))
        for row, tellings in zip(out, self.clusters, strict=True):
            for t in tellings:
                row[at[t.column]] = t.bits
        return out

    def _rows(self, most: int) -> list[list[str]]:
        top = max((t.bits for c in self.clusters for t in c), default=1.0) or 1.0
        rows = []
        for i, tellings in enumerate(self.clusters):
            for j, t in enumerate(tellings[:most]):
                inside, whole = _sides(t)
                share = bar(t.bits / top, 8)
                rows.append(["" if j else str(i), t.column, f"{t.bits:.3f}", share, inside, whole])
        return rows

    def table(self, most: int = 5) -> str:
        """The `most` most telling columns of each cluster."""
        return table_text(_HEAD, self._rows(most), right=[0, 2])

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"Profiles({len(self.clusters)} clusters, {len(self.columns)} columns)"

    def _repr_html_(self) -> str:
        return table_html(_HEAD, self._rows(8), right=[0, 2])


_HEAD = ["cluster", "column", "bits", "", "inside", "whole"]


def _sides(t: Telling) -> tuple[str, str]:
    if not t.inside:
        return "nothing seen", ""
    if t.continuous:
        return (
            f"{number(t.inside['mean'], 4)} ± {number(t.inside['sd'], 3)}",
            f"{number(t.whole['mean'], 4)} ± {number(t.whole['sd'], 3)}",
        )
    state = t.state
    return f"{state} {100 * t.inside[state]:.0f} %", f"{100 * t.whole[state]:.0f} %"


def edges_of(table: Table) -> dict[str, Floats]:
    """The inner borders of the tenths of each continuous column."""
    out = {}
    for name in table.schema.continuous:
        values = table.values(name)
        there = ~np.isnan(values)
        if not there.any():
            out[name] = np.zeros(0)
            continue
        weights = None if table.weights is None else table.weights[there]
        shares = np.arange(1, _TENTHS) / _TENTHS
        if weights is None:
            found = np.quantile(values[there], shares)
        else:
            found = _weighted_quantiles(values[there], weights, shares)
        out[name] = np.unique(found)
    return out


def _weighted_quantiles(values: Floats, weights: NDArray[Any], shares: Floats) -> Floats:
    """NumPy's quantiles of the values, each as often as its weight says.

    Weights that are not whole have no copies: then the first value by which the share is reached.
    """
    order = np.argsort(values, kind="stable")
    x, sums = values[order], np.cumsum(weights[order])
    if not np.issubdtype(weights.dtype, np.integer):
        reached: Floats = x[np.searchsorted(sums, shares * sums[-1])]
        return reached
    place = (int(sums[-1]) - 1) * shares
    low = x[np.searchsorted(sums, np.floor(place), "right")]
    high = x[np.searchsorted(sums, np.ceil(place), "right")]
    t, step = place - np.floor(place), high - low
    return np.where(t >= 0.5, high - step * (1 - t), low + step * t)


@dataclass(frozen=True)
class Profiling:
    """What the profiles of k clusters need of rows: counts of states and of the intervals between
    the edges, and moments; parts add up.
    """

    schema: Schema
    k: int
    edges: Mapping[str, Floats]

    def shift(self, name: str) -> float:
        """What numbers of a column are taken less, so that they keep their digits."""
        return float(np.median(self.edges[name])) if len(self.edges[name]) else 0.0

    def __call__(self, table: Table, labels: NDArray[Any]) -> Profiled:
        """The counts and moments of some rows with their clusters."""
        k, counts, moments = self.k, dict[str, Floats](), dict[str, Floats]()
        w = None if table.weights is None else table.weights.astype(np.float64)
        for v in self.schema.variables:
            array = table.block.arrays[table.schema.index(v.name)]
            there = array != v.arity if v.is_discrete else ~np.isnan(array)
            whole = bool(there.all())
            x = array if whole else array[there]
            c = labels if whole else labels[there]
            weight = w if w is None or whole else w[there]
            cells = v.arity if v.is_discrete else len(self.edges[v.name]) + 1
            codes = (
                x.astype(np.intp)
                if v.is_discrete
                else np.searchsorted(self.edges[v.name], x, "left")
            )
            counts[v.name] = (
                np.bincount(c.astype(np.intp) * cells + codes, weight, minlength=k * cells)
                .reshape(k, cells)
                .astype(np.float64)
            )
            if not v.is_discrete:
                moments[v.name] = _moments(x - self.shift(v.name), c, weight, k)
        return Profiled(counts, moments)

    def profiles(self, found: Profiled) -> Profiles:
        """The profiles that they make."""
        every = _in_all(found.moments)
        columns = [
            _states_told(v, found.counts[v.name])
            if v.is_discrete
            else _numbers_told(
                v, found.counts[v.name], found.moments[v.name], every[v.name], self.shift(v.name)
            )
            for v in self.schema.variables
        ]
        clusters = (sorted(told, key=lambda t: -t.bits) for told in zip(*columns, strict=True))
        return Profiles(self.schema.names, tuple(tuple(told) for told in clusters))


@dataclass(frozen=True)
class Profiled:
    """Counts by cluster, and weight, mean and standard deviation of numbers; parts add up."""

    counts: dict[str, Floats]
    moments: dict[str, Floats]

    def __add__(self, other: Profiled) -> Profiled:
        return Profiled(
            {n: c + other.counts[n] for n, c in self.counts.items()},
            {n: _merged(m, other.moments[n]) for n, m in self.moments.items()},
        )


def _states_told(v: Variable, counts: Floats) -> list[Telling]:
    """A column of states, cluster by cluster."""
    p, q, bits = _shares(counts)
    whole = dict(zip(v.states, q.tolist(), strict=True))
    seen = [bool(row.any()) for row in counts]
    return [
        Telling(v.name, b, dict(zip(v.states, row, strict=True)) if there else {}, whole, False)
        for b, row, there in zip(bits, p.tolist(), seen, strict=True)
    ]


def _numbers_told(
    v: Variable, counts: Floats, sums: Floats, every: Floats, shift: float
) -> list[Telling]:
    """A column of numbers, cluster by cluster."""
    bits, whole = _shares(counts)[2], _mean_sd(every, shift)
    return [
        Telling(v.name, b, _mean_sd(own, shift), whole, True)
        for b, own in zip(bits, sums.T, strict=True)
    ]


def _shares(counts: Floats) -> tuple[Floats, Floats, list[float]]:
    """The shares in each cluster and in the whole, and how many bits each cluster tells."""
    each, whole = counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
    p = counts / np.where(each > 0, each, 1.0)
    q = whole / (whole.sum() or 1.0)
    on = p > 0
    terms = p * np.log2(np.divide(p, q, out=np.ones_like(p), where=on))
    return p, q, [max(float(row[there].sum()), 0.0) for row, there in zip(terms, on, strict=True)]


def _in_all(sums: dict[str, Floats]) -> dict[str, Floats]:
    """The moments of each column over all clusters, merged for all columns at once."""
    if not sums:
        return {}
    by_cluster = np.stack(list(sums.values()), axis=2).transpose(1, 0, 2)
    return dict(zip(sums, reduce(_merged, by_cluster).T, strict=True))


def _moments(x: Floats, labels: NDArray[Any], weights: Floats | None, k: int) -> Floats:
    """Weight, mean and standard deviation of each cluster; squares are of numbers near 1."""
    unit = float(np.abs(x).max(initial=0.0)) or 1.0
    y = x / unit
    w = np.ones(len(y)) if weights is None else weights
    n = np.bincount(labels, w, minlength=k)
    safe = np.where(n > 0, n, 1.0)
    mean = np.bincount(labels, w * y, minlength=k) / safe
    y -= mean[labels]
    sd = np.sqrt(np.bincount(labels, w * y * y, minlength=k) / safe)
    return np.stack([n, mean * unit, sd * unit])


def _merged(a: Floats, b: Floats) -> Floats:
    """The moments of two parts together (Chan, Golub & LeVeque 1979)."""
    n = a[0] + b[0]
    safe = np.where(n > 0, n, 1.0)
    p, q = a[0] / safe, b[0] / safe
    apart = (b[1] - a[1]) * np.sqrt(p * q)
    inside = np.hypot(a[2] * np.sqrt(p), b[2] * np.sqrt(q))
    return np.stack([n, p * a[1] + q * b[1], np.hypot(inside, apart)])


def _mean_sd(moments: Floats, shift: float) -> dict[Any, float]:
    n, mean, sd = (float(m) for m in moments)
    return {"mean": mean + shift, "sd": sd} if n else {}
