"""Different rows: there cannot be more clusters than there are of them.

Rows that are the same are in the same cluster, whatever the method: a cluster is found by what its
rows hold, and a new row that is the same as one that was clustered has its label.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.data import Table
from credo.train.clusters.geometry import Geometry
from credo.train.clusters.partition import told_of_bare

_CHUNK = 1 << 16  # rows at once


def as_whole(cells: NDArray[Any]) -> NDArray[np.int64]:
    """Cells as whole numbers, equal where the cells are; every gap is the same gap."""
    plain = np.where(np.isnan(cells), np.nan, cells) + 0.0  # one NaN, one zero
    return np.ascontiguousarray(plain).view(np.int64)


def different_rows(table: Table, most: int) -> int:
    """How many different rows there are, counted as far as `most`.

    >>> import credo as cr
    >>> different_rows(cr.read({"x": [0.5, 0.5, 1.5, 1.5], "y": [1.5, 1.5, 2.5, 3.5]}), 4)
    3
    """
    if not table.block.gaps[0] and len(set(table.block.arrays[0][: 4 * most].tolist())) >= most:
        return most  # the first column parts them
    found: set[bytes] = set()
    at, step = 0, 4 * most
    while at < table.rows and len(found) < most:  # the first rows are enough, as a rule
        cells = np.column_stack([a[at : at + step] for a in table.block.arrays])
        whole = as_whole(cells.astype(np.float64, copy=False))
        found.update(whole.view(f"V{whole.itemsize * whole.shape[1]}").ravel().tolist())
        at, step = at + step, min(4 * step, _CHUNK)
    return min(len(found), most)


@dataclass(frozen=True, eq=False)
class Different(Frozen):
    """The different rows of a table, in an order that their cells alone decide.

    `order` sorts the table's rows by their cells; `first` says where in that order each different
    row begins, `copies` how often it is there, and `each` which one each row of the table is.
    """

    order: NDArray[np.intp]
    first: NDArray[np.intp]
    copies: NDArray[np.float64]
    each: NDArray[np.intp]

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.first)


def different(table: Table) -> Different:
    """Which rows of a table are the same.

    >>> import credo as cr
    >>> found = different(cr.read({"x": [2.5, 0.5, 2.5], "y": [1.5, 3.5, 1.5]}))
    >>> found.each.tolist(), found.copies.tolist()
    ([1, 0, 1], [1.0, 2.0])
    """
    columns = [as_whole(a.astype(np.float64)) for a in table.block.arrays]
    keys = columns if table.weights is None else [*columns, table.weights]
    order = np.lexsort(keys[::-1])
    new = np.zeros(table.rows, dtype=bool)
    new[0] = True
    for column in columns:
        new[1:] |= np.diff(column[order]) != 0
    each = np.empty(table.rows, dtype=np.intp)
    each[order] = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    copies = np.diff(np.append(first, table.rows)).astype(np.float64)
    return Different(order, first, copies, each)


def by_content(table: Table) -> tuple[str, ...]:
    """The columns in an order that what they hold decides, not where they stand.

    >>> import credo as cr
    >>> one = by_content(cr.read({"x": [2.5, 0.5], "y": [1.5, 3.5]}))
    >>> one == by_content(cr.read({"y": [3.5, 1.5], "x": [0.5, 2.5]}))
    True
    """

    def key(column: tuple[str, NDArray[Any]]) -> tuple[bytes, str]:
        cells = np.sort(as_whole(column[1].astype(np.float64)))
        return hashlib.blake2b(cells.tobytes(), digest_size=16).digest(), column[0]

    columns = zip(table.schema.names, table.block.arrays, strict=True)
    return tuple(name for name, _ in sorted(columns, key=key))


def refuse_same_rows(table: Table, k: Any) -> None:
    """Refuse more clusters than there are different rows."""
    if not isinstance(k, (int, np.integer)) or k < 2:
        return
    found = different_rows(table, int(k))
    if found < k and not (found == 1 and told_of_bare(table)):  # which is told otherwise
        rows = f"{found:,} different row{'s' * (found != 1)}"
        raise InputError(
            f"The table has only {rows}, which cannot make {k:,} clusters.",
            hint=f"Ask for k={found}{' or fewer' * (found > 1)}.",
        )


Labels = NDArray[np.intp]


def with_known(found: Labels, rows: Geometry, known: Geometry, labels: Labels) -> Labels:
    """`found`, but the label of a known row for each row that has all its cells.

    Of the same known rows in several clusters, the first counts.
    """
    new, old = _cells(rows), _cells(known)
    old_rows = np.flatnonzero(np.isin(old[:, 0], new[:, 0]))
    label_of: dict[bytes, int] = {}
    for row in old_rows.tolist():
        label_of.setdefault(old[row].tobytes(), int(labels[row]))
    out = found.copy()
    for row in np.flatnonzero(np.isin(new[:, 0], old[:, 0])).tolist():
        out[row] = label_of.get(new[row].tobytes(), int(found[row]))
    return out


def _cells(geometry: Geometry) -> NDArray[np.int64]:
    """The cells of each row as whole numbers, equal where the cells are."""
    if geometry.points is not None:
        cells = geometry.points
    else:
        assert geometry.mixed is not None
        cells = np.column_stack([*geometry.mixed.reals, *geometry.mixed.codes]).astype(np.float64)
    return as_whole(cells)
