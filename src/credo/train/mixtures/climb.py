"""The climb of a mixture: expectation and maximisation in turn, with guarded leaps.

    θ₁ = M(E(θ₀)), θ₂ = M(E(θ₁));   r = θ₁ − θ₀, v = (θ₂ − θ₁) − r;   θ' = θ₀ − 2s·r + s²·v

SQUAREM with s = −|r|/|v| (Varadhan & Roland 2008). A leap that does not end higher is dropped for
the plain step it replaced, so the objective never falls. Covariances leap by their Cholesky root
with a logarithmic diagonal, which is one of a covariance wherever it lands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from credo.errors import CredoError
from credo.predict.mixture_rows import Expected, Laid, Numbers
from credo.train.mixtures.maximise import Maximiser, raised

__all__ = ["PLAIN", "Climb"]

PLAIN = 10
"""The first iterations are plain steps: they gain most."""

Floats = NDArray[np.float64]


@dataclass
class Climb:
    """One climb from one start. `steps` goes on from where it stands."""

    rows: Laid
    maximiser: Maximiser
    numbers: Numbers
    tol: float  # of the gain a row
    accelerate: bool = True
    threads: int = 1
    trace: list[float] = field(default_factory=list)
    reason: str = ""
    converged: bool = False
    expected: Expected | None = None  # under `numbers`
    dropped: int = 0
    _leap: float = 4.0

    @property
    def objective(self) -> float:
        """The height reached."""
        return self.trace[-1]

    @property
    def iterations(self) -> int:
        """The steps taken."""
        return max(len(self.trace) - 1, 0)

    def run(self, most: int) -> None:
        """Climb until nothing is gained, or `most` iterations in all have been made."""
        for _ in self.steps(most):
            pass

    def steps(self, most: int) -> Iterator[float]:
        """The heights on the way."""
        if self.expected is None:
            self.expected = self.rows.expect(self.numbers, self.threads)
            self.trace.append(self._value(self.expected, self.numbers))
        while not self.reason and self.iterations < most:
            start = self.numbers
            leap = self.accelerate and self.iterations >= PLAIN and most - self.iterations >= 2
            if self._step() and leap:
                self._try_leap(start)
            yield self.objective

    def _value(self, expected: Expected, numbers: Numbers) -> float:
        return expected.log_likelihood + self.maximiser.penalty(numbers)

    def _step(self) -> bool:
        assert self.expected is not None
        made = self.maximiser.maximise(self.expected, self.numbers)
        expected = self.rows.expect(made, self.threads)
        value = self._value(expected, made)
        gain = value - self.objective
        if gain < -1e-10 * max(abs(self.objective), 1.0) or np.isnan(value):
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

    def _try_leap(self, start: Numbers) -> None:
        assert self.expected is not None
        last = self.maximiser.maximise(self.expected, self.numbers)
        x0, x1, x2 = (self._vector(n) for n in (start, self.numbers, last))
        r, v = x1 - x0, (x2 - x1) - (x1 - x0)
        size = float(np.linalg.norm(v))
        step = float(np.linalg.norm(r)) / size if size > 0 else 1.0
        if not step > 1.0:
            return
        step = min(step, self._leap)
        guess = self._numbers(x0 + 2 * step * r + step * step * v, last)
        try:
            expected = self.rows.expect(guess, self.threads)
            value = self._value(expected, guess)
        except CredoError:
            value = -np.inf
        if not value >= self.objective:
            self.dropped += 1
            self._leap = max(self._leap / 2, 2.0)
            return
        if step == self._leap:
            self._leap *= 4.0
        self._stand(guess, expected, value)

    # --- numbers as a vector --------------------------------------------------------------

    def _vector(self, x: Numbers) -> Floats:
        parts = [x.weights, *(t.ravel() for t in x.tables), x.means.ravel()]
        parts.append(np.log(x.rates).ravel())
        if self.maximiser.joint:
            spread = x.spread[:1] if self.maximiser.form == "tied" else x.spread
            root: Floats = np.linalg.cholesky(spread).astype(np.float64)
            i = np.arange(root.shape[-1])
            root[:, i, i] = np.log(root[:, i, i])
            parts.append(root[:, *np.tril_indices(len(i))].ravel())
        else:
            parts.append(np.log(x.spread).ravel())
        return np.concatenate(parts)

    def _numbers(self, vector: Floats, near: Numbers) -> Numbers:
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
        if self.maximiser.joint:
            k = 1 if self.maximiser.form == "tied" else near.k
            root = np.zeros((k, d, d))
            root[:, *np.tril_indices(d)] = take((k, d * (d + 1) // 2))
            i = np.arange(d)
            root[:, i, i] = np.exp(np.clip(root[:, i, i], -50, 50))
            spread = np.broadcast_to(
                raised(root @ root.transpose(0, 2, 1), floor), near.spread.shape
            )
        else:
            with np.errstate(over="ignore"):
                wide = np.exp(take(near.spread.shape))
            spread = np.maximum(np.clip(wide, 0.01 * near.spread, 100 * near.spread), floor)
        return Numbers(weights / weights.sum(), tuple(tables), means, spread, rates)
