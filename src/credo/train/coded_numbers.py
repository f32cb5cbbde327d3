"""Codes that came as decimals: 1.0, 2.0 and a gap are numbers by the rules, seldom in truth.

A frame makes floats of whole numbers with a gap. The rules do not guess; learning says which
columns it takes for numbers, and how to make states of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data import Table
from credo.data.infer import WHOLE_DECIMALS
from credo.errors import CredoWarning
from credo.schema import Schema

__all__ = ["coded", "told_before", "warn_coded"]

_ROWS = 15  # cells that must be there for few values to say something
_FEW = 10  # different values of a column that looks like codes
_SAYS = "Taken as numbers, with normal noise:"


def coded(schema: Schema) -> list[str]:
    """The continuous columns with a few whole numbers that reading noticed.

    >>> import credo as cr
    >>> coded(cr.read({"grade": [1.0, 2.0, None, 2.0] * 5, "x": [0.5, 1.25, 2.0, 8.5] * 5}).schema)
    ['grade']
    """
    return [
        c.name
        for c in schema.columns
        if c.kind == "continuous"
        and c.rows - c.missing >= _ROWS
        and any(n.startswith(WHOLE_DECIMALS) for n in c.notes)
    ]


def warn_coded(source: Any, used: Collection[str] | None = None, stacklevel: int = 3) -> None:
    """Say once which of the columns used look like codes, and the cure in one line."""
    schema = getattr(source, "schema", None)
    if not isinstance(schema, Schema):
        return
    names = [n for n in coded(schema) if n in schema and (used is None or n in used)]
    if isinstance(source, Table):
        names = [n for n in names if _different(source.values(n)) <= _FEW]
    if not names:
        return
    cure = ", ".join(f"{n!r}: 'discrete'" for n in names)
    warnings.warn(
        f"{_SAYS} {', '.join(names)}. They have few values, all whole, stored as decimals; if they "
        f"are codes, make states of them with schema={{{cure}}}.",
        CredoWarning,
        stacklevel=stacklevel,
    )


def _different(values: NDArray[Any]) -> int:
    return len(np.unique(values[~np.isnan(values)]))


@contextmanager
def told_before() -> Iterator[None]:
    """Learning that goes on with a table of which this was said already."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_SAYS, category=CredoWarning)
        yield
