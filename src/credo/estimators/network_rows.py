"""Rows for a network classifier: columns as its variables, numbers cut into intervals.

A cut parts two values of training by a number of few digits, which stands in the names of the
states (`≤ 38.3`, `(38.3, 41]`, `> 41`). So a network that is saved knows its cut points.

A stream is not in memory: its cut points are those of at most 131,072 rows, one drawn from each of
as many parts of equal length; where it has no more rows, they are those of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.interval_states import interval_codes, interval_labels, short_cut
from credo.core.schema import Schema, Variable
from credo.data import Stream
from credo.data.columns.columns import Column, Columns
from credo.data.columns.identifiers import FEW_INTEGERS
from credo.estimators.named_columns import renamed
from credo.predict.rows.naive import coded, plain_codes
from credo.stats.block import Block
from credo.train.naive_bayes.aode import as_states
from credo.train.naive_bayes.matrix import refuse_infinite

__all__ = [
    "KnownColumns",
    "by_position",
    "check_bins",
    "class_name",
    "first_block",
    "known_stream",
    "number_column",
    "state_codes",
    "trained_column",
]

Floats = NDArray[np.float64]

_LOOKED_AT = 131_072  # rows of a stream that its cut points are found from
_SPAN = 100_000  # whole numbers closer than this are told apart by a table
_BINS = 5  # of a column that a mapping does not name


@dataclass(frozen=True, eq=False)
class KnownColumns:
    """What the columns are: the class, then the features; and where numbers are cut.

    Columns that had no value yet are `waiting`: nothing is known of them.
    """

    schema: Schema
    cuts: Mapping[str, Floats]
    waiting: frozenset[str] = frozenset()

    @property
    def target(self) -> Variable:
        """The class."""
        return self.schema.variables[0]

    @property
    def features(self) -> tuple[Variable, ...]:
        """The features, in order."""
        return self.schema.variables[1:]

    @property
    def readings(self) -> dict[str, Variable | None]:
        """How the columns of more rows are read: None for those that are numbers."""
        return {
            v.name: v if v.is_discrete and v.name not in self.cuts else None
            for v in self.features
            if v.name not in self.waiting
        }

    def with_variables(
        self, new: Mapping[str, Variable], cuts: Mapping[str, Floats] | None = None
    ) -> KnownColumns:
        """The same with other variables of the same names, which wait no longer."""
        if not new:
            return self
        variables = tuple(new.get(v.name, v) for v in self.schema.variables)
        schema = Schema(variables, source=self.schema.source)
        return KnownColumns(schema, {**self.cuts, **(cuts or {})}, self.waiting - new.keys())

    def in_order(self, names: Sequence[str]) -> KnownColumns:
        """The same with the features in this order; those that are not there yet are waiting."""
        known = {v.name: v for v in self.features}
        variables = (self.target, *(known.get(n) or _no_value(n) for n in names))
        waiting = self.waiting | (set(names) - known.keys())
        return KnownColumns(Schema(variables, source=self.schema.source), self.cuts, waiting)

    def block(self, columns: Columns, group: NDArray[Any], weights: Any) -> Block:
        """Rows as codes of the variables, less those without a class."""
        arrays = [group.astype(_width(self.target))]
        for v in self.features:
            if v.name in self.waiting:
                arrays.append(np.ones(columns.rows, dtype=np.uint16))
            else:
                arrays.append(_encoded(v, columns.by_name[v.name], self.cuts.get(v.name)))
        return _with_class(Block(self.schema, tuple(arrays), weights))

    def cut(self, block: Block) -> Block:
        """The rows of a table, its numbers cut into bins, less those without a class."""
        arrays = []
        for v in self.schema.variables:
            if v.name in self.waiting:
                arrays.append(np.ones(block.rows, dtype=np.uint16))
                continue
            array, own = block.arrays[block.schema.index(v.name)], block.schema[v.name]
            if v.name in self.cuts:
                numbers = _as_numbers(v.name, Column(array, own if own.is_discrete else None))
                array = interval_codes(numbers, self.cuts[v.name].tolist())
            arrays.append(array)
        return _with_class(Block(self.schema, tuple(arrays), block.weights))


def _no_value(name: str) -> Variable:
    """What holds the place of a column that had no value yet: every cell of it is missing."""
    return Variable(name, "discrete", ("(no value)",))


def _width(v: Variable) -> type[np.unsignedinteger[Any]]:
    return np.uint32 if v.arity > 65533 else np.uint16


def _with_class(block: Block) -> Block:
    """The rows whose class, the first variable, is known."""
    known = block.arrays[0] < block.schema.variables[0].arity
    if known.all():
        weights = block.weights
        return Block(block.schema, tuple(map(np.ascontiguousarray, block.arrays)), weights)
    weights = None if block.weights is None else block.weights[known]
    return Block(block.schema, tuple(a[known] for a in block.arrays), weights)


def _encoded(v: Variable, column: Column, cuts: Floats | None) -> NDArray[Any]:
    """A column as codes of its variable, or as numbers."""
    if cuts is None and v.is_discrete:
        return state_codes(v, column).astype(_width(v))
    numbers = column.values if cuts is None else _as_numbers(v.name, column)
    return number_column(v, Column(numbers), cuts).values


def number_column(v: Variable, column: Column, cuts: Floats | None) -> Column:
    """A column of numbers as floats, or cut into the bins of its variable. An infinite one is
    refused, in training as in prediction: it is no number of any bin.
    """
    refuse_infinite(v.name, column.values)
    numbers = column.values.astype(np.float64)
    return Column(numbers) if cuts is None else Column(interval_codes(numbers, cuts.tolist()), v)


# --- the first rows -----------------------------------------------------------------------


def check_bins(bins: Any) -> None:
    """Refuse bins that are neither a number, None, nor cut points by name."""
    if isinstance(bins, Mapping):
        for name in bins:
            _given_cuts(bins, name)
    elif bins is not None and (not isinstance(bins, (int, np.integer)) or bins < 2):
        raise InputError(
            "bins must be a whole number of 2 or more, cut points by column, or None, "
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


def first_block(
    columns: Columns,
    names: Sequence[str],
    target: Variable,
    group: NDArray[Any],
    weights: Any,
    bins: Any,
) -> tuple[KnownColumns, Block]:
    """What the columns named are by the first rows, and those rows that have a class.

    Rows without a class have no say in it.
    """
    _refuse_unknown(bins, names)
    there = group < target.arity
    every = bool(there.all())
    if weights is not None and not every:
        weights = weights[there]
    variables, cuts = [target], dict[str, Floats]()
    arrays = {target.name: (group if every else group[there]).astype(_width(target))}
    for name, column in columns.by_name.items():
        if column.variable is None:
            refuse_infinite(name, column.values)  # while rows still have their own numbers
        values = np.ascontiguousarray(column.values if every else column.values[there])
        column = Column(values, column.variable, column.strange)
        found = trained_column(name, column, bins, weights)
        if found is not None:
            variables.append(found[0])
            cuts |= found[1]
            arrays[name] = _encoded(found[0], column, cuts.get(name))
    known = KnownColumns(Schema(tuple(variables)), cuts).in_order(names)
    nothing = np.ones(int(there.sum()), dtype=np.uint16)
    block = Block(known.schema, tuple(arrays.get(n, nothing) for n in known.schema.names), weights)
    return known, block


def known_stream(stream: Stream, target: str, bins: Any) -> KnownColumns:
    """What the columns of a stream are, the cut points of its numbers found in a pass of its own.

    >>> import credo as cr
    >>> stream = cr.read(cr.examples.path("play_tennis"), memory="100 B")
    >>> known_stream(stream, "PlayTennis", 5).target.states
    ('No', 'Yes')
    """
    names = [n for n in stream.schema.names if n != target]
    _refuse_unknown(bins, names)
    given = bins if isinstance(bins, Mapping) else {}
    cuts = {n: _given_cuts(given, n) for n in given}
    numbers = [n for n in names if not stream.schema[n].is_discrete and n not in given]
    if numbers and bins is not None:
        seen, weights = _looked_at(stream, target, numbers)
        cuts |= {n: _cuts_of(n, seen[n], bins, weights) for n in numbers}
    cut = {n: Variable(n, "discrete", interval_labels(c.tolist())) for n, c in cuts.items()}
    variables = (stream.schema[target], *(cut.get(n, stream.schema[n]) for n in names))
    return KnownColumns(Schema(variables, source=stream.schema.source), cuts)


def _looked_at(stream: Stream, target: str, names: Sequence[str]) -> tuple[dict[str, Floats], Any]:
    """The numbers of rows with a class, spread evenly over a stream, and their weights."""
    rows, most = stream.rows, min(stream.rows, _LOOKED_AT)
    ends = np.arange(most + 1, dtype=np.int64) * rows // most
    chance = np.random.default_rng(0).random(most)
    wanted = ends[:-1] + (chance * np.diff(ends)).astype(np.int64)
    parts: dict[str, list[Floats]] = {n: [] for n in names}
    weights: list[NDArray[Any]] = []
    done = 0
    for table in stream.batches([target, *names]):
        low, high = np.searchsorted(wanted, [done, done + len(table)])
        at = wanted[low:high] - done
        at = at[table.codes(target)[at] < stream.schema[target].arity]
        for n in names:
            parts[n].append(table.block.arrays[table.schema.index(n)][at])
        if table.weights is not None:
            weights.append(table.weights[at])
        done += len(table)
    found = {n: np.concatenate(p) for n, p in parts.items()}
    return found, np.concatenate(weights) if weights else None


def _refuse_unknown(bins: Any, names: Sequence[str]) -> None:
    for name in bins if isinstance(bins, Mapping) else ():
        if name not in names:
            raise unknown_name("The column", name, names, "among the features, for bins=")


def class_name(given: str | None, y: Any, features: Any, graph: Any = None) -> str:
    """The name of the class: as given, or that of y, or one that no feature has.

    >>> class_name(None, [0, 1], ["a", "y"])
    'class'
    """
    if given is not None:
        if graph is None and given in features:
            raise InputError(
                f"The class and a feature are both called {given!r}.",
                hint="Give the class another name in target=, or rename the column.",
            )
        return given
    own = getattr(y, "name", None)
    names = [own] if isinstance(own, str) and own else []
    names += ["y", "class", "the class"]
    if graph is not None:
        return next((n for n in names if n in graph), names[0])
    return next((n for n in names if n not in features), "(class)")


def trained_column(
    name: str, column: Column, bins: Any, weights: Any
) -> tuple[Variable, dict[str, Floats]] | None:
    """The variable that a column becomes, and its cut points if it has any; None if it is empty."""
    given = isinstance(bins, Mapping) and name in bins
    if column.variable is not None and not given:
        return column.variable, {}
    values = _as_numbers(name, column)
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
    cuts = _cuts_of(name, numbers, bins, weights)
    return Variable(name, "discrete", interval_labels(cuts.tolist())), {name: cuts}


def _different(values: NDArray[Any]) -> NDArray[Any]:
    """The different whole numbers (or truth values) of a column, in order."""
    low, high = values.min(), values.max()
    if values.dtype.kind == "b" or int(high) - int(low) > _SPAN:
        return np.unique(values)
    found: NDArray[Any] = np.flatnonzero(np.bincount(values - low)).astype(values.dtype) + low
    return found


def _as_numbers(name: str, column: Column) -> NDArray[Any]:
    """The numbers of a column, those of states that are numbers too."""
    if column.variable is None:
        return column.values
    if any(isinstance(s, str) for s in column.variable.states):
        raise InputError(f"{name!r} holds text, so it has no cut points.", hint="See bins=.")
    return np.array([*map(float, column.variable.states), np.nan])[column.values]


def _cuts_of(name: str, numbers: Floats, bins: Any, weights: Any) -> Floats:
    """The cut points of a column: those given by its name, or found in its numbers."""
    if not isinstance(bins, Mapping):
        return _cuts(numbers, bins, weights)
    return _given_cuts(bins, name) if name in bins else _cuts(numbers, _BINS, weights)


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


# --- more rows ----------------------------------------------------------------------------


def state_codes(v: Variable, column: Column) -> NDArray[Any]:
    """Codes of a variable: its arity for a gap, the number after that for what is no state."""
    array, window = coded(as_states(v), column, len(column.values))
    low, span, lut, _ = window
    if array.dtype.kind in "iu" and len(array) and low <= array.min() and array.max() < low + span:
        place = array - low if low else array  # all inside, as is usual
        return place if lut is None else lut[place]
    return plain_codes(array, window)


def by_position(X: Any, names: Sequence[str]) -> Any:
    """An array or a frame with the names of training, by position, as scikit-learn has it."""
    if not hasattr(X, "columns"):
        return {n: X[:, i] for i, n in enumerate(names)}
    return renamed(X, names)
