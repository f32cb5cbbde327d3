"""More columns than rows: EM in the directions that the rows have.

Scaled rows z span few directions, the columns of Q. EM that starts with classes round as balls
never learns anything of the others: there every class stays a ball, of a variance v that the prior
and the floor alone decide. So with y = Qᵀ z

    N(z; μ, Σ) = N(y; Qᵀ μ, Qᵀ Σ Q) · (2π v)^(−(d − r) / 2),    Σ = Q A Qᵀ + v (I − Q Qᵀ)

and a step costs r³ instead of d³, as does the evidence of what was found. In the end the classes
are turned back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from credo.predict.rows.mixture_rows import Laid, Parameters, laid
from credo.train.mixtures.maximise import MixtureEM
from credo.train.mixtures.problem import Problem

__all__ = ["Turned", "turned_of"]

Floats = NDArray[np.float64]

_LEAST = 32  # columns
_TIMES = 2  # as many columns as rows


@dataclass(frozen=True, slots=True)
class Turned:
    """The directions of the rows [d, r], and the rows in them."""

    basis: Floats
    rows: Laid

    def em(self, whole: MixtureEM) -> MixtureEM:
        """EM in these directions."""
        d, r = self.basis.shape
        return replace(whole, rows=self.rows, columns=r, beyond=d - r, order=None)

    def narrow(self, x: Parameters) -> Parameters:
        """A start, whose classes are balls, in these directions."""
        rest = x.spread[:, 0, 0].copy()
        spread = rest[:, None, None] * np.eye(self.basis.shape[1])
        return replace(x, means=x.means @ self.basis, spread=spread, rest=rest)

    def wide(self, x: Parameters, tied: bool) -> Parameters:
        """Parameters in these directions as those of all columns."""
        assert x.rest is not None
        some = slice(1) if tied else slice(None)
        q, rest = self.basis, x.rest[some, None, None]
        inner = x.spread[some] - rest * np.eye(q.shape[1])
        spread = q @ inner @ q.T
        spread += spread.transpose(0, 2, 1)
        spread *= 0.5
        i = np.arange(len(q))
        spread[:, i, i] += rest[:, 0]
        spread = np.broadcast_to(spread, (x.k, *spread.shape[1:]))
        return replace(x, means=x.means @ q.T, spread=spread, rest=None)


def turned_of(problem: Problem) -> Turned | None:
    """The directions of the rows, where EM in them pays and ends where it should."""
    cells = problem.cells
    d, n = cells.reals.shape
    if problem.form not in ("full", "tied") or d < _LEAST or n * _TIMES > d:
        return None
    if cells.weight > d + 1 or np.isnan(cells.reals).any():  # a start may know more than balls
        return None
    scales = problem.scales
    z = (cells.reals - scales.centre[:, None]) / scales.scale[:, None]
    basis, turned = np.linalg.qr(z)
    arities = [v.arity for v in cells.plan.states]
    rows = laid(turned, cells.counts, cells.codes, arities, cells.weights, True, problem.most)
    return Turned(basis, replace(rows, beyond=d - len(turned)))
