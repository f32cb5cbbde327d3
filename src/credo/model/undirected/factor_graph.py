"""FactorGraph: variables and named factors, joined where a factor depends on a variable.

    P(x) = (1/Z) Π_f f(x_f)

A Markov network says which variables hang together; a factor graph also says by which factors:
three pairwise factors and one factor of three are different factor graphs with the same Markov
network (Kschischang, Frey & Loeliger 2001).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from credo.core.drawing.dot import graph_dot
from credo.core.drawing.undirected import undirected_svg
from credo.core.errors import InputError, unknown_name
from credo.core.schema import Variable
from credo.model.undirected.factor import Factor
from credo.model.undirected.factor_model import FactorModel
from credo.model.undirected.feature import Feature
from credo.model.undirected.potentials import Potential, resolved
from credo.model.values.record import Record

if TYPE_CHECKING:
    from credo.model.undirected.markov_network import MarkovNetwork


class FactorGraph(FactorModel):
    """Variables and factors, each factor with a name of its own.

    `factors` is a list of `Factor` and `Feature`, or a mapping from variables to tables as for a
    `MarkovNetwork`. A factor without a name, or with one that is taken, gets f1, f2, ….

    >>> same = [[3, 1], [1, 3]]
    >>> graph = FactorGraph({("A", "B"): same, ("B", "C"): same, "A": [1, 4]})
    >>> print(graph)
    FactorGraph(3 variables, 3 factors)
    A (2), B (2), C (2)
    potential  variables  size
    f1         A, B       2×2
    f2         B, C       2×2
    f3         A          2
    >>> graph.factors_of("B")
    ('f1', 'f2')
    >>> print(graph.factor("f3"))
    f3(A)
    A=0  A=1
      1    4
    """

    __slots__ = ()

    def __init__(
        self,
        factors: Mapping[Any, Any] | Iterable[Potential],
        *,
        states: Mapping[str, Sequence[Any]] | Sequence[Variable] | None = None,
        record: Record | None = None,
    ) -> None:
        variables, found = resolved(factors, states)
        self._set(variables, _named(found, {v.name for v in variables}), record)

    @property
    def factor_names(self) -> tuple[str, ...]:
        """The names of the factors, in order."""
        return tuple(self._labels())

    def _labels(self) -> dict[str, Potential]:
        out: dict[str, Potential] = {}
        for p in self.potentials:
            label = p.name if not isinstance(p, Feature) else f"{p.name}({', '.join(p.names)})"
            while label in out:
                label += "′"
            out[label] = p
        return out

    def factor(self, name: str) -> Factor:
        """A factor by its name.

        >>> FactorGraph({("A", "B"): [[1, 2], [2, 1]]}).factor("f1")[0, 1]
        2.0
        """
        labels = self._labels()
        if name not in labels:
            raise unknown_name("Factor", name, list(labels), "in the graph")
        found = labels[name]
        return found.factor if isinstance(found, Feature) else found

    def factors_of(self, variable: str) -> tuple[str, ...]:
        """The names of the factors that depend on a variable.

        >>> FactorGraph({("A", "B"): [[1, 2], [2, 1]], "B": [1, 3]}).factors_of("B")
        ('f1', 'f2')
        """
        self.variable(variable)
        return tuple(n for n, p in self._labels().items() if variable in p.names)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The pairs (factor, variable) that are joined.

        >>> FactorGraph({("A", "B"): [[1, 2], [2, 1]]}).edges
        (('f1', 'A'), ('f1', 'B'))
        """
        return tuple((n, v) for n, p in self._labels().items() for v in p.names)

    # --- changing shape -------------------------------------------------------------------

    def to_markov_network(self) -> MarkovNetwork:
        """The same distribution as a Markov network, which joins the variables of each factor.

        >>> FactorGraph({("A", "B"): [[1, 2], [2, 1]]}).to_markov_network()
        MarkovNetwork(2 variables, 1 edge, 1 potential)
        """
        from credo.model.undirected.markov_network import MarkovNetwork

        return MarkovNetwork(self.potentials, states=self.variables, record=self.record)

    def to_factor_graph(self) -> FactorGraph:
        """This graph itself."""
        return self

    # --- pictures -------------------------------------------------------------------------

    def svg(self, *, observed: str | Sequence[str] = (), title: str = "") -> str:
        """Variables as round nodes, factors as dark squares; `observed` ones are shaded.

        >>> FactorGraph({("A", "B"): [[1, 2], [2, 1]]}).svg().count('class="factor"')
        1
        """
        nodes, edges, squares = self._picture()
        return undirected_svg(
            nodes, edges, observed=self._seen(observed), squares=squares, title=title
        )

    def dot(self, *, observed: str | Sequence[str] = ()) -> str:
        """The graph in the DOT language, factors as boxes."""
        nodes, edges, squares = self._picture()
        shaded = self._seen(observed)
        return graph_dot(nodes, edges, observed=shaded, directed=False, squares=squares)

    def _picture(self) -> tuple[list[str], list[tuple[str, str]], list[str]]:
        """Nodes, edges and which nodes are factors; a factor called as a variable is marked."""
        labels = {n: f"{n}′" if n in self.names else n for n in self._labels()}
        edges = [(labels[f], v) for f, v in self.edges]
        return [*self.names, *labels.values()], edges, list(labels.values())

    def _seen(self, observed: str | Sequence[str]) -> list[str]:
        wanted = [observed] if isinstance(observed, str) else list(observed)
        for name in wanted:
            self.variable(name)
        return wanted

    def __repr__(self) -> str:
        return f"FactorGraph({len(self.names):,} variables, {len(self.potentials):,} factors)"

    def _repr_html_(self) -> str:
        return self.svg()


def _named(potentials: Sequence[Potential], taken: set[str]) -> tuple[Potential, ...]:
    """Factors with names of their own; features keep theirs, which they may share."""
    if not potentials:
        raise InputError("A factor graph needs at least one factor.")
    used = set(taken) | {p.name for p in potentials if isinstance(p, Feature)}
    out: list[Potential] = []
    number = 0
    for p in potentials:
        if isinstance(p, Factor):
            name = p.name
            while not name or name in used:
                number += 1
                name = f"f{number}"
            used.add(name)
            p = p.named(name)
        out.append(p)
    return tuple(out)
