"""Impossible evidence: a smallest part of it that cannot be true together is named.

Where the exact answer is too much, zeros that messages carry are proofs, so propagation can show
that evidence is impossible; a sample of any weight shows that it is possible. Where neither settles
it, the exact engine is asked, and if that is too much too, the doubt is said.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import ImpossibleError, LimitError
from credo.core.render import shortened
from credo.predict.approximate.importance import importance
from credo.predict.approximate.messages import Messages, propagate
from credo.predict.exact.engine import engine_of
from credo.predict.exact.reduction import Reduced, reduced
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.request import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credo.model.networks.network import Network

__all__ = [
    "conflict",
    "impossible",
    "refuse_contradiction",
    "refuse_empty",
    "refuse_impossible",
    "refuse_unfound",
    "refuse_unlikely",
]


def refuse_impossible(net: Network, evidence: Evidence, log_evidence: float) -> None:
    """Raise the error that names the conflict, if the evidence has probability zero."""
    if log_evidence == -np.inf:
        raise impossible(net, evidence)


def impossible(net: Network, evidence: Evidence) -> ImpossibleError | LimitError:
    """The error: no item of the conflict it names can be left out.

    A density is never zero, so the conflict is among the discrete variables.
    """
    engine = engine_of(net)
    with suppress(LimitError):  # the model without evidence may be too much to ask
        engine.refuse_nothing_possible()
    part = evidence.discrete
    if engine.ask(part, []).log_evidence[0] > -np.inf:
        return LimitError(
            f"The densities of {', '.join(map(repr, evidence.values))} are too far apart to be "
            "compared.",
            hint="Their values are far from what the model expects; check their units.",
        )
    return conflict(net, part, lambda less: engine_of(net).ask(less, []).log_evidence[0] == -np.inf)


def conflict(
    net: Network, part: Evidence, contradicts: Callable[[Evidence], bool]
) -> ImpossibleError:
    """The error for evidence that contradicts itself, less all that can be left out."""
    for name in part.names:
        less = part.without(name)
        with suppress(LimitError):
            if contradicts(less):
                part = less
    items = []
    for name, code in part.hard.items():
        items.append(f"{name}={net.variable(name).states[code]}")
    for name, likelihood in part.soft.items():
        states = [s for s, x in zip(net.variable(name).states, likelihood, strict=True) if x > 0]
        items.append(f"{name} in {states}")
    what = items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
    together = "cannot be true" if len(items) == 1 else "cannot be true together"
    zeros = _zero_counts(net, part)
    because = (
        f" No row shows it, and maximum likelihood gives that 0 (in {zeros})." if zeros else ""
    )
    return ImpossibleError(
        f"The evidence has probability zero: {what} {together}.{because}",
        hint="Learn with a prior, which leaves it possible: cr.fit(net, rows, prior=cr.BDeu(1))."
        if zeros
        else "Leave one of them out, or check it.",
    )


def _zero_counts(net: Network, part: Evidence) -> str:
    """The tables behind a conflict whose zeros are counts, if any."""
    if not hasattr(net, "dag"):
        return ""
    near = {*part.names, *net.dag.ancestors(list(part.names))}
    found = []
    for name in (n for n in net.names if n in near):
        local: Any = net.distributions[name]
        learned = getattr(local, "learned", None)
        if learned is not None and learned.estimate == "mle" and (local.values == 0).any():
            found.append(name)
    return shortened(found)


_QUICK = 1e9
"""The exact engine is asked about a model without directions if it multiplies no more than this."""

_TRIES = 20_000  # samples of a part that the question does not touch


def refuse_contradiction(
    request: Request, problem: Reduced, messages: Messages | None = None
) -> None:
    """Raise the error that names the conflict, if the evidence is impossible beyond doubt."""
    if problem.log_scale == -np.inf or (messages is not None and messages.impossible):
        net = request.net
        raise conflict(net, request.evidence.discrete, lambda e: _contradicts(net, e))


def _contradicts(net: Network, evidence: Evidence) -> bool:
    problem = reduced(net, evidence, ())
    return problem.log_scale == -np.inf or propagate(problem, sweeps=50).impossible


def refuse_unlikely(request: Request, others: Sequence[Reduced]) -> None:
    """Look for a sample in each part that the question does not touch but that might be
    impossible."""
    directed = engine_of(request.net).directed
    tries = request.but(
        method="importance", seconds=None, samples=_TRIES, error=None, seed=0, event=None
    )
    for part in others:
        if part.has_zeros and not directed:
            refuse_contradiction(request, part, propagate(part, sweeps=50))
            _refuse_by_exact(request.net, request.evidence)
        elif part.has_zeros:
            drawn = importance(part, (), tries)
            if drawn.log_z == -np.inf:
                refuse_unfound(request, drawn.sums.n)


def _refuse_by_exact(net: Network, evidence: Evidence) -> None:
    """Ask the exact engine whether the evidence can be, if it answers quickly."""
    engine = engine_of(net)
    part = evidence.discrete
    try:
        row = engine.row(part)
        if engine.plan(row.observed, [], soft=row.soft).flops > _QUICK:
            return
        found = engine.ask(part, []).log_evidence[0]
    except LimitError:
        return
    if found == -np.inf:
        raise impossible(net, evidence)


def refuse_empty(request: Request, names: Sequence[str]) -> None:
    """No states of some variables agree with the evidence: it is impossible."""
    try:
        found = impossible(request.net, request.evidence)
    except LimitError:
        found = ImpossibleError(
            f"The evidence has probability zero: no states of {shortened(names)} agree with it.",
            hint="Leave some of it out, or check it.",
        )
    raise found


def refuse_unfound(request: Request, samples: int) -> None:
    """No sample agrees with the evidence: impossible if that can be shown, else unknown."""
    net, discrete = request.net, request.evidence.discrete
    if _contradicts(net, discrete):
        raise conflict(net, discrete, lambda e: _contradicts(net, e))
    try:
        exact = float(engine_of(net).ask(discrete, []).log_evidence[0])
    except LimitError:
        exact = np.nan
    if exact == -np.inf:
        raise impossible(net, request.evidence)
    known = "" if np.isnan(exact) else f" Its probability is exp({exact:.1f})."
    raise LimitError(
        f"None of {samples:,} samples agrees with the evidence, so there is nothing to estimate "
        f"from.{known}",
        hint="The evidence is very rare or impossible: check it, or give more samples.",
    )
