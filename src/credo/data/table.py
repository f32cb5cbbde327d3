"""A table in memory: column-major codes and floats, the user's values at the door."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoWarning, InputError, TableError
from credo.core.frozen import Frozen
from credo.core.render import many, shortened, table_html, table_text
from credo.core.scales import Bins, Scale
from credo.core.schema import Schema
from credo.data.out.frames import frame_of
from credo.data.weights import RowNumbers
from credo.stats.block import Block
from credo.stats.plan import tally_block
from credo.stats.rows import Rows, code_type
from credo.stats.tally import Tally

T = TypeVar("T")


def warn_continuous_left_out(schema: Schema) -> None:
    """Say which variables are not in the unique rows of whoever calls the caller."""
    if schema.continuous and schema.discrete:
        warnings.warn(
            "The unique rows are those of the discrete variables; continuous, and left out: "
            f"{shortened(schema.continuous)}. To keep a column, read the table with "
            f"schema={{{schema.continuous[0]!r}: 'discrete'}}.",
            CredoWarning,
            stacklevel=3,
        )


_WIDE = 50  # columns of a head
_LONG = 60  # characters of a cell of it


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Whole numbers scattered over 64 bits (splitmix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def poisson_counts(chance: NDArray[Any], means: NDArray[Any]) -> NDArray[np.int64]:
    """Poisson numbers of chances between 0 and 1: the inverse of their distribution.

    >>> poisson_counts(np.array([0.3, 0.5, 0.95]), np.ones(3)).tolist()
    [0, 1, 3]
    """
    from scipy.special import pdtrik

    found: NDArray[np.int64] = np.ceil(pdtrik(chance, means) - 1e-12).astype(np.int64)
    return np.maximum(found, 0)


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


@dataclass(frozen=True, eq=False)
class Table(Frozen):
    """Rows in memory. Made by `credo.read`; a source, so every learner takes it.

    >>> import credo as cr
    >>> table = cr.read({"Fever": ["T", "F", "T"], "Pneumonia": ["T", "F", "F"]})
    >>> len(table), table.schema.names
    (3, ('Fever', 'Pneumonia'))
    >>> print(table.tally([("Fever", ["Pneumonia"])])["Fever", ["Pneumonia"]])
    Pneumonia  Fever=F  Fever=T
    F                1        1
    T                0        1
    """

    block: Block
    numbers: RowNumbers | None = None
    """Where the rows stood in the source, if some were left out for their weight of 0."""
    raw: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """The user's own numbers of variables that have a scale."""

    @property
    def schema(self) -> Schema:
        """The variables, and what was noticed while reading."""
        return self.block.schema

    @property
    def weights(self) -> NDArray[Any] | None:
        """The weight of each row, or None when every row counts once."""
        return self.block.weights

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.block.rows

    @property
    def nbytes(self) -> int:
        """The memory of the cells: one byte for a cell with at most 255 states."""
        return sum(a.nbytes for a in self.block.arrays)

    def __len__(self) -> int:
        return self.rows

    def codes(self, name: str) -> NDArray[Any]:
        """The state codes of a discrete variable; its arity stands for missing."""
        if not self.schema[name].is_discrete:
            raise InputError(f"{name!r} is continuous and has no codes.", hint="Use values().")
        return self.block.arrays[self.schema.index(name)]

    def values(self, name: str) -> NDArray[Any]:
        """A column in the user's own values; None (or NaN) where a cell is missing.

        >>> import credo as cr
        >>> cr.read({"x": [1, 0, None, 1, 0]}).values("x").tolist()
        [1, 0, None, 1, 0]
        """
        variable = self.schema[name]
        array = self.block.arrays[self.schema.index(name)]
        if variable.scale is not None:
            return self.raw[name] if name in self.raw else _numbers_of(variable.scale, array)
        if not variable.is_discrete:
            return array
        labels = np.empty(variable.arity + 1, dtype=object)
        labels[:-1] = np.fromiter(variable.states, dtype=object, count=variable.arity)
        labels[-1] = None
        values: NDArray[Any] = labels[array]
        return values

    def scaled(
        self, scales: Mapping[str, Scale | None], row_of: Callable[[int], int] | None = None
    ) -> Table:
        """The table with other scales of some numbers; None is a number as it is.

        Below the encoding a number with a transform is what that makes of it, one with bins the
        code of its bin. The table still shows and gives the user's own.

        >>> import credo as cr
        >>> from credo.core.scales import Transform
        >>> table = cr.read({"fare": [7.25, 71.5, 8.0]}).scaled({"fare": Transform("log")})
        >>> table.block.arrays[0].round(3).tolist(), table["fare"].tolist()
        ([1.981, 4.27, 2.079], [7.25, 71.5, 8.0])
        """
        schema = self.schema.scaled(scales)
        arrays, raw = list(self.block.arrays), dict(self.raw)
        for name, scale in scales.items():
            numbers = raw.pop(name, None)
            numbers = self.values(name) if numbers is None else numbers
            if scale is not None:
                raw[name] = numbers
            where = row_of or (self.numbers.of if self.numbers is not None else lambda i: i + 1)
            arrays[schema.index(name)] = _on_scale(name, scale, numbers, where)
        return Table(Block(schema, tuple(arrays), self.weights), self.numbers, raw)

    def rescaled(self, scales: Mapping[str, Scale]) -> Table:
        """The table with just these scales, and every other number as it is."""
        own = self.schema.scales
        changed = {n: scales.get(n) for n in (*own, *scales) if own.get(n) != scales.get(n)}
        return self.scaled(changed) if changed else self

    def counted(self, times: NDArray[np.int64]) -> Table:
        """The table with each row as often as a whole number says.

        >>> import credo as cr
        >>> cr.read({"x": ["a", "b", "c"]}).counted(np.array([2, 0, 1])).weights.tolist()
        [2, 1]
        """
        kept = np.flatnonzero(times)
        arrays = tuple(a[kept] for a in self.block.arrays)
        raw = {name: numbers[kept] for name, numbers in self.raw.items()}
        return Table(Block(self.schema, arrays, times[kept].astype(np.int64)), None, raw)

    def redrawn(self, *seed: int) -> Table:
        """The table with each row as often as a Poisson number of mean 1, or of its weight, says.

        The numbers hang on what the rows hold, so that rows in another order are drawn alike; equal
        rows are told apart by how many came before.
        """
        names = sorted(self.schema.names)
        content = np.zeros(self.rows, dtype=np.uint64)
        for name in names:
            array = self.block.arrays[self.schema.index(name)]
            bits = array + 0.0 if array.dtype.kind == "f" else array.astype(np.uint64)
            content = _mixed(content ^ bits.view(np.uint64))
        order = np.argsort(content, kind="stable")
        first = np.flatnonzero(np.diff(content[order], prepend=~content[order[:1]]))
        before = np.arange(self.rows) - np.repeat(first, np.diff(first, append=self.rows))
        content[order] += before.astype(np.uint64)
        for part in seed:
            content = _mixed(content ^ np.uint64(part))
        chance = (content >> np.uint64(11)).astype(np.float64) * 2.0**-53
        means = np.ones(1) if self.weights is None else self.weights
        return self.counted(poisson_counts(chance, np.broadcast_to(means, self.rows)))

    @property
    def unscaled(self) -> Table:
        """The table with every number as it is."""
        scales = self.schema.scales
        return self.scaled(dict.fromkeys(scales)) if scales else self

    @property
    def log_slopes(self) -> NDArray[np.float64] | None:
        """What ln P of each row below the encoding lacks to be one of the user's numbers.

        Σ ln dz/dx of the transforms and ln f(x | bin) of the bins; None where there are none.
        """
        scales = self.schema.scales
        if not scales:
            return None
        total = np.zeros(self.rows)
        for name, scale in scales.items():
            total += np.nan_to_num(scale.log_jacobian(self.values(name)), nan=0.0, neginf=-np.inf)
        return total

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column in the user's own values, as `values(name)`.

        >>> import credo as cr
        >>> cr.read({"x": ["b", "a"]})["x"].tolist()
        ['b', 'a']
        """
        return self.values(name)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the variables, in order."""
        return self.schema.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.schema.names)

    def __contains__(self, name: object) -> bool:
        return name in self.schema

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table as an Arrow stream, which polars, pyarrow, DuckDB and narwhals take."""
        return self.to("arrow").__arrow_c_stream__(requested_schema)

    def tally(self, families: Any = None, *, threads: int | None = None) -> Tally:
        """Count many families in one pass; without families, every variable by itself."""
        return tally_block(
            self.block, self.schema.names if families is None else families, threads=threads
        )

    def unique(self) -> Rows:
        """The weighted unique rows over the discrete variables; a warning names the others."""
        warn_continuous_left_out(self.schema)
        return self.block.unique()

    def batches(self, names: Sequence[str] | None = None) -> Iterator[Table]:
        """The table itself, as the only batch of a source."""
        yield self if names is None else self.select(names)

    def fold(
        self,
        of_table: Callable[[Table], T],
        merge: Callable[[T, T], T] = add,
        names: Sequence[str] | None = None,
        size: Callable[[T], int] | None = None,
    ) -> T | None:
        """What a function of small tables adds up to over all rows: here of one table."""
        return of_table(next(self.batches(names))) if len(self) else None

    @classmethod
    def joined(cls, parts: Sequence[Table]) -> Table:
        """Tables over the same variables as one, their rows in this order.

        >>> import credo as cr
        >>> table = cr.read({"x": ["a", "b", "a"]})
        >>> Table.joined([table.take([2]), table])["x"].tolist()
        ['a', 'a', 'b', 'a']
        """
        arrays = tuple(
            np.concatenate(c) for c in zip(*(p.block.arrays for p in parts), strict=True)
        )
        weights = [p.weights for p in parts if p.weights is not None]
        raw = {n: np.concatenate([p.raw[n] for p in parts]) for n in parts[0].raw}
        block = Block(parts[0].schema, arrays, np.concatenate(weights) if weights else None)
        return cls(block, None, raw)

    def select(self, names: Sequence[str]) -> Table:
        """Some of the variables, in the order given."""
        schema = self.schema.select(names)
        arrays = tuple(self.block.arrays[self.schema.index(n)] for n in schema.names)
        raw = {n: x for n, x in self.raw.items() if n in schema}
        return Table(Block(schema, arrays, self.block.weights), self.numbers, raw)

    def take(self, rows: Any) -> Table:
        """Some of the rows: a list of positions, a slice, or a mask."""
        try:
            kept = np.arange(self.rows)[rows]
        except (IndexError, TypeError, ValueError):
            kept = None
        if kept is None or kept.ndim != 1:
            raise InputError(
                f"Rows are taken by a slice, a mask of {self.rows:,} booleans, or a list of "
                f"positions from 0 to {self.rows - 1:,}, got {rows!r}."
            )
        rows = slice(0, 0) if isinstance(rows, list) and not rows else rows
        arrays = tuple(np.ascontiguousarray(a[rows]) for a in self.block.arrays)
        weights = None if self.weights is None else np.ascontiguousarray(self.weights[rows])
        raw = {n: x[rows] for n, x in self.raw.items()}
        return Table(Block(self.schema, arrays, weights), raw=raw)

    def to(self, kind: str = "arrow") -> Any:
        """The table as a frame of the kind asked for: 'arrow', 'pandas', 'polars' or 'dict'.

        Columns of whole numbers come back whole. States of several types, or beyond 64 bits, are
        texts where Arrow and polars have no type for them; in pandas they are what they were.

        >>> import credo as cr
        >>> cr.read({"x": ["a", "b", "a"]}).to("arrow").column("x").to_pylist()
        ['a', 'b', 'a']
        """
        return frame_of(self, kind, categories=False)

    def is_whole(self, name: str, array: NDArray[np.float64]) -> bool:
        """Whether a continuous column was one of whole numbers, and still is."""
        if name not in self.schema._columns or not self.schema.column(name).whole:
            return False
        seen = array[~np.isnan(array)]
        return bool(((seen % 1 == 0) & (np.abs(seen) <= 2**53)).all())

    def _head(self, most: int) -> tuple[Sequence[str], list[list[str]]]:
        names = self.schema.names[:_WIDE]
        part = self.take(slice(0, most))
        columns: dict[str, Any] = {n: part.values(n) for n in names}
        for name in names:
            if columns[name].dtype.kind == "f" and self.is_whole(name, columns[name]):
                columns[name] = [None if x != x else f"{int(x):,}" for x in columns[name]]
        rows = []
        for i in range(len(part)):
            cells = (c[i] for c in columns.values())
            rows.append(["" if c is None or c != c else _cut(str(c)) for c in cells])
        return [_cut(n) for n in names], rows

    @property
    def _narrowed(self) -> str:
        """What a head leaves out to the right."""
        more = len(self.schema) - _WIDE
        return f"… {many(more, 'more variable')}" if more > 0 else ""

    def __str__(self) -> str:
        head, rows = self._head(10)
        more = f"… {many(self.rows - 10, 'more row')}" if self.rows > 10 else ""
        return "\n".join(filter(None, (table_text(head, rows), more, self._narrowed)))

    def __repr__(self) -> str:
        return f"Table({many(self.rows, 'row')}, {many(len(self.schema), 'variable')})"

    def _repr_html_(self) -> str:
        head, rows = self._head(10)
        return table_html(head, rows, caption=f"{self!r} {self._narrowed}".strip())


# --- numbers on their scale ---------------------------------------------------------------


def _on_scale(
    name: str, scale: Scale | None, numbers: NDArray[np.float64], row_of: Callable[[int], int]
) -> NDArray[Any]:
    """Floats behind a transform (NaN for missing), or codes of bins (their number for missing).

    >>> _on_scale("x", Bins([1.0], [1.0], [1, 1]), np.array([0.5, np.nan, 2.0]), int).tolist()
    [0, 2, 1]
    """
    if scale is None:
        return numbers
    for i in np.flatnonzero(~scale.holds(numbers))[:1]:
        raise TableError(f"Row {row_of(int(i)):,}: {scale.refusal(name, float(numbers[i]))}")
    if isinstance(scale, Bins):
        return scale.codes(numbers).astype(code_type(len(scale)))
    return scale.forward(numbers)


def _numbers_of(scale: Scale, array: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers of what a table holds; the median of its bin where only that is known."""
    if not isinstance(scale, Bins):
        return scale.backward(array)
    gone = array >= len(scale)
    return np.where(gone, np.nan, scale.draw(np.where(gone, 0, array), 0.5))
