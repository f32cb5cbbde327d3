"""Rows to statistics by class, in one pass over their columns.

Columns of numbers, as they lie in arrays and frames, are counted where they are: a whole number is
its own code. What its kind is, if nobody said so, is left open as far as more rows may change it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, LimitError
from credo.core.schema import MAX_STATES, Variable
from credo.data.columns.columns import Column, Columns
from credo.data.columns.identifiers import FEW_INTEGERS
from credo.stats.by_class import ByClass, Part, Points, Spread, StateCounts, Totals
from credo.stats.class_blocks import StateTables
from credo.stats.configurations import frozen
from credo.stats.squares import refuse_underflow
from credo.train.naive_bayes.groups import GroupSpread, group_spread
from credo.train.naive_bayes.matrix import block_of, refuse_infinite, refuse_no_counts
from credo.train.naive_bayes.open import OpenColumns, open_block
from credo.train.naive_bayes.plan import Plan
from credo.train.naive_bayes.seen import BOOLS, FARTHEST, WHOLE, Seen

__all__ = ["by_class", "numbers_of_column", "spreads_by_class", "tables_by_class"]

Floats = NDArray[np.float64]
Codes = NDArray[np.uint32]

ABOVE = (0, -1, None, 2)
"""The window of a Bernoulli feature of numbers: above 0 or not."""

_SAMPLE = 4096


# --- from columns -------------------------------------------------------------------------


def by_class(
    columns: Columns,
    group: Codes,
    target: Variable,
    plan: Plan,
    weights: NDArray[Any] | None = None,
    threads: int = 1,
) -> ByClass:
    """The statistics of some columns by class; `plan` is settled where it was open.

    `group` has the class of each row; the number of classes stands for a row without one.
    """
    k = len(target.states)
    if weights is None:
        weight: NDArray[Any] = np.bincount(group, minlength=k + 1)
    else:
        weight = np.bincount(group, weights, minlength=k + 1)
        if weights.dtype.kind == "i":
            weight = weight.astype(np.int64)
    word = plan.word
    auto = word == "auto" or (word is None and "auto" in plan.kinds.values())
    block = block_of(columns, group, k, plan, weights, threads)
    if auto and isinstance(block, StateTables):
        if plan.pending:
            left = OpenColumns(block.names, block=block, rows=len(group))
            return ByClass(target, weight[:k], block, weight[k].item(), left)
        out = open_block(target, weight[:k], block, len(group), weight[k].item())
        if out.parts is not block:
            plan.kinds = dict(zip(plan.kinds, map(_kind, out.parts), strict=True))
        return out
    if block is not None:
        return ByClass(target, weight[:k], block, weight[k].item())
    held: dict[str, Seen] = {}
    parts: dict[str, Part] = _counted(columns, group, k, plan, weights, threads, held)
    plan.settle()
    floats = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    single = [n for n in plan.of("gaussian") if not any(n in g for g in plan.together)]
    parts |= spreads_by_class(columns, single, group, k, floats, threads)
    for names in plan.together:
        parts[names[0]] = _together(columns, names, group, k, floats, threads)
    for name in plan.of("kernel"):
        numbers = numbers_of_column(name, columns.by_name[name], "kernel")
        values = np.ascontiguousarray(numbers, dtype=np.float64)
        refuse_infinite(name, values)
        parts[name] = Points.of(name, values, group, k, weights)
    bag = plan.of("counts")
    if bag:
        parts[bag[0]] = _bag(columns, bag, group, k, floats, threads)
    ordered = tuple(parts[n] for n in plan.kinds if n in parts)
    still = None
    if held and not plan.full:  # with full covariance the first rows say which vary together
        used = tuple(n for n, kind in plan.kinds.items() if kind != "ignore")
        still = OpenColumns(used, held)
    return ByClass(target, weight[:k], ordered, weight[k].item(), still)


def _kind(part: Part) -> str:
    return "categorical" if isinstance(part, StateCounts) else "gaussian"


def _counted(
    columns: Columns,
    group: Codes,
    k: int,
    plan: Plan,
    weights: NDArray[Any] | None,
    threads: int,
    held: dict[str, Seen],
) -> dict[str, Part]:
    """States by class; `held` gets what was seen of whole numbers that are left open."""
    classed = group < k
    there = None if classed.all() or not classed.any() else classed
    bools: set[str] = set()
    names = plan.of("categorical", "bernoulli", "auto")
    arrays: dict[str, NDArray[Any]] = {}
    windows: dict[str, tuple[int, int, Any, int]] = {}
    variables: dict[str, Variable | None] = {}
    for name in names:
        column = columns.by_name[name]
        given = plan.states.get(name)
        if given is not None:
            column = _declared(name, column, given)
        elif plan.kinds[name] == "bernoulli" and _holds_numbers(column):
            arrays[name], windows[name] = numbers_of_column(name, column, "bernoulli"), ABOVE
            variables[name] = Variable(name, "discrete", (0, 1))
            continue
        elif column.variable is None and column.values.dtype.kind == "b":
            column = Column(column.values, Variable(name, "discrete", (False, True)))
            if plan.kinds[name] == "auto":
                arrays[name], variables[name] = column.values, column.variable
                windows[name] = (0, 4, None, 2)
                bools.add(name)
                continue
        if column.variable is None and column.values.dtype.kind == "f":
            if plan.kinds[name] == "auto":
                plan.kinds[name] = "gaussian"
                continue
            column = _whole(name, column)
        elif column.variable is not None:
            if plan.kinds[name] == "bernoulli" and column.variable.arity > 2:
                raise InputError(
                    f"A Bernoulli feature has two states; {name!r} has {column.variable.arity}.",
                    hint="Make it 'categorical'.",
                )
            plan.kinds[name] = "categorical" if plan.kinds[name] == "auto" else plan.kinds[name]
        arrays[name], variables[name] = column.values, column.variable
        if column.variable is not None:
            arity = column.variable.arity
            windows[name] = (0, arity + 2, None, arity)
    raw = [n for n in arrays if n not in windows]
    windows |= _sampled_windows({n: arrays[n] for n in raw}, plan, there)
    for name in [n for n in raw if n not in windows]:
        del arrays[name]
    counts = tables_by_class(arrays, windows, group, k, weights, threads)
    late = [n for n in windows if n in raw and counts[n][:, -1].any()]
    if late:  # the sample missed a value: look at all of them
        again = {n: arrays[n] for n in late}
        seen = [a if there is None else a[there] for a in again.values()]
        ranges = dict(zip(late, _core.naive_ranges(seen), strict=True))
        wider = {n: _window(n, again[n], ranges[n], plan) for n in late}
        windows |= {n: w for n, w in wider.items() if w is not None}
        for n in [n for n, w in wider.items() if w is None]:
            del windows[n], again[n], arrays[n]
        counts |= tables_by_class(again, windows, group, k, weights, threads)
    out: dict[str, Part] = {}
    for name in windows:
        if plan.kinds[name] == "auto":
            seen_here = _seen(name, counts[name], windows[name][0], len(group), bools)
            if plan.pending and not seen_here.final:
                held[name] = seen_here
                continue
            variable, _ = seen_here.verdict()
            assert variable is not None
            if not seen_here.final:
                held[name] = seen_here
            plan.kinds[name] = "categorical" if variable.is_discrete else "gaussian"
            if variable.is_discrete:
                out[name] = seen_here.part(variable)
            continue
        out[name] = _state_counts(name, counts[name], windows[name], variables[name])
    return out


def _seen(name: str, table: NDArray[Any], low: int, rows: int, bools: set[str]) -> Seen:
    """What was seen of a column of whole numbers, or of booleans."""
    there = np.flatnonzero(table[:, :-2].any(axis=0))
    counts = frozen(np.ascontiguousarray(table[:, there]))
    values = tuple((there + low).tolist())
    if name in bools:
        return Seen(name, rows, 0, BOOLS, tuple(map(bool, values)), counts, raw=True)
    return Seen(name, rows, 0, WHOLE, values, counts, raw=True)


def _state_counts(
    name: str,
    table: NDArray[Any],
    window: tuple[int, int, Any, int],
    variable: Variable | None,
) -> StateCounts:
    """The counts of the states that were seen."""
    if variable is not None:
        return StateCounts(variable, frozen(table[:, : variable.arity].copy()), window is ABOVE)
    low, lut = window[0], window[2]
    seen = np.flatnonzero(table[:, :-2].any(axis=0))
    unseen = not len(seen)
    if unseen:
        seen = np.zeros(1, dtype=np.intp)
    if len(seen) > MAX_STATES:
        raise LimitError(
            f"{name!r} has {len(seen):,} states; at most {MAX_STATES:,} are allowed.",
            hint="Make it 'gaussian', or group its values.",
        )
    states = tuple((seen + low).tolist()) if lut is None else tuple(lut[seen].tolist())
    variable = Variable(name, "discrete", states)
    return StateCounts(variable, frozen(np.ascontiguousarray(table[:, seen])), unseen=unseen)


def tables_by_class(
    arrays: Mapping[str, NDArray[Any]],
    windows: Mapping[str, tuple[int, int, Any, int]],
    group: Codes,
    k: int,
    weights: NDArray[Any] | None,
    threads: int,
) -> dict[str, NDArray[Any]]:
    """For each column the counts [class, code], with the codes of missing and unseen last."""
    if not arrays:
        return {}
    used = [windows[n] for n in arrays]
    flat = _core.naive_counts(list(arrays.values()), used, group, k, weights, threads)
    out, at = {}, 0
    for name, window in zip(arrays, used, strict=True):
        width = window[3] + 2
        out[name] = flat[at : at + k * width].reshape(k, width)
        at += k * width
    return out


def _sampled_windows(
    arrays: Mapping[str, NDArray[Any]], plan: Plan, there: NDArray[np.bool_] | None
) -> dict[str, tuple[int, int, Any, int]]:
    """Where the whole numbers of each column lie, as far as a few thousand rows can tell."""
    if not arrays:
        return {}
    step = max(len(next(iter(arrays.values()))) // _SAMPLE, 1)
    sample = {n: (a if there is None else a[there])[::step] for n, a in arrays.items()}
    ranges = _core.naive_ranges(list(sample.values()))
    out = {}
    for (name, values), found in zip(sample.items(), ranges, strict=True):
        if plan.kinds[name] == "auto" and found[1] - found[0] >= FEW_INTEGERS:
            different = len(np.unique(values))
            if different > FEW_INTEGERS:
                plan.kinds[name] = "gaussian"
                continue
        window = _window(name, values, found, plan, step > 1)
        if window is not None:
            out[name] = window
    return out


def _window(
    name: str, values: NDArray[Any], found: Any, plan: Plan, sampled: bool = False
) -> tuple[int, int, Any, int] | None:
    low, high, whole, _, _ = found
    if not whole or high - low >= FARTHEST:
        if plan.kinds[name] == "auto":
            plan.kinds[name] = "gaussian"
            return None
        raise LimitError(
            f"The whole numbers of {name!r} lie {high - low:,} apart; "
            f"a categorical feature has room for {FARTHEST:,}.",
            hint="Make it 'gaussian', or give its states as text.",
        )
    span = max(int(high - low) + 1, 1)
    return int(low), span, None, span


def _declared(name: str, column: Column, states: Sequence[Any]) -> Column:
    """The codes of a column whose states are given; a cell that is none of them is refused."""
    variable = Variable(name, "discrete", tuple(states))
    if column.variable is not None:
        labels: list[Any] = list(column.variable.states)
        where = column.values
    else:
        different, where = np.unique(column.values, return_inverse=True)
        labels = [v if v == v else None for v in different.tolist()]
        whole = [isinstance(v, float) and v.is_integer() for v in labels]
        labels = [int(v) if w else v for v, w in zip(labels, whole, strict=True)]
    lut = np.full(len(labels) + 2, variable.arity, dtype=np.uint16)
    for i, label in enumerate(labels):
        if label is not None:
            lut[i] = variable.code(label)
    return Column(lut[where], variable)


def _whole(name: str, column: Column) -> Column:
    """Decimals that are to be states: as whole numbers if they are, else each its own state."""
    values = column.values
    ((_, _, whole, _, infinite),) = _core.naive_ranges([values])
    if infinite:
        refuse_infinite(name, values)
    if whole:
        return column
    different, where = np.unique(values, return_inverse=True)
    different = different[different == different]
    if len(different) > MAX_STATES:
        raise LimitError(
            f"{name!r} has {len(different):,} different numbers; a categorical feature has at most "
            f"{MAX_STATES:,} states.",
            hint="Make it 'gaussian'.",
        )
    codes = np.minimum(where, len(different)).astype(np.uint16)
    return Column(codes, Variable(name, "discrete", tuple(different.tolist())))


def _holds_numbers(column: Column) -> bool:
    """Whether the cells are numbers, or booleans, and not text."""
    variable = column.variable
    return variable is None or not any(isinstance(s, str) for s in variable.states)


def numbers_of_column(name: str, column: Column, kind: str = "gaussian") -> NDArray[Any]:
    """The cells of a column as numbers; text is refused."""
    if column.variable is None:
        return column.values
    if not _holds_numbers(column):
        text = next(s for s in column.variable.states if isinstance(s, str))
        raise InputError(
            f"{name!r} holds the text {text!r} and cannot be {kind!r}.",
            hint=f"Make it 'categorical', as in kinds={{{name!r}: 'categorical'}}.",
        )
    lut = np.array([*(float(s) for s in column.variable.states), np.nan])
    return np.asarray(lut[column.values])


def spreads_by_class(
    columns: Columns,
    names: Sequence[str],
    group: Codes,
    k: int,
    weights: Floats | None,
    threads: int,
) -> dict[str, Part]:
    """The moments of some columns, each alone."""
    if not names:
        return {}
    arrays = [numbers_of_column(n, columns.by_name[n]) for n in names]
    with np.errstate(all="ignore"):
        n, mean, scatter = _core.naive_moments(arrays, group, k, weights, threads)
    for j in np.flatnonzero(~np.isfinite(mean).all(axis=1)).tolist():
        refuse_infinite(names[j], arrays[j])
    for j in np.flatnonzero(((scatter == 0) & (n > 1)).any(axis=1)).tolist():
        refuse_underflow(names[j], np.asarray(arrays[j], dtype=np.float64))
    each = Spread.each(names, n, mean, scatter)
    return dict(zip(names, each, strict=True))


def _together(
    columns: Columns,
    names: Sequence[str],
    group: Codes,
    k: int,
    weights: Floats | None,
    threads: int,
) -> GroupSpread:
    """Moments of a group of columns, of the rows in which all of them are observed."""
    arrays = [
        np.ascontiguousarray(numbers_of_column(n, columns.by_name[n]), dtype=np.float64)
        for n in names
    ]
    for name, values in zip(names, arrays, strict=True):
        refuse_infinite(name, values)
    found = group_spread(names, arrays, group, k, weights, threads)
    flat = np.diagonal(found.scatter.sum(axis=0)) == 0
    for j in np.flatnonzero(flat & (found.n.sum() > 1)).tolist():
        refuse_underflow(names[j], arrays[j])
    return found


def _bag(
    columns: Columns,
    names: Sequence[str],
    group: Codes,
    k: int,
    weights: Floats | None,
    threads: int,
) -> Totals:
    arrays = [numbers_of_column(n, columns.by_name[n], "counts") for n in names]
    totals, countable = _core.naive_totals(arrays, group, k, weights, threads)
    if not countable:
        refuse_no_counts(names, arrays)
    return Totals(tuple(names), frozen(totals))
