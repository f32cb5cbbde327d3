"""X as the columns that an estimator knows: by name where both have names, else by place.

scikit-learn's own rules hold for arrays and frames: as many columns as in `fit`, the same names in
the same order, a warning where only one of the two has names. A mapping, a table that was read, a
path, and any table after a fit by the name of the class are asked for their columns by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.data import position_names, unmasked
from credo.estimators.inputs import as_table, is_named_table, plainly_valid, validated


class NamedColumns:
    """The names of the columns of X, and X of a later call under those names."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _called: tuple[str, ...]
    """The columns of X by place."""
    _by_name: bool
    """Whether the class was given by the name of its column."""

    def _name(self, names: Sequence[str]) -> None:
        self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
        self._called = tuple(names)

    def _all_names(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return [str(n) for n in self.feature_names_in_]
        return list(position_names(self.n_features_in_))

    def _first_x(self, X: Any) -> Any:
        """X of the first rows after scikit-learn's checks, which take note of its columns."""
        if is_named_table(X):
            return unmasked(X)
        X = validated(self, X, True)
        names = getattr(X, "columns", None)
        places = position_names(self.n_features_in_)
        self._called = places if names is None else tuple(map(str, names))
        return X

    def _later_x(self, X: Any) -> tuple[Any, tuple[str, ...] | None]:
        """X of later rows, and the names of its columns by place if it has none of its own."""
        if is_named_table(X) or (getattr(self, "_by_name", False) and hasattr(X, "columns")):
            if getattr(X, "shape", (1,))[0] == 0:
                raise InputError("Found array with 0 sample(s) while a minimum of 1 is required.")
            return unmasked(X), None
        X = as_table(X)
        if not plainly_valid(self, X, reset=False):  # a frame has the names of `fit` already
            X = validated(self, X, reset=False)
            if hasattr(X, "columns"):
                both = hasattr(self, "feature_names_in_") and isinstance(X.columns[0], str)
                X = X if both else _renamed(X, self._called)
        return X, self._called


def _renamed(x: Any, names: Sequence[str]) -> Any:
    """A frame whose columns have other names, by place.

    >>> import pandas as pd
    >>> _renamed(pd.DataFrame({"a": [1], "b": [2]}), ["x0", "x1"]).columns.tolist()
    ['x0', 'x1']
    """
    if list(x.columns) == list(names):
        return x
    if hasattr(x, "set_axis"):
        return x.set_axis(list(names), axis=1)
    if hasattr(x, "rename"):
        return x.rename(dict(zip(x.columns, names, strict=True)))
    return {n: x[old] for n, old in zip(names, list(x.columns), strict=True)}
