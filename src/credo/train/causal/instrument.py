"""Bounds of an effect by an instrument, where hidden causes leave no formula.

    least and most of E(y_{x=b} − y_{x=a}) over all models with this P(x, y | z)

(Balke & Pearl 1997). The interval around the bounds is that of their ends: the bounds of each draw
of the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, SchemaError
from credo.core.render import View
from credo.model.answers.interval import Interval, tails
from credo.model.causal.causal_graph import CausalGraph
from credo.model.causal.formula import Prob
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.values.value import Value
from credo.predict.causal.bounds import instrument_bounds
from credo.predict.causal.effects import leaf_of, uncertain
from credo.train.parameters.parameters import fit

__all__ = ["EffectBounds", "bounded"]

Floats = NDArray[np.float64]
_DRAWS = 200  # linear programmes are dear


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EffectBounds(Value):
    """What an instrument leaves possible of P(outcome | do(to)) − P(outcome | do(from))."""

    x: str
    y: str
    values: tuple[Any, Any]
    outcome: Any
    instrument: str
    bounds: tuple[float, float]
    interval: Interval | None
    reason: str

    def _view(self) -> View:
        low, high = self.bounds
        ends = "" if self.interval is None else str(self.interval)
        title = f"effect of {self.x} ({self.values[0]} → {self.values[1]}) on {self.y}"
        rows = [["difference", f"{low:.4g}", f"{high:.4g}", ends]]
        return View(f"{title}: {self.outcome}, bounds", ["", "least", "most", "ends within"], rows,
                    (1, 2), self.reason)  # fmt: skip


def bounded(
    source: Any, graph: CausalGraph, x: str, y: str, pair: tuple[Any, Any], state: Any, prior: Any,
    level: float, draws: int, seed: int,
) -> EffectBounds:  # fmt: skip
    """The bounds by the first instrument that needs nothing else to be known."""
    found = [i for i in graph.instruments(x, y) if not i.given]
    if not found:
        raise InputError(
            f"There is no instrument for the effect of {x!r} on {y!r} that needs nothing else to "
            "be known: no instrument, no bounds.",
            hint="graph.instruments(…) lists what there is.",
        )
    z = found[0].name
    schema = source.schema
    for name in (z, x, y):
        if not schema[name].is_discrete:
            raise SchemaError(
                f"Bounds go over states, and {name!r} is a number.",
                hint=f"Cut it into intervals first: cr.cut(table, columns=[{name!r}]).",
            )
    saturated = Dag([(z, x), (z, y), (x, y)], [z, x, y])
    net = source if isinstance(source, Network) else fit(saturated, source, prior=prior)
    a, b = (schema[x].code(v) for v in pair)
    to = schema[y].code(state)

    def aim(would: tuple[int, ...]) -> float:
        return float(would[b] == to) - float(would[a] == to)

    def ends(n: int) -> list[tuple[float, float]]:
        names, p = leaf_of(net, y, n, seed)(Prob((x, y), (z,)))
        assert names == (z, x, y)
        return [e for e in (instrument_bounds(q, aim) for q in p) if e is not None]

    whole = ends(0)
    if not whole:
        raise InputError(
            f"The rows contradict the graph: {z!r} reaches {y!r} otherwise than through {x!r}.",
            hint="Look for another instrument.",
        )
    span = None
    drawn = np.array(ends(min(draws, _DRAWS)) if uncertain(net) else [])
    if len(drawn):
        low, high = tails(level)
        span = Interval(float(np.quantile(drawn[:, 0], low)), float(np.quantile(drawn[:, 1], high)),
                        level)  # fmt: skip
    told = f"by the instrument {z}: {found[0].reason}"
    return EffectBounds(x, y, pair, state, z, whole[0], span, told)
