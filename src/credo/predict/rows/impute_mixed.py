"""Gaps of tables with continuous columns: Gaussian given the states of the missing discrete ones.

    P(s | row) ∝ P(s) · N(x_seen; μ_s, Σ_s),     x_gone | s, x_seen ~ N(μ + Σ₁₂Σ₂₂⁻¹(x − μ₂), …)

Rows with the same gaps go together. For each state s of the missing discrete variables the joint
Gaussian of the continuous ones is built along the graph, one for each row, and conditioned. Where
there are too many states, draws come from the forward sampler of each row, and the rest is asked
row by row: the most probable explanation, then the lines' means given its states; or a question
for each gap.
"""

from __future__ import annotations

import itertools
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError
from credo.core.progress import on_time, track
from credo.data import Table
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.predict.exact.explanation import mpe
from credo.predict.exact.posterior import posterior
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.request import Request, request
from credo.predict.rows.blanket import impossible_row
from credo.predict.rows.impute import Gaps, filled_table
from credo.predict.rows.rows import gaps_of
from credo.predict.rows.running import patterns
from credo.predict.sampling.forward import forward_sampler

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = [
    "MixedRows",
    "block_rows",
    "evidence_of",
    "explained",
    "mixed_fill",
    "states_of",
    "wide_posteriors",
]

MAX_STATES = 4096
"""At most this many states of missing discrete variables in a row are gone through."""

_CELLS = 1 << 21  # of the covariances that are worked out at a time

Floats = NDArray[np.float64]


def mixed_fill(
    net: Network, table: Table, method: str, rng: np.random.Generator, copies: int = 1
) -> list[Table] | Gaps:
    """Copies of the table with its gaps filled, or the gaps' posteriors."""
    schema = table.schema
    columns = {n: np.array(a) for n, a in zip(schema.names, table.block.arrays, strict=True)}
    kept = np.array([n in columns for n in net.names])
    filled = [{n: c.copy() for n, c in columns.items()} for _ in range(copies)]
    rows: dict[str, list[Any]] = {n: [] for n in schema.names}
    values: dict[str, list[Any]] = {n: [] for n in schema.names}
    groups = patterns(gaps_of(net, table))
    for pattern, every in track(groups, "filling gaps", total=len(table), size=lambda p: len(p[1])):
        if not (pattern & kept).any():
            continue
        block = block_rows(net, pattern)
        for first in range(0, len(every), block):
            on_time("filling gaps")
            at = every[first : first + block]
            here = {n: c[at] for n, c in columns.items()}
            if method == "sample" and states_of(net, pattern) > MAX_STATES:
                for copy, told in zip(filled, _told(net, pattern, here, rng, copies), strict=True):
                    for name, found in told.items():
                        copy[name][at] = found
                continue
            wide = states_of(net, pattern) > MAX_STATES
            if method == "posterior":
                each = (
                    wide_posteriors(net, pattern, here)
                    if wide
                    else MixedRows(net, pattern, here, at).posteriors()
                )
                for name, posterior in each.items():
                    if name in columns:
                        rows[name].append(at)
                        values[name].append(posterior)
                continue
            left, cells = explained(net, pattern, here) if wide else (pattern, here)
            part = MixedRows(net, left, cells, at)
            for copy in filled:
                states = {n: cells[n] for n in copy} if wide else {}
                for name, found in (states | part.filled(method, rng)).items():
                    if name in copy:
                        copy[name][at] = found
    if method != "posterior":
        return [
            filled_table(
                table, [copy[n] for n in schema.names], rng if method == "sample" else None
            )
            for copy in filled
        ]
    order = {n: np.concatenate(r) for n, r in rows.items() if r}
    every_gap = {n: np.concatenate(values[n])[np.argsort(order[n], kind="stable")] for n in order}
    return Gaps(table, {n: np.sort(r, kind="stable") for n, r in order.items()}, every_gap)


