"""A partition: what every method of clustering gives; all else about the groups follows from it.

A method maps rows to one of k groups. What the groups are (sizes, profiles, quality, pictures)
is worked out from the labels and the table, the same way for every method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.frozen import Frozen

if TYPE_CHECKING:
    from credo.data import Table

__all__ = ["Partition"]


@dataclass(frozen=True, slots=True)
class Partition(Frozen):
    """The groups that a method found in a table.

    `labels` gives each row's group, 0 to k − 1; `membership` the probability of each group
    (rows × k), where the method has one. `assign` does the same for new rows. `quality` holds
    what the method itself maximises or minimises, by name; `model` the fitted value behind it;
    `sizes` the weight of each group, where the rows are not at hand to add it up; `numbers` the
    columns that are numbers to the method, whatever the table takes them for.
    """

    labels: NDArray[np.intp]
    k: int
    assign: Callable[[Table], tuple[NDArray[np.intp], NDArray[np.float64] | None]]
    membership: NDArray[np.float64] | None = None
    quality: Mapping[str, float] = field(default_factory=dict)
    trace: tuple[float, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    model: object | None = None
    sizes: NDArray[Any] | None = None
    numbers: tuple[str, ...] = ()
