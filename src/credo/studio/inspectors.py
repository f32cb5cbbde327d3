"""What the inspectors show: the distribution of a variable given its parents and how it fits the
rows, the strength of an edge, the paths between two variables."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError
from credo.core.state_values import readable
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.plot.networks.boxes import is_number
from credo.plot.networks.view import information
from credo.stats import Counts

if TYPE_CHECKING:
    from credo.data import Table

__all__ = ["edge_details", "fit_to_rows", "node_details", "path_details"]

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
    spans = local.interval(0.95) if local.has_posterior else None
    shape = local.shape[:-1]
    rows = []
    for at in list(product(*map(range, shape)))[:_MOST_ROWS]:
        row: dict[str, Any] = {
            "given": [readable(v.states[i]) for v, i in zip(local.parents, at, strict=True)],
            "p": local.values[at].tolist(),
        }
        if counts is not None:
            row["counts"] = counts[at].tolist()
        if spans is not None:
            row["low"], row["high"] = (np.asarray(end)[at].tolist() for end in spans)
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


def fit_to_rows(net: Network, name: str, table: Table) -> dict[str, Any]:
    """How often each state comes in the rows, or the histogram of a number, as densities.

    >>> import credo as cr
    >>> table = cr.examples.pneumonia()
    >>> net = cr.fit("[Pneu][Fev|Pneu]", table, prior=cr.BDeu(1))
    >>> fit_to_rows(net, "Fev", table)
    {'shares': [0.5, 0.5]}
    """
    variable = net.variable(name)
    if is_number(variable):
        values = np.asarray(table.values(name), dtype=float)
        values = values[np.isfinite(values)]
        ends = np.quantile(values, [0.005, 0.995]) if len(values) else np.zeros(2)
        bins = int(np.clip(np.sqrt(len(values)), 5, 40))
        counts, edges = np.histogram(values, bins, tuple(ends) if ends[0] < ends[1] else None)
        density = counts / max(len(values), 1) / np.diff(edges)
        return {"edges": edges.tolist(), "density": density.tolist()}
    codes = np.asarray(table.codes(name))
    counts = np.bincount(codes[(codes >= 0) & (codes < variable.arity)], minlength=variable.arity)
    return {"shares": (counts / max(int(counts.sum()), 1)).tolist()}


def path_details(net: Network, a: str, b: str, given: list[str]) -> dict[str, Any]:
    """Whether two variables are d-separated by what is known, and the paths that say why.

    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> found = path_details(net, "rain", "wet", [])
    >>> found["separated"], found["paths"]
    (False, [['rain', 'wet']])
    """
    if a == b:
        raise InputError("A path goes from one variable to another.")
    why = net.dag.why(a, b, given=[n for n in given if n not in (a, b)])
    return {
        "from": a, "to": b, "separated": why.separated, "told": str(why),
        "paths": [list(path.nodes) for path in why.paths],
    }  # fmt: skip
