"""StructurePosterior: all graphs that rows speak for, each as probable as they make it.

    P(f | rows) = Σ_G f(G) P(G | rows)

Where there are few graphs they are all here with their weights; else graphs that were drawn, and
edges (and where sums over all graphs were done, paths and parents) from more than these. Every
graph is a row of numbers of families, so that graphs share the distributions of their families.
A frozen value; what can be asked of it is in `model/methods/structure_posterior.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.frozen import Frozen
from credo.core.render import Shown, View, many
from credo.core.schema import Schema, Variable
from credo.model.graphs.dag import Dag
from credo.model.graphs.equivalence import Cpdag
from credo.model.methods.structure_posterior import StructureMethods
from credo.model.networks.network import Local, Network
from credo.model.structures.edges import Chance, EdgeProbabilities, ParentSets
from credo.model.values.randomness import Rng, generator, size
from credo.model.values.reals import shown
from credo.model.values.record import Record

__all__ = ["StructurePosterior", "consensus_edges"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

_BATCHES = 16  # of each chain, from which the error of a mean over its graphs is found


@dataclass(frozen=True, eq=False)
class StructurePosterior(StructureMethods, Shown, Frozen):
    """A distribution over graphs, from `cr.average`.

    >>> import credo as cr
    >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
    >>> round(post.edge("Pneu", "Cou"), 3), round(post.adjacent("Pneu", "Cou"), 3)
    (0.334, 0.669)
    >>> round(post.probability(lambda dag: len(dag.edges) == 0), 3)
    0.331
    >>> {str(dag): round(p, 3) for dag, p in post.graphs}
    {'[Pneu|Cou][Cou]': 0.334, '[Pneu][Cou|Pneu]': 0.334, '[Pneu][Cou]': 0.331}
    """

    variables: tuple[Variable, ...]
    families: tuple[Local, ...]
    """The distributions that graphs are made of."""
    members: Ints
    """[graphs, variables]: the number of each variable's family."""
    weights: Floats
    """The share of each graph."""
    log_weights: Floats
    """ln of score and prior of each graph."""
    draws: Ints
    """[chains, kept]: the graphs in the order in which they were drawn; empty if all are here."""
    edge_p: Floats
    edge_error: Floats
    path_p: Floats | None
    parent_sets: Mapping[str, Any]
    record: Record

    # --- what it is -----------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(v.name for v in self.variables)

    @cached_property
    def schema(self) -> Schema:
        """The variables as the schema of a table."""
        return Schema(self.variables)

    @property
    def complete(self) -> bool:
        """Whether every graph is here with its weight."""
        return self.draws.size == 0

    @cached_property
    def adjacency(self) -> NDArray[np.bool_]:
        """[graphs, parent, child]"""
        at = {n: i for i, n in enumerate(self.names)}
        of = np.zeros((len(self.families), len(at)), dtype=bool)
        for i, family in enumerate(self.families):
            of[i, [at[p.name] for p in family.parents]] = True
        return of[self.members].transpose(0, 2, 1)

    def _at(self, name: str) -> int:
        for i, known in enumerate(self.names):
            if known == name:
                return i
        raise unknown_name("Variable", name, self.names, "in the posterior")

    def dag(self, graph: int) -> Dag:
        """One of the graphs, by its number."""
        edges = [
            (p.name, self.families[f].child.name)
            for f in self.members[graph].tolist()
            for p in self.families[f].parents
        ]
        return Dag(edges, self.names)

    def network_of(self, graph: int) -> Network:
        """One of the graphs with its distributions, by its number."""
        locals_ = [self.families[f] for f in self.members[graph].tolist()]
        return Network.trusted(self.dag(graph), {d.child.name: d for d in locals_}, None)

    # --- features of graphs ---------------------------------------------------------------

    @property
    def edges(self) -> EdgeProbabilities:
        """The probability of every edge with its Monte Carlo error, the most probable first."""
        return EdgeProbabilities(self.names, self.edge_p, self.edge_error)

    def edge(self, parent: str, child: str) -> Chance:
        """P(parent → child).

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> print(post.edge("Pneu", "Cou"))
        0.334
        """
        a, b = self._pair(parent, child)
        return Chance(self.edge_p[a, b], self.edge_error[a, b])

    def touched(self, context: str) -> dict[str, Chance]:
        """The probability that an experiment touched each variable, the most probable first.

        `context` is a column of `contexts=` of `cr.average`.

        >>> import credo as cr
        >>> table = cr.examples.pneumonia().select(["Pneu", "Cou"])
        >>> {n: round(p, 2) for n, p in cr.average(table, contexts="Pneu").touched("Pneu").items()}
        {'Cou': 0.5}
        """
        known = self.record.details.get("contexts", ())
        if context not in known:
            raise unknown_name("The context", context, known, "among contexts=")
        others = [n for n in self.names if n not in known]
        found = {n: self.edge(context, n) for n in others}
        return dict(sorted(found.items(), key=lambda one: -one[1]))

    def adjacent(self, a: str, b: str) -> Chance:
        """The probability that an edge joins two variables, whichever way.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> print(post.adjacent("Pneu", "Cou"))
        0.669
        """
        i, j = self._pair(a, b)
        p = min(float(self.edge_p[i, j] + self.edge_p[j, i]), 1.0)
        error = float(np.hypot(self.edge_error[i, j], self.edge_error[j, i]))
        return Chance(p, error)

    def path(self, a: str, b: str) -> Chance:
        """The probability that a directed path leads from one variable to another.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> print(post.path("Pneu", "Cou"))
        0.334
        """
        i, j = self._pair(a, b)
        if self.path_p is not None:
            return Chance(self.path_p[i, j])
        return self._mean(self._reach[:, i, j])

    @cached_property
    def _reach(self) -> NDArray[np.bool_]:
        """[graphs, from, to]: whether a path leads there."""
        out = self.adjacency.astype(np.float32)
        for _ in range(max(len(self.names) - 1, 1).bit_length()):
            out = np.minimum(out + out @ out, 1.0)
        return out > 0

    def _pair(self, a: str, b: str) -> tuple[int, int]:
        i, j = self._at(a), self._at(b)
        if i == j:
            raise InputError(f"An edge joins two variables, got {a!r} twice.")
        return i, j

    def parents(self, name: str) -> ParentSets:
        """The sets of parents of a variable, with their probability.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> print(post.parents("Cou"))
        parents of Cou
        set       p
        none  0.666  ██████▋
        Pneu  0.334  ███▍
        """
        i = self._at(name)
        if name in self.parent_sets:
            found = self.parent_sets[name]
            sets, p = tuple(s for s, _ in found), tuple(p for _, p in found)
            return ParentSets(name, sets, p, (0.0,) * len(p))
        return self._sets(name, self.adjacency[:, :, i], "parents")

    def blanket(self, name: str) -> ParentSets:
        """The Markov blankets of a variable (parents, children, their parents), each with its p.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> round(post.blanket("Cou")["Pneu"], 3)
        0.669
        """
        i = self._at(name)
        a = self.adjacency
        children = a[:, i, :]
        inside = a[:, :, i] | children | (a & children[:, None, :]).any(axis=2)
        inside[:, i] = False
        return self._sets(name, inside, "blanket")

    def _sets(self, name: str, inside: NDArray[np.bool_], what: str) -> ParentSets:
        rows, inverse = np.unique(inside, axis=0, return_inverse=True)
        inverse = np.asarray(inverse).ravel()
        found = [self._mean(inverse == k) for k in range(len(rows))]
        order = sorted(range(len(rows)), key=lambda k: (-found[k], rows[k].tolist()))
        sets = tuple(tuple(np.array(self.names)[rows[k]].tolist()) for k in order)
        p = tuple(float(found[k]) for k in order)
        return ParentSets(name, sets, p, tuple(found[k].error for k in order), what)

    def probability(self, feature: Callable[[Dag], Any]) -> Chance:
        """The probability (or mean) of any function of a graph.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> print(post.probability(lambda dag: dag.d_separated("Pneu", "Cou")))
        0.331
        """
        values = [feature(self.dag(g)) for g in range(len(self.members))]
        try:
            found = np.array([float(v) for v in values])
        except (TypeError, ValueError):
            bad = next(v for v in values if not isinstance(v, (bool, int, float, np.generic)))
            raise InputError(
                f"A feature of a graph must be True, False or a number, got {shown(bad)}."
            ) from None
        return self._mean(found)

    def _mean(self, values: NDArray[Any]) -> Chance:
        """The mean over graphs, with its error by means of batches of the draws."""
        values = np.asarray(values, dtype=np.float64)
        p = float(self.weights @ values)
        if self.complete:
            return Chance(p)
        walked = values[self.draws]
        chains, kept = walked.shape
        each = kept // _BATCHES
        spread = float(((walked - p) ** 2).mean())
        floor = np.sqrt(max(spread, 0.5 / walked.size) / walked.size)
        if each == 0:
            return Chance(p, floor)
        means = walked[:, : each * _BATCHES].reshape(chains * _BATCHES, each).mean(axis=1)
        error = float(np.sqrt(((means - p) ** 2).sum() / (means.size - 1) / means.size))
        return Chance(p, max(error, floor))

    # --- graphs ---------------------------------------------------------------------------

    @property
    def graphs(self) -> Iterator[tuple[Dag, float]]:
        """The different graphs and their weights, the heaviest first."""
        first, weights = self._different
        for g in np.argsort(-np.round(weights, 12), kind="stable").tolist():
            yield self.dag(int(first[g])), float(weights[g])

    @property
    def graph_count(self) -> int:
        """How many different graphs are here; after an intervention, there were before it.

        >>> import credo as cr
        >>> cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"])).graph_count
        3
        """
        return int(self.record.details.get("distinct", len(self.weights)))

    @cached_property
    def _different(self) -> tuple[NDArray[np.intp], Floats]:
        """Where each different graph is first, and its weight."""
        bits = np.packbits(self.adjacency.reshape(len(self.members), -1), axis=1)
        _, first, inverse = np.unique(bits, axis=0, return_index=True, return_inverse=True)
        weights = np.bincount(np.asarray(inverse).ravel(), self.weights, len(first)).astype(
            np.float64
        )
        order = np.argsort(first)
        return first[order], weights[order]

    def sample(self, n: int, rng: Rng) -> list[Dag]:
        """Graphs drawn by their weights.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> [str(g) for g in post.sample(2, rng=0)]
        ['[Pneu|Cou][Cou]', '[Pneu][Cou]']
        """
        chance = generator(rng)
        at = chance.choice(len(self.weights), size=size(n), p=self.weights)
        return [self.dag(g) for g in at.tolist()]

    @property
    def best(self) -> Network:
        """The graph with the highest weight of those here, with its distributions."""
        return self._with_tables(self.dag(int(np.argmax(np.round(self.log_weights, 9)))))

    def consensus(self, threshold: float = 0.5) -> Dag:
        """The pairs that are joined at least that probably, strongest first, the likelier way.

        An edge that would close a cycle is left out.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> print(post.consensus(0.4))
        [Pneu][Cou|Pneu]
        """
        edges = consensus_edges(self.names, self.edge_p, _threshold(threshold, 0.0))
        return Dag(edges, self.names)

    def cpdag(self, threshold: float = 0.5) -> Cpdag:
        """The class of the consensus: arrows where every graph of the class has them.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> print(post.cpdag(0.4))
        Pneu — Cou
        """
        return self.consensus(threshold).cpdag()

    def network(self, threshold: float = 0.5) -> Network:
        """The consensus with its distributions, for thresholds of 0.5 and more.

        >>> import credo as cr
        >>> cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"])).network()
        Network(2 variables, 1 edge, 3 parameters)
        """
        return self._with_tables(self.consensus(_threshold(threshold, 0.5)))

    def _with_tables(self, dag: Dag) -> Network:
        """A graph with its distributions, of all completions where cells were drawn with graphs."""
        known = {(f.child.name, frozenset(p.name for p in f.parents)): f for f in self.families}
        locals_ = {n: known[n, frozenset(dag.parents(n))] for n in self.names}
        return Network.trusted(dag, locals_, None)

    # --- how it looks ---------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"StructurePosterior({many(len(self.variables), 'variable')}, "
            f"{many(self.graph_count, 'graph')}, prior {self.record.details.get('prior')})"
        )

    @property
    def _title(self) -> str:
        details = self.record.details
        graphs = f"{many(self.graph_count, 'graph')} over {many(len(self.names), 'variable')}"
        if self.complete:
            how = "every one weighed"
        elif details.get("method") == "exact":
            how = "drawn; edges summed over all graphs"
        else:
            how = f"drawn by {details.get('chains')} chains"
        return f"{graphs}, {how} · prior {details.get('prior')}"

    def _view(self) -> View:
        told = [] if self.complete else [n for n in self.record.notes if "settled" in n]
        edges = EdgeProbabilities(self.names, self.edge_p, self.edge_error, self._title)
        found = edges._view()
        return found._replace(note="\n".join(filter(None, [found.note, *told])))


