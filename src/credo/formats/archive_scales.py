"""Scales in `model.json`: a number's transform or bins, from version 3 on.

What is not finite stands as null: an end that is open, an interval that is no atom.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from credo.core.bins import Bins
from credo.core.errors import CredoError, InputError
from credo.core.scales import Scale, Transform

_LISTS = ("cuts", "edges", "masses", "atoms", "tails")


def scale_said(scale: Scale) -> dict[str, Any]:
    """A scale as plain data.

    >>> scale_said(Transform("log"))["transform"]
    'log'
    """
    if isinstance(scale, Bins):
        out: dict[str, Any] = {n: [_said(x) for x in getattr(scale, n)] for n in _LISTS}
        out |= {"low": _said(scale.low), "high": _said(scale.high)}
        return {"bins": out | ({"counts": True} if scale.counts else {})}
    numbers = {f.name: _said(getattr(scale, f.name)) for f in fields(scale) if f.name != "kind"}
    return {"transform": scale.kind, **numbers}


def scale_of(said: Any, what: str) -> Scale | None:
    """The scale that a file tells; None where it tells none."""
    if said is None:
        return None
    try:
        if "bins" in said:
            bins = said["bins"]
            lists: dict[str, Any] = {n: [_number(x, math.nan) for x in bins[n]] for n in _LISTS}
            lists["tails"] = tuple(math.inf if t != t else t for t in lists["tails"])
            low, high = _number(bins["low"], -math.inf), _number(bins["high"], math.inf)
            return Bins(**lists, low=low, high=high, counts=bins.get("counts", False) is True)
        ends = {"low": -math.inf, "high": math.inf}
        names = [f.name for f in fields(Transform) if f.name != "kind"]
        return Transform(said["transform"], **{n: _number(said[n], ends.get(n)) for n in names})
    except (CredoError, KeyError, TypeError, ValueError):
        raise InputError(f"{what} has a scale that cannot be read.") from None


def _said(x: Any) -> float | None:
    return float(x) if math.isfinite(x) else None


def _number(x: Any, otherwise: float | None) -> float:
    if x is None and otherwise is not None:
        return otherwise
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        raise TypeError(x)
    return float(x)
