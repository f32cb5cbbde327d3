"""The engine: one compiled plan answers every question about a network.

A plan is compiled once for a set of observed variables and targets, kept, and run on one row of
evidence or thousands. A continuous variable enters as a variable with one state: when it is
observed its density is a factor over its discrete parents. Where observed ones rest on continuous
ones that are not observed, `given` makes an engine in which groups of them are factors.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, LimitError
from credo.core.kept import Kept
from credo.model.networks.cpt import Cpt
from credo.model.networks.softmax import Softmax
from credo.model.undirected.factor_model import FactorModel
from credo.predict.mixed.densities import Density, density_tables, line_densities
from credo.predict.mixed.gaussian_groups import GaussianGroup, gaussian_groups

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.predict.questions.evidence import Evidence

__all__ = ["MAX_BYTES", "MAX_WORK", "Engine", "Outcome", "Row", "engine_of", "guard"]

MAX_BYTES = 8 * 10**9
"""A question whose tables would take more memory than this is refused before it runs."""

MAX_WORK = 10**13
"""A question that needs more multiplications than this (hours) is refused before it runs."""

_KEPT = 64  # plans kept for each network

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """What one run gives: ln P(e) for each row, posteriors of the targets, family marginals."""

    log_evidence: Floats
    marginals: list[Floats]
    families: Any = None


class Row(NamedTuple):
    """Evidence as a plan takes it: which variables are observed and reported on, and what of it."""

    observed: list[int]
    codes: NDArray[np.int32]
    soft: list[int]
    likelihoods: list[Floats]


def no_table(local: Softmax) -> InputError:
    """Why a network with a softmax of numbers that are not known has no exact answer here."""
    numbers = ", ".join(repr(p.name) for p in local.continuous)
    return InputError(
        f"{local.name!r} is a softmax of {numbers}, so this has no exact answer unless the numbers "
        "are known.",
        hint="Observe them, ask with method='weighting', or model them as 'binned'.",
    )


class Engine:
    """The compiled form of one network, with the plans made so far."""

    directed = True  # each table is P(last variable of its scope | the others)

    def __init__(self, net: Network) -> None:
        self.net = net
        self.at = {name: i for i, name in enumerate(net.names)}
        self.arities = [v.arity if v.is_discrete else 1 for v in net.variables]
        scopes, tables = [], []
        for name in net.names:
            local = net.distributions[name]
            if isinstance(local, Softmax):
                raise no_table(local)
            parents = [p for p in local.parents if p.is_discrete]
            scopes.append([*(self.at[p.name] for p in parents), self.at[name]])
            values = (
                local.values if isinstance(local, Cpt) else np.ones(prod(p.arity for p in parents))
            )
            tables.append(np.ascontiguousarray(values, dtype=np.float64).ravel())
        self._keep(scopes, tables)

    @property
    def net(self) -> Network:
        """The network, which whoever asks holds: held here, it would stay for as long as the table
        of engines does, which is for ever.
        """
        net = self._net()
        assert net is not None, "an engine was asked after its network was gone"
        return net

    @net.setter
    def net(self, net: Network) -> None:
        self._net = ref(net)

    def _keep(self, scopes: list[list[int]], tables: list[Floats]) -> None:
        self.model = _core.Model(self.arities, scopes)
        self.scopes = scopes
        self.tables = tables
        self._plans: OrderedDict[Any, Any] = OrderedDict()
        self._groups: OrderedDict[frozenset[str], tuple[GaussianGroup, ...]] = OrderedDict()
        self._given: OrderedDict[Any, Engine] = OrderedDict()
        self._first: Engine | None = None
        self._lock = Lock()

    # --- continuous variables ---------------------------------------------------------------

    def given(self, values: Collection[str], hard: Collection[str]) -> Engine:
        """The engine for some observed variables, continuous and discrete.

        This one, unless observed lines rest on continuous variables that are not observed.
        """
        if not values:
            return self
        if self._first is not None:
            found = self._first.given(values, hard)
            return self if found is self._first else found.under(self.net, self.tables)
        key = frozenset(values)
        groups = self._kept(self._groups, key, lambda: gaussian_groups(self.net, key))
        if not any(g.hidden for g in groups):
            return self
        touched = {p.name for g in groups for p in g.parents}.intersection(hard)
        from credo.predict.mixed.engine import MixedEngine

        made: Engine = self._kept(
            self._given, (key, frozenset(touched)), lambda: MixedEngine(self, groups, touched)
        )
        return made

    def under(self, net: Network, tables: list[Floats]) -> Engine:
        """The same plans for a network with other numbers: they know the graph alone."""
        out = copy.copy(self)
        out.net, out.tables = net, tables
        out._first = self
        return out

    def densities(
        self,
        values: Mapping[str, Floats],
        hard: Mapping[str, Any],
        drawn: Mapping[str, Any] | None = None,
    ) -> Iterator[Density]:
        """Tables of ln densities of observed continuous variables, for rows or for draws."""
        return line_densities(self.net, values, drawn)

    def lines(self, values: Collection[str]) -> tuple[str, ...]:
        """The continuous variables whose lines the densities of observed ones need."""
        return tuple(values)

    @property
    def numbers(self) -> int:
        """How many numbers a density takes for one draw, beside its table."""
        return 0

    def _kept(self, cache: OrderedDict[Any, Any], key: Any, make: Any) -> Any:
        with self._lock:
            found = cache.get(key)
            if found is not None:
                cache.move_to_end(key)
                return found
        found = make()
        with self._lock:
            cache[key] = found
            if len(cache) > _KEPT:
                cache.popitem(last=False)
        return found

    @property
    def log_total(self) -> float:
        """ln of what the tables add up to: 0 for a Bayesian network."""
        return 0.0

    def refuse_nothing_possible(self) -> None:
        """Raise if the model itself rules everything out; a Bayesian network never does."""

    def blanket(self, name: str) -> list[int]:
        """The variables that share a table with one, in order: its Markov blanket."""
        i = self.at[name]
        return sorted({j for scope in self.scopes if i in scope for j in scope} - {i})

    def plan(
        self,
        observed: Sequence[int],
        targets: Sequence[int] | None,
        *,
        soft: Sequence[int] = (),
        maybe: Sequence[int] = (),
        mode: str = "sum",
        families: bool = False,
        evidence: bool = True,
    ) -> Any:
        """The plan for a question, compiled or kept; refused if it would not fit."""
        wanted = None if targets is None else tuple(targets)
        key = (tuple(observed), wanted, tuple(soft), tuple(maybe), mode, families, evidence)
        plan = self._kept(self._plans, key, lambda: self._compiled(*key))
        guard(plan)
        return plan

    def _compiled(
        self, observed: Any, targets: Any, soft: Any, maybe: Any, mode: Any, *flags: bool
    ) -> Any:
        families, evidence = flags
        wanted = None if targets is None else list(targets)
        return self.model.compile(
            list(observed), wanted, soft=list(soft), maybe=list(maybe), mode=mode,
            families=families, evidence=evidence, directed=self.directed,
        )  # fmt: skip

    def ask(
        self,
        evidence: Evidence,
        targets: Sequence[str] | None,
        *,
        mode: str = "sum",
        threads: int = 1,
    ) -> Outcome:
        """Posteriors of some targets (None: all that are not observed) given one evidence.

        The log-evidence still has `log_total` in it.
        """
        here = self.given(evidence.values, evidence.hard)
        if here is not self:
            return here.ask(evidence, targets, mode=mode, threads=threads)
        row = self.row(evidence)
        gone = set(row.observed)
        rest = [i for i in range(len(self.arities)) if i not in gone]
        wanted = None if targets is None else [self.at[n] for n in targets]
        plan = self.plan(row.observed, wanted, soft=row.soft, mode=mode)
        tables, log_scale = density_tables(self, evidence)
        log_e, flat, families = plan.run(tables, row.codes, row.likelihoods, threads)
        sizes = [self.arities[i] for i in (rest if wanted is None else wanted)]
        return Outcome(log_e + log_scale, split(flat, sizes), families)

    def row(self, evidence: Evidence, without: Collection[str] = ()) -> Row:
        """One evidence as a plan takes it, less the reports on some variables."""
        codes = [*evidence.hard.values(), *([0] * len(evidence.values))]
        soft = [n for n in evidence.soft if n not in without]
        return Row(
            [self.at[n] for n in (*evidence.hard, *evidence.values)],
            np.array([codes], dtype=np.int32).reshape(1, len(codes)),
            [self.at[n] for n in soft],
            [np.ascontiguousarray(evidence.soft[n][None, :]) for n in soft],
        )


def guard(plan: Any) -> None:
    """Refuse a plan that would not fit, before anything is allocated."""
    hint = (
        "Observe more variables, ask for fewer at once, simplify the graph, or let p(), ask(), "
        'marginals() or log_evidence() approximate: method="auto".'
    )
    if plan.bytes > MAX_BYTES:
        raise LimitError(
            f"The question needs tables of {plan.bytes / 1e9:,.1f} GB (its largest clique has "
            f"{plan.largest_clique:,.0f} states); at most {MAX_BYTES / 1e9:g} GB are allowed.",
            hint=hint,
        )
    if plan.flops > MAX_WORK:
        raise LimitError(
            f"The question needs {plan.flops:,.0f} multiplications (its largest clique has "
            f"{plan.largest_clique:,.0f} states); at most {MAX_WORK:,} are allowed.",
            hint=hint,
        )


def split(flat: Floats, sizes: Sequence[int]) -> list[Floats]:
    """Marginals of several targets side by side, each as an array of its own."""
    ends = [0, *accumulate(sizes)]
    return [flat[:, a:b] for a, b in pairwise(ends)]


def engine_of(net: Network | FactorModel) -> Engine:
    """The engine of a model, made when it is first asked."""
    return ENGINES[net]


def _made(net: Network | FactorModel) -> Engine:
    if isinstance(net, FactorModel):
        from credo.predict.exact.undirected import FactorEngine

        return FactorEngine(net)
    return Engine(net)


ENGINES = Kept(_made)  # beside each model that was asked something
