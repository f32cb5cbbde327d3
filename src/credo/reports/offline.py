"""A network as the page of a report computes with it: its tables, its lines, and a way to sum.

The page eliminates the variables in the order found here. Eliminating v makes a bucket over v and
the variables it meets; the buckets form the joint tree:

    cells = Σ_v Π_{u in bucket of v} states of u

The continuous variables that hang together are one Gaussian for each configuration of their
discrete parents, which therefore stand in one bucket; its covariances count as cells too.
"""

from __future__ import annotations

from math import prod
from typing import Any

from credo import _core
from credo.core.bins import Bins
from credo.core.errors import InputError, LimitError
from credo.core.scales import Transform
from credo.core.schema import Variable
from credo.core.state_values import readable
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network
from credo.model.networks.softmax import Softmax
from credo.plot.networks.boxes import picture
from credo.predict.mixed.gaussian_groups import GaussianGroup, gaussian_groups

__all__ = ["MAX_CELLS", "offline"]

MAX_CELLS = 2_000_000
"""Of a joint tree that a page sums over at each click, in a tenth of a second or so."""


def offline(net: Network, title: str = "") -> dict[str, Any]:
    """What the page needs to answer evidence by itself, as JSON; refused when it is too large.

    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> made = offline(net)
    >>> made["order"], [t["scope"] for t in made["tables"]], made["cells"]
    ([0, 1], [[0], [0, 1]], 6)
    """
    discrete = [v for v in net.variables if v.is_discrete]
    at = {v.name: i for i, v in enumerate(discrete)}
    tables: list[dict[str, Any]] = []
    lines: list[LinearGaussian] = []
    for name in net.names:
        local = net.distributions[name]
        if isinstance(local, Softmax):
            raise InputError(
                f"{name!r} is a softmax of numbers, which a page cannot sum over.",
                hint="Write the report without --interactive, or use credo studio.",
            )
        if isinstance(local, LinearGaussian):
            lines.append(local)
            continue
        scope = [at[v.name] for v in (*local.parents, local.child)]
        tables.append({"scope": scope, "p": local.values.ravel().tolist()})
    found = gaussian_groups(net, (), [v.name for v in lines], tied=False)
    groups = [{"scope": [at[p.name] for p in g.parents], "lines": _lines(g, at)} for g in found]
    arities = [v.arity for v in discrete]
    scopes = [list(part["scope"]) for part in (*tables, *groups)]
    order = [int(v) for v in _order(arities, scopes)]
    cells = _cells(arities, scopes, order)
    cells += sum(prod(p.arity for p in g.parents) * len(g.lines) ** 2 for g in found)
    if cells > MAX_CELLS:
        raise LimitError(
            f"The joint tree of this network has {cells:,.4g} cells; a page answers by itself up "
            f"to {MAX_CELLS:,}.",
            hint="Write the report without --interactive, or use credo studio.",
        )
    return {
        "title": title,
        "variables": [_variable(v) for v in discrete],
        "tables": tables,
        "groups": groups,
        "order": order,
        "cells": int(cells),
        "picture": picture(net),
    }


def _order(arities: list[int], scopes: list[list[int]]) -> list[int]:
    if not arities:
        return []
    plan = _core.Model(arities, [s for s in scopes if s]).compile([], None, directed=False)
    return [*plan.order, *sorted(set(range(len(arities))) - set(plan.order))]


def _cells(arities: list[int], scopes: list[list[int]], order: list[int]) -> float:
    """The cells of all buckets, by elimination of scopes alone."""
    live, cells = [set(s) for s in scopes], 0.0
    for v in order:
        bucket = {v}.union(*(s for s in live if v in s))
        cells += prod(float(arities[u]) for u in bucket)
        live = [s for s in live if v not in s]
        live.append(bucket - {v})
    return cells


def _variable(variable: Variable) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": variable.name,
        "states": [readable(s) for s in variable.states],
        "python": [repr(s) for s in variable.states],
    }
    if isinstance(variable.scale, Bins):
        told["bins"] = variable.scale.to_json()
    return told


def _lines(group: GaussianGroup, at: dict[str, int]) -> list[dict[str, Any]]:
    return [
        {
            "name": line.name,
            "scope": [at[p.name] for p in line.discrete],
            "parents": [p.name for p in line.continuous],
            "intercept": line.intercept.ravel().tolist(),
            "slopes": line.coefficients.ravel().tolist(),
            "variance": line.variance.ravel().tolist(),
            "transform": _transform(line.child.scale),
        }
        for line in group.lines
    ]


def _transform(scale: Any) -> dict[str, Any] | None:
    if not isinstance(scale, Transform):
        return None
    low, high = scale.domain
    return {
        "kind": scale.kind, "centre": scale.centre, "spread": scale.spread, "power": scale.power,
        "low": scale.low if abs(low) < float("inf") else None,
        "high": scale.high if abs(high) < float("inf") else None,
    }  # fmt: skip
