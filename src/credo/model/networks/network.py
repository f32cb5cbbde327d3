"""Network: a Bayesian network, a DAG and one distribution for each of its variables.

    P(x₁, …, x_n) = Π_i P(x_i | parents(x_i))

A frozen value; what can be asked of it is in `model/methods/network.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from credo.core.errors import unknown_name
from credo.core.render import many, table_text
from credo.core.schema import Schema, Variable
from credo.model.graphs.dag import Dag
from credo.model.methods.network import NetworkMethods
from credo.model.networks.cpt import Cpt
from credo.model.networks.network_tables import Local, network_distributions, tables_by_name
from credo.model.values.record import Record

if TYPE_CHECKING:
    from credo.model.undirected.factor_graph import FactorGraph
    from credo.model.undirected.markov_network import MarkovNetwork

__all__ = ["Local", "Network"]


class Network(NetworkMethods):
    """A Bayesian network.

    `dag` is a `Dag`, a list of edges, or text like `"[A][B|A]"`. `tables` gives each variable's
    distribution by name: an array (parents' axes first, the child's last), nested dicts by the
    parents' states, a data frame, a `Cpt`, or a `LinearGaussian`. `states` gives the states of
    variables whose tables do not name them.

    >>> net = Network("[rain][wet|rain]", {
    ...     "rain": {"no": 0.8, "yes": 0.2},
    ...     "wet": {"no": {"no": 0.9, "yes": 0.1}, "yes": {"no": 0.2, "yes": 0.8}},
    ... })
    >>> net.cpt("wet").row({"rain": "yes"})["yes"]
    0.8
    >>> round(net.p("rain", given={"wet": "yes"})["yes"], 6)
    0.666667
    """

    __slots__ = ("__dict__", "__weakref__", "dag", "distributions", "record")

    dag: Dag
    distributions: Mapping[str, Local]
    record: Record | None

    def __init__(
        self,
        dag: Dag | str | Iterable[tuple[str, str]],
        tables: Mapping[str, Any] | Iterable[Local],
        *,
        states: Mapping[str, Sequence[Any]] | None = None,
        record: Record | None = None,
    ) -> None:
        if isinstance(dag, str):
            dag = Dag.parse(dag)
        if not isinstance(tables, Mapping):
            tables = tables_by_name(tables)
        if not isinstance(dag, Dag):
            dag = Dag(dag, nodes=list(tables))
        self._set(dag, network_distributions(dag, tables, states), record)

    @classmethod
    def trusted(cls, dag: Dag, distributions: dict[str, Local], record: Record | None) -> Network:
        """A network from parts that are known to fit, such as a learner's."""
        return _again(dag, distributions, record)

    def _set(self, dag: Dag, distributions: dict[str, Local], record: Record | None) -> None:
        object.__setattr__(self, "dag", dag)
        object.__setattr__(self, "distributions", MappingProxyType(distributions))
        object.__setattr__(self, "record", record)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("A network is a frozen value; build a new one instead.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("A network is a frozen value; build a new one instead.")

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.dag, dict(self.distributions), self.record)

    # --- what it is -----------------------------------------------------------------------

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the order of the DAG's nodes."""
        return tuple(d.child for d in self.distributions.values())

    @cached_property
    def schema(self) -> Schema:
        """The variables as the schema of a table."""
        return Schema(self.variables)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.dag.nodes

    @property
    def is_discrete(self) -> bool:
        """Whether every variable is discrete."""
        return all(v.is_discrete for v in self.variables)

    @property
    def free_parameters(self) -> int:
        """How many numbers the network could choose."""
        return sum(d.free_parameters for d in self.distributions.values())

    def variable(self, name: str) -> Variable:
        """A variable by its name.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.variable("wet").states
        (False, True)
        """
        return self._distribution(name).child

    def cpt(self, name: str) -> Local:
        """The distribution of one variable given its parents.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> print(net.cpt("wet"))
        P(wet | rain)
        rain   wet=False  wet=True
        False        0.9       0.1
        True         0.2       0.8
        """
        return self._distribution(name)

    def _distribution(self, name: str) -> Local:
        found = self.distributions.get(name) if isinstance(name, str) else None
        if found is None:
            raise unknown_name("Variable", name, self.names, "in the model")
        return found

    def with_record(self, record: Record | None) -> Network:
        """The same network with another record.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.with_record(Record(how="typed by hand")).record.how
        'typed by hand'
        """
        return _again(self.dag, dict(self.distributions), record)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return self.dag == other.dag and all(
            _aligned(self.distributions[n], other.distributions[n]) for n in self.names
        )

    def __hash__(self) -> int:
        return hash((self.dag, *(self.distributions[n].child for n in sorted(self.names))))

    # --- changing shape -------------------------------------------------------------------

    def to_markov_network(self) -> MarkovNetwork:
        """The same distribution without directions: the moral graph, a potential a family.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.to_markov_network()
        MarkovNetwork(2 variables, 1 edge, 2 potentials)
        """
        from credo.model.undirected.moralised import markov_network_of

        return markov_network_of(self)

    def to_factor_graph(self) -> FactorGraph:
        """The same distribution as a factor graph, a factor for each family.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.to_factor_graph().factor_names
        ('P(rain)', 'P(wet|rain)')
        """
        from credo.model.undirected.moralised import factor_graph_of

        return factor_graph_of(self)

    # --- how it looks ---------------------------------------------------------------------

    def __str__(self) -> str:
        rows = []
        for name in self.names[:40]:
            d = self.distributions[name]
            parents = ", ".join(p.name for p in d.parents)
            kind = f"{d.child.arity} states" if d.child.is_discrete else "continuous"
            rows.append([name, kind, parents, f"{d.free_parameters:,}"])
        text = table_text(["variable", "kind", "parents", "parameters"], rows, right=[3])
        more = len(self.names) - len(rows)
        return f"{self!r}\n{text}" + (f"\n… {more} more" if more else "")

    def __repr__(self) -> str:
        return (
            f"Network({many(len(self.names), 'variable')}, {many(len(self.dag.edges), 'edge')}, "
            f"{many(self.free_parameters, 'parameter')})"
        )

    def _repr_html_(self) -> str:
        return self.dag._repr_html_()


def _again(dag: Dag, distributions: dict[str, Local], record: Record | None) -> Network:
    """A network from parts that are known to fit."""
    out = Network.__new__(Network)
    out._set(dag, distributions, record)
    return out


def _aligned(a: Local, b: Local) -> bool:
    if isinstance(a, Cpt) and isinstance(b, Cpt) and set(a.parents) == set(b.parents):
        return a.child == b.child and a == b.on(a.child, a.parents)
    return a == b
