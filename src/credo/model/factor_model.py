"""FactorModel: what Markov networks and factor graphs have in common, a product of factors.

    P(x) = (1/Z) Π_f φ_f(x_f),      Z = Σ_x Π_f φ_f(x_f)

A frozen value. Its methods are front doors, the same words as a Bayesian network's; the
algorithms live in `credo.predict`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

from credo.errors import InputError, SchemaError, unknown_name
from credo.model.dag_undirected import UndirectedGraph
from credo.model.factor import Factor
from credo.model.feature import Feature
from credo.model.potentials import Potential
from credo.model.record import Record
from credo.render import shortened, table_text
from credo.schema import Schema, Variable

if TYPE_CHECKING:
    import os

    import numpy as np
    from numpy.typing import NDArray

    from credo.model.network import Network
    from credo.model.randomness import Rng
    from credo.predict.explanation import Explanation

__all__ = ["FactorModel"]

_SHOWN = 40


class FactorModel:
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
        for v in variables:
            if not v.is_discrete:
                raise SchemaError(
                    f"Undirected models are for discrete variables; {v.name!r} is continuous.",
                    hint="Cut it into intervals first.",
                )
        object.__setattr__(self, "variables", variables)
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

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.variable("A").states
        (0, 1)
        """
        if name not in self.schema:
            raise unknown_name("Variable", name, self.names, "in the model")
        return self.schema[name]

    def neighbours(self, name: str) -> tuple[str, ...]:
        """The variables joined to one; given these, no other matters: its Markov blanket.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.neighbours("B")
        ('A', 'C')
        """
        self.variable(name)
        return self.graph.neighbours(name)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """The variables that shield one from all others: its neighbours.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.markov_blanket("A")
        ('B',)
        """
        return self.neighbours(name)

    def separated(
        self, x: str | Sequence[str], y: str | Sequence[str], given: str | Sequence[str] = ()
    ) -> bool:
        """Whether the graph makes `x` and `y` independent given what is observed.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.separated("A", "C"), net.separated("A", "C", given="B")
        (False, True)
        """
        return self.graph.separated(x, y, given)

    def why(
        self, x: str | Sequence[str], y: str | Sequence[str], given: str | Sequence[str] = ()
    ) -> Any:
        """Why `x` and `y` are separated by `given` or not: an open path, or what blocks each.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> print(net.why("A", "C", given="B"))
        A ⊥ C | B: every path between them is blocked.
          A — B — C
            blocked at B: observed
        """
        return self.graph.why(x, y, given)

    # --- asking ---------------------------------------------------------------------------

    @property
    def _asked(self) -> Network:
        """This model as the questions see it: names, variables and an engine are all they need."""
        return cast("Network", self)

    @property
    def log_partition(self) -> float:
        """ln Z, the logarithm of the sum over all configurations.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> round(net.log_partition, 6)  # ln 30
        3.401197
        """
        from credo.predict.factor_engine import log_partition

        return log_partition(self)

    def p(
        self,
        target: str | Sequence[str],
        given: Mapping[str, Any] | None = None,
        *,
        interval: float | None = None,
        draws: int | None = None,
        method: str = "auto",
        budget: float | str | None = None,
        error: float | None = None,
        rng: Rng = 0,
    ) -> Any:
        """The distribution of one variable, or the joint of several, given evidence.

        Exact if that fits, else by Gibbs sampling with its error, which is said. `method` is
        "auto", "exact", "gibbs" or "loopy"; `budget` and `error` as in docs/approximate.md.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.p("A", given={"B": 1})
        Distribution(A: 0 0.166667, 1 0.833333)
        """
        from credo.predict.budget import effort
        from credo.predict.posterior import posterior

        _refuse_interval(interval, draws)
        how = effort(method, budget, error, rng)
        return posterior(self._asked, target, {} if given is None else given, how)

    def ask(
        self,
        question: str,
        *,
        explain: bool = False,
        interval: float | None = None,
        draws: int | None = None,
        method: str = "auto",
        budget: float | str | None = None,
        error: float | None = None,
        rng: Rng = 0,
    ) -> Any:
        """Answer a question in text, such as `"P(A | B=yes)"`; the options are those of `p`.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> round(net.ask("P(A=1 | C=1)"), 6)
        0.6875
        """
        from credo.predict.asking import ask
        from credo.predict.budget import effort

        _refuse_interval(interval, draws)
        how = effort(method, budget, error, rng)
        return ask(self._asked, question, explain=explain, effort=how)

    def marginals(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        interval: float | None = None,
        draws: int | None = None,
        method: str = "auto",
        budget: float | str | None = None,
        error: float | None = None,
        rng: Rng = 0,
    ) -> dict[str, Any]:
        """The distribution of every variable that is not observed, all at once.

        The options are those of `p`.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.marginals(given={"B": 1})["C"]
        Distribution(C: 0 0.333333, 1 0.666667)
        """
        from credo.predict.budget import effort
        from credo.predict.posterior import marginals

        _refuse_interval(interval, draws)
        how = effort(method, budget, error, rng)
        return marginals(self._asked, {} if given is None else given, how)

    def log_evidence(
        self,
        given: Mapping[str, Any],
        *,
        method: str = "auto",
        budget: float | str | None = None,
        error: float | None = None,
        rng: Rng = 0,
    ) -> float:
        """ln P(evidence); where exact is too much, Bethe's estimate by messages.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> round(net.log_evidence({"B": 1}), 6)  # ln 0.6
        -0.510826
        """
        from credo.predict.budget import effort
        from credo.predict.posterior import log_evidence

        return log_evidence(self._asked, given, effort(method, budget, error, rng))

    def mpe(self, given: Mapping[str, Any] | None = None) -> Explanation:
        """The most probable explanation: a state for every variable that is not observed.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> dict(net.mpe())
        {'A': 1, 'B': 1, 'C': 1}
        """
        from credo.predict.explanation import mpe

        return mpe(self._asked, {} if given is None else given)

    def map(self, targets: Sequence[str], given: Mapping[str, Any] | None = None) -> Explanation:
        """The most probable states of some variables together, the others summed out.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> dict(net.map(["C"], given={"A": 0}))
        {'C': 0}
        """
        from credo.predict.explanation import marginal_map

        return marginal_map(self._asked, targets, {} if given is None else given)

    def predict_proba(self, rows: Any, target: str, **options: Any) -> NDArray[np.float64]:
        """P(target | the other cells) for each row of a table, a column for each state.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.predict_proba({"B": [0, 1]}, "A").round(4).tolist()
        [[0.75, 0.25], [0.1667, 0.8333]]
        """
        from credo.predict.rows import predict_proba

        return predict_proba(self._asked, rows, target, **options)

    def log_likelihood(self, rows: Any, **options: Any) -> float:
        """ln P(rows), missing cells summed out.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> round(net.log_likelihood({"A": [1, None], "B": [1, 1]}), 6)  # ln ½ + ln 0.6
        -1.203973
        """
        from credo.predict.rows import log_likelihood

        return log_likelihood(self._asked, rows, **options)

    def sample(
        self, n: int, rng: Rng, given: Mapping[str, Any] | None = None, **options: Any
    ) -> Any:
        """Rows drawn from the model, all of it or given evidence, exactly; options as a network's.

        >>> import credo as cr
        >>> grid = cr.ising_grid(3, coupling=1.0)
        >>> rows = grid.sample(10_000, rng=0, given={"r1c1": 1})
        >>> round(float((rows["r3c3"] == 1).mean()), 1), round(grid.p("r3c3", {"r1c1": 1})[1], 3)
        (0.9, 0.944)
        """
        from credo.predict.sampling import sample

        return sample(self._asked, n, rng, given, **options)

    def do(self, values: Mapping[str, Any]) -> Any:
        """Refused: an intervention cuts the arrows into a variable, and here are none."""
        raise InputError(
            "An intervention needs directions, which an undirected model does not have.",
            hint="Ask a Bayesian network, or condition on the states instead.",
        )

    # --- changing shape -------------------------------------------------------------------

    def with_record(self, record: Record | None) -> Self:
        """The same model with another record.

        >>> from credo.model.markov_network import MarkovNetwork
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

    def to_network(self) -> Network:
        """An equivalent Bayesian network: the same joint distribution, by elimination.

        The order of elimination triangulates the graph; the record says what it added.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.to_network().p("A", given={"B": 1})
        Distribution(A: 0 0.166667, 1 0.833333)
        """
        from credo.predict.directed import equivalent_network

        return equivalent_network(self)

    # --- files ----------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file: `.uai` (a MARKOV file) or `.credo`.

        >>> from credo.model.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> import credo as cr, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "net.uai")
        >>> net.save(path)
        >>> cr.load(path)
        MarkovNetwork(3 variables, 2 edges, 2 potentials)
        """
        from credo.formats import save

        save(self, path)

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


def _refuse_interval(interval: float | None, draws: int | None) -> None:
    if interval is not None or draws is not None:
        raise InputError(
            "Credible intervals need a posterior of the parameters, which a model without "
            "directions does not keep.",
            hint="Fit a Bayesian network with a prior, or leave the interval out.",
        )
