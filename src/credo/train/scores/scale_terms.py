"""What a score below the encoding lacks to be one of the user's numbers: a constant of each column.

    Σ_rows w · ln dz/dx   of a transform        Σ_rows w · ln f(x | bin)   of bins

With it the scores, and the likelihoods, of one table with other transforms or cuts compare. It does
not depend on the graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

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
    total = dict.fromkeys(wanted, 0.0)
    if not wanted:
        return total
    parts = [source] if isinstance(source, Table) else source.batches(wanted)
    for part in parts:
        for name in wanted:
            scale = part.schema[name].scale
            assert scale is not None
            log = np.nan_to_num(scale.log_jacobian(part.values(name)), nan=0.0, neginf=-np.inf)
            total[name] += float(log.sum() if part.weights is None else part.weights @ log)
    return total
