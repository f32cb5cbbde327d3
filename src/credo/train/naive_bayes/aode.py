"""Averaged one-dependence estimators: as many models as features, each with one of them on top.

    P(c, x) = 1/n · Σ_i P(c, x_i) · Π_{j≠i} P(x_j | c, x_i)

Each model lets every feature depend on the class and on one super-parent; their average needs no
search and is often better than the best of them (Webb, Boughton & Wang 2005). All it needs is the
counts of the pairs with the class. A gap is summed out of every model, exactly: a missing child has
the factor 1, a missing super-parent is Σ_v P(c, v) · Π_j P(x_j | c, v), over all its states v. A
state that no row of training had is a gap; one that fewer than `least` rows had takes its model out
of the average, as published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.render import text_html
from credo.core.schema import Variable
from credo.data import Columns
from credo.model.naive_bayes.features import States
from credo.predict.rows.naive import coded, plain_codes
from credo.stats.counts import Counts
from credo.train.naive_bayes.fit import not_negative
from credo.train.naive_bayes.tan import class_features, pair_families

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Aode(Frozen):
    """Averaged one-dependence estimators. Made by `aode`; `joint` scores rows.

    `pairs[i, j]` are the counts [class, i, j]; `singles[i]` the counts [class, i].
    """

    target: Variable
    features: tuple[Variable, ...]
    weight: Floats
    singles: tuple[Floats, ...]
    pairs: Mapping[tuple[int, int], Floats] = field(repr=False)
    smoothing: float = 1.0
    least: float = 1.0

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, in order."""
        return self.target.states

    def joint(self, columns: Columns, threads: int = 1, *, smooth: bool = False) -> Floats:
        """ln P(class, row) for each row of some columns, gaps and new states summed out.

        With `smooth` a new state has l / (N + l·(J + 1)) instead, and as a super-parent takes its
        model out of the average, as every state does that no row of training had.
        """
        n, k = columns.rows, len(self.classes)
        found = [coded(as_states(v), columns.by_name.get(v.name), n) for v in self.features]
        arrays, windows = [a for a, _ in found], [w for _, w in found]
        total = np.full((n, k), -np.inf)
        used = np.zeros(n)
        for i, v in enumerate(self.features):
            codes = plain_codes(arrays[i], windows[i])
            often = np.append(self.singles[i].sum(axis=0) >= self.least, [False, False])
            there, gone = often[codes], (codes == v.arity) if smooth else (codes >= v.arity)
            if not (there.any() or gone.any()):
                continue
            scorer = self._scorer(i, smooth)
            score, *_ = scorer.score(arrays, windows, [], n, None, "joint", threads)
            total[there] = np.logaddexp(total[there], score[there])
            if gone.any():
                summed = self._summed(scorer, i, [a[gone] for a in arrays], windows, threads)
                total[gone] = np.logaddexp(total[gone], summed)
            used += there | gone
        lonely = used == 0
        if lonely.any():  # no state was seen often enough: naive Bayes answers
            score, *_ = self._naive(smooth).score(arrays, windows, [], n, None, "joint", threads)
            total[lonely], used[lonely] = score[lonely], 1.0
        out: Floats = total - np.log(used)[:, None]
        return out

    def zero_cells(self, columns: Columns, row: int) -> str:
        """Which cells of a row make it impossible in each class: one alone, or two together."""
        codes = []
        for v in self.features:
            array, window = coded(as_states(v), columns.by_name.get(v.name), columns.rows)
            codes.append(int(plain_codes(array[row : row + 1], window)[0]))
        there = [j for j, v in enumerate(self.features) if codes[j] < v.arity]
        shown = {j: f"{self.features[j].name}={self.features[j].states[codes[j]]}" for j in there}
        out = []
        for c, label in enumerate(self.classes):
            cells = [shown[j] for j in there if self.singles[j][c, codes[j]] == 0][:1]
            cells = cells or [
                f"{shown[i]} with {shown[j]}"
                for i, j in combinations(there, 2)
                if self.pairs[i, j][c, codes[i], codes[j]] == 0
            ]
            told = cells[0] if cells else "the row"
            out.append(f"{told} was never seen with {self.target.name}={label}")
        return "; ".join(out[:6])

    def _summed(
        self, scorer: Any, i: int, arrays: list[NDArray[Any]], windows: list[Any], threads: int
    ) -> Floats:
        """ln Σ_v P(c, v, the others) for rows whose super-parent i is not observed."""
        n, arity = len(arrays[i]), self.features[i].arity
        windows = [*windows[:i], (0, arity + 2, None, arity), *windows[i + 1 :]]
        out = np.full((n, len(self.classes)), -np.inf)
        for v in range(arity):
            given = [*arrays[:i], np.broadcast_to(np.uint16(v), n), *arrays[i + 1 :]]
            score, *_ = scorer.score(given, windows, [], n, None, "joint", threads)
            out = np.logaddexp(out, score)
        return out

    def _scorer(self, i: int, smooth: bool) -> Any:
        """ln P(c, x_i) + Σ_j ln P(x_j | c, x_i), as look-ups by one and by two codes."""
        k, l = len(self.classes), self.smoothing  # noqa: E741
        singles = self.singles[i]
        arity = singles.shape[1]
        top = np.zeros((arity + 2, k))
        total = singles.sum() + l * k * arity  # of the rows in which it was observed
        with np.errstate(divide="ignore"):
            top[:arity] = np.log(singles.T + l) - np.log(total)
        tables, pairs = [top], []
        for j, v in enumerate(self.features):
            if j == i:
                continue
            n = self.pairs[i, j] if i < j else self.pairs[j, i].transpose(0, 2, 1)
            sums = n.sum(axis=2, keepdims=True) + l * v.arity
            with np.errstate(divide="ignore"):
                log = np.log(n + l) - np.log(np.where(sums > 0, sums, 1.0))
            log = np.where(sums > 0, log, -np.log(v.arity))
            table = np.zeros((arity + 2, v.arity + 2, k))
            table[:arity, : v.arity] = log.transpose(1, 2, 0)
            if smooth:
                table[:arity, v.arity + 1] = _new_state(sums[:, :, 0], l).T
            tables.append(table.reshape(-1, k))
            pairs.append((i, j, arity + 2, v.arity + 2))
        return _scorer(np.zeros(k), [(i, arity + 2)], pairs, tables)

    def _naive(self, smooth: bool) -> Any:
        k, l = len(self.classes), self.smoothing  # noqa: E741
        tables, terms = [], []
        for j, n in enumerate(self.singles):
            table = np.zeros((n.shape[1] + 2, k))
            sums = n.sum(axis=1) + l * n.shape[1]
            with np.errstate(divide="ignore"):
                table[:-2] = (np.log(n + l) - np.log(sums)[:, None]).T
            if smooth:
                table[-1] = _new_state(sums, l)
            tables.append(table)
            terms.append((j, len(table)))
        with np.errstate(divide="ignore"):
            prior = np.log(self.weight) - np.log(self.weight.sum())
        return _scorer(prior, terms, [], tables)

    def _repr_html_(self) -> str:
        return text_html(self)


