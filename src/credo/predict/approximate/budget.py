"""How much work an answer may take: its method, seconds or samples, and the error wanted."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.model.values.randomness import MAX_DRAWS, Rng, generator
from credo.model.values.reals import NotReal, real, shown
from credo.model.values.value import choice

__all__ = ["DRAWS", "EXACT", "METHODS", "Effort", "draws_of", "effort"]

METHODS = ("auto", "exact", "importance", "weighting", "loopy", "gibbs")
SAMPLING = ("importance", "weighting", "gibbs")
USUAL_ERROR = 0.005
"""The half width of the intervals that is aimed at when nothing else is said."""
USUAL_SAMPLES = 1_000_000
"""The most samples when neither a budget nor an error is given."""
MOST_SAMPLES = 20_000_000
"""The most samples when an error is given without a budget."""

DRAWS = 1000
"""Draws of the parameters for an interval when nothing else is said."""

_SECONDS = {
    "ms": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0,
    "m": 60.0, "min": 60.0, "minute": 60.0, "minutes": 60.0, "h": 3600.0,
}  # fmt: skip
_BUDGET = re.compile(r"\s*([\d.,_]+(?:e\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Effort:
    """How to answer, and when to stop."""

    method: str = "auto"
    seconds: float | None = None
    samples: int | None = None
    error: float | None = None
    seed: int = 0
    why: str = ""
    """Why the answer is not exact, where it was not asked to be approximate."""
    began: float = 0.0
    """When the question was asked, by the monotonic clock."""

    @property
    def spent(self) -> float:
        """Seconds since the question was asked."""
        return time.monotonic() - self.began

    def late(self, share: float = 1.0) -> bool:
        """Whether a share of the time is up."""
        return self.seconds is not None and self.spent >= share * self.seconds

    @property
    def agreed(self) -> bool:
        """Whether the user has said that an approximate answer is welcome."""
        given = (self.seconds, self.samples, self.error)
        return self.method not in ("auto", "exact") or any(g is not None for g in given)

    @property
    def draws_seed(self) -> int:
        """The seed for draws of the parameters, which go through the exact plan."""
        if self.agreed:
            raise InputError(
                "Credible intervals run every draw of the parameters through the exact plan; "
                "they take no method, budget or error of sampling.",
                hint="Leave those out, or leave out the interval.",
            )
        return self.seed

    @property
    def target(self) -> float | None:
        """The half width at which sampling may stop; None where only the budget ends it."""
        if self.error is None and self.seconds is None and self.samples is None:
            return USUAL_ERROR
        return self.error

    @property
    def most(self) -> int:
        """The most samples."""
        if self.samples is not None:
            return self.samples
        if self.seconds is not None:
            return MAX_DRAWS
        return USUAL_SAMPLES if self.error is None else MOST_SAMPLES


EXACT = Effort("exact")


def effort(method: str = "auto", budget: Any = None, error: Any = None, rng: Rng = 0) -> Effort:
    """What the user asked for, checked.

    >>> effort(budget="2 s").seconds, effort(budget="1e5 samples").samples
    (2.0, 100000)
    >>> effort(budget="soon")
    Traceback (most recent call last):
    credo.errors.InputError: budget must be a time such as "2 s" or a number of "10000 samples", \
got 'soon'.
    """
    method = choice(method, METHODS, "method")
    seconds, samples = (None, None) if budget is None else _budget(budget)
    if error is not None:
        error = _error(error)
    if method == "exact" and (budget is not None or error is not None):
        raise InputError(
            "An exact answer takes neither a budget nor an error.",
            hint='Leave them out, or use method="auto", which is exact where the budget allows.',
        )
    if method == "loopy" and (error is not None or samples is not None):
        raise InputError(
            "Loopy belief propagation draws no samples and knows no error.",
            hint='Use method="importance", or give a time as the budget.',
        )
    if isinstance(rng, (int, np.integer)):
        generator(rng)
        seed = int(rng)
    else:
        seed = int(generator(rng).integers(2**63))
    return Effort(method, seconds, samples, error, seed % 2**64, began=time.monotonic())


def draws_of(draws: int | None, interval: float | None) -> int:
    """How many draws of the parameters; they go with an interval.

    >>> draws_of(None, 0.95)
    1000
    """
    if draws is not None and interval is None:
        raise InputError(
            f"draws={shown(draws)} goes with interval=.",
            hint="Give a level, such as interval=0.95, or leave draws out.",
        )
    return DRAWS if draws is None else draws


def _budget(given: Any) -> tuple[float | None, int | None]:
    if isinstance(given, str):
        match = _BUDGET.fullmatch(given)
        number = _number(match[1].replace(",", "").replace("_", "")) if match else None
        unit = match[2].lower() if match else ""
        if number is not None and number > 0:
            if unit in ("sample", "samples"):
                return None, _samples(number, given)
            if unit in _SECONDS or not unit:
                return number * _SECONDS.get(unit, 1.0), None
    else:
        try:
            number = np.nan if isinstance(given, (bool, np.bool_)) else real(given)
        except NotReal:
            number = None
        if number is not None and 0 < number < np.inf:
            return float(number), None
    raise InputError(
        f'budget must be a time such as "2 s" or a number of "10000 samples", got {shown(given)}.'
    )


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if found < np.inf else None


def _samples(number: float, given: Any) -> int:
    if number != int(number) or not 1 <= number <= MAX_DRAWS:
        raise InputError(
            f"budget must be a whole number of samples, 1 to {MAX_DRAWS:,}, got {shown(given)}."
        )
    return int(number)


def _error(given: Any) -> float:
    try:
        number = real(given)
    except NotReal:
        number = np.nan
    if not 1e-6 <= number < 1:
        raise InputError(
            f"error must lie between 0.000001 and 1, got {shown(given)}.",
            hint="It is half the width of the 95 % interval of each probability.",
        )
    return float(number)
