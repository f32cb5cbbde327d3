"""EM: one driver for whatever has a hidden part: networks, mixtures, rows without a class.

    E-step   s = E[statistics | rows, θ]          M-step   θ = argmax E[ln P(rows, hidden | θ)]

Each turn raises ln P(rows | θ) plus the prior's terms (Dempster, Laird & Rubin 1977). A problem
gives the two steps; the driver has starts, SQUAREM, tolerance, deadline, progress and Ctrl-C.
After the first plain iterations each is followed by a step of SQUAREM,

    θ₁ = M(E(θ₀)), θ₂ = M(E(θ₁));   r = θ₁ − θ₀, v = (θ₂ − θ₁) − r;   θ' = θ₀ − 2s·r + s²·v

with s = −|r|/|v| (Varadhan & Roland 2008, the third step length). One that does not end higher is
rejected for the plain step it replaced, so the objective never falls.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError
from credo.core.progress import Ticker, track

__all__ = ["INTERRUPTED", "LATE", "EMProblem", "Run", "best_run", "run_em"]

INTERRUPTED = "interrupted"
"""The reason a run stopped, when it was Ctrl-C."""

LATE = "the time was spent"
"""The reason a run stopped, when it was the clock."""

_IDLE = 50  # steps in a row that gain nothing a double can tell

Floats = NDArray[np.float64]

P = TypeVar("P")  # the parameters
S = TypeVar("S")  # the expected statistics


class EMProblem(ABC, Generic[P, S]):
    """What EM must know of a model and its rows."""

    plain: ClassVar[int] = 20
    """The first iterations are plain: they gain most."""
    spare: ClassVar[int] = 2
    """How many iterations must be left for SQUAREM."""
    heat: ClassVar[int] = 15
    """Iterations that every start gets before the poorer half is dropped."""
    slack: ClassVar[float] = 1e-11
    """A fall of so much of the objective is rounding; inf where it may fall."""
    settled: ClassVar[str] = "a step changed no parameter by more than {tol:g}"
    fell: ClassVar[str] = "the objective fell: too few rows for some configurations"

    weight: float
    """The weight of all rows."""

    @abstractmethod
    def expect(self, parameters: P) -> tuple[S, float]:
        """The E-step: expected statistics, and ln P(rows)."""

    @abstractmethod
    def maximise(self, statistics: S) -> P:
        """The M-step: the parameters that the statistics make most probable."""

    @abstractmethod
    def change(self, old: P, new: P, gain: float) -> float:
        """What a step changed: at most `tol` ends the run."""

    def log_prior(self, parameters: P, statistics: S) -> float:
        """What the prior adds to ln P(rows), up to a constant."""
        return 0.0

    def vector(self, parameters: P) -> Floats:
        """All parameters in one vector; variances by their logarithm."""
        raise NotImplementedError

    def parameters(self, vector: Floats, near: P) -> P:
        """Parameters from a vector that may have left their range."""
        raise NotImplementedError


@dataclass(eq=False)
class Run(Generic[P, S]):
    """One run from one start; `steps` goes on from where it stands."""

    problem: EMProblem[P, S]
    parameters: P
    tol: float
    accelerate: bool = True
    trace: list[float] = field(default_factory=list)
    reason: str = ""
    converged: bool = False
    statistics: S | None = None  # under `parameters`
    log_likelihood: float = -math.inf  # the same
    before: S | None = None  # what `parameters` are the M-step of, if of any
    rejected: int = 0  # steps of SQUAREM
    _longest: float = 4.0
    _idle: int = 0

    @property
    def objective(self) -> float:
        """ln P(rows) and what the prior adds."""
        return self.trace[-1]

    @property
    def iterations(self) -> int:
        """The steps taken."""
        return max(len(self.trace) - 1, 0)

    @property
    def expected(self) -> S:
        """The statistics of the last E-step."""
        assert self.statistics is not None
        return self.statistics

    def begin(self) -> None:
        """The E-step of the start."""
        if self.statistics is None:
            self.statistics, self.log_likelihood = self.problem.expect(self.parameters)
            prior = self.problem.log_prior(self.parameters, self.statistics)
            self.trace.append(self.log_likelihood + prior)

    def steps(self, most: int, pause: int | None = None) -> Iterator[float]:
        """The objective after each turn, until `most` iterations in all have been made.

        With a `pause` it stops after so many, and goes on as if it had not.
        """
        self.begin()
        while not self.reason and self.iterations < min(most, pause or most):
            left, old = most - self.iterations, self.parameters
            squarem = self.accelerate and self.iterations >= self.problem.plain
            if self._step() and squarem and left >= self.problem.spare:
                self._squarem(old)
            yield self.objective

    def finish(self, max_iter: int, until: float = math.inf, steps: Steps | None = None) -> None:
        """Go on to the end, and say why it is one."""
        for _ in track((steps or Run.steps)(self, max_iter, None), "em", total=None):
            if time.perf_counter() > until and not self.reason:
                self.reason = LATE
                return
        if not self.reason:
            self.reason = f"the budget of {max_iter:,} iterations was used up"

    def _step(self) -> bool:
        """One plain step; False when the run is over."""
        problem, old, made_of = self.problem, self.parameters, self.expected
        new = problem.maximise(made_of)
        statistics, log = problem.expect(new)
        value = log + problem.log_prior(new, statistics)
        gain = value - self.objective
        small = max(abs(self.objective), min(problem.weight, 1.0))
        if gain < -problem.slack * small or np.isnan(value):
            self._end(problem.fell)
            return False
        self._stand(new, statistics, log, value)
        self.before = made_of
        if problem.change(old, new, gain) <= self.tol:
            self._end(problem.settled.format(tol=self.tol))
        elif self._idle >= _IDLE:
            self._end(f"{_IDLE} steps in a row gained nothing")
        return not self.reason

    def _end(self, reason: str) -> None:
        self.reason, self.converged = reason, True

    def _stand(self, parameters: P, statistics: S, log_likelihood: float, value: float) -> None:
        gained = value - self.objective > 1e-15 * max(abs(value), 1.0)
        self._idle = 0 if gained else self._idle + 1
        self.parameters, self.statistics = parameters, statistics
        self.log_likelihood, self.before = log_likelihood, None
        falls = self.problem.slack == math.inf
        self.trace.append(value if falls else max(value, self.objective))  # else it is rounding

    def _squarem(self, old: P) -> None:
        """From θ₀ (`old`) and θ₁ (where it stands) to θ', if that is higher than θ₁."""
        problem = self.problem
        last = problem.maximise(self.expected)
        x0, x1, x2 = (problem.vector(p) for p in (old, self.parameters, last))
        r, v = x1 - x0, (x2 - x1) - (x1 - x0)
        size = float(np.linalg.norm(v))
        length = float(np.linalg.norm(r)) / size if size > 0 else 1.0
        if not length > 1.0:
            return
        length = min(length, self._longest)
        guess = problem.parameters(x0 + 2 * length * r + length * length * v, last)
        try:
            statistics, log = problem.expect(guess)
            value = log + problem.log_prior(guess, statistics)
        except CredoError:
            value = -np.inf
        if not value >= self.objective:
            self.rejected += 1
            self._longest = max(self._longest / 2, 2.0)
            return
        if length == self._longest:
            self._longest *= 4.0
        self._stand(guess, statistics, log, value)


