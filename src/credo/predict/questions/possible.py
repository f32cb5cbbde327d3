"""Whether evidence can be true at all, where the exact answer is too much.

Zeros that messages carry are proofs, so propagation can show that evidence is impossible; a sample
of any weight shows that it is possible. Where neither settles it, the exact engine is asked, and if
that is too much too, the doubt is said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credo.core.errors import ImpossibleError, LimitError
from credo.core.render import shortened
from credo.predict.approximate.importance import importance
from credo.predict.approximate.messages import Messages, propagate
from credo.predict.exact.engine import engine_of
from credo.predict.exact.reduction import Reduced, reduced
from credo.predict.questions.conflict import conflict, impossible
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.request import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credo.model.networks.network import Network

__all__ = ["refuse_contradiction", "refuse_empty", "refuse_unfound", "refuse_unlikely"]

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
    tries = replace(
        request, method="importance", seconds=None, samples=_TRIES, error=None, seed=0, event=None
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
        observed, soft = ([engine.at[n] for n in names] for names in (part.hard, part.soft))
        if engine.plan(observed, [], soft=soft).flops > _QUICK:
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
