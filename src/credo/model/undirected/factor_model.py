"""FactorModel: what Markov networks and factor graphs have in common, a product of factors.

    P(x) = (1/Z) Π_f φ_f(x_f),      Z = Σ_x Π_f φ_f(x_f)

A frozen value. Its methods are front doors, the same words as a Bayesian network's; the
algorithms live in `credo.predict`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from credo.core.errors import InputError, unknown_name
from credo.core.render import shortened, table_text
from credo.core.schema import Schema, Variable
from credo.model.graphs.undirected import UndirectedGraph
from credo.model.methods.undirected import FactorMethods
from credo.model.undirected.factor import Factor, discrete_variables
from credo.model.undirected.feature import Feature
from credo.model.undirected.potentials import Potential
from credo.model.values.record import Record

if TYPE_CHECKING:
    pass

_SHOWN = 40


class FactorModel(FactorMethods):
    """A product of factors over discrete variables, divided by its sum."""

    __slots__ = ("__dict__", "__weakref__", "graph", "potentials", "record", "variables")

    variables: tuple[Variable, ...]
    potentials: tuple[Potential, ...]
    graph: UndirectedGraph
    record: Record | None

    def _set(
        self,
        variables: tuple[Variable, ...],
        potentials: tuple[Potential, ...],
        record: Record | None,
        graph: UndirectedGraph | None = None,
    ) -> None:
        if not variables:
            raise InputError("A model needs at least one variable.")
        object.__setattr__(self, "variables", discrete_variables(variables))
        object.__setattr__(self, "potentials", potentials)
        object.__setattr__(self, "record", record)
        if graph is None:  # the variables of each factor are joined
            graph = joined([v.name for v in variables], potentials)
        object.__setattr__(self, "graph", graph)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("A model is a frozen value; build a new one instead.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("A model is a frozen value; build a new one instead.")

    # --- what it is -----------------------------------------------------------------------

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """The potentials as factors; a feature f with weight w is the factor exp(w f)."""
        return tuple(p.factor if isinstance(p, Feature) else p for p in self.potentials)

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weights of the log-linear features, by name."""
        return {p.name: p.weight for p in self.potentials if isinstance(p, Feature)}

    @cached_property
    def schema(self) -> Schema:
        """The variables as the schema of a table."""
        return Schema(self.variables)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(v.name for v in self.variables)

    @property
    def is_discrete(self) -> bool:
        """Whether every variable is discrete; here they always are."""
        return True

    def variable(self, name: str) -> Variable:
        """A variable by its name.

        >>> from credo.model.undirected.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.variable("A").states
        (0, 1)
        """
        if name not in self.schema:
            raise unknown_name("Variable", name, self.names, "in the model")
        return self.schema[name]

    def neighbours(self, name: str) -> tuple[str, ...]:
        """The variables joined to one; given these, no other matters: its Markov blanket.

        >>> from credo.model.undirected.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.neighbours("B")
        ('A', 'C')
        """
        self.variable(name)
        return self.graph.neighbours(name)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """The variables that shield one from all others: its neighbours.

        >>> from credo.model.undirected.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.markov_blanket("A")
        ('B',)
        """
        return self.neighbours(name)

    def separated(
        self, x: str | Sequence[str], y: str | Sequence[str], given: str | Sequence[str] = ()
    ) -> bool:
        """Whether the graph makes `x` and `y` independent given what is observed.

        >>> from credo.model.undirected.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.separated("A", "C"), net.separated("A", "C", given="B")
        (False, True)
        """
        return self.graph.separated(x, y, given)

    def why(
        self, x: str | Sequence[str], y: str | Sequence[str], given: str | Sequence[str] = ()
    ) -> Any:
        """Why `x` and `y` are separated by `given` or not: an open path, or what blocks each.

        >>> from credo.model.undirected.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> print(net.why("A", "C", given="B"))
        A ⊥ C | B: every path between them is blocked.
          A — B — C
            blocked at B: observed
        """
        return self.graph.why(x, y, given)

    # --- changing shape -------------------------------------------------------------------

    def with_record(self, record: Record | None) -> Self:
        """The same model with another record.

        >>> from credo.model.undirected.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.with_record(Record(how="typed by hand")).record.how
        'typed by hand'
        """
        out = object.__new__(type(self))
        out.__setstate__({**self.__getstate__(), "record": record})
        return out

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("variables", "potentials", "record")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(state["variables"], state["potentials"], state["record"])

    # --- equality and looks ---------------------------------------------------------------

    def _key(self) -> Any:
        return frozenset(self.variables), frozenset(frozenset(p.names) for p in self.potentials)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, FactorModel)
        if self._key() != other._key() or len(self.potentials) != len(other.potentials):
            return False
        left: dict[frozenset[str], list[Potential]] = {}
        for potential in other.potentials:
            left.setdefault(frozenset(potential.names), []).append(potential)
        for potential in self.potentials:
            mine = left[frozenset(potential.names)]
            if potential not in mine:
                return False
            mine.remove(potential)
        return True

    def __hash__(self) -> int:
        return hash(self._key())

    def _table(self) -> str:
        rows = []
        for p in self.potentials[:_SHOWN]:
            if isinstance(p, Feature):
                rows.append([p.name, ", ".join(p.names), f"weight {p.weight:.6g}"])
            else:
                shape = "×".join(map(str, p.shape)) or "1"
                rows.append([p.name or "φ", ", ".join(p.names), shape])
        text = table_text(["potential", "variables", "size"], rows)
        more = len(self.potentials) - len(rows)
        return text + (f"\n… {more:,} more" if more else "")

    def __str__(self) -> str:
        names = shortened([f"{v.name} ({v.arity})" for v in self.variables], most=12, wide=72)
        return f"{self!r}\n{names}\n{self._table()}"


def joined(names: Sequence[str], factors: Sequence[Potential]) -> UndirectedGraph:
    """The graph in which the variables of each factor are joined."""
    edges: dict[tuple[str, str], None] = {}
    for f in factors:
        scope = f.names
        for i, a in enumerate(scope):
            for b in scope[i + 1 :]:
                if (b, a) not in edges:
                    edges[a, b] = None
    return UndirectedGraph(edges, nodes=names)
