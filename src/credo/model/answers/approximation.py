"""Approximation: how an answer that is not exact was found, and how far off it may be.

A sampled answer has a standard error and an interval for each probability, and says how many
independent draws it is worth (Kish's effective sample size, (Σw)² / Σw²). Loopy belief propagation
has neither: it says whether its messages agree, and that nothing is guaranteed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.frozen import Frozen
from credo.model.answers.interval import Interval
from credo.model.values.value import Told

_NAMES = {
    "importance": "importance sampling",
    "weighting": "likelihood weighting",
    "loopy": "loopy belief propagation",
    "gibbs": "Gibbs sampling",
    "points": "quasi-random points",
}


def enough(samples: int) -> float:
    """The effective samples from which on an error is believed: a hundred, and 4 √n of n.

    Where fewer of many count, some that would count more are likely not to have been drawn.

    >>> enough(500), enough(10_000)
    (100.0, 400.0)
    """
    return max(100.0, 4 * math.sqrt(samples))


@dataclass(frozen=True, slots=True, eq=False)
class Approximation(Told, Frozen):
    """The account of an approximate answer.

    `interval` holds each probability's 95 % interval and `standard_error` its standard error;
    both are None where there is no guarantee. `effective` is what the samples are worth in
    independent draws, `largest_weight` the share of the heaviest one. `residual`, `iterations` and
    `trace` tell how far messages still changed. `stopped` says why it ended, `why` why the answer
    is not exact.

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> d = net.p("rain", {"wet": True}, method="weighting", budget="20000 samples")
    >>> d.approximation.samples, d.approximation.guaranteed
    (20000, True)
    >>> low, high = d.approximation.interval
    >>> bool(low[1] < 2 / 3 < high[1])
    True
    """

    method: str
    interval: Interval | None = None
    standard_error: NDArray[np.float64] | None = None
    samples: int = 0
    effective: float = 0.0
    largest_weight: float = 0.0
    chains: int = 0
    iterations: int = 0
    residual: float | None = None
    trace: tuple[float, ...] = field(default=(), repr=False)
    converged: bool = True
    variables: int = 0
    seed: int | None = None
    stopped: str = ""
    why: str = ""
    seconds: float = 0.0
    of: str = ""
    """What the interval is of, where it is not a probability: the mean."""

    @property
    def name(self) -> str:
        """The method in words."""
        return _NAMES.get(self.method, self.method)

    @property
    def guaranteed(self) -> bool:
        """Whether the error is known: false for loopy belief propagation."""
        return self.interval is not None

    @property
    def half_width(self) -> float | None:
        """Half the widest 95 % interval of all the probabilities that were asked for."""
        return None if self.interval is None else float(np.max(self.interval.width) / 2)

    @property
    def exact(self) -> bool:
        """Whether there was nothing to draw, so that the answer is exact after all."""
        return self.half_width == 0

    @property
    def reliable(self) -> bool:
        """Whether the intervals can be believed: enough effective draws, none of which rules."""
        if not self.guaranteed or self.exact:
            return self.exact
        least = 100.0 if self.chains else enough(self.samples)
        return self.converged and self.effective >= least and self.largest_weight <= 0.1

    @property
    def line(self) -> str:
        """The account on one line."""
        if self.exact:
            return f"exact: {self.stopped}"
        parts = [f"approximate: {self.name}"]
        if self.samples:
            parts.append(f"{self.samples:,} samples")
            parts.append(f"effective {self.effective:,.0f}")
        if self.half_width is not None:
            parts.append(f"{self.of} ±{self.half_width:.2g}".strip())
        if self.residual is not None and not self.samples:
            end = "messages agree" if self.converged else f"residual {self.residual:.1g}"
            sweeps = "1 sweep" if self.iterations == 1 else f"{self.iterations:,} sweeps"
            parts += [sweeps, end, "no guarantee"]
        elif not self.reliable and self.guaranteed:
            parts.append("not reliable")
        return ", ".join(parts)

    def __str__(self) -> str:
        return f"{self.line}\n{self.details}"

    @property
    def details(self) -> str:
        """The rest of the account: why, until when, from what."""
        lines = []
        if self.why:
            lines.append(f"not exact: {self.why}")
        if self.stopped and not self.exact:
            lines.append(f"stopped because {self.stopped}")
        if self.samples:
            lines.append(f"{self.variables:,} variables drawn, seed {self.seed}")
            if self.chains:
                lines.append(
                    f"{self.chains:,} chains, which mixed"
                    if self.converged
                    else f"{self.chains:,} chains, which have not mixed: the intervals reach from "
                    "the lowest chain to the highest; run them longer"
                )
            else:
                lines.append(
                    f"the heaviest sample has {100 * self.largest_weight:.2g} % of the weight"
                )
            if not self.reliable and not self.chains:
                lines.append("few samples carry the weight: the intervals cannot be believed")
        elif self.residual is not None:
            lines.append(f"messages changed by {self.residual:.2g} in the last sweep")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON.

        >>> Approximation("loopy", residual=0.0, iterations=3).to_dict()["guaranteed"]
        False
        """
        out: dict[str, Any] = {"method": self.method, "guaranteed": self.guaranteed}
        if self.samples:
            out |= {
                "samples": self.samples,
                "effective": self.effective,
                "largest_weight": self.largest_weight,
                "reliable": self.reliable,
                "seed": self.seed,
            }
        if self.residual is not None:
            out |= {"iterations": self.iterations, "residual": self.residual}
        out["converged"] = self.converged
        if self.interval is not None and self.standard_error is not None:
            low, high = (np.asarray(end).ravel().tolist() for end in self.interval)
            out["interval"] = [list(pair) for pair in zip(low, high, strict=True)]
            out["standard_error"] = self.standard_error.ravel().tolist()
            out["half_width"] = self.half_width
        return out | {"stopped": self.stopped, "why": self.why, "seconds": self.seconds}


class Estimate(float, Told):
    """A number that is not exact: a float that carries its account.

    >>> x = Estimate(0.25, Approximation("loopy", residual=0.0, iterations=3))
    >>> x + 1, x.approximation.method
    (1.25, 'loopy')
    >>> print(x)
    0.25 (approximate: loopy belief propagation, 3 sweeps, messages agree, no guarantee)
    """

    __slots__ = ("approximation", "notes")
    approximation: Approximation
    notes: tuple[str, ...]

    def __new__(
        cls, value: float, approximation: Approximation, notes: tuple[str, ...] = ()
    ) -> Estimate:
        out = super().__new__(cls, value)
        out.approximation, out.notes = approximation, notes
        return out

    def moved(self, by: float) -> Estimate:
        """The number and its interval, moved by one that is known exactly."""
        span = self.approximation.interval
        ends = None if span is None else Interval(span.lower + by, span.upper + by, span.level)
        return Estimate(float(self) + by, replace(self.approximation, interval=ends))

    def __reduce__(self) -> tuple[Any, ...]:
        return Estimate, (float(self), self.approximation, self.notes)

    def __repr__(self) -> str:
        half = self.approximation.half_width
        return f"Estimate({float(self):.6g}" + (f" ± {half:.2g})" if half is not None else ")")

    def __str__(self) -> str:
        return "\n".join([f"{float(self):.6g} ({self.approximation.line})", *self.notes])
