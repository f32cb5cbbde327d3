"""Interval: two ends and the probability between them.

It unpacks into its ends: `low, high = posterior.interval(0.95)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.errors import InputError
from credo.render import number

__all__ = ["Interval", "shares", "tails"]

End = float | NDArray[np.float64]


def tails(level: float) -> tuple[float, float]:
    """The two tail probabilities of a central interval, which leaves as much on either side.

    >>> tails(0.5)
    (0.25, 0.75)
    """
    try:
        inside = 0.0 < level < 1.0
    except TypeError:
        inside = False
    if not inside:
        raise InputError(
            f"The level of an interval must lie between 0 and 1, got {level!r}.",
            hint="Write 0.95 for 95 %.",
        )
    return (1.0 - level) / 2.0, (1.0 + level) / 2.0


def shares(q: ArrayLike) -> NDArray[np.float64]:
    """Shares of a probability, each between 0 and 1, at which quantiles are asked for.

    >>> shares([0.1, 0.9]).tolist()
    [0.1, 0.9]
    """
    try:
        out = np.asarray(q, dtype=np.float64)
    except (TypeError, ValueError):
        out = np.array(np.nan)
    if not ((out >= 0) & (out <= 1)).all():
        raise InputError(f"The share of a quantile must lie between 0 and 1, got {q!r}.")
    return out


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """An interval that holds a parameter or a next value with probability `level`.

    >>> i = Interval(0.25, 0.75, 0.95)
    >>> low, high = i
    >>> low, high, 0.5 in i, i.width
    (0.25, 0.75, True, 0.5)
    >>> print(i)
    0.25 to 0.75 (95 %)
    """

    lower: End
    upper: End
    level: float

    def __post_init__(self) -> None:
        tails(self.level)
        for name in ("lower", "upper"):
            end = getattr(self, name)
            if isinstance(end, np.ndarray):
                end = np.array(end, dtype=np.float64)
                end.flags.writeable = False
            else:
                end = float(end)
            object.__setattr__(self, name, end)
        if np.shape(self.lower) != np.shape(self.upper) or not np.all(
            np.less_equal(self.lower, self.upper)
        ):
            raise InputError("The lower end of an interval must not lie above the upper end.")

    @property
    def width(self) -> Any:
        """The distance between the ends."""
        return self.upper - self.lower

    def __iter__(self) -> Iterator[Any]:
        yield self.lower
        yield self.upper

    def __contains__(self, value: object) -> bool:
        at = np.asarray(value)
        return bool(np.all((self.lower <= at) & (at <= self.upper)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interval):
            return NotImplemented
        return (
            self.level == other.level
            and np.array_equal(self.lower, other.lower)
            and np.array_equal(self.upper, other.upper)
        )

    def __hash__(self) -> int:
        return hash((self.level, np.asarray(self.lower).tobytes()))

    def __str__(self) -> str:
        percent = f"({number(100 * self.level, 4)} %)"
        if isinstance(self.lower, np.ndarray) or isinstance(self.upper, np.ndarray):
            return f"{self.lower} to {self.upper} {percent}"
        return f"{number(self.lower)} to {number(self.upper)} {percent}"
