"""A problem: what every search is given; an outcome: what every search gives back.

A search offers each better graph as it finds it, so that whatever stops it (a budget, Ctrl-C)
the best so far is there.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.core.progress import Ticker, watch
from credo.train.scores.family_scores import FamilyScores
from credo.train.structure.option_hints import option_hint
from credo.train.structure.rules import Rules

__all__ = ["Outcome", "Problem"]

Parents = list[list[int]]


@dataclass(frozen=True)
class Outcome:
    """A graph by the numbers of each variable's parents, and how it was found."""

    parents: Parents
    score: float
    reason: str
    trace: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Shown:
    """The line of progress: what was heard last of each thing, as not every part of a search knows.

    >>> Shown().line(-1234.5, 10, 7, asked=500, seconds=2)
    'score -1,234.5 · 7 edges · 10 steps · 500 families asked, 250 a second'
    """

    score: float = -np.inf
    steps: int = 0
    edges: int = 0

    def line(self, score: float, steps: int, edges: int, *, asked: int, seconds: float) -> str:
        """The line after a report; zeros say nothing."""
        if score:
            self.score = max(self.score, score)
        if score or edges:
            self.steps, self.edges = max(self.steps, steps), edges or self.edges
        parts = [f"score {self.score:,.1f}"] if np.isfinite(self.score) else []
        parts += [f"{self.edges:,} edges"] if self.edges else []
        parts += [f"{self.steps:,} steps"] if self.steps else []
        if asked:
            parts.append(f"{asked:,} families asked, {asked / max(seconds, 1e-3):,.0f} a second")
        return " · ".join(parts)


@dataclass
class Problem:
    """Scores, rules and limits of one search."""

    scores: FamilyScores
    rules: Rules
    start: Parents
    generator: np.random.Generator
    threads: int = 1
    seconds: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    ticker: Ticker | None = None
    began: float = field(default_factory=time.monotonic)
    best: Parents | None = None
    best_score: float = -np.inf
    stopped: str = ""
    doing: str = ""  # what is done besides scoring, for the line of progress
    shown: Shown = field(default_factory=lambda: Shown())

    def __post_init__(self) -> None:
        self.listen()

    def listen(self) -> None:
        """Within a large batch of scores, too, the budget and Ctrl-C are heard from now on."""
        self.scores.native.limit(self.left)

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.rules.names)

    @property
    def left(self) -> float:
        """Seconds left of the budget."""
        return np.inf if self.seconds is None else self.seconds - (time.monotonic() - self.began)

    def seed(self) -> int:
        """A seed for a native search."""
        return int(self.generator.integers(1 << 62))

    def go_on(self, score: float = 0.0, steps: int = 0, edges: int = 0) -> bool:
        """Whether the search may go on; native searches call it every few milliseconds."""
        watching = watch()
        if watching is not None and watching.stopped:
            self.stopped = "interrupted"
            return False
        if self.ticker is not None:
            if self.best is not None and not edges:
                score = max(self.best_score, score) if score else self.best_score
                edges = sum(map(len, self.best))
            told = self.shown.line(
                score, steps, edges,
                asked=self.scores.counters["asked"], seconds=time.monotonic() - self.began,
            )  # fmt: skip
            self.ticker.say(" · ".join(filter(None, (self.doing, told))))
        if self.left <= 0:
            self.stopped = self.stopped or f"the budget of {self.seconds:g} s was spent"
            return False
        return True

    def interrupted(self, seconds: float) -> None:
        """Note Ctrl-C, and leave some seconds to bring what there is to an end."""
        self.stopped = "interrupted"
        self.seconds = time.monotonic() - self.began + seconds
        self.scores.native.limit(seconds)

    def took(self, found: Mapping[str, Any]) -> None:
        """Note how a native search ended, and offer what it found."""
        if found["interrupted"]:
            self.stopped = "interrupted"
        if found["parents"]:
            self.offer([list(p) for p in found["parents"]], float(found["score"]))

    def offer(self, parents: Sequence[Sequence[int]], score: float) -> bool:
        """Keep a graph if it is better than the best so far."""
        slack = 1e-11 * max(1.0, abs(score))
        if self.best is not None and not score > self.best_score + slack:
            return False
        self.best, self.best_score = [sorted(p) for p in parents], score
        watching = watch()
        if watching is not None:
            names = self.rules.names
            edges = tuple((names[p], names[c]) for c, ps in enumerate(self.best) for p in ps)
            watching.best = (tuple(names), edges), score
        return True

    def outcome(self, reason: str, **more: Any) -> Outcome:
        """The best so far, with the reason the search ended."""
        if self.scores.native.stopped:  # a batch that was cut short looks as if it found nothing
            self.go_on()
        self.scores.native.limit(None)
        if self.best is None:
            self.offer(self.start, self.scores.total(self.start))
        assert self.best is not None
        score = self.scores.total(self.best)
        return Outcome(self.best, score, self.stopped or reason, **more)

    def option(self, name: str, default: Any, least: float | None = None) -> Any:
        """An option of the search, checked to be of the default's kind."""
        value = self.options.get(name, default)
        if value is None or default is None or isinstance(default, str):
            return value
        kinds = (int, np.integer) if isinstance(default, int) else (int, float, np.number)
        if (
            isinstance(value, bool)
            or not isinstance(value, kinds)
            or (least is not None and value < least)
        ):
            kind = "a whole number" if isinstance(default, int) else "a number"
            bound = "" if least is None else f", {least:g} or more"
            raise InputError(f"{name} must be {kind}{bound}, got {value!r}.")
        return value

    def only(self, *known: str) -> None:
        """Refuse options that this search does not have."""
        for name in self.options:
            if name not in known:
                raise InputError(
                    f"This search has no option {name!r}.", hint=option_hint(name, known)
                )
