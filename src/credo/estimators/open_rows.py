"""Rows for an estimator that may see more of them: their classes, and what is set aside so far."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoWarning, InputError, TableError
from credo.core.schema import Variable, is_missing
from credo.data import read
from credo.data.columns.coder import Coder
from credo.data.columns.identifiers import are_states
from credo.data.columns.sighting import Sighted, sighted
from credo.estimators.inputs import among_classes, encode_labels
from credo.stats.by_class import Block, ByClass
from credo.train.naive_bayes.learn import told_aside
from credo.train.naive_bayes.open import OpenColumns
from credo.train.naive_bayes.plan import Plan
from credo.train.naive_bayes.sighted import kinds_of, word_for_all

__all__ = [
    "classed_table",
    "columns_aside",
    "continuous_class",
    "encoded_target",
    "is_final",
    "kinds_for",
    "next_plan",
    "refuse_nothing",
    "refuse_unsettled",
    "source_with_class",
    "warn_aside",
    "weights_elsewhere",
]

Codes = NDArray[np.uint32]


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


def classed_table(
    x: Any, target: str, known: Variable | None = None, *, more: bool = False
) -> tuple[Sighted, Variable, Codes]:
    """The columns of a table, its class and that of each row, from the name of the class.

    >>> table, variable, group = classed_table({"a": ["u", "v"], "y": [0, 1]}, "y")
    >>> table.names, variable.states, group.tolist()
    (('a',), (0, 1), [0, 1])
    """
    table = sighted(x, every=True)
    if target not in table.coders:
        table.schema()[target]  # says what is there instead
    coder = table.coders[target]
    if known is not None and coder.rows == coder.missing:
        return table.without(target), known, np.full(table.rows, known.arity, dtype=np.uint32)
    found = table.decision(target)
    variable = found.variable
    if found.column.kind == "constant" or (
        more and (variable is None or not variable.is_discrete) and coder.rows > coder.missing
    ):
        variable = table.decision(target, "discrete").variable
    if variable is None:
        table.schema()[target]
    assert variable is not None
    if variable.is_discrete:
        return table.without(target), variable, coder.finish(variable).astype(np.uint32)
    whole = _whole_classes(coder)
    if whole is None:
        raise continuous_class(target)
    labels, group = whole
    return table.without(target), Variable(target, "discrete", tuple(labels.tolist())), group


def _whole_classes(coder: Coder) -> tuple[NDArray[np.int64], Codes] | None:
    """Classes that are whole numbers and stand beside gaps, which make decimals of them."""
    values = coder.numbers() if coder.holds_numbers else np.zeros(0)
    there = np.isfinite(values)
    if there.all() or not there.any() or coder.doubts:
        return None
    labels, found = np.unique(values[there], return_inverse=True)
    if (labels != np.floor(labels)).any():
        return None
    if not are_states("class", len(labels), int(there.sum()), labels[0], labels[-1])[0]:
        return None
    group = np.full(len(values), len(labels), dtype=np.uint32)
    group[there] = found
    return labels.astype(np.int64), group


def source_with_class(x: Any, target: str) -> Any:
    """X as a source whose column `target` is discrete."""
    source = x if hasattr(x, "tally") and hasattr(x, "schema") else read(x)
    if target not in source.schema:
        source.schema[target]  # says what is there instead
    if not source.schema[target].is_discrete:
        raise continuous_class(target)
    return source


def weights_elsewhere() -> InputError:
    """The refusal of weights beside the name of the class."""
    return InputError("With the name of a column as y, weights are given to credo.read.")


def continuous_class(target: str) -> InputError:
    """The refusal of a class that is a number."""
    return InputError(
        f"The class {target!r} is continuous.",
        hint="Unknown label type: continuous. Give the classes as an array, or read the table with "
        f"schema={{{target!r}: 'discrete'}}.",
    )


def kinds_for(kinds: Any, names: Sequence[str], every: Sequence[str]) -> Any:
    """The kinds given, less those of columns that were set aside when a table was read.

    >>> kinds_for(["gaussian", "counts"], ["b"], ["a", "b"])
    {'b': 'counts'}
    """
    aside = set(every) - set(names) if len(names) < len(every) else set()
    if aside and not isinstance(kinds, (str, Mapping)):
        kinds = dict(zip(every, list(kinds), strict=True))
    if isinstance(kinds, Mapping):
        kinds = {n: k for n, k in kinds.items() if n not in aside}
    return kinds


def is_final(known: ByClass, table: Sighted) -> bool:
    """Whether rows of an array only add to blocks of numbers: no kind can change any more."""
    return known.open is None and isinstance(known.parts, Block) and not table.coders


def next_plan(asked: Plan, known: ByClass) -> Plan:
    """The plan for more rows: kinds that are final are given, others are left to the rules."""
    still, word = known.open, word_for_all(known, asked)
    found: Any
    if still is None and word is not None:
        found = known.names, word
    elif isinstance(still, OpenColumns) and still.block is not None:
        found = asked.kinds
    else:
        kinds = kinds_of(known, asked)
        left = still.columns if isinstance(still, OpenColumns) else {}
        found = {
            n: kind if n in left else kinds.get(n, "ignore") if kind == "auto" else kind
            for n, kind in asked.kinds.items()
        }
    return Plan(found, asked.together, asked.states, asked.full, pending=True)


def refuse_unsettled(plan: Plan, table: Sighted | None = None) -> None:
    """Refuse to learn in parts which columns vary together, while it is open what they are.

    Decimals stay decimals; of columns that were not looked at (no `table`) nothing is known.
    """
    if not plan.full:
        return
    names = [n for n in plan.of("auto") if table is None or _may_change(table, n)]
    if names:
        told = ", ".join(map(repr, names[:4])) + (", …" if len(names) > 4 else "")
        raise InputError(
            f"With covariance='full' it must be known before the first rows what {told} "
            f"{'is' if len(names) == 1 else 'are'}: more rows may make states of numbers, or "
            "numbers of states.",
            hint="Give kinds= ('gaussian', 'categorical', …) for them, or call fit with all rows.",
        )


def _may_change(table: Sighted, name: str) -> bool:
    return name in table.coders or table.plain.by_name[name].values.dtype.kind in "iu"


def refuse_nothing(statistic: ByClass) -> None:
    """Refuse rows without a single cell; columns that are constant only tell nothing."""
    aside = columns_aside(statistic)
    missing = [why == "every cell is missing" for why in aside.values()]
    if missing and all(missing) and not statistic.parts:
        raise TableError("Every cell of the table is missing.")


def warn_aside(statistic: ByClass, before: ByClass | None = None) -> None:
    """Say which columns are set aside, once for each."""
    told = {} if before is None else columns_aside(before)
    new = {n: why for n, why in columns_aside(statistic).items() if n not in told}
    if new:
        warnings.warn(told_aside(new), CredoWarning, stacklevel=4)


def columns_aside(statistic: ByClass) -> Mapping[str, str]:
    """The columns that are set aside as far as is known, and why."""
    still = statistic.open
    return still.aside if isinstance(still, OpenColumns) else {}
