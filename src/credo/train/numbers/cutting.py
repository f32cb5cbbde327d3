"""`cut`: the numbers of a table as intervals, where the rows ask for a cut.

Cut points are chosen from a fine histogram of each column, which adds up over the parts of a
source: by a class for who wants to tell it (MODL), else by the column's own density. They stand in
the names of the states (`≤ 38.3`, `(38.3, 41]`, `> 41`), so every model and file keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.interval_states import interval_codes, interval_labels
from credo.core.render import many
from credo.core.schema import Column, Schema, Variable
from credo.data import Stream, Table
from credo.stats.block import Block
from credo.stats.histogram import FINE, Histogram, fine_edges
from credo.stats.rows import code_type
from credo.train.numbers.criteria import best_cuts
from credo.train.parameters.sources import Opened

__all__ = ["LOOKED_AT", "cut", "cut_points", "some_rows", "spread_places"]

Floats = NDArray[np.float64]

LOOKED_AT = 131_072
"""Rows of a stream from which the fine edges are taken."""


def cut(
    source: Any,
    by: str | None = None,
    *,
    columns: Iterable[str] | None = None,
    max_bins: int | None = None,
    weights: Any = None,
    schema: Any = None,
) -> Table | Stream:
    """The table with its numbers cut into intervals.

    Parameters
    ----------
    source : anything `cr.read` takes, a Table or a Stream
        The rows. A stream stays one.
    by : name of a discrete variable
        Cut where it changes: the partition of the largest posterior probability given the classes
        (MODL, Boullé 2006). A column that tells nothing of it becomes one interval. By default
        each column is cut by its own density, as a histogram of the largest marginal likelihood.
    columns : names
        The columns to cut; by default all that are continuous.
    max_bins : int
        The most intervals of a column; by default as many as the rows ask for.

    >>> import credo as cr
    >>> rows = {"dose": list(range(1, 13)), "ill": ["no"] * 5 + ["yes"] * 7}
    >>> table = cr.cut(rows, by="ill", schema={"dose": "continuous"})
    >>> table.schema["dose"].states
    ('≤ 5.5', '> 5.5')
    >>> round(cr.learn(table, "bic").ask("P(ill=yes | dose=7)"), 6)
    0.791667
    """
    opened = Opened(source, {}, weights, schema).plain
    if not isinstance(opened, (Table, Stream)):
        raise InputError(
            "Cut points are found from rows, and these are counted already.",
            hint="Give the table itself.",
        )
    if max_bins is not None and (
        isinstance(max_bins, bool) or not isinstance(max_bins, int) or max_bins < 2
    ):
        raise InputError(f"max_bins must be a whole number, 2 or more, got {max_bins!r}.")
    names = _columns(opened.schema, by, columns)
    found = {n: best_cuts(h, max_bins) for n, h in _histograms(opened, names, by).items()}
    after = _schema(opened.schema, found, by)
    if isinstance(opened, Stream):
        return replace(opened, schema=after)
    arrays = list(opened.block.arrays)
    for name, cuts in found.items():
        at = after.index(name)
        arrays[at] = interval_codes(arrays[at], cuts).astype(code_type(len(cuts) + 1))
    return Table(Block(after, tuple(arrays), opened.weights), opened.numbers)


def cut_points(
    numbers: Floats,
    classes: NDArray[Any] | None,
    arity: int,
    weights: Any = None,
    fine: int = FINE,
) -> list[float]:
    """The cut points of one column, by classes (codes; the arity is missing) or its density.

    They are chosen among the edges of at most `fine` intervals.

    >>> cut_points(np.array([1.0, 2.0, 3.0, 4.0] * 5), np.array([0, 0, 1, 1] * 5), 2)
    [2.5]
    """
    edges = fine_edges(numbers, weights, fine)
    return best_cuts(Histogram.of(edges, numbers, classes, arity, weights))


def _columns(schema: Schema, by: str | None, columns: Iterable[str] | None) -> list[str]:
    """The columns to be cut, checked."""
    if by is not None and not schema[by].is_discrete:
        raise InputError(
            f"{by!r} is continuous; columns are cut by a variable with states.",
            hint=f"Cut it first, cr.cut(table, columns=[{by!r}]), or read it as discrete.",
        )
    if isinstance(columns, str):
        columns = [columns]
    if columns is None:
        return list(schema.continuous)
    names = list(columns)
    for name in names:
        if schema[name].is_discrete:
            raise InputError(
                f"{name!r} is discrete, so it cannot be cut.",
                hint=f"Read its numbers as such: schema={{{name!r}: 'continuous'}}.",
            )
    return names


def _histograms(source: Any, names: Sequence[str], by: str | None) -> dict[str, Histogram]:
    """A fine histogram of each column, in one pass over the rows behind the one for its edges."""
    arity = 1 if by is None else source.schema[by].arity
    used = list(names) if by is None else [by, *names]
    if not names:
        return {}
    first = some_rows(source, LOOKED_AT, used) if isinstance(source, Stream) else source
    edges = {n: fine_edges(first.values(n), first.weights, FINE) for n in names}
    found = source.fold(partial(_counted, edges, by, arity), _merged, used)
    return {} if found is None else dict(found)


def _counted(edges: Mapping[str, Any], by: str | None, arity: int, table: Table) -> Any:
    """The histograms of a table."""
    classes = None if by is None else table.codes(by)
    return {
        n: Histogram.of(own, table.values(n), classes, arity, table.weights)
        for n, own in edges.items()
    }


def _merged(a: Mapping[str, Any], b: Mapping[str, Any]) -> Any:
    return {n: add(own, b[n]) for n, own in a.items()}


def spread_places(rows: int, most: int) -> NDArray[np.int64] | slice:
    """The places of rows spread evenly over a table: all, or one drawn from each of `most` parts of
    equal length. The draws are always the same ones.

    >>> spread_places(5, 9), spread_places(9, 3).tolist()
    (slice(None, None, None), [1, 3, 6])
    """
    if rows <= most:
        return slice(None)
    ends = np.arange(most + 1, dtype=np.int64) * rows // most
    chance = np.random.default_rng(0).random(most)
    out: NDArray[np.int64] = ends[:-1] + (chance * np.diff(ends)).astype(np.int64)
    return out


def some_rows(source: Table | Stream, most: int, names: Sequence[str] | None = None) -> Table:
    """Rows that are spread evenly over a source; all of one that is short."""
    places = spread_places(len(source), most)
    if isinstance(source, Table):
        return source if isinstance(places, slice) else source.take(places)
    return source.take(np.arange(len(source)) if isinstance(places, slice) else places, names)


def _schema(schema: Schema, found: dict[str, list[float]], by: str | None) -> Schema:
    """The schema with the columns that were cut, and why they were cut there."""
    variables = tuple(
        Variable(v.name, "discrete", interval_labels(found[v.name]), ordered=True)
        if v.name in found
        else v
        for v in schema.variables
    )
    return replace(
        schema,
        variables=variables,
        columns=tuple(_told(c, found, by) for c in schema.columns),
    )


def _told(column: Column, found: dict[str, list[float]], by: str | None) -> Column:
    cuts = found.get(column.name)
    if cuts is None or not column.used:
        return column
    why = "its density" if by is None else f"{by!r}"
    reason = f"cut into {many(len(cuts) + 1, 'interval')} by {why}"
    if not cuts:
        reason = (
            "not cut: its density is even" if by is None else f"not cut: tells nothing of {by!r}"
        )
    return replace(column, kind="discrete", reason=reason, whole=False)
