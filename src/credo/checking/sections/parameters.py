"""Parameters that the rows leave open: the widest credible intervals.

θ_x | u ~ Beta(α_x, α − α_x)        a slope: Student t, its width times sd(parent) / sd(child)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.checking.findings import SHOWN, Finding, Section
from credo.core.render import many, number
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.softmax import Softmax
from credo.model.values.value import View
from credo.stats.moments import Moments

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Parameters", "Wide", "parameters"]

_KEPT = 200
_MOST = 2_000_000  # cells of a table whose intervals are worked out
WIDE = 0.3
"""A 95 % interval of a probability wider than this is called wide."""


@dataclass(frozen=True, slots=True)
class Wide:
    """A parameter with its 95 % interval; `rows` are those that speak of it.

    `width` is that of the interval: of a probability as it is, of a slope on the scale on which
    parent and child have standard deviation 1.
    """

    name: str
    variable: str
    value: float
    lower: float
    upper: float
    width: float
    rows: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Parameters(Section):
    """The parameters that are known least; `wide` of `count` have wide intervals."""

    widest: tuple[Wide, ...]
    wide: int
    count: int
    unseen: int
    notes: tuple[str, ...] = ()

    def _view(self) -> View:
        rows = [
            [w.name, number(w.value, 4), f"{number(w.lower, 3)} to {number(w.upper, 3)}",
             f"{w.width:.3f}", number(round(w.rows, 2))]
            for w in self.widest[:SHOWN]
        ]  # fmt: skip
        verb = "has" if self.wide == 1 else "have"
        said = [
            f"{self.wide:,} of {many(self.count, 'parameter')} {verb} an interval wider than "
            f"{WIDE:g}"
        ]
        if self.unseen:
            verb = "was" if self.unseen == 1 else "were"
            said.append(f"{many(self.unseen, 'parent configuration')} {verb} never seen")
        head = ["parameter", "value", "95 % interval", "width", "rows"]
        return View("parameters by how open they are", head, rows, (1, 2, 3, 4),
                    "; ".join([*said, *self.notes]))  # fmt: skip

    def findings(self) -> list[Finding]:
        """Parameters that the rows hardly decide."""
        if not self.wide:
            if not self.count:
                return []
            return [
                Finding("parameters", f"{_all(self.count)} known to within "
                        f"{self.widest[0].width if self.widest else 0:.2g} (95 %).",
                        self.widest[0].width if self.widest else 0.0, "good")
            ]  # fmt: skip
        top = self.widest[0]
        share = self.wide / self.count
        return [
            Finding(
                "parameters",
                f"{self.wide:,} of {many(self.count, 'parameter')} "
                f"{'is' if self.wide == 1 else 'are'} known no better than ±"
                f"{WIDE / 2:g}; {top.name} lies between {number(top.lower, 2)} and "
                f"{number(top.upper, 2)} (95 %), from {number(round(top.rows, 1))} "
                f"row{'s' * (round(top.rows, 1) != 1)}.",
                share,
                "note",  # what the rows leave open is no fault of the model
                "Ask with interval=0.95, collect such rows, or give the families fewer parents.",
                top.variable,
                share,
                (top.variable,),
            )
        ]


def _all(n: int) -> str:
    return "The 1 parameter is" if n == 1 else f"All {n:,} parameters are"


def parameters(net: Network) -> Parameters | str:
    """The section, or why there is none."""
    found: list[Wide] = []
    wide = count = unseen = 0
    notes = []
    without = 0
    for local in net.distributions.values():
        if isinstance(local, Cpt):
            if local.counts is None:
                without += not local.has_posterior
                continue
            if local.counts.size > _MOST:
                notes.append(f"{local.title} has {local.counts.size:,} numbers and is left out")
                continue
            if local.child.arity > 1:
                some, w, c, u = _table(local)
                found += some
                wide, count, unseen = wide + w, count + c, unseen + u
        elif local.posterior is None:
            without += 1
        elif isinstance(local, Softmax):
            notes.append(f"{local.title} is a softmax and is left out")
        else:
            some, w, c, u = _lines(net, local)
            found += some
            wide, count, unseen = wide + w, count + c, unseen + u
    if not count:
        return "the network has no posterior; learn its parameters with a prior"
    if without:
        notes.append(f"{without:,} families have no posterior")
    found.sort(key=lambda w: -w.width)
    return Parameters(tuple(found[:_KEPT]), wide, count, unseen, tuple(notes))


def _table(local: Cpt) -> tuple[list[Wide], int, int, int]:
    assert local.counts is not None
    ends = local.ends(0.95)
    low, high = np.asarray(ends.lower), np.asarray(ends.upper)
    width = high - low
    if local.child.arity == 2:  # the other state says the same
        width = np.where(np.arange(2) == 1, width, 0.0)
    prior = local.prior
    observed = local.counts if prior is None else np.maximum(local.counts - prior, 0.0)
    rows = observed.sum(axis=-1)
    top = np.argsort(-width, axis=None, kind="stable")[:_KEPT]
    out = []
    for flat in top:
        at = tuple(int(i) for i in np.unravel_index(flat, local.shape))
        if not width[at] > 0:
            continue
        given = ", ".join(
            f"{p.name}={p.states[i]}" for p, i in zip(local.parents, at, strict=False)
        )
        name = f"P({local.name}={local.child.states[at[-1]]}{' | ' if given else ''}{given})"
        out.append(
            Wide(name, local.name, float(local.values[at]), float(low[at]), float(high[at]),
                 float(width[at]), float(rows[at[:-1]]))
        )  # fmt: skip
    free = rows.size if local.child.arity == 2 else local.counts.size
    unseen = 0 if prior is None else int((rows <= 1e-9).sum())
    return out, int((width > WIDE).sum()), free, unseen


def _lines(net: Network, local: LinearGaussian) -> tuple[list[Wide], int, int, int]:
    assert local.posterior is not None
    spread = _spread(local)
    out: list[Wide] = []
    wide = 0
    shape = local.posterior.shape
    rows = np.asarray(local.posterior.weight)
    for k, parent in enumerate(local.continuous):
        ends = local.interval(0.95, of=parent.name)
        low, high = np.broadcast_to(ends.lower, shape), np.broadcast_to(ends.upper, shape)
        scale = spread.get(parent.name, 1.0) / max(spread.get(local.name, 1.0), 1e-300)
        width = (high - low) * scale
        wide += int((width > WIDE).sum())
        for at in np.ndindex(*shape):
            given = "".join(
                f", {p.name}={p.states[i]}" for p, i in zip(local.discrete, at, strict=True)
            )
            out.append(
                Wide(f"slope of {local.name} in {parent.name}{given}", local.name,
                     float(local.coefficients[at][k]), float(low[at]), float(high[at]),
                     float(width[at]), float(rows[at]))
            )  # fmt: skip
    return out, wide, prod(shape) * max(len(local.continuous), 1), 0


def _spread(local: LinearGaussian) -> dict[str, float]:
    """The standard deviation of each number in the family, by the rows it was learned from."""
    observed: Any = None if local.learned is None else local.learned.observed
    if not isinstance(observed, Moments):
        return {}
    whole = observed.marginal([v.name for v in observed.continuous])
    if not len(whole.n) or not whole.n[0] > 0:
        return {}
    square = np.diag(whole.scatter[0]) / whole.n[0]
    return {
        v.name: float(np.sqrt(max(s, 1e-300)))
        for v, s in zip(whole.continuous, square, strict=True)
    }
