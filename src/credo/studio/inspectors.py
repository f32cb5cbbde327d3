"""What the inspectors show: the distribution of a variable given its parents, the strength of an
edge."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.core.state_values import readable
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.plot.networks.view import information
from credo.stats import Counts

__all__ = ["edge_details", "node_details"]

_MOST_ROWS = 200


def node_details(net: Network, name: str) -> dict[str, Any]:
    """The table of a variable, or its lines, with the counts behind it if it was learned.

    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.BDeu(1))
    >>> found = node_details(net, "Fev")
    >>> found["columns"], found["rows"][0]["given"], found["rows"][0]["counts"]
    (['F', 'T'], ['F'], [4.0, 3.0])
    """
    local = net.cpt(name)
    if not isinstance(local, Cpt):
        return {"name": name, "text": str(local), "parents": [v.name for v in local.parents]}
    learned = local.learned
    counts = None
    if learned is not None and isinstance(learned.observed, Counts):
        names = tuple(v.name for v in local.variables)
        counts = np.asarray(learned.observed.marginal(names), dtype=float).reshape(local.shape)
    shape = local.shape[:-1]
    rows = []
    for at in list(product(*map(range, shape)))[:_MOST_ROWS]:
        row: dict[str, Any] = {
            "given": [readable(v.states[i]) for v, i in zip(local.parents, at, strict=True)],
            "p": local.values[at].tolist(),
        }
        if counts is not None:
            row["counts"] = counts[at].tolist()
        rows.append(row)
    return {
        "name": name,
        "text": None,
        "parents": [v.name for v in local.parents],
        "columns": [readable(s) for s in local.child.states],
        "rows": rows,
        "more": max(0, int(np.prod(shape)) - _MOST_ROWS),
    }


def edge_details(net: Network, a: str, b: str) -> dict[str, Any]:
    """How much the ends of an edge tell of each other, in bits, nothing being observed.

    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> round(edge_details(net, "rain", "wet")["bits"], 4)
    0.2755
    """
    if (a, b) not in net.dag.edges:
        raise InputError(f"There is no edge from {a!r} to {b!r}.")
    return {"from": a, "to": b, "bits": information(net, ((a, b),)).get((a, b))}
