"""A mixture as a Bayesian network with a hidden class, and back.

    P(c, row) = P(c) · Π P(x_j | c)          columns apart: naive Bayes

Columns that vary together become a chain of lines (`model/networks/chain.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Variable
from credo.model.graphs.dag import Dag
from credo.model.mixtures.parts import Gaussians, Part, Rates, Tables
from credo.model.networks.chain import chain_of_lines
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network
from credo.model.values.reals import shown
from credo.model.values.record import Record

if TYPE_CHECKING:
    from credo.model.mixtures.mixture import Mixture

__all__ = ["from_network", "to_network"]

_FORM = "covariance"  # the detail of the record that says how the covariances look


def to_network(mixture: Mixture) -> Network:
    """The same distribution as a network; the class is a variable with the states 0, 1, …"""
    hidden = Variable(mixture.name, "discrete", tuple(range(mixture.k)))
    tables: dict[str, Cpt | LinearGaussian] = {mixture.name: Cpt(hidden, (), mixture.weights)}
    for part in mixture.parts:
        if isinstance(part, Tables):
            tables[part.names[0]] = Cpt(part.variable, (hidden,), part.values)
        elif isinstance(part, Rates):
            raise InputError(
                f"The column {part.name!r} has a Poisson rate, which a network has no table for.",
                hint="Learn the classes without counts=, to have it as states or a Gaussian.",
            )
        else:
            apart = part.form in ("diagonal", "spherical")
            spread = part.variances if apart else part.matrices
            lines = chain_of_lines(part.names, hidden, part.means, spread)
            tables |= {line.name: line for line in lines}
    edges = [(p.name, name) for name, local in tables.items() for p in local.parents]
    return Network(Dag(edges, nodes=list(tables)), tables, record=_record(mixture))


def _record(mixture: Mixture) -> Record | None:
    """The record with the form of the covariances, which lines do not show."""
    part = mixture.gaussians
    if part is None:
        return mixture.record
    record = Record("made of a mixture") if mixture.record is None else mixture.record
    return replace(record, details={**record.details, _FORM: part.form})


def from_network(network: Network, name: str | None = None) -> Mixture:
    """A network in which every variable has the class `name` as a parent, as a mixture.

    Besides the class, tables may have no parent, and lines only other lines.
    """
    from credo.model.mixtures.mixture import Mixture

    if not isinstance(getattr(network, "dag", None), Dag):
        raise InputError(
            f"A mixture is made from a network, got {shown(network)}.",
            hint="Read a file with cr.load.",
        )
    roots = [n for n in network.names if not network.dag.parents(n)]
    if name is None:
        if len(roots) != 1:
            raise InputError(
                f"The network has {len(roots)} roots, so the class must be named: from_network"
                f"(net, {roots[0]!r})."
            )
        name = roots[0]
    if name not in network.names:
        raise unknown_name("Variable", name, network.names, "in the network")
    own = network.cpt(name)
    if not isinstance(own, Cpt) or own.parents:
        raise InputError(f"The class {name!r} must be discrete and without parents.")
    parts: list[Part] = []
    lines: list[LinearGaussian] = []
    for other in network.dag.order:
        if other == name:
            continue
        local = network.cpt(other)
        if name not in network.dag.parents(other):
            raise InputError(f"{other!r} does not depend on {name!r}, so this is no mixture.")
        if isinstance(local, LinearGaussian):
            if len(local.discrete) != 1:
                raise InputError(f"{other!r} has another discrete parent than {name!r}.")
            lines.append(local)
        elif len(local.parents) != 1:
            raise InputError(
                f"{other!r} has another parent than {name!r}; within a class the columns of a "
                "mixture are independent."
            )
        else:
            parts.append(Tables(local.child, local.values))
    if lines:
        form = None if network.record is None else network.record.details.get(_FORM)
        parts.insert(0, _joined(lines, len(own.values), form))
    if not parts:
        raise InputError(f"Nothing depends on {name!r}, so this is no mixture.")
    return Mixture(own.values, tuple(parts), name, record=network.record)


def _joined(lines: list[LinearGaussian], k: int, form: object) -> Gaussians:
    """The Gaussians of a chain of lines, in the form that is recorded, or the one they show."""
    names = tuple(line.name for line in lines)
    d = len(names)
    means = np.zeros((k, d))
    slopes = np.zeros((k, d, d))
    left = np.stack([line.variance for line in lines], axis=1)
    for j, line in enumerate(lines):
        at = [names.index(p.name) for p in line.continuous]
        slopes[:, j, at] = line.coefficients
        means[:, j] = line.intercept + np.einsum("ci,ci->c", line.coefficients, means[:, at])
    round_ = bool((left == left[:, :1]).all())
    alike = bool((left == left[:1]).all() and (slopes == slopes[:1]).all())
    if not slopes.any() and form not in ("full", "tied"):
        if round_ and (form == "spherical" or (form is None and d > 1)):
            return Gaussians(names, means, left[:, 0], "spherical")
        return Gaussians(names, means, left, "diagonal")
    unit = np.linalg.inv(np.eye(d) - slopes)
    matrices = (unit * left[:, None, :]) @ unit.transpose(0, 2, 1)
    if alike and (form == "tied" or (form is None and k > 1)):
        return Gaussians(names, means, matrices[0], "tied")
    return Gaussians(names, means, matrices, "full")
