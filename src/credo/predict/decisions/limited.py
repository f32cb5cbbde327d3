"""Decisions with limited memory: each policy in turn is made the best beside the others.

    δ_d ← argmax_d EU(d | what d sees; the other policies)

until none alone can be improved (single policy updating; Lauritzen & Nilsson 2001). The expected
utility never falls. The result is the best of all where the decisions can be taken one after the
other such that each hangs on nothing the later ones see beyond its own family (a soluble LIMID),
and in that order; else it is the best that no single change can improve. The updating itself is in
`cpp/decide`; here is the order.
"""

from __future__ import annotations

from collections.abc import Sequence

from credo.model.decisions.decision_network import DecisionNetwork

__all__ = ["soluble_order"]


def soluble_order(net: DecisionNetwork, free: Sequence[str]) -> list[str]:
    """The decisions, last first, whose best policies do not hang on those still to be found.

    >>> from credo import DecisionNetwork
    >>> d = DecisionNetwork("[A][D?|A][U$|A:D]", {"A": 0.3}, decisions={"D": ["l", "r"]},
    ...     utilities={"U": [[1, 0], [0, 1]]}, memory="limited")
    >>> soluble_order(d, d.decisions)
    ['D']
    """
    left, out = list(free), list[str]()
    while True:
        name = next((n for n in reversed(left) if _alone(net, n, left)), None)
        if name is None:
            return out
        left.remove(name)
        out.append(name)


def _alone(net: DecisionNetwork, name: str, left: Sequence[str]) -> bool:
    """Whether nothing of the other decisions says more of the utilities than its own family."""
    own = {name, *net.information[name]}
    others = {n for d in left if d != name for n in (d, *net.information[d])} - own
    worth = [u for u in net.dag.descendants(name) if u in net.utilities]
    if not others or not worth:
        return True
    if any(others.intersection(net.dag.parents(u)) for u in worth):  # seen without a search
        return False
    return bool(net.dag.d_separated(worth, sorted(others), given=sorted(own)))
