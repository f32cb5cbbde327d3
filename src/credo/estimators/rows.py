"""Rows for an estimator: the first say what each column is, and more of them are read so.

What is known of a column after the first rows (`partial_fit`, `merge`) stays: states may join,
numbers stay numbers, a cell that is neither is refused. Columns of numbers in arrays and frames are
taken as they lie; anything else is read as `credo.read` reads it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.core.engine_frames import lies_with_engine
from credo.core.errors import CredoWarning, InputError, TableError, close_names, unknown_name
from credo.core.schema import Variable, is_missing, state_key
from credo.data import (
    FEW_INTEGERS,
    Column,
    Columns,
    Stream,
    Table,
    columns_for,
    columns_of,
    is_path,
    matrix_columns,
    named_like_rows,
    read,
    split_columns,
    typed_states,
)
from credo.estimators.inputs import among_classes, different_lengths, encode_labels, without_absent
from credo.predict.rows.naive import coded, plain_codes
from credo.stats.by_class import union
from credo.stats.window_counts import WindowCounts
from credo.train.naive_bayes.aode import as_states
from credo.train.naive_bayes.learn import EMPTY, given_words, is_constant, read_again
from credo.train.naive_bayes.plan import Plan, plan_of

Codes = NDArray[np.uint32]
_HEAD = 64  # cells
_KIND = "kinds={{{!r}: 'gaussian'}}"


# --- the class ----------------------------------------------------------------------------


def encoded_target(
    y: Any, known: Variable | None = None, *, own: bool = False, name: str = "y"
) -> tuple[Variable, Codes]:
    """The class and that of each row, among the classes that are known if there are any.

    With `own` it has the classes of these rows only: where one row comes, one class is counted.

    >>> encoded_target(["b", None, "a"])[1].tolist()
    [1, 2, 0]
    >>> encoded_target([None], Variable("y", "discrete", ("a", "b")))[1].tolist()
    [2]
    """
    if known is not None and _no_label(y):
        return known, np.full(len(y), known.arity, dtype=np.uint32)
    labels, group = encode_labels(y, gaps=True)
    target = Variable(name, "discrete", tuple(labels.tolist()))
    return (target, group) if known is None or own else among_classes(known, target, group)


def _no_label(y: Any) -> bool:
    """Whether no row has a class; only short or odd ones are worth a look."""
    if y is None or (isinstance(y, np.ndarray) and y.dtype.kind not in "fO"):
        return False
    array = np.asarray(y)
    if array.ndim != 1 or not len(array) or array.dtype.kind not in "fO":
        return False
    return is_missing(array[0]) and all(map(is_missing, array))


def is_source(x: Any) -> bool:
    """Whether X was read: it has a schema and can tally."""
    return hasattr(x, "tally") and hasattr(x, "schema")


def source_with_class(x: Any, target: str) -> Any:
    """X as a source whose column `target` is discrete."""
    source = x if is_source(x) else read(x)
    if target not in source.schema:
        source.schema[target]  # says what is there instead
    if not source.schema[target].is_discrete:
        raise continuous_class(target)
    return source


def rows_there(x: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
    """X, y and the weights without the rows of weight 0; beside the name of the class weights are
    refused.
    """
    if lies_with_engine(x) and not isinstance(y, str):
        raise InputError(
            "The class of rows that lie with an engine must be one of their columns.",
            hint="Give the whole frame and the name of the column: fit(frame, 'class').",
        )
    if weights is None or y is None:
        return x, y, weights
    if isinstance(y, str):
        raise InputError("With the name of a column as y, weights are given to credo.read.")
    return without_absent(x, y, weights)


def continuous_class(target: str) -> InputError:
    """The refusal of a class that is a number."""
    return InputError(
        f"The class {target!r} is continuous.",
        hint="Unknown label type: continuous. Give the classes as an array, or read the table with "
        f"schema={{{target!r}: 'discrete'}}.",
    )


# --- the first rows -----------------------------------------------------------------------


def first_columns(
    x: Any,
    kinds: Any = "auto",
    covariance: Any = "diagonal",
    states: Any = None,
    numbers: str = "gaussian",
    *,
    more: bool,
) -> tuple[Columns, Plan, dict[str, str]]:
    """The columns of X that can be used, what they are, and why others are set aside.

    Where `more` rows are to come, a column that has one value so far is kept.

    >>> columns, plan, aside = first_columns({"a": ["u", "u"], "b": ["u", "v"]}, more=False)
    >>> columns.names, aside
    (('b',), {'a': "every cell is 'u'"})
    """
    x = read_again(x)
    plain, array = matrix_columns(x), isinstance(x, np.ndarray)
    if plain is not None and (array or not (states or _any_by_rules(plain))):
        return plain, plan_of(plain.names, kinds, covariance, states, numbers), {}
    if isinstance(x, (Table, Stream)):
        plain = columns_of(x)
        return plain, plan_of(plain.names, _kept(kinds, x), covariance, states, numbers), {}
    names, _, raw, rest = split_columns(x)
    plan = plan_of(names, kinds, covariance, states, numbers)
    found = columns_of(x)
    if not found.by_name and set(found.aside.values()) == {EMPTY}:
        raise TableError("Every cell of the rows is missing.")
    aside = dict(found.aside)
    words = given_words(plan, aside, one=isinstance(kinds, str), more=more)
    words = {n: w for n, w in words.items() if w != "drop"}
    words = {n: w for n, w in words.items() if n not in raw or (n in plan.states and not array)}
    for name, values in () if array else raw.items():
        if plan.kinds[name] == "auto" and _by_rules(name, values):
            word = _rule(name, values, more)
            if word == "discrete":
                words[name] = word
            elif word:
                aside[name] = word
    given = dict(columns_of(read(rest(list(words)), words)).by_name) if words else {}
    used = {n: given.get(n) or c for n, c in {**given, **found.by_name}.items() if n in names}
    aside = {n: aside[n] for n in names if n in aside and n not in given}
    used = {n: used[n] for n in names if n in used and n not in aside}
    for name in aside:
        plan.kinds.pop(name)
    told = {n: why for n, why in aside.items() if not isinstance(kinds, Mapping) or n not in kinds}
    return Columns(found.rows, used), plan, told


def _any_by_rules(columns: Columns) -> bool:
    return any(_by_rules(n, c.values) for n, c in columns.by_name.items())


def _kept(kinds: Any, table: Any) -> Any:
    """The kinds given, less those of columns that were set aside when a table was read."""
    aside = table.schema.set_aside
    every = [c.name for c in table.schema.columns]
    if aside and not isinstance(kinds, (str, Mapping)) and len(list(kinds)) == len(every):
        kinds = dict(zip(every, list(kinds), strict=True))
    if isinstance(kinds, Mapping):
        kinds = {n: k for n, k in kinds.items() if n not in aside}
    return kinds


def _by_rules(name: str, values: NDArray[Any]) -> bool:
    """Whether numbers of a frame are judged as `read` judges them: those named like numbers of
    rows, and a few whole numbers stored as decimals, as those beside a gap are in pandas.

    >>> _by_rules("a", np.array([1.0, np.nan, 2.0])), _by_rules("a", np.array([1.0, 2.5]))
    (True, False)
    """
    if values.dtype.kind != "f":
        return values.dtype.kind in "iu" and bool(name) and named_like_rows(name)
    for cells in (values[:_HEAD], values):
        there = cells[~np.isnan(cells)]
        if not np.isfinite(there).all() or (there % 1 != 0).any():
            return False
        if len(np.unique(there)) > FEW_INTEGERS:
            return False
    return len(there) > 0


def _rule(name: str, values: NDArray[Any], more: bool) -> str:
    """'discrete', nothing for numbers as they are, or why a column is set aside."""
    found = columns_of({name: values.astype(object)})
    if found.by_name:
        return "discrete" if found.by_name[name].variable is not None else ""
    return "" if more and is_constant(found.aside[name]) else found.aside[name]


# --- more rows ----------------------------------------------------------------------------


def parts_of(x: Any) -> Iterator[Any]:
    """A table in parts that fit in memory."""
    if isinstance(x, Stream):
        yield from x.batches()
    else:
        yield read_again(x)


def more_columns(
    x: Any,
    readings: Mapping[str, Variable | None],
    called: Sequence[str] | None = None,
    cure: str = _KIND,
) -> tuple[Columns, dict[str, Variable]]:
    """The columns of more rows, and the variables that have states which were not known.

    Numbers that become many states are told once, with the `cure`.

    >>> a = Variable("a", "discrete", ("u", "w"))
    >>> columns, new = more_columns({"a": ["v", "u"]}, {"a": a})
    >>> new["a"].states, columns.by_name["a"].values.tolist()
    (('u', 'v', 'w'), [1, 0])
    """
    columns = columns_for(x, readings, called)
    for name in readings:
        if name not in columns.by_name:
            raise _not_there(name, columns)
    new: dict[str, Variable] = {}
    for name, v in readings.items():
        if v is not None:
            states = _new_states(v, columns.by_name[name], is_path(x))
            if states:
                new[name] = Variable(name, "discrete", union(v.states, states))
                if columns.by_name[name].variable is None:
                    _warn_many(name, v.arity, new[name].arity, cure)
    if new and not isinstance(x, Table):
        columns = columns_for(x, {n: new.get(n, v) for n, v in readings.items()}, called)
    return columns, new


class Later(NamedTuple):
    """A part of more rows: its columns, variables with new states, and the class of each row."""

    columns: Columns
    new: dict[str, Variable]
    target: Variable
    group: NDArray[Any]
    weights: NDArray[Any] | None


def later_rows(
    x: Any,
    called: Sequence[str] | None,
    known: Callable[[], tuple[Mapping[str, Variable | None], Variable]],
    labels: str | tuple[Variable, NDArray[Any]],
    weights: NDArray[Any] | None,
    cure: str = _KIND,
) -> Iterator[Later]:
    """More rows, part by part, read by what is `known` so far: the readings of the columns and the
    class. `labels` are the classes of all rows, or the name of their column.

    >>> y = Variable("y", "discrete", (0, 1))
    >>> part, = later_rows({"x": [0.5], "y": [1]}, None, lambda: ({"x": None}, y), "y", None)
    >>> part.columns.names, part.group.tolist()
    (('x', 'y'), [1])
    """
    done = 0
    for part in parts_of(x):
        readings, target = known()
        if isinstance(labels, str):
            columns, new = more_columns(part, {**readings, labels: target}, called, cure)
            target = new.get(labels, target)
            group = state_codes(target, columns.by_name[labels])
            own = getattr(part, "weights", None)
        else:
            columns, new = more_columns(part, readings, called, cure)
            rows = slice(done, done := done + columns.rows)
            target, group = labels[0], labels[1][rows]
            own = None if weights is None else weights[rows]
            if len(group) != columns.rows:
                raise different_lengths(done, len(labels[1]))
        yield Later(columns, new, target, group, own)
    if not isinstance(labels, str) and done != len(labels[1]):
        raise different_lengths(done, len(labels[1]))


def _not_there(name: str, columns: Columns) -> Exception:
    if name in columns.aside:
        return InputError(
            f"The column {name!r} was set aside as it was read: {columns.aside[name]}.",
            hint=f"Read the table with schema={{{name!r}: 'discrete'}}.",
        )
    return unknown_name("Column", name, [*columns.names, *columns.others], "in the rows")


def _new_states(v: Variable, column: Column, text: bool) -> list[Any]:
    """The values of a column that are no states yet."""
    if column.variable is None:
        odd = column.values[state_codes(v, column) > v.arity]
        found: list[Any] = np.unique(odd).tolist() if len(odd) else []
        return [int(x) if float(x).is_integer() and not isinstance(x, bool) else x for x in found]
    if column.strange:
        found = list(column.strange)
        return _typed_like(v, found) if text else found
    if column.variable is v or column.variable.states == v.states:
        return []
    known = set(map(state_key, v.states))
    return [s for s in column.variable.states if state_key(s) not in known and not _has(v, s)]


def _has(v: Variable, state: Any) -> bool:
    try:
        v.code(state)
    except LookupError:
        return False
    return True


def _typed_like(v: Variable, texts: list[Any]) -> list[Any]:
    """Cells of a text file as values of the type that the known states have, if all of them can."""
    if any(isinstance(s, str) for s in v.states):
        return texts
    kind, states = typed_states([str(t) for t in texts])
    return list(states) if kind in ("bool", "int", "float") else texts


def _warn_many(name: str, before: int, now: int, cure: str = _KIND) -> None:
    """Say once that numbers became many states, since the first rows had few."""
    if before <= FEW_INTEGERS < now:
        warnings.warn(
            f"{name!r} has {now} numbers by now, each a state of its own, since the first rows "
            f"had few; begin with more rows, or give {cure.format(name)}.",
            CredoWarning,
            stacklevel=6,
        )


def warn_grown(before: Any, now: Any) -> None:
    """Say which whole numbers of an array became many states."""
    wide = isinstance(now, tuple) or now.known.shape[1] > FEW_INTEGERS
    for a, b in zip(before, now, strict=True) if isinstance(before, WindowCounts) and wide else ():
        _warn_many(a.variable.name, a.variable.arity, b.variable.arity)


def warn_absent(names: Sequence[str], found: Columns) -> None:
    """Say which features the rows do not have: their cells are taken as missing."""
    texts = []
    for name in [n for n in names if n not in found.by_name][:6]:
        near = close_names(name, found.others)
        if name in found.aside:
            texts.append(f"{name!r} (set aside as it was read: {found.aside[name]})")
        elif near:
            texts.append(f"{name!r} (did you mean {near[0]!r}?)")
        else:
            texts.append(repr(name))
    many = len(names) - len(found.by_name) - len(texts)
    more = f" and {many:,} more" if many else ""
    warnings.warn(
        f"Columns of the training are not in the rows and were taken as missing: "
        f"{', '.join(texts)}{more}.",
        CredoWarning,
        stacklevel=5,
    )


def state_codes(v: Variable, column: Column) -> NDArray[Any]:
    """Codes of a variable: its arity for a gap, the number after that for what is no state."""
    array, window = coded(as_states(v), column, len(column.values))
    low, span, lut, _ = window
    if array.dtype.kind in "iu" and len(array) and low <= array.min() and array.max() < low + span:
        place = array - low if low else array  # all inside, as is usual
        return place if lut is None else lut[place]
    return plain_codes(array, window)
