"""Problem: a decision network and what is known, as pairs over variables and a strong order.

With full memory the variables go in the order  unseen, D_n, seen before D_n, …, D_1, seen before
D_1.  What no utility and no evidence hangs on is left out (barren).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.kept import Kept
from credo.core.schema import Variable
from credo.model.answers.credible import Credible
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.decisions.policy import Policy, policy_of
from credo.model.decisions.utility import product_of
from credo.model.values.randomness import Rng
from credo.predict.decisions.limited import soluble_order
from credo.predict.decisions.valuations import (
    Outcome,
    Step,
    Tree,
    Valuation,
    columns,
    eliminate,
    tree_of,
)
from credo.predict.exact.engine import Engine, engine_of
from credo.predict.intervals.draws import Draws, has_posterior
from credo.predict.intervals.uncertain import Probability
from credo.predict.mixed.densities import row_tables
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.impossible import refuse_impossible
from credo.predict.questions.notes import left_out

__all__ = ["Problem", "problem_of"]

Floats = NDArray[np.float64]

_BLOCK = 4_000_000  # cells of all tables, all draws of a block together


class Ready(NamedTuple):
    """A problem with nothing left to look up: its tree, its tables, and what its decisions are."""

    tree: Tree
    tables: tuple[Floats, ...]
    decisions: tuple[tuple[Variable, tuple[Variable, ...]], ...]
    """Each decision, and what its policy looks at."""
    order: tuple[int, ...]
    """In which limited memory improves policies."""
    exact: bool
    """Whether the best strategy is the best of all."""


@dataclass(frozen=True)
class Problem:
    """What is to be decided: the free decisions, and all else in the form of pairs."""

    net: DecisionNetwork
    evidence: Evidence
    engine: Engine
    kept: dict[str, Any]
    """What was compiled, kept beside the network where nothing is given."""

    @property
    def arities(self) -> list[int]:
        """How many states each variable has, by its place."""
        return self.engine.arities

    @cached_property
    def free(self) -> tuple[str, ...]:
        """The decisions that are still to be taken, in their order."""
        return tuple(n for n in self.net.decisions if n not in self.evidence.hard)

    @cached_property
    def relevant(self) -> frozenset[str]:
        """The variables that the utilities or the evidence hang on, and the free decisions."""
        net, out = self.net, set()
        if self.evidence.values:  # the densities of groups of lines may rest on any of them
            return frozenset(net.chance.names)
        line = [p.name for u in net.utilities.values() for p in u.parents]
        line += [*self.evidence.names, *self.free]
        while line:
            name = line.pop()
            if name not in out:
                out.add(name)
                seen = net.information.get(name)
                more = net.chance.dag.parents(name) if seen is None else net.sees(name)
                line += [n for n in more if n not in out]
        return frozenset(out)

    @cached_property
    def left(self) -> frozenset[str]:
        """The relevant variables that are not known."""
        return self.relevant - set(self.evidence.hard) - set(self.evidence.values)

    def seen(self, decision: str) -> tuple[str, ...]:
        """What is known at a decision beyond the evidence."""
        return tuple(n for n in self.net.sees(decision) if n in self.left)

    def seeing(self, decision: str, names: Sequence[str]) -> Problem:
        """The problem in which more is known when a decision is taken."""
        return problem_of(self.net.seeing(decision, names), self.given_again)

    def after(self, decision: str) -> frozenset[str]:
        """The chance variables that a decision may change."""
        return frozenset(self.net.chance.dag.descendants(decision))

    @property
    def given_again(self) -> dict[str, Any]:
        """The evidence, as it is given."""
        variable = self.net.variable
        out: dict[str, Any] = {n: variable(n).states[c] for n, c in self.evidence.hard.items()}
        return {**out, **self.evidence.soft, **self.evidence.values}

    # --- pairs ------------------------------------------------------------------------------

    def valuations(
        self, drawn: Mapping[str, Any] | None = None, blind: Sequence[str] = ()
    ) -> list[Valuation]:
        """The tables, the reports and the utilities, the known variables at their codes.

        `blind` are decisions that are taken at once, without waiting for what they would see.
        """
        engine, evidence = self.engine, self.evidence
        tables = list(engine.tables)
        for name, values in (drawn or {}).items():
            if isinstance(values, np.ndarray):
                tables[engine.at[name]] = values
        if evidence.values:
            lines = {n: v for n, v in (drawn or {}).items() if isinstance(v, tuple)}
            seen = {n: np.array([v]) for n, v in evidence.values.items()}
            tables, _ = row_tables(engine, seen, evidence.hard, tables, lines)
        skipped = {engine.at[n] for n in self.net.decisions}
        skipped |= {engine.at[n] for n in self.net.chance.names if n not in self.relevant}
        out = [
            self.pair(scope, np.atleast_2d(table))
            for k, (scope, table) in enumerate(zip(engine.scopes, tables, strict=True))
            if k not in skipped
        ]
        out += [self.pair([engine.at[n]], report[None, :]) for n, report in evidence.soft.items()]
        return out + self.worth(blind)

    def worth(self, blind: Sequence[str] = ()) -> list[Valuation]:
        """The utilities, less what it costs to see what the decisions see."""
        paid = {n for d in self.free if d not in blind for n in self.seen(d)}
        cost = sum(self.net.costs.get(n, 0.0) for n in paid)
        return [*([Valuation((), np.array([-cost]), True)] if cost else []), *self.utilities]

    @cached_property
    def utilities(self) -> list[Valuation]:
        """The utilities."""
        net = self.net
        parts = list(net.utilities.values())
        if net.combine == "multiply":
            parts = [product_of(parts)]
        return [
            self.pair([self.engine.at[p.name] for p in u.parents], u.values[None], worth=True)
            for u in parts
        ]

    @cached_property
    def noise(self) -> float:
        """A difference of expected utilities below this is rounding."""
        return 1e-12 * sum(float(np.abs(v.table).max(initial=0.0)) for v in self.utilities)

    def pair(self, scope: Sequence[int], table: Floats, *, worth: bool = False) -> Valuation:
        """A table, draws first, with what is known sliced away."""
        shaped = table.reshape(len(table), *(self.arities[v] for v in scope))
        if not self.evidence.names:
            return Valuation(tuple(scope), np.ascontiguousarray(shaped), worth)
        codes = {self.engine.at[n]: c for n, c in self.evidence.hard.items()}
        codes |= {self.engine.at[n]: 0 for n in self.evidence.values}  # one state to the engine
        at = (slice(None), *(codes.get(v, slice(None)) for v in scope))
        left = tuple(v for v in scope if v not in codes)
        return Valuation(left, np.ascontiguousarray(shaped[at]), worth)

    def given_rules(self, strategy: Mapping[str, Any]) -> list[Valuation]:
        """A whole strategy that was given, as pairs."""
        return [self.rule_of(self.policy(name, strategy)) for name in self.free]

    def policy(self, name: str, strategy: Mapping[str, Any]) -> Policy:
        """The policy of a strategy; choices by situation are by what the arrows say."""
        if name not in strategy:
            raise InputError(f"The strategy has no policy for the decision {name!r}.")
        variable = self.net.variable
        own = tuple(variable(n) for n in self.net.information[name])
        found = policy_of(variable(name), own, strategy[name])
        odd = next((p.name for p in found.parents if p.name not in self.net.sees(name)), None)
        if odd is not None:
            raise InputError(f"The policy of {name!r} looks at {odd!r}, which it does not see.")
        return found

    def rule_of(self, policy: Policy) -> Valuation:
        """A policy over any variables as a pair."""
        at = self.engine.at
        scope = [at[p.name] for p in policy.parents] + [at[policy.name]]
        return self.pair(scope, policy.table[None])

    # --- orders -----------------------------------------------------------------------------

    def strong_order(self, keep: Sequence[str] = ()) -> list[Step]:
        """The elimination with full memory, but for some variables that are kept."""
        at, left = self.engine.at, self.left - set(keep)
        blocks: list[Step] = []
        gone: set[str] = set()
        for name in self.net.decisions:
            seen = {n for n in self.net.information[name] if n in left} - gone
            seen -= set(self.net.decisions)
            blocks.append(Step(tuple(sorted(at[n] for n in seen))))
            gone |= seen
            if name in left:
                blocks.append(Step((at[name],), best=True))
        rest = left - gone - set(self.net.decisions)
        blocks.append(Step(tuple(sorted(at[n] for n in rest))))
        return [b for b in reversed(blocks) if b.variables]

    def sums(self, keep: Sequence[str] = ()) -> list[Step]:
        """Everything summed, where the decisions have policies."""
        return [Step(tuple(sorted(self.engine.at[n] for n in self.left - set(keep))))]

    def expected(self, pairs: Sequence[Valuation], keep: Sequence[str] = ()) -> Outcome:
        """P and EU of what is kept, where every other decision has a policy among the pairs."""
        scope = tuple(self.engine.at[n] for n in keep)
        return eliminate(pairs, self.arities, self.sums(keep), scope)

    # --- the best strategy --------------------------------------------------------------------

    def tree(self, pairs: Sequence[Valuation], keep: Sequence[str] = ()) -> Tree:
        """The tree that finds the policies of the free decisions that are not kept."""
        at, full = self.engine.at, self.net.memory == "full"
        scopes, _, worth = columns(pairs)
        families = [
            tuple(at[n] for n in (*self.seen(d), d)) for d in self.free if not (full and d in keep)
        ]
        steps = self.strong_order(keep) if full else self.sums(keep)
        scope = tuple(at[n] for n in keep)
        return tree_of(
            scopes, worth, tuple(self.arities), tuple(steps), scope, tuple(families), full
        )

    @property
    def updating(self) -> tuple[tuple[int, ...], bool]:
        """The order in which limited memory improves policies, and whether that finds the best."""
        if "updating" not in self.kept:
            self.kept["updating"] = self._updating()
        out: tuple[tuple[int, ...], bool] = self.kept["updating"]
        return out

    def _updating(self) -> tuple[tuple[int, ...], bool]:
        if self.net.memory == "full":
            return (), True
        first = soluble_order(self.net, self.free)
        names = [*first, *(n for n in reversed(self.free) if n not in first)]
        return tuple(map(self.free.index, names)), len(first) == len(names)

    @property
    def ready(self) -> Ready:
        """All that solving needs, looked up once."""
        if "ready" not in self.kept:
            variable, names, pairs = self.net.variable, self.net.chance.names, self.valuations()
            tree = self.tree(pairs)
            looks = [tuple(variable(names[v]) for v in f[:-1]) for f in tree.families]
            decisions = tuple(zip(map(variable, self.free), looks, strict=True))
            self.kept["ready"] = Ready(tree, columns(pairs)[1], decisions, *self.updating)
        ready: Ready = self.kept["ready"]
        return ready

    # --- draws ------------------------------------------------------------------------------

    @cached_property
    def learned(self) -> tuple[str, ...]:
        """The relevant chance variables whose parameters have a posterior."""
        net = self.net.chance
        lines = self.engine.lines(self.evidence.values) if self.evidence.values else ()
        names = dict.fromkeys([*(n for n in net.names if n in self.relevant), *lines])
        return tuple(n for n in names if has_posterior(net.distributions[n]))

    def drawn(self, draws: int, rng: Rng, blind: Sequence[str] = ()) -> Iterator[list[Valuation]]:
        """The pairs under draws of the parameters, block by block."""
        source = Draws(self.net.chance, rng, draws)
        most = self.block
        for start in range(0, draws, most):
            yield self.valuations(source.next(self.learned, min(most, draws - start)), blind)

    @property
    def block(self) -> int:
        """How many draws go through an elimination at once."""
        cells = sum(int(v.table[0].size) for v in self.valuations())
        return max(_BLOCK // cells, 1)

    def notes(self, span: Credible | None) -> tuple[str, ...]:
        """What is to be said of an answer with this interval, or without one."""
        return () if span is None else left_out(self.net.record, Probability(0.0, span))


def problem_of(net: DecisionNetwork, given: Mapping[str, Any] | None = None) -> Problem:
    """The problem given what is known; what comes after an open decision cannot be known yet."""
    if not given:
        return Problem(net, _NOTHING, engine_of(net.chance), _KEPT[net])
    evidence = Evidence.of(net.chance, given)
    for name in net.decisions:
        if name in evidence.soft:
            raise InputError(f"The decision {name!r} is taken or open; it has no likelihood.")
    engine = engine_of(net.chance).given(evidence.values, evidence.hard)
    out = Problem(net, evidence, engine, {})
    for name in out.free:
        after = out.after(name).intersection(evidence.names)
        if after:
            raise InputError(
                f"{sorted(after)[0]!r} is given, but comes after the decision {name!r}, which is "
                "open.",
                hint=f"Say what was decided: {name}={net.variable(name).states[0]}, for example.",
            )
    if evidence.names:
        chances = evidence.hard, evidence.soft, evidence.values
        log_e = float(engine_of(net.chance).ask(Evidence(*chances), []).log_evidence[0])
        refuse_impossible(net.chance, evidence, log_e)
    return out


_NOTHING = Evidence()
_KEPT: Kept[dict[str, Any]] = Kept(lambda _: {})  # beside each decision network; never holds it
