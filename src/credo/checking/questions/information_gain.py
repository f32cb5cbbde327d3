"""The value of evidence: which variable, if it were observed, would tell most of the target?

    I(T; Y | e) = H(T | e) − Σ_y P(y | e) H(T | y, e)        in bits

One plan with the target observed, run once for each of its states, gives P(Y | t, e) of every other
variable at once, and with P(t | e) every joint of the target with one more variable. In Gaussian
networks I = −½ log₂(1 − ρ²), with ρ the correlation given the evidence; where a continuous target
is a mixture of Gaussians, I is integrated (`mixture_information`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.findings import Section, pick
from credo.checking.questions.mixture_information import MAX_GAUSSIANS, of_number, of_states
from credo.core.errors import InputError, unknown_name
from credo.core.render import bar, shortened
from credo.model.methods.pictures import picture
from credo.model.values.value import View
from credo.predict.exact.engine import Engine, engine_of, split
from credo.predict.exact.posterior import mixed_answer
from credo.predict.mixed.densities import density_tables
from credo.predict.mixed.gaussian_network import gaussian_posterior
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.impossible import refuse_impossible
from credo.predict.questions.request import Request, target_names

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["EvidenceValue", "Gain", "evidence_value"]

Floats = NDArray[np.float64]

_SHOWN = 15


@dataclass(frozen=True, slots=True)
class Gain:
    """What observing a variable would tell of the target, in bits, and for each unit of cost."""

    variable: str
    bits: float
    share: float
    cost: float = 1.0

    @property
    def worth(self) -> float:
        """Bits for each unit of cost."""
        return self.bits / self.cost


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EvidenceValue(Section):
    """The variables that could be observed, most informative first.

    `uncertainty` is that of the target now, in bits (its entropy; None for a number, whose entropy
    depends on its unit). `share` of a gain is the share of it that would go.

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain][late|rain]", {
    ...     "rain": 0.2, "wet": {False: 0.1, True: 0.8}, "late": {False: 0.3, True: 0.4}})
    >>> print(net.evidence_value("rain"))
    what would tell most of rain
    variable     bits  of 0.7219
    wet       0.27546     38.2 %  ███████▋
    late      0.00516      0.7 %  ▏
    """

    target: str
    given: Mapping[str, Any]
    uncertainty: float | None
    gains: tuple[Gain, ...]
    left_out: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Gain:
        return pick(self.gains, "variable", name, "Variable", "among those asked")

    @property
    def best(self) -> Gain:
        """The variable that would tell most."""
        return self.gains[0]

    def plot(self, ax: Any = None, most: int = 15) -> Any:
        """The gains as bars; see `credo.plot.evidence_bars`."""
        return picture("evidence_bars")(self, ax, most)

    def _view(self) -> View:
        costly = any(g.cost != 1.0 for g in self.gains)
        rows = []
        for g in self.gains[:_SHOWN]:
            share = [f"{100 * g.share:.1f} %"] if self.uncertainty is not None else []
            cost = [f"{g.worth:.5f}"] if costly else []
            rows.append([g.variable, f"{g.bits:.5f}", *share, *cost,
                         bar(g.share if self.uncertainty is not None else
                             g.bits / max(self.gains[0].bits, 1e-300))])  # fmt: skip
        head = ["variable", "bits"]
        head += [f"of {self.uncertainty:.4f}"] if self.uncertainty is not None else []
        head += ["bits a unit of cost"] if costly else []
        said = ", ".join(f"{n}={v}" for n, v in self.given.items())
        title = f"what would tell most of {self.target}" + (f" given {said}" if said else "")
        more = len(self.gains) - len(rows)
        tell = "1 more variable tells" if more == 1 else f"{more:,} more variables tell"
        notes = [f"{tell} less"] if more else []
        if self.left_out:
            why = (
                f"continuous, so left out beside {self.target}, which is discrete"
                if self.uncertainty is not None
                else f"left out, as they and {self.target} mix more than {MAX_GAUSSIANS} Gaussians"
            )
            notes.append(f"{shortened(self.left_out)}: {why}")
        right = tuple(range(1, len(head)))
        return View(title, [*head, ""], rows, right, "; ".join(notes))


def evidence_value(
    net: Network,
    target: str,
    given: Mapping[str, Any] | None = None,
    *,
    among: Sequence[str] | None = None,
    costs: Mapping[str, float] | None = None,
) -> EvidenceValue:
    """Which unobserved variable would tell most of the target, in bits.

    `among` names the variables that could be observed (by default all), `costs` what observing
    each costs: the best is then that with most bits for its cost.

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> round(cr.evidence_value(net, "rain").best.bits, 6)
    0.275458
    """
    evidence = Evidence.of(net, {} if given is None else given)
    if not isinstance(target, str):
        raise InputError(f"The value of evidence is for one variable, by name, got {target!r}.")
    target_names(net, target, evidence)
    known = {target, *evidence.hard, *evidence.values}
    names = [n for n in net.names if n not in known]
    if among is not None:
        for name in among:
            if name not in net.schema:
                raise unknown_name("Variable", name, net.names, "in the model")
            if name in known:
                raise InputError(f"{name!r} is the target, or observed already.")
        names = [n for n in names if n in set(among)]
    price = _costs(net, costs)
    if not net.variable(target).is_discrete:
        uncertainty, bits, left = None, *_continuous(net, target, names, evidence)
    else:
        uncertainty, bits, left = _discrete(net, target, names, evidence)
    gains = [
        Gain(n, b, b / uncertainty if uncertainty else 0.0, price.get(n, 1.0))
        for n, b in bits.items()
    ]
    gains.sort(key=lambda g: -g.worth)
    return EvidenceValue(target, dict(given or {}), uncertainty, tuple(gains), tuple(left))


def _costs(net: Network, costs: Mapping[str, float] | None) -> dict[str, float]:
    from credo.model.values.value import positive

    out = {}
    for name, cost in (costs or {}).items():
        if name not in net.schema:
            raise unknown_name("Variable", name, net.names, "in the model")
        out[name] = positive(cost, f"The cost of {name!r}")
    return out


def _entropy(p: Floats, axis: int = -1) -> Floats:
    """In bits."""
    out: Floats = -(p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=axis)
    return out


def _discrete(
    net: Network, target: str, names: list[str], evidence: Evidence
) -> tuple[float, dict[str, float], list[str]]:
    engine: Engine = engine_of(net).given(evidence.values, evidence.hard)
    left = [n for n in names if not net.variable(n).is_discrete]
    names = [n for n in names if net.variable(n).is_discrete]
    arity = net.variable(target).arity
    observed = [engine.at[n] for n in (*evidence.hard, *evidence.values, target)]
    codes = [*evidence.hard.values(), *([0] * len(evidence.values))]
    batch = np.empty((arity, len(observed)), dtype=np.int32)
    batch[:, :-1] = codes
    batch[:, -1] = np.arange(arity)
    soft = [n for n in evidence.soft if n != target]
    plan = engine.plan(observed, [engine.at[n] for n in names], soft=[engine.at[n] for n in soft])
    tables, _ = density_tables(engine, evidence)
    likelihoods = [np.ascontiguousarray(evidence.soft[n][None, :]) for n in soft]
    log_e, flat, _ = plan.run(tables, batch, likelihoods, 1)
    log_e = np.asarray(log_e, dtype=np.float64).copy()
    if target in evidence.soft:
        with np.errstate(divide="ignore"):
            log_e += np.log(evidence.soft[target])
    refuse_impossible(net, evidence, float(log_e.max()))
    p = np.exp(log_e - log_e.max())
    p /= p.sum()
    now = float(_entropy(p))
    out = {}
    parts = split(np.asarray(flat), [engine.arities[engine.at[n]] for n in names])
    for name, given_t in zip(names, parts, strict=True):
        rows = np.where((p > 0)[:, None], given_t, 0.0)
        joint = p[:, None] * rows
        share = joint.sum(axis=0)
        # I = Σ p(t, y) log₂ p(y | t) / p(y): no difference of large numbers
        ratio = np.where(joint > 0, rows / np.where(share > 0, share, 1.0), 1.0)
        out[name] = max(float((joint * np.log2(ratio)).sum()), 0.0)
    return now, out, left


def _continuous(
    net: Network, target: str, names: list[str], evidence: Evidence
) -> tuple[dict[str, float], list[str]]:
    """Bits of a continuous target, and the variables for which they are not worked out."""
    plain = not any(v.is_discrete for v in net.variables)
    out: dict[str, float] = {}
    left = []
    for name in names:
        if net.variable(name).is_discrete:
            out[name] = of_states(mixed_answer(Request(net, evidence, (target, name))))
            continue
        pair = [target, name]
        bits = of_number(
            gaussian_posterior(net, pair, evidence) if plain else
            mixed_answer(Request(net, evidence, (target, name)))
        )  # fmt: skip
        if bits is None:
            left.append(name)
        else:
            out[name] = bits
    return out, left
