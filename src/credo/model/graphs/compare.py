"""How far apart two graphs over the same nodes are.

    SHD = the number of pairs of nodes between which the two graphs differ

A pair differs when one graph joins it and the other does not, or when the arrow is another
one or is missing. Counted between the CPDAGs (Tsamardinos, Brown & Aliferis 2006; bnlearn's
`shd`), so that equivalent DAGs are at distance 0; between the DAGs themselves by option.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from credo.core.drawing.svg import graph_svg
from credo.core.errors import InputError
from credo.model.graphs.equivalence import cpdag, target_sets
from credo.model.graphs.refusals import arrow

if TYPE_CHECKING:
    from credo.model.graphs.dag import Dag
    from credo.model.graphs.relations import Relations
    from credo.model.networks.network import Network

__all__ = ["Comparison", "compare_graphs", "compared", "same_nodes", "sets_of", "shd"]

Edge = tuple[str, str]

_COLOURS = ("#222222", "#1f5fbf", "#c0392b", "#2e8b57")  # shared, reversed, missing, extra


@dataclass(frozen=True, slots=True)
class Comparison:
    """How another graph differs from this one, edge by edge.

    `shared`: in both. `reversed`: edges of this graph that point the other way in the other.
    `missing`: edges of this graph that the other does not have. `extra`: edges of the other
    graph that this one does not have. `shd`: the structural Hamming distance of their classes;
    `distance`: that of the graphs themselves, reversed, missing and extra edges counted alike.

    >>> from credo.model.graphs.dag import Dag
    >>> truth, learned = Dag.parse("[A][B|A][C|B][D]"), Dag.parse("[A|B][B][C|B][D|C]")
    >>> print(truth.compare(learned))
    SHD       1
    shared    1  B → C
    reversed  1  A → B
    missing   0
    extra     1  C → D
    >>> truth.compare(learned).svg().count("<svg")  # both graphs, edges coloured by their kind
    2
    """

    shared: tuple[Edge, ...]
    reversed: tuple[Edge, ...]
    missing: tuple[Edge, ...]
    extra: tuple[Edge, ...]
    nodes: tuple[str, ...] = ()
    shd: int = 0

    @property
    def distance(self) -> int:
        """The edges that are reversed, missing or extra."""
        return len(self.reversed) + len(self.missing) + len(self.extra)

    def svg(self) -> str:
        """Both graphs as SVG pictures in a line of HTML.

        Shared edges are black, reversed ones blue, missing ones red, extra ones green.
        """
        kinds = (self.shared, self.reversed, self.missing, self.extra)
        colour = {e: c for edges, c in zip(kinds, _COLOURS, strict=True) for e in edges}
        turned = tuple(e[::-1] for e in self.reversed)
        colour |= dict.fromkeys(turned, _COLOURS[1])
        mine = (*self.shared, *self.reversed, *self.missing)
        theirs = (*self.shared, *turned, *self.extra)
        one = graph_svg(self.nodes, mine, colours=colour, title="this graph")
        two = graph_svg(self.nodes, theirs, colours=colour, title="the other")
        return f'<div style="display:flex;gap:24px;align-items:flex-start">{one}{two}</div>'

    def _repr_html_(self) -> str:
        kinds = ("shared", "reversed", "missing", "extra")
        counts = (f"{len(getattr(self, kind)):,} {kind}" for kind in kinds)
        return f"<p>SHD {self.shd:,}: {', '.join(counts)}</p>{self.svg()}"

    def __str__(self) -> str:
        out = [f"SHD       {self.shd:,}"]
        for what in ("shared", "reversed", "missing", "extra"):
            edges: tuple[Edge, ...] = getattr(self, what)
            shown = ", ".join(arrow(e) for e in edges[:12])
            rest = f", … {len(edges) - 12:,} more" if len(edges) > 12 else ""
            out.append(f"{what:8}  {len(edges):,}  {shown}{rest}".rstrip())
        return "\n".join(out)


def same_nodes(dag: Relations, other: object) -> Relations:
    """The other graph, refused when it is none or has other nodes."""
    from credo.model.graphs.relations import Relations

    if not isinstance(other, Relations):
        raise InputError(f"A graph is compared with a graph, got {type(other).__name__}.")
    here = [n for n in dag.nodes if n not in other]
    there = [n for n in other.nodes if n not in dag]
    if here or there:
        which = [f"only the first has {', '.join(map(repr, here[:6]))}"] if here else []
        which += [f"only the second has {', '.join(map(repr, there[:6]))}"] if there else []
        raise InputError(f"The two graphs must have the same nodes; {' and '.join(which)}.")
    return other


def compare_graphs(
    one: Dag | Network | str, two: Dag | Network | str, interventions: Any = None
) -> Comparison:
    """How the second graph differs from the first; see `credo.compare`."""
    first, second = _graph(one), _graph(two)
    return compared(first, same_nodes(first, second), sets_of((one, two), interventions))


def sets_of(models: Iterable[Any], interventions: Any = None) -> list[Any]:
    """The sets that experiments set: as given, else those that networks were learned from.

    >>> sets_of([], [["A"]])
    [['A']]
    """
    if interventions is not None:
        return target_sets(interventions)
    records = [getattr(m, "record", None) for m in models]
    told = [s for r in records if r is not None for s in r.details.get("interventions", ())]
    return [list(s) for s in dict.fromkeys(map(tuple, told))]


def _graph(given: Any) -> Relations:
    """The graph of whatever has one."""
    from credo.model.graphs.dag import Dag
    from credo.model.graphs.relations import Relations
    from credo.model.networks.network import Network

    if isinstance(given, Network):
        return given.dag
    if isinstance(given, str):
        return Dag.parse(given)
    if not isinstance(given, Relations):
        raise InputError(
            f"Graphs are compared: a Dag, a Network or text, got {type(given).__name__}."
        )
    return given


def compared(dag: Relations, other: Relations, sets: Any = ()) -> Comparison:
    """The edges of both graphs, sorted into four kinds; SHD of the classes that experiments in
    which some sets were set leave.
    """
    mine, theirs = set(dag.edges), set(other.edges)
    turned = [(a, b) for a, b in dag.edges if (b, a) in theirs]
    return Comparison(
        tuple(e for e in dag.edges if e in theirs),
        tuple(turned),
        tuple(e for e in dag.edges if e not in theirs and e[::-1] not in theirs),
        tuple(e for e in other.edges if e not in mine and e[::-1] not in mine),
        dag.nodes,
        shd(dag, other, "cpdag", sets),
    )


def shd(dag: Relations, other: Relations, of: Literal["cpdag", "dag"], sets: Any = ()) -> int:
    """The structural Hamming distance; see `Dag.shd`."""
    if of == "cpdag":
        a, b = cpdag(dag, sets)._marks(), cpdag(other, sets)._marks()
    elif of == "dag":
        a, b = ({frozenset(e): e[1] for e in g.edges} for g in (dag, other))
    else:
        raise InputError(f"The distance must be of 'cpdag' or 'dag', got of={of!r}.")
    return sum(a.get(pair) != b.get(pair) for pair in a.keys() | b.keys())
