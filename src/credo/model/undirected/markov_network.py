"""MarkovNetwork: an undirected graph and potentials on its cliques, a Markov random field.

    P(x) = (1/Z) Π_c φ_c(x_c),      log-linear: P(x) = (1/Z) exp Σ_k w_k f_k(x)

Variables that no path joins around the observed ones are independent given them
(Hammersley & Clifford 1971; Koller & Friedman 2009, chapter 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import log, sqrt
from typing import TYPE_CHECKING, Any

from credo.core.errors import InputError, SchemaError
from credo.core.render import many
from credo.core.schema import Variable
from credo.model.graphs.undirected import UndirectedGraph
from credo.model.undirected.factor_model import FactorModel
from credo.model.undirected.potentials import Potential, feature_potentials, resolved
from credo.model.values.record import Record

if TYPE_CHECKING:
    from credo.model.undirected.factor_graph import FactorGraph


class MarkovNetwork(FactorModel):
    """A Markov network: potentials over sets of variables, whose product is the distribution.

    `potentials` maps a name or a tuple of names to a table (an array with an axis for each name,
    nested dicts by state, a dict by tuples of states, a data frame, a function of the states), or
    is a list of `Factor` and `Feature`. `states` gives the states of variables whose tables do
    not name them. `graph`, edges or an `UndirectedGraph`, may join more than the potentials do.

    >>> agree = {"no": {"no": 30, "yes": 5}, "yes": {"no": 1, "yes": 10}}
    >>> net = MarkovNetwork({("Ann", "Bob"): agree, ("Bob", "Cat"): agree})
    >>> print(net)
    MarkovNetwork(3 variables, 2 edges, 2 potentials)
    Ann (2), Bob (2), Cat (2)
    potential  variables  size
    φ          Ann, Bob   2×2
    φ          Bob, Cat   2×2
    >>> print(net.p("Ann", given={"Cat": "yes"}))
    Ann        p
    no   0.65574  █████████████▏
    yes  0.34426  ██████▉
    >>> net.separated("Ann", "Cat", given="Bob")
    True
    >>> round(net.log_partition, 6)
    7.130899
    """

    __slots__ = ()

    def __init__(
        self,
        potentials: Mapping[Any, Any] | Iterable[Potential],
        *,
        graph: UndirectedGraph | Iterable[tuple[str, str]] | None = None,
        states: Mapping[str, Sequence[Any]] | Sequence[Variable] | None = None,
        record: Record | None = None,
    ) -> None:
        variables, found = resolved(potentials, states)
        self._join(variables, found, graph, record)

    def _join(
        self,
        variables: tuple[Variable, ...],
        potentials: tuple[Potential, ...],
        graph: UndirectedGraph | Iterable[tuple[str, str]] | None,
        record: Record | None,
    ) -> None:
        if graph is None:
            self._set(variables, potentials, record)
            return
        if not isinstance(graph, UndirectedGraph):
            graph = UndirectedGraph(graph)
        names = {v.name: None for v in variables}
        for node in graph.nodes:
            if node not in names:
                raise InputError(
                    f"The states of {node!r} are needed.", hint=f"Give states={{{node!r}: […]}}."
                )
        graph = UndirectedGraph(graph.edges, nodes=names)
        edges = {frozenset(e) for e in graph.edges}
        for p in potentials:
            for a, b in combinations(p.names, 2):
                if frozenset((a, b)) not in edges:
                    raise SchemaError(
                        f"The potential of ({', '.join(p.names)}) joins {a!r} and {b!r}, "
                        "which the graph does not."
                    )
        self._set(variables, potentials, record, graph)

    @classmethod
    def log_linear(
        cls,
        features: Mapping[str, Mapping[Any, Any]],
        weights: Mapping[str, float] | None = None,
        *,
        states: Mapping[str, Sequence[Any]],
    ) -> MarkovNetwork:
        """P(x) ∝ exp Σ_k w_k f_k(x): for each weight, what it multiplies, by variables.

        All features under one name share its weight; a weight not given is 0.

        >>> spins = {"A": (-1, 1), "B": (-1, 1), "C": (-1, 1)}
        >>> product = lambda s, t: s * t
        >>> ising = MarkovNetwork.log_linear(
        ...     {"coupling": {("A", "B"): product, ("B", "C"): product}},
        ...     {"coupling": 0.5}, states=spins)
        >>> ising.weights
        {'coupling': 0.5}
        >>> round(ising.p(["A", "B"])[1, 1], 6)  # e^½ / (4 cosh ½)
        0.365529
        """
        variables, found = feature_potentials(features, weights, states)
        out = object.__new__(cls)
        out._join(variables, found, None, None)
        return out

    @property
    def cliques(self) -> tuple[tuple[str, ...], ...]:
        """The maximal cliques of the graph.

        >>> MarkovNetwork({("A", "B"): [[1, 2], [2, 1]], ("B", "C"): [[1, 2], [2, 1]]}).cliques
        (('A', 'B'), ('B', 'C'))
        """
        return self.graph.cliques

    def potential(self, *names: str) -> Any:
        """The product of the potentials over these variables, as a factor with axes in this order.

        >>> net = MarkovNetwork({("A", "B"): [[1, 2], [3, 4]]})
        >>> net.potential("B", "A").values.tolist()
        [[1.0, 3.0], [2.0, 4.0]]
        """
        for name in names:
            self.variable(name)
        mine = [f for f in self.factors if set(f.names) == set(names)]
        if not mine:
            scopes = "; ".join(dict.fromkeys(", ".join(f.names) for f in self.factors[:12]))
            raise InputError(
                f"There is no potential over ({', '.join(names)}).", hint=f"There is {scopes}."
            )
        out = mine[0]
        for f in mine[1:]:
            out = out * f
        return out.on(names)

    # --- changing shape -------------------------------------------------------------------

    def to_factor_graph(self) -> FactorGraph:
        """The same distribution as a factor graph, a factor for each potential.

        >>> net = MarkovNetwork({("A", "B"): [[1, 2], [2, 1]], ("B", "C"): [[1, 2], [2, 1]]})
        >>> net.to_factor_graph()
        FactorGraph(3 variables, 2 factors)
        """
        from credo.model.undirected.factor_graph import FactorGraph

        return FactorGraph(self.potentials, states=self.variables, record=self.record)

    def to_markov_network(self) -> MarkovNetwork:
        """This network itself."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "graph": self.graph}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._join(state["variables"], state["potentials"], state["graph"], state["record"])

    def _key(self) -> Any:
        return *super()._key(), self.graph

    # --- pictures -------------------------------------------------------------------------

    def svg(self, *, observed: str | Sequence[str] = (), **options: Any) -> str:
        """The graph as SVG text; `observed` variables are shaded.

        >>> MarkovNetwork({("A", "B"): [[1, 2], [2, 1]]}).svg(observed="A").count("observed")
        1
        """
        return self.graph.svg(observed=observed, **options)

    def dot(self, *, observed: str | Sequence[str] = ()) -> str:
        """The graph in the DOT language."""
        return self.graph.dot(observed=observed)

    def __repr__(self) -> str:
        return (
            f"MarkovNetwork({many(len(self.names), 'variable')}, "
            f"{many(len(self.graph.edges), 'edge')}, {many(len(self.potentials), 'potential')})"
        )

    def _repr_html_(self) -> str:
        return self.svg()


