"""Evidence: data in either form, raw values or a statistic, becomes a statistic.

Whatever learns here learns from `Counts` of one discrete variable or `Moments` of continuous
ones. Raw values are counted or measured first, so both forms give the same answer. Missing
values (None, NaN, masked) are left out and counted in `skipped`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import InputError, SchemaError
from credo.core.schema import Variable
from credo.model.values.reals import NotReal, absent, numbers, real, shown
from credo.model.values.sources import (
    categories,
    frame_columns,
    is_source,
    source_counts,
    source_moments,
    source_values,
    values_of,
)
from credo.model.values.value import LARGEST, NAME, finite
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.stats.tally import Tally

__all__ = [
    "Numbers",
    "States",
    "columns",
    "counted",
    "distinct",
    "known_states",
    "measured",
    "single",
    "summary",
]

States = Counts | Mapping[Any, float] | Iterable[Any]
"""Discrete data: counts, a mapping from state to count, or the values themselves."""
Numbers = Moments | Mapping[str, ArrayLike] | ArrayLike
"""Continuous data: moments, columns by name, or the values themselves (rows × columns)."""


def _one_statistic(data: Any) -> Any:
    """The data, unless it is a whole tally, which holds a statistic for each family."""
    if isinstance(data, Tally):
        first = next(iter(data.families))
        key = f"{first.child!r}, {list(first.parents)!r}" if first.parents else repr(first.child)
        raise InputError(
            "One statistic is needed here, got a tally, which holds one for each family.",
            hint=f"Take one of them, such as tally[{key}].",
        )
    return data


# --- discrete -----------------------------------------------------------------------------


def _tallied(data: States) -> tuple[list[tuple[Any, float]], int]:
    """Each different value with its count, and how many are missing."""
    if isinstance(data, Mapping):
        return list(data.items()), 0
    if (
        isinstance(data, (str, bytes, Moments))
        or not isinstance(data, Iterable)
        or (isinstance(data, np.ndarray) and not data.ndim)
    ):
        raise InputError(
            "The data must be a sequence of values, a mapping from state to count, or Counts, "
            f"got {shown(data)}."
        )
    fast = isinstance(data, np.ndarray) and data.ndim == 1 and data.dtype.kind in "biuf"
    if fast and not isinstance(data, np.ma.MaskedArray):
        unique, n = np.unique(np.asarray(data), return_counts=True)
        cells = list(zip(unique.tolist(), n.tolist(), strict=True))
    else:
        cells = _different(values_of(data))
    kept = [(v, n) for v, n in cells if not absent(v)]
    return kept, sum(n for _, n in cells) - sum(n for _, n in kept)


def _different(values: list[Any]) -> list[tuple[Any, int]]:
    """Each different value with its count; True and 1 are different."""
    kinds = set(map(type, values))
    try:
        if bool in kinds and len(kinds) > 1:
            pairs = Counter((isinstance(v, bool), v) for v in values)
            return [(v, n) for (_, v), n in pairs.items()]
        return list(Counter(values).items())
    except TypeError:
        raise InputError("Each value of the data must be a single state, not a list.") from None


def known_states(data: Any, name: str = NAME) -> tuple[Any, ...] | None:
    """The states that the data names itself: those of counts, of a table, or categories."""
    if isinstance(_one_statistic(data), Counts):
        return single(data).states
    if is_source(data):
        return source_counts(data, name).variables[0].states
    return categories(data)


def distinct(data: States) -> tuple[Any, ...]:
    """The different values of the data, sorted where they can be.

    >>> distinct([1, 3, 2, 1, 1, 3])
    (1, 2, 3)
    """
    if (known := known_states(data)) is not None:
        return known
    if isinstance(data, Mapping):
        return tuple(data)
    values = [v for v, _ in _tallied(data)[0]]
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(values)


def single(counts: Counts) -> Variable:
    """The variable of counts that have one axis."""
    if not counts.variables:
        raise InputError("Counts of one variable are needed, got counts of none.")
    *others, wanted = counts.variables
    if others:
        raise InputError(
            f"Counts of one variable are needed, got counts of {', '.join(counts.names)}.",
            hint=f"Take a slice such as counts[{_first_states(others)}], or "
            f"counts.marginal({wanted.name!r}).",
        )
    return wanted


def _first_states(variables: Sequence[Variable]) -> dict[str, Any]:
    """An example of a slice: a state of each variable."""
    return {v.name: v.states[0] for v in variables}


def counted(data: States, states: Sequence[Any], name: str = NAME) -> Counts:
    """The counts of the data over these states, in their order.

    >>> np.asarray(counted(["T", "F", "T", None], ("F", "T")))
    array([1, 2])
    """
    if is_source(_one_statistic(data)):
        data = source_counts(data, name)
    if isinstance(data, Counts):
        source = single(data)
        name = source.name if name == NAME else name
        if source.states == tuple(states):
            return data.dense()
        variable = Variable(name, "discrete", tuple(states))
        missing = [s for s in source.states if not _has(variable, s)]
        if missing:
            raise SchemaError(
                f"The states of {source.name!r} are {list(source.states)}, "
                f"but those wanted here are {list(variable.states)}.",
                hint=f"Give states={source.states!r}.",
            )
        seen = list(zip(source.states, data.dense().values.tolist(), strict=True))
        return _filled(variable, seen, data.skipped)
    variable = Variable(name, "discrete", tuple(states))
    return _filled(variable, *_tallied(data))


def _has(variable: Variable, state: object) -> bool:
    try:
        variable.code(state)
    except LookupError:
        return False
    return True


def _filled(variable: Variable, cells: list[tuple[Any, float]], skipped: float) -> Counts:
    whole = all(isinstance(n, (int, np.integer)) for _, n in cells)
    totals: list[Any] = [0] * variable.arity
    for state, n in cells:
        amount = _amount(state, n)
        totals[variable.code(state)] += int(n) if whole else amount
    exact = whole and sum(totals) < 2**62
    return Counts((variable,), np.array(totals, np.int64 if exact else np.float64), None, skipped)


def _amount(state: Any, n: Any) -> float:
    try:
        amount = real(n)
    except NotReal:
        raise InputError(f"The count of {shown(state)} must be a number, got {shown(n)}.") from None
    if not 0 <= amount <= LARGEST:
        raise InputError(
            f"Counts must be finite and not negative, got {shown(n)} for {shown(state)}."
        )
    return amount


# --- continuous ---------------------------------------------------------------------------


def _floats(values: ArrayLike, where: str) -> NDArray[np.float64]:
    if isinstance(values, (str, bytes)):
        raise InputError(f"{where} must be a sequence of numbers, got {shown(values)}.")
    if isinstance(values, Counts):
        raise InputError(
            f"{where} must be measurements, got counts of {', '.join(values.names) or 'none'}: "
            "how often each state came.",
            hint="Give the numbers themselves or their Moments; counts teach a Bernoulli, a "
            "Categorical, a Beta or a Dirichlet.",
        )
    array = numbers(values, f"{where} must be numbers")
    if np.isinf(array).any():
        raise InputError(f"{where} must be finite numbers, got inf.")
    return array


def columns(data: Numbers, names: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Raw continuous data as names and a matrix of rows × columns, without missing rows.

    `names` may be empty: the names are then those of the mapping, or x, or x1, x2, ….

    >>> columns({"wait": [4.0, None, 8.0]}, ())
    (('wait',), array([[4.],
           [8.]]))
    """
    if isinstance(data, Moments):
        raise InputError("The rows themselves are needed here, not their moments.")
    if is_source(data):
        have: tuple[str, ...] = data.schema.continuous  # type: ignore[union-attr]
        wanted = tuple(names) if names and set(names) <= set(have) else have
        wanted = wanted if len(names) != 1 or len(wanted) == 1 else (names[0],)
        data = {n: source_values(data, n, "continuous") for n in wanted}
    found, matrix = _matrix(data, names)
    return found, matrix[~np.isnan(matrix).any(axis=1)]


