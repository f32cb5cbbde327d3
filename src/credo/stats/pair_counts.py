"""The counts of every pair of discrete variables, to hold a learned graph against the rows.

    n(a = i, b = j)        for all a before b, over the rows that have both

A graph keeps the relations that pay for their parameters; the others are left out. Counts of pairs
are few (5,354 numbers for the 37 columns of ALARM), and tell what was left out of any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.schema import Variable
from credo.stats.family import Families

MOST = 50_000
"""The most counts that are kept; of tables with more there are none."""


def pair_counts(source: Any, variables: Sequence[Variable]) -> dict[str, Any]:
    """The counts of all pairs of the discrete variables, as a record keeps them; empty if too many.

    >>> import credo as cr
    >>> table = cr.read({"a": ["x", "y", "y"], "b": [0, 0, 1], "c": ["u", "u", "u"]})
    >>> pair_counts(table, table.schema.variables)
    {'names': ('a', 'b'), 'counts': [1, 0, 1, 1]}
    """
    states = [v for v in variables if v.is_discrete and v.arity > 1]
    pairs = list(combinations(states, 2))
    if not pairs or sum(a.arity * b.arity for a, b in pairs) > MOST:
        return {}
    found = source.tally(Families.of([(b.name, [a.name]) for a, b in pairs]))
    flat = [np.asarray(found[b.name, [a.name]].dense().values).ravel() for a, b in pairs]
    return {"names": tuple(v.name for v in states), "counts": np.concatenate(flat).tolist()}


def pair_of(
    kept: Mapping[str, Any], a: Variable, b: Variable, arities: Mapping[str, int]
) -> NDArray[np.float64] | None:
    """The counts [a, b] of a pair from what a record keeps; None where it keeps none.

    >>> import credo as cr
    >>> table = cr.read({"a": ["x", "y", "y"], "b": [0, 0, 1]})
    >>> a, b = table.schema.variables
    >>> pair_of(pair_counts(table, [a, b]), b, a, {"a": 2, "b": 2}).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    names = list(kept.get("names", ()))
    if a.name not in names or b.name not in names or a.name == b.name:
        return None
    wanted, at = {a.name, b.name}, 0
    for x, y in combinations(names, 2):
        size = arities[x] * arities[y]
        if {x, y} == wanted:
            cells = np.array(kept["counts"][at : at + size], dtype=np.float64)
            table = cells.reshape(arities[x], arities[y])
            return table if x == a.name else table.T
        at += size
    return None  # pragma: no cover
