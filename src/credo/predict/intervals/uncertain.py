"""Answers that say how sure they are: probabilities, Gaussians and mixtures with intervals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from credo.core.render import many, number, text_html, whiskers
from credo.model.answers.credible import Credible
from credo.model.answers.multivariate_mixture import MultivariateMixture
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.distributions.gaussian import Gaussian, drawn
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.values.value import View

__all__ = [
    "Probability",
    "UncertainGaussian",
    "UncertainMixture",
    "UncertainMultivariate",
    "UncertainMultivariateMixture",
]


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

    __slots__ = ("interval", "notes")

    interval: Credible
    notes: tuple[str, ...]

    def __new__(cls, value: float, interval: Credible, notes: tuple[str, ...] = ()) -> Probability:
        out = float.__new__(cls, value)
        out.interval, out.notes = interval, notes
        return out

    def __reduce__(self) -> Any:
        return Probability, (float(self), self.interval, self.notes)

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
        text = f"{float(self):.6g}  {level}: {self.low:.4g}–{self.high:.4g}  {picture}"
        return "\n".join([text, f"({self.draws:,} draws, ends ± {self.error:.2g})", *self.notes])

    def __repr__(self) -> str:
        return f"Probability({float(self):.6g}, {self.interval})"

    def _repr_html_(self) -> str:
        return text_html(self)


def _ends(span: Credible, *at: int) -> str:
    low, high = (float(np.asarray(end)[at]) for end in span)
    return f"{number(low)} to {number(high)}"


def _level(span: Credible) -> str:
    return f"{100 * span.level:.10g} %"


def _drawn(**spans: Credible) -> str:
    """How many draws, and how far the ends may be off."""
    errors = [f"{what} ± {float(np.max(s.error)):.2g}" for what, s in spans.items()]
    draws = next(iter(spans.values())).draws
    return f"({draws:,} draws; ends: {', '.join(errors)})"


class _FromDraws:
    """What the answers with intervals share."""

    __slots__ = ()

    mean_interval: Credible

    @property
    def draws(self) -> int:
        """How many draws of the parameters the intervals were found with."""
        return self.mean_interval.draws


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UncertainGaussian(_FromDraws, Gaussian):
    """The answer for a continuous variable, with the credible intervals of its mean and sd."""

    mean_interval: Credible = field(kw_only=True, compare=False)
    sd_interval: Credible = field(kw_only=True, compare=False)

    def _view(self) -> View:
        rows = []
        pairs = (("mean", self.mean, self.mean_interval), ("sd", self.sd, self.sd_interval))
        for what, value, interval in pairs:
            rows.append([what, number(value), _ends(interval)])
        note = f"{drawn(self)}\n{_drawn(mean=self.mean_interval, sd=self.sd_interval)}".lstrip()
        head = ["", "value", _level(self.mean_interval)]
        return View(f"Gaussian of {self.name}", head, rows, (1, 2), note)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UncertainMixture(_FromDraws, NormalMixture):
    """A mixture for a continuous variable, with the credible intervals of its mean and sd.

    `weight_interval` has the ends for each Gaussian's weight, the probability of its states; it is
    None where the Gaussians are those of different graphs.
    """

    mean_interval: Credible = field(kw_only=True, compare=False)
    sd_interval: Credible = field(kw_only=True, compare=False)
    weight_interval: Credible | None = field(default=None, kw_only=True, compare=False)

    @property
    def _note(self) -> str:
        level = _level(self.mean_interval)
        return (
            f"mean {number(self.mean)}, {level}: {_ends(self.mean_interval)}\n"
            f"sd {number(self.sd)}, {level}: {_ends(self.sd_interval)}\n"
            + _drawn(mean=self.mean_interval, sd=self.sd_interval)
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UncertainMultivariate(_FromDraws, MultivariateGaussian):
    """Several continuous variables, with the intervals of means, sds and correlations."""

    mean_interval: Credible = field(kw_only=True, compare=False)
    sd_interval: Credible = field(kw_only=True, compare=False)
    correlation_interval: Credible = field(kw_only=True, compare=False)

    def _view(self) -> View:
        return _several(self, "Gaussian")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UncertainMultivariateMixture(_FromDraws, MultivariateMixture):
    """A mixture of several continuous variables, with intervals of means, sds, correlations."""

    mean_interval: Credible = field(kw_only=True, compare=False)
    sd_interval: Credible = field(kw_only=True, compare=False)
    correlation_interval: Credible = field(kw_only=True, compare=False)

    def _view(self) -> View:
        return _several(self, f"mixture of {many(len(self), 'Gaussian')}")


def _several(answer: Any, kind: str) -> View:
    """Means, standard deviations and correlations of several variables, each with its ends."""
    rows, sd, correlation = [], answer.sd, answer.correlation
    for i, name in enumerate(answer.names):
        rows.append([f"mean {name}", number(float(answer.mean[i])), _ends(answer.mean_interval, i)])
        rows.append([f"sd {name}", number(float(sd[i])), _ends(answer.sd_interval, i)])
    for i, a in enumerate(answer.names):
        for j in range(i + 1, len(answer.names)):
            ends = _ends(answer.correlation_interval, i, j)
            rows.append([f"r {a}, {answer.names[j]}", number(float(correlation[i, j])), ends])
    note = _drawn(mean=answer.mean_interval, sd=answer.sd_interval, r=answer.correlation_interval)
    head = ["", "value", _level(answer.mean_interval)]
    return View(f"{kind} of {', '.join(answer.names)}", head, rows, (1, 2), note)
