"""Interval: two ends and the probability between them.

It unpacks into its ends: `low, high = posterior.interval(0.95)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.render import number
from credo.model.values.reals import real_or_nan, reals_or_nan, shown
from credo.model.values.value import Told

End = float | NDArray[np.float64]


def tails(level: float) -> tuple[float, float]:
    """The two tail probabilities of a central interval, which leaves as much on either side.

    >>> tails(0.5)
    (0.25, 0.75)
    """
    share = probability(level)
    return (1.0 - share) / 2.0, (1.0 + share) / 2.0


def between(low: float, high: float, level: float) -> Interval:
    """The interval of two ends that were found apart, which rounding may have exchanged.

    >>> print(between(0.5, 0.5 - 1e-16, 0.1))
    0.5 to 0.5 (10 %)
    """
    return Interval(low, max(low, high), level)


def probability(level: Any) -> float:
    """The level of an interval, above 0 and below 1.

    >>> probability(0.95)
    0.95
    """
    share = real_or_nan(level)
    if not 0.0 < share < 1.0:
        raise InputError(
            f"The level of an interval must lie between 0 and 1, got {shown(level)}.",
            hint="Write 0.95 for 95 %.",
        )
    return share


def shares(q: ArrayLike) -> NDArray[np.float64]:
    """Shares of a probability, each between 0 and 1, at which quantiles are asked for.

    >>> shares([0.1, 0.9]).tolist()
    [0.1, 0.9]
    """
    out = reals_or_nan(q)
    if not ((out >= 0) & (out <= 1)).all():
        raise InputError(f"The share of a quantile must lie between 0 and 1, got {shown(q)}.")
    return out


def halved(
    share: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    q: NDArray[np.float64],
    low: ArrayLike,
    high: ArrayLike,
) -> NDArray[np.float64]:
    """Where an increasing function reaches each `q`, between two ends, by halving.

    >>> halved(lambda s: s**2, np.array(0.25), 0.0, 1.0).round(12)
    np.float64(0.5)
    """
    below, above = np.full(q.shape, low), np.full(q.shape, high)
    for _ in range(70):
        middle = (below + above) / 2
        under = share(middle) < q
        below, above = np.where(under, middle, below), np.where(under, above, middle)
    found: NDArray[np.float64] = (below + above) / 2
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Interval(Told, Frozen):
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
        object.__setattr__(self, "level", probability(self.level))
        for name in ("lower", "upper"):
            given = getattr(self, name)
            end = reals_or_nan(given)
            if np.isnan(end).any():
                raise InputError(f"The ends of an interval must be numbers, got {shown(given)}.")
            end.flags.writeable = False
            object.__setattr__(self, name, end if end.ndim else float(end))
        if np.shape(self.lower) != np.shape(self.upper) or not np.all(
            np.less_equal(self.lower, self.upper)
        ):
            raise InputError("The lower end of an interval must not lie above the upper end.")
        Frozen.__post_init__(self)

    @property
    def width(self) -> Any:
        """The distance between the ends."""
        return self.upper - self.lower

    def __iter__(self) -> Iterator[Any]:
        yield self.lower
        yield self.upper

    def __contains__(self, value: object) -> bool:
        at = reals_or_nan(value)
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
        percent = f"({number(100 * self.level, 10)} %)"
        if isinstance(self.lower, np.ndarray) or isinstance(self.upper, np.ndarray):
            return f"{self.lower} to {self.upper} {percent}"
        for digits in (6, 9, 12, 17):  # enough to tell the ends apart
            low, high = number(self.lower, digits), number(self.upper, digits)
            if low != high or self.lower == self.upper:
                break
        return f"{low} to {high} {percent}"
