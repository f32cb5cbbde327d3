"""The parameters of an undirected model, and how its log potentials depend on them.

    ln φ = S w,      one row of S for each cell of each potential, one column for each parameter

A table has a parameter for each of its cells (S is the identity there); the features of one name
share one weight (S holds the feature's values). Cells that can only be 0 are closed: −∞.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError
from credo.core.schema import Variable
from credo.model.undirected.factor import Factor
from credo.model.undirected.feature import Feature
from credo.model.undirected.potentials import Potential

Floats = NDArray[np.float64]

MAX_PARAMETERS = 20_000_000
"""Models with more cells than this are refused before anything is allocated."""


@dataclass(frozen=True, eq=False)
class LogLinear:
    """The potentials of a model as a linear function of its parameters."""

    variables: tuple[Variable, ...]
    potentials: tuple[Potential, ...]
    scopes: tuple[tuple[int, ...], ...]
    offsets: tuple[int, ...]  # where the cells of each potential begin, and where the last end
    matrix: Any  # sparse, cells × parameters
    closed: NDArray[np.bool_]  # cells that are 0 whatever the parameters
    columns: Mapping[str, int]  # the parameter of each feature's weight

    @classmethod
    def of(
        cls,
        variables: Sequence[Variable],
        potentials: Sequence[Potential],
        closed: NDArray[np.bool_] | None = None,
    ) -> LogLinear:
        """The design of a model; sizes are checked first."""
        from scipy.sparse import csr_array

        at = {v.name: i for i, v in enumerate(variables)}
        sizes = [prod(v.arity for v in p.variables) for p in potentials]
        if sum(sizes) > MAX_PARAMETERS:
            raise LimitError(
                f"The potentials would have {sum(sizes):,} cells together; "
                f"at most {MAX_PARAMETERS:,} are allowed.",
                hint="Give a graph with smaller cliques, or potentials='pairs'.",
            )
        offsets = (0, *accumulate(sizes))
        shut = np.zeros(offsets[-1], dtype=bool) if closed is None else closed
        columns: dict[str, int] = {}
        rows, cols, data = [], [], []
        free = 0
        for start, p in zip(offsets[:-1], potentials, strict=True):
            if isinstance(p, Feature):
                if p.name not in columns:
                    columns[p.name], free = free, free + 1
                values = p.values.ravel()
                where = np.flatnonzero(values)
                rows.append(start + where)
                cols.append(np.full(len(where), columns[p.name]))
                data.append(values[where])
            else:
                where = np.flatnonzero(~shut[start : start + p.values.size])
                rows.append(start + where)
                cols.append(free + np.arange(len(where)))
                data.append(np.ones(len(where)))
                free += len(where)
        cells = [np.concatenate(x) if x else np.zeros(0) for x in (data, rows, cols)]
        matrix = csr_array((cells[0], (cells[1], cells[2])), shape=(offsets[-1], free))
        scopes = tuple(tuple(at[n] for n in p.names) for p in potentials)
        return cls(tuple(variables), tuple(potentials), scopes, offsets, matrix, shut, columns)

    @property
    def parameters(self) -> int:
        """How many numbers are to be learned."""
        return int(self.matrix.shape[1])

    @property
    def tabled(self) -> NDArray[np.bool_]:
        """Which cells belong to tables, not to features."""
        out = np.zeros(self.offsets[-1], dtype=bool)
        for a, b, p in zip(self.offsets, self.offsets[1:], self.potentials, strict=False):
            out[a:b] = isinstance(p, Factor)
        return out

    def closing(self, closed: NDArray[np.bool_]) -> LogLinear:
        """The same design with some cells of tables closed."""
        return LogLinear.of(self.variables, self.potentials, closed)

    def logs(self, w: Floats) -> Floats:
        """The log potentials of all cells, −inf where closed."""
        out = np.asarray(self.matrix @ w)
        out[self.closed] = -np.inf
        return out

    def learned(self, w: Floats) -> tuple[Potential, ...]:
        """The potentials with these parameters."""
        logs = self.logs(w)
        out: list[Potential] = []
        for start, end, p in zip(self.offsets, self.offsets[1:], self.potentials, strict=False):
            if isinstance(p, Feature):
                out.append(p.weighted(float(w[self.columns[p.name]])))
            else:
                out.append(Factor.from_log(p.variables, logs[start:end], p.name))
        return tuple(out)
