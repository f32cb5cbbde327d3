"""How each number is modelled: as a Gaussian, as one after a transform, in bins, or as counts.

All four are densities on the user's scale, so what they make of the rows compares:

    height = ln P(rows | graph, scales) = score of the graph on the scaled rows
             + Σ ln t'(x) − ln N         a transformed column: its slopes, and what it costs
             + ln P(x | bins)            a binned column: its fine density within the bins

A column that counts needs no term: a mass is a density over the unit cell of its whole number.
Against it the others are judged by their mass of that cell too (`whole.py`).

`auto` climbs to a graph of Gaussians and to one of transformed columns, and takes the higher. Then
columns go into bins whose histogram foretells them so much better than a Gaussian that it is worth
more than half of what the graph says of them; cuts are revised with the graph while the height
rises. Last, columns of whole numbers whose law of counts is worth more than what they have become
counts, if the height rises. Of many rows a part chooses, and all are learned from.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LateError
from credo.core.scales import KINDS, Bins, Scale
from credo.data import Stream, Table
from credo.model.graphs.dag import Dag
from credo.stats.family import Family
from credo.train.numbers.cutting import some_rows
from credo.train.numbers.densities import FineDensity, fine_density, shape
from credo.train.numbers.revising import revised_cuts
from credo.train.numbers.transforms import PRICED, best_transform, named_transform
from credo.train.numbers.ways import Choice, asked_numbers, cut_points_given, number_names
from credo.train.numbers.whole import in_unit_cells, whole_bins, why_not_whole
from credo.train.scores.family_scores import family_scores
from credo.train.scores.scores import ScoreSpec

__all__ = ["SPEC", "chosen_scales", "scaled_for"]

Floats = NDArray[np.float64]

_BINS = 5  # of like share, with which a column begins
_ROUNDS = 2  # of revising the cuts with the graph
_RISK = 0.5  # of what the graph says of a column is taken to be lost by its bins
_FEW = 5_000  # rows that choose
_MANY = 200  # columns that are looked at
_LEAST = 50  # rows; of fewer a shape is soon found that new rows do not have

SPEC = ScoreSpec.of("bdeu")
"""The score by which scales are compared."""

Judge = Callable[[Any, float | None], tuple[Dag, float]]
"""Of scaled rows, within some seconds: a graph and its score, a marginal likelihood."""


def chosen_scales(
    source: Table | Stream,
    asked: Mapping[str, Any],
    judge: Judge,
    *,
    bins: bool = True,
    seconds: float | None = None,
    parents: Sequence[str] = (),
) -> Choice:
    """The scales of the columns of a source; `judge` gives a graph for any scales.

    Those that are `parents` in it cannot count.
    """
    rows = some_rows(source, _FEW)
    until = None if seconds is None else time.perf_counter() + seconds
    chooser = _Chooser(rows, asked, judge, bins, until, parents)
    scales = dict(chooser.chosen().scales)
    if isinstance(source, Table):
        counted = [n for n, s in scales.items() if isinstance(s, Bins) and s.counts]
        scales |= {n: whole_bins(n, source.values(n)) for n in counted}
    return Choice(asked, scales, chooser.heights, len(rows), chooser.late)


def scaled_for(graph: Dag, source: Table | Stream, numbers: Any) -> Table | Stream:
    """The source with its numbers as asked for, chosen by what they make of a known graph.

    A number that is the parent of a state is put into bins.
    """
    if not isinstance(source, (Table, Stream)):
        raise InputError(
            "How numbers are modelled is chosen from rows, and these are counted already.",
            hint="Give the table itself, or leave numbers= out.",
        )
    asked = asked_numbers(numbers, [n for n in number_names(source) if n in graph.nodes])
    schema = source.schema
    for name in asked:
        states = [c for c in graph.children(name) if c not in schema or schema[c].is_discrete]
        if states and asked[name] == "auto":
            asked[name] = "binned"
    there = [n for n in graph.nodes if n in schema]
    families = [Family(n, graph.parents(n)) for n in there]
    families = [f for f in families if all(p in schema for p in f.parents)]

    def judge(rows: Table, _: float | None) -> tuple[Dag, float]:
        rows = rows.select(there)
        scores = family_scores(rows, SPEC, available=any(rows.block.gaps))
        return graph, math.fsum(scores.of(families))

    parents = [n for n in asked if graph.children(n)]
    return chosen_scales(source, asked, judge, parents=parents).of(source)


@dataclass(frozen=True)
class _Fit:
    """A graph of scaled rows and its height on the user's scale."""

    dag: Dag
    scales: Mapping[str, Scale]
    height: float


