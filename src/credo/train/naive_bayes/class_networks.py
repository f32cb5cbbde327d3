"""A network with a class, learned by the name of a method or over a given graph.

Each method says which families it needs; whoever has counted those can learn the model, however
many parts the rows came in.
"""

from __future__ import annotations

from typing import Any

from credo.core.errors import InputError, unknown_name
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.stats.counts import Counts
from credo.train.naive_bayes.aode import Aode, aode, aode_families
from credo.train.naive_bayes.tan import (
    class_features,
    gaussian_leaves,
    pair_families,
    smoothed,
    tan_network,
)

__all__ = ["METHODS", "class_families", "class_network"]

METHODS = ("tan", "aode", "naive-bayes")


def class_families(method: Any, source: Any, target: str) -> list[Any]:
    """The families whose counts a method needs of a source; what it cannot learn is refused.

    >>> import credo as cr
    >>> class_families("naive-bayes", cr.examples.play_tennis(), "PlayTennis")[:2]
    [('PlayTennis', []), ('Outlook', ['PlayTennis'])]
    """
    if method == "aode":
        return aode_families(source, target)
    if method == "tan":
        return pair_families(source, target)
    families = _graph_families(_graph(method, source, target), source, target)
    return families if (target, []) in families else [(target, []), *families]


def class_network(
    method: Any, source: Any, target: str, *, smoothing: float = 1.0
) -> Network | Aode:
    """The model of a method, from anything that can tally its families.

    >>> import credo as cr
    >>> class_network("naive-bayes", cr.examples.play_tennis(), "PlayTennis").dag.edges[0]
    ('PlayTennis', 'Outlook')
    """
    if method == "aode":
        return aode(source, target, smoothing=smoothing)
    if method == "tan":
        return tan_network(source, target, smoothing=smoothing)
    dag = _graph(method, source, target)
    families = _graph_families(dag, source, target)
    tally = source.tally(families)
    tables: dict[str, Any] = {}
    for child, parents in families:
        counts = tally[child, parents]
        if isinstance(counts, Counts):
            tables[child] = smoothed(counts, 0.0 if child == target else smoothing)
        else:
            tables |= gaussian_leaves(source, target, [child])
    return Network(dag, tables)


def _graph(method: Any, source: Any, target: str) -> Dag:
    """The graph that was given, or the star of naive Bayes."""
    if isinstance(method, Dag):
        if target not in method:
            raise unknown_name("The class", target, method.nodes, "in the graph")
        return method
    discrete, continuous = class_features(source, target)
    names = [n for n in source.schema.names if n in {*discrete, *continuous}]
    return Dag([(target, n) for n in names], nodes=[target, *names])


def _graph_families(dag: Dag, source: Any, target: str) -> list[tuple[str, list[str]]]:
    families = [(n, list(dag.parents(n))) for n in dag.nodes]
    for child, parents in families:
        if not source.schema[child].is_discrete and parents != [target]:  # an unknown name is told
            raise InputError(
                f"The continuous feature {child!r} must have the class as its only parent.",
                hint="Use bins= to cut it into states.",
            )
    return families
