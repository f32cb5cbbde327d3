"""What is believed of every variable at a moment, as JSON: bars of states, densities of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from credo.core.errors import ImpossibleError
from credo.model.networks.network import Network
from credo.plot.networks.boxes import is_number
from credo.predict.questions.intervention import intervene
from credo.predict.questions.request import request
from credo.studio.evidence import Moment, questions_of

__all__ = ["DRAWS", "Asked", "beliefs", "intervals", "moved_bits"]

DRAWS = (200, 1000)
"""For an interval: soon, and when nothing else is asked."""

_POINTS = 49  # of a density that is drawn
_QUANTILES = (np.arange(400) + 0.5) / 400


class Asked:
    """A network and the networks after its interventions, the last few of which are kept.

    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> Asked(net).at(Moment())
    (Network(2 variables, 1 edge, 3 parameters), {})
    """

    def __init__(self, net: Network) -> None:
        self.net = net
        self._after = lru_cache(maxsize=8)(self._cut)

    def _cut(self, done: Moment) -> Network:
        return intervene(self.net, questions_of(self.net, done)[1])

    def at(self, moment: Moment) -> tuple[Network, dict[str, Any]]:
        """The network that is asked at a moment, and what is given."""
        given, do = questions_of(self.net, moment)
        if not do:
            return self.net, given
        done = Moment(tuple(item for item in moment.known if item[1].how == "do"))
        return self._after(done), given


def beliefs(asked: Asked, moment: Moment) -> dict[str, Any]:
    """The posterior of each variable; or, of impossible evidence, the conflict in words.

    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> found = beliefs(Asked(net), Moment())["beliefs"]["wet"]
    >>> [round(p, 6) for p in found["p"]]
    [0.76, 0.24]
    """
    net, given = asked.at(moment)
    try:
        found = net.marginals(given=given)
    except ImpossibleError as error:
        return {"beliefs": None, "impossible": str(error), "approximate": False}
    approximate = any(getattr(d, "approximation", None) is not None for d in found.values())
    return {
        "beliefs": {n: _belief(net, n, found.get(n), moment) for n in net.names},
        "impossible": None,
        "approximate": approximate,
    }


def _belief(net: Network, name: str, found: Any, moment: Moment) -> dict[str, Any]:
    known = moment.of(name)
    if known is not None and known.value is not None:
        return {"value": known.value}
    if not is_number(net.variable(name)):
        if found is None:
            given, _ = questions_of(net, moment)
            variable = net.variable(name)
            return {"p": np.eye(variable.arity)[variable.code(given[name])].tolist()}
        return {"p": np.asarray(found.p, dtype=float).tolist()}
    low, first, last, high = (float(found.quantile(q)) for q in (0.025, 0.002, 0.998, 0.975))
    x = np.linspace(first, last, _POINTS)
    y = np.asarray(found.pdf(x), dtype=float)
    return {
        "mean": float(found.mean), "sd": float(found.sd), "low": low, "high": high,
        "x": [float(f"{v:.6g}") for v in x], "y": [float(f"{v:.6g}") for v in y],
    }  # fmt: skip


def intervals(
    asked: Asked, moment: Moment, draws: int = DRAWS[0], names: Sequence[str] | None = None
) -> dict[str, list[list[float]]]:
    """The 95 % credible interval of each bar, from draws of the parameters.

    What is observed has none.

    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.BDeu(1))
    >>> [[low, high], _] = intervals(Asked(net), Moment(), names=["Fev"])["Fev"]
    >>> low < 0.5 < high
    True
    """
    net, given = asked.at(moment)
    evidence = request(net, given).evidence
    wanted = dict.fromkeys(net.names if names is None else names)
    out: dict[str, list[list[float]]] = {name: [] for name in wanted}
    targets = [n for n in wanted if n not in evidence.hard and n not in evidence.values]
    found: Mapping[str, Any] = (
        net.marginals(given=given, targets=targets, interval=0.95, draws=draws) if targets else {}
    )
    for name, answer in found.items():
        if is_number(net.variable(name)):
            span = answer.mean_interval
            if span is not None:
                out[name] = [[float(span.lower), float(span.upper)]]
        else:
            out[name] = np.column_stack([answer.low, answer.high]).tolist()
    return out


def moved_bits(now: Any, before: Any) -> float:
    """Σ now log₂ (now / before): how much an answer tells beyond the one before.

    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> round(moved_bits(net.p("rain", {"wet": True}), net.p("rain")), 4)
    0.737
    """
    if hasattr(now, "p"):
        p, q = np.asarray(now.p, dtype=float), np.asarray(before.p, dtype=float)
        seen = p > 0
        return max(0.0, float((p[seen] * np.log2(p[seen] / q[seen])).sum()))
    x = now.quantile(_QUANTILES)
    nats = np.asarray(now.logpdf(x), dtype=float) - np.asarray(before.logpdf(x), dtype=float)
    return max(0.0, float(nats.mean() / np.log(2)))
