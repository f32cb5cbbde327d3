"""Counts: how many rows fall in each configuration of some discrete variables.

    n[x₁, …, x_k] = Σ_rows weight · 1[row = (x₁, …, x_k)]

Counts of disjoint parts of a table add up: `tally(a ⧺ b) == tally(a) + tally(b)`, exactly where the
weights are whole numbers, to the rounding of a sum where they are fractions.
A small table is kept dense, one cell per configuration; where the configurations far
outnumber the rows only the non-zero cells are kept, so a family of 10⁹ cells costs what its
rows cost. Both answer alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError, SchemaError, unknown_name
from credo.core.render import number, one_line, statistic_tail, table_html, table_text
from credo.core.schema import Variable
from credo.stats.configurations import frozen, grouped, named
from credo.stats.given import (
    given_axes,
    given_codes,
    given_counts,
    given_skipped,
    given_tolerance,
    in_order,
    owned,
    refuse_too_many,
    total_of,
)
from credo.stats.labelled import labelled

MAX_CELLS = 100_000_000
"""A dense table of more cells than this is refused before it is allocated."""

_MAX_AXES = 62  # of a dense table: NumPy has 64

Number = int | float

_FIELDS = ("variables", "values", "configurations", "skipped")


class _Unguarded:
    """Counts before they are frozen: filled without the guard of a frozen dataclass, which costs
    more than all else where a tally gives away hundreds of tables."""

    __slots__ = ("__weakref__", "configurations", "skipped", "values", "variables")


@dataclass(frozen=True, eq=False, slots=True)
class Counts(_Unguarded):
    """Counts over named axes; for a family, the parents' axes come first and the child last.

    `values` has one axis per variable when dense. When sparse, `configurations` holds one row
    of state codes per non-zero cell, in lexicographic order, and `values` their counts.
    `skipped` is the weight of the rows left out because a cell of the family was missing. It is
    known of the whole and not of its slices, whose `skipped` is 0.

    >>> fever = Variable("Fever", "discrete", ("F", "T"))
    >>> c = Counts((fever,), np.array([2, 3]))
    >>> c["T"], c.total, np.asarray(c + c)
    (3, 5, array([4, 6]))
    """

    variables: tuple[Variable, ...]
    values: NDArray[Any]
    configurations: NDArray[np.uint32] | None = None
    skipped: Number = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", given_axes(self.variables, "counts"))
        values = given_counts(self.values)
        object.__setattr__(self, "skipped", given_skipped(self.skipped))
        if self.configurations is None:
            if values.shape != self.shape:
                raise InputError(
                    f"Counts of {', '.join(self.names) or 'nothing'} must have the shape "
                    f"{self.shape}, got {values.shape}."
                )
        else:
            if values.ndim != 1:
                raise InputError(f"Sparse counts are a row of values, got {values.ndim} axes.")
            where = given_codes(self.configurations, self.variables, len(values), "Sparse counts")
            if not in_order(where) or not values.all():
                where, values = _gathered(where, values)
            object.__setattr__(self, "configurations", owned(where))
        object.__setattr__(self, "values", owned(values))

    @classmethod
    def trusted(
        cls,
        variables: tuple[Variable, ...],
        values: NDArray[Any],
        skipped: Number,
        configurations: NDArray[np.uint32] | None = None,
    ) -> Counts:
        """Counts made here: arrays that nobody else has, which need no checking."""
        out: Any = _Unguarded()
        out.variables = variables
        out.values = values
        out.configurations = configurations
        out.skipped = skipped
        out.__class__ = cls
        return out  # type: ignore[no-any-return]

    @classmethod
    def of_cells(
        cls,
        variables: tuple[Variable, ...],
        where: NDArray[Any],
        values: NDArray[Any],
        skipped: Number,
    ) -> Counts:
        """Sparse counts of cells in any order, which may repeat: those of one cell are added."""
        where, values = _gathered(where, values)
        return _made(variables, values, where, skipped)

    # --- what it is ---------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the axes, in order."""
        return tuple(v.name for v in self.variables)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of states on each axis."""
        return tuple(v.arity for v in self.variables)

    @property
    def cells(self) -> int:
        """The number of configurations, seen or not."""
        return math.prod(self.shape)

    @property
    def is_dense(self) -> bool:
        """Whether every configuration has a cell in memory."""
        return self.configurations is None

    @property
    def total(self) -> Number:
        """The weight of all rows counted."""
        return total_of(self.values)

    def __setstate__(self, state: Sequence[Any]) -> None:
        variables, values, where, skipped = state[:4]
        if where is not None:
            where = frozen(where)
        known = (variables, frozen(values), where, skipped)
        for name, value in zip(_FIELDS, known, strict=True):
            object.__setattr__(self, name, value)

    # --- dense and sparse ---------------------------------------------------------------

    def dense(self) -> Counts:
        """The same counts with every cell in memory; refused before allocation if too large."""
        if self.configurations is None:
            return self
        if self.cells > MAX_CELLS:
            raise LimitError(
                f"A dense table over {', '.join(self.names)} would have {self.cells:,} cells; "
                f"at most {MAX_CELLS:,} are allowed.",
                hint="Use items() for the cells that were seen, or marginal() for fewer axes.",
            )
        if len(self.variables) > _MAX_AXES:
            raise LimitError(
                f"A dense table of {len(self.variables):,} axes is asked for; at most {_MAX_AXES} "
                "are allowed.",
                hint="Use items() for the cells that were seen, or marginal() for fewer axes.",
            )
        where = tuple(self.configurations.T.astype(np.intp))
        if not self.variables:  # one cell, or none that was seen
            where = (np.zeros(len(self.values), np.intp),)
            return self._of(lambda v: _placed(v, (1,), where).reshape(()), ())
        return self._of(lambda v: _placed(v, self.shape, where), self.variables)

    def sparse(self) -> Counts:
        """The same counts with only the non-zero cells in memory."""
        if self.configurations is not None:
            return self
        if not self.variables:
            seen_any = self.values.reshape(1) != 0
            empty = np.zeros((int(seen_any.sum()), 0), np.uint32)
            return self._of(lambda v: v.reshape((1,))[seen_any], (), empty)
        seen = np.nonzero(self.values)
        where = _codes(np.stack(seen, axis=1))
        return self._of(lambda v: v[seen], self.variables, where)

    def _of(
        self,
        take: Callable[[NDArray[Any]], NDArray[Any]],
        variables: tuple[Variable, ...],
        configurations: NDArray[np.uint32] | None = None,
        *,
        part: bool = False,
    ) -> Counts:
        """Some of these numbers, in another order: nothing is added up. A part has skipped none."""
        values = np.asarray(take(self.values))
        if configurations is not None:
            configurations = frozen(configurations)
        skipped = 0 if part else self.skipped
        return Counts.trusted(variables, frozen(values), skipped, configurations)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        out = self.values if self.configurations is None else self.dense().values
        if dtype is not None and np.dtype(dtype) != out.dtype:
            return out.astype(dtype)
        return out.copy() if copy else out

    # --- the algebra --------------------------------------------------------------------

    def __add__(self, other: object) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        other = other._on(self.variables)
        skipped = self.skipped + other.skipped
        if self.values.dtype.kind == other.values.dtype.kind == "i":
            refuse_too_many(self.total + other.total)
        if self.is_dense or other.is_dense:
            total = np.asarray(self.dense().values + other.dense().values)
            return _made(self.variables, total, None, skipped)
        assert self.configurations is not None and other.configurations is not None
        where = np.concatenate([self.configurations, other.configurations])
        values = np.concatenate([self.values, other.values])
        return Counts.of_cells(self.variables, where, values, skipped)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.variables != other.variables or self.skipped != other.skipped:
            return False
        if self.is_dense and other.is_dense:
            return bool(np.array_equal(self.values, other.values))
        a, b = self.sparse(), other.sparse()
        assert a.configurations is not None and b.configurations is not None
        return bool(
            np.array_equal(a.configurations, b.configurations)
            and np.array_equal(a.values, b.values)
        )

    __hash__ = None  # type: ignore[assignment]

    def __radd__(self, other: object) -> Counts:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def close_to(self, other: Counts, tolerance: float = 1e-12) -> bool:
        """Equal up to rounding, as counts are that were added up as floats elsewhere."""
        tolerance = given_tolerance(tolerance)
        if not isinstance(other, Counts) or self.variables != other.variables:
            return False
        a, b = self.sparse(), other.sparse()
        assert a.configurations is not None and b.configurations is not None
        room = tolerance * max(float(self.total) + float(self.skipped), 1.0)
        return bool(
            np.array_equal(a.configurations, b.configurations)
            and (np.abs(a.values - b.values) <= room).all()
            and abs(self.skipped - other.skipped) <= room
        )

    def marginal(self, names: Sequence[str] | str) -> Counts:
        """Sum over every axis that is not named; the axes come in the order named.

        >>> a = Variable("A", "discrete", (0, 1)); b = Variable("B", "discrete", (0, 1, 2))
        >>> c = Counts((a, b), np.arange(6).reshape(2, 3))
        >>> np.asarray(c.marginal("B")), np.asarray(c.marginal(["B", "A"])).shape
        (array([3, 5, 7]), (3, 2))
        """
        wanted = named(names)
        axes = [self._axis(n) for n in wanted]
        variables = tuple(self.variables[a] for a in axes)
        if self.configurations is not None:
            where = self.configurations[:, axes]
            return Counts.of_cells(variables, where, self.values, self.skipped)
        rest = tuple(i for i in range(len(self.variables)) if i not in axes)
        kept = sorted(axes)
        order = [kept.index(a) for a in axes]
        if not rest:
            return self._of(lambda v: v.transpose(order), variables)
        return _made(variables, self.values.sum(rest).transpose(order), None, self.skipped)

    def __getitem__(self, key: Any) -> Any:
        """A count by its labels, or the counts of a slice: `c["yes"]`, `c[{"Pneumonia": "T"}]`.

        Nobody knows which slice a skipped row belongs to, so that a slice has skipped none.
        """
        if not isinstance(key, Mapping):
            labels = key if isinstance(key, tuple) and len(self.variables) > 1 else (key,)
            if len(labels) != len(self.variables):
                raise InputError(
                    f"Expected {len(self.variables)} labels, one for each of "
                    f"{', '.join(self.names)}, got {len(labels)}."
                )
            key = dict(zip(self.names, labels, strict=True))
        fixed = {self._axis(n): self.variables[self._axis(n)].code(s) for n, s in key.items()}
        rest = [i for i in range(len(self.variables)) if i not in fixed]
        variables = tuple(self.variables[i] for i in rest)
        if self.configurations is None:
            cut = tuple(fixed.get(i, slice(None)) for i in range(self.values.ndim))
            if rest:
                return self._of(lambda v: v[cut], variables, part=bool(fixed))
            return self.values[cut].item()
        hit = np.ones(self.values.size, dtype=bool)
        for axis, code in fixed.items():
            hit &= self.configurations[:, axis] == code
        if not rest:
            return self.values[hit].sum().item()
        where = _codes(self.configurations[hit][:, rest])
        return self._of(lambda v: v[hit], variables, where, part=bool(fixed))

    def columns(self, name: str = "count", *, zeros: bool = False) -> dict[str, list[Any]]:
        """The cells that were seen as columns: a row for each, with its states and its `count`.

        Every frame library takes them: `pd.DataFrame(counts.columns())`. With `zeros=True` the
        cells that no row fell in are there too.

        >>> fever = Variable("Fever", "discrete", ("F", "T"))
        >>> Counts((fever,), [0, 3]).columns()
        {'Fever': ['T'], 'count': [3]}
        >>> Counts((fever,), [0, 3]).columns("n", zeros=True)
        {'Fever': ['F', 'T'], 'n': [0, 3]}
        """
        if zeros:
            all_cells = self.dense()
            codes = np.indices(self.shape).reshape(len(self.shape), all_cells.values.size).T
            return labelled(self.variables, codes, {name: all_cells.values.ravel()})
        cells = self.sparse()
        assert cells.configurations is not None
        return labelled(self.variables, cells.configurations, {name: cells.values})

    def items(self) -> Iterator[tuple[tuple[Any, ...], Number]]:
        """The cells that were seen: their labels and their count."""
        for codes, value in self.seen():
            yield tuple(v.states[c] for v, c in zip(self.variables, codes, strict=True)), value

    def seen(self) -> Iterator[tuple[tuple[int, ...], Number]]:
        """The cells that were seen: their codes and their count."""
        cells = self.sparse()
        assert cells.configurations is not None
        for codes, value in zip(cells.configurations, cells.values, strict=True):
            yield tuple(codes.tolist()), value.item()

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 0

    def __iter__(self) -> Iterator[Any]:
        """As an array goes: number by number of one axis, part by part of several."""
        return iter(np.asarray(self))

    # --- inside -------------------------------------------------------------------------

    def _axis(self, name: str) -> int:
        for axis, variable in enumerate(self.variables):
            if variable.name == name:
                return axis
        raise unknown_name("Axis", name, self.names, "in these counts")

    def _on(self, variables: tuple[Variable, ...]) -> Counts:
        """These counts with the axes of another; refused where the variables differ."""
        if self.variables == variables:
            return self
        mine = {v.name: v for v in self.variables}
        if set(mine) != {v.name for v in variables}:
            raise SchemaError(
                f"Counts of ({', '.join(self.names)}) cannot be added to counts of "
                f"({', '.join(v.name for v in variables)})."
            )
        for v in variables:
            if mine[v.name] != v:
                raise SchemaError(
                    f"The states of {v.name!r} differ between the two counts: "
                    f"{list(v.states)} and {list(mine[v.name].states)}.",
                    hint="Read both tables with the same schema.",
                )
        return self.marginal([v.name for v in variables])

    def __str__(self) -> str:
        head, rows, right, more = _shown(self)
        return table_text(head, rows, right=right) + statistic_tail(more, self.skipped)

    def __repr__(self) -> str:
        kind = "dense" if self.is_dense else f"{self.values.size:,} cells seen"
        return f"Counts({one_line(', '.join(self.names))}; n = {number(self.total)}, {kind})"

    def _repr_html_(self) -> str:
        head, rows, right, more = _shown(self)
        return table_html(head, rows, right=right, more=more)


def _made(
    variables: tuple[Variable, ...],
    values: NDArray[Any],
    configurations: NDArray[np.uint32] | None,
    skipped: Number,
) -> Counts:
    """Counts of arrays that were made here, or that counts have already."""
    if configurations is not None:
        configurations = frozen(configurations)
    return Counts.trusted(variables, frozen(np.asarray(values)), skipped, configurations)


def _gathered(where: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[np.uint32], NDArray[Any]]:
    """Cells that may repeat or be 0, as sparse counts keep them."""
    unique, group = grouped(where)
    total = np.zeros(len(unique), dtype=values.dtype)
    np.add.at(total, group, values)
    seen = total != 0
    return _codes(unique[seen]), total[seen]


def _placed(values: NDArray[Any], shape: Sequence[int], where: Any) -> NDArray[Any]:
    """Numbers at some places of an array of zeros."""
    out = np.zeros(shape, dtype=values.dtype)
    out[where] = values
    return out


def _codes(where: NDArray[Any]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(where, dtype=np.uint32)


def _shown(counts: Counts, most: int = 60) -> tuple[list[str], list[list[str]], list[int], int]:
    """Rows for printing: a row per parent configuration, a column per state of the child; and
    how many more there are.
    """
    if not counts.variables:
        return ["n"], [[number(counts.total)]], [0], 0
    child, parents = counts.variables[-1], counts.variables[:-1]
    shown: dict[tuple[int, ...], dict[int, int | float]] = {}  # by codes: True equals 1 as a key
    if counts.is_dense and counts.cells <= most * child.arity:
        shown = {row: {} for row in np.ndindex(counts.shape[:-1])}
    for codes, value in counts.seen():
        if codes[:-1] not in shown and len(shown) >= most:
            break
        shown.setdefault(codes[:-1], {})[codes[-1]] = value
    texts = [v.texts for v in counts.variables]
    by_row = [([one[i] for one, i in zip(texts, row, strict=False)], r) for row, r in shown.items()]
    if (not parents and len(child.states) > 12) or len(child.states) > 24:
        head = [*counts.names, "n"]
        rows = [[*row, texts[-1][s], number(n)] for row, r in by_row for s, n in r.items()]
        return head, rows[:most], [len(head) - 1], int(np.count_nonzero(counts.values)) - most
    head = [*(v.name for v in parents), *(f"{child.name}={s}" for s in texts[-1])]
    rows = [[*row, *(number(r.get(s, 0)) for s in range(child.arity))] for row, r in by_row]
    more = 0
    if len(rows) >= most:
        cells = counts.sparse().configurations
        assert cells is not None
        more = max(len(grouped(cells[:, :-1])[0]) - len(rows), 0)
    return head, rows, list(range(len(parents), len(head))), more
