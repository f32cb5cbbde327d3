"""Observations: what `observe` accepts, and the record of what came, in order.

A list, tuple, range, array or column of a frame is many observations; a text, a number or
anything else is one. Counts say how often each came: a mapping, a `Counter`, or the `Counts`
of one variable.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.model.values.data import single
from credo.model.values.reals import absent, real_or_nan, shown
from credo.model.values.sources import is_source, source_values, values_of
from credo.model.values.value import same
from credo.stats.counts import Counts

MAX_COUNT = 1e15
"""A count is at most this, so that it is exact in a float and its sums never overflow."""


def read_observations(data: Any, counts: Any) -> tuple[list[Any], NDArray[np.float64]]:
    """The observations and how often each came; those that came 0 times are left out.

    >>> read_observations(["lime", "cherry"], None)
    (['lime', 'cherry'], array([1., 1.]))
    >>> read_observations({"lime": 5, "cherry": 0}, True)
    (['lime'], array([5.]))
    """
    if is_source(data):
        data = source_values(data, "")
    if isinstance(data, Counts):
        data, counts = dict(zip(single(data).states, np.asarray(data), strict=True)), True
    if counts is True or (counts is None and isinstance(data, Counter)):
        if not isinstance(data, Mapping):
            raise InputError(
                "With counts=True the data must be a mapping from outcome to count, "
                f"got {shown(data)}."
            )
        values, weights = list(data), list(data.values())
    else:
        values = many(data)
        if counts is None or counts is False:
            return _checked(values, np.ones(len(values)))
        if not isinstance(counts, Iterable) or len(weights := list(counts)) != len(values):
            raise InputError(
                f"The counts must be True or one number for each of the {len(values)} "
                f"observations, got {shown(counts)}."
            )
    out = np.array([real_or_nan(w) for w in weights], dtype=np.float64)
    for value, weight, n in zip(values, weights, out, strict=True):
        if not 0 <= n <= MAX_COUNT:
            raise InputError(
                f"The count of {shown(value)} must be a number from 0 to {MAX_COUNT:.0e}, "
                f"got {shown(weight)}."
            )
    keep = out > 0
    return _checked([v for v, k in zip(values, keep, strict=True) if k], out[keep])


def many(data: Any) -> list[Any]:
    """The observations in `data`: many if it is a sequence, else one.

    >>> many("lime"), many(("lime", "lime")), many(range(2))
    (['lime'], ['lime', 'lime'], [0, 1])
    """
    if isinstance(data, (set, frozenset)):
        raise InputError(
            f"A set has neither an order nor repeats, got {data!r}.",
            hint="Give a list of observations; observe_one takes a set as one observation.",
        )
    if hasattr(data, "columns") and not isinstance(data, Mapping):
        raise InputError(
            "A table of several columns is not a list of observations.",
            hint="Give one column, or observe(frame.to_dict('records')) for rows as mappings.",
        )
    if isinstance(data, np.ndarray):
        return [data.item()] if data.ndim == 0 else data.tolist() if data.ndim == 1 else list(data)
    if isinstance(data, (list, tuple, range, Iterator)):
        return list(data)
    return values_of(data) if hasattr(data, "to_numpy") else [data]  # a column of any frame


def _checked(
    values: list[Any], counts: NDArray[np.float64]
) -> tuple[list[Any], NDArray[np.float64]]:
    for i, value in enumerate(values):
        if absent(value):
            raise InputError(
                f"Observation {i + 1} of {len(values)} is missing ({shown(value)}).",
                hint="Leave missing observations out.",
            )
    return values, counts


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """What was observed, step by step: codes of outcomes, or the observations themselves.

    >>> past = Past().then(np.array([1, 1]), np.ones(2)).then(np.array([0]), np.array([7.0]))
    >>> past.steps, past.n, int(past[2])
    (3, 9, 0)
    """

    chunks: tuple[tuple[NDArray[Any], NDArray[np.float64]], ...] = ()
    steps: int = 0
    total: float = 0.0

    def then(self, values: NDArray[Any], counts: NDArray[np.float64]) -> Past:
        """The past with some more steps at its end."""
        values.setflags(write=False)
        counts.setflags(write=False)
        total = self.total + math.fsum(counts)
        return Past((*self.chunks, (values, counts)), self.steps + len(values), total)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Past):
            return NotImplemented
        return self.total == other.total and same([*self], [*other])

    def __hash__(self) -> int:
        return hash((self.steps, self.total))

    @property
    def n(self) -> int | float:
        """The number of observations, repeats counted."""
        return int(self.total) if self.total.is_integer() else self.total

    def __getitem__(self, step: int) -> Any:
        for values, _ in self.chunks:
            if step < len(values):
                return values[step]
            step -= len(values)
        raise AssertionError(step)

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        """Each step's observation (or its code) and how often it came."""
        for values, counts in self.chunks:
            yield from zip(values, counts.tolist(), strict=True)