Steps = Callable[[Run[Any, Any], int, int | None], Iterator[float]]
"""How a run goes on: `Run.steps`, or by its gradient."""


def run_em(
    problem: EMProblem[P, S],
    starts: Iterable[P],
    *,
    tol: float,
    max_iter: int,
    accelerate: bool = True,
    until: float = math.inf,
    steps: Steps | None = None,
) -> tuple[Run[P, S], tuple[tuple[int, float], ...]]:
    """The best run of several starts to its end, and (iterations, objective) of those dropped.

    `until` is a time of `time.perf_counter`. Ctrl-C ends the run and keeps what it has reached.
    """
    runs = [Run(problem, start, tol, accelerate) for start in starts]
    dropped: list[Run[P, S]] = []
    try:
        best, dropped = best_run(runs, max_iter, steps)
        best.finish(max_iter, until, steps)
    except KeyboardInterrupt:
        begun = [r for r in runs if r.trace]
        if not begun:
            raise  # not one step was made
        best = max(begun, key=lambda r: r.objective)
        best.reason = INTERRUPTED
    return best, tuple((r.iterations, r.objective) for r in dropped)


def best_run(
    runs: list[Run[P, S]], most: int, steps: Steps | None = None
) -> tuple[Run[P, S], list[Run[P, S]]]:
    """The best of several runs, and those dropped: after a while the poorer half, and again."""
    running, dropped, pause = list(runs), list[Run[P, S]](), 0
    failed: CredoError | None = None
    with Ticker("em") as ticker:
        while len(running) > 1:
            pause = 2 * pause or running[0].problem.heat
            for run in list(running):
                try:
                    for _ in (steps or Run.steps)(run, most, pause):
                        pass
                    ticker.say(f"{len(running)} starts, this one at {run.objective:.6g}")
                except CredoError as error:
                    failed = error
                    running.remove(run)
            running.sort(key=lambda r: -r.objective)
            keep = (len(running) + 1) // 2
            if all(r.reason or r.iterations >= most for r in running[:keep]):
                keep = 1
            dropped += running[keep:]
            running = running[:keep]
    if not running:
        assert failed is not None
        raise failed
    return running[0], dropped
