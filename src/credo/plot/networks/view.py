"""What of a model is drawn: its nodes and edges, a part around one node, how strong edges are.

    I(X; Y) = Σ P(x, y) log₂ P(x, y) / (P(x) P(y))      in bits; −½ log₂(1 − ρ²) for two Gaussians,
                                                        integrals for mixtures of them

The part around a node is its Markov blanket (radius 1), the blankets of those (radius 2), …
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from credo.checking.questions.mixture_information import of_number, of_states
from credo.core.drawing.undirected import downwards
from credo.core.errors import CredoError, CredoWarning, InputError, LimitError, unknown_name
from credo.model.answers.mixed_joint import MixedJoint
from credo.model.distributions.gaussian import Gaussian
from credo.model.graphs.dag import Dag
from credo.model.graphs.reversible import reversible
from credo.model.graphs.undirected import UndirectedGraph
from credo.model.networks.network import Network
from credo.model.undirected.factor_graph import FactorGraph
from credo.model.undirected.factor_model import FactorModel
from credo.model.values.reals import shown

MAX_MEASURED = 400
"""The mutual information of at most this many edges is computed for a picture."""
MAX_MIXED = 200
"""With more Gaussians than this, those of a state are taken as one."""

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class View:
    """The nodes and edges of a picture; `hidden` counts the neighbours that are left out.

    `reversible` are the arrows of a learned graph that rows could not decide.
    """

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    arrows: bool
    squares: tuple[str, ...]
    hidden: Mapping[str, int]
    reversible: frozenset[Edge] = frozenset()


def view(model: Any, around: str | None = None, radius: int = 1) -> View:
    """The graph of a model, or the part of it around a node.

    >>> view(Dag.parse("[A][B|A][C|B][D|C]"), "B").nodes
    ('A', 'B', 'C')
    """
    nodes, edges, arrows, squares = _graph(model)
    loose = frozenset(reversible(model) if isinstance(model, Network) else ())
    if around is None:
        return View(nodes, edges, arrows, squares, {}, loose)
    if around not in nodes:
        raise unknown_name("Node", around, nodes, "in the model")
    if isinstance(radius, bool) or not isinstance(radius, int) or radius < 1:
        raise InputError(f"The radius must be a whole number from 1, got {shown(radius)}.")
    near = _near(nodes, edges, arrows)
    kept, rim = {around}, {around}
    for _ in range(radius if not squares else 2 * radius):
        rim = {w for v in rim for w in near[v]} - kept
        kept |= rim
    joined: dict[str, set[str]] = {v: set() for v in nodes}
    for a, b in edges:
        joined[a].add(b)
        joined[b].add(a)
    hidden = {v: len(joined[v] - kept) for v in nodes if v in kept and joined[v] - kept}
    return View(
        tuple(v for v in nodes if v in kept),
        tuple(e for e in edges if e[0] in kept and e[1] in kept),
        arrows,
        tuple(v for v in squares if v in kept),
        hidden,
        frozenset(e for e in loose if e[0] in kept and e[1] in kept),
    )


def _graph(model: Any) -> tuple[tuple[str, ...], tuple[Edge, ...], bool, tuple[str, ...]]:
    if isinstance(model, Network):
        model = model.dag
    if isinstance(model, Dag):
        return tuple(model.nodes), tuple(model.edges), True, ()
    if isinstance(model, FactorGraph):
        nodes = (*model.names, *model.factor_names)
        edges = [
            (name, v)
            for name, f in zip(model.factor_names, model.factors, strict=True)
            for v in f.names
        ]
        return nodes, tuple(downwards(nodes, edges)), False, tuple(model.factor_names)
    if isinstance(model, FactorModel):
        model = model.graph
    if isinstance(model, UndirectedGraph):
        return tuple(model.nodes), tuple(downwards(model.nodes, model.edges)), False, ()
    raise InputError(
        f"A network or a graph is needed, got {shown(model)}.",
        hint="Load one with cr.load, or make a cr.Dag.",
    )


def _near(nodes: tuple[str, ...], edges: tuple[Edge, ...], arrows: bool) -> dict[str, set[str]]:
    """The Markov blanket of each node: parents, children and their other parents; without
    arrows its neighbours."""
    near: dict[str, set[str]] = {v: set() for v in nodes}
    parents: dict[str, list[str]] = {v: [] for v in nodes}
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
        parents[b].append(a)
    if arrows:
        for mine in parents.values():
            for a in mine:
                near[a].update(p for p in mine if p != a)
    return near


def information(model: Any, edges: tuple[Edge, ...]) -> dict[Edge, float]:
    """The mutual information of the two ends of each edge, in bits, nothing being observed.

    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> round(information(net, net.dag.edges)["rain", "wet"], 4)
    0.2755
    """
    if not isinstance(model, (Network, FactorModel)) or isinstance(model, FactorGraph):
        raise InputError(
            "The strengths of edges as mutual information need a network with its tables.",
            hint="Give strengths={(parent, child): number} for a graph alone.",
        )
    if len(edges) > MAX_MEASURED:
        raise LimitError(
            f"The mutual information of {len(edges):,} edges is too much for a picture; "
            f"at most {MAX_MEASURED} are measured.",
            hint="Draw a part with around=, or give strengths={(parent, child): number}.",
        )
    out = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)
        for edge in edges:
            try:
                bits = _bits(model.p(list(edge)))
            except CredoError:
                continue  # a pair that has no answer
            out[edge] = bits
    return out


def _bits(joint: Any) -> float:
    p = getattr(joint, "p", None)
    if isinstance(p, np.ndarray) and p.ndim == 2:
        apart = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
        seen = p > 0
        return max(0.0, float((p[seen] * np.log2(p[seen] / apart[seen])).sum()))
    if isinstance(joint, MixedJoint):
        return of_states(_matched(joint))
    known = of_number(joint)
    if known is not None:
        return known
    (a, b), (_, c) = np.asarray(joint.covariance, dtype=float)  # of many Gaussians, as if of one
    rest = 1 - min(b * b / (a * c), 1 - 1e-12) if a > 0 and c > 0 else 1.0
    return -0.5 * math.log2(rest)


def _matched(joint: MixedJoint) -> MixedJoint:
    """The same; where there are many Gaussians one for each state, with its mean and variance."""
    if sum(len(getattr(g, "weights", ())) for g in joint.given) <= MAX_MIXED:
        return joint
    given = [
        None if g is None else Gaussian(float(g.mean), float(g.variance), joint.continuous[0])
        for g in joint.given
    ]
    return replace(joint, given=tuple(given))


def strokes(model: Any, seen: View, strengths: Any) -> tuple[list[float], dict[Edge, str]]:
    """The width of each edge, from 0.8 to 6 pixels in proportion to its strength, and what each
    edge says of itself. `strengths` is None, "information", a mapping, or bootstrap strengths."""
    if strengths is None:
        return [1.2] * len(seen.edges), {}
    unit = ""
    if isinstance(strengths, str):
        if strengths != "information":
            raise InputError(
                f"The strengths of edges must be 'information' or numbers, got {strengths!r}."
            )
        given: Mapping[Edge, float] = information(model, seen.edges)
        unit = " bits"
    else:
        given = getattr(strengths, "strength", strengths)
        if not isinstance(given, Mapping):
            raise InputError(
                f"The strengths of edges must be a mapping from edge to number, "
                f"got {shown(strengths)}."
            )
    sizes = {}
    for edge in seen.edges:
        value = given.get(edge, given.get((edge[1], edge[0])))
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            value = math.nan
        if not 0 <= float(value) < math.inf:
            raise InputError(
                f"The strength of {edge[0]} → {edge[1]} must be a number from 0, "
                f"got {shown(given.get(edge, given.get((edge[1], edge[0]))))}."
            )
        sizes[edge] = float(value)
    most = max(sizes.values(), default=0.0) or 1.0
    said = {(a, b): f"{a} → {b}: {size:.3g}{unit}" for (a, b), size in sizes.items()}
    return [0.8 + 5.2 * sizes[edge] / most if edge in sizes else 1.2 for edge in seen.edges], said
