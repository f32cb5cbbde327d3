"""Rows through a naive Bayes model.

    ln P(c, x) = ln P(c) + Σ_j ln P(x_j | c)

Discrete features are look-ups in one table, Gaussian ones a few multiplications, both in one native
pass over the columns as they lie in memory; other kinds are added to it. Missing cells add nothing,
which is summing them out: under naive Bayes the sum over x_j of P(x_j | c) is 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import CredoWarning, ImpossibleError, InputError
from credo.core.interval_states import interval_codes
from credo.core.kept import Kept
from credo.core.schema import Variable
from credo.data import Column, Columns, columns_for, unmasked, warn_renamed
from credo.model.naive_bayes.blocks import FeatureBlock, NormalBlock, StateBlock
from credo.model.naive_bayes.features import Bag, Normal, States
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.predict.rows.naive_row import check_unseen, no_state, zero_cells

Floats = NDArray[np.float64]
Window = tuple[int, int, NDArray[np.uint16] | None, int]

_BLOCK = 4096  # rows that stay in the cache
_SPAN = 65_000  # whole numbers farther apart than this are looked up, not tabled


def variables_of(model: NaiveBayesModel) -> dict[str, Variable | None]:
    """The variable of each feature: discrete ones, None for numbers (above 0 or not, or cut)."""
    return {
        n: f.variable if isinstance(f, States) and not f.above and f.cuts is None else None
        for f in model.features
        for n in f.names
    }


# --- many rows ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Compiled:
    """The tables of a model as the kernel reads them."""

    states: tuple[States, ...]
    normals: tuple[Normal, ...]
    bags: tuple[Bag, ...]
    others: tuple[Any, ...]
    scorers: dict[bool, Any]
    windows: dict[int, Window]  # of the features whose columns came as numbers, by place
    words: tuple[str, ...]  # of the bags
    alone: bool  # whether there is nothing but words


@dataclass(frozen=True, slots=True)
class _Whole:
    """The same for a block of features, whose columns lie in one array."""

    reading: _Reading
    scorers: dict[bool, Any]


def _compiled(model: NaiveBayesModel) -> _Compiled:
    states = tuple(f for f in model.features if isinstance(f, States))
    normals = tuple(f for f in model.features if isinstance(f, Normal) and not f.idle)
    bags = tuple(f for f in model.features if isinstance(f, Bag))
    others = tuple(f for f in model.features if not isinstance(f, (States, Normal, Bag)))
    words = tuple(name for f in bags for name in f.names)
    alone = not (states or normals or others)
    return _Compiled(states, normals, bags, others, {}, {}, words, alone)


_COMPILED = Kept(_compiled)
_WHOLE = Kept(lambda model: _Whole(_block_reading(model.features), {}))


def _scorer(model: NaiveBayesModel, compiled: _Compiled, smooth: bool) -> Any:
    found = compiled.scorers.get(smooth)
    if found is not None:
        return found
    k = len(model.classes)
    rows = [np.zeros((0, k))]
    for f in compiled.states:  # the states, missing (nothing), not seen (nothing, or smoothed)
        rows += [f.log_theta.T, np.zeros((1, k)), f.unseen[None] if smooth else np.zeros((1, k))]
    empty = np.zeros((0, k))

    def stack(each: Any) -> Floats:
        parts = [each(f) for f in compiled.normals]
        return np.ascontiguousarray(np.stack(parts)) if parts else empty

    found = compiled.scorers[smooth] = _core.NaiveScorer(
        np.ascontiguousarray(model.log_prior),
        [(j, len(f.variable.states) + 2) for j, f in enumerate(compiled.states)],
        [],
        np.ascontiguousarray(np.concatenate(rows)),
        stack(lambda f: f.mean),
        stack(lambda f: f.variance),
        np.ascontiguousarray(np.concatenate([empty, *(f.log_theta.T for f in compiled.bags)])),
    )
    return found


def predict_table(
    model: NaiveBayesModel, rows: Any, answer: str, unseen: str, threads: int = 1
) -> Any:
    """The answer for each row of anything that can be read; see `predict_columns`."""
    columns = columns_for(unmasked(rows), variables_of(model))
    refuse_no_column(model, columns)
    warn_renamed(model.names, [*columns.by_name, *columns.others], stacklevel=4)
    return predict_columns(model, columns, answer, unseen, threads)


def refuse_no_column(model: NaiveBayesModel, columns: Columns) -> None:
    """Refuse rows without any column of the model."""
    if not columns.by_name and model.names:
        raise InputError(
            "The rows have no column of the model.",
            hint=f"Its features are {', '.join(map(repr, model.names[:12]))}.",
        )


def predict_columns(
    model: NaiveBayesModel, columns: Columns, answer: str, unseen: str, threads: int = 1
) -> Any:
    """For each row 'joint': ln P(class, row); 'log', 'posterior': P(class | row); 'best'.

    Columns that are not there are not observed. A row that every class rules out is refused.
    """
    check_unseen(unseen)
    if isinstance(model.features, FeatureBlock) and are_names(columns, model.features.names):
        return _of_block(model, model.features, columns, answer, unseen, threads)
    compiled = _COMPILED[model]
    n = columns.rows
    arrays, windows = [], []
    for place, f in enumerate(compiled.states):
        column = columns.by_name.get(f.variable.name)
        window = compiled.windows.get(place)
        if window is not None and column is not None and column.variable is None:
            array = column.values
        else:
            array, window = coded(f, column, n)
            if column is not None and column.variable is None and array is column.values:
                compiled.windows[place] = window
        arrays.append(array)
        windows.append(window)
    reals = [f.on_scale(real(columns.by_name.get(f.name), n)) for f in compiled.normals]
    words = compiled.words
    counts: Any = columns.matrix
    if not (compiled.alone and are_names(columns, words)):
        counts = [real(columns.by_name.get(name), n) for name in words]
    extra = _extra(compiled.others, columns, len(model.classes))
    if answer == "joint":
        extra = _with_slopes(compiled.normals, columns, extra, len(model.classes))
    scorer = _scorer(model, compiled, unseen == "smooth")
    found = scorer.score(arrays, windows, reals, n, extra, answer, threads, counts)
    if not (found[3] or found[4]):
        raise _no_count(words, list(counts.T) if isinstance(counts, np.ndarray) else counts)
    return _settled(model, columns, answer, unseen, found, compiled.states, compiled.normals)


def _settled(
    model: NaiveBayesModel, columns: Columns, answer: str, unseen: str, found: Any,
    states: Sequence[Any], normals: Sequence[Any],
) -> Any:  # fmt: skip
    """What the kernel found; numbers, states and rows that it cannot answer for are told."""
    out, bad, strange, infinite, _ = found
    if infinite:
        name = normals[infinite[0]].name
        _finite(name, columns.by_name[name].values)
    if strange and unseen != "smooth":
        report_unseen(unseen, columns, [states[j].variable for j in strange])
    if bad >= 0 and answer != "joint":
        row = {name: _cell(name, columns.by_name[name], bad) for name in columns.by_name}
        told = zero_cells(model, row, unseen == "smooth")
        raise ImpossibleError(
            f"Row {bad + 1:,} has probability zero in every class: {told}.",
            hint="Use smoothing above 0.",
        )
    return out


def are_names(columns: Columns, names: tuple[str, ...]) -> bool:
    """Whether the columns lie in one array and are these, in order."""
    found = columns.names  # the same tuple, mostly: thousands of names are not compared
    return columns.matrix is not None and (found is names or found == names)


def _of_block(
    model: NaiveBayesModel,
    block: FeatureBlock,
    columns: Columns,
    answer: str,
    unseen: str,
    threads: int,
) -> Any:
    whole = _WHOLE[model]
    smooth = unseen == "smooth"
    scorer = whole.scorers.get(smooth)
    if scorer is None:
        scorer = whole.scorers[smooth] = _block_scorer(block, model.log_prior, smooth)
    assert columns.matrix is not None
    inputs = whole.reading.inputs(columns.matrix)
    found = scorer.score(*inputs, columns.rows, None, answer, threads)
    numbers: Any = block
    if found[3] and whole.reading.places is not None:
        numbers = [block[int(place)] for place in whole.reading.places]
    return _settled(model, columns, answer, unseen, found, block, numbers)


def coded(f: States, column: Column | None, n: int) -> tuple[NDArray[Any], Window]:
    """A column and the window that turns it into the codes of a feature."""
    k = len(f.variable.states)
    if column is None:
        nothing = np.full(1, k, dtype=np.uint16)
        return np.broadcast_to(np.uint8(0), n), (0, 1, nothing, k)
    if column.variable is not None:
        if column.variable.states == f.variable.states:
            return column.values, (0, k + 2, None, k)
        lut = [f.code(s) for s in column.variable.states]
        codes = np.array([k + 1 if c is None or c == k else c for c in lut] + [k, k + 1], np.uint16)
        return column.values, (0, len(codes), codes, k)
    if f.above:
        return column.values, (0, -1, None, k)
    if f.cuts is not None:
        numbers = np.ascontiguousarray(column.values, dtype=np.float64)
        return interval_codes(_finite(f.variable.name, numbers), f.cuts), (0, k + 2, None, k)
    whole = [int(s) for s in f.variable.states if isinstance(s, (int, np.integer, bool))]
    if len(whole) == k and max(whole) - min(whole) < _SPAN:
        low = min(whole)
        lut_ = np.full(max(whole) - low + 1, k + 1, dtype=np.uint16)
        lut_[np.array(whole) - low] = np.arange(k)
        exact = len(lut_) == k and whole == sorted(whole)
        return column.values, (low, len(lut_), None if exact else lut_, k)
    different, where = np.unique(column.values, return_inverse=True)
    found = [f.code(v) for v in different.tolist()]
    codes = np.array([k if c is None else k + 1 if c == k else c for c in found], np.uint16)
    return where.astype(np.uint32), (0, len(codes), codes, k)


def plain_codes(array: NDArray[Any], window: Window) -> NDArray[np.int64]:
    """What the kernel makes of a column, in NumPy: k for missing, k + 1 for a state not seen."""
    low, span, lut, k = window
    gone = array != array
    if span == -1:
        return np.where(gone, k, array > 0)
    place = np.where(gone, 0, array).astype(np.int64) - low
    inside = (place >= 0) & (place < span) & ~gone
    if array.dtype.kind == "f":
        inside &= np.where(gone, 0, array) == place + low
    code = np.where(inside, place, 0)
    if lut is not None:
        code = lut[code].astype(np.int64)
    return np.where(gone, k, np.where(inside, code, k + 1))


def real(column: Column | None, n: int) -> NDArray[Any]:
    """The numbers of a column; NaN where there is no column."""
    if column is None:
        return np.broadcast_to(np.float64(np.nan), n)
    return column.values


def _finite(name: str, values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.isinf(values).argmax())
        raise InputError(
            f"Row {row + 1:,} of {name!r} is infinite: a value must be finite (infinity is "
            "neither a number nor missing)."
        )
    return values


def _no_count(words: Sequence[str], counts: Sequence[NDArray[Any]]) -> InputError:
    """Which count is negative; an infinite one says so itself."""
    for name, values in zip(words, counts, strict=True):
        if (_finite(name, values) < 0).any():
            row = int((values < 0).argmax())
            return InputError(f"The count {name!r} must not be negative; row {row + 1:,} has "
                              f"{values[row]:g}.")  # fmt: skip
    return InputError("A count is negative or infinite.")  # pragma: no cover


def _extra(others: Sequence[Any], columns: Columns, k: int) -> Floats | None:
    """What the kinds that the kernel does not know add to the joint, a block of rows at a time."""
    if not others:
        return None
    for name in (n for f in others for n in f.names if n in columns.by_name):
        _finite(name, columns.by_name[name].values)
    total = np.zeros((columns.rows, k))
    for first in range(0, columns.rows, _BLOCK):
        rows = slice(first, min(first + _BLOCK, columns.rows))
        for f in others:
            x = np.full((rows.stop - first, len(f.names)), np.nan)
            for i, name in enumerate(f.names):
                if name in columns.by_name:
                    x[:, i] = columns.by_name[name].values[rows]
            total[rows] += f.rows(x)
    return total


def _with_slopes(
    normals: Sequence[Normal], columns: Columns, extra: Floats | None, k: int
) -> Floats | None:
    """What transforms add to ln P of each row, in all classes alike."""
    for f in normals:
        if f.scale is not None and f.name in columns.by_name:
            slope = np.nan_to_num(f.scale.log_slope(columns.by_name[f.name].values), nan=0.0)
            extra = np.zeros((columns.rows, k)) if extra is None else extra
            extra += slope[:, None]
    return extra


# --- blocks of features as the kernel reads them ------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the matrix of all columns is read: the windows of states, or the places of numbers."""

    windows: Any
    places: NDArray[np.int64] | None

    def inputs(self, matrix: NDArray[Any]) -> tuple[Any, Any, Any]:
        """Columns of states, their windows, and columns of numbers, for the scorer."""
        if self.windows is not None:
            return matrix, self.windows, []
        return [], [], matrix if self.places is None else (matrix, self.places)