class _Chooser:
    """The rows that choose, and what was tried on them."""

    def __init__(
        self,
        rows: Table,
        asked: Mapping[str, Any],
        judge: Judge,
        bins: bool,
        until: float | None,
        parents: Sequence[str] = (),
    ) -> None:
        self.rows, self.asked, self.judge, self.bins, self.until = rows, asked, judge, bins, until
        self.kept = frozenset(parents)
        self.best = _Fit(Dag(()), {}, -math.inf)
        self.late = ""
        self.fine: dict[str, FineDensity] = {}
        self.shapes: dict[str, float] = {}
        self.last = rows  # on some scales
        self.heights: dict[str, float] = {}
        self.tried: dict[str, _Fit] = {}

    def left(self, parts: int) -> float | None:
        """The seconds for one of some parts of the work that is left."""
        if self.until is None:
            return None
        return max((self.until - time.perf_counter()) / parts, 0.01)

    def numbers(self, name: str) -> Floats:
        """The numbers of a column, on the user's scale."""
        out: Floats = self.rows.values(name)
        return out

    def chosen(self) -> _Fit:
        """The best fit that what was asked for allows, and that there was time for."""
        free = [n for n, way in self.asked.items() if way == "auto"]
        fixed = {n: s for n, way in self.asked.items() if (s := self.scale(n, way)) is not None}
        if len(free) > _MANY:
            self.late = f"of more than {_MANY} columns auto leaves all as they are"
        if len(free) > _MANY or len(self.rows) < _LEAST:
            free = []
            if not fixed:
                return _Fit(Dag(()), {}, 0.0)
        self.best = self.fit("gaussian", fixed, 4)
        try:
            if free:
                self.choose(free, fixed)
            self.revise()
            self.count(free)
        except LateError:
            self.late = "the time was too short to look at every way"
        return self.best

    def choose(self, free: Sequence[str], fixed: Mapping[str, Scale]) -> None:
        """Transforms for all columns, then bins for those that are worth it."""
        better = {n: t for n in free if (t := self.scale(n, "transformed")) is not None}
        if better:
            self.take(self.fit("transformed", {**fixed, **better}, 3))
        binned = self.worth_binning(self.best, free) if self.bins else {}
        if binned:
            self.take(self.fit("binned", {**self.best.scales, **binned}, 2))

    def count(self, free: Sequence[str]) -> None:
        """Counts for the columns that are worth it, together."""
        counted = self.worth_counting(self.best, free) if self.bins else {}
        if not counted:
            return
        for how, fit in self.tried.items():
            self.heights[how] = fit.height + self.in_cells(fit, counted)
        names = list(counted)  # those that gain most first
        whole = self.in_cells(self.best, names)
        for many_ in dict.fromkeys((len(names), -(-len(names) // 2), 1)):
            some = {n: counted[n] for n in names[:many_]}
            fit = self.fit("counts", {**self.best.scales, **some}, 2)
            others = self.in_cells(self.best, names[many_:])
            self.heights["counts"] = fit.height + others
            if fit.height + others > self.best.height + whole:
                self.best = fit
                return

    def in_cells(self, fit: _Fit, names: Iterable[str]) -> float:
        """What ln P(rows) of a fit lacks to be of the unit cells of some columns."""
        return sum(
            in_unit_cells(self.numbers(n), fit.scales.get(n), self.rows.weights) for n in names
        )

    def take(self, fit: _Fit) -> bool:
        """Go on from a fit if it is higher."""
        higher = fit.height > self.best.height + 1e-9 * abs(self.best.height)
        self.best = fit if higher else self.best
        return higher

    def in_time(self) -> None:
        """Stop where the time is over."""
        if self.until is not None and time.perf_counter() > self.until:
            raise LateError("choosing took too long")

    def scaled(self, scales: Mapping[str, Scale]) -> Table:
        """The rows on some scales."""
        self.last = self.last.rescaled(scales)
        return self.last

    def shape(self, name: str) -> float:
        """What a column could gain at most by another shape, roughly."""
        if name not in self.shapes:
            self.shapes[name] = shape(self.numbers(name), self.rows.weights)
        return self.shapes[name]

    def scale(self, name: str, way: Any) -> Scale | None:
        """The scale of a column that was asked for, if it needs one."""
        x = self.numbers(name)
        if way in ("auto", "gaussian"):
            return None
        if way == "transformed":
            self.in_time()
            little = self.shape(name) < 0.5 * PRICED * math.log(len(x))
            return None if little else best_transform(x, self.rows.weights)
        if way in KINDS:
            return named_transform(way, name, x)
        if way == "counts":
            return whole_bins(name, x)
        fine = self.density(name)
        if fine is None:
            return None
        return fine.bins(fine.shares(_BINS) if way == "binned" else cut_points_given(name, way))

    def density(self, name: str) -> FineDensity | None:
        """The fine density of a column, made once."""
        if name not in self.fine:
            fine = fine_density(self.numbers(name), self.rows.weights)
            if fine is None:
                return None
            self.fine[name] = fine
        return self.fine[name]

    def fit(self, how: str, scales: Mapping[str, Scale], parts: int) -> _Fit:
        """Learn from the rows on some scales."""
        dag, height = self.judge(self.scaled(scales), self.left(parts))
        height += sum(self.offset(n, s) for n, s in scales.items())
        fit = _Fit(dag, scales, height)
        if height > self.heights.get(how, -math.inf):
            self.heights[how], self.tried[how] = height, fit
        return fit

    def offset(self, name: str, scale: Scale) -> float:
        """What a scale adds to the score of scaled rows, on the user's scale."""
        if isinstance(scale, Bins):
            return 0.0 if scale.counts else self.fine[name].log_marginal(scale.cuts.tolist())
        x = self.numbers(name)
        there = ~np.isnan(x)
        n = np.ones(int(there.sum())) if self.rows.weights is None else self.rows.weights[there]
        total = max(float(n.sum()), 2.0)
        return float(n @ scale.log_slope(x[there])) - 0.5 * PRICED * math.log(total)

    def worth_binning(self, best: _Fit, free: Sequence[str]) -> dict[str, Bins]:
        """Bins for the columns whose shape is worth more than what the graph says of them."""
        scaled = self.scaled(best.scales)
        scores = family_scores(scaled, SPEC, available=any(scaled.block.gaps))
        dag, out = best.dag, {}
        for name in free:
            self.in_time()
            with_, without = [], []
            for child in (name, *dag.children(name)):
                parents = dag.parents(child)
                with_.append(Family(child, parents))
                without.append(Family(child, () if child == name else _less(parents, name)))
            said = math.fsum(scores.of(with_)) - math.fsum(scores.of(without))
            if self.shape(name) < _RISK * said:
                continue
            fine = self.density(name)
            if fine is None:
                continue
            scale = best.scales.get(name)
            gaussian = float(scores.of([Family(name, ())])[0])
            gaussian += self.offset(name, scale) if scale is not None else 0.0
            if fine.log_marginal([]) - gaussian > _RISK * said:
                out[name] = fine.bins(fine.shares(_BINS))
        return out

    def worth_counting(self, best: _Fit, free: Sequence[str]) -> dict[str, Bins]:
        """Whole numbers whose law of counts is worth more alone than what they have."""
        if any(self.rows.block.gaps):
            return {}  # searching completed rows again and again, they gain less than they cost
        whole = [n for n in free if not why_not_whole(n, self.numbers(n)) and n not in self.kept]
        if not whole:
            return {}
        now = self.scaled(best.scales)
        then = {n: whole_bins(n, self.numbers(n)) for n in whole}
        scaled = self.scaled(then)
        families = [Family(n, ()) for n in whole]
        self.in_time()
        has = family_scores(now.select(whole), SPEC).of(families)
        gets = family_scores(scaled.select(whole), SPEC).of(families)
        gains = {}
        for name, before, after in zip(whole, has, gets, strict=True):
            scale = best.scales.get(name)
            before = float(before) + (self.offset(name, scale) if scale is not None else 0.0)
            gains[name] = float(after) - before - self.in_cells(best, [name])
        return {n: then[n] for n in sorted(gains, key=lambda n: -gains[n]) if gains[n] > 0}

    def revise(self) -> None:
        """Cuts given the graph, and the graph again, while the height rises."""
        bins = [n for n, s in self.best.scales.items() if isinstance(s, Bins)]
        free = [n for n in bins if isinstance(self.asked[n], str) and self.asked[n] != "counts"]
        for turn in range(_ROUNDS if free else 0):
            best = self.best
            scales, scaled = dict(best.scales), self.scaled(best.scales)
            for name in free:
                self.in_time()
                fine = self.fine[name]
                cuts = revised_cuts(name, self.numbers(name), fine, best.dag, scaled)
                scales[name] = fine.bins(cuts)
                scaled = self.scaled(scales)
            if all(scales[n] == best.scales[n] for n in free):
                return
            if not self.take(self.fit("binned", scales, _ROUNDS - turn + 1)):
                return


def _less(parents: Sequence[str], name: str) -> tuple[str, ...]:
    return tuple(p for p in parents if p != name)
