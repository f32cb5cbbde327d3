"""Calibration: are the probabilities of every variable given the others honest?

A state that was given probability p should come up in a share p of such rows. Two tests of
calibration are made, each with the p-values of the outcomes' exact variance, and their Bonferroni
combination is the p-value given:

    Spiegelhalter's z = (Brier − its expectation) / its standard deviation
    Q = (O − E)ᵀ C⁻¹ (O − E) ~ χ²        O, E: outcomes and probabilities added up in each bin

Where the outcomes hardly vary, neither is near its limit: the number of rows without their most
probable state is then tested, by its exact distribution.

A continuous variable has the share of its distribution below the value seen, which should be
uniform between 0 and 1 (Dawid 1984): Kolmogorov's test, and the coverage of intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import erfc, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.conditionals import probabilities, ranks
from credo.checking.findings import Finding
from credo.checking.folds import Judge
from credo.checking.multiplicity import holm
from credo.checking.reliability import CalibrationReport, report_of
from credo.checking.row_scores import Scored, gaps_of
from credo.checking.section import SHOWN, Section, p_text
from credo.checking.unlikely_counts import count_p
from credo.data import Table
from credo.frozen import Frozen
from credo.model.value import View
from credo.progress import track
from credo.render import many, shortened

if TYPE_CHECKING:
    from credo.model.network import Network

__all__ = ["Calibrated", "Calibration", "Covered", "calibration"]

Floats = NDArray[np.float64]

BINS = 10
_LEVELS = (0.5, 0.9, 0.95)
_ENOUGH = 3.0  # the variance a bin should have before it is judged by itself
_LIMIT = 10.0  # the variance of a count from which on it is taken as Gaussian
_FEW_RANKS = 10  # fewer ranks cannot show that they are uniform


@dataclass(frozen=True, slots=True)
class Calibrated:
    """How honest the probabilities of a discrete variable are.

    `error` is the calibration error and `expected` what honest probabilities would have given;
    `z` is Spiegelhalter's, `p` combines both tests, `adjusted` is Holm's over the variables.
    `tested` is False where the rows are too few, or too sure, to speak for the probabilities.
    """

    variable: str
    rows: int
    error: float
    expected: float
    z: float
    p: float
    adjusted: float
    report: CalibrationReport
    tested: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "variable": self.variable, "rows": self.rows, "error": self.error,
            "expected": self.expected, "z": self.z, "p": self.p, "adjusted": self.adjusted,
            "accuracy": self.report.accuracy, "log_loss": self.report.log_loss,
            "brier": self.report.brier, "slope": self.report.slope,
            "curve": self.report.curve.tolist(), "tested": self.tested,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Covered(Frozen):
    """How honest the distribution of a continuous variable is.

    `coverage[0.9]` is the share of values within their 90 % intervals, `distance` that of
    Kolmogorov between the ranks of the values and uniform ones.
    """

    variable: str
    rows: int
    coverage: dict[float, float]
    distance: float
    p: float
    adjusted: float
    ranks: Floats = field(repr=False)
    tested: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "variable": self.variable, "rows": self.rows,
            "coverage": {f"{k:g}": v for k, v in self.coverage.items()},
            "distance": self.distance, "p": self.p, "adjusted": self.adjusted,
            "tested": self.tested,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Calibration(Section):
    """Every variable given the others: `discrete` and `continuous`, worst first."""

    discrete: tuple[Calibrated, ...]
    continuous: tuple[Covered, ...]
    level: float
    notes: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[Calibrated | Covered, ...]:
        """The discrete variables, then the continuous ones."""
        out: list[Calibrated | Covered] = [*self.discrete]
        return (*out, *self.continuous)

    def __getitem__(self, name: str) -> Calibrated | Covered:
        for one in self.all:
            if one.variable == name:
                return one
        from credo.errors import unknown_name

        known = [c.variable for c in self.all]
        raise unknown_name("Variable", name, known, "in the report")

    def _view(self) -> View:
        rows = []
        for c in self.discrete[:SHOWN]:
            rows.append([c.variable, f"{c.rows:,}", f"error {c.error:.4f}",
                         f"{c.expected:.4f} if honest", p_text(c.p),
                         p_text(c.adjusted)])  # fmt: skip
        for v in self.continuous[:SHOWN]:
            rows.append([v.variable, f"{v.rows:,}", f"{v.coverage[0.9]:.1%} in 90 %",
                         f"distance {v.distance:.4f}", p_text(v.p),
                         p_text(v.adjusted)])  # fmt: skip
        head = ["variable", "rows", "calibration", "", "p", "adjusted"]
        bad = sum(c.adjusted < self.level for c in self.all)
        said = [
            f"{many(len(self.all), 'variable')}, {bad:,} of them off at {self.level:g} after "
            "Holm's adjustment"
        ]
        open_ = [c.variable for c in self.all if not c.tested]
        if open_:
            said.append(f"{shortened(open_)}: too few rows to call them honest")
        return View(
            "calibration of each variable given the others", head, rows, (1, 4, 5),
            "; ".join([*said, *self.notes]),
        )  # fmt: skip

    def findings(self) -> list[Finding]:
        """The variables whose probabilities are off."""
        out = []
        for c in self.discrete:
            if c.adjusted < self.level:
                sure = "off" if abs(c.z) < 2 else "too sure" if c.z > 0 else "too careful"
                out.append(
                    Finding(
                        "calibration",
                        f"The probabilities of {c.variable} given the others are {sure}: their "
                        f"calibration error is {c.error:.3g}, honest ones would have about "
                        f"{c.expected:.2g}.",
                        c.error,
                        _severity(c.error - c.expected),
                        f"Look at the family of {c.variable} and at its children: a parent may be "
                        "missing.",
                        c.variable,
                        min(c.error / max(c.expected, 1e-9), 1e5),
                    )
                )
        for v in self.continuous:
            if v.adjusted < self.level:
                out.append(
                    Finding(
                        "calibration",
                        f"{v.coverage[0.9]:.1%} of the values of {v.variable} lie in their 90 % "
                        f"intervals, and their ranks are {v.distance:.3g} from uniform.",
                        v.coverage[0.9],
                        "problem"
                        if v.distance > 0.1
                        else "warning"
                        if v.distance > 0.03
                        else "note",
                        f"A line with Gaussian noise does not fit {v.variable}: before learning, "
                        f"transform it (np.log), or cut it into states (pd.qcut(rows"
                        f"[{v.variable!r}], 5, labels=False)); or give it another parent.",
                        v.variable,
                        100 * v.distance,
                    )
                )
        return out or self._none_off()

    def _none_off(self) -> list[Finding]:
        """What is said where no variable is off."""
        n, tested = len(self.all), sum(c.tested for c in self.all)
        if not n:
            return []
        if not tested:
            rows = max(c.rows for c in self.all)
            return [
                Finding(
                    "calibration",
                    f"{many(rows, 'row')} cannot tell whether the probabilities are honest.",
                    float(rows),
                    "note",
                    "Check the network on more rows.",
                )
            ]
        of = "the one variable" if n == 1 else f"all {n:,} variables"
        of = of if tested == n else f"{tested:,} of {many(n, 'variable')}"
        rest = "" if tested == n else f"; for the other {n - tested:,} the rows are too few"
        return [
            Finding(
                "calibration",
                f"The probabilities of {of} given the others are honest at {self.level:g}, all "
                f"taken together{rest}.",
                float(tested),
                "good",
            )
        ]


def _severity(excess: float) -> str:
    """By what the error is beyond what chance gives: with many rows the least error is seen."""
    return "problem" if excess > 0.03 else "warning" if excess > 0.01 else "note"


def calibration(
    judges: list[Judge], table: Table, scored: Scored, level: float, notes: tuple[str, ...] = ()
) -> Calibration:
    """The section, from rows without weights that the judges have not seen."""
    net = judges[0].net
    possible = scored.possible
    gone = gaps_of(net, table)
    at = {n: k for k, n in enumerate(net.names)}
    discrete: list[tuple[str, int, float, float, float, float, Any, bool]] = []
    continuous = []
    skipped = 0
    for name in track(table.schema.names, "calibrating", total=len(table.schema.names)):
        variable = net.variable(name)
        if variable.is_discrete and variable.arity == 1:
            continue
        seen = possible & ~gone[:, at[name]]
        found, values = [], []
        for judge in judges:
            rows = judge.rows[seen[judge.rows]]
            if not len(rows):
                continue
            part = _around(judge.net, table, name).take(rows)
            got, known = (probabilities if variable.is_discrete else ranks)(judge.net, part, name)
            skipped += int((~known).sum())
            found.append(got[known])
            values.append(part.block.arrays[part.schema.index(name)][known])
        if not found or not sum(map(len, found)):
            continue
        if variable.is_discrete:
            p, codes = np.concatenate(found), np.concatenate(values).astype(np.intp)
            enough = _room(p) >= _ENOUGH
            discrete.append(
                (name, len(codes), *_judged(p, codes), report_of(p, codes, BINS), enough)
            )
        else:
            u = np.sort(np.concatenate(found))
            continuous.append((name, u, *_kolmogorov(u)))
    tested = [d[5] for d in discrete] + [c[3] for c in continuous]
    adjusted = holm(tested).tolist() if tested else []
    out = [
        Calibrated(name, n, error, expected, z, p, a, report, enough or a < level)
        for (name, n, error, expected, z, p, report, enough), a in zip(
            discrete, adjusted, strict=False
        )
    ]
    covers = [
        Covered(
            name, len(u),
            {q: float(((u > (1 - q) / 2) & (u < (1 + q) / 2)).mean()) for q in _LEVELS}, d, p, a, u,
            len(u) >= _FEW_RANKS or a < level,
        )
        for (name, u, d, p), a in zip(continuous, adjusted[len(discrete) :], strict=True)
    ]  # fmt: skip
    if skipped:
        notes = (*notes, f"{skipped:,} cells could not be judged exactly and were left out")
    out.sort(key=lambda c: (c.p, -c.error))
    covers.sort(key=lambda c: (c.p, -c.distance))
    return Calibration(tuple(out), tuple(covers), level, notes)


def _around(net: Network, table: Table, name: str) -> Table:
    """The columns that matter for one variable, if they have no gaps; else all of them."""
    near = {name, *net.dag.markov_blanket(name)}
    if not near.issubset(table.schema.names):
        return table
    names = [n for n in table.schema.names if n in near]
    some = table.select(names)
    return table if any(some.block.gaps) else some


def _room(p: Floats) -> float:
    """The variance of the number of rows without their most probable state."""
    most = p.max(axis=1)
    return float((most * (1 - most)).sum())


def _judged(p: Floats, codes: NDArray[np.intp]) -> tuple[float, float, float, float]:
    """Calibration error, its expectation if honest, Spiegelhalter's z, and the p-value of both."""
    from scipy.special import chdtrc

    n, k = p.shape
    hit = p[np.arange(n), codes]
    squares = (p**2).sum(axis=1)
    variance = 4 * float(((p**3).sum(axis=1) - squares**2).sum())
    brier = float((squares + 1 - 2 * hit).sum() - (1 - squares).sum())
    few = _room(p) < _LIMIT
    z = brier / sqrt(variance) if variance > (1e-12 if few else 1e-6) * n else 0.0
    # every state against the rest; of two states one says it all
    column = p[:, 1:] if k == 2 else p
    y = np.zeros_like(column)
    states = codes - 1 if k == 2 else codes
    there = states >= 0
    y[np.flatnonzero(there), states[there]] = 1.0
    bins = np.minimum((column * BINS).astype(int), BINS - 1)
    key = (np.arange(n)[:, None] * BINS + bins).ravel()
    s = np.bincount(key, column.ravel(), n * BINS).reshape(n, BINS)
    o = np.bincount(bins.ravel(), y.ravel(), BINS)
    away = o - s.sum(axis=0)
    spread = np.diag(s.sum(axis=0)) - s.T @ s
    v = np.maximum(np.diag(spread), 0.0)
    error = float(np.abs(away).sum()) / column.size
    expected = float(np.sqrt(2 * v / np.pi).sum()) / column.size
    if few:
        most = p.argmax(axis=1)
        return error, expected, z, count_p(1 - p[np.arange(n), most], int((codes != most).sum()))
    square, free = _quadratic(away, spread)
    p_bins = float(chdtrc(free, square)) if free else 1.0
    return error, expected, z, min(1.0, 2 * min(erfc(abs(z) / sqrt(2)), p_bins))


