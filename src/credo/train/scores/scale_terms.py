"""What a score below the encoding lacks to be one of the user's numbers: a constant of each column.

    Σ_rows w · ln dz/dx   of a transform        Σ_rows w · ln f(x | bin)   of bins

With it the scores, and the likelihoods, of one table with other transforms or cuts compare. It does
not depend on the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data import Stream, Table
from credo.train.parameters.experiments import Experiments

__all__ = ["scale_terms"]


def scale_terms(source: Any, names: Iterable[str]) -> dict[str, float]:
    """The term of each column that has a scale; a stream is read once.

    >>> import credo as cr
    >>> from credo.core.scales import Transform
    >>> table = cr.read({"x": [1.0, 2.0, 8.0], "y": [0.5, 1.5, 2.5]})
    >>> table = table.scaled({"x": Transform("log")})
    >>> scale_terms(table, ["x", "y"])  # −ln 16
    {'x': -2.772588722239781}
    """
    if isinstance(source, Experiments):  # each column on the rows that its family counts
        own = {n: source.table if source.soft else source.of(n) for n in names}
        return {n: t for name, rows in own.items() for n, t in scale_terms(rows, [name]).items()}
    if not isinstance(source, (Table, Stream)):
        return {}
    wanted = [n for n in names if n in source.schema.scales]
    total = source.fold(partial(_terms, wanted), names=wanted) if wanted else None
    return dict(zip(wanted, [0.0] * len(wanted) if total is None else total.tolist(), strict=True))


def _terms(names: Sequence[str], table: Table) -> NDArray[np.float64]:
    """Σ ln dz/dx of some columns of a table."""
    found = []
    for name in names:
        scale = table.schema[name].scale
        assert scale is not None
        log = np.nan_to_num(scale.log_jacobian(table.values(name)), nan=0.0, neginf=-np.inf)
        found.append(float(log.sum() if table.weights is None else table.weights @ log))
    return np.array(found)
