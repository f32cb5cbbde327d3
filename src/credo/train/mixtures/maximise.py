"""EM of a mixture. Its M-step: the parameters that the expected statistics make most probable.

    weights   (N_c + s) / (N + k·s)              tables   (n_cx + s/J) / (n_c + s)
    means     N x̄ / (N + κ)                      rates    (Σ r·x + s·x̄) / (Σ r + s)
    full      (S + κN/(N + κ)·x̄x̄ᵀ + s·Λ) / (N + s·(2d + 4)),   Λ = I / k^(2/d)

s is the strength of the prior; 0 is maximum likelihood. The Gaussian prior is that of Fraley &
Raftery (2007), with κ = s/100 rows at the middle of the table; columns are scaled, so that I is
each column's own variance. No variance (no eigenvalue, if columns vary together) falls below the
floor: the best covariance under that limit is the usual one with its eigenvalues raised to it, so
EM stays monotone.

SQUAREM takes covariances by their Cholesky root with a logarithmic diagonal, which is one of a
covariance wherever it lands. Roots of the same covariance in other orders of the columns land
elsewhere, so they are taken in an order that is not the table's (`gathered.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from credo.predict.rows.mixture_rows import Laid, Parameters, Roots, Statistics, roots_of
from credo.train.em.run import EMProblem

Floats = NDArray[np.float64]

_FEW = 48  # columns, below which all classes at once are faster than one after the other
_NOBODY = 1e-12  # a class with less than this of all weight keeps its numbers


@dataclass(frozen=True)
class MixtureEM(EMProblem[Parameters, Statistics]):
    """EM of one number of classes: rows, the form of the covariances, the prior, the floor."""

    plain = 10
    heat = 8
    slack = 1e-10
    settled = "a step gained no more than {tol:g} a row"
    fell = "a step gained nothing that numbers of this size can tell"

    rows: Laid
    form: str
    k: int
    columns: int
    prior: float
    floor: float | Floats  # one for all columns, or one for each
    rate_means: Floats
    threads: int = 1
    order: NDArray[np.intp] | None = None  # of the columns in a root, if not their own

    @property
    def weight(self) -> float:  # type: ignore[override]
        """The weight of all rows."""
        return self.rows.weight

    @property
    def joint(self) -> bool:
        """Whether the real columns are one Gaussian."""
        return self.form in ("full", "tied") and self.columns > 0

    @property
    def kappa(self) -> float:
        """Imagined rows at the middle of the table."""
        return 0.01 * self.prior

    @cached_property
    def size(self) -> float:
        """The imagined spread of a class: each direction's share of its column's variance."""
        return float(self.k ** (-2.0 / max(self.columns, 1)))

    @property
    def exponent(self) -> float:
        """How often ½ ln |Σ| stands in the prior's density, negative."""
        d = self.columns
        full = {"full": 2 * d + 4, "tied": 2 * d + 3 + self.k, "diagonal": 6, "spherical": d + 5}
        return self.prior * full[self.form]

    # --- the steps ------------------------------------------------------------------------

    def expect(self, parameters: Parameters) -> tuple[Statistics, float]:
        """The E-step."""
        return self.rows.expect(parameters, self.threads)

    def change(self, old: Parameters, new: Parameters, gain: float) -> float:
        """The gain a row."""
        return gain / self.weight

    def maximise(self, statistics: Statistics) -> Parameters:
        """The M-step; a class without rows keeps the parameters it had."""
        e, old, s = statistics, statistics.under, self.prior
        alive = e.mass > _NOBODY * max(float(e.mass.sum()), 1e-300)
        weights = e.mass + s
        weights = weights / weights.sum()
        tables = []
        for counts, before in zip(e.counts, old.tables, strict=True):
            raw = counts + s / counts.shape[1]
            total = raw.sum(axis=1, keepdims=True)
            kept = total > 0 if s > 0 else total > _NOBODY * max(float(e.mass.sum()), 1e-300)
            tables.append(np.where(kept, raw / np.where(kept, total, 1.0), before))
        means, spread = self._gaussians(e, old, alive)
        d = self.columns
        rates = old.rates
        if rates.shape[1]:
            n = e.there[:, d:]
            sums = e.first[:, d:] + s * self.rate_means
            low = 1e-9 * np.maximum(self.rate_means, 1e-3)
            safe = np.where(n + s > _NOBODY, n + s, 1.0)
            rates = np.maximum(np.where(n + s > _NOBODY, sums / safe, rates), low)
        return Parameters(weights, tuple(tables), means, spread, rates)

    def _gaussians(
        self, e: Statistics, old: Parameters, alive: NDArray[np.bool_]
    ) -> tuple[Floats, Floats]:
        d = self.columns
        if d == 0:
            return old.means, old.spread
        n = e.there[:, :d]
        there = n > _NOBODY * max(float(e.mass.sum()), 1e-300)
        safe = np.where(there, n, 1.0)
        step = np.where(there, e.first[:, :d] / safe, 0.0)
        middle = old.means + step  # the mean of the rows
        k0 = self.kappa
        means = middle * (n / (n + k0)) if k0 > 0 else middle
        means = np.where(there, means, old.means)
        pull = k0 * n / (n + k0) if k0 > 0 else np.zeros_like(n)
        if not self.joint:
            scatter = e.second - e.first[:, :d] * step + pull * middle**2
            return means, self._apart(scatter, n, old, there)
        # All columns of a class have the same weight here.
        scatter = (e.mass[:, None] * step)[:, :, None] * step[:, None, :]
        np.subtract(e.second, scatter, out=scatter)
        if k0 > 0:
            scatter += (pull[:, :1] * middle)[:, :, None] * middle[:, None, :]
        scatter = scatter + scatter.transpose(0, 2, 1)
        scatter *= 0.5
        i = np.arange(d)
        if self.form == "tied":
            one = scatter.sum(axis=0)
            one[i, i] += self.prior * self.size
            one /= e.mass.sum() + self.exponent
            spread = np.broadcast_to(self._lifted(one[None], e.mass.sum()), scatter.shape)
            return means, spread
        total = np.where(alive, e.mass, 1.0) + self.exponent
        scatter[:, i, i] += self.prior * self.size
        scatter /= total[:, None, None]
        spread = self._lifted(scatter, float(e.mass.max()))
        if not alive.all():
            spread = np.where(alive[:, None, None], spread, old.spread)
        return means, spread

    def _lifted(self, spread: Floats, most: float) -> Floats:
        """No eigenvalue below the floor; the prior alone may see to that, whatever the rows."""
        least = self.prior * self.size / (max(most, 1.0) + self.exponent)
        return spread if least > 2 * np.max(self.floor) else raised(spread, self.floor)

    def _apart(
        self, scatter: Floats, n: Floats, old: Parameters, there: NDArray[np.bool_]
    ) -> Floats:
        s, a = self.prior, self.exponent
        if self.form == "spherical":
            total = n.sum(axis=1, keepdims=True)
            kept = total > 0
            one = scatter.sum(axis=1, keepdims=True) + s * self.size
            one = np.where(kept, one / np.where(kept, total + a, 1.0), old.spread[:, :1])
            ball: Floats = np.maximum(np.broadcast_to(one, scatter.shape), self.floor)
            return ball
        spread = (scatter + s * self.size) / np.where(there, n + a, 1.0)
        apart: Floats = np.maximum(np.where(there, spread, old.spread), self.floor)
        return apart

    # --- the prior ------------------------------------------------------------------------

    def log_prior(self, parameters: Parameters, statistics: Statistics) -> float:
        """ln of the prior's density at the parameters, up to a constant."""
        x, roots = parameters, statistics.roots
        s = self.prior
        if s == 0:
            return 0.0
        with np.errstate(divide="ignore"):
            total = s * float(np.log(x.weights).sum())
            for t in x.tables:
                total += s / t.shape[1] * float(np.log(t).sum())
        if x.rates.shape[1]:
            total += s * float((self.rate_means * np.log(x.rates) - x.rates).sum())
        if self.columns == 0:
            return total
        squares = self.kappa * x.means**2
        if not self.joint:
            if self.form == "spherical":
                v = x.spread[:, 0]
                total -= 0.5 * float((self.exponent * np.log(v)).sum())
                return total - 0.5 * float(((s * self.size + squares.sum(axis=1)) / v).sum())
            total -= 0.5 * float((self.exponent * np.log(x.spread)).sum())
            return total - 0.5 * float(((s * self.size + squares) / x.spread).sum())
        spread = x.spread[:1] if self.form == "tied" else x.spread
        found = roots_of(spread) if roots is None else Roots(roots.inverse[: len(spread)])
        total -= 0.5 * self.exponent * float(found.log_det.sum())
        total -= 0.5 * s * self.size * float(found.trace().sum())
        all_of_them = Roots(np.broadcast_to(found.inverse, x.spread.shape))
        return total - 0.5 * self.kappa * float(all_of_them.squares(x.means).sum())

    # --- parameters as a vector -----------------------------------------------------------

    def vector(self, parameters: Parameters) -> Floats:
        """All parameters in one vector; variances by their logarithm."""
        x = parameters
        parts = [x.weights, *(t.ravel() for t in x.tables), x.means.ravel()]
        parts.append(np.log(x.rates).ravel())
        if self.joint:
            spread = x.spread[:1] if self.form == "tied" else x.spread
            spread = _taken(spread, self.order)
            root: Floats = np.linalg.cholesky(spread).astype(np.float64)
            i = np.arange(root.shape[-1])
            root[:, i, i] = np.log(root[:, i, i])
            parts.append(root[:, *_triangle(len(i))].ravel())
        else:
            parts.append(np.log(x.spread).ravel())
        return np.concatenate(parts)

    def parameters(self, vector: Floats, near: Parameters) -> Parameters:
        """Parameters from a vector that may have left their range."""
        at = 0

        def take(shape: tuple[int, ...]) -> Floats:
            nonlocal at
            size = int(np.prod(shape))
            at += size
            return vector[at - size : at].reshape(shape)

        weights = np.maximum(take(near.weights.shape), 0.01 * near.weights)
        tables = []
        for t in near.tables:
            raw = np.maximum(take(t.shape), 0.01 * t)
            tables.append(raw / raw.sum(axis=1, keepdims=True))
        means = take(near.means.shape)
        with np.errstate(over="ignore"):
            rates = np.clip(np.exp(take(near.rates.shape)), 0.01 * near.rates, 100 * near.rates)
        floor, d = self.floor, near.means.shape[1]
        if self.joint:
            k = 1 if self.form == "tied" else near.k
            root = np.zeros((k, d, d))
            root[:, *_triangle(d)] = take((k, d * (d + 1) // 2))
            i = np.arange(d)
            root[:, i, i] = np.exp(np.clip(root[:, i, i], -50, 50))
            back = None if self.order is None else np.argsort(self.order)
            product = _taken(root @ root.transpose(0, 2, 1), back)
            spread = np.broadcast_to(raised(product, floor), near.spread.shape)
        else:
            with np.errstate(over="ignore"):
                wide = np.exp(take(near.spread.shape))
            spread = np.maximum(np.clip(wide, 0.01 * near.spread, 100 * near.spread), floor)
        return Parameters(weights / weights.sum(), tuple(tables), means, spread, rates)


@lru_cache(maxsize=1)
def _triangle(d: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the cells of a root are."""
    rows, columns = np.tril_indices(d)
    return rows, columns


def _taken(spread: Floats, order: NDArray[np.intp] | None) -> Floats:
    """Covariances with their columns in another order."""
    return spread if order is None else spread[:, order[:, None], order]


def raised(matrices: Floats, floor: float | Floats) -> Floats:
    """Covariances with no eigenvalue below the floor; of one for each column in its units."""
    if isinstance(floor, np.ndarray):
        units = np.sqrt(np.multiply.outer(floor, floor))
        return raised(matrices / units, 1.0) * units
    if matrices.shape[-1] < _FEW and _above(matrices, floor):
        return matrices
    fine = [_above(m, floor) for m in matrices]
    if all(fine):
        return matrices
    return np.stack([m if f else _lifted(m, floor) for f, m in zip(fine, matrices, strict=True)])


def _above(matrices: Floats, floor: float) -> bool:
    try:
        np.linalg.cholesky(matrices - floor * np.eye(matrices.shape[-1]))
    except np.linalg.LinAlgError:
        return False
    return True


def _lifted(matrix: Floats, floor: float) -> Floats:
    """V max(λ, floor) Vᵀ; fewer rows than columns leave few λ above 0, which are found alone.

    A pivoted Cholesky root ends at the rank, B Bᵀ = matrix with B narrow, and BᵀB has the same
    eigenvalues. Where all of them are above the floor, it is raised to what B does not reach, and
    no eigenvalue need be known.
    """
    from scipy.linalg.lapack import dpstrf, dtrtrs

    d = len(matrix)
    root, pivot, rank, _ = dpstrf(matrix, lower=1)
    narrow = np.zeros((d, rank))
    narrow[pivot - 1] = np.tril(root[:, :rank])
    inner = narrow.T @ narrow
    if 0 < rank < d and _above(inner, floor):
        reached, _ = dtrtrs(np.linalg.cholesky(inner), narrow.T, lower=1)
        out: Floats = matrix - floor * (reached.T @ reached)
        out.ravel()[:: d + 1] += floor
    elif rank > d // 3:
        values, vectors = np.linalg.eigh(matrix)
        out = (vectors * np.maximum(values, floor)) @ vectors.T
    else:
        values, vectors = np.linalg.eigh(inner)
        kept = values > floor
        wide = narrow @ vectors[:, kept]
        wide *= np.sqrt((values[kept] - floor) / values[kept])
        out = wide @ wide.T + floor * np.eye(d)
    return 0.5 * (out + out.T)
