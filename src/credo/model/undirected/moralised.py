"""Moralisation: a Bayesian network as a product of factors, one for each family.

    Π_i P(x_i | parents(x_i))   is a product of factors, with Z = 1

The parents of each variable are joined, for they are in one factor ("married"); what arrows said
of common effects, that their causes are independent till the effect is seen, the graph forgets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.core.errors import InputError
from credo.model.networks.cpt import Cpt
from credo.model.undirected.factor import Factor
from credo.model.undirected.factor_graph import FactorGraph
from credo.model.undirected.markov_network import MarkovNetwork

if TYPE_CHECKING:
    from credo.model.networks.network import Network


def _factors(net: Network) -> list[Factor]:
    out = []
    for name, local in net.distributions.items():
        if not isinstance(local, Cpt):
            raise InputError(
                f"Undirected models are for discrete variables; {name!r} is continuous.",
                hint="Cut it into intervals first.",
            )
        out.append(Factor(local.variables, local.values, local.title.replace(" ", "")))
    return out


def markov_network_of(net: Network) -> MarkovNetwork:
    """The Markov network of a discrete Bayesian network: its moral graph, its tables as factors."""
    return MarkovNetwork(_factors(net), states=net.variables, record=net.record)


def factor_graph_of(net: Network) -> FactorGraph:
    """The factor graph of a discrete Bayesian network: a factor for each table."""
    return FactorGraph(_factors(net), states=net.variables, record=net.record)
