"""X as the columns that an estimator of naive Bayes knows: by name where both have names, else by
place.

scikit-learn's own rules hold for arrays and frames: as many columns as in `fit`, the same names in
the same order, a warning where only one of the two has names. A mapping, a table that was read, a
path, and any table after a fit by the name of the class are asked for their columns by name.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoWarning, InputError, close_names
from credo.data.columns.columns import Columns, columns_for, matrix_columns, position_names
from credo.data.columns.sighting import Sighted, sighted
from credo.data.sources.unnamed import unmasked
from credo.estimators.inputs import as_table, is_named_table, plainly_valid, validated
from credo.estimators.late_model import LateModel
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.predict.rows.naive import are_names, refuse_no_column, variables_of

__all__ = ["NamedColumns", "renamed"]


class NamedColumns(LateModel):
    """The columns of X for a fit, and those of the features for a question."""

    states: Any
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _called: tuple[str, ...]
    _by_name: bool

    def _name(self, names: Sequence[str]) -> None:
        self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
        self._called = tuple(names)  # the columns of X by place

    def _all_names(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return [str(n) for n in self.feature_names_in_]
        return list(position_names(self.n_features_in_))

    def _sighted(self, X: Any, reset: bool) -> Sighted:
        """The columns of X, of which none is decided yet."""
        named = is_named_table(X)
        X = unmasked(X)
        if not reset:
            return sighted(X) if named else sighted(self._alike(X), called=self._called)
        if not named:
            X = validated(self, X, reset)
        by_name = named or hasattr(X, "columns")
        given = {n: list(s) for n, s in (self.states or {}).items()} if by_name else None
        table = sighted(X, given)
        if named:
            self._name(table.names)
        self._called = table.names
        return table

    def _columns(self, X: Any) -> Columns:
        """The columns of the features of the model."""
        if is_named_table(X) or (getattr(self, "_by_name", False) and hasattr(X, "columns")):
            if getattr(X, "shape", (1,))[0] == 0:
                raise InputError("Found array with 0 sample(s) while a minimum of 1 is required.")
            return self._features_of(unmasked(X), None)
        X = self._alike(X)
        plain = matrix_columns(X, self._called)
        if plain is not None and are_names(plain, self.model_.names):
            return plain
        return self._features_of(X, self._called)

    def _alike(self, X: Any) -> Any:
        """X after scikit-learn's checks, a frame under the names that its columns had in `fit`."""
        X = as_table(X)
        if plainly_valid(self, X, reset=False):  # a frame has those names already
            return X
        X = validated(self, X, reset=False)
        if not hasattr(X, "columns"):
            return X
        both = hasattr(self, "feature_names_in_") and isinstance(X.columns[0], str)
        return X if both else renamed(X, self._called)

    def _features_of(self, X: Any, called: Sequence[str] | None) -> Columns:
        model = self.model_
        found = columns_for(X, variables_of(model), called)
        if len(found.by_name) < len(model.names):
            refuse_no_column(model, found)
            _warn_absent(model, found)
        return found


def renamed(x: Any, names: Sequence[str]) -> Any:
    """A frame whose columns have other names, by place.

    >>> import pandas as pd
    >>> renamed(pd.DataFrame({"a": [1], "b": [2]}), ["x0", "x1"]).columns.tolist()
    ['x0', 'x1']
    """
    if list(x.columns) == list(names):
        return x
    if hasattr(x, "set_axis"):
        return x.set_axis(list(names), axis=1)
    if hasattr(x, "rename"):
        return x.rename(dict(zip(x.columns, names, strict=True)))
    return {n: x[old] for n, old in zip(names, list(x.columns), strict=True)}


def _warn_absent(model: NaiveBayesModel, found: Columns) -> None:
    """Say which features the rows do not have: their cells are taken as missing."""
    texts = []
    for name in [n for n in model.names if n not in found.by_name][:6]:
        near = close_names(name, found.others)
        if name in found.aside:
            texts.append(f"{name!r} (set aside as it was read: {found.aside[name]})")
        elif near:
            texts.append(f"{name!r} (did you mean {near[0]!r}?)")
        else:
            texts.append(repr(name))
    many = len(model.names) - len(found.by_name) - len(texts)
    more = f" and {many:,} more" if many else ""
    warnings.warn(
        f"Columns of the training are not in the rows and were taken as missing: "
        f"{', '.join(texts)}{more}.",
        CredoWarning,
        stacklevel=5,
    )