def _matrix(
    data: Mapping[str, ArrayLike] | ArrayLike, names: Sequence[str]
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Names and rows of raw data; missing cells are NaN."""
    if (frame := frame_columns(data)) is not None:
        data = frame
    if isinstance(data, Mapping):
        found = tuple(data)
        parts = [_floats(c, f"The values of {n!r}") for n, c in data.items()]
        if not parts or any(p.ndim != 1 or len(p) != len(parts[0]) for p in parts):
            raise InputError("The columns must be sequences of numbers of the same length.")
        matrix = np.stack(parts, axis=1)
        if names and set(found) == set(names):
            matrix = matrix[:, [found.index(n) for n in names]]
            found = tuple(names)
    else:
        listed = isinstance(data, Iterable) and not isinstance(data, (str, bytes))
        listed = listed and not hasattr(data, "__array__")  # an array, or a column of any frame
        matrix = _floats(list(data) if listed else data, "The values")  # type: ignore[arg-type]
        if matrix.ndim == 0 or matrix.ndim > 2:
            raise InputError(
                "The data must be a sequence of numbers, or rows of numbers with a column for "
                "each variable."
            )
        if matrix.ndim == 1:
            matrix = matrix.reshape(-1, 1) if matrix.size else np.zeros((0, len(names) or 1))
        d = matrix.shape[1]
        found = tuple(names) or ((NAME,) if d == 1 else tuple(f"{NAME}{i + 1}" for i in range(d)))
    _fits(found if len(found) == matrix.shape[1] else ("?",) * matrix.shape[1], names)
    return found, matrix


def _fits(found: Sequence[str], names: Sequence[str]) -> None:
    """One column fits whatever its name; several must have the names that are wanted."""
    if not names or (len(names) == 1 and len(found) == 1):
        return
    if len(found) != len(names):
        raise InputError(
            f"The data must have {len(names)} column{'s' * (len(names) != 1)} "
            f"({', '.join(names)}), got {len(found)}."
        )
    if set(found) != set(names):
        raise SchemaError(
            f"The columns of the data are ({', '.join(found)}), "
            f"but those wanted here are ({', '.join(names)}).",
            hint=f"Give names={tuple(found)!r} where the distribution is made.",
        )


def measured(data: Numbers, names: Sequence[str] = ()) -> Moments:
    """The moments of continuous data, in the order of `names` when they are given.

    >>> measured([4.0, 8.0, 6.0]).mean.tolist()
    [[6.0]]
    """
    if is_source(_one_statistic(data)):
        data = source_moments(data, names)
    if isinstance(data, Moments):
        if data.discrete:
            groups = ", ".join(v.name for v in data.discrete)
            raise InputError(
                f"Moments of one group are needed, got a group for each state of {groups}.",
                hint=f"Take a slice such as moments[{_first_states(data.discrete)}], or "
                f"moments.marginal({[v.name for v in data.continuous]}).",
            )
        found = tuple(v.name for v in data.continuous)
        _fits(found, names)
        wanted = found if len(found) == 1 or not names else tuple(names)
        return data if wanted == found and len(data.n) <= 1 else data.marginal(wanted)
    found, matrix = _matrix(data, names)
    with np.errstate(all="ignore"):  # values that overflow are refused by name in Moments
        return Moments.of({n: matrix[:, i] for i, n in enumerate(found)})  # type: ignore[misc]


def summary(m: Moments) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Weight, mean and scatter of moments without groups; zeros when nothing was seen."""
    d = len(m.continuous)
    if not len(m.n) or m.n[0] <= 0:
        return 0.0, np.zeros(d), np.zeros((d, d))
    for variable, mean in zip(m.continuous, m.mean[0].tolist(), strict=True):
        finite(mean, f"The mean of {variable.name!r}")
    return float(m.n[0]), m.mean[0], m.scatter[0]
