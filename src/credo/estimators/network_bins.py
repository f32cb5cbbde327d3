"""Cut points: where a network classifier cuts numbers into intervals.

Numbers are cut for the class (MODL, `train/numbers`); one that alone tells nothing of it is cut at
its median, since beside another it may. A cut parts two values of training by a number of few
digits, which stands in the names of the states (`≤ 38.3`, `(38.3, 41]`, `> 41`). So a network that
is saved knows its cut points.

A stream is not in memory: its cut points are those of at most 131,072 rows, one drawn from each of
as many parts of equal length; where it has no more rows, they are those of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.interval_states import interval_labels, short_cut
from credo.core.schema import Variable
from credo.data import FEW_INTEGERS, Column, Stream
from credo.train.naive_bayes.cells import refuse_infinite
from credo.train.numbers.cutting import LOOKED_AT, cut_points, some_rows

Floats = NDArray[np.float64]

_SPAN = 100_000  # whole numbers closer than this are told apart by a table
_FINE = 256  # intervals among whose edges the cuts are chosen


class Labels(NamedTuple):
    """The classes of rows, as codes below the arity, and the weights of the rows."""

    classes: NDArray[Any]
    arity: int
    weights: NDArray[Any] | None = None


def check_bins(bins: Any, names: Sequence[str] | None = None) -> None:
    """Refuse bins that are neither a number, None, nor cut points by name (of those there are)."""
    if isinstance(bins, Mapping):
        for name in bins:
            if names is not None and name not in names:
                raise unknown_name("The column", name, names, "among the features, for bins=")
            _given_cuts(bins, name)
    elif bins not in (None, "auto") and (not isinstance(bins, (int, np.integer)) or bins < 2):
        raise InputError(
            "bins must be a whole number of 2 or more, cut points by column, 'auto' or None, "
            f"got {bins!r}."
        )


def _given_cuts(bins: Mapping[str, Any], name: str) -> Floats:
    try:
        cuts = np.array([float(c) for c in bins[name]])
    except (TypeError, ValueError):
        cuts = np.zeros(0)
    if not len(cuts) or not np.isfinite(cuts).all() or (np.diff(cuts) <= 0).any():
        raise InputError(
            f"The cut points of {name!r} in bins= must be rising numbers, got {bins[name]!r}."
        )
    return cuts


def stream_cuts(stream: Stream, target: str, bins: Any) -> dict[str, Floats]:
    """The cut points of the numbers of a stream, found in a pass of its own.

    >>> import credo as cr
    >>> stream = cr.read(cr.examples.path("play_tennis"), memory="100 B")
    >>> stream_cuts(stream, "PlayTennis", 5)
    {}
    """
    names = [n for n in stream.schema.names if n != target]
    check_bins(bins, names)
    given = bins if isinstance(bins, Mapping) else {}
    cuts = {n: _given_cuts(given, n) for n in given}
    numbers = [n for n in names if not stream.schema[n].is_discrete and n not in given]
    if numbers and bins is not None:
        some, arity = (
            some_rows(stream, LOOKED_AT, [target, *numbers]),
            stream.schema[target].arity,
        )
        classes = some.codes(target)
        some = some.take(np.flatnonzero(classes < arity))
        labels = Labels(some.codes(target), arity, some.weights)
        cuts |= {n: _cuts_of(n, some.values(n), bins, labels) for n in numbers}
    return cuts


def trained_column(
    name: str, column: Column, bins: Any, labels: Labels
) -> tuple[Variable, dict[str, Floats]] | None:
    """The variable that a column becomes, and its cut points if it has any; None if it is empty.

    >>> labels = Labels((np.arange(100) > 29).astype(int), 2)
    >>> for bins in (2, "auto"):
    ...     trained_column("a", Column(np.arange(100.0)), bins, labels)[0].states
    ('≤ 49', '> 49')
    ('≤ 29.5', '> 29.5')
    """
    given = isinstance(bins, Mapping) and name in bins
    if column.variable is not None and not given:
        return column.variable, {}
    values = as_numbers(name, column)
    if values.dtype.kind == "f" and np.isnan(values).all():
        return None
    if not given and values.dtype.kind != "f" and len(np.unique(values[:1000])) <= FEW_INTEGERS:
        different = _different(values)
        if len(different) <= FEW_INTEGERS:
            return Variable(name, "discrete", tuple(different.tolist())), {}
    refuse_infinite(name, values)
    numbers = values.astype(np.float64)
    if bins is None:
        return Variable(name, "continuous"), {}
    cuts = _cuts_of(name, numbers, bins, labels)
    return Variable(name, "discrete", interval_labels(cuts.tolist())), {name: cuts}


def _different(values: NDArray[Any]) -> NDArray[Any]:
    """The different whole numbers (or truth values) of a column, in order."""
    low, high = values.min(), values.max()
    if values.dtype.kind == "b" or int(high) - int(low) > _SPAN:
        return np.unique(values)
    found: NDArray[Any] = np.flatnonzero(np.bincount(values - low)).astype(values.dtype) + low
    return found


def as_numbers(name: str, column: Column) -> NDArray[Any]:
    """The numbers of a column, those of states that are numbers too."""
    if column.variable is None:
        return column.values
    if any(isinstance(s, str) for s in column.variable.states):
        raise InputError(f"{name!r} holds text, so it has no cut points.", hint="See bins=.")
    return np.array([*map(float, column.variable.states), np.nan])[column.values]


def _cuts_of(name: str, numbers: Floats, bins: Any, labels: Labels) -> Floats:
    """The cut points of a column: those given by its name, or found in its numbers."""
    if isinstance(bins, Mapping) and name in bins:
        return _given_cuts(bins, name)
    if isinstance(bins, (int, np.integer)):
        return _cuts(numbers, int(bins), labels.weights)
    found = cut_points(numbers, labels.classes, labels.arity, labels.weights, _FINE)
    return np.array(found) if found else _cuts(numbers, 2, labels.weights)


def _cuts(numbers: Floats, bins: int, weights: Any) -> Floats:
    """Cut points that part the rows into bins of equal share, as far as equal values allow."""
    weight = np.ones(len(numbers)) if weights is None else weights.astype(np.float64)
    there = ~np.isnan(numbers)
    seen = numbers[there]
    shares = np.linspace(0, 1, int(bins) + 1)[1:-1]
    ends = np.unique(np.quantile(seen, shares, weights=weight[there], method="inverted_cdf"))
    values = np.append(np.unique(seen), np.inf)
    after = values[np.searchsorted(values, ends, side="right")]
    return np.array([short_cut(float(a), float(b)) for a, b in zip(ends, after, strict=True)])
