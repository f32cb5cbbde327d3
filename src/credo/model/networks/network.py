"""Network: a Bayesian network, a DAG and one distribution for each of its variables.

    P(x₁, …, x_n) = Π_i P(x_i | parents(x_i))

A frozen value; what can be asked of it is in `model/methods/network.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError, SchemaError, unknown_name
from credo.core.render import many, table_text
from credo.core.schema import Schema, Variable
from credo.model.answers.distribution import Distribution
from credo.model.graphs.dag import Dag
from credo.model.methods.network import NetworkMethods
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.softmax import Softmax
from credo.model.values.record import Record

if TYPE_CHECKING:
    from credo.model.graphs.dag import Dag
    from credo.model.undirected.factor_graph import FactorGraph
    from credo.model.undirected.markov_network import MarkovNetwork

__all__ = ["Local", "Network", "network_distributions", "tables_by_name"]

Local = Cpt | LinearGaussian | Softmax


def network_distributions(
    dag: Dag, tables: Mapping[str, Any], states: Mapping[str, Sequence[Any]] | None
) -> dict[str, Local]:
    """The distribution of each node given its parents, by name."""
    _same_names(dag, tables)
    variables = _variables(dag, tables, {} if states is None else states)
    out: dict[str, Local] = {}
    for name in dag.nodes:
        parents = tuple(variables[p] for p in dag.parents(name))
        out[name] = _local(variables[name], parents, tables[name])
    return out


def tables_by_name(tables: Iterable[Local]) -> dict[str, Local]:
    """Distributions that know their names, as a mapping."""
    if not isinstance(tables, Iterable):
        raise InputError(f"The tables must be a mapping by name, or a list of Cpt, got {tables!r}.")
    out: dict[str, Local] = {}
    for table in tables:
        if not isinstance(table, Local):
            raise InputError(
                f"The tables must be a mapping by name, or a list of Cpt, got {table!r}."
            )
        if table.name in out:
            raise InputError(f"There are two distributions for {table.name!r}.")
        out[table.name] = table
    return out


def _same_names(dag: Dag, tables: Mapping[str, Any]) -> None:
    for name in dag.nodes:
        if name not in tables:
            raise SchemaError(f"The variable {name!r} is in the graph but has no distribution.")
    for name in tables:
        if name not in dag:
            raise unknown_name("The distribution of", name, dag.nodes, "for a node of the graph")


def _variables(
    dag: Dag, tables: Mapping[str, Any], states: Mapping[str, Sequence[Any]]
) -> dict[str, Variable]:
    """A variable for each node: as its table says, else from `states`, else as its table shows."""
    if not isinstance(states, Mapping):
        raise InputError(f"states= is a mapping from variable to its states, got {states!r}.")
    for name, given in states.items():
        if name not in dag.nodes:
            raise unknown_name("The variable of states=", name, dag.nodes, "in the graph")
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            raise InputError(f"The states of {name!r} must be a list, got {given!r}.")
    found: dict[str, Variable] = {}
    for name in dag.nodes:
        given = tables[name]
        if isinstance(given, Local):
            if given.name != name:
                raise SchemaError(f"The distribution of {given.name!r} was given for {name!r}.")
            found[name] = given.child
        elif name in states:
            found[name] = Variable(name, "discrete", tuple(states[name]))
        else:
            depth = len(dag.parents(name))
            found[name] = Variable(name, "discrete", _shown(name, given, depth))
    for name in dag.nodes:
        given = tables[name]
        if isinstance(given, Local):
            for parent in given.parents:
                if parent.name in found and found[parent.name] != parent:
                    raise SchemaError(
                        f"The table of {name!r} and that of {parent.name!r} differ on the states "
                        f"of {parent.name!r}."
                    )
    return found


def _shown(name: str, given: Any, depth: int) -> tuple[Any, ...]:
    """The states that a table of nested dicts, rows or numbers shows."""
    if isinstance(given, Distribution):
        return given.variables[0].states
    row = given
    tuples = isinstance(given, Mapping) and any(isinstance(k, tuple) for k in given)
    for _ in range(1 if tuples and depth else depth):
        if not isinstance(row, Mapping):
            break
        if not row:
            raise InputError(f"The table of {name!r} is empty.")
        row = next(iter(row.values()))
    if isinstance(row, Mapping):
        if not row:
            raise InputError(f"The table of {name!r} is empty.")
        return tuple(row)
    if isinstance(row, (int, float)) and not isinstance(row, bool):
        return (False, True)
    if hasattr(given, "columns"):
        if name in given.columns and "p" in given.columns:
            return tuple(dict.fromkeys(given[name].to_list()))
        raise InputError(
            f"The states of {name!r} are needed.", hint=f"Give states={{{name!r}: […]}}."
        )
    try:
        shape = np.asarray(row, dtype=np.float64).shape
    except (TypeError, ValueError):
        shape = ()
    if not shape:
        raise InputError(f"The table of {name!r} cannot be read: {given!r}.")
    return tuple(range(shape[-1]))


def _local(child: Variable, parents: tuple[Variable, ...], given: Any) -> Local:
    if child.is_discrete and not isinstance(given, Softmax):
        for parent in parents:
            if not parent.is_discrete:
                raise SchemaError(
                    f"The discrete variable {child.name!r} cannot have the continuous parent "
                    f"{parent.name!r} in a table.",
                    hint="Give it a Softmax, turn the edge round, or make the parent discrete.",
                )
        return Cpt.of(child, parents, given)
    if not isinstance(given, LinearGaussian | Softmax):
        raise InputError(f"The continuous variable {child.name!r} needs a LinearGaussian.")
    if set(given.parents) != set(parents):
        what = "line" if isinstance(given, LinearGaussian) else "softmax"
        raise SchemaError(
            f"The {what} of {child.name!r} is for the parents {[p.name for p in given.parents]}, "
            f"the graph says {[p.name for p in parents]}."
        )
    return given


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
            if d.child.scale is not None:
                kind = f"continuous: {d.child.scale.words}"
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
