"""Network: a Bayesian network, a DAG and one distribution for each of its variables.

    P(x₁, …, x_n) = Π_i P(x_i | parents(x_i))

A frozen value. Its methods are front doors: the algorithms live in `credo.predict`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from credo.errors import InputError, SchemaError, unknown_name
from credo.model.cpt import Cpt
from credo.model.dag import Dag
from credo.model.linear_gaussian import LinearGaussian
from credo.model.network_tables import network_variables
from credo.model.record import Record
from credo.render import table_text
from credo.schema import Schema, Variable

if TYPE_CHECKING:
    import os

    import numpy as np
    from numpy.typing import NDArray

    from credo.checking.information_gain import EvidenceValue
    from credo.checking.tipping import Sensitivity
    from credo.model.factor_graph import FactorGraph
    from credo.model.markov_network import MarkovNetwork
    from credo.model.randomness import Rng
    from credo.predict.answer import Answer
    from credo.predict.explanation import Explanation
    from credo.progress import Report

__all__ = ["Network"]

Local = Cpt | LinearGaussian


class Network:
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
            tables = _by_name(tables)
        if not isinstance(dag, Dag):
            dag = Dag(dag, nodes=list(tables))
        _same_names(dag, tables)
        variables = network_variables(dag, tables, {} if states is None else states)
        distributions: dict[str, Local] = {}
        for name in dag.nodes:
            parents = tuple(variables[p] for p in dag.parents(name))
            distributions[name] = _local(variables[name], parents, tables[name])
        self._set(dag, distributions, record)

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

    # --- asking ---------------------------------------------------------------------------

    def p(
        self,
        target: str | Sequence[str],
        given: Mapping[str, Any] | None = None,
        *,
        interval: float | None = None,
        draws: int = 1000,
        method: str = "auto",
        budget: float | str | None = None,
        error: float | None = None,
        rng: Rng = 0,
    ) -> Any:
        """The distribution of one variable, or the joint of several, given evidence.

        With `interval=0.95` it carries credible intervals, from `draws` of the parameters
        (docs/how-sure.md). Exact if that fits, else approximate with its error, which is said:
        `method` is "auto", "exact", "importance", "weighting", "loopy" or "gibbs"; `budget` is a
        time ("2 s") or a number of "10000 samples"; `error` is half the width of each 95 %
        interval that is wanted (docs/approximate.md). `rng` is the seed.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> print(net.p("rain", given={"wet": True}))
        rain         p
        False  0.33333  ██████▋
        True   0.66667  █████████████▍
        >>> round(net.p(["rain", "wet"])[True, True], 6)
        0.16
        """
        from credo.predict.budget import effort
        from credo.predict.interval import posterior_interval
        from credo.predict.posterior import posterior

        how, known = effort(method, budget, error, rng), {} if given is None else given
        if interval is not None:
            return posterior_interval(self, target, known, interval, draws, how.draws_seed)
        return posterior(self, target, known, how)

    def ask(
        self,
        question: str,
        *,
        explain: bool = False,
        interval: float | None = None,
        draws: int = 1000,
        method: str = "auto",
        budget: float | str | None = None,
        error: float | None = None,
        rng: Rng = 0,
    ) -> Answer | Any:
        """Answer a question in text, such as `"P(lung | smoke=yes)"`; see docs/asking.md.

        The options are those of `p`; with `interval=0.95` the answer carries its credible
        interval (docs/how-sure.md).

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> round(net.ask("P(rain=true | wet=true)"), 6)
        0.666667
        >>> dict(net.ask("argmax P(rain, wet)"))
        {'rain': False, 'wet': False}
        """
        from credo.predict.asking import ask
        from credo.predict.budget import effort

        how = effort(method, budget, error, rng)
        return ask(self, question, explain=explain, effort=how, interval=interval, draws=draws)

    def marginals(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        interval: float | None = None,
        draws: int = 1000,
        method: str = "auto",
        budget: float | str | None = None,
        error: float | None = None,
        rng: Rng = 0,
    ) -> dict[str, Any]:
        """The distribution of every variable that is not observed, all at once.

        The options are those of `p`.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.marginals()["wet"]
        Distribution(wet: False 0.76, True 0.24)
        """
        from credo.predict.budget import effort
        from credo.predict.interval import marginal_intervals
        from credo.predict.posterior import marginals

        how, known = effort(method, budget, error, rng), {} if given is None else given
        if interval is not None:
            return marginal_intervals(self, known, interval, draws, how.draws_seed)
        return marginals(self, known, how)

    def log_evidence(
        self,
        given: Mapping[str, Any],
        *,
        method: str = "auto",
        budget: float | str | None = None,
        error: float | None = None,
        rng: Rng = 0,
    ) -> float:
        """ln P(evidence).

        `method`, `budget`, `error` and `rng` are those of `p`; `error` is that of the logarithm.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> round(net.log_evidence({"wet": True}), 6)  # ln 0.24
        -1.427116
        """
        from credo.predict.budget import effort
        from credo.predict.posterior import log_evidence

        return log_evidence(self, given, effort(method, budget, error, rng))

    def mpe(self, given: Mapping[str, Any] | None = None) -> Explanation:
        """The most probable explanation: a state for every variable that is not observed.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> print(net.mpe({"wet": True}))
        variable  state
        rain      True
        ln P = -1.83258
        """
        from credo.predict.explanation import mpe

        return mpe(self, {} if given is None else given)

    def map(self, targets: Sequence[str], given: Mapping[str, Any] | None = None) -> Explanation:
        """The most probable states of some variables together, the others summed out.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.map(["rain"], given={"wet": True})["rain"]
        True
        """
        from credo.predict.explanation import marginal_map

        return marginal_map(self, targets, {} if given is None else given)

    def predict_proba(
        self,
        rows: Any,
        target: str,
        *,
        threads: int = 1,
        interval: float | None = None,
        draws: int = 1000,
        rng: Any = 0,
    ) -> NDArray[np.float64] | Any:
        """P(target | the other cells) for each row of a table, a column for each state.

        With `interval=0.95` three such arrays: `p`, and the ends `low` and `high`.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.predict_proba({"wet": [True, False, None]}, "rain").round(4).tolist()
        [[0.3333, 0.6667], [0.9474, 0.0526], [0.8, 0.2]]
        """
        if interval is not None:
            from credo.predict.interval_rows import predict_proba_interval

            return predict_proba_interval(self, rows, target, interval, draws, rng, threads)
        from credo.predict.rows import predict_proba

        return predict_proba(self, rows, target, threads=threads)

    def log_likelihood(self, rows: Any, **options: Any) -> float:
        """ln P(rows), missing cells summed out.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> rows = {"rain": [True, None], "wet": [True, True]}
        >>> round(net.log_likelihood(rows), 6)  # ln 0.16 + ln 0.24
        -3.259698
        """
        from credo.predict.rows import log_likelihood

        return log_likelihood(self, rows, **options)

    def sample(
        self,
        n: int,
        rng: Rng,
        given: Mapping[str, Any] | None = None,
        *,
        to: str = "table",
        path: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        report: Report | None = None,
    ) -> Any:
        """Rows drawn from the network, all of it or given evidence, exactly; see docs/sampling.md.

        A `Table`; `to="pandas"`, `"polars"`, `"arrow"` or `"dict"` asks for another kind of frame,
        and `path="rows.parquet"` writes a file of any length instead (and returns its path), with
        a progress bar on terminals, or `report=`, a function of (done, total). The same seed gives
        the same rows for any number of threads.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> print(net.sample(3, rng=0))
        rain   wet
        False  False
        False  False
        True   False
        >>> rows = net.sample(10_000, rng=0, given={"wet": True})
        >>> round(float(rows["rain"].mean()), 1)  # P(rain | wet) is 2/3
        0.7
        """
        from credo.predict.sampling import sample

        return sample(self, n, rng, given, to=to, path=path, threads=threads, report=report)

    def impute(self, rows: Any, method: str = "mode", **options: Any) -> Any:
        """Fill the gaps of a table from what the rest of each row says.

        `method="mode"` takes the most probable states of a row's gaps together, `"sample"` draws
        them (`rng=0`; `copies=5` gives five tables), `"posterior"` tells what is known of each gap.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> print(net.impute({"rain": [None, False], "wet": [True, None]}))
        rain   wet
        True   True
        False  False
        """
        from credo.predict.impute import impute

        return impute(self, rows, method, **options)

    def do(self, values: Mapping[str, Any]) -> Network:
        """The network after an intervention: the variables are set, not observed.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.do({"wet": True}).p("rain")[True]  # wetting the grass does not make it rain
        0.2
        """
        from credo.predict.intervention import intervene

        return intervene(self, values)

    # --- judging --------------------------------------------------------------------------

    def sensitivity(
        self, question: str, *, threshold: float | None = None, level: float = 0.95
    ) -> Sensitivity:
        """How far each parameter must move to change an answer; see docs/sensitivity.md.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> found = net.sensitivity("P(rain=true | wet=true)", threshold=0.5)
        >>> round(found["P(rain=True)"].needed, 4)  # from 0.2, for P to fall to a half
        0.1111
        """
        from credo.checking.tipping import sensitivity

        return sensitivity(self, question, threshold=threshold, level=level)

    def evidence_value(
        self,
        target: str,
        given: Mapping[str, Any] | None = None,
        *,
        among: Sequence[str] | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> EvidenceValue:
        """Which unobserved variable would tell most of the target, in bits.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.evidence_value("rain").best.variable
        'wet'
        """
        from credo.checking.information_gain import evidence_value

        return evidence_value(self, target, given, among=among, costs=costs)

    # --- learning -------------------------------------------------------------------------

    def update(self, rows: Any, *, weights: Any = None, threads: int | None = None) -> Network:
        """The network after more rows: the same as if all rows had been fitted at once.

        >>> import credo as cr
        >>> table = cr.examples.pneumonia()
        >>> whole = cr.fit("[Pneu][Fev|Pneu]", table, prior=cr.BDeu(1))
        >>> net = cr.fit("[Pneu][Fev|Pneu]", table.take(slice(0, 7)), prior=cr.BDeu(1))
        >>> net.update(table.take(slice(7, 12))) == whole
        True
        """
        from credo.train.update import update

        return update(self, rows, weights=weights, threads=threads)

    # --- changing shape -------------------------------------------------------------------

    def to_markov_network(self) -> MarkovNetwork:
        """The same distribution without directions: the moral graph, a potential a family.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.to_markov_network()
        MarkovNetwork(2 variables, 1 edges, 2 potentials)
        """
        from credo.model.moralised import markov_network_of

        return markov_network_of(self)

    def to_factor_graph(self) -> FactorGraph:
        """The same distribution as a factor graph, a factor for each family.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.to_factor_graph().factor_names
        ('P(rain)', 'P(wet|rain)')
        """
        from credo.model.moralised import factor_graph_of

        return factor_graph_of(self)

    # --- files ----------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file; the ending says the format.

        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> import credo as cr, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "rain.bif")
        >>> net.save(path)
        >>> cr.load(path)
        Network(2 variables, 1 edges, 3 parameters)
        """
        from credo.formats import save

        save(self, path)

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
            f"Network({len(self.names):,} variables, {len(self.dag.edges):,} edges, "
            f"{self.free_parameters:,} parameters)"
        )

    def _repr_html_(self) -> str:
        return self.dag._repr_html_()


