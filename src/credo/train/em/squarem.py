"""A climb that leaps: plain steps of EM in turn with guarded leaps, whatever is learned.

    θ₁ = M(E(θ₀)), θ₂ = M(E(θ₁));   r = θ₁ − θ₀, v = (θ₂ − θ₁) − r;   θ' = θ₀ − 2s·r + s²·v

SQUAREM with s = −|r|/|v| (Varadhan & Roland 2008, the third step length). A leap that does not end
higher is dropped for the plain step it replaced, so the objective never falls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError

__all__ = ["Leaping"]

Floats = NDArray[np.float64]

N = TypeVar("N")  # the parameters
E = TypeVar("E")  # what is expected under them


class Leaping(ABC, Generic[N, E]):
    """One climb from one start. `steps` goes on from where it stands."""

    plain: ClassVar[int]
    """The first iterations are plain steps: they gain most."""
    spare: ClassVar[int]
    """How many iterations must be left for a leap to be tried."""

    numbers: N  # where it stands
    expected: E | None  # under `numbers`
    accelerate: bool
    trace: list[float]
    reason: str
    dropped: int
    _leap: float

    # --- what a climb must know of its parameters ---------------------------------------------

    @abstractmethod
    def expect(self, numbers: N) -> E:
        """The expectation step."""

    @abstractmethod
    def maximised(self) -> N:
        """The maximisation step, from where it stands."""

    @abstractmethod
    def value(self, expected: E, numbers: N) -> float:
        """What is climbed: ln P(rows) and what the priors add."""

    @abstractmethod
    def _step(self) -> bool:
        """One plain step; False when the climb is over."""

    @abstractmethod
    def _stand(self, made: N, expected: E, value: float) -> None:
        """Stand on other parameters."""

    @abstractmethod
    def vector(self, numbers: N) -> Floats:
        """All parameters in one vector; variances by their logarithm."""

    @abstractmethod
    def numbers_at(self, vector: Floats, near: N) -> N:
        """Parameters from a vector that may have left their range."""

    # --- climbing ---------------------------------------------------------------------------

    @property
    def objective(self) -> float:
        """The height reached."""
        return self.trace[-1]

    @property
    def iterations(self) -> int:
        """The steps taken."""
        return max(len(self.trace) - 1, 0)

    def run(self, most: int, pause: int | None = None) -> None:
        """Climb until nothing is gained, or `most` iterations in all have been made.

        With a `pause` it stops after so many, and goes on as if it had not.
        """
        for _ in self.steps(most, pause):
            pass

    def steps(self, most: int, pause: int | None = None) -> Iterator[float]:
        """The heights on the way, one for each turn of the climb."""
        if self.expected is None:
            self.expected = self.expect(self.numbers)
            self.trace.append(self.value(self.expected, self.numbers))
        while not self.reason and self.iterations < (most if pause is None else min(pause, most)):
            left = most - self.iterations
            leap = self.accelerate and self.iterations >= self.plain and left >= self.spare
            start = self.numbers
            if self._step() and leap:
                self._try_leap(start)
            yield self.objective

    def _try_leap(self, start: N) -> bool:
        """From θ₀ and θ₁ (where it stands) to θ', if that is higher than θ₁."""
        last = self.maximised()
        x0, x1, x2 = (self.vector(n) for n in (start, self.numbers, last))
        r, v = x1 - x0, (x2 - x1) - (x1 - x0)
        size = float(np.linalg.norm(v))
        step = float(np.linalg.norm(r)) / size if size > 0 else 1.0
        if not step > 1.0:
            return False
        step = min(step, self._leap)
        guess = self.numbers_at(x0 + 2 * step * r + step * step * v, last)
        try:
            expected = self.expect(guess)
            value = self.value(expected, guess)
        except CredoError:
            value = -np.inf
        if not value >= self.objective:
            self.dropped += 1
            self._leap = max(self._leap / 2, 2.0)
            return False
        if step == self._leap:
            self._leap *= 4.0
        self._stand(guess, expected, value)
        return True