def _quadratic(away: Floats, spread: Floats) -> tuple[float, int]:
    """(O − E)ᵀ C⁺ (O − E) and its degrees of freedom; bins that hold too little go together."""
    groups: list[list[int]] = [[]]
    for b in range(len(away)):
        groups[-1].append(b)
        if spread[np.ix_(groups[-1], groups[-1])].sum() >= _ENOUGH:
            groups.append([])
    if len(groups) > 1:
        rest = groups.pop()
        groups[-1] += rest
    member = np.zeros((len(groups), len(away)))
    for g, bins in enumerate(groups):
        member[g, bins] = 1.0
    a, c = member @ away, member @ spread @ member.T
    value, vectors = np.linalg.eigh(c)
    keep = value > 0.1 * _ENOUGH
    turned = (vectors.T @ a)[keep]
    return float((turned**2 / value[keep]).sum()), int(keep.sum())


def _kolmogorov(u: Floats) -> tuple[float, float]:
    """Kolmogorov's distance of sorted ranks from uniform, and its p-value."""
    from scipy.special import kolmogorov

    n = len(u)
    steps = np.arange(1, n + 1) / n
    distance = float(np.maximum(steps - u, u - steps + 1 / n).max())
    root = sqrt(n)
    return distance, float(kolmogorov((root + 0.12 + 0.11 / root) * distance))
