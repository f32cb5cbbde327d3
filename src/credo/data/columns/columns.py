"""Any table as columns of numbers and codes, without copying what is numbers already.

A column of an array, or of a frame, that holds numbers is taken as it lies in memory; anything
else is read as `read` reads it. With the variables known, cells are encoded leniently: a value
that is no state gets the code after missing, so that who asks may decide what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, NoColumnError, TableError
from credo.core.schema import Variable
from credo.data.columns.cells import Tokens
from credo.data.columns.encoder import Encoder
from credo.data.columns.written import missing_words
from credo.data.reading import read
from credo.data.sources.feed import Feed
from credo.data.sources.files import feed_of_path, is_path
from credo.data.sources.frames import feed_of_frame
from credo.data.sources.text import TextOptions
from credo.data.stream import Stream
from credo.data.table import Table

Array = NDArray[Any]
_FEW = 1 << 18  # cells that are copied sooner than looked at column by column
_READ = frozenset(np.dtype(t) for t in ("i8", "f8", "i4", "f4", "u1", "i1", "?"))  # as they are


@dataclass(frozen=True, slots=True)
class Column:
    """One column: numbers as they are, or the codes of a variable.

    The code `arity` is missing, `arity + 1` a value that is no state of the variable.
    """

    values: Array
    variable: Variable | None = None
    strange: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table by name; `aside` says which were set aside, and why."""

    rows: int
    by_name: Mapping[str, Column]
    aside: Mapping[str, str] = field(default_factory=dict)
    matrix: Array | None = None
    """All columns side by side, in order, where they lie in one array of numbers."""
    others: tuple[str, ...] = ()
    """Columns of the table that were not asked for."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return self.by_name.names if isinstance(self.by_name, _OfMatrix) else tuple(self.by_name)


class _OfMatrix(Mapping[str, Column]):
    """The columns of a matrix by name, each made when it is asked for."""

    __slots__ = ("_places", "matrix", "names")

    def __init__(self, names: tuple[str, ...], matrix: Array) -> None:
        self.names, self.matrix = names, matrix
        self._places: dict[str, int] | None = None

    def __getitem__(self, name: str) -> Column:
        if self._places is None:
            self._places = {n: i for i, n in enumerate(self.names)}
        return Column(self.matrix[:, self._places[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def _is_read(kind: np.dtype[Any]) -> bool:
    """Whether the kernels read numbers of a type as they lie."""
    return kind in _READ or (kind.kind in "iu" and kind.isnative)


def matrix_columns(x: Any, called: Sequence[str] | None = None) -> Columns | None:
    """The columns of a table that is one array of numbers (as a pandas frame may be); else None.

    The columns of an array have the names that they are `called` by place, if there are any.

    >>> found = matrix_columns(np.array([[1, 2], [3, 4]]))
    >>> tuple(found.by_name), found.by_name["x1"].values.tolist()
    (('x0', 'x1'), [2, 4])
    """
    if type(x) is np.ndarray:
        if x.ndim != 2 or not _is_read(x.dtype):
            return None
        names = position_names(x.shape[1]) if called is None else tuple(called)
    elif type(x).__name__ == "DataFrame":
        found = _frame_matrix(x, type(x).__module__.split(".")[0])
        if found is None:
            return None
        names, x = tuple(found[0]), found[1]
        if not _is_read(x.dtype) or not all(type(n) is str for n in names):
            return None
        if len(set(names)) < len(names):
            return None
    else:
        return None
    return Columns(len(x), _OfMatrix(names, x), {}, x)


def _frame_matrix(x: Any, package: str) -> tuple[list[Any], Array] | None:
    """Names and numbers of a frame that is one array, or so small that a copy costs nothing."""
    if package == "pandas" and getattr(getattr(x, "_mgr", None), "is_single_block", False):
        return x.columns.tolist(), x.to_numpy()
    if package == "polars" and 0 < x.height * x.width <= _FEW:
        kind, *others = x.dtypes
        if kind.is_numeric() and all(k == kind for k in others):
            array = x.to_numpy()
            return (x.columns, array) if kind.is_float() or array.dtype.kind in "iu" else None
    return None


@lru_cache(maxsize=8)
def position_names(n: int) -> tuple[str, ...]:
    """Names for the columns of an array, as scikit-learn gives them: x0, x1, …

    >>> position_names(3)
    ('x0', 'x1', 'x2')
    """
    return tuple([f"x{i}" for i in range(n)])


def names_of(x: Any) -> tuple[str, ...]:
    """The names of a table's columns, as far as they can be told without reading it.

    >>> names_of({"a": [1], "b": [2]})
    ('a', 'b')
    """
    if is_path(x):
        return feed_of_path(x, TextOptions()).names
    if hasattr(x, "schema") and hasattr(x.schema, "names"):
        return tuple(map(str, x.schema.names))
    return feed_of_frame(x, None).names


def columns_of(
    x: Any, schema: Mapping[str, Any] | None = None, called: Sequence[str] | None = None
) -> Columns:
    """The columns of a table whose variables are not known yet; see `matrix_columns`. There are
    none where `read` would refuse the table for that.

    >>> found = columns_of({"a": ["u", "v"], "b": np.array([1.5, 2.5])})
    >>> found.by_name["a"].variable.states, found.by_name["b"].values.tolist()
    (('u', 'v'), [1.5, 2.5])
    """
    wanted = dict(schema or {})
    if not wanted and (plain := matrix_columns(x, called)) is not None:
        return plain
    if isinstance(x, (Table, Stream)):
        return _of_table(x)
    names, rows, raw, rest = split_columns(x, called)
    found: dict[str, Column] = {n: Column(a) for n, a in raw.items() if n not in wanted}
    aside: dict[str, str] = {}
    unread = [n for n in names if n not in found]
    if unread:
        given = {n: w for n, w in wanted.items() if n in unread} or None
        try:
            part = _of_table(read(rest(unread), given))
        except NoColumnError as error:
            part = Columns(error.rows, {}, error.aside)
        if found and part.by_name and part.rows != rows:
            raise TableError(f"The columns differ in length: {rows:,} and {part.rows:,} rows.")
        rows, aside = part.rows or rows, dict(part.aside)
        found |= part.by_name
    return Columns(rows, {n: found[n] for n in names if n in found}, aside)


def _of_table(table: Table | Stream) -> Columns:
    if isinstance(table, Stream):
        table = table.load()
    table = table.unscaled
    found = {
        v.name: Column(a, v if v.is_discrete else None)
        for v, a in zip(table.schema.variables, table.block.arrays, strict=True)
    }
    return Columns(len(table), found, table.schema.set_aside)


def columns_for(
    x: Any,
    variables: Mapping[str, Variable | None],
    called: Sequence[str] | None = None,
    *,
    missing: Sequence[Any] | None = None,
) -> Columns:
    """The columns of a table for variables that are known: discrete ones, None for real ones.

    Columns that the table does not have are left out. Those of an array are `called` by place;
    `missing` are tokens instead of the usual.

    >>> v = Variable("a", "discrete", ("u", "v"))
    >>> found = columns_for({"a": ["v", "w", None]}, {"a": v})
    >>> found.by_name["a"].values.tolist(), found.by_name["a"].strange
    ([1, 3, 2], ('w',))
    """
    if isinstance(x, (Table, Stream)):
        part = _of_table(x)
        seen = {n: c for n, c in part.by_name.items() if n in variables}
        for name, column in seen.items():
            if variables[name] is None and column.variable is not None:
                seen[name] = Column(_numbers_of_states(name, column))
        others = tuple(n for n in part.by_name if n not in variables)
        return Columns(part.rows, seen, part.aside, others=others)
    names, rows, raw, rest = split_columns(x, called)
    found: dict[str, Column] = {n: Column(a) for n, a in raw.items() if n in variables}
    unread = [n for n in names if n in variables and n not in found]
    if unread:
        feed = rest(unread, as_feed=True)
        tokens = Tokens(missing_words(missing, feed.text), feed.text)
        known = [variables[n] or Variable(n, "continuous") for n in unread]
        encoders = [Encoder(v, tokens, lenient=True) for v in known]
        parts: dict[str, list[Array]] = {n: [] for n in unread}
        rows = 0
        for batch in feed.read(unread):
            for n, encoder in zip(unread, encoders, strict=True):
                parts[n].append(encoder.encode(batch[n], lambda i: rows + i + 1))  # noqa: B023
            rows += len(next(iter(batch.values())))
        for n, encoder in zip(unread, encoders, strict=True):
            empty = np.zeros(0, np.float64 if variables[n] is None else np.uint16)
            values = np.concatenate([empty, *parts[n]])
            found[n] = Column(values, variables[n], tuple(encoder.strange.values()))
    elif not found and names:  # no column is known: the rows are there all the same
        first = [names[0]]
        batches = rest(first, as_feed=True).read(first)
        rows = sum(len(next(iter(batch.values()))) for batch in batches)
    return Columns(rows, found, others=tuple(n for n in names if n not in variables))


def _numbers_of_states(name: str, column: Column) -> Array:
    """A discrete column of whole numbers, as the numbers."""
    assert column.variable is not None
    try:
        lut = np.array([*(float(s) for s in column.variable.states), np.nan])
    except (TypeError, ValueError):
        raise InputError(f"The column {name!r} must hold numbers.") from None
    return np.asarray(lut[column.values])


# --- what lies in memory as numbers -------------------------------------------------------


def split_columns(
    x: Any, called: Sequence[str] | None = None
) -> tuple[Sequence[str], int, dict[str, Array], Any]:
    """Names, rows, the columns that are numbers in memory, and a way to the others."""
    if isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype.names is None:
        return _split_array(x, position_names(x.shape[1]) if called is None else called)
    if isinstance(x, Feed) or is_path(x):
        feed = x if isinstance(x, Feed) else feed_of_path(x, TextOptions())
        return feed.names, 0, {}, lambda names, as_feed=False: feed if as_feed else x
    module = type(x).__module__.split(".")[0]
    raw: dict[str, Array] = {}
    if module == "pandas" and hasattr(x, "dtypes") and hasattr(x, "columns"):
        names = [str(c) for c in x.columns.tolist()]
        if len(set(names)) == len(names):
            values_of = _pandas_values(x)
            for i, name in enumerate(names):
                values = values_of(i)
                if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
                    raw[name] = values
            return (
                names,
                len(x),
                _usable(raw),
                _rest_of(x, lambda n: x[[c for c in x if str(c) in n]]),
            )
    if module == "polars" and hasattr(x, "get_columns"):
        for column in x.get_columns():
            decimals = column.dtype.is_float()  # null is NaN in NumPy
            whole = column.dtype.is_integer() and "128" not in str(column.dtype)
            if decimals or (whole and not column.null_count()):
                raw[column.name] = column.to_numpy()
        return x.columns, x.height, _usable(raw), _rest_of(x, lambda n: x.select(n))
    if isinstance(x, Mapping):
        names = [str(k) for k in x]
        for name, values in zip(names, x.values(), strict=True):
            if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biuf":
                raw[name] = values
        lengths = {len(a) for a in raw.values()}
        if len(lengths) <= 1 and len(set(names)) == len(names):
            part = {str(k): v for k, v in x.items()}
            rest = _rest_of(part, lambda n: {k: part[k] for k in n})
            return names, next(iter(lengths), 0), _usable(raw), rest
    feed = feed_of_frame(x, None)
    return feed.names, 0, {}, lambda names, as_feed=False: feed if as_feed else x


def _pandas_values(x: Any) -> Callable[[int], Any]:
    """The values of column i of a pandas frame, as they lie: a Series costs 60 times more."""
    direct = getattr(getattr(x, "_mgr", None), "iget_values", None)
    return direct if direct is not None else lambda i: x.iloc[:, i].values


def _split_array(
    x: Array, names: Sequence[str]
) -> tuple[Sequence[str], int, dict[str, Array], Any]:
    if x.dtype.kind in "biuf":
        raw = {n: x[:, i] for i, n in enumerate(names)}
        return names, len(x), _usable(raw), _rest_of(x, lambda n: {k: raw[k] for k in n})
    cells = {n: _plain(x[:, i]) for i, n in enumerate(names)}
    return names, len(x), {}, _rest_of(x, lambda n: {k: cells[k] for k in n})


def _plain(column: Array) -> Any:
    """Text columns as lists, object columns as they are: Arrow knows both."""
    return column.tolist() if column.dtype.kind in "US" else column


def _usable(raw: dict[str, Array]) -> dict[str, Array]:
    """Columns of the types the kernels read; half and long floats become plain ones."""
    out = {}
    for name, a in raw.items():
        kind = a.dtype
        if kind not in _READ:
            if kind.kind == "f" and kind.itemsize not in (4, 8):
                a = a.astype(np.float64)
            if not a.dtype.isnative:
                a = a.astype(a.dtype.newbyteorder("="))
        out[name] = a
    return out


def _rest_of(x: Any, select: Any) -> Any:
    def rest(names: Sequence[str], as_feed: bool = False) -> Any:
        part = select(names)
        return feed_of_frame(part, None) if as_feed else part

    return rest
