"""Families of counts in `model.json`, from version 4 on: their table, their law, their posterior.

The arrays stand in the file in the order in which they are written here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, InputError
from credo.core.schema import Variable
from credo.model.networks.count_posterior import CountPosterior
from credo.model.networks.count_table import CountTable

Floats = NDArray[np.float64]

_LAW = ("values", "means", "zeros")
_POSTERIOR = ("n", "total", "zeros", "sizes", "weights")


def counts_json(local: CountTable, array: Callable[[Floats], dict[str, Any]]) -> dict[str, Any]:
    """A family of counts as plain data; an infinite size stands as null, and as 0 among nodes."""
    out: dict[str, Any] = {"kind": "counts"}
    out |= {what: array(getattr(local, what)) for what in _LAW}
    out["size"] = None if math.isinf(local.size) else local.size
    found = local.posterior
    if found is not None:
        sizes = np.where(np.isinf(found.sizes), 0.0, found.sizes)
        arrays = {w: array(sizes if w == "sizes" else getattr(found, w)) for w in _POSTERIOR}
        out["posterior"] = {
            **arrays, "rows": found.rows, "mean": found.mean, "share": found.share
        }  # fmt: skip
    return out


def counts_of(
    said: Any, family: tuple[Variable, ...], take: Callable[[Any, str], Floats], what: str
) -> CountTable:
    """The family of counts that was written."""
    values, means, zeros = (take(said.get(name), what) for name in _LAW)
    size = said.get("size")
    try:
        size = math.inf if size is None else float(size)
        posterior = None
        if said.get("posterior") is not None:
            told = said["posterior"]
            arrays = [take(told.get(name), what) for name in _POSTERIOR]
            arrays[3] = np.where(arrays[3] == 0, math.inf, arrays[3])
            share = None if told["share"] is None else float(told["share"])
            rows, mean = float(told["rows"]), float(told["mean"])
            if not (rows > 0 and mean > 0 and all((a >= 0).all() for a in arrays)):
                raise ValueError(told)
            n, total, zero, sizes, weights = arrays
            posterior = CountPosterior(n, total, zero, sizes, weights, rows, mean, share)
        parents, child = family[:-1], family[-1]
        return CountTable(
            child, parents, values, None, 0.0, None, means, size, zeros, posterior
        )  # fmt: skip
    except (CredoError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{what}: its counts cannot be read ({error}).") from None
