"""Explanations: the most probable states of all variables (MPE), or of some of them (MAP)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.core.frozen import Frozen
from credo.core.render import table_html, table_text
from credo.predict.exact.engine import engine_of
from credo.predict.exact.posterior import joint_with_evidence
from credo.predict.mixed.densities import density_tables
from credo.predict.mixed.gaussian_network import gaussian_log_evidence, gaussian_posterior
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.impossible import refuse_impossible
from credo.predict.questions.request import Request

if TYPE_CHECKING:
    pass

__all__ = ["Explanation", "marginal_map", "mpe"]


@dataclass(frozen=True, eq=False)
class Explanation(Frozen, Mapping[str, Any]):
    """A state for each variable explained; `log_p` is ln P(these states, the evidence)."""

    states: Mapping[str, Any]
    log_p: float
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        if name not in self.states:
            raise unknown_name("Variable", name, list(self.states), "in this explanation")
        return self.states[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.states)

    def __len__(self) -> int:
        return len(self.states)

    def __str__(self) -> str:
        rows = [[n, str(s)] for n, s in self.states.items()]
        return "\n".join(
            [table_text(["variable", "state"], rows), f"ln P = {self.log_p:.6g}", *self.notes]
        )

    def _repr_html_(self) -> str:
        rows = list(self.states.items())
        return table_html(["variable", "state"], rows, caption="; ".join(self.notes))


def mpe(request: Request) -> Explanation:
    """The most probable states of every variable that is not observed, together.

    In a mixed network these are the discrete ones; a continuous one that is not observed is
    averaged over.
    """
    net, evidence = request.net, request.evidence
    known = [*evidence.hard, *evidence.values]
    if request.lines:
        free = tuple(n for n in net.names if n not in known)
        return _means(request.but(targets=free))
    engine = engine_of(net).given(evidence.values, evidence.hard)
    row = engine.row(evidence)
    plan = engine.plan(row.observed, None, soft=row.soft, mode="max")
    tables, scale = density_tables(engine, evidence)
    assignment, log_p = plan.explain(tables, row.codes, row.likelihoods)
    refuse_impossible(net, evidence, float(log_p[0]))
    states = {
        n: net.variable(n).states[int(assignment[0, engine.at[n]])]
        for n in net.names
        if n not in known and net.variable(n).is_discrete
    }
    return Explanation(states, float(log_p[0] + scale) + evidence.log_scale - engine.log_total)


def _means(request: Request) -> Explanation:
    """Of a Gaussian, the most probable values together are the means.

    Behind a transform they are those of the Gaussian, so the medians of the numbers.
    """
    net, evidence, names = request.net, request.evidence, request.targets
    for name in evidence.ranges:
        raise InputError(
            f"The most probable values given a range of {name!r} are not told.",
            hint="Ask for p() of the variables: their means and intervals.",
        )
    best = {n: float(gaussian_posterior(net, [n], evidence).mean) for n in names}
    whole = Evidence(values={**evidence.values, **best})
    log_p = gaussian_log_evidence(net, whole) + evidence.log_scale
    for name, scale in net.schema.scales.items():
        if name in best:
            best[name] = float(scale.backward(best[name]))  # type: ignore[union-attr]
            log_p += float(scale.log_jacobian(best[name]))
    return Explanation(best, log_p)


def marginal_map(request: Request) -> Explanation:
    """The most probable states of the targets together, all other variables summed out."""
    net, evidence, names = request.net, request.evidence, request.targets
    if request.lines:
        return _means(request)
    for name in names:
        if not net.variable(name).is_discrete:
            raise InputError(
                f"map() is for discrete variables; {name!r} is continuous, and its density may "
                "have several peaks.",
                hint=f"Ask for P({name}): its mean, its interval, or its parts.",
            )
    table, log_e = joint_with_evidence(net, names, evidence)
    refuse_impossible(net, evidence, log_e)
    at = np.unravel_index(int(table.argmax()), table.shape)
    states = {n: net.variable(n).states[int(i)] for n, i in zip(names, at, strict=True)}
    log_p = float(np.log(table[at]) + log_e) + evidence.log_scale
    return Explanation(states, log_p - engine_of(net).log_total)
