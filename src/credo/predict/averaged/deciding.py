"""Decisions averaged over graphs: what is best when the graph itself is not known.

    EU(δ) = Σ_G P(G | rows) Σ_x P_G(x | do(decisions)) δ(…) u(x)

A decision problem needs no more of the graphs than the joint of what is seen and what the utilities
depend on, for each choice. That is averaged, and one problem is solved with it; its draws are draws
of a graph and of its parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.render import Shown, View, many
from credo.core.schema import Variable
from credo.model.answers.credible import Credible
from credo.model.answers.distribution import Distribution
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.graphs.dag import Dag
from credo.model.methods.decisions import DecisionQuestions
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Local, Network
from credo.model.structures.structure_posterior import StructurePosterior
from credo.model.values.randomness import Rng
from credo.predict.averaged.asking import answer, joint_samples, notes_of, without_causes
from credo.predict.decisions.deciding import decide as decide_network
from credo.predict.decisions.problem import Problem, problem_of
from credo.predict.decisions.valuations import Valuation

__all__ = ["AveragedDecisions", "decide"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AveragedDecisions(DecisionQuestions, Shown, Frozen):
    """Decisions and utilities on all graphs together, from `decide` of a posterior over graphs.

    What can be asked is what can be asked of a decision network, averaged over graphs and
    parameters; intervals come from draws of both.

    >>> import credo as cr
    >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
    >>> d = post.decide({"treat|Cou": ["no", "yes"]}, {"harm|treat:Pneu": {
    ...     "no": {"F": 0, "T": -100}, "yes": {"F": -10, "T": -30}}})
    >>> d
    AveragedDecisions(1 decision, 3 graphs)
    >>> d.best(given={"Cou": "T"}, interval=None).choice
    'yes'
    >>> print(d.solve(interval=None))
    expected utility -18.4615
    averaged over 3 graphs, prior uniform
    Cou  treat  probability    EU(no)   EU(yes)
    F    yes          0.500  -26.8733  -15.3747
    T    yes          0.500   -57.742  -21.5484
    """

    posterior: StructurePosterior
    """The graphs, without the arrows into what is decided."""
    network: DecisionNetwork
    """What is known at each decision and what each utility depends on; its chances are not used."""
    graphs: StructurePosterior
    """The graphs as they were learned."""

    @property
    def _network(self) -> DecisionNetwork:
        return self.network

    def _but_costs(self, costs: Mapping[str, float]) -> AveragedDecisions:
        return replace(self, network=self.network.but(costs=costs))

    def _probability(self, question: str, how: dict[str, Any]) -> Any:
        raise InputError(
            f"Decisions over graphs answer questions about EU, got {question!r}.",
            hint="A probability is asked of the posterior: post.ask(…), or of one network.",
        )

    def _problem(self, given: Mapping[str, Any] | None) -> _Averaged:
        base = problem_of(self.network, given)
        post, net = self.graphs, self.network
        for name in (n for n in base.free if n in post.names):
            for other in dict.fromkeys([*base.evidence.names, *net.sees(name)]):
                if other in post.names and other not in net.decisions:
                    _refuse_later(post, name, other)
        known = {n: v for n, v in (given or {}).items() if n in post.names}
        return _Averaged(net, base.evidence, base.engine, {}, self, known)

    def __repr__(self) -> str:
        graphs = many(len(self.posterior.weights), "graph")
        return f"AveragedDecisions({many(len(self.network.decisions), 'decision')}, {graphs})"

    def _view(self) -> View:
        net = self.network
        rows = [
            [n, "decision", ", ".join(map(str, net.variable(n).states)), ", ".join(seen)]
            for n, seen in net.information.items()
        ]
        rows += [
            [u.name, "utility", "", ", ".join(p.name for p in u.parents)]
            for u in net.utilities.values()
        ]
        head = ["node", "kind", "options", "knows or depends on"]
        return View("", head, rows, (), "\n".join(notes_of(self.posterior, None)))


def decide(
    post: StructurePosterior,
    decisions: Any,
    utilities: Mapping[str, Any],
    *,
    memory: str = "full",
    combine: str = "add",
    costs: Mapping[str, float] | None = None,
) -> AveragedDecisions:
    """Decisions and utilities on all graphs of a posterior."""
    alone = {v.name: _alone(v) for v in post.variables}
    apart = Network.trusted(Dag([], post.names), alone, None)
    net = decide_network(apart, decisions, utilities, memory=memory, combine=combine, costs=costs)
    set_ = {n: alone[n] for n in net.decisions if n in alone}
    return AveragedDecisions(without_causes(post, set_) if set_ else post, net, post)


def _alone(v: Variable) -> Local:
    if v.is_discrete:
        return Cpt(v, (), np.full(v.arity, 1 / v.arity))
    return LinearGaussian(v, (), np.array(0.0), np.zeros(0), np.array(1.0))


def _refuse_later(post: StructurePosterior, decision: str, seen: str) -> None:
    """What a decision sees, or what is given while it is open, comes after it in no graph."""
    after = post._reach[:, post._at(decision), post._at(seen)] & (post.weights > 0)
    if after.any():
        raise InputError(
            f"{seen!r} cannot be known at the decision {decision!r}: it comes after it in graphs "
            f"of probability {float(post.weights[after].sum()):.2g}.",
            hint="Say which comes first with tiers= or forbidden= of cr.average, or what was "
            "decided with given=.",
        )


@dataclass(frozen=True)
class _Averaged(Problem):
    """A problem whose chances are the averaged joint of what it needs."""

    owner: AveragedDecisions
    given: Mapping[str, Any]

    @property
    def post(self) -> StructurePosterior:
        """The graphs, without the arrows into what is decided."""
        return self.owner.posterior

    def seeing(self, decision: str, names: Sequence[str]) -> Problem:
        """The problem in which more is known when a decision is taken."""
        net = self.net.seeing(decision, names)
        own = AveragedDecisions(self.post, net, self.owner.graphs)
        return own._problem(self.given_again)

    def after(self, decision: str) -> frozenset[str]:
        """What comes after a decision in any graph."""
        graphs = self.owner.graphs
        if decision not in graphs.names:
            return frozenset()
        reached = graphs._reach[graphs.weights > 0, graphs._at(decision)].any(axis=0)
        return frozenset(n for n, r in zip(graphs.names, reached, strict=True) if r)

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """Of the variables of the graphs those that are seen, paid for or set, and not known."""
        names = {p.name for u in self.net.utilities.values() for p in u.parents}
        names |= {n for d in self.free for n in (d, *self.seen(d))}
        return tuple(n for n in self.post.names if n in names and n not in self.evidence.hard)

    @cached_property
    def joint(self) -> Distribution | None:
        """P(needed | given), averaged; None where nothing is needed."""
        found: Distribution | None = None
        if self.needed:
            found = answer(self.post, self.needed, self.given)
        return found

    @cached_property
    def learned(self) -> tuple[str, ...]:
        """Graphs differ, whatever is known of the parameters."""
        return self.post.names

    def valuations(
        self, drawn: Mapping[str, Any] | None = None, blind: Sequence[str] = ()
    ) -> list[Valuation]:
        """The joint, or draws of it, and the utilities."""
        if self.joint is None:
            return self.worth(blind)
        table = self.joint.p[None] if drawn is None else drawn["joint"]
        scope = tuple(self.engine.at[n] for n in self.needed)
        return [Valuation(scope, table), *self.worth(blind)]

    def drawn(self, draws: int, rng: Rng, blind: Sequence[str] = ()) -> Iterator[list[Valuation]]:
        """The pairs under draws of a graph and its parameters, block by block."""
        if self.joint is None:
            yield self.valuations(None, blind)
            return
        samples, most = joint_samples(self.post, self.needed, self.given, draws, rng), self.block
        for start in range(0, len(samples), most):
            yield self.valuations({"joint": samples[start : start + most]}, blind)

    def notes(self, span: Credible | None) -> tuple[str, ...]:
        """Over how many graphs, and what drawing them leaves open."""
        more = () if self.joint is None else self.joint.notes
        own = notes_of(self.post, None if span is None else span.level)
        return (*own, *(n for n in more if n not in notes_of(self.post, None)))
