"""What a column of numbers is, from what the kernel that read them says: no cell is looked at.

By the rules of `infer`, and only where they make a quantity of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from credo.core.schema import Column, Variable
from credo.data.columns.infer import Decision, decide
from credo.data.columns.profile import Profile

__all__ = ["decided_decimals", "decided_whole"]


def decided_decimals(name: str, rows: int, missing_as: Mapping[str, int]) -> Decision:
    """What a column of decimals is that differ, and are nothing else: the fifth rule."""
    gone = dict(sorted(missing_as.items(), key=lambda word: (-word[1], word[0])))
    column = Column(name, "continuous", "numbers", rows, sum(gone.values()), gone)
    return Decision(column, Variable(name, "continuous"))


def decided_whole(
    name: str, values: NDArray[np.float64], missing_as: Mapping[str, int]
) -> Decision | None:
    """What a column of whole numbers is, NaN where missing; None if it is no quantity: then more
    must be known of it.
    """
    there = values[~np.isnan(values)]
    profile = Profile(
        name,
        len(values),
        len(values) - len(there),
        dict(sorted(missing_as.items(), key=lambda word: (-word[1], word[0]))),
        frozenset({"int"}),
        text=True,
        values=None,
        distinct=len(np.unique(there)),
        sampled=len(there),
        first_row=lambda value: None,
        low=float(there.min()),
        high=float(there.max()),
        whole=True,
    )
    decision = decide(profile)
    return decision if decision.column.kind == "continuous" else None