def _block_reading(block: FeatureBlock) -> _Reading:
    """The windows in which the states of each feature lie; or which numbers tell anything."""
    if isinstance(block, NormalBlock):
        return _Reading(None, np.flatnonzero(~block.idle) if block.idle.any() else None)
    assert isinstance(block, StateBlock)
    if block.above:
        return _Reading((0, -1, None, 2), None)
    d, width = block.known.shape
    count = block.known.sum(axis=1)
    first = block.known.argmax(axis=1)
    span = width - block.known[:, ::-1].argmax(axis=1) - first
    begin = np.full(d, -1, dtype=np.int64)
    gaps = np.flatnonzero(span != count)  # states that are not next to each other
    luts = np.zeros(0, dtype=np.uint16)
    if len(gaps):
        begin[gaps] = np.arange(len(gaps)) * width
        code = np.where(block.known, block.known.cumsum(axis=1) - 1, (count + 1)[:, None])[gaps]
        shifted = np.minimum(first[gaps][:, None] + np.arange(width), width - 1)
        luts = np.take_along_axis(code, shifted, axis=1).astype(np.uint16).ravel()
    low = (first + block.low).astype(np.int64)
    return _Reading((low, span.astype(np.int64), count.astype(np.int64), luts, begin), None)


def _block_scorer(block: FeatureBlock, log_prior: Floats, smooth: bool) -> Any:
    """The tables of a block, in native memory."""
    k = len(log_prior)
    empty = np.zeros((0, k))
    prior = np.ascontiguousarray(log_prior)
    if isinstance(block, NormalBlock):
        mean, variance = block.mean, block.variance
        if block.idle.any():
            mean, variance = mean[~block.idle], variance[~block.idle]
        none = np.zeros(0, dtype=np.int64)
        return _core.NaiveScorer(prior, none, [], empty, mean, variance)
    assert isinstance(block, StateBlock)
    d, width = block.known.shape
    rows = np.zeros((d, width + 2, k))  # the states, missing (nothing), not seen
    rows[:, :width] = block.log_theta.transpose(0, 2, 1)
    if smooth:
        rows[:, width + 1] = block.unseen
    if block.known.all():
        many, tables = np.full(d, width + 2), rows.reshape(-1, k)
    else:
        used = np.ones((d, width + 2), dtype=bool)
        used[:, :width] = block.known
        many, tables = used.sum(axis=1), rows[used]
    return _core.NaiveScorer(prior, many, [], tables, empty, empty)


# --- states that were not seen ------------------------------------------------------------


def report_unseen(unseen: str, columns: Columns, odd: Sequence[Variable]) -> None:
    """One warning, or an error, that names the columns and their values."""
    values = []
    for variable in odd:
        column = columns.by_name[variable.name]
        strange = list(column.strange)
        if not strange and column.variable is not None:
            known = set(variable.states)
            strange = [s for s in column.variable.states if s not in known]
        elif not strange:
            different = np.unique(column.values)
            different = different[different == different]
            strange = [v for v in different.tolist() if v not in variable.states]
        values.append((variable, strange))
    if unseen == "error":
        raise no_state(*values[0])
    texts = [f"{v.name!r} ({', '.join(map(repr, s[:3]))})" for v, s in values]
    warnings.warn(
        f"States not seen in training were taken as missing: {'; '.join(texts[:6])}.",
        CredoWarning,
        stacklevel=4,
    )


def _cell(name: str, column: Column, row: int) -> Any:
    if column.variable is None:
        return column.values[row].item()
    code = int(column.values[row])
    if code < column.variable.arity:
        return column.variable.states[code]
    if code == column.variable.arity:
        return None
    return column.strange[0] if len(column.strange) == 1 else f"(a new state of {name})"
