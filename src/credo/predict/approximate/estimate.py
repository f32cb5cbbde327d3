"""Weighted samples counted: estimates, their errors, and what the samples are worth.

    p̂ = Σ w [x = k] / Σ w,    se² = Σ w² ([x = k] − p̂)² / (Σ w)²,    n_eff = (Σ w)² / Σ w²

The error is the delta method's for a ratio of means. The interval is Wilson's with the number of
independent draws that would have that error, so a state that was never seen has an interval too.
The error is itself estimated, from few samples where a state is rare, so Student's quantile takes
the place of the normal one; its degrees of freedom are what the variance is known by (Satterthwaite
1946): of weighted samples 2 v (1 + 1/c²), v the effective samples on the rarer side and c² the
squared variation of the weights, none for equal weights, which need no estimate.

Samples that all agree do not show an error of zero: what n of them have not seen may have a
probability of 3.7 / n (the rule of three, at 97.5 %), which is part of every error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.progress import track
from credo.model.answers.interval import Interval
from credo.predict.questions.request import Request

__all__ = ["RULE_OF_THREE", "Sums", "ended", "folded", "intervals", "sampled", "stated"]

Floats = NDArray[np.float64]

LEVEL = 0.95
_Z = 1.959963984540054
RULE_OF_THREE = -np.log((1 - LEVEL) / 2) / _Z
"""The standard error of what n samples have not seen, times n."""


def sampled(batch: Callable[[], tuple[int, str]], total: int | None) -> str:
    """Batches, each with its size, until one says why it was the last."""
    stopped = ""

    def batches() -> Iterator[int]:
        nonlocal stopped
        while not stopped:
            n, stopped = batch()
            yield n

    for _ in track(batches(), "sampling", total=total, size=lambda n: n):
        pass
    return stopped


def ended(request: Request, done: int, most: int) -> str:
    """Why sampling ends after so many samples; empty where it goes on."""
    if done >= most:
        asked = request.samples is not None and request.samples <= done
        why = "were asked for" if asked else "are the most that are drawn without a budget"
        return f"{done:,} samples {why}"
    return f"the time of {request.seconds:g} s was up" if request.late() else ""


def folded(counts: Floats, shape: tuple[int, ...], event: NDArray[np.bool_] | None) -> Floats:
    """Counts of configurations (on the last axis) by variable; of an event: outside, inside it."""
    lead = counts.shape[:-1]
    if event is None:
        return counts.reshape(*lead, *shape)
    inside = counts[..., event.ravel()].sum(axis=-1)
    return np.stack([counts[..., ~event.ravel()].sum(axis=-1), inside], axis=-1)


def intervals(
    p: Floats, se: Floats, effective: float, samples: float, freedom: Floats | None = None
) -> Interval:
    """The 95 % interval of each probability; `freedom` are the degrees that `se` is known by.

    >>> low, high = intervals(np.array([0.5]), np.array([0.05]), 100, 100)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.404], [0.596])
    """
    spread = p * (1 - p)
    n = np.full(p.shape, max(float(effective), 1e-9))
    seen = (se > 0) & (spread > 0)
    n[seen] = np.clip(spread[seen] / np.maximum(se[seen] ** 2, 1e-300), 1e-9, max(samples, 1.0))
    z = np.full(p.shape, _Z) if freedom is None else student(freedom)
    z = np.where(seen, z, _Z)
    z2 = z**2 / n
    middle = (p + z2 / 2) / (1 + z2)
    half = z / (1 + z2) * np.sqrt(spread / n + z2 / (4 * n))
    low, high = np.clip(middle - half, 0.0, p), np.clip(middle + half, p, 1.0)
    return Interval(low, high, LEVEL)


def stated(
    p: Floats, se: Floats, effective: float, samples: float, freedom: Floats | None = None
) -> dict[str, Any]:
    """The intervals and standard errors of an account; no error is 0 where samples may differ.

    >>> stated(np.array([0.0, 1.0]), np.zeros(2), 1000, 1000)["standard_error"].round(5).tolist()
    [0.00098, 0.00098]
    """
    ends = intervals(p, se, effective, samples, freedom)
    return {"interval": ends, "standard_error": np.where(se > 0, se, ends.width / (2 * _Z))}


def student(freedom: Floats) -> Floats:
    """The 97.5 % point of Student's t.

    >>> student(np.array([5.0, np.inf])).round(4).tolist()
    [2.5706, 1.96]
    """
    from scipy.special import stdtrit

    few = np.minimum(np.maximum(freedom, 1.0), 1e9)
    out: Floats = np.where(few >= 1e6, _Z, stdtrit(few, 0.975))
    return out


class Sums:
    """Sums of weights and of their squares for each cell of each question, one after the other."""

    def __init__(
        self,
        arities: Sequence[int],
        scopes: Sequence[tuple[int, ...]],
        event: NDArray[np.bool_] | None = None,
    ) -> None:
        self.arities = list(arities)
        self.scopes, self.event = list(scopes), event
        whole = [tuple(arities[v] for v in s) for s in scopes]
        self.shapes = whole if event is None else [(2,) for _ in scopes]
        self.cuts = np.cumsum([prod(s) for s in self.shapes], dtype=np.intp)
        self.first = np.zeros(self.cuts[-1] if scopes else 0)
        self.second = np.zeros_like(self.first)
        self.n = 0
        self.weight = self.square = self.heaviest = 0.0
        self.log_unit = -np.inf  # ln of what the weights are divided by

    def add(self, columns: Sequence[NDArray[np.uint8]], log_weights: Floats) -> None:
        """Count a batch."""
        self.n += len(log_weights)
        most = float(log_weights.max())
        if most == -np.inf:
            return
        if most > self.log_unit:
            self._rescale(float(np.exp(self.log_unit - most)))
            self.log_unit = most
        w: Floats = np.exp(log_weights - self.log_unit)
        w2: Floats = w * w
        self.weight += float(w.sum())
        self.square += float(w2.sum())
        self.heaviest = max(self.heaviest, float(w.max()))
        if not self.scopes:
            return
        if all(len(s) == 1 for s in self.scopes):
            of = [s[0] for s in self.scopes]
            sizes = [self.arities[v] for v in of]
            both = _core.weighted_sums([columns[v] for v in of], sizes, w, _core.cores())
            cuts = np.cumsum([0, *sizes])
            self.first += self._folded(both[:, 0], cuts)
            self.second += self._folded(both[:, 1], cuts)
            return
        used = sorted({v for s in self.scopes for v in s})
        at = {v: i for i, v in enumerate(used)}
        table = _core.Columns(
            [columns[v] for v in used], [self.arities[v] for v in used], [False] * len(used)
        )
        sets = [[at[v] for v in s] for s in self.scopes]
        for sums, weights in ((self.first, w), (self.second, w2)):
            flat, cuts = table.count_flat(sets, weights=weights)
            sums += self._folded(flat, cuts)

    def _folded(self, flat: Floats, cuts: NDArray[np.int64]) -> Floats:
        """The counts of all questions as those of their answers' cells."""
        if self.event is None:
            return flat
        parts = (flat[a:b] for a, b in pairwise(cuts.tolist()))
        return np.concatenate([folded(part, (2,), self.event) for part in parts])

    def _rescale(self, by: float) -> None:
        self.first *= by
        self.second *= by * by
        self.weight *= by
        self.square *= by * by
        self.heaviest *= by

    @property
    def effective(self) -> float:
        """The number of independent draws that the samples are worth."""
        return self.weight**2 / self.square if self.square > 0 else 0.0

    @property
    def largest_share(self) -> float:
        """The share of the heaviest sample."""
        return self.heaviest / self.weight if self.weight > 0 else 1.0

    @property
    def log_mean(self) -> float:
        """ln of the mean weight."""
        return float(np.log(self.weight / self.n) + self.log_unit) if self.weight > 0 else -np.inf

    @property
    def log_error(self) -> float:
        """The standard error of `log_mean`, and what weights not seen may add to it."""
        seen = max(1 / self.effective - 1 / self.n, 0.0)
        return float(np.sqrt(seen + (RULE_OF_THREE / self.n) ** 2))

    def _all(self) -> tuple[Floats, Floats]:
        p = np.minimum(self.first / self.weight, 1.0)
        variance = ((1 - 2 * p) * self.second + p * p * self.square) / self.weight**2
        return p, np.sqrt(np.maximum(variance, 0.0))

    def _freedom(self) -> Floats:
        """The degrees of freedom of each variance: many where the weights are alike."""
        uneven = self.n / max(self.effective, 1e-300) - 1
        sides = []
        for one, two in (
            (self.first, self.second),
            (self.weight - self.first, self.square - self.second),
        ):
            sides.append(one**2 / np.maximum(two, 1e-300))
        rarer = np.minimum(*sides)
        out: Floats = 2 * rarer * (1 + 1 / max(uneven, 1e-9))
        return out

    def freedoms(self) -> list[Floats]:
        """The degrees of freedom by which each question's standard errors are known."""
        parts = np.split(self._freedom(), self.cuts[:-1])
        return [f.reshape(shape) for f, shape in zip(parts, self.shapes, strict=True)]

    def estimates(self) -> list[tuple[Floats, Floats]]:
        """Each question's probabilities and their standard errors."""
        parts = [np.split(x, self.cuts[:-1]) for x in self._all()]
        return [
            ((p / p.sum()).reshape(shape), se.reshape(shape))
            for p, se, shape in zip(*parts, self.shapes, strict=True)
        ]

    def half_width(self) -> float:
        """Half the widest interval of all; without questions, that of `log_mean`."""
        if not self.scopes:
            return _Z * self.log_error
        ends = intervals(*self._all(), self.effective, self.n, self._freedom())
        return float(np.max(ends.width)) / 2
