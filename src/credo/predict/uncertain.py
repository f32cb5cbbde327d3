"""Answers that say how sure they are: a probability, and a Gaussian, with credible intervals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from credo.model.credible import Credible
from credo.model.gaussian import Gaussian
from credo.model.value import View
from credo.render import number, text_html, whiskers

__all__ = ["Probability", "UncertainGaussian"]


class Probability(float):
    """A probability that is a float and carries its credible interval.

    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.Beta(3, 4))
    >>> fever = net.ask("P(Fev=T | Pneu=T)", interval=0.95)
    >>> float(fever), fever.draws
    (0.5, 1000)
    >>> low, high = fever.interval
    >>> 0.2 < low < 0.27 and 0.73 < high < 0.8
    True
    """

    __slots__ = ("interval",)

    interval: Credible

    def __new__(cls, value: float, interval: Credible) -> Probability:
        out = float.__new__(cls, value)
        out.interval = interval
        return out

    def __reduce__(self) -> Any:
        return Probability, (float(self), self.interval)

    @property
    def low(self) -> float:
        """The lower end of the credible interval."""
        return float(self.interval.lower)

    @property
    def high(self) -> float:
        """The upper end of the credible interval."""
        return float(self.interval.upper)

    @property
    def draws(self) -> int:
        """How many draws of the parameters the interval was found with."""
        return self.interval.draws

    @property
    def error(self) -> float:
        """The Monte Carlo error of the interval's ends."""
        return float(self.interval.error)

    def __str__(self) -> str:
        level = f"{100 * self.interval.level:.10g} %"
        picture = whiskers(float(self), self.low, self.high)
        return (
            f"{float(self):.6g}  {level}: {self.low:.4g}–{self.high:.4g}  {picture}\n"
            f"({self.draws:,} draws, ends ± {self.error:.2g})"
        )

    def __repr__(self) -> str:
        return f"Probability({float(self):.6g}, {self.interval})"

    def _repr_html_(self) -> str:
        return text_html(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UncertainGaussian(Gaussian):
    """The answer for a continuous variable, with the credible intervals of its mean and sd."""

    mean_interval: Credible = field(kw_only=True, compare=False)
    sd_interval: Credible = field(kw_only=True, compare=False)

    @property
    def draws(self) -> int:
        """How many draws of the parameters the intervals were found with."""
        return self.mean_interval.draws

    def _view(self) -> View:
        rows = []
        pairs = (("mean", self.mean, self.mean_interval), ("sd", self.sd, self.sd_interval))
        for what, value, interval in pairs:
            low, high = interval
            rows.append([what, number(value), f"{number(low)} to {number(high)}"])
        level = f"{100 * self.mean_interval.level:.10g} %"
        note = f"({self.draws:,} draws)"
        return View(f"Gaussian of {self.name}", ["", "value", level], rows, (1, 2), note)
