"""Hidden variables found: a common cause proposed for columns that hang together too closely.

A hidden parent, once left out, ties all its children to each other: a near-clique in the learned
graph is its footprint (Elidan, Lotner, Friedman & Koller 2000). For each such group a graph is
tried in which a new variable H is the parent of the group and the edges within it are gone; its
number of states is chosen by the score of the observed rows,

    S = ln P(rows | θ) − ½ ln N · (free parameters),

and it is kept only if S is higher than that of the graph given. Another graph without it may score
higher still. It stays a hypothesis: the rows cannot name it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.core.lazy import renamed_arguments
from credo.core.progress import track
from credo.core.render import table_html, table_text, text_html
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.values.randomness import Rng, generator
from credo.model.values.value import listed, whole
from credo.train.em.fit import em
from credo.train.parameters import parameters
from credo.train.parameters.sources import Opened

__all__ = ["HiddenFound", "Proposal", "find_hidden"]


@dataclass(frozen=True)
class Proposal:
    """One hidden variable that was tried: the columns it is the parent of, and its score."""

    group: tuple[str, ...]
    states: int
    score: float
    gain: float  # over the graph without it

    def _repr_html_(self) -> str:
        return text_html(self)


@dataclass(frozen=True, eq=False)
class HiddenFound:
    """What the search for hidden variables gave.

    `network` is the best network: with the hidden variable where that scores higher, else the one
    without. `proposals` are all that were tried, best first.
    """

    network: Network
    without: float
    proposals: tuple[Proposal, ...]

    @property
    def found(self) -> bool:
        """Whether a hidden variable is worth its parameters."""
        return bool(self.proposals) and self.proposals[0].gain > 0

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        head = ["parent of", "states", "score", "gain"]
        rows = [
            [", ".join(p.group), str(p.states), f"{p.score:.6g}", f"{p.gain:+.6g}"]
            for p in self.proposals[:12]
        ]
        return head, rows

    def __str__(self) -> str:
        head, rows = self._rows()
        if not rows:
            return "No group of columns hangs together closely enough to propose a hidden variable."
        best = self.proposals[0]
        told = (
            f"A hypothesis: a hidden variable with {best.states} states behind "
            f"{', '.join(best.group)} (the score rises by {best.gain:.6g} over that of the graph "
            "given; other graphs without it were not tried)."
            if self.found
            else "No hidden variable is worth its parameters: none scores above the graph given."
        )
        return f"{told}\n{table_text(head, rows, right=[1, 2, 3])}"

    def __repr__(self) -> str:
        return f"HiddenFound({len(self.proposals)} proposals, found={self.found})"

    def _repr_html_(self) -> str:
        head, rows = self._rows()
        return table_html(head, rows, right=[1, 2, 3], caption=repr(self))


@renamed_arguments(net="graph")
def find_hidden(
    graph: Network | Dag | str | Iterable[tuple[str, str]],
    source: Any,
    *,
    groups: Sequence[Sequence[str]] | None = None,
    states: Sequence[int] = (2, 3, 4),
    name: str = "H",
    most: int = 8,
    restarts: int = 5,
    rng: Rng = 0,
    threads: int | None = None,
) -> HiddenFound:
    """Try hidden variables behind groups of columns, and keep one if the score says so.

    The score is BIC of the observed rows, and it is compared with that of the graph given:
    give the best graph you know, such as one that `cr.learn` found.

    `groups` are lists of columns; by default the near-cliques of the graph, at most `most` of them.
    For each the number of states grows through `states` while the score does.

    >>> import credo as cr, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> h = rng.integers(0, 2, 800)
    >>> rows = {c: np.where(rng.random(800) < 0.85, h, 1 - h) for c in "abcd"}
    >>> found = cr.find_hidden("[a][b|a][c|a:b][d|a:b:c]", rows)
    >>> found.found, found.proposals[0].group, found.proposals[0].states
    (True, ('a', 'b', 'c', 'd'), 2)
    >>> print(found.network.dag)
    [H][a|H][b|H][c|H][d|H]
    """
    graph = parameters._graph(graph)
    table = Opened(source, {}, None, None).source
    chance = generator(rng)
    if name in graph.nodes:
        raise InputError(
            f"There is a variable {name!r} already; give the hidden one another name=."
        )
    if name in table.schema:
        raise InputError(
            f"The table has a column {name!r}, which cannot be the hidden variable's name too.",
            hint=f"Give another, such as name='{name}_hidden'.",
        )
    tried = [whole(k, 2, "states") for k in listed(states, "states=")]
    if not tried:
        raise InputError("states= needs at least one number of states to try.")
    base = em(graph, table, threads=threads)
    without = _bic(base)
    best, best_net = without, base
    proposals: list[Proposal] = []
    wanted = _groups(graph, groups, whole(most, 1, "most"))
    for group in track(wanted, "hidden variables", total=len(wanted)):
        candidate = _with_parent(graph, group, name)
        before = -np.inf
        for k in tried:
            made = em(
                candidate, table, hidden={name: k}, restarts=restarts,
                rng=int(chance.integers(1 << 31)), threads=threads,
            )  # fmt: skip
            score = _bic(made)
            proposals.append(Proposal(tuple(group), k, score, score - without))
            if score > best:
                best, best_net = score, made
            if score <= before:
                break
            before = score
    proposals.sort(key=lambda p: -p.score)
    return HiddenFound(best_net, without, tuple(proposals))


def _bic(net: Network) -> float:
    record = net.record
    assert record is not None and record.score is not None
    return float(record.score - 0.5 * np.log(record.details["rows"]) * net.free_parameters)


def _with_parent(graph: Dag, group: Sequence[str], name: str) -> Dag:
    """The graph with a new root above a group, whose edges among themselves are gone."""
    members = set(group)
    edges = [(a, b) for a, b in graph.edges if not (a in members and b in members)]
    return Dag([*((name, m) for m in group), *edges], nodes=[name, *graph.nodes])


def _groups(graph: Dag, given: Any, most: int) -> list[tuple[str, ...]]:
    """The groups to try: those given, or the near-cliques of the skeleton, largest first."""
    if given is not None:
        out = []
        for some in listed(given, "groups="):
            columns = listed(some, "A group")
            for n in columns:
                if n not in graph.nodes:
                    raise unknown_name("Variable", n, graph.nodes, "in the graph")
            if len(set(columns)) < 2:
                raise InputError(f"A group needs two columns or more, got {list(columns)}.")
            out.append(tuple(dict.fromkeys(columns)))
        return out
    near: dict[str, set[str]] = {n: set() for n in graph.nodes}
    for a, b in graph.edges:
        near[a].add(b)
        near[b].add(a)
    found: dict[frozenset[str], tuple[str, ...]] = {}
    for a, b in graph.edges:
        for c in sorted(near[a] & near[b]):
            group = [a, b, c]
            # a node joins while it is tied to more than half of the group
            while True:
                ties = {n: len(near[n] & set(group)) for n in graph.nodes if n not in group}
                joins = [n for n, t in ties.items() if 2 * t > len(group)]
                if not joins:
                    break
                group.append(max(joins, key=lambda n: (ties[n], n)))
            if len(group) >= 3:
                members = tuple(n for n in graph.nodes if n in group)
                found.setdefault(frozenset(members), members)
    return sorted(found.values(), key=lambda g: (-len(g), g))[:most]
