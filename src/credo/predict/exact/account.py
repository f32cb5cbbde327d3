"""An account of an answer: what was pruned and why, the order, the largest table, and which
evidence moved the answer, by how much.

    weight of evidence for x:  log₂ P(x | all) − log₂ P(x | all but this)    in bits
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from credo.core.errors import LimitError
from credo.core.frozen import Frozen
from credo.core.render import shortened, table_text, text_html
from credo.predict.exact.engine import engine_of
from credo.predict.mixed.gaussian_groups import gaussian_groups
from credo.predict.mixed.posterior import cases_of
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.request import Request

__all__ = ["Account", "account"]


@dataclass(frozen=True)
class Account(Frozen):
    """How an answer was found."""

    pruned: dict[str, str]
    order: tuple[str, ...]
    largest: int
    total: int
    state: str
    weights: dict[str, float]
    integrated: tuple[str, ...] = ()
    """Continuous variables that are not observed and not asked about, but that matter."""
    gaussians: int = 0
    """How many Gaussians the answer about continuous variables was made of."""

    def __str__(self) -> str:
        lines = []
        for reason in dict.fromkeys(self.pruned.values()):
            names = [n for n, r in self.pruned.items() if r == reason]
            lines.append(f"left out, {reason}: {shortened(names, most=12, wide=72)}")
        if self.integrated:
            lines.append(f"integrated out: {shortened(self.integrated, most=12, wide=72)}")
        if self.gaussians:
            of = "a Gaussian" if self.gaussians == 1 else f"{self.gaussians:,} Gaussians"
            lines.append(f"{of} by conditioning lines")
        lines.append(f"summed out in the order: {shortened(self.order, most=12, wide=72) or '-'}")
        lines.append(f"largest table {self.largest:,} cells, {self.total:,} in all")
        if self.weights:
            rows = [[n, f"{w:+.3f}"] for n, w in self.weights.items()]
            lines.append(f"bits that each item of evidence adds for {self.state}:")
            lines.append(table_text(["evidence", "bits"], rows, right=[1]))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return text_html(self)


def account(request: Request, argmax: bool = False) -> Account:
    """The account of the exact answer to a request; of an `argmax` nothing is weighed."""
    net, evidence = request.net, request.evidence
    engine = engine_of(net).given(evidence.values, evidence.hard)
    asked, continuous = request.named(discrete=True), request.named(discrete=False)
    groups = gaussian_groups(net, evidence.values.keys(), continuous) if engine.directed else ()
    integrated = tuple(n for g in groups for n in g.hidden if n not in continuous)
    gaussians = 0
    if continuous:
        cases = cases_of(net, continuous, asked, evidence)
        asked, gaussians = list(cases.names), prod(cases.shape)
    targets = [engine.at[n] for n in asked]
    row = engine.row(evidence)
    plan = engine.plan(row.observed, targets, soft=row.soft)
    names = net.names
    needed = {*request.targets, *evidence.names}
    for name in tuple(needed) if engine.directed else ():
        needed |= set(net.dag.ancestors(name))
    pruned = {}
    for i in plan.pruned:
        if names[i] in integrated or names[i] in continuous:
            continue
        barren = names[i] not in needed
        pruned[names[i]] = (
            "no evidence below it and not asked about" if barren else "cut off by the evidence"
        )
    order = tuple(names[i] for i in plan.order)
    state, weights = ("", {}) if argmax else _weights(request)
    size = int(plan.largest), int(plan.total_states)
    return Account(pruned, order, *size, state, weights, integrated, gaussians)


def _weights(request: Request) -> tuple[str, dict[str, float]]:
    """For the state asked about (or the most probable one), what each item of evidence adds."""
    net, evidence, name = request.net, request.evidence, request.targets[0]
    if len(request.targets) > 1 or not net.variable(name).is_discrete:
        return "", {}
    engine = engine_of(net)

    def p_of(given: Evidence, codes: list[int]) -> float:
        return float(engine.ask(given, [name]).marginals[0][0][codes].sum())

    if request.event is not None:
        codes = list(request.event[name])
    else:
        codes = [int(np.argmax(engine.ask(evidence, [name]).marginals[0][0]))]
    states = [net.variable(name).states[c] for c in codes]
    whole = p_of(evidence, codes)
    weights = {}
    for item in evidence.names:
        try:
            less = p_of(evidence.without(item), codes)
        except LimitError:  # without it the question would be too large
            continue
        if whole > 0 and less > 0:
            weights[item] = float(np.log2(whole) - np.log2(less))
    shown = f"{name}={states[0]}" if len(states) == 1 else f"{name} in {states}"
    return shown, dict(sorted(weights.items(), key=lambda kv: -abs(kv[1])))