def block_rows(net: Network, gone: NDArray[np.bool_]) -> int:
    """How many rows with the same gaps to take at a time."""
    lines = sum(not v.is_discrete for v in net.variables)
    return max(1, int(_CELLS / max(float(states_of(net, gone)) * lines * lines, 1.0)))


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
    net: Network,
    gone: NDArray[np.bool_],
    columns: dict[str, Any],
    rng: np.random.Generator,
    copies: int,
) -> list[dict[str, Any]]:
    """Rows with too many cases to go through: each is drawn from its own forward sampler."""
    holes = [n for n, g in zip(net.names, gone, strict=True) if g and n in columns]
    out = [{n: np.array(columns[n]) for n in holes} for _ in range(copies)]
    for i in range(len(next(iter(columns.values())))):
        sampler = forward_sampler(net, evidence_of(net, gone, columns, i))
        rows = sampler.rows(copies, int(rng.integers(2**63)))
        for name in holes:
            drawn = rows.block.arrays[rows.schema.index(name)]
            for k in range(copies):
                out[k][name][i] = drawn[k]
    return out


def _regular(covariance: Floats) -> Floats:
    """A stack of covariances that can be solved: columns that determine each other are let loose.

    A line without noise makes its matrix singular up to rounding; a billionth of each variance,
    far below what a table of numbers resolves, keeps the seen columns from disagreeing.
    """
    size = np.sqrt(np.einsum("rii->ri", covariance))
    loose = np.linalg.eigvalsh(covariance / size[:, :, None] / size[:, None, :])[:, 0] < 1e-13
    if not loose.any():
        return covariance
    more: Floats = covariance + np.eye(size.shape[1]) * (1e-9 * loose[:, None] * size**2)[:, None]
    return more


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
                f"In row {int(at[0]) + 1:,} the discrete variables "
                f"{', '.join(self.states[:6])} are missing, with {size:,} states together; "
                f"at most {MAX_STATES:,} are allowed.",
                hint="Leave such rows out, or learn a network without some of these columns.",
            )
        self.rows = len(at)
        cases = list(itertools.product(*(range(a) for a in self.arities)))
        self.cases = np.array(cases, dtype=np.intp).reshape(len(cases), len(self.states))
        self.log, self.mean, self.cov = self._solved()
        top = self.log.max(axis=1, keepdims=True)
        bad = top == -np.inf
        if strict and bad.any():
            raise impossible_row(int(at[int(np.argmin(top[:, 0]))]))
        p = np.exp(self.log - np.where(bad, 0.0, top))
        self.p: Floats = p / np.where(bad, 1.0, p.sum(axis=1, keepdims=True))

    def _codes(self, name: str) -> Any:
        """The state of a variable in each row and case, cases fastest."""
        if name in self.states:
            return np.tile(self.cases[:, self.states.index(name)], self.rows)
        return np.repeat(self.columns[name].astype(np.intp), len(self.cases))

    def _solved(self) -> tuple[Floats, Floats, Floats]:
        """ln P(case, what is seen), and mean and covariance of the gaps, for each row and case."""
        net, n, many = self.net, len(self.order), self.rows * len(self.cases)
        log = np.zeros(many)
        mean, cov = np.zeros((many, n)), np.zeros((many, n, n))
        codes = {v.name: self._codes(v.name) for v in net.variables if v.is_discrete}
        for local in net.distributions.values():
            if isinstance(local, Cpt):
                with np.errstate(divide="ignore"):
                    log += np.log(local.values)[tuple(codes[v.name] for v in local.variables)]
        for i, name in enumerate(self.order):
            line = net.distributions[name]
            assert isinstance(line, LinearGaussian)
            where = tuple(codes[p.name] for p in line.discrete)
            above = [self.order.index(p.name) for p in line.continuous]
            b = line.coefficients[where] if where else np.broadcast_to(
                line.coefficients, (many, len(above))
            )  # fmt: skip
            mean[:, i] = line.intercept[where] + (b * mean[:, above]).sum(axis=1)
            across = np.einsum("rk,rkj->rj", b, cov[:, above, :])
            cov[:, i, :], cov[:, :, i] = across, across
            cov[:, i, i] = line.variance[where] + (b * across[:, above]).sum(axis=1)
        gone, seen = self.holes, self.seen
        centre, spread = mean[:, gone], cov[:, gone][:, :, gone]
        if seen:
            x = np.stack([self.columns[self.order[i]] for i in seen], axis=1)
            inner = _regular(cov[:, seen][:, :, seen])
            away = np.repeat(x, len(self.cases), axis=0) - mean[:, seen]
            solved = np.linalg.solve(inner, away[..., None])[..., 0]
            det = np.linalg.slogdet(inner)[1]
            log -= 0.5 * (len(seen) * np.log(2 * np.pi) + det + (away * solved).sum(axis=1))
            if gone:
                cross = cov[:, gone][:, :, seen]
                centre = centre + np.einsum("rgs,rs->rg", cross, solved)
                spread = spread - cross @ np.linalg.solve(inner, cross.transpose(0, 2, 1))
        spread = (spread + spread.transpose(0, 2, 1)) / 2
        shape = (self.rows, len(self.cases))
        return (
            log.reshape(shape), centre.reshape(*shape, -1),
            spread.reshape(*shape, len(gone), len(gone)),
        )  # fmt: skip

    def filled(self, method: str, rng: np.random.Generator) -> dict[str, Any]:
        """One value for each gap: of the most probable states, or drawn."""
        if method == "mode":
            pick = self.p.argmax(axis=1)
        else:
            below = self.p.cumsum(axis=1)
            u = rng.random(self.rows) * below[:, -1]
            pick = np.minimum((below <= u[:, None]).sum(axis=1), self.p.shape[1] - 1)
        out: dict[str, Any] = {}
        for k, name in enumerate(self.states):
            out[name] = self.cases[pick, k]
        if self.holes:
            each = np.arange(self.rows)
            x = self.mean[each, pick]
            if method == "sample":
                spread = self.cov[each, pick]
                value, vectors = np.linalg.eigh(spread)
                root = vectors * np.sqrt(np.maximum(value, 0.0))[:, None, :]
                x = x + np.einsum("rij,rj->ri", root, rng.standard_normal(x.shape))
            for j, i in enumerate(self.holes):
                out[self.order[i]] = x[:, j]
        return out

    def posteriors(self) -> dict[str, Floats]:
        """A column for each state of a discrete variable; mean and variance of a continuous one."""
        out: dict[str, Floats] = {}
        for k, name in enumerate(self.states):
            table = np.zeros((self.rows, self.arities[k]))
            for s, code in enumerate(self.cases[:, k]):
                table[:, code] += self.p[:, s]
            out[name] = table
        if self.holes:
            means, covs = self.mean, self.cov
            total = np.einsum("rs,rsg->rg", self.p, means)
            variance = np.einsum("rsgg->rsg", covs) + (means - total[:, None]) ** 2
            spread = np.einsum("rs,rsg->rg", self.p, variance)
            for j, i in enumerate(self.holes):
                out[self.order[i]] = np.stack([total[:, j], spread[:, j]], axis=1)
        return out


