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

These p-values hold for probabilities that are given. Learned ones miss the truth by what their rows
leave open, and the tests would call that dishonest. So where the network was learned, tables are
generated from it, judged as the one seen was (learned again in the same folds), and s = −ln p of
each variable is compared with theirs, in units of its own mean m over all tables:

    adjusted p = share of the tables whose largest s / m is at least that of the variable

They are generated one by one, at most 1 / level, since an alarm needs all of them to stay below the
largest s / m seen; where two of the first five or more do not, there is none, and they end. Beyond
all of them s / m is taken to be exponential.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil, erfc, exp, log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.conditionals import binned_ranks, probabilities, ranks
from credo.checking.again.folds import Judge
from credo.checking.again.row_scores import Scored
from credo.checking.findings import SHOWN, SURE, Finding, Section, p_text, pick, ranked
from credo.checking.sections.multiplicity import count_p, holm
from credo.checking.sections.reliability import CalibrationReport, report_of
from credo.core.bins import Bins
from credo.core.frozen import Frozen
from credo.core.render import many, shortened
from credo.data import Table
from credo.model.values.value import View
from credo.predict.rows.rows import gaps_of

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Calibrated", "Calibration", "Covered", "calibration"]

Floats = NDArray[np.float64]

BINS = 10
MOST = 5
"""Variables that are told one by one; the others together."""
_LEVELS = (0.5, 0.9, 0.95)
_ENOUGH = 3.0  # the variance a bin should have before it is judged by itself
_LIMIT = 10.0  # the variance of a count from which on it is taken as Gaussian
_LEAST = 5  # generated tables, before they may end
_FEW_RANKS = 10  # fewer ranks cannot show that they are uniform


