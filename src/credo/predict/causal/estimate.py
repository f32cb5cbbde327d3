"""EffectEstimate: how large an effect is, how sure, by which formula, and what could upset it.

difference P(y | do(x₁)) − P(y | do(x₀)),   ratio,   odds ratio;   of a number: of its mean

E-value  r + √(r (r − 1)),  r the ratio (or its inverse, if below 1): how strongly, as ratios, a
hidden cause must be tied to both x and y to explain the effect away (VanderWeele & Ding 2017)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.render import View, number
from credo.model.answers.credible import Credible
from credo.model.causal.formula import Formula
from credo.model.values.reals import real_or_nan
from credo.model.values.value import Told, Value
from credo.predict.causal.bounds import counterfactual_bounds
from credo.predict.causal.effects import Stratum

__all__ = ["EffectEstimate", "Estimated", "compared_tables", "e_value"]

Floats = NDArray[np.float64]


class Estimated(Told, float):
    """A number that carries its credible interval, if it has one.

    >>> import credo as cr
    >>> kidney = cr.examples.kidney_stones()
    >>> found = cr.effect(kidney, "treatment", "success", graph="[size][treatment|size]"
    ...     "[success|treatment:size]", values=("B", "A"))
    >>> found.difference.interval.level
    0.95
    """

    __slots__ = ("interval",)
    interval: Credible | None

    def __new__(cls, value: float, interval: Credible | None = None) -> Estimated:
        out = float.__new__(cls, value)
        out.interval = interval
        return out

    def __reduce__(self) -> Any:
        return Estimated, (float(self), self.interval)

    def __str__(self) -> str:
        text = number(float(self))
        return text if self.interval is None else f"{text}, {self.interval}"

    def __repr__(self) -> str:
        return f"Estimated({str(self)!r})"


def e_value(ratio: float) -> float:
    """How strong a hidden cause must be, on the scale of ratios, to explain a ratio away.

    >>> round(e_value(10.73), 2)  # smoking and lung cancer (VanderWeele & Ding 2017)
    20.95
    """
    r = ratio if ratio >= 1 else (1 / ratio if ratio > 0 else inf)
    return r + sqrt(r * (r - 1)) if r < inf else inf


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EffectEstimate(Value):
    """The effect of setting `x` from one value to another on `y`; see docs/causes.md."""

    x: str
    y: str
    values: tuple[Any, Any]
    outcome: Any
    """The state of y whose probability is compared; None for the mean of a number."""
    p: tuple[float, float]
    """P(outcome | do(x)), or the mean, for each of the two values."""
    plain: tuple[float, float]
    """The same when x is only seen."""
    samples: Floats | None = field(repr=False)
    level: float
    found: Formula | None
    reason: str
    adjustment: tuple[str, ...] | None
    positivity: tuple[Stratum, ...] = ()
    """Cells without rows that the formula needs."""
    confounding: float | None = None
    """How far what is seen lies from what setting does: mean relative entropy, in bits."""
    tables: tuple[Floats, Floats] | None = field(default=None, repr=False)
    """P(x, outcome or not) and P(outcome or not | do(x)), a row for each state of x."""
    at: tuple[int, int] = (0, 1)
    """Which rows of the tables are compared."""
    notes: tuple[str, ...] = ()

    @property
    def formula(self) -> Formula | None:
        """The formula that was evaluated; None where the network with x set answered."""
        return self.found

    @property
    def difference(self) -> Estimated:
        """P(outcome | do(to)) − P(outcome | do(from)), or the difference of means."""
        a, b = self.p
        return Estimated(b - a, self._span(lambda d: d[:, 1] - d[:, 0]))

    @property
    def ratio(self) -> Estimated | None:
        """The ratio of the two probabilities; None for means, or where the first is 0."""
        a, b = self.p
        if self.outcome is None or a <= 0:
            return None
        return Estimated(b / a, self._span(lambda d: d[:, 1] / _above(d[:, 0])))

    @property
    def odds_ratio(self) -> Estimated | None:
        """The ratio of the odds; None for means, or where it would divide by 0."""
        a, b = self.p
        if self.outcome is None or not (0 < a < 1 and b < 1):
            return None
        value = float(_odds(b) / _odds(a))
        return Estimated(value, self._span(lambda d: _odds(d[:, 1]) / _above(_odds(d[:, 0]))))

    @property
    def interval(self) -> Credible | None:
        """The credible interval of the difference; None without a posterior."""
        return self.difference.interval

    @property
    def e_value(self) -> float | None:
        """How strongly a hidden cause must be tied to x and to y to explain the ratio away."""
        return None if self.ratio is None else e_value(self.ratio)

    @property
    def e_value_of_interval(self) -> float | None:
        """The same for the end of the ratio's interval next to 1; 1 if it holds 1."""
        if self.ratio is None or self.ratio.interval is None:
            return None
        low, high = self.ratio.interval
        return e_value(low) if low > 1 else e_value(high) if high < 1 else 1.0

    @property
    def necessity(self) -> tuple[float, float] | None:
        """Bounds of the probability of necessity: y was as it is because x was as it was.

        P(y would have been otherwise had x been `from` | x is `to`, y is the outcome).
        """
        return self._because(self.at[1], self.at[0], 0)

    @property
    def sufficiency(self) -> tuple[float, float] | None:
        """Bounds of the probability of sufficiency: setting x would bring the outcome about.

        P(y would be the outcome were x `to` | x is `from`, y is not the outcome).
        """
        return self._because(self.at[0], self.at[1], 1)

    def _because(self, x: int, other: int, y: int) -> tuple[float, float] | None:
        if self.tables is None or self.tables[0][x, y] <= 0:
            return None
        weight = float(self.tables[0][x, y])
        found = counterfactual_bounds(
            *self.tables, lambda t, ys: t == x and ys[x] == y and ys[other] != y
        )
        return None if found is None else (found[0] / weight, min(found[1] / weight, 1.0))

    def hidden_cause(self, share_at_to: float, share_at_from: float) -> float | None:
        """How many times more probable a hidden binary cause must make the outcome to explain it.

        The shares are those of rows that have the hidden cause, at either value of x. None if no
        strength would do.

        >>> import credo as cr
        >>> net = cr.Network("[s][l|s]", {"s": 0.5, "l": {False: 0.1, True: 0.3}})
        >>> cr.effect(net, "s", "l").hidden_cause(0.8, 0.1)  # (1 + 4 · 0.8) / (1 + 4 · 0.1) = 3
        5.0
        """
        shares = [real_or_nan(s) for s in (share_at_to, share_at_from)]
        if not all(0 <= s <= 1 for s in shares):
            raise InputError(
                f"A share of rows lies between 0 and 1, got {share_at_to!r} and {share_at_from!r}."
            )
        r = self.ratio
        if r is None:
            raise InputError("The strength of a hidden cause is known for probabilities above 0.")
        a, b = shares if r >= 1 else shares[::-1]
        r = r if r >= 1 else Estimated(1 / r if r > 0 else inf)
        room = a - r * b
        if float(r) == 1.0:
            return 1.0
        return round(1 + (r - 1) / room, 12) if room > 0 and r < inf else None

    def _span(self, of: Any) -> Credible | None:
        return None if self.samples is None else Credible.of(of(self.samples), self.level)

    def _view(self) -> View:
        a, b = self.values
        what = f"P({self.y}={self.outcome} | do({self.x}={{}}))"
        what = f"mean of {self.y}, do({self.x}={{}})" if self.outcome is None else what
        rows: list[Sequence[object]] = []
        for i, value in enumerate(self.values):
            one = Estimated(self.p[i], self._span(lambda d, i=i: d[:, i]))
            rows.append([what.format(value), *_row(one), number(self.plain[i], 4)])
        seen = self.plain[1] - self.plain[0]
        rows.append(["difference", *_row(self.difference), number(seen, 4)])
        for name, one_ in (("ratio", self.ratio), ("odds ratio", self.odds_ratio)):
            if one_ is not None:
                rows.append([name, *_row(one_), ""])
        end = f": {self.outcome}" if self.outcome is not None else ""
        title = f"effect of {self.x} ({a} → {b}) on {self.y}{end}"
        head = ["", "set", f"{100 * self.level:.10g} %", "only seen"]
        if self.samples is None:
            head, rows = [*head[:2], head[3]], [[*r[:2], r[3]] for r in rows]
        return View(title, head, rows, (1, 2, 3)[: len(head) - 1], "\n".join(self._lines()))

    def _lines(self) -> list[str]:
        out = [] if self.found is None else [f"by {self.found}"]
        out.append(self.reason)
        if self.confounding is not None:
            out.append(f"seen and set lie {self.confounding:.3g} bits apart")
        if self.e_value is not None:
            end = self.e_value_of_interval
            at = "" if end is None else f" ({number(end, 3)} for the end of the interval)"
            out.append(
                f"a hidden cause would have to be tied to {self.x} and {self.y} by ratios of "
                f"{number(self.e_value, 3)}{at} to explain it away"
            )
        for name, ends in (("necessity", self.necessity), ("sufficiency", self.sufficiency)):
            if ends is not None:
                out.append(f"probability of {name}: {ends[0]:.4g} to {ends[1]:.4g}")
        return [*out, *map(str, self.positivity), *self.notes]

    def __repr__(self) -> str:
        return f"EffectEstimate({self.x} → {self.y}: {self.difference})"


def compared_tables(joint: Floats, set_: Floats, to: int) -> dict[str, Any]:
    """What an estimate says of P(x, y) as it is seen beside P(y | do(x)), y being `to` or not."""
    weight = joint.sum(axis=1, keepdims=True)
    seen = np.divide(joint, weight, where=weight > 0, out=np.zeros(joint.shape))
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(joint > 0, joint * np.log2(seen / set_), 0.0).sum()
    seen_or_not = np.stack([joint[:, to], joint.sum(axis=1) - joint[:, to]], axis=1)
    set_or_not = np.stack([set_[:, to], 1 - set_[:, to]], axis=1)
    return {
        "confounding": float(max(bits, 0.0)) if np.isfinite(bits) else None,
        "tables": (seen_or_not, set_or_not),
    }


def _row(one: Estimated) -> list[str]:
    span = "" if one.interval is None else "{:.4g} to {:.4g}".format(*one.interval)
    return [number(float(one), 4), span]


def _odds(p: Any) -> Any:
    return p / _above(1 - p)


def _above(values: Any) -> Any:
    """Never 0, so that a ratio of draws is a number."""
    return np.maximum(values, 1e-300)
