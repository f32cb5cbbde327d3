"""The climb of EM: expectation and maximisation in turn, until a step changes nothing.

After the first steps the climb leaps, as `train/em/squarem.py` says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from credo.train.em.maximise import Maximiser
from credo.train.em.problem import Expected, Numbers, Problem
from credo.train.em.squarem import Leaping

__all__ = ["Climb", "vector_of"]

_STALLED = 50  # steps in a row that gain nothing a double can tell

Floats = NDArray[np.float64]


@dataclass
class Climb(Leaping[Numbers, Expected]):
    """One climb from one start. `run` goes on from where it stands."""

    plain: ClassVar[int] = 20  # a trace of them can be compared with a textbook's
    spare: ClassVar[int] = 3

    problem: Problem
    maximiser: Maximiser
    numbers: Numbers  # where it stands
    tol: float
    accelerate: bool = True
    trace: list[float] = field(default_factory=list)
    dropped: int = 0
    reason: str = ""
    expected: Expected | None = None  # under `numbers`
    before: Expected | None = None  # what `numbers` were made from
    leapt: bool = False  # whether the last step was a leap
    _leap: float = 4.0
    _idle: int = 0

    def expect(self, numbers: Numbers) -> Expected:
        """The expectation step."""
        return self.problem.expect(numbers)

    def maximised(self) -> Numbers:
        """The maximisation step, from where it stands."""
        assert self.expected is not None
        return self.maximiser.maximise(self.expected)

    def value(self, expected: Expected, numbers: Numbers) -> float:
        """What is climbed: ln P(rows) and what the priors add."""
        return expected.log_likelihood + self.maximiser.penalty(numbers)

    def _step(self) -> bool:
        """One plain step; False when the climb is over."""
        made = self.maximised()
        change = distance(made, self.numbers)
        expected = self.expect(made)
        value = self.value(expected, made)
        if value < self.objective - 1e-11 * max(abs(self.objective), 1.0):
            self.reason = "the objective fell: too few rows for some configurations"
            return False
        self._stand(made, expected, value)
        self.leapt = False
        if change <= self.tol:
            self.reason = f"a step changed no parameter by more than {self.tol:g}"
        elif self._idle >= _STALLED:
            self.reason = f"{_STALLED} steps in a row gained nothing"
        return not self.reason

    def _stand(self, made: Numbers, expected: Expected, value: float) -> None:
        gained = value - self.objective > 1e-15 * max(abs(value), 1.0)
        self._idle = 0 if gained else self._idle + 1
        self.before, self.expected, self.numbers = self.expected, expected, made
        self.trace.append(max(value, self.objective))  # a fall here is rounding alone

    def _try_leap(self, start: Numbers) -> bool:
        self.leapt = super()._try_leap(start)
        return self.leapt

    def vector(self, numbers: Numbers) -> Floats:
        """All parameters in one vector; variances by their logarithm."""
        return vector_of(self.problem, numbers)

    def numbers_at(self, vector: Floats, near: Numbers) -> Numbers:
        """Parameters from a vector that may have left their range."""
        cells = self.problem.layout.cells
        theta = self.maximiser.projected(vector[:cells], 0.01 * near.theta)
        lines = vector[cells:].copy()
        at = variance_places(self.problem)
        old = near.lines[at]
        with np.errstate(over="ignore"):
            lines[at] = np.clip(np.exp(lines[at]), 0.01 * old, 100.0 * old)
        for i, low in self.maximiser.floor.items():
            part = self.problem.layout.line(lines, i)
            scale = self.problem.scales[self.problem.layout.names[i]][1]
            part[..., -1] = np.maximum(part[..., -1], low / scale**2)
        return Numbers(theta, lines)


def variance_places(problem: Problem) -> NDArray[np.intp]:
    """Where the variances lie among the numbers of all lines."""
    found: Any = problem.__dict__.get("_variance_places")
    if found is None:
        layout = problem.layout
        marks = np.zeros(layout.line_numbers, dtype=bool)
        for i, (child, _) in enumerate(layout.families):
            if not child.is_discrete:
                layout.line(marks, i)[..., -1] = True
        found = problem.__dict__["_variance_places"] = np.flatnonzero(marks)
    places: NDArray[np.intp] = found
    return places


def vector_of(problem: Problem, numbers: Numbers) -> Floats:
    """All parameters in one vector; variances by their logarithm."""
    lines = numbers.lines.copy()
    at = variance_places(problem)
    lines[at] = np.log(lines[at])
    return np.concatenate([numbers.theta, lines])


def distance(a: Numbers, b: Numbers) -> float:
    """The largest change of a parameter: a probability, or a number of a line in its own scale."""
    tables = np.abs(a.theta - b.theta).max(initial=0.0)
    return float(max(tables, np.abs(a.lines - b.lines).max(initial=0.0)))