@dataclass(frozen=True, slots=True)
class Calibrated:
    """How honest the probabilities of a discrete variable are.

    `error` is the calibration error and `expected` what honest probabilities would have given
    (learned ones: the mean in generated tables); `z` is Spiegelhalter's, `p` combines both tests,
    `adjusted` counts the variables.
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

    @property
    def widest(self) -> tuple[float, float]:
        """Where the distance is: the share that the model puts below a value, and that seen."""
        n = len(self.ranks)
        above, below = np.arange(1, n + 1) / n - self.ranks, self.ranks - np.arange(n) / n
        i, j = int(above.argmax()), int(below.argmax())
        if above[i] >= below[j]:
            return float(self.ranks[i]), (i + 1) / n
        return float(self.ranks[j]), j / n

    @property
    def middle(self) -> float:
        """The share of the values in the middle tenth: nearly all if a relation is exact."""
        return float((np.abs(self.ranks - 0.5) < 0.05).mean())

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
    tables: int = 0  # generated and learned again, for what learning leaves open

    @property
    def all(self) -> tuple[Calibrated | Covered, ...]:
        """The discrete variables, then the continuous ones."""
        out: list[Calibrated | Covered] = [*self.discrete]
        return (*out, *self.continuous)

    def __getitem__(self, name: str) -> Calibrated | Covered:
        return pick(self.all, "variable", name, "Variable", "in the report")

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
            f"{many(len(self.all), 'variable')}, {bad:,} of them off at {self.level:g}, all "
            "taken together"
        ]
        if self.tables:
            said.append(f"p-values by {many(self.tables, 'generated table')}, judged alike")
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
                        self._severity(c.adjusted, c.error - c.expected, 0.03, 0.01),
                        f"Look at the family of {c.variable} and at its children: a parent may be "
                        "missing.",
                        c.variable,
                        min(c.error / max(c.expected, 1e-9), 1e5),
                        (c.variable,),
                        c.adjusted,
                    )
                )
        for v in self.continuous:
            if v.adjusted < self.level and v.middle > 0.9:
                out.append(
                    Finding(
                        "calibration",
                        f"{v.variable} follows from the others more closely than the model says: "
                        f"{v.middle:.0%} of its values lie in the middle tenth.",
                        v.middle,
                        "note",
                        f"If {v.variable} is the sum or difference of others, leave it out.",
                        v.variable,
                        v.middle,
                        (v.variable,),
                        v.adjusted,
                    )
                )
            elif v.adjusted < self.level:
                said, seen = v.widest
                out.append(
                    Finding(
                        "calibration",
                        f"The distribution of {v.variable} given the others is off: {seen:.0%} of "
                        f"its values lie where the model puts the lowest {said:.0%}.",
                        v.distance,
                        self._severity(v.adjusted, v.distance, 0.1, 0.03),
                        f"Take the logarithm of {v.variable}, cut it into states, or give it "
                        "another parent.",
                        v.variable,
                        100 * v.distance,
                        (v.variable,),
                        v.adjusted,
                    )
                )
        out = list(ranked(out))
        if len(out) > MOST:
            rest = out[MOST:]
            names = tuple(f.variables[0] for f in rest)
            out[MOST:] = [
                Finding(
                    "calibration",
                    f"{many(len(rest), 'more variable')} {'is' if len(rest) == 1 else 'are'} off "
                    f"given the others: {shortened(names)}.",
                    float(len(rest)),
                    rest[0].severity,
                    "The table of calibration has them, the least likely first.",
                    shortened(names),
                    0.0,
                    names,
                    min(f.p or 0.0 for f in rest),
                )
            ]
        return out or self._none_off()

    def _severity(self, p: float, size: float, large: float, small: float) -> str:
        """By its size, since with many rows the least error is sure; a problem is sure as well."""
        if size > large and p < self.level / SURE:
            return "problem"
        return "warning" if size > small else "note"

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


def calibration(
    judges: list[Judge], table: Table, scored: Scored, level: float, notes: tuple[str, ...] = (),
    generated: Iterable[tuple[list[Judge], Table]] = (),
) -> Calibration:  # fmt: skip
    """The section, from rows without weights that the judges have not seen.

    `generated` has tables of the network itself, each with those who judge it.
    """
    cells, skipped = _cells(judges, table, scored.possible)
    seen = {n: _measured(found, values) for n, (found, values) in cells.items()}
    others: list[dict[str, tuple[float, float, float]]] = []
    if seen:
        for who, one in generated:
            every = np.ones(len(one), dtype=bool)
            others.append({n: _measured(*c) for n, c in _cells(who, one, every)[0].items()})
            p, adjusted = _compared(seen, others)
            near = round(min(adjusted) * (len(others) + 1)) - 1
            if len(others) >= ceil(1 / level) or (len(others) >= _LEAST and near >= 2):
                break
    if others:
        p, adjusted = _compared(seen, others)
    else:
        p = [m[2] for m in seen.values()]
        adjusted = holm(p).tolist() if p else []
    out, covers = [], []
    for (name, (found, values)), own, total in zip(cells.items(), p, adjusted, strict=True):
        size, usual, _ = seen[name]
        if others:
            usual = float(np.mean([o[name][0] for o in others if name in o] or [usual]))
        if values is not None:
            enough = _room(found) >= _ENOUGH or total < level
            z = _spiegelhalter(found, values)
            report = report_of(found, values, BINS)
            out.append(Calibrated(name, len(values), size, usual, z, own, total, report, enough))
        else:
            u = np.sort(found)
            shares = {q: float(((u > (1 - q) / 2) & (u < (1 + q) / 2)).mean()) for q in _LEVELS}
            enough = len(u) >= _FEW_RANKS or total < level
            covers.append(Covered(name, len(u), shares, size, own, total, u, enough))
    if skipped:
        notes = (*notes, f"{skipped:,} cells could not be judged exactly and were left out")
    out.sort(key=lambda c: (c.p, -c.error))
    covers.sort(key=lambda c: (c.p, -c.distance))
    return Calibration(tuple(out), tuple(covers), level, notes, len(others))


Cells = dict[str, tuple[Floats, "NDArray[np.intp] | None"]]


def _cells(judges: list[Judge], table: Table, possible: NDArray[np.bool_]) -> tuple[Cells, int]:
    """What the judges say of every cell: probabilities and the state seen, or the rank of a number.

    The second is how many cells could not be judged.
    """
    net = judges[0].net
    gone = gaps_of(net, table)
    at = {n: k for k, n in enumerate(net.names)}
    out: Cells = {}
    skipped = 0
    parts = [(j.net, table.take(j.rows), possible[j.rows], gone[j.rows]) for j in judges]
    for name in table.schema.names:
        variable = net.variable(name)
        if variable.is_discrete and variable.arity == 1:
            continue
        found, values = [], []
        for judge, part, able, lacks in parts:
            rows = able & ~lacks[:, at[name]]
            if not rows.any():
                continue
            part = _around(judge, part, name)
            part = part if rows.all() else part.take(rows)
            got, known = (probabilities if variable.is_discrete else ranks)(judge, part, name)
            if isinstance(variable.scale, Bins):
                got = binned_ranks(variable.scale, part.values(name), got)
            skipped += int((~known).sum())
            found.append(got[known])
            values.append(part.block.arrays[part.schema.index(name)][known])
        if sum(map(len, found)):
            states = variable.is_discrete and variable.scale is None
            codes = np.concatenate(values).astype(np.intp) if states else None
            out[name] = np.concatenate(found), codes
    return out, skipped


def _measured(found: Floats, codes: NDArray[np.intp] | None) -> tuple[float, float, float]:
    """How far off one variable is, what chance gives where nothing was learned, and the p-value."""
    if codes is None:
        distance, p = _kolmogorov(np.sort(found))
        return distance, 0.0, p
    error, expected, _, p = _judged(found, codes)
    return error, expected, p


def _compared(
    seen: dict[str, tuple[float, float, float]],
    others: list[dict[str, tuple[float, float, float]]],
) -> tuple[list[float], list[float]]:
    """The p-value of each variable among the generated tables, and with all variables counted."""
    names = list(seen)
    s = np.array(
        [[-log(max(t[n][2], 1e-300)) if n in t else 0.0 for n in names] for t in (seen, *others)]
    )
    mean = np.maximum(s.mean(axis=0), 1e-300)
    scaled = s / mean
    own, top = scaled[1:] >= scaled[0], scaled[1:].max(axis=1)[:, None] >= scaled[0]
    tables = len(others) + 1
    usual = np.maximum(s[1:].mean(axis=0), 1.0)
    p, adjusted = [], []
    for k in range(len(names)):
        tail = exp(-s[0, k] / usual[k])  # beyond all of them
        near, nearest = int(own[:, k].sum()), int(top[:, k].sum())
        p.append((1 + near) / tables if near else min(1 / tables, tail))
        adjusted.append((1 + nearest) / tables if nearest else min(1 / tables, tail * len(names)))
    return p, adjusted


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


def _spiegelhalter(p: Floats, codes: NDArray[np.intp]) -> float:
    """Spiegelhalter's z: above 0 for probabilities that are too sure."""
    n = len(p)
    squares = (p**2).sum(axis=1)
    variance = 4 * float(((p**3).sum(axis=1) - squares**2).sum())
    brier = float((squares + 1 - 2 * p[np.arange(n), codes]).sum() - (1 - squares).sum())
    few = _room(p) < _LIMIT
    return brier / sqrt(variance) if variance > (1e-12 if few else 1e-6) * n else 0.0


def _judged(p: Floats, codes: NDArray[np.intp]) -> tuple[float, float, float, float]:
    """Calibration error, its expectation if honest, Spiegelhalter's z, and the p-value of both."""
    from scipy.special import chdtrc

    n, k = p.shape
    few = _room(p) < _LIMIT
    z = _spiegelhalter(p, codes)
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
