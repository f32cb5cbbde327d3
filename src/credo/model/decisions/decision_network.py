"""DecisionNetwork: an influence diagram, chance variables, decisions and what outcomes are worth.

    EU(δ) = Σ_x Π_i P(x_i | parents) Π_d δ(d | what is known) · Σ_j u_j(parents)

An arrow into a decision says what is known when it is taken. With full memory a later decision
knows what the earlier ones knew and what they chose (Howard & Matheson 1981); with limited memory
only what its arrows say (a LIMID; Lauritzen & Nilsson 2001).

A frozen value; what can be asked of it is in `model/methods/decisions.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from credo.core.drawing.dot import graph_dot
from credo.core.drawing.svg import graph_svg
from credo.core.errors import InputError, SchemaError, unknown_name
from credo.core.render import many, table_text
from credo.core.schema import Variable
from credo.model.decisions import notation
from credo.model.decisions.utility import Utility, utility_of
from credo.model.graphs.dag import Dag
from credo.model.methods.decisions import DecisionMethods
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network, tables_by_name
from credo.model.values.record import Record
from credo.model.values.tables import shown_states
from credo.model.values.value import choice, finite

__all__ = ["DecisionNetwork"]

Graph = Dag | str | Iterable[tuple[str, str]]


class DecisionNetwork(DecisionMethods):
    """Chance variables, decisions and utilities; an influence diagram.

    `graph` is text such as `"[Oil][Test|Oil][Drill?|Test][Profit$|Drill:Oil]"`, in which `?` marks
    a decision and `$` a utility, or a `Dag` or edges whose decisions and utilities are those named.
    `tables` has the distributions of the chance variables, as in `Network`, or is one; `decisions`
    the options of each decision (they may be left out where a table names them); `utilities` the
    numbers, by the states of the parents.

    `memory="full"`: a decision knows all that earlier ones knew; `"limited"`: what its arrows say.
    `combine="multiply"` multiplies the utilities instead of adding them. `costs` is what it costs
    to observe a variable, subtracted where a decision sees it.

    >>> d = DecisionNetwork(
    ...     "[Weather][Forecast|Weather][Umbrella?|Forecast][Comfort$|Weather:Umbrella]",
    ...     {"Weather": {"dry": 0.7, "rain": 0.3},
    ...      "Forecast": {"dry": {"sunny": 0.7, "cloudy": 0.2, "rainy": 0.1},
    ...                   "rain": {"sunny": 0.15, "cloudy": 0.25, "rainy": 0.6}}},
    ...     utilities={"Comfort": {"dry": {"take": 20, "leave": 100},
    ...                            "rain": {"take": 70, "leave": 0}}})
    >>> d
    DecisionNetwork(2 chance variables, 1 decision, 1 utility)
    >>> round(d.solve().utility, 6)
    77.0
    >>> d.solve().policy["Umbrella"]["rainy"]
    'take'
    """

    __slots__ = (
        "__weakref__", "chance", "combine", "costs", "dag", "information", "memory", "record",
        "utilities",
    )  # fmt: skip

    dag: Dag
    chance: Network
    """The chance variables, with each decision as a variable without parents."""
    information: Mapping[str, tuple[str, ...]]
    """What the arrows say is known at each decision, in the order in which they are taken."""
    utilities: Mapping[str, Utility]
    memory: str
    combine: str
    costs: Mapping[str, float]
    record: Record | None

    def __init__(
        self,
        graph: Graph,
        tables: Mapping[str, Any] | Iterable[Any] | Network = MappingProxyType({}),
        *,
        decisions: Mapping[str, Sequence[Any]] | Iterable[str] | None = None,
        utilities: Mapping[str, Any] | Iterable[Utility] | None = None,
        states: Mapping[str, Sequence[Any]] | None = None,
        memory: str = "full",
        combine: str = "add",
        costs: Mapping[str, float] | None = None,
        record: Record | None = None,
    ) -> None:
        worth = _by_name(utilities)
        given: Any = tables.distributions if isinstance(tables, Network) else tables
        tables = dict(given if isinstance(given, Mapping) else tables_by_name(given))
        options = _options(decisions)
        dag, marked, paid = _graph(graph, [*tables, *options, *worth])
        chosen = list(dict.fromkeys([*marked, *options]))
        paid = list(dict.fromkeys([*paid, *worth]))
        _check_names(dag, tables, chosen, paid, worth)
        known = {n: dag.parents(n) for n in _in_order(dag, chosen)}
        inner = [n for n in dag.nodes if n not in paid]
        for name in known:
            options[name] = options.get(name) or _seen(dag, name, tables, worth)
            tables[name] = np.full(len(options[name]), 1 / len(options[name]))
        edges = [(a, b) for a, b in dag.edges if b not in known and b not in paid]
        chance = Network(
            Dag(edges, nodes=inner), tables, states={**(states or {}), **options}, record=record
        )
        values = {
            n: utility_of(n, tuple(chance.variable(p) for p in dag.parents(n)), worth[n])
            for n in paid
        }
        self._set(dag, chance, known, values, memory, combine, costs or {})

    @classmethod
    def of_parts(
        cls,
        chance: Network,
        information: Mapping[str, Sequence[str]],
        utilities: Mapping[str, Utility],
        *,
        memory: str = "full",
        combine: str = "add",
        costs: Mapping[str, float] | None = None,
    ) -> DecisionNetwork:
        """A network from parts that are known to fit: `chance` has the decisions without parents.

        >>> import credo as cr
        >>> net = cr.Network("[A]", {"A": {"go": 0.5, "stay": 0.5}})
        >>> worth = Utility("U", net.variables, np.array([1.0, 3.0]))
        >>> DecisionNetwork.of_parts(net, {"A": ()}, {"U": worth}).solve().utility
        3.0
        """
        edges = [*chance.dag.edges, *((p, d) for d, seen in information.items() for p in seen)]
        edges += [(p.name, u.name) for u in utilities.values() for p in u.parents]
        dag = Dag(edges, nodes=[*chance.names, *utilities])
        known = {n: tuple(information[n]) for n in _in_order(dag, list(information))}
        out = cls.__new__(cls)
        out._set(dag, chance, known, dict(utilities), memory, combine, costs or {})
        return out

    def _set(
        self,
        dag: Dag,
        chance: Network,
        information: dict[str, tuple[str, ...]],
        utilities: dict[str, Utility],
        memory: str,
        combine: str,
        costs: Mapping[str, float],
    ) -> None:
        for name, seen in information.items():
            for other in seen:
                if not chance.variable(other).is_discrete:
                    raise SchemaError(
                        f"The decision {name!r} sees {other!r}, which is continuous: what to do "
                        "for each number is not worked out.",
                        hint=f"Cut it into intervals: cr.cut(rows[{other!r}]).",
                    )
        for name, cost in costs.items():
            if name not in chance.names or name in information:
                there = [n for n in chance.names if n not in information]
                raise unknown_name("The variable of costs=", name, there, "a chance variable")
            if finite(cost, f"The cost of observing {name!r}") < 0:
                raise InputError(f"The cost of observing {name!r} must be 0 or more, got {cost!r}.")
        parts = {
            "dag": dag, "chance": chance, "information": MappingProxyType(information),
            "utilities": MappingProxyType(utilities), "combine": combine, "memory": memory,
            "costs": MappingProxyType({n: float(c) for n, c in costs.items()}),
            "record": chance.record,
        }  # fmt: skip
        choice(memory, ("full", "limited"), "memory")
        choice(combine, ("add", "multiply"), "combine")
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("A decision network is a frozen value; build a new one instead.")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.chance, dict(self.information), dict(self.utilities))
        return _again, (*parts, self.memory, self.combine, dict(self.costs))

    # --- what it is -----------------------------------------------------------------------

    @property
    def decisions(self) -> tuple[str, ...]:
        """The decisions, in the order in which they are taken."""
        return tuple(self.information)

    @property
    def names(self) -> tuple[str, ...]:
        """The chance variables and decisions."""
        return self.chance.names

    def variable(self, name: str) -> Variable:
        """A chance variable or a decision by its name."""
        return self.chance.variable(name)

    def sees(self, decision: str) -> tuple[str, ...]:
        """What is known at a decision: its arrows, and with full memory what was known before.

        >>> d = DecisionNetwork("[A][D?|A][E?][U$|D:E:A]", {"A": 0.5},
        ...     decisions={"D": ["l", "r"], "E": ["l", "r"]}, utilities={"U": np.ones((2, 2, 2))})
        >>> d.sees("E")
        ('A', 'D')
        """
        if decision not in self.information:
            raise unknown_name("Decision", decision, self.decisions, "in the network")
        if self.memory == "limited":
            return self.information[decision]
        out: dict[str, None] = {}
        for name in self.decisions:
            out |= dict.fromkeys(self.information[name])
            if name == decision:
                break
            out[name] = None
        return tuple(out)

    def seeing(self, decision: str, names: Sequence[str]) -> DecisionNetwork:
        """The network in which more is known when a decision is taken."""
        more = dict(self.information)
        more[decision] = tuple(dict.fromkeys([*more[decision], *names]))
        return self.but(information=more)

    def but(self, **changes: Any) -> DecisionNetwork:
        """The same network with other parts: `memory`, `combine`, `costs`, `utilities`, …

        >>> d = DecisionNetwork("[D?][U$|D]", utilities={"U": {"go": 1, "stay": 0}})
        >>> d.but(memory="limited").memory
        'limited'
        """
        parts: dict[str, Any] = {
            "chance": self.chance, "information": self.information, "utilities": self.utilities,
            "memory": self.memory, "combine": self.combine, "costs": self.costs,
        }  # fmt: skip
        return type(self).of_parts(**(parts | changes))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DecisionNetwork):
            return NotImplemented
        return (
            self.chance == other.chance
            and dict(self.information) == dict(other.information)
            and set(self.utilities) == set(other.utilities)
            and all(
                set(u.parents) == set(other.utilities[n].parents)
                and u == other.utilities[n].on(u.parents)
                for n, u in self.utilities.items()
            )
            and (self.memory, self.combine) == (other.memory, other.combine)
            and dict(self.costs) == dict(other.costs)
        )

    def __hash__(self) -> int:
        return hash((self.chance, tuple(self.information.items()), tuple(sorted(self.utilities))))

    # --- how it looks ---------------------------------------------------------------------

    @property
    def notation(self) -> str:
        """The graph as text: `?` marks a decision, `$` a utility."""
        nodes = {n: self.dag.parents(n) for n in self.dag.nodes}
        return notation.written(nodes, set(self.information), set(self.utilities))

    def svg(self, *, title: str = "") -> str:
        """The graph as SVG text: decisions are rectangles, utilities diamonds.

        >>> d = DecisionNetwork("[D?][U$|D]", utilities={"U": {"go": 1, "stay": 0}})
        >>> d.svg().count('class="decision"'), d.svg().count('class="utility"')
        (1, 1)
        """
        return self._drawn(graph_svg, title)

    def dot(self, *, title: str = "") -> str:
        """The graph in the DOT language, for those who have graphviz.

        >>> d = DecisionNetwork("[D?][U$|D]", utilities={"U": {"go": 1, "stay": 0}})
        >>> print(d.dot())
        digraph {
          "D" [shape=box];
          "U" [shape=diamond];
          "D" -> "U";
        }
        """
        return self._drawn(graph_dot, title)

    def _drawn(self, draw: Callable[..., str], title: str) -> str:
        return draw(
            self.dag.nodes, self.dag.edges, title=title, decisions=self.decisions,
            utilities=tuple(self.utilities),
        )  # fmt: skip

    def __str__(self) -> str:
        rows = []
        for name in self.dag.nodes[:40]:
            parents = ", ".join(self.dag.parents(name))
            if name in self.utilities:
                rows.append([name, "utility", "", parents])
                continue
            v = self.variable(name)
            kind = "decision" if name in self.information else "chance"
            what = many(v.arity, "state") if v.is_discrete else "continuous"
            rows.append(
                [name, kind, what if kind == "chance" else many(v.arity, "option"), parents]
            )
        text = table_text(["node", "kind", "", "knows or depends on"], rows)
        more = len(self.dag.nodes) - len(rows)
        text += f"\n… {more} more" if more else ""
        told = [f"decided in the order {', '.join(self.decisions)}"] if self.decisions[1:] else []
        told += ["limited memory: a decision knows what its arrows say"] * (
            self.memory == "limited")  # fmt: skip
        told += ["the utilities are multiplied"] * (self.combine == "multiply")
        told += [f"observing {n} costs {c:g}" for n, c in self.costs.items()]
        return "\n".join([repr(self), text, *told])

    def __repr__(self) -> str:
        chance = len(self.chance.names) - len(self.information)
        worth = many(len(self.utilities), "utility").replace("utilitys", "utilities")
        return (
            f"DecisionNetwork({many(chance, 'chance variable')}, "
            f"{many(len(self.information), 'decision')}, {worth})"
        )

    def _repr_html_(self) -> str:
        return self.svg()


def _again(
    chance: Network, information: Any, utilities: Any, memory: str, combine: str, costs: Any
) -> DecisionNetwork:
    return DecisionNetwork.of_parts(
        chance, information, utilities, memory=memory, combine=combine, costs=costs
    )


def _by_name(utilities: Mapping[str, Any] | Iterable[Utility] | None) -> dict[str, Any]:
    if utilities is None or isinstance(utilities, Mapping):
        return dict(utilities or {})
    out = {}
    for u in utilities:
        if not isinstance(u, Utility):
            raise InputError(f"utilities= is a mapping from name to numbers, got {u!r}.")
        out[u.name] = u
    return out


def _options(decisions: Mapping[str, Sequence[Any]] | Iterable[str] | None) -> dict[str, Any]:
    """The options of each decision; empty where they are not given."""
    if isinstance(decisions, str) or not isinstance(decisions, (Mapping, Iterable, type(None))):
        raise InputError(f"decisions= is a mapping from decision to options, got {decisions!r}.")
    if not isinstance(decisions, Mapping):
        return dict.fromkeys(decisions or (), ())
    for name, given in decisions.items():
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            raise InputError(f"The options of {name!r} must be a list, got {given!r}.")
    return {name: tuple(given) for name, given in decisions.items()}


def _graph(graph: Graph, names: list[str]) -> tuple[Dag, list[str], list[str]]:
    """The graph, and the decisions and utilities that its text marks."""
    if isinstance(graph, str):
        nodes, edges, decisions, utilities = notation.read(graph)
        return Dag(edges, nodes=nodes), decisions, utilities
    dag = graph if isinstance(graph, Dag) else Dag(graph, nodes=list(dict.fromkeys(names)))
    return dag, [], []


def _check_names(
    dag: Dag,
    tables: Mapping[str, Any],
    decisions: Sequence[str],
    utilities: Sequence[str],
    worth: Mapping[str, Any],
) -> None:
    for name in (*decisions, *utilities):
        if name not in dag:
            raise unknown_name("The node", name, dag.nodes, "in the graph")
    for name in utilities:
        if name not in worth:
            raise SchemaError(
                f"The utility {name!r} has no numbers.",
                hint=f"Give utilities={{{name!r}: …}}, by the states of "
                f"{', '.join(dag.parents(name)) or 'nothing'}.",
            )
        if dag.children(name):
            raise SchemaError(
                f"The utility {name!r} cannot be a parent, and is one of {dag.children(name)[0]!r}."
            )
        if name in tables or name in decisions:
            raise SchemaError(f"{name!r} is a utility and something else at once.")
    for name in decisions:
        if name in tables:
            raise SchemaError(f"{name!r} is a decision and cannot have a table of probabilities.")
    if not decisions:
        raise InputError(
            "A decision network needs a decision.",
            hint="Mark it in the graph, as in '[Drill?|Test]', or name it: decisions={…}.",
        )
    if not utilities:
        raise InputError(
            "A decision network needs a utility.",
            hint="Mark it in the graph, as in '[Profit$|Drill]', and give utilities={…}.",
        )


def _in_order(dag: Dag, decisions: list[str]) -> list[str]:
    """The decisions, each after those it depends on, else as they are listed."""
    left, out = list(decisions), []
    while left:
        name = next(n for n in left if not set(dag.ancestors(n)).intersection(left))
        left.remove(name)
        out.append(name)
    return out


def _seen(dag: Dag, name: str, tables: Mapping[str, Any], worth: Mapping[str, Any]) -> Any:
    """The options of a decision that the tables of its children name."""
    for child in dag.children(name):
        given = worth.get(child, tables.get(child))
        if isinstance(given, Cpt | Utility):
            return next(p.states for p in given.parents if p.name == name)
        parents = dag.parents(child)
        found = shown_states(parents, given)[parents.index(name)] if given is not None else None
        if isinstance(found, tuple):
            return found
    raise InputError(
        f"The options of the decision {name!r} are needed.",
        hint=f"Give decisions={{{name!r}: ['yes', 'no']}}.",
    )
