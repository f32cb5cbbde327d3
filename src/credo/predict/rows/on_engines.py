"""Rows of Dask and Spark frames through a model, on the workers: columns added, gaps filled."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Variable
from credo.data.engines.mapping import with_columns
from credo.predict.sql.statement import probability_names

__all__ = ["filled_frame", "frame_with_classes", "frame_with_probabilities"]


@dataclass(frozen=True)
class _Probabilities:
    """P(target | row), a column for each state."""

    model: Any
    given: Mapping[str, Any]
    names: tuple[str, ...]
    columns: tuple[str, ...] | None

    def __call__(self, rows: Any, number: int) -> dict[str, Any]:
        """The columns of one part."""
        found = self.model.predict_proba(_chosen(rows, self.columns), **self.given)
        return {name: found[:, k] for k, name in enumerate(self.names)}


def _chosen(rows: Any, columns: tuple[str, ...] | None) -> Any:
    """Some columns of a pandas frame or an Arrow table; of None all."""
    if columns is None:
        return rows
    return rows.select(list(columns)) if hasattr(rows, "select") else rows[list(columns)]


def frame_with_probabilities(
    model: Any, frame: Any, of: Variable, columns: Sequence[str] | None = None, **given: Any
) -> Any:
    """The frame with P(target | row) beside its columns, computed where the rows are; the model
    sees just the columns named, if some are.
    """
    names = probability_names(of, list(frame.columns))
    task = _Probabilities(model, given, tuple(names), None if columns is None else tuple(columns))
    return with_columns(frame, task, dict.fromkeys(names, float))


@dataclass(frozen=True)
class _Classes:
    """The most probable class of each row."""

    model: Any
    given: Mapping[str, Any]
    name: str
    columns: tuple[str, ...] | None

    def __call__(self, rows: Any, number: int) -> dict[str, Any]:
        """The column of one part."""
        return {self.name: list(self.model.predict(_chosen(rows, self.columns), **self.given))}


def frame_with_classes(
    model: Any, frame: Any, target: Variable, columns: Sequence[str] | None = None, **given: Any
) -> Any:
    """The frame with the most probable class beside its columns."""
    kinds = {type(s) for s in target.states}
    kind = next(iter(kinds)) if len(kinds) == 1 else str
    kind = kind if kind in (bool, int, float) else str
    name = f"predicted_{re.sub(r'[^0-9a-zA-Z]+', '_', target.name)}"
    some = None if columns is None else tuple(columns)
    return with_columns(frame, _Classes(model, given, name, some), {name: kind})


@dataclass(frozen=True)
class _Filled:
    """The columns of a part with their gaps filled."""

    net: Any
    method: str
    rng: int
    names: tuple[str, ...]

    def __call__(self, rows: Any, number: int) -> dict[str, Any]:
        """The columns of one part."""
        rng = [self.rng, number] if self.method == "sample" else 0
        import numpy as np

        found = self.net.impute(rows, self.method, rng=np.random.default_rng(rng))
        return {name: list(found[name]) for name in self.names}


def filled_frame(net: Any, frame: Any, method: str, rng: Any = 0, copies: Any = None) -> Any:
    """The frame with the gaps of the model's variables filled, each part by itself."""
    if method not in ("mode", "sample"):
        raise InputError(
            f"The gaps of a Dask or Spark frame are filled by 'mode' or 'sample', got {method!r}."
        )
    if copies is not None:
        raise InputError("A frame has one copy: fill it again with another rng= for the next.")
    if not isinstance(rng, int):
        raise InputError("rng must be a whole number here: each part draws by a seed of its own.")
    names = tuple(n for n in net.names if n in list(frame.columns))
    if not names:
        raise unknown_name("Variable", net.names[0], list(frame.columns), "in the frame")
    return with_columns(frame, _Filled(net, method, rng, names), {})
