"""What is said of a filled table: nothing in it is missing, and which numbers no row has seen."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from credo.core.errors import CredoWarning
from credo.core.schema import Schema
from credo.data import Table

__all__ = ["warn_outside", "without_gaps"]

_RANGE = 20  # numbers that must be observed for their range to say something


def without_gaps(schema: Schema) -> Schema:
    """The schema of a table whose gaps were filled.

    >>> import credo as cr
    >>> schema = cr.read({"x": [1, 0, None, 1]}).schema
    >>> schema.missing, without_gaps(schema).missing
    ({'x': 0.25}, {'x': 0.0})
    """
    columns = tuple(replace(c, missing=0, missing_as={}) if c.used else c for c in schema.columns)
    return replace(schema, columns=columns)


def warn_outside(table: Table, filled: Sequence[Table]) -> None:
    """Name the columns in which a filled number lies outside of all that was observed."""
    said = []
    for k, v in enumerate(table.schema.variables):
        seen = table.block.arrays[k]
        if v.is_discrete or not np.isnan(seen).any() or (~np.isnan(seen)).sum() < _RANGE:
            continue
        low, high = float(np.nanmin(seen)), float(np.nanmax(seen))
        new = np.concatenate([one.block.arrays[k][np.isnan(seen)] for one in filled])
        out = int(((new < low) | (new > high)).sum())
        if out:
            said.append(
                f"{v.name} in {out:,} of {len(new):,} gaps (filled {new.min():.4g} to "
                f"{new.max():.4g}, observed {low:.4g} to {high:.4g})"
            )
    if said:
        warnings.warn(
            f"Filled with numbers outside of what was observed: {'; '.join(said)}. The model has "
            "normal noise and knows no bounds: clip them, or learn from a transformed column.",
            CredoWarning,
            stacklevel=4,
        )