def _again(dag: Dag, distributions: dict[str, Local], record: Record | None) -> Network:
    """A network from parts that are known to fit."""
    out = Network.__new__(Network)
    out._set(dag, distributions, record)
    return out


def _by_name(tables: Iterable[Local]) -> dict[str, Local]:
    if not isinstance(tables, Iterable):
        raise InputError(f"The tables must be a mapping by name, or a list of Cpt, got {tables!r}.")
    out: dict[str, Local] = {}
    for table in tables:
        if not isinstance(table, Cpt | LinearGaussian):
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


def _local(child: Variable, parents: tuple[Variable, ...], given: Any) -> Local:
    if child.is_discrete:
        for parent in parents:
            if not parent.is_discrete:
                raise SchemaError(
                    f"The discrete variable {child.name!r} cannot have the continuous parent "
                    f"{parent.name!r}.",
                    hint="Turn the edge round, or make the parent discrete.",
                )
        return Cpt.of(child, parents, given)
    if not isinstance(given, LinearGaussian):
        raise InputError(f"The continuous variable {child.name!r} needs a LinearGaussian.")
    if set(given.parents) != set(parents):
        raise SchemaError(
            f"The line of {child.name!r} is for the parents {[p.name for p in given.parents]}, "
            f"the graph says {[p.name for p in parents]}."
        )
    return given


def _aligned(a: Local, b: Local) -> bool:
    if isinstance(a, Cpt) and isinstance(b, Cpt) and set(a.parents) == set(b.parents):
        return a.child == b.child and a == b.on(a.child, a.parents)
    return a == b
