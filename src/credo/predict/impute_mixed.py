"""Gaps of tables with continuous columns: Gaussian given the states of the missing discrete ones.

    P(s | row) ∝ P(s) · N(x_seen; μ_s, Σ_s),     x_gone | s, x_seen ~ N(μ + Σ₁₂Σ₂₂⁻¹(x − μ₂), …)

Rows with the same gaps go together. For each state s of the missing discrete variables the joint
Gaussian of the continuous ones is built along the graph, one for each row, and conditioned. Where
there are too many states, draws come from the generative story of each row.
"""

from __future__ import annotations

import itertools
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.data import Table
from credo.errors import LimitError
from credo.model.cpt import Cpt
from credo.model.linear_gaussian import LinearGaussian
from credo.predict.blanket import impossible_row
from credo.predict.evidence import Evidence
from credo.predict.gaps import Gaps
from credo.predict.story import Story, story_of
from credo.stats.block import Block

if TYPE_CHECKING:
    from credo.model.network import Network

__all__ = ["MixedRows", "evidence_of", "mixed_fill", "states_of"]

MAX_STATES = 4096
"""At most this many states of missing discrete variables in a row are gone through."""

_BLOCK = 2048
_STORIES = 512  # kept for each network

Floats = NDArray[np.float64]


def mixed_fill(net: Network, table: Table, method: str, rng: np.random.Generator) -> Table | Gaps:
    """The table with its gaps filled, or their posteriors."""
    schema = table.schema
    columns = {n: np.array(a) for n, a in zip(schema.names, table.block.arrays, strict=True)}
    gone = np.zeros((len(table), len(net.names)), dtype=bool)
    for k, name in enumerate(net.names):
        if name not in columns:
            gone[:, k] = True
        elif net.variable(name).is_discrete:
            gone[:, k] = columns[name] == net.variable(name).arity
        else:
            gone[:, k] = np.isnan(columns[name])
    kept = np.array([n in columns for n in net.names])
    rows: dict[str, list[Any]] = {n: [] for n in schema.names}
    values: dict[str, list[Any]] = {n: [] for n in schema.names}
    patterns, inverse = np.unique(gone, axis=0, return_inverse=True)
    for p, pattern in enumerate(patterns):
        if not (pattern & kept).any():
            continue
        every = np.flatnonzero(inverse.ravel() == p)
        for first in range(0, len(every), _BLOCK):
            at = every[first : first + _BLOCK]
            here = {n: c[at] for n, c in columns.items()}
            if method == "sample" and states_of(net, pattern) > MAX_STATES:
                for name, filled in _told(net, pattern, here, rng).items():
                    columns[name][at] = filled
                continue
            part = MixedRows(net, pattern, here, at)
            if method == "posterior":
                for name, found in part.posteriors().items():
                    if name in columns:
                        rows[name].append(at)
                        values[name].append(found)
                continue
            for name, filled in part.filled(method, rng).items():
                if name in columns:
                    columns[name][at] = filled
    if method != "posterior":
        arrays = tuple(columns[n] for n in schema.names)
        return Table(Block(schema, arrays, table.weights))
    order = {n: np.concatenate(r) for n, r in rows.items() if r}
    every_gap = {n: np.concatenate(values[n])[np.argsort(order[n], kind="stable")] for n in order}
    return Gaps(table, {n: np.sort(r, kind="stable") for n, r in order.items()}, every_gap)


def states_of(net: Network, gone: NDArray[np.bool_]) -> int:
    """How many states the discrete variables have together that a pattern of gaps lacks."""
    return prod(v.arity for v, g in zip(net.variables, gone, strict=True) if g and v.is_discrete)


def evidence_of(net: Network, gone: NDArray[np.bool_], columns: dict[str, Any], i: int) -> Evidence:
    """What is seen of one row."""
    seen = [v for v, g in zip(net.variables, gone, strict=True) if not g]
    return Evidence(
        {v.name: int(columns[v.name][i]) for v in seen if v.is_discrete},
        values={v.name: float(columns[v.name][i]) for v in seen if not v.is_discrete},
    )


def _told(
    net: Network, gone: NDArray[np.bool_], columns: dict[str, Any], rng: np.random.Generator
) -> dict[str, Any]:
    """Rows with too many cases to go through: each is drawn from its own generative story."""
    holes = [n for n, g in zip(net.names, gone, strict=True) if g and n in columns]
    out = {n: np.array(columns[n]) for n in holes}
    for i in range(len(next(iter(columns.values())))):
        story = _story(net, evidence_of(net, gone, columns, i))
        row = story.rows(1, int(rng.integers(2**63)))
        for name in holes:
            out[name][i] = row.block.arrays[row.schema.index(name)][0]
    return out


def _story(net: Network, evidence: Evidence) -> Story:
    """The story given one row, kept: many copies of a table are filled one after the other."""
    kept: dict[Any, Story] = net.__dict__.setdefault("_stories", {})
    key = (tuple(evidence.hard.items()), tuple(evidence.values.items()))
    found = kept.get(key)
    if found is None:
        if len(kept) >= _STORIES:
            kept.clear()
        found = kept[key] = story_of(net, evidence)
    return found


