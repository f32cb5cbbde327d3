"""Impossible evidence: find a smallest part of it that cannot be true together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credo.errors import ImpossibleError
from credo.predict.engine import engine_of

if TYPE_CHECKING:
    from credo.model.network import Network
    from credo.predict.evidence import Evidence

__all__ = ["impossible", "refuse_impossible"]


def refuse_impossible(net: Network, evidence: Evidence, log_evidence: float) -> None:
    """Raise the error that names the conflict, if the evidence has probability zero."""
    if log_evidence == -np.inf:
        raise impossible(net, evidence)


def impossible(net: Network, evidence: Evidence) -> ImpossibleError:
    """The error: no item of the conflict it names can be left out."""
    part = evidence
    for name in evidence.names:
        less = part.without(name)
        if engine_of(net).ask(less, []).log_evidence[0] == -np.inf:
            part = less
    items = []
    for name, code in part.hard.items():
        items.append(f"{name}={net.variable(name).states[code]}")
    for name, likelihood in part.soft.items():
        states = [s for s, x in zip(net.variable(name).states, likelihood, strict=True) if x > 0]
        items.append(f"{name} in {states}")
    items += [f"{name}={value:g}" for name, value in part.values.items()]
    what = items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
    together = "cannot be true" if len(items) == 1 else "cannot be true together"
    return ImpossibleError(
        f"The evidence has probability zero: {what} {together}.",
        hint="Leave one of them out, or check it.",
    )
