"""A naive Bayes model as a Bayesian network: the class above, each feature a table or a line below.

Every posterior of the network is that of the model. States that are only held in reserve (there may
be more than training showed) have no name in the model; together they are one state of the network.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.model.graphs.dag import Dag
from credo.model.naive_bayes.features import Normal, Normals, States
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.model.networks.chain import chain_of_lines
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network

RESERVE = "(not seen)"
"""The state that stands for all states held in reserve."""


def network_of(model: NaiveBayesModel, name: str | None = None) -> Network:
    """The model as a network whose class is called `name`, or as it is in the model."""
    target = model.target
    if name is not None:
        target = Variable(name, "discrete", target.states)
    if target.name in model.names:
        raise InputError(
            f"The class and a feature are both called {target.name!r}, which a network cannot "
            "have.",
            hint="Rename the column, or give the class a name: network(target='class').",
        )
    tables: dict[str, Any] = {target.name: Cpt(target, (), np.exp(model.log_prior))}
    edges = []
    for f in model.features:
        for local in _locals(f, target):
            tables[local.name] = local
            edges += [(p.name, local.name) for p in local.parents]
    return Network(Dag(edges, nodes=list(tables)), tables, record=model.record)


def _locals(f: Any, target: Variable) -> list[Any]:
    """The local distributions of one feature."""
    if isinstance(f, States):
        return [_table(f, target)]
    if isinstance(f, Normal):
        (line,) = chain_of_lines(f.names, target, f.mean[:, None], f.variance[:, None])
        return [line if f.scale is None else replace(line, child=_scaled(f))]
    if isinstance(f, Normals):
        return [*chain_of_lines(f.names, target, f.mean, f.covariance)]
    raise InputError(
        f"The feature {f.names[0]!r} is a {type(f).__name__.lower()}, which a network has no table "
        "for.",
        hint="Use kinds='categorical' or 'gaussian' for it.",
    )


def _scaled(f: Normal) -> Variable:
    return Variable(f.name, "continuous", scale=f.scale)


def _table(f: States, target: Variable) -> Cpt:
    """P(state | class); what is missing from 1 is the state of the states in reserve."""
    theta, counts, child = np.exp(f.log_theta), f.alpha, f.variable
    seen = theta.sum(axis=1, keepdims=True)
    if (1 - seen > 1e-9).any():
        spare = np.maximum(1 - seen, 0.0)
        label = RESERVE
        while label in child.states:
            label = f"({label})"
        child = Variable(child.name, "discrete", (*child.states, label))
        theta = np.concatenate([theta, spare], axis=1)
        more = counts.sum(axis=1, keepdims=True) * spare / np.where(seen > 0, seen, 1.0)
        counts = np.concatenate([counts, more], axis=1)
    theta = theta / theta.sum(axis=1, keepdims=True)
    return Cpt(child, (target,), theta, counts if f.smoothing > 0 else None)
