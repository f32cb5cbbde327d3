"""Calibration: are the probabilities of every variable given the others honest?

A state that was given probability p should come up in a share p of such rows, and the share of a
continuous variable's distribution below the value seen should be uniform (`honesty.py`).

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
from math import ceil, exp, log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.conditionals import binned_ranks, probabilities, ranks
from credo.checking.again.folds import Judge
from credo.checking.again.row_scores import Scored
from credo.checking.findings import SHOWN, SURE, Finding, Section, p_text, pick, ranked
from credo.checking.sections.honesty import BINS, ENOUGH, judged, kolmogorov, room, spiegelhalter
from credo.checking.sections.multiplicity import holm
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

MOST = 5
"""Variables that are told one by one; the others together."""
_LEVELS = (0.5, 0.9, 0.95)
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
            enough = room(found) >= ENOUGH or total < level
            z = spiegelhalter(found, values)
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
        distance, p = kolmogorov(np.sort(found))
        return distance, 0.0, p
    error, expected, _, p = judged(found, codes)
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
