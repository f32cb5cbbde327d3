"""The likelihood of an undirected model, and the pseudo-likelihood: each variable given the others.

    pℓ(w) = Σ_rows Σ_i ln P(x_i | the neighbours of x_i)

No Z of the whole model is needed, only a sum over the states of one variable, so grids of any size
can be learned; with more rows the answer comes to the same as maximum likelihood's (Besag 1975).
The counts of each variable with its neighbours are all it needs, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import LimitError
from credo.stats.counts import Counts
from credo.train.markov.log_linear import LogLinear

Floats = NDArray[np.float64]

MAX_ENTRIES = 200_000_000
"""Statistics with more entries than this are refused before they are gathered."""


def blankets(design: LogLinear) -> list[tuple[int, ...]]:
    """The variables that share a potential with each variable, in order."""
    near: list[set[int]] = [set() for _ in design.variables]
    for scope in design.scopes:
        for i in scope:
            near[i].update(scope)
    return [tuple(sorted(others - {i})) for i, others in enumerate(near)]


class PseudoLikelihood:
    """pℓ and its gradient; every configuration of neighbours that was seen is one softmax.

    Each has a row of `matrix` for each state of its variable: the logits are `matrix @ w`.
    """

    def __init__(self, design: LogLinear, counts: Sequence[Counts]) -> None:
        from scipy.sparse import csr_array

        of: list[list[int]] = [[] for _ in design.variables]
        for f, scope in enumerate(design.scopes):
            for i in scope:
                of[i].append(f)
        pointers: list[Any] = [np.zeros(1, dtype=np.int64)]
        cells, seen, starts = [], [], []
        rows = entries = 0
        for i, near in enumerate(blankets(design)):
            found, weight = _grouped(counts[i], design.variables[i].arity)
            arity = design.variables[i].arity
            entries += len(found) * arity * len(of[i])
            if entries > MAX_ENTRIES:
                raise LimitError(
                    f"The pseudo-likelihood needs more than {MAX_ENTRIES:,} entries: the "
                    "variables have too many different neighbourhoods.",
                    hint="Give a sparser graph.",
                )
            cells.append(_cells(design, i, near, found, of[i]).ravel())
            step = np.full(len(found) * arity, len(of[i]), dtype=np.int64)
            pointers.append(pointers[-1][-1] + np.cumsum(step))
            seen.append(weight.ravel())
            starts.append(rows + arity * np.arange(len(found)))
            rows += len(found) * arity
        pointer, column = np.concatenate(pointers), np.concatenate(cells)
        chosen = csr_array(
            (np.ones(len(column)), column, pointer), shape=(rows, design.offsets[-1])
        )
        self.matrix = csr_array(chosen @ design.matrix)
        self.transposed = csr_array(self.matrix.T)
        self.shut = np.asarray(chosen @ design.closed.astype(np.float64)) > 0
        self.seen = np.concatenate(seen)
        self.starts = np.concatenate(starts)
        self.sizes = np.diff([*self.starts, rows])
        self.totals = np.repeat(np.add.reduceat(self.seen, self.starts), self.sizes)

    def __call__(self, w: Floats) -> tuple[float, Floats]:
        """pℓ(w) and its gradient."""
        logits = np.asarray(self.matrix @ w)
        logits[self.shut] = -np.inf
        logits -= np.repeat(np.maximum.reduceat(logits, self.starts), self.sizes)
        p = np.exp(logits)
        sums = np.repeat(np.add.reduceat(p, self.starts), self.sizes)
        known = self.seen > 0
        value = float(self.seen[known] @ (logits[known] - np.log(sums[known])))
        return value, np.asarray(self.transposed @ (self.seen - self.totals * p / sums))


def _grouped(counts: Counts, arity: int) -> tuple[NDArray[np.intp], Floats]:
    """The configurations of the neighbours that were seen, and the counts of each state there."""
    found = counts.sparse()
    assert found.configurations is not None
    codes = found.configurations.astype(np.intp)
    near = codes[:, :-1]
    if not len(codes):
        return near, np.zeros((0, arity))
    new = np.ones(len(codes), dtype=bool)
    new[1:] = (near[1:] != near[:-1]).any(axis=1)  # the configurations come sorted
    group = np.cumsum(new) - 1
    weight = np.zeros((int(group[-1]) + 1, arity))
    weight[group, codes[:, -1]] = found.values
    return near[new], weight


def _cells(
    design: LogLinear,
    i: int,
    near: tuple[int, ...],
    found: NDArray[np.intp],
    potentials: Sequence[int],
) -> NDArray[np.int64]:
    """[configuration, state of i, potential]: the cell of the potential that goes with them."""
    column = {v: k for k, v in enumerate(near)}
    arity = design.variables[i].arity
    out = np.empty((len(found), arity, len(potentials)), dtype=np.int64)
    for k, f in enumerate(potentials):
        at = np.full((len(found), arity), design.offsets[f], dtype=np.int64)
        stride = 1
        for v in reversed(design.scopes[f]):
            if v == i:
                at += stride * np.arange(arity)
            else:
                at += stride * found[:, column[v], None]
            stride *= design.variables[v].arity
        out[:, :, k] = at
    return out


# --- The log-likelihood of an undirected model, from counts, with its gradient ---
#
#     ℓ(w) = Σ_cells n · ln φ − N ln Z,      ∂ℓ/∂w = Sᵀ (n − N · P)
#
# n are the counts of each potential's configurations and P their probabilities under the model,
# which one backward pass of the compiled plan gives for all potentials at once. ℓ is concave.

_NOTHING = np.zeros((1, 0), dtype=np.int32)


class Likelihood:
    """ℓ and its gradient at any parameters, for counts that are given once."""

    def __init__(self, design: LogLinear, plan: Any, counts: Floats, rows: float) -> None:
        self.design = design
        self.plan = plan
        self.counts = counts
        self.rows = rows
        self.observed = np.asarray(design.matrix.T @ counts)

    @staticmethod
    def plan_of(design: LogLinear) -> Any:
        """The plan whose backward pass gives the probabilities of every potential's cells."""
        arities = [v.arity for v in design.variables]
        model = _core.Model(arities, [list(s) for s in design.scopes])
        return model.compile([], [], families=True, directed=False)

    def __call__(self, w: Floats) -> tuple[float, Floats]:
        """ℓ(w) and its gradient."""
        logs = self.design.logs(w)
        tables, scale = split_tables(logs, self.design.offsets)
        log_z, _, families = self.plan.run(tables, _NOTHING, [], 1)
        expected = self.design.matrix.T @ (self.rows * families[0])
        value = float(self.observed @ w) - self.rows * (float(log_z[0]) + scale)
        return value, self.observed - np.asarray(expected)


def split_tables(logs: Floats, offsets: Sequence[int]) -> tuple[list[Floats], float]:
    """exp of the log potentials, each table with its largest number at 1, and the scale's ln."""
    tables, scale = [], 0.0
    for a, b in pairwise(offsets):
        most = float(logs[a:b].max())
        tables.append(np.exp(logs[a:b] - most))
        scale += most
    return tables, scale