# --- The Ising grid: spins on a square lattice that like to agree with their neighbours ---
#
#     P(s) ∝ exp( J Σ_{i~j} s_i s_j + h Σ_i s_i ),      s_i ∈ {−1, 1}
#
# In the infinite grid without field, spins far apart begin to agree at the critical coupling
# J = ln(1 + √2) / 2 ≈ 0.4407 (Onsager 1944).


CRITICAL = log(1 + sqrt(2)) / 2


def ising_grid(
    rows: int,
    columns: int | None = None,
    *,
    coupling: float = CRITICAL,
    field: float = 0.0,
    periodic: bool = False,
) -> MarkovNetwork:
    """A grid of spins r1c1, r1c2, …, with one weight for all pairs and one for all spins.

    `periodic` also joins the last row and column to the first.

    >>> grid = ising_grid(2, 3, coupling=0.4)
    >>> grid
    MarkovNetwork(6 variables, 7 edges, 13 potentials)
    >>> grid.weights
    {'coupling': 0.4, 'field': 0.0}
    >>> round(grid.p("r1c1")[1], 6)
    0.5
    >>> round(grid.p("r1c1", given={"r1c2": 1})[1], 6)
    0.715679
    """
    columns = rows if columns is None else columns
    for n, what in ((rows, "rows"), (columns, "columns")):
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise InputError(f"The number of {what} must be a whole number above 0, got {n!r}.")
    names = [[f"r{i + 1}c{j + 1}" for j in range(columns)] for i in range(rows)]
    pairs: dict[tuple[str, str], None] = {}
    for i in range(rows):
        for j in range(columns):
            if j + 1 < columns or (periodic and columns > 2):
                pairs[names[i][j], names[i][(j + 1) % columns]] = None
            if i + 1 < rows or (periodic and rows > 2):
                pairs[names[i][j], names[(i + 1) % rows][j]] = None
    spins = [n for row in names for n in row]
    return MarkovNetwork.log_linear(
        {
            "coupling": dict.fromkeys(pairs, lambda s, t: s * t),
            "field": dict.fromkeys(spins, lambda s: s),
        },
        {"coupling": coupling, "field": field} if pairs else {"field": field},
        states=dict.fromkeys(spins, (-1, 1)),
    )
