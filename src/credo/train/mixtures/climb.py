"""The climb of a mixture: expectation and maximisation in turn, with leaps (`train/em/squarem.py`).

Covariances leap by their Cholesky root with a logarithmic diagonal, which is one of a covariance
wherever it lands. Roots of the same covariance in other orders of the columns leap elsewhere, so
they are taken in an order that is not the table's (`gathered.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from credo.predict.rows.mixture_rows import Expected, Laid, Numbers
from credo.train.em.squarem import Leaping
from credo.train.mixtures.maximise import Maximiser, raised

__all__ = ["Climb"]

Floats = NDArray[np.float64]


@lru_cache(maxsize=1)
def _triangle(d: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the cells of a root are."""
    rows, columns = np.tril_indices(d)
    return rows, columns


def _taken(spread: Floats, order: NDArray[np.intp] | None) -> Floats:
    """Covariances with their columns in another order."""
    return spread if order is None else spread[:, order[:, None], order]


@dataclass
class Climb(Leaping[Numbers, Expected]):
    """One climb from one start. `steps` goes on from where it stands."""

    plain: ClassVar[int] = 10
    spare: ClassVar[int] = 2

    rows: Laid
    maximiser: Maximiser
    numbers: Numbers
    tol: float  # of the gain a row
    accelerate: bool = True
    threads: int = 1
    order: NDArray[np.intp] | None = None  # of the columns in a root, if not their own
    trace: list[float] = field(default_factory=list)
    reason: str = ""
    converged: bool = False
    expected: Expected | None = None  # under `numbers`
    dropped: int = 0
    _leap: float = 4.0

    def expect(self, numbers: Numbers) -> Expected:
        """The expectation step."""
        return self.rows.expect(numbers, self.threads)

    def maximised(self) -> Numbers:
        """The maximisation step, from where it stands."""
        assert self.expected is not None
        return self.maximiser.maximise(self.expected, self.numbers)

    def value(self, expected: Expected, numbers: Numbers) -> float:
        """What is climbed: ln P(rows) and what the priors add."""
        return expected.log_likelihood + self.maximiser.penalty(numbers, expected.roots)

    def _step(self) -> bool:
        made = self.maximised()
        expected = self.expect(made)
        value = self.value(expected, made)
        gain = value - self.objective
        if gain < -1e-10 * max(abs(self.objective), min(self.rows.weight, 1.0)) or np.isnan(value):
            self.reason = "a step gained nothing that numbers of this size can tell"
            self.converged = True
            return False
        self._stand(made, expected, value)
        if self.tol > 0 and gain <= self.tol * self.rows.weight:
            self.reason = f"a step gained no more than {self.tol:g} a row"
            self.converged = True
        return not self.reason

    def _stand(self, made: Numbers, expected: Expected, value: float) -> None:
        self.expected, self.numbers = expected, made
        self.trace.append(max(value, self.objective))  # a fall here is rounding alone

    # --- numbers as a vector --------------------------------------------------------------

    def vector(self, numbers: Numbers) -> Floats:
        """All parameters in one vector; variances by their logarithm."""
        x = numbers
        parts = [x.weights, *(t.ravel() for t in x.tables), x.means.ravel()]
        parts.append(np.log(x.rates).ravel())
        if self.maximiser.joint:
            spread = x.spread[:1] if self.maximiser.form == "tied" else x.spread
            spread = _taken(spread, self.order)
            root: Floats = np.linalg.cholesky(spread).astype(np.float64)
            i = np.arange(root.shape[-1])
            root[:, i, i] = np.log(root[:, i, i])
            parts.append(root[:, *_triangle(len(i))].ravel())
            if x.rest is not None:
                parts.append(np.log(x.rest))
        else:
            parts.append(np.log(x.spread).ravel())
        return np.concatenate(parts)

    def numbers_at(self, vector: Floats, near: Numbers) -> Numbers:
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
        floor, d = self.maximiser.floor, near.means.shape[1]
        rest = None
        if self.maximiser.joint:
            k = 1 if self.maximiser.form == "tied" else near.k
            root = np.zeros((k, d, d))
            root[:, *_triangle(d)] = take((k, d * (d + 1) // 2))
            i = np.arange(d)
            root[:, i, i] = np.exp(np.clip(root[:, i, i], -50, 50))
            back = None if self.order is None else np.argsort(self.order)
            product = _taken(root @ root.transpose(0, 2, 1), back)
            spread = np.broadcast_to(raised(product, floor), near.spread.shape)
            if near.rest is not None:
                with np.errstate(over="ignore"):
                    wide = np.exp(take(near.rest.shape))
                rest = np.maximum(np.clip(wide, 0.01 * near.rest, 100 * near.rest), floor)
        else:
            with np.errstate(over="ignore"):
                wide = np.exp(take(near.spread.shape))
            spread = np.maximum(np.clip(wide, 0.01 * near.spread, 100 * near.spread), floor)
        return Numbers(weights / weights.sum(), tuple(tables), means, spread, rates, rest)
