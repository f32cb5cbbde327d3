"""What the panel says of a moment: how probable the evidence is, what moved the selected variable,
whether the evidence conflicts, what explains it best, what to ask next.

    conflict = log₂ Π P(e_i) / P(e)        above 0: less probable together than apart

(Jensen et al. 1991.) The weight of one piece of evidence is how far the answer moves without it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from credo.core.errors import CredoError, ImpossibleError
from credo.core.state_values import readable
from credo.model.networks.network import Network
from credo.predict.questions.intervention import reversible_note
from credo.studio.beliefs import Asked, moved_bits
from credo.studio.evidence import Moment, questions_of

__all__ = ["panel"]

_MOST_WEIGHED = 24  # pieces of evidence that are left out one by one
_MOST_NEXT = 5


def panel(
    asked: Asked, moment: Moment, selected: str | None, costs: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What there is to say of a moment, as JSON; what has no answer is None, with its reason.

    With `costs` of asking, what to ask next is ranked by bits a unit of cost.

    >>> from credo.studio.evidence import Known
    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> said = panel(Asked(net), Moment().knowing("wet", Known("is", (1,))), "rain")
    >>> round(said["p"], 6), said["explanation"], said["weights"][0]["name"]
    (0.24, [['rain', 'True']], 'wet')
    """
    net, given = asked.at(moment)
    out: dict[str, Any] = {
        "selected": selected, "p": None, "density": False, "surprise": None, "conflict": None,
        "explanation": None, "explained": None, "moved": None, "weights": None, "next": None,
        "notes": [],
    }  # fmt: skip
    done = questions_of(asked.net, moment)[1]
    told = reversible_note(asked.net, done, set(asked.net.names)) if done else ""
    if told:
        out["notes"].append(f"{told[:1].upper()}{told[1:]}.")
    try:
        log_p = net.log_evidence(given) if given else 0.0
    except ImpossibleError:
        return out
    out["density"] = any(isinstance(v, float) for v in _numbers(net, given))
    out["p"] = math.exp(min(log_p, 700.0))
    out["surprise"] = -log_p / math.log(2)
    if len(given) > 1:
        alone = sum(net.log_evidence({n: v}) for n, v in given.items())
        out["conflict"] = (alone - log_p) / math.log(2)
    _explain(out, net, given)
    if selected is not None:
        _about(out, net, given, selected, costs or {})
    return out


def _numbers(net: Network, given: Mapping[str, Any]) -> list[Any]:
    return [v for n, v in given.items() if not net.variable(n).is_discrete or net.variable(n).scale]


def _explain(out: dict[str, Any], net: Network, given: Mapping[str, Any]) -> None:
    """The most probable state of all that is open, together."""
    try:
        best = net.mpe(given)
    except CredoError as error:
        out["notes"].append(f"Most probable explanation: {error}")
        return
    out["explanation"] = [
        [n, f"{s:.5g}" if isinstance(s, float) else readable(s)] for n, s in best.items()
    ]
    out["explained"] = best.log_p / math.log(10)


def _about(
    out: dict[str, Any], net: Network, given: Mapping[str, Any], name: str, costs: Mapping[str, Any]
) -> None:
    """How far the evidence moved one variable, by which piece of it, and what to ask next."""
    known = name in given and not isinstance(given[name], (list, dict))
    if not known:
        now = net.p(name, given)
        out["moved"] = moved_bits(now, net.p(name)) if given else 0.0
        weights = []
        for item in list(given)[:_MOST_WEIGHED]:
            less = {n: v for n, v in given.items() if n != item}
            weights.append({"name": item, "bits": moved_bits(now, net.p(name, less))})
        out["weights"] = sorted(weights, key=lambda w: -w["bits"])
        if len(given) > _MOST_WEIGHED:
            out["notes"].append(f"The first {_MOST_WEIGHED} pieces of evidence were weighed.")
        try:
            open_ = {n: c for n, c in costs.items() if n not in given and n != name}
            found = net.evidence_value(name, given, costs=open_ or None)
        except CredoError as error:
            out["notes"].append(f"What to ask next: {error}")
            return
        useful = [g for g in found.gains if g.bits > 1e-9][:_MOST_NEXT]
        out["next"] = [{"name": g.variable, "bits": g.bits} for g in useful]
