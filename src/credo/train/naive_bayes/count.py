"""Rows to statistics by class, in one pass over their columns.

Columns of numbers, as they lie in arrays and frames, are counted where they are: a whole number is
its own code. A plan that leaves kinds to the rules ('auto') is settled by the first rows that are
counted with it: text and booleans are states, whole numbers if they are few (`are_states`), other
numbers are Gaussian, as they are or after a transform, or cut into intervals where that tells the
class better (`numbers.py`). Where all columns lie in one array and are of one kind, the array is
counted as it lies: no object for each column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, LimitError
from credo.core.scales import Transform
from credo.core.schema import MAX_STATES, Variable
from credo.data import FEW_INTEGERS, Column, Columns, are_states
from credo.stats.by_class import ByClass, ClassMoments, JointMoments, Points, StateCounts, Totals
from credo.stats.squares import refuse_underflow
from credo.stats.window_counts import WIDEST, WindowCounts
from credo.train.naive_bayes.cells import (
    declared_column,
    holds_numbers,
    joint_values,
    numbers_of_column,
    refuse_infinite,
    refuse_no_counts,
    whole_column,
)
from credo.train.naive_bayes.numbers import model_numbers
from credo.train.naive_bayes.plan import NUMBER, Plan

Array = NDArray[Any]
Floats = NDArray[np.float64]
Codes = NDArray[np.uint32]
Window = tuple[int, int, Any, int]

_ABOVE: Window = (0, -1, None, 2)  # numbers above 0 or not
_SAMPLE = 4096
_FARTHEST = 60_000  # whole numbers farther apart than this are no states
_MOST = 1 << 22  # cells of an array of counts


def by_class(
    columns: Columns,
    group: Codes,
    target: Variable,
    plan: Plan,
    weights: Array | None = None,
    threads: int = 1,
    *,
    classed: bool = True,
) -> ByClass:
    """The statistics of some columns by class; `plan` is settled where it was open.

    `group` has the class of each row; the number of classes stands for a row without one. If it is
    not meant (`classed`), how numbers are modelled within the classes stays open.

    >>> y, plan = Variable("y", "discrete", (0, 1)), Plan({"a": "auto"})
    >>> cells = Columns(2, {"a": Column(np.array([0.5, 1.5]))})
    >>> by_class(cells, np.array([0, 1], np.uint32), y, plan).moments.mean.tolist(), plan.kinds
    ([[0.5, 1.5]], {'a': 'gaussian'})
    """
    k = len(target.states)
    if weights is None:
        weight: Array = np.bincount(group, minlength=k + 1)
    else:
        weight = np.bincount(group, weights, minlength=k + 1)
        if weights.dtype.kind == "i":
            weight = weight.astype(np.int64)
    counting = _Counting(columns, group, k, weights, threads, classed)
    found = counting.matrix(plan) if columns.matrix is not None else None
    if found is None:
        found = counting.columns_of(plan)
    return ByClass(target, weight[:k], **found, unlabelled=weight[k].item())


class _Counting:
    """Columns and their classes, to be counted."""

    def __init__(
        self,
        columns: Columns,
        group: Codes,
        k: int,
        weights: Array | None,
        threads: int,
        classed: bool,
    ) -> None:
        self.columns, self.group, self.k, self.threads = columns, group, k, threads
        self.weights, self.classed = weights, classed
        self.floats = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)

    # --- all columns in one array ---------------------------------------------------------

    def matrix(self, plan: Plan) -> dict[str, Any] | None:
        """The statistics of a matrix of one kind; None where columns must be looked at."""
        matrix, word = self.columns.matrix, plan.word
        assert matrix is not None
        names, kind = self.columns.names, word
        if word is None or plan.states or plan.scales:
            return None
        if not matrix.shape[1] or len(names) != len(matrix.T):
            return None
        if kind == "auto" and matrix.dtype.kind == "f":
            kind = plan.number
        if kind in (NUMBER, "transformed", "binned"):
            plan.all_are(kind)
            self._model_numbers(plan)
            word, kind = None, plan.word
        if kind in ("gaussian", NUMBER):
            if plan.together or (plan.full and matrix.shape[1] > 1):
                return None
            found: dict[str, Any] = {"moments": self._matrix_moments(names, matrix)}
        elif kind == "bernoulli":
            table = self._table(matrix, _ABOVE)[:, :, :2]
            known = np.ones((len(names), 2), dtype=bool)
            found = {"counts": WindowCounts(names, 0, np.ascontiguousarray(table), known, True)}
        elif kind == "counts":
            found = {"words": self._totals(names, matrix)}
        elif kind in ("categorical", "auto") and matrix.dtype.kind != "b":
            counts = self._window_counts(names, matrix, kind == "auto")
            if counts is None:
                return None
            if word == "auto":
                return _few_or_moments(counts, len(self.group), plan)
            found = {"counts": counts}
        else:
            return None
        if kind != word:
            plan.all_are(str(kind))
        return {"names": names, **found}

    def _table(self, columns: Any, window: Window) -> Array:
        """Counts [column, class, code] of a matrix, those of missing and unseen last."""
        flat = _core.naive_counts(columns, window, self.group, self.k, self.weights, self.threads)
        out: Array = flat.reshape(columns.shape[1], self.k, window[3] + 2)
        return out

    def _matrix_moments(self, names: tuple[str, ...], matrix: Array) -> ClassMoments:
        with np.errstate(all="ignore"):
            n, mean, scatter = _core.naive_moments(
                matrix, self.group, self.k, self.floats, self.threads
            )
        if not _core.naive_usual_moments(n, mean, scatter):
            for j in np.flatnonzero(~np.isfinite(mean).all(axis=1)).tolist():
                refuse_infinite(names[j], matrix[:, j])
            tiny = (scatter == 0) & (n > 1) & (np.abs(mean) < 1e-145)
            for j in np.flatnonzero(tiny.any(axis=1)).tolist():
                if matrix.dtype.kind == "f" and np.fmax.reduce(np.abs(matrix[:, j])) > 0:
                    refuse_underflow(names[j], np.asarray(matrix[:, j], dtype=np.float64))
        return ClassMoments(names, n, mean, scatter)

    def _totals(self, names: Sequence[str], columns: Any) -> Totals:
        totals, countable = _core.naive_totals(
            columns, self.group, self.k, self.floats, self.threads
        )
        if not countable:
            refuse_no_counts(names, columns if isinstance(columns, list) else columns.T)
        return Totals(tuple(names), totals)

    def _window_counts(
        self, names: tuple[str, ...], matrix: Array, auto: bool
    ) -> WindowCounts | None:
        """Whole numbers in one narrow window, as far as a few thousand rows can tell at first."""
        n, d = matrix.shape
        step = max(n // _SAMPLE, 1)
        for rows in (matrix[::step], matrix) if step > 1 else (matrix,):
            limits = _limits(rows)
            if limits is None:
                return None
            low, width = limits
            if width > (FEW_INTEGERS if auto else WIDEST) or d * self.k * (width + 2) > _MOST:
                return None
            table = self._table(matrix, (low, width, None, width))
            if not table[:, :, -1].any():
                break
        else:  # decimals
            return None
        counts = np.ascontiguousarray(table[:, :, :-2])
        known: NDArray[np.bool_] = np.asarray(counts.any(axis=1))
        return WindowCounts(names, low, counts, known) if known.any(axis=1).all() else None

    # --- column by column -----------------------------------------------------------------

    def columns_of(self, plan: Plan) -> dict[str, Any]:
        """The statistics of columns of several kinds."""
        counts = self._states(plan, plan.of("categorical", "bernoulli", "auto"))
        self._model_numbers(plan)
        counts |= self._states(plan, [n for n in plan.of("binned") if n in plan.states])
        self._settle(plan)
        grouped = {n for g in plan.together for n in g}
        single = [n for n in plan.of("gaussian", "transformed", NUMBER) if n not in grouped]
        bag, by_name = plan.of("counts"), self.columns.by_name
        words = [numbers_of_column(n, by_name[n], "counts") for n in bag]
        kinds = plan.kinds
        return {
            "names": tuple(n for n, kind in kinds.items() if kind != "ignore"),
            "counts": tuple(counts[n] for n in kinds if n in counts),
            "moments": class_moments(
                self.columns, single, self.group, self.k, self.floats, self.threads, plan.scales
            ),
            "joint": tuple(self._joint(names) for names in plan.together),
            "words": self._totals(bag, words) if bag else None,
            "points": tuple(self._points(n) for n in plan.of("kernel")),
        }

    def _model_numbers(self, plan: Plan) -> None:
        if self.classed:
            model_numbers(plan, self.columns, self.group, self.k, self.weights)

    def _settle(self, plan: Plan) -> None:
        """Which columns vary together; one of which the first rows have no value stands alone."""
        if plan.settled:
            return
        plan.settle()
        there, groups = self.group < self.k, []
        for names in plan.together:
            gone = np.isnan(joint_values(self.columns, names)[there]).all(axis=0)
            groups.append(
                [n for n, empty in zip(names, np.asarray(gone), strict=True) if not empty]
            )
        plan.together = tuple(tuple(names) for names in groups if len(names) > 1)

    def _points(self, name: str) -> Points:
        numbers = numbers_of_column(name, self.columns.by_name[name], "kernel")
        values = np.ascontiguousarray(numbers, dtype=np.float64)
        refuse_infinite(name, values)
        return Points.of(name, values, self.group, self.k, self.weights)

    def _joint(self, names: Sequence[str]) -> JointMoments:
        arrays = [np.ascontiguousarray(a) for a in joint_values(self.columns, names).T]
        for name, values in zip(names, arrays, strict=True):
            refuse_infinite(name, values)
        n, mean, scatter = _core.moments(arrays, self.group, self.k, self.floats, self.threads)
        found = JointMoments(tuple(names), n, mean, scatter)
        flat = np.diagonal(found.scatter.sum(axis=0)) == 0
        for j in np.flatnonzero(flat & (found.n.sum() > 1)).tolist():
            refuse_underflow(names[j], arrays[j])
        return found

    def _states(self, plan: Plan, names: Sequence[str]) -> dict[str, StateCounts]:
        """Counts of states; 'auto' in the plan becomes what the columns show."""
        arrays: dict[str, Array] = {}
        windows: dict[str, Window] = {}
        variables: dict[str, Variable | None] = {}
        for name in names:
            column, kind = self.columns.by_name[name], plan.kinds[name]
            if name in plan.states:
                column = declared_column(name, column, plan.states[name])
            elif kind == "bernoulli" and holds_numbers(column):
                arrays[name], windows[name] = numbers_of_column(name, column, kind), _ABOVE
                variables[name] = Variable(name, "discrete", (0, 1))
                continue
            elif column.variable is None and column.values.dtype.kind == "b":
                column = Column(column.values, Variable(name, "discrete", (False, True)))
            elif column.variable is None and column.values.dtype.kind == "f":
                if kind == "auto":
                    plan.kinds[name] = plan.number
                    continue
                column = whole_column(name, column)
            arrays[name], variable = column.values, column.variable
            variables[name] = variable
            if variable is not None:
                if kind == "bernoulli" and variable.arity > 2:
                    raise InputError(
                        f"A Bernoulli feature has two states; {name!r} has {variable.arity}.",
                        hint="Make it 'categorical'.",
                    )
                plan.kinds[name] = "categorical" if kind == "auto" else kind
                windows[name] = (0, variable.arity + 2, None, variable.arity)
        counts = self._tables(arrays, windows)
        out = {n: _state_counts(n, counts[n], windows[n], variables[n]) for n in counts}
        raw = {n: a for n, a in arrays.items() if n not in windows}
        return out | (self._numbers(raw, plan) if raw else {})

    def _tables(self, arrays: Mapping[str, Array], windows: Mapping[str, Window]) -> dict[str, Any]:
        """For each column with a window the counts [class, code], missing and unseen last."""
        names = [n for n in arrays if n in windows]
        if not names:
            return {}
        used = [windows[n] for n in names]
        chosen = [arrays[n] for n in names]
        flat = _core.naive_counts(chosen, used, self.group, self.k, self.weights, self.threads)
        widths = [w[3] + 2 for w in used]
        ends = np.cumsum([self.k * w for w in widths])[:-1]
        parts = zip(names, np.split(flat, ends), widths, strict=True)
        return {n: part.reshape(self.k, width) for n, part, width in parts}

    def _numbers(self, arrays: dict[str, Array], plan: Plan) -> dict[str, StateCounts]:
        """Counts of whole numbers, in windows that a few thousand rows find; else all rows."""
        classed = self.group < self.k
        there = None if classed.all() or not classed.any() else classed
        seen = {n: a if there is None else a[there] for n, a in arrays.items()}
        step = max(len(self.group) // _SAMPLE, 1)
        windows = _windows({n: a[::step] for n, a in seen.items()}, plan)
        counts = self._tables(arrays, windows)
        late = {n for n, table in counts.items() if table[:, -1].any()}
        if late:  # the sample missed a value
            windows |= _windows({n: seen[n] for n in late}, plan)
            for name in [n for n in late if plan.kinds[n] == plan.number]:
                del counts[name]
                late.remove(name)
            counts |= self._tables({n: arrays[n] for n in late}, windows)
        out: dict[str, StateCounts] = {}
        for name, table in counts.items():
            if plan.kinds[name] == "auto":
                values = np.flatnonzero(table[:, :-2].any(axis=0))
                ends = (0, 0) if not len(values) else (int(values[0]), int(values[-1]))
                few = are_states(name, len(values), len(self.group), *ends)[0]
                plan.kinds[name] = "categorical" if few else plan.number
                if not few:
                    continue
            out[name] = _state_counts(name, table, windows[name], None)
        return out


def _limits(rows: Array) -> tuple[int, int] | None:
    """Where the numbers begin and how far they go; None without numbers that can be told apart."""
    if rows.dtype.kind == "f":
        least, most = np.fmin.reduce(rows, axis=None), np.fmax.reduce(rows, axis=None)
        if not (least > -9e15 and most < 9e15) or least != np.trunc(least):
            return None
        return int(least), int(np.floor(most)) - int(least) + 1
    least, most = int(rows.min()), int(rows.max())
    return (least, most - least + 1) if most < 2**63 else None


def _few_or_moments(counts: WindowCounts, rows: int, plan: Plan) -> dict[str, Any] | None:
    """Whole numbers that are few are states; of the others the moments, from their counts.

    None where those vary together, which counts do not tell, or may be cut into intervals.
    """
    many = counts.known.sum(axis=1)
    few = (many <= 2) | ((many <= 4) & (many < rows))
    for i in np.flatnonzero(~few & (many <= FEW_INTEGERS)).tolist():
        states = counts.states(i)
        few[i] = are_states(counts.names[i], len(states), rows, states[0], states[-1])[0]
    found: dict[str, Any] = {"names": counts.names, "counts": counts}
    if few.all():
        plan.all_are("categorical")
        return found
    real = np.flatnonzero(~few).tolist()
    if few.any():
        plan.kinds.update({counts.names[i]: plan.number for i in real})
        plan.kinds.update({n: "categorical" for n, k in plan.kinds.items() if k == "auto"})
    else:
        plan.all_are(plan.number)
    if plan.full or plan.number != "gaussian":
        return None
    n = counts.values[real].astype(np.float64)
    x = np.arange(n.shape[2], dtype=np.float64) + counts.low
    names = tuple(counts.names[i] for i in real)
    moments = _moments_of_counts(names, n, x)
    left = tuple(counts[i] for i in np.flatnonzero(few).tolist())
    return found | {"counts": left, "moments": moments}


def _moments_of_counts(names: tuple[str, ...], n: Floats, x: Floats) -> ClassMoments:
    """The moments of numbers x that were counted: n[feature, class, number]."""
    total = n.sum(axis=2)
    some = np.where(total > 0, total, 1.0)
    middle = float(x.mean()) if len(x) else 0.0
    mean = np.where(total > 0, middle + n @ (x - middle) / some, 0.0)
    mean = mean + (n * (x - mean[:, :, None])).sum(axis=2) / some  # far values cost no digits
    scatter = (n * (x - mean[:, :, None]) ** 2).sum(axis=2)
    return ClassMoments(names, total, np.where(total > 0, mean, 0.0), scatter)


def _windows(sample: Mapping[str, Array], plan: Plan) -> dict[str, Window]:
    """Where the whole numbers of each column lie; those that are no states are numbers."""
    out: dict[str, Window] = {}
    ranges = _core.naive_ranges(list(sample.values()))
    for (name, values), (low, high, whole, _, _) in zip(sample.items(), ranges, strict=True):
        auto, wide = plan.kinds[name] == "auto", high - low >= FEW_INTEGERS
        if auto and wide and len(np.unique(values)) > FEW_INTEGERS:
            plan.kinds[name] = plan.number
        elif whole and high - low < _FARTHEST:
            span = max(int(high - low) + 1, 1)
            out[name] = int(low), span, None, span
        elif auto:
            plan.kinds[name] = plan.number
        else:
            raise LimitError(
                f"The whole numbers of {name!r} lie {high - low:,} apart; "
                f"a categorical feature has room for {_FARTHEST:,}.",
                hint="Make it 'gaussian', or give its states as text.",
            )
    return out


def _state_counts(
    name: str, table: Array, window: Window, variable: Variable | None
) -> StateCounts:
    """The counts of the states that were seen."""
    if variable is not None:
        return StateCounts(variable, table[:, : variable.arity], window is _ABOVE)
    seen = np.flatnonzero(table[:, :-2].any(axis=0))
    if len(seen) > MAX_STATES:
        raise LimitError(
            f"{name!r} has {len(seen):,} states; at most {MAX_STATES:,} are allowed.",
            hint="Make it 'gaussian', or group its values.",
        )
    unseen = not len(seen)
    seen = np.zeros(1, dtype=np.intp) if unseen else seen
    variable = Variable(name, "discrete", tuple((seen + window[0]).tolist()))
    return StateCounts(variable, np.ascontiguousarray(table[:, seen]), unseen=unseen)


def class_moments(
    columns: Columns,
    names: Sequence[str],
    group: Codes,
    k: int,
    weights: Floats | None,
    threads: int,
    scales: Mapping[str, Transform],
) -> ClassMoments | None:
    """The moments of some columns, each alone, on their scales."""
    if not names:
        return None
    arrays = [numbers_of_column(n, columns.by_name[n]) for n in names]
    used = {n: scales[n] for n in names if n in scales}
    for j, name in enumerate(names if used else ()):
        if name in used:
            refuse_infinite(name, arrays[j])
            arrays[j] = used[name].forward(arrays[j])
    with np.errstate(all="ignore"):
        n, mean, scatter = _core.naive_moments(arrays, group, k, weights, threads)
    for j in np.flatnonzero(~np.isfinite(mean).all(axis=1)).tolist():
        refuse_infinite(names[j], arrays[j])
    for j in np.flatnonzero(((scatter == 0) & (n > 1)).any(axis=1)).tolist():
        refuse_underflow(names[j], np.asarray(arrays[j], dtype=np.float64))
    return ClassMoments(tuple(names), n, mean, scatter, used)
