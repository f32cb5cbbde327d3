"""Fisher's z of many pairs at once, from one correlation matrix.

    r_xy·z = − K_xy / √(K_xx K_yy),  K = inverse of the correlations of (z, x, y)

Tests with conditioning sets of one size are one stack of small matrices. Where cells are missing
each test has its own rows, and this does not serve. Where x, y or a member of z is a sum of (others
in) z there is nothing left to correlate, and no answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.stats.family import Family
from credo.stats.moments import Moments
from credo.stats.tally import Source

__all__ = ["Correlations", "UntestableError", "collinear", "fisher_z"]

Floats = NDArray[np.float64]
Asked = Sequence[tuple[str, str, Sequence[str]]]

_PIECE = 20_000  # matrices of one stack
_COLLINEAR = 1e-11  # the least eigenvalue of a matrix of correlations


class UntestableError(InputError):
    """A test that the rows cannot make: too few have all its columns, or these are collinear."""


def collinear(correlations: Floats) -> NDArray[np.bool_]:
    """Which matrices of a stack have a column that is a sum of others, up to rounding.

    >>> collinear(np.array([[[1.0, 0.5], [0.5, 1.0]], [[1.0, -1.0], [-1.0, 1.0]]])).tolist()
    [False, True]
    """
    found: NDArray[np.bool_] = np.linalg.eigvalsh(correlations)[..., 0] < _COLLINEAR
    return found


class Correlations:
    """The correlations of some continuous columns, and how many rows they rest on."""

    def __init__(self, names: Sequence[str], moments: Moments) -> None:
        if not len(moments.n):
            raise UntestableError(
                f"No row has all of {', '.join(names)}, so nothing can be tested on them.",
                hint="Leave the column with the most gaps out, or fill it.",
            )
        place = {v.name: i for i, v in enumerate(moments.continuous)}
        order = [place[n] for n in names]
        scatter = moments.scatter[0][np.ix_(order, order)]
        scale = np.sqrt(np.diag(scatter))
        if not (scale > 0).all():
            constant = names[int(np.argmin(scale))]
            raise UntestableError(f"The column {constant!r} is constant.", hint="Leave it out.")
        self.at = {n: i for i, n in enumerate(names)}
        self.rows = moments.total
        self.r: Floats = scatter / scale[:, None] / scale[None, :]

    @classmethod
    def of(cls, source: Source, names: Sequence[str]) -> Correlations | None:
        """Those of a source; None where cells are missing, a column is constant or no row is."""
        if len(names) < 2:
            return None
        family = Family(names[-1], tuple(names[:-1]))
        moments = source.tally([family])[family]
        assert isinstance(moments, Moments)
        if moments.skipped or len(moments.n) != 1 or not np.diag(moments.scatter[0]).all():
            return None
        return cls(names, moments)

    def z(self, asked: Asked, strict: bool = True) -> tuple[Floats, Floats, Floats]:
        """The value of each test, its degrees of freedom and its p.

        A test of collinear columns is refused, or without `strict` NaN.
        """
        value, free = np.empty(len(asked)), np.empty(len(asked))
        sizes = np.array([len(z) for _, _, z in asked], dtype=np.intp)
        for size in np.unique(sizes):
            which = np.flatnonzero(sizes == size)
            for first in range(0, len(which), _PIECE):
                part = which[first : first + _PIECE]
                free[part] = self._free(asked[int(part[0])])
                r = self._partial([asked[int(i)] for i in part], int(size), strict)
                value[part] = np.sqrt(free[part]) * np.arctanh(r)
        return value, free, fisher_z(value)

    def _free(self, test: tuple[str, str, Sequence[str]]) -> float:
        x, y, z = test
        free = self.rows - len(z) - 3
        if free <= 0:
            raise UntestableError(
                f"Fisher's z needs more than {len(z) + 3} rows to test {x} ⊥ {y} given {len(z)} "
                f"variables, got {self.rows:g}."
            )
        return free

    def _partial(self, asked: Asked, size: int, strict: bool) -> Floats:
        at = np.array([[*(self.at[n] for n in z), self.at[x], self.at[y]] for x, y, z in asked])
        if size == 0:
            r: Floats = self.r[at[:, 0], at[:, 1]]
        else:
            whole = self.r[at[:, :, None], at[:, None, :]]
            others = [[*range(size), size + k] for k in (0, 1)]  # z and x, z and y
            lost = np.zeros(len(at), dtype=bool)
            for kept in others:
                lost |= collinear(whole[:, kept][:, :, kept])
            if lost.any() and strict:
                x, y, z = asked[int(lost.argmax())]
                raise UntestableError(
                    f"{x} ⊥ {y} | {', '.join(z)} cannot be tested: among these columns one is a "
                    "sum of others.",
                    hint="Leave one of them out.",
                )
            inverse = np.linalg.pinv(whole, hermitian=True)
            with np.errstate(invalid="ignore", divide="ignore"):
                r = -inverse[:, -2, -1] / np.sqrt(inverse[:, -2, -2] * inverse[:, -1, -1])
            r[lost] = np.nan
        return np.clip(r, -1 + 1e-15, 1 - 1e-15)


def fisher_z(value: Floats) -> Floats:
    """The p of values that are standard normal under independence."""
    from scipy.special import ndtr

    p: Floats = 2 * ndtr(-np.abs(value))
    return p