def explained(
    net: Network, gone: NDArray[np.bool_], columns: dict[str, Any]
) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    """The gaps that are left, and the rows with their missing states the most probable ones."""
    discrete = [v for v, g in zip(net.variables, gone, strict=True) if g and v.is_discrete]
    many = len(next(iter(columns.values())))
    filled = {n: np.array(c) for n, c in columns.items()}
    filled |= {v.name: np.zeros(many, dtype=np.intp) for v in discrete}
    for i in range(many):
        best = mpe(Request(net, evidence_of(net, gone, columns, i)))
        for v in discrete:
            filled[v.name][i] = v.states.index(best[v.name])
    left = gone & np.array([not v.is_discrete for v in net.variables])
    return left, filled


def wide_posteriors(
    net: Network, gone: NDArray[np.bool_], columns: dict[str, Any]
) -> dict[str, NDArray[np.float64]]:
    """The posterior of each gap of the table's columns by itself, as `MixedRows` has them."""
    holes = [v for v, g in zip(net.variables, gone, strict=True) if g and v.name in columns]
    found: dict[str, list[Any]] = {v.name: [] for v in holes}
    for i in range(len(next(iter(columns.values())))):
        seen = request(net, method="auto").but(evidence=evidence_of(net, gone, columns, i))
        for v in holes:
            answer: Any = posterior(seen.with_targets(v.name))
            found[v.name].append(
                [answer[s] for s in v.states]
                if v.is_discrete
                else [float(answer.mean), float(answer.variance)]
            )
    return {n: np.array(x, dtype=np.float64) for n, x in found.items()}
