"""Impossible evidence: find a smallest part of it that cannot be true together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import ImpossibleError, LimitError
from credo.core.render import shortened
from credo.predict.exact.engine import engine_of
from credo.predict.questions.evidence import Evidence

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["conflict", "impossible", "refuse_impossible"]


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