def _new_state(sums: Floats, l: float) -> Floats:  # noqa: E741
    """ln P of a state that no row had: l / (N + l·(J + 1)), from the sums N + l·J."""
    out: Floats = np.full(sums.shape, -np.inf)
    return np.log(l) - np.log(sums + l) if l > 0 else out


def _scorer(bias: Floats, singles: list[Any], pairs: list[Any], tables: list[Floats]) -> Any:
    k = len(bias)
    empty = np.zeros((0, k))
    stacked = np.ascontiguousarray(np.concatenate([empty, *tables]))
    return _core.NaiveScorer(bias, singles, pairs, stacked, empty, empty)


def as_states(v: Variable) -> States:
    """A variable as a feature of which only the states are known."""
    nothing = np.zeros((0, v.arity))
    return States(v, nothing, nothing, np.zeros(0), 1.0)


def aode_families(source: Any, target: str) -> list[Any]:
    """The families whose counts are needed; continuous features are refused.

    >>> import credo as cr
    >>> len(aode_families(cr.examples.play_tennis(), "PlayTennis"))
    11
    """
    discrete, continuous = class_features(source, target)
    if continuous:
        raise InputError(
            f"AODE is for discrete features; {continuous[0]!r} is continuous.",
            hint="Give NetworkClassifier bins=, or use structure='tan'.",
        )
    if not discrete:
        raise InputError("AODE needs at least one feature.")
    return pair_families(source, target)


def aode(source: Any, target: str, *, smoothing: float = 1.0, least: float = 1.0) -> Aode:
    """Learn averaged one-dependence estimators from anything that can tally.

    A state is a super-parent when at least `least` rows have it.

    >>> import credo as cr
    >>> model = aode(cr.examples.play_tennis(), "PlayTennis")
    >>> len(model.features), model.classes
    (4, ('No', 'Yes'))
    """
    not_negative(smoothing, "smoothing")
    tally = source.tally(aode_families(source, target))
    discrete, _ = class_features(source, target)
    places = list(combinations(range(len(discrete)), 2))

    def table(child: str, parents: list[str]) -> Floats:
        found = tally[child, parents]
        assert isinstance(found, Counts)
        return found.dense().values.astype(np.float64)

    return Aode(
        source.schema[target],
        tuple(source.schema[n] for n in discrete),
        table(target, []),
        tuple(table(n, [target]) for n in discrete),
        {(i, j): table(discrete[j], [target, discrete[i]]) for i, j in places},
        float(smoothing),
        float(least),
    )