def _threshold(given: Any, least: float) -> float:
    number = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
    if not number or not least <= given <= 1:
        raise InputError(
            f"The threshold must be a number between {least:g} and 1, got {shown(given)}.",
            hint="Below 0.5 use consensus(threshold) and cr.fit." if least else "",
        )
    return float(given)


def consensus_edges(names: tuple[str, ...], p: Floats, threshold: float) -> list[tuple[str, str]]:
    """The pairs joined at least that probably, strongest first, the likelier way, no cycle.

    >>> consensus_edges(("a", "b"), np.array([[0.0, 0.4], [0.3, 0.0]]), 0.5)
    [('a', 'b')]
    """
    n = len(names)
    pairs = [(float(p[i, j] + p[j, i]), i, j) for i in range(n) for j in range(i + 1, n)]
    pairs.sort(key=lambda t: (-round(t[0], 12), t[1], t[2]))
    above = np.eye(n, dtype=bool)  # [from, to]: whether a path leads there
    out = []
    for strength, i, j in pairs:
        if strength < threshold or strength <= 0:
            break
        a, b = (i, j) if p[i, j] >= p[j, i] - 1e-12 else (j, i)
        if above[b, a]:
            continue
        above |= np.outer(above[:, a], above[b, :])
        out.append((names[a], names[b]))
    return out
