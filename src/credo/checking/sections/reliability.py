"""Reliability: among the rows that were given probability p, a share p should be right.

    calibration error = Σ_bins share · |mean p − share that were right|
    Brier score       = ½ · mean Σ_c (p_c − 1[class = c])²        log loss = −mean ln p(class)

The slope is that of a logistic regression of the outcome on the log odds: 1 is honest, below 1
too sure (naive Bayes counts the same evidence twice when features repeat each other), above 1 too
careful. With more than two classes every class is judged against the rest, and all are pooled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.render import View, bar
from credo.model.methods.pictures import picture

__all__ = ["CalibrationReport", "report_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class CalibrationReport(Frozen):
    """How far probabilities can be trusted. `curve` has a row for each bin: mean p, share, n."""

    accuracy: float
    log_loss: float
    brier: float
    error: float
    slope: float
    curve: Floats
    rows: int

    def _view(self) -> View:
        rows = [
            [f"{p:.3f}", f"{right:.3f}", f"{int(n):,}", bar(right)] for p, right, n in self.curve
        ]
        return View(self.title, ["predicted", "observed", "n", ""], rows, (0, 1, 2))

    @property
    def title(self) -> str:
        """The figures in one line."""
        return (
            f"accuracy {self.accuracy:.4f}, log loss {self.log_loss:.4f}, Brier {self.brier:.4f}, "
            f"calibration error {self.error:.4f}, slope {self.slope:.3f}"
        )

    def __str__(self) -> str:
        return self._view().text()

    def __repr__(self) -> str:
        return f"CalibrationReport({self.title}; {self.rows:,} rows)"

    def _repr_html_(self) -> str:
        return self._view().html()

    def plot(self, ax: Any = None) -> Any:
        """The reliability curve; see `credo.plot.reliability`."""
        return picture("reliability")(self, ax)


def report_of(
    p: Floats, codes: NDArray[Any], bins: int = 10, *, weights: NDArray[Any] | None = None
) -> CalibrationReport:
    """The report of probabilities p [row, class] for rows whose class is `codes`.

    A row counts as much as its weight; `n` of the curve are weights then.

    >>> p = np.array([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.2, 0.8]])
    >>> report = report_of(p, np.array([0, 0, 1, 0]))
    >>> report.accuracy, round(report.brier, 4)
    (0.75, 0.175)
    """
    if not isinstance(bins, (int, np.integer)) or bins < 2:
        raise InputError(f"bins must be a whole number of 2 or more, got {bins!r}.")
    n, k = p.shape
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    hit = np.zeros_like(p)
    hit[np.arange(n), codes] = 1.0
    chosen = p[np.arange(n), codes]
    pairs_p, pairs_hit, each = p.ravel(), hit.ravel(), np.repeat(w, k)
    if k == 2:
        pairs_p, pairs_hit, each = p[:, 1], hit[:, 1], w
    place = np.minimum((pairs_p * bins).astype(int), bins - 1)
    size = np.bincount(place, each, minlength=bins)
    seen = size > 0
    mean = np.bincount(place, pairs_p * each, bins)[seen] / size[seen]
    right = np.bincount(place, pairs_hit * each, bins)[seen] / size[seen]
    return CalibrationReport(
        accuracy=float(np.average(p.argmax(axis=1) == codes, weights=w)),
        log_loss=float(-np.average(np.log(np.maximum(chosen, 1e-15)), weights=w)),
        brier=float(0.5 * np.average(((p - hit) ** 2).sum(axis=1), weights=w)),
        error=float((np.abs(mean - right) * size[seen]).sum() / size.sum()),
        slope=_slope(pairs_p, pairs_hit, each),
        curve=np.stack([mean, right, size[seen]], axis=1),
        rows=n,
    )


def _slope(p: Floats, hit: Floats, weights: Floats) -> float:
    """Logistic regression of the outcome on the log odds, by Newton's method; its slope."""
    x = np.clip(np.log(np.maximum(p, 1e-12)) - np.log(np.maximum(1 - p, 1e-12)), -25, 25)
    if hit.min() == hit.max() or np.ptp(x) == 0:
        return 1.0
    signed = np.where(hit > 0.5, 1.0, -1.0)

    def loss(at: Floats) -> float:
        return float((weights * np.logaddexp(0.0, -signed * (at[0] + at[1] * x))).sum())

    at = np.zeros(2)  # from here Newton's method, halved where it would overshoot, comes home
    now = loss(at)
    for _ in range(100):
        q = 1 / (1 + np.exp(-np.clip(at[0] + at[1] * x, -500, 500)))
        w = weights * (q * (1 - q) + 1e-12)
        rest = weights * (hit - q)
        gradient = np.array([rest.sum(), (rest * x).sum()])
        h = np.array([[w.sum(), (w * x).sum()], [(w * x).sum(), (w * x * x).sum()]])
        step = np.linalg.solve(h + 1e-9 * np.eye(2), gradient)
        while loss(at + step) > now and np.abs(step).max() > 1e-12:
            step /= 2
        at, before = at + step, now
        now = loss(at)
        if before - now <= 1e-12 * max(before, 1.0):
            break
    return float(at[1])
