"""Rows seen before: a row that is the same as one that was clustered has its label.

The rule by which a link places a new row looks at whole clusters, while the tree was made pair by
pair: the rule alone would not give back every label.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.train.clusters.distinct import as_whole
from credo.train.clusters.geometry import Geometry

__all__ = ["with_known"]

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
