"""The standard networks that several areas are measured on, as credo's and as the peers' models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import ROOT

FOLDER = Path(os.environ.get("CREDO_SHARED", ROOT.parent / "shared")) / "data" / "networks"


def load(name: str) -> Any:
    import credo as cr

    return cr.load(FOLDER / f"{name}.bif.gz")


def sample(net: Any, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Codes of rows drawn from the network, parents first: a column for each variable."""
    at = {n: i for i, n in enumerate(net.names)}
    out = np.full((rows, len(at)), -1, dtype=np.int64)
    waiting = list(net.names)
    while waiting:
        later = []
        for name in waiting:
            parents = [at[p.name] for p in net.distributions[name].parents]
            if (out[:1, parents] < 0).any():
                later.append(name)
                continue
            steps = net.distributions[name].values.cumsum(axis=-1)[tuple(out[:, parents].T)]
            draw = rng.random((rows, 1)) * steps[..., -1:]
            out[:, at[name]] = (draw >= steps).sum(axis=-1)
        waiting = later
    return out


def table_of(net: Any, codes: np.ndarray) -> Any:
    """The rows as `cr.read` would give them; a code that is the arity is a gap."""
    from credo import Table
    from credo.stats.block import Block

    columns = tuple(np.ascontiguousarray(c, dtype=np.uint8) for c in codes.T)
    return Table(Block(net.schema, columns))


def to_pyagrum(net: Any) -> Any:
    import pyagrum as gum

    bn = gum.BayesNet()
    for v in net.variables:
        bn.add(gum.LabelizedVariable(v.name, v.name, v.arity))
    for name in net.names:
        for parent in reversed(net.distributions[name].parents):  # its tables run the other way
            bn.addArc(parent.name, name)
        bn.cpt(name).fillWith(net.distributions[name].values.ravel().tolist())
    return bn


def to_pgmpy(net: Any) -> Any:
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork()
    model.add_nodes_from(net.names)
    for name in net.names:
        local = net.distributions[name]
        arity = net.variable(name).arity
        parents = [p.name for p in local.parents]
        model.add_edges_from((p, name) for p in parents)
        flat = local.values.reshape(-1, arity).T
        model.add_cpds(TabularCPD(name, arity, flat, parents, [p.arity for p in local.parents]))
    return model
