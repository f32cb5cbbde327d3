"""Numbers that may still be states: few different ones, while it is not known what a column is.

Decimals and whole numbers beyond 2**53 are not the floats that stand for them, and 1 is not 1.0
where values come back. While they are few they are kept as they are, since texts may come that make
states of them; what a column is must not depend on which of its cells came first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from credo.core.state_values import is_missing
from credo.data.columns.cells import number_of
from credo.data.columns.noted import MANY, more_than
from credo.data.columns.taking import encodable, storage_of

__all__ = ["are_few", "few_floats"]


def are_few(cells: Any) -> bool:
    """Whether a batch of numbers has few different ones, all of them finite.

    >>> are_few(pa.array([1.5, 2.5])), are_few(pa.array([1.5, float("inf")]))
    (True, False)
    """
    if isinstance(cells, np.ndarray):
        if len(_different(cells[: 2 * MANY])) > MANY:
            return False
        different = _different(cells)
        return len(different) <= MANY and all(np.isfinite(number_of(c)) for c in different)
    cells = storage_of(cells)
    cells = encodable(cells.dictionary if pa.types.is_dictionary(cells.type) else cells)
    if len(pc.unique(cells[: 2 * MANY])) > MANY or len(found := pc.unique(cells)) > MANY:
        return False
    return not (pa.types.is_floating(found.type) and pc.any(pc.is_inf(found)).as_py())


def _different(cells: NDArray[Any]) -> set[Any]:
    """The different cells that are not missing; a signaling NaN of decimals cannot be hashed."""
    return {c for c in cells if not is_missing(c)}


def few_floats(
    parts: Sequence[NDArray[np.float64]], most: int = MANY
) -> NDArray[np.float64] | None:
    """The different ones of some floats, NaN aside; None where they are many.

    >>> few_floats([np.array([2.5, np.nan]), np.array([1.5, 2.5])]).tolist()
    [1.5, 2.5]
    """
    if any(more_than(part[~np.isnan(part)], most) for part in parts):
        return None
    met = np.concatenate([*(np.unique(part) for part in parts), np.zeros(0)])
    values = np.unique(met[~np.isnan(met)])
    return values if len(values) <= most else None
