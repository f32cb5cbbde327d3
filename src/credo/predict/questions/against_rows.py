"""A confident answer beside what the training rows themselves say.

    share = n(a=v, b=w) / n(b=w)        against        P(a=v | b=w) with its interval

A search leaves out relations that do not pay for their parameters, and an interval is that of the
parameters, given the graph. Where the share lies outside of the answer's interval, and the answer
outside of the share's own (Jeffreys'), the rows speak against the graph, and the answer says so.
Of three variables only pairs were counted: what is asked of and each of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError
from credo.core.schema import Variable
from credo.model.answers.distribution import Distribution
from credo.predict.exact.posterior import posterior
from credo.predict.questions.request import request
from credo.stats.pair_counts import pair_of

if TYPE_CHECKING:
    from credo.model.answers.interval import Interval
    from credo.model.networks.network import Network
    from credo.predict.questions.evidence import Evidence

__all__ = ["against_rows"]

Floats = NDArray[np.float64]
_GIVEN = 2  # variables of the evidence beyond which pairs say too little


def against_rows(
    net: Network,
    names: Sequence[str],
    p: Floats,
    span: Interval,
    evidence: Evidence,
    event: Mapping[str, Sequence[int]] | None = None,
) -> tuple[str, ...]:
    """What to say where the training rows speak against an answer with its interval.

    `p` are the probabilities of the states of one name; or one probability, of the states that
    `event` has for each name.

    >>> import credo as cr
    >>> rows = {"a": ["x"] * 45 + ["y"] * 55, "b": ["u"] * 60 + ["v"] * 15 + ["u"] * 25}
    >>> net = cr.learn(rows, forbidden=[("a", "b"), ("b", "a")])
    >>> print(net.ask("P(a=x | b=v)", interval=0.95).notes[0])
    P(a=x | b=v) is 0 in the training rows (0 of 15) and 0.455 by the learned graph, which leaves \
out some of what ties a and b
    """
    kept = {} if net.record is None else net.record.details.get("pairs") or {}
    known = [*evidence.hard, *evidence.soft]
    plain = not (evidence.values or evidence.ranges or evidence.tables)
    if not kept or not plain or not known or len(names) > 1 or len(known) > _GIVEN:
        return ()
    target = net.variable(names[0])
    wanted = None if event is None else list(event[names[0]])
    arities = {v.name: v.arity for v in net.variables if v.is_discrete}
    for name in known:
        by = net.variable(name)
        weights = _known(evidence, by)
        counts = pair_of(kept, target, by, arities)
        if counts is None or not np.isin(weights, (0.0, 1.0)).all():
            continue
        if len(known) == 1:
            found, ends = np.atleast_1d(p), np.array([np.ravel(span.lower), np.ravel(span.upper)])
        else:
            found, ends = _alone(net, target, by, weights, wanted), None
        note = _note(target, by, counts @ weights, weights, found, ends, wanted, span.level)
        if note:
            return (note,)
    return ()


def _known(evidence: Evidence, by: Variable) -> Floats:
    """Evidence on a variable as a number for each of its states."""
    if by.name in evidence.soft:
        return np.asarray(evidence.soft[by.name], dtype=np.float64)
    out: Floats = np.eye(by.arity)[evidence.hard[by.name]]
    return out


def _alone(
    net: Network, target: Variable, by: Variable, weights: Floats, wanted: list[int] | None
) -> Floats:
    """The answer from one part of the evidence alone."""
    states = {s for s, w in zip(by.states, weights, strict=True) if w}
    try:
        found: Any = posterior(request(net, {by.name: states}, target.name))
    except CredoError:
        return np.zeros(0)
    if not isinstance(found, Distribution):
        return np.zeros(0)
    return found.p if wanted is None else np.atleast_1d(found.p[wanted].sum())


def _note(
    target: Variable, by: Variable, counts: Floats, weights: Floats, p: Floats,
    ends: Floats | None, wanted: list[int] | None, level: float,
) -> str:  # fmt: skip
    """The state in which rows and answer are farthest apart, if they refute each other."""
    from scipy.special import betaincinv

    total = float(counts.sum())
    if not p.size or total < 1:
        return ""
    cells = counts if wanted is None else np.atleast_1d(counts[wanted].sum())
    share = cells / total
    tests = len(p) if len(p) > 2 else 1  # two states are one number
    tail = (1 - level) / 2 / tests
    low = betaincinv(cells + 0.5, total - cells + 0.5, tail)
    high = betaincinv(cells + 0.5, total - cells + 0.5, 1 - tail)
    apart = (p < low) | (p > high)
    if ends is not None:
        apart &= (share < ends[0]) | (share > ends[1])
    if not apart.any():
        return ""
    k = int(np.where(apart, np.abs(share - p), -1.0).argmax())
    of = [k] if wanted is None else wanted
    known = [i for i, w in enumerate(weights) if w]
    return (
        f"P({_said(target, of)} | {_said(by, known)}) is {share[k]:.3g} in the training rows "
        f"({cells[k]:,.6g} of {total:,.6g}) and {p[k]:.3g} by the learned graph, which leaves out "
        f"some of what ties {target.name} and {by.name}"
    )


def _said(variable: Variable, codes: Sequence[int]) -> str:
    """A variable with one state or several."""
    return f"{variable.name}={' or '.join(variable.texts[i] for i in codes)}"
