"""Rows for a network classifier: columns as its variables, numbers cut into intervals.

A cut parts two values of training by a number of few digits, which stands in the names of the
states (`≤ 38.3`, `(38.3, 41]`, `> 41`). So a network that is saved knows its cut points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data.columns import Column, Columns
from credo.errors import InputError
from credo.estimators.named_columns import renamed
from credo.intervals import interval_codes, interval_labels, short_cut
from credo.predict.naive import coded, plain_codes
from credo.schema import Variable
from credo.train.aode import as_states

__all__ = ["by_position", "class_name", "codes_for", "some_rows", "trained_column"]

Floats = NDArray[np.float64]


def class_name(given: str | None, y: Any, features: Any, graph: Any = None) -> str:
    """The name of the class: as given, or that of y, or one that no feature has.

    >>> class_name(None, [0, 1], ["a", "y"])
    'class'
    """
    if given is not None:
        if graph is None and given in features:
            raise InputError(
                f"The class and a feature are both called {given!r}.",
                hint="Give the class another name in target=, or rename the column.",
            )
        return given
    own = getattr(y, "name", None)
    names = [own] if isinstance(own, str) and own else []
    names += ["y", "class", "the class"]
    if graph is not None:
        return next((n for n in names if n in graph), names[0])
    return next((n for n in names if n not in features), "(class)")


def some_rows(columns: Columns, kept: NDArray[np.bool_]) -> Columns:
    """Some rows of some columns."""
    found = {n: Column(c.values[kept], c.variable, c.strange) for n, c in columns.by_name.items()}
    return Columns(int(kept.sum()), found, columns.aside)


def trained_column(
    name: str, column: Column, bins: int | None, weights: Any
) -> tuple[Variable, NDArray[Any], Floats | None]:
    """What a column becomes: a variable, its codes or numbers, and the cut points if there are."""
    if column.variable is not None:
        return column.variable, column.values.astype(np.uint16), None
    values = column.values
    if values.dtype.kind != "f" and len(np.unique(values[:1000])) <= 20:
        different, codes = np.unique(values, return_inverse=True)
        if len(different) <= 20:
            states = tuple(different.tolist())
            return Variable(name, "discrete", states), codes.astype(np.uint16), None
    numbers = values.astype(np.float64)
    if np.isinf(numbers).any():
        raise InputError(f"{name!r} holds an infinity; a value must be finite.")
    if bins is None:
        return Variable(name, "continuous"), numbers, None
    cuts = _cuts(numbers, bins, weights)
    variable = Variable(name, "discrete", interval_labels(cuts.tolist()))
    return variable, interval_codes(numbers, cuts.tolist()), cuts


def _cuts(numbers: Floats, bins: int, weights: Any) -> Floats:
    """Cut points that part the rows into bins of equal share, as far as equal values allow."""
    weight = np.ones(len(numbers)) if weights is None else weights.astype(np.float64)
    there = ~np.isnan(numbers)
    if not there.any():
        return np.zeros(0)
    seen = numbers[there]
    shares = np.linspace(0, 1, int(bins) + 1)[1:-1]
    ends = np.unique(np.quantile(seen, shares, weights=weight[there], method="inverted_cdf"))
    values = np.append(np.unique(seen), np.inf)
    after = values[np.searchsorted(values, ends, side="right")]
    return np.array([short_cut(float(a), float(b)) for a, b in zip(ends, after, strict=True)])


def codes_for(v: Variable, column: Column, strange: list[str]) -> Column:
    """Codes of a variable; what is no state of it is missing, and its column is named."""
    array, window = coded(as_states(v), column, len(column.values))
    codes = plain_codes(array, window)
    if (codes > v.arity).any():
        strange.append(repr(v.name))
    width = np.uint8 if v.arity <= 255 else np.uint16
    return Column(np.minimum(codes, v.arity).astype(width), v)


def by_position(X: Any, names: Sequence[str]) -> Any:
    """An array or a frame with the names of training, by position, as scikit-learn has it."""
    if not hasattr(X, "columns"):
        return {n: X[:, i] for i, n in enumerate(names)}
    return renamed(X, names)
