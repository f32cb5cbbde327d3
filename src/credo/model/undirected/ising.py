"""The Ising grid: spins on a square lattice that like to agree with their neighbours.

    P(s) ∝ exp( J Σ_{i~j} s_i s_j + h Σ_i s_i ),      s_i ∈ {−1, 1}

In the infinite grid without field, spins far apart begin to agree at the critical coupling
J = ln(1 + √2) / 2 ≈ 0.4407 (Onsager 1944).
"""

from __future__ import annotations

from math import log, sqrt

from credo.core.errors import InputError
from credo.model.undirected.markov_network import MarkovNetwork

__all__ = ["CRITICAL", "ising_grid"]

CRITICAL = log(1 + sqrt(2)) / 2


def ising_grid(
    rows: int,
    columns: int | None = None,
    *,
    coupling: float = CRITICAL,
    field: float = 0.0,
    periodic: bool = False,
) -> MarkovNetwork:
    """A grid of spins r1c1, r1c2, …, with one weight for all pairs and one for all spins.

    `periodic` also joins the last row and column to the first.

    >>> grid = ising_grid(2, 3, coupling=0.4)
    >>> grid
    MarkovNetwork(6 variables, 7 edges, 13 potentials)
    >>> grid.weights
    {'coupling': 0.4, 'field': 0.0}
    >>> round(grid.p("r1c1")[1], 6)
    0.5
    >>> round(grid.p("r1c1", given={"r1c2": 1})[1], 6)
    0.715679
    """
    columns = rows if columns is None else columns
    for n, what in ((rows, "rows"), (columns, "columns")):
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise InputError(f"The number of {what} must be a whole number above 0, got {n!r}.")
    names = [[f"r{i + 1}c{j + 1}" for j in range(columns)] for i in range(rows)]
    pairs: dict[tuple[str, str], None] = {}
    for i in range(rows):
        for j in range(columns):
            if j + 1 < columns or (periodic and columns > 2):
                pairs[names[i][j], names[i][(j + 1) % columns]] = None
            if i + 1 < rows or (periodic and rows > 2):
                pairs[names[i][j], names[(i + 1) % rows][j]] = None
    spins = [n for row in names for n in row]
    return MarkovNetwork.log_linear(
        {
            "coupling": dict.fromkeys(pairs, lambda s, t: s * t),
            "field": dict.fromkeys(spins, lambda s: s),
        },
        {"coupling": coupling, "field": field} if pairs else {"field": field},
        states=dict.fromkeys(spins, (-1, 1)),
    )
