"""The data of the benchmarks: random, correlated, the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

ARITIES = (2,) * 13 + (3,) * 17 + (4,) * 7
"""The arities of the alarm network's 37 variables."""


def arities(seed: int = 1) -> list[int]:
    """Alarm's arities, shuffled so that neighbours differ."""
    return np.random.default_rng(seed).permutation(ARITIES).tolist()


def names(n: int = 37) -> list[str]:
    return [f"v{i:02}" for i in range(n)]


def states(arity: int) -> list[str]:
    """Labels of a usual length."""
    return ["normal", "high", "low", "zero"][:arity]


def codes(rows: int, of: Sequence[int] | None = None, seed: int = 0) -> list[np.ndarray]:
    """Columns of uint8 codes: each column follows an earlier one in two rows of three."""
    rng = np.random.default_rng(seed)
    columns: list[np.ndarray] = []
    for i, arity in enumerate(of or arities()):
        p = rng.dirichlet(np.full(arity, 2.0))
        column = rng.choice(arity, size=rows, p=p).astype(np.uint8)
        if i:
            earlier = columns[rng.integers(max(0, i - 6), i)]
            image = rng.integers(0, arity, size=256).astype(np.uint8)
            image[:arity] = rng.permutation(arity)
            follows = rng.random(rows) < 2 / 3
            column[follows] = image[earlier[follows]]
        column[:arity] = np.arange(arity, dtype=np.uint8)[:rows]  # every state is seen
        columns.append(column)
    return columns


def credo_table(columns: Sequence[np.ndarray], of: Sequence[int] | None = None) -> Any:
    """The columns as a credo table, as `cr.read` would give it."""
    from credo import Schema, Table, Variable
    from credo.stats.block import Block

    of = of or arities()
    variables = tuple(
        Variable(n, "discrete", tuple(states(a)) if a <= 4 else tuple(range(a)))
        for n, a in zip(names(len(of)), of, strict=True)
    )
    return Table(Block(Schema(variables), tuple(columns)))


def arrow_table(columns: Sequence[np.ndarray], dictionary: bool = False) -> Any:
    """The columns as an Arrow table of strings, or of dictionaries of strings."""
    import pyarrow as pa

    out = {}
    for n, a, c in zip(names(len(columns)), arities(), columns, strict=True):
        column = pa.DictionaryArray.from_arrays(pa.array(c.astype(np.int32)), states(a))
        out[n] = column if dictionary else column.dictionary_decode()
    return pa.table(out)
