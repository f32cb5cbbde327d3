"""A network with a class, learned by the name of a method or over a given graph.

Each method says which families it needs; whoever has counted those can learn the model, however
many parts the rows came in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Schema
from credo.data import Table
from credo.model.graphs.dag import Dag
from credo.model.naive_bayes.features import Normal
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network
from credo.model.structures.structure_posterior import StructurePosterior
from credo.model.values.record import Record
from credo.stats.block import Block
from credo.stats.counts import Counts
from credo.train.averaging.averaging import average
from credo.train.naive_bayes.aode import Aode, aode, aode_families
from credo.train.naive_bayes.fit import Options, not_negative, train
from credo.train.naive_bayes.learn import tally_by_class
from credo.train.naive_bayes.plan import Plan
from credo.train.naive_bayes.tan import class_features, pair_families, tan

METHODS = ("tan", "aode", "naive-bayes", "average")


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
    if isinstance(method, str) and method == "average":
        return [(target, []), _whole(source, target)]
    families = _graph_families(_graph(method, source, target), source, target)
    return families if (target, []) in families else [(target, []), *families]


def class_network(
    method: Any, source: Any, target: str, *, smoothing: float = 1.0
) -> Network | Aode | StructurePosterior:
    """The model of a method, from anything that can tally its families.

    >>> import credo as cr
    >>> class_network("naive-bayes", cr.examples.play_tennis(), "PlayTennis").dag.edges[0]
    ('PlayTennis', 'Outlook')
    """
    if method == "aode":
        return aode(source, target, smoothing=smoothing)
    if isinstance(method, str) and method == "average":
        return _averaged(source, target, smoothing)
    l = not_negative(smoothing, "smoothing")  # noqa: E741  (the lecture's letter)
    dag = _graph(method, source, target)
    families = _graph_families(dag, source, target)
    tally = source.tally(families)
    found = {child: tally[child, parents] for child, parents in families}
    tables: dict[str, Any] = {
        child: _smoothed(counts, 0.0 if child == target else l)
        for child, counts in found.items()
        if isinstance(counts, Counts)
    }
    tables |= _gaussian_leaves(source, target, [n for n in found if n not in tables])
    how = f"tree-augmented naive Bayes with l = {smoothing}"
    record = Record(how, source.schema.source) if method == "tan" else None
    return Network(dag, tables, record=record)


def _whole(source: Any, target: str) -> tuple[str, list[str]]:
    """The class given all features: its counts are the rows themselves, as often as each comes."""
    discrete, continuous = class_features(source, target)
    if continuous:
        raise InputError(
            f"Graphs are averaged over states; {continuous[0]!r} is continuous.",
            hint="Use bins= to cut it into states.",
        )
    return target, list(discrete)


def _averaged(source: Any, target: str, ess: float) -> StructurePosterior:
    """All graphs over the class and the features, weighed by the rows with BDeu(ess)."""
    family = _whole(source, target)
    found = source.tally([family])[family]
    assert isinstance(found, Counts)
    cells = found.sparse()
    assert cells.configurations is not None
    codes = [np.ascontiguousarray(c) for c in cells.configurations.T]
    block = Block(Schema(found.variables, source=source.schema.source), tuple(codes), cells.values)
    return average(Table(block), "bdeu", ess=ess)


def _graph(method: Any, source: Any, target: str) -> Dag:
    """The graph that was given, the one with the best tree, or the star of naive Bayes."""
    if isinstance(method, str) and method == "tan":
        return tan(source, target)
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


def _smoothed(counts: Counts, l: float) -> Cpt:  # noqa: E741
    """A table of (n + l) / (N + l·J); a parent row that was never seen is uniform."""
    n = counts.dense().values.astype(np.float64) + l
    total = n.sum(axis=-1, keepdims=True)
    theta = np.where(total > 0, n / np.where(total > 0, total, 1.0), 1.0 / n.shape[-1])
    return Cpt(counts.variables[-1], counts.variables[:-1], theta, n if l > 0 else None)


def _gaussian_leaves(source: Any, target: str, names: list[str]) -> dict[str, LinearGaussian]:
    """Continuous features that hang from the class alone: a Gaussian for each class."""
    if not names:
        return {}
    plan = Plan(dict.fromkeys(names, "gaussian"))
    model = train(tally_by_class(source, target, plan), Options())
    empty = np.zeros((len(model.classes), 0))
    out = {}
    for f in model.features:
        assert isinstance(f, Normal)
        child, parents = source.schema[f.name], (source.schema[target],)
        out[f.name] = LinearGaussian(child, parents, f.mean, empty, f.variance)
    return out