class MixedRows:
    """Rows with the same gaps: `log` [row, case] is ln P(case, what is seen), `p` its shares.

    A case is a state of every missing discrete variable. A row of probability zero is refused,
    unless `strict` is False: then its shares are all 0.
    """

    def __init__(
        self,
        net: Network,
        gone: NDArray[np.bool_],
        columns: dict[str, Any],
        at: Any,
        strict: bool = True,
    ) -> None:
        self.net, self.columns = net, columns
        missing = [n for n, g in zip(net.names, gone, strict=True) if g]
        self.states = [n for n in missing if net.variable(n).is_discrete]
        self.order = [n for n in net.dag.order if not net.variable(n).is_discrete]
        self.holes = [i for i, n in enumerate(self.order) if n in missing]
        self.seen = [i for i, n in enumerate(self.order) if n not in missing]
        self.arities = [net.variable(n).arity for n in self.states]
        size = int(np.prod(self.arities, dtype=np.float64)) if self.states else 1
        if size > MAX_STATES:
            raise LimitError(
                f"In row {int(at[0]):,} the discrete variables {', '.join(self.states[:6])} are "
                f"missing, with {size:,} states together; at most {MAX_STATES:,} are allowed.",
            )
        self.rows = len(at)
        self.cases = list(itertools.product(*(range(a) for a in self.arities)))
        self.log = np.empty((self.rows, len(self.cases)))
        self.mean: list[Floats] = []
        self.cov: list[Floats] = []
        for s, case in enumerate(self.cases):
            self._solve(s, dict(zip(self.states, case, strict=True)))
        top = self.log.max(axis=1, keepdims=True)
        bad = top == -np.inf
        if strict and bad.any():
            raise impossible_row(int(at[int(np.argmin(top[:, 0]))]))
        p = np.exp(self.log - np.where(bad, 0.0, top))
        self.p: Floats = p / np.where(bad, 1.0, p.sum(axis=1, keepdims=True))

    def _codes(self, name: str, case: dict[str, int]) -> Any:
        if name in case:
            return np.full(self.rows, case[name])
        return self.columns[name].astype(np.intp)

    def _solve(self, s: int, case: dict[str, int]) -> None:
        net, n = self.net, len(self.order)
        log = np.zeros(self.rows)
        mean, cov = np.zeros((self.rows, n)), np.zeros((self.rows, n, n))
        for local in net.distributions.values():
            if isinstance(local, Cpt):
                with np.errstate(divide="ignore"):
                    where = tuple(self._codes(v.name, case) for v in local.variables)
                    log += np.log(local.values[where])
        for i, name in enumerate(self.order):
            line = net.distributions[name]
            assert isinstance(line, LinearGaussian)
            where = tuple(self._codes(p.name, case) for p in line.discrete)
            above = [self.order.index(p.name) for p in line.continuous]
            b = line.coefficients[where] if where else np.broadcast_to(
                line.coefficients, (self.rows, len(above))
            )  # fmt: skip
            mean[:, i] = line.intercept[where] + (b * mean[:, above]).sum(axis=1)
            across = np.einsum("rk,rkj->rj", b, cov[:, above, :])
            cov[:, i, :], cov[:, :, i] = across, across
            cov[:, i, i] = line.variance[where] + (b * across[:, above]).sum(axis=1)
        gone, seen = self.holes, self.seen
        if seen:
            x = np.stack([self.columns[self.order[i]] for i in seen], axis=1)
            inner = cov[:, seen][:, :, seen]
            away = x - mean[:, seen]
            solved = np.linalg.solve(inner, away[..., None])[..., 0]
            det = np.linalg.slogdet(inner)[1]
            log -= 0.5 * (len(seen) * np.log(2 * np.pi) + det + (away * solved).sum(axis=1))
        if gone:
            cross = cov[:, gone][:, :, seen]
            centre, spread = mean[:, gone], cov[:, gone][:, :, gone]
            if seen:
                centre = centre + np.einsum("rgs,rs->rg", cross, solved)
                gain = np.linalg.solve(inner, cross.transpose(0, 2, 1))
                spread = spread - cross @ gain
            self.mean.append(centre)
            self.cov.append((spread + spread.transpose(0, 2, 1)) / 2)
        self.log[:, s] = log

    def filled(self, method: str, rng: np.random.Generator) -> dict[str, Any]:
        """One value for each gap: of the most probable states, or drawn."""
        if method == "mode":
            pick = self.p.argmax(axis=1)
        else:
            below = self.p.cumsum(axis=1)
            u = rng.random(self.rows) * below[:, -1]
            pick = np.minimum((below <= u[:, None]).sum(axis=1), self.p.shape[1] - 1)
        out: dict[str, Any] = {}
        cases = np.array(self.cases, dtype=np.intp).reshape(len(self.cases), len(self.states))
        for k, name in enumerate(self.states):
            out[name] = cases[pick, k]
        if self.holes:
            each = np.arange(self.rows)
            x = np.stack(self.mean)[pick, each]
            if method == "sample":
                spread = np.stack(self.cov)[pick, each]
                value, vectors = np.linalg.eigh(spread)
                root = vectors * np.sqrt(np.maximum(value, 0.0))[:, None, :]
                x = x + np.einsum("rij,rj->ri", root, rng.standard_normal(x.shape))
            for j, i in enumerate(self.holes):
                out[self.order[i]] = x[:, j]
        return out

    def posteriors(self) -> dict[str, Floats]:
        """A column for each state of a discrete variable; mean and variance of a continuous one."""
        out: dict[str, Floats] = {}
        cases = np.array(self.cases, dtype=np.intp).reshape(len(self.cases), len(self.states))
        for k, name in enumerate(self.states):
            table = np.zeros((self.rows, self.arities[k]))
            for s, code in enumerate(cases[:, k]):
                table[:, code] += self.p[:, s]
            out[name] = table
        if self.holes:
            means, covs = np.stack(self.mean, axis=1), np.stack(self.cov, axis=1)
            total = np.einsum("rs,rsg->rg", self.p, means)
            variance = np.einsum("rsgg->rsg", covs) + (means - total[:, None]) ** 2
            spread = np.einsum("rs,rsg->rg", self.p, variance)
            for j, i in enumerate(self.holes):
                out[self.order[i]] = np.stack([total[:, j], spread[:, j]], axis=1)
        return out
